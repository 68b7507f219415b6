//! One answer to the client, in time. Most clients let a call pass when a hook takes longer than they wait.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

/// How long every client is told to wait.
pub(crate) const CLIENT_SECONDS: u64 = 20;
/// How long a client is told to wait for a plan of its own plan mode: a person decides about it.
pub(crate) const CLIENT_PLAN_SECONDS: u64 = 600;
/// How long we wait. What is left is for a machine that is busy.
pub(super) const DEADLINE: Duration = Duration::from_secs(8);
/// How long we take to store a plan and to read the decision, beside the wait for a person.
pub(super) const PLAN_DEADLINE: Duration = Duration::from_secs(40);

/// The answer that is printed once: what was decided, or the late one at the deadline.
pub(super) struct OneAnswer(Arc<Mutex<State>>);

struct State {
    is_given: bool,
    late: Option<Value>,
}

impl OneAnswer {
    /// Starts to wait. `late` is printed when there is no answer in time, and the program ends.
    pub(super) fn or_late(late: Option<Value>, deadline: Duration) -> std::io::Result<Self> {
        let state = Arc::new(Mutex::new(State { is_given: false, late }));
        let waiting = Arc::clone(&state);
        // A thread of its own: the runtime may be what is stuck.
        std::thread::Builder::new().name("deadline".to_owned()).spawn(move || {
            std::thread::sleep(deadline);
            let state = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if !state.is_given {
                // A client that is gone reads nothing.
                let _ = print(state.late.as_ref());
                std::process::exit(0);
            }
        })?;
        Ok(Self(state))
    }

    /// Another answer for the deadline, once it is known what is asked.
    pub(super) fn set_late(&self, late: Option<Value>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).late = late;
    }

    pub(super) fn give(&self, answer: Option<&Value>) -> std::io::Result<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_given = true;
        print(answer)
    }
}

fn print(answer: Option<&Value>) -> std::io::Result<()> {
    let Some(answer) = answer else { return Ok(()) };
    let mut output = std::io::stdout().lock();
    writeln!(output, "{answer}")?;
    output.flush()
}
