//! A command that was started.

use std::io::{PipeWriter, Write as _};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, watch};

use crate::capture::{Capture, CapturedOutput, OutputChunk};
use crate::command::{CommandEnd, CommandResult};
use crate::driver::{KILL, STOP};

/// Dropping it ends the command with everything that the command started.
#[derive(Debug)]
pub struct RunningCommand {
    chunks: mpsc::Receiver<OutputChunk>,
    monitor: CommandMonitor,
    stopper: CommandStopper,
}

/// Stops a command from elsewhere. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CommandStopper {
    wake: Arc<PipeWriter>,
}

/// Shows a command to others while its owner keeps it running. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CommandMonitor {
    capture: Arc<Mutex<Capture>>,
    result: watch::Receiver<Option<CommandResult>>,
}

impl RunningCommand {
    pub(crate) fn new(
        capture: Arc<Mutex<Capture>>,
        chunks: mpsc::Receiver<OutputChunk>,
        wake: PipeWriter,
        result: watch::Receiver<Option<CommandResult>>,
    ) -> Self {
        Self { chunks, monitor: CommandMonitor { capture, result }, stopper: CommandStopper { wake: Arc::new(wake) } }
    }

    /// The next piece of output, or `None` after the last. It may be dropped and called again.
    pub async fn next_output(&mut self) -> Option<OutputChunk> {
        self.chunks.recv().await
    }

    pub fn stopper(&self) -> CommandStopper {
        self.stopper.clone()
    }

    pub fn monitor(&self) -> CommandMonitor {
        self.monitor.clone()
    }
}

impl Deref for RunningCommand {
    type Target = CommandMonitor;

    fn deref(&self) -> &CommandMonitor {
        &self.monitor
    }
}

impl CommandMonitor {
    /// What the command has written up to now.
    pub fn output(&self) -> CapturedOutput {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner).captured()
    }

    /// The result once the command has ended, without waiting.
    pub fn result(&self) -> Option<CommandResult> {
        self.result.borrow().clone()
    }

    /// Waits for the end. Dropping the future does not end the command.
    pub async fn wait(&self) -> CommandResult {
        let mut result = self.result.clone();
        let ended = result.wait_for(Option::is_some).await.ok().and_then(|result| result.clone());
        ended.unwrap_or_else(|| CommandResult {
            end: CommandEnd::Lost { reason: "the thread of the command ended without a result".to_owned() },
            duration: std::time::Duration::ZERO,
            output: self.output(),
            repositories: crate::RepositoryReport::default(),
        })
    }
}

impl CommandStopper {
    /// Asks the command to end, and kills it after its grace time. The result says `Stopped`. A command that has ended
    /// stays as it is.
    pub fn stop(&self) {
        let _ = (&*self.wake).write_all(&[STOP]);
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        let _ = (&*self.stopper.wake).write_all(&[KILL]);
    }
}
