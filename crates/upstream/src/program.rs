//! A server that is a program: its start, its last output and its end.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use planwright_sandbox::{CommandEnd, PipedProgram, ProgramHandle, ProgramPipes};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::error_words;

/// How long a program may take to end after its input was closed, and again after it was told to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long its standard error may stay open after its end. A process that it started may hold it for ever.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// The last bytes of its standard error that are kept.
const MAX_STDERR_BYTES: usize = 4 * 1024;

#[derive(Debug)]
pub(crate) struct ServerProgram {
    handle: ProgramHandle,
    stderr_tail: Arc<Mutex<Vec<u8>>>,
    /// Cancelled when its standard error is closed.
    stderr_end: CancellationToken,
}

impl ServerProgram {
    /// Gives the program and its standard input and output.
    pub(crate) async fn start(
        sandbox: &planwright_sandbox::Sandbox,
        mut program: PipedProgram,
        home: &Path,
    ) -> Result<(Self, pipe::Sender, pipe::Receiver), String> {
        program.grace = EXIT_TIMEOUT;
        let folders = [program.folder.clone(), home.to_owned()];
        let make = move || folders.iter().try_for_each(std::fs::create_dir_all);
        let made = tokio::task::spawn_blocking(make).await;
        made.map_err(|error| error.to_string())?.map_err(|error| format!("its folder cannot be made: {error}"))?;
        let started = sandbox.start_program(program).await;
        let (ProgramPipes { stdin, stdout, stderr }, handle) =
            started.map_err(|error| error_words::of_sandbox(&error))?;
        let (stderr_tail, stderr_end) = (Arc::default(), CancellationToken::new());
        tokio::spawn(keep_end(stderr, Arc::clone(&stderr_tail), stderr_end.clone().drop_guard()));
        Ok((Self { handle, stderr_tail, stderr_end }, stdin, stdout))
    }

    pub(crate) fn kill(&self) {
        self.handle.kill();
    }

    /// Waits for the end of a program whose input was closed, and ends it if it does not end.
    pub(crate) async fn end(&self) {
        if timeout(EXIT_TIMEOUT, self.handle.wait()).await.is_err() {
            self.handle.stop();
            // The supervisor kills it after the grace time.
            let _ = timeout(2 * EXIT_TIMEOUT, self.handle.wait()).await;
        }
    }

    /// Why it ended, with its last output. It may still be ending.
    pub(crate) async fn exit_message(&self) -> String {
        let end = timeout(EXIT_TIMEOUT, self.handle.wait()).await;
        if end.is_ok() {
            let _ = timeout(DRAIN_TIMEOUT, self.stderr_end.cancelled()).await;
        }
        let message = match end {
            Err(_) => "it closed its output".to_owned(),
            Ok(CommandEnd::Exited { code }) => format!("it ended with exit code {code}"),
            Ok(CommandEnd::Signalled { signal }) => format!("it was ended by signal {signal}"),
            Ok(CommandEnd::TimedOut | CommandEnd::Stopped) => "it was ended".to_owned(),
            Ok(CommandEnd::Lost { reason }) => reason,
        };
        match self.last_line() {
            Some(line) => format!("{message}; its last output: {line}"),
            None => message,
        }
    }

    /// The end of its standard error.
    pub(crate) fn last_output(&self) -> String {
        let kept = self.stderr_tail.lock().unwrap_or_else(PoisonError::into_inner).clone();
        String::from_utf8_lossy(&kept).into_owned()
    }

    fn last_line(&self) -> Option<String> {
        error_words::telling_line(&self.last_output()).map(|line| line.chars().take(300).collect())
    }
}

async fn keep_end(mut stderr: pipe::Receiver, kept: Arc<Mutex<Vec<u8>>>, _closed: DropGuard) {
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..count]);
        let over = kept.len().saturating_sub(MAX_STDERR_BYTES);
        kept.drain(..over);
    }
}
