//! One answer to the client, in time. Most clients let a call pass when a hook takes longer than they wait.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

/// How long every client is told to wait.
pub(crate) const CLIENT_SECONDS: u64 = 20;
/// How long we wait. What is left is for a machine that is busy.
const DEADLINE: Duration = Duration::from_secs(8);

/// The answer that is printed once: what was decided, or the late one at the deadline.
pub(super) struct OneAnswer(Arc<Mutex<bool>>);

impl OneAnswer {
    /// Starts to wait. `late` is printed when there is no answer in time, and the program ends.
    pub(super) fn or_late(late: Option<Value>) -> std::io::Result<Self> {
        let given = Arc::new(Mutex::new(false));
        let waiting = Arc::clone(&given);
        // A thread of its own: the runtime may be what is stuck.
        std::thread::Builder::new().name("deadline".to_owned()).spawn(move || {
            std::thread::sleep(DEADLINE);
            let given = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if !*given {
                // A client that is gone reads nothing.
                let _ = print(late.as_ref());
                std::process::exit(0);
            }
        })?;
        Ok(Self(given))
    }

    pub(super) fn give(&self, answer: Option<&Value>) -> std::io::Result<()> {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *given = true;
        print(answer)
    }
}

fn print(answer: Option<&Value>) -> std::io::Result<()> {
    let Some(answer) = answer else { return Ok(()) };
    let mut output = std::io::stdout().lock();
    writeln!(output, "{answer}")?;
    output.flush()
}
