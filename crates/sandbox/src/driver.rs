//! The thread that reads a command's output, keeps its time limit and ends it.

use std::io::{PipeReader, Read as _};
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use crate::capture::{Capture, OutputChunk, OutputStream};
use crate::command::{CommandEnd, CommandLimits, CommandResult};
use crate::platform::Started;
use crate::repositories::Repositories;
use crate::wait;

/// Written to the wake pipe.
pub(crate) const STOP: u8 = b's';
pub(crate) const KILL: u8 = b'k';

/// How long processes may keep the output open after the command was killed. At level `open` one may have escaped.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct Driver {
    started: Started,
    repositories: Option<Repositories>,
    capture: Arc<Mutex<Capture>>,
    chunks: mpsc::Sender<OutputChunk>,
    wake: PipeReader,
    limits: CommandLimits,
    begun: Instant,
    skipped: u64,
    /// Why the command is being ended, if it did not end by itself.
    reason: Option<CommandEnd>,
    phase: Phase,
}

/// What happens when the time of the phase has passed.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// The time limit is reached.
    Running { until: Option<Instant> },
    /// The command did not end when it was asked to.
    Terminating { until: Instant },
    /// The supervisor did not end.
    Killed { until: Instant },
    /// The command is gone, its output is still open.
    Ended { until: Instant },
}

impl Phase {
    fn until(self) -> Option<Instant> {
        match self {
            Self::Running { until } => until,
            Self::Terminating { until } | Self::Killed { until } | Self::Ended { until } => Some(until),
        }
    }
}

impl Driver {
    pub(crate) fn new(
        (started, repositories): (Started, Option<Repositories>),
        capture: Arc<Mutex<Capture>>,
        chunks: mpsc::Sender<OutputChunk>,
        wake: PipeReader,
        limits: CommandLimits,
    ) -> Self {
        let begun = Instant::now();
        let until = limits.timeout.and_then(|timeout| begun.checked_add(timeout));
        let phase = Phase::Running { until };
        Self { started, repositories, capture, chunks, wake, limits, begun, skipped: 0, reason: None, phase }
    }

    pub(crate) fn run(mut self) -> CommandResult {
        let mut buffer = vec![0; 64 * 1024];
        let (mut stdout, mut stderr, mut reporting, mut waking) = (true, true, true, true);
        while reporting || stdout || stderr {
            let time = self.phase.until().map(|until| until.saturating_duration_since(Instant::now()));
            let ready = wait::readable_of(
                [
                    stdout.then(|| self.started.stdout.as_fd()),
                    stderr.then(|| self.started.stderr.as_fd()),
                    reporting.then(|| self.started.report()),
                    waking.then(|| self.wake.as_fd()),
                ],
                time,
            );
            let [stdout_ready, stderr_ready, report_ready, wake_ready] = ready;
            if stdout_ready {
                stdout = self.read(OutputStream::Stdout, &mut buffer);
            }
            if stderr_ready {
                stderr = self.read(OutputStream::Stderr, &mut buffer);
            }
            if report_ready && self.started.take_report() {
                reporting = false;
                self.phase = Phase::Ended { until: Instant::now() + SHUTDOWN_TIMEOUT };
            }
            if wake_ready {
                waking = self.woken();
            }
            if self.phase.until().is_some_and(|until| until <= Instant::now()) && !self.time_is_over() {
                break;
            }
        }
        let reaped = self.started.reap();
        let end = self.reason.take().unwrap_or(reaped);
        let output = self.capture.lock().unwrap_or_else(PoisonError::into_inner).captured();
        let duration = self.begun.elapsed();
        // Everything that the command started has ended, and its result is not known yet.
        let repositories = self.repositories.take().map(Repositories::put_back).unwrap_or_default();
        CommandResult { end, duration, output, repositories }
    }

    /// Whether there may be more.
    fn read(&mut self, stream: OutputStream, buffer: &mut [u8]) -> bool {
        let read = match stream {
            OutputStream::Stdout => self.started.stdout.read(buffer),
            OutputStream::Stderr => self.started.stderr.read(buffer),
        };
        let count = match read {
            Ok(count) => count,
            Err(error) => return error.kind() == std::io::ErrorKind::Interrupted,
        };
        let bytes = &buffer[..count];
        self.capture.lock().unwrap_or_else(PoisonError::into_inner).take(bytes);
        if count > 0 {
            let chunk = OutputChunk { stream, bytes: bytes.to_vec(), skipped: self.skipped };
            // A receiver that does not keep up must not stop the command.
            self.skipped = match self.chunks.try_send(chunk) {
                Ok(()) => 0,
                Err(_) => self.skipped + count as u64,
            };
        }
        count > 0
    }

    /// Whether the wake pipe is still open.
    fn woken(&mut self) -> bool {
        let mut byte = [0];
        let kill = match self.wake.read(&mut byte) {
            Ok(1) if byte == [STOP] => false,
            Ok(1) => true,
            Ok(_) | Err(_) => return false,
        };
        if !matches!(self.phase, Phase::Ended { .. }) {
            self.reason.get_or_insert(CommandEnd::Stopped);
            if kill {
                self.kill();
            } else {
                self.terminate();
            }
        }
        true
    }

    /// Whether to wait further.
    fn time_is_over(&mut self) -> bool {
        match self.phase {
            Phase::Running { .. } => {
                self.reason.get_or_insert(CommandEnd::TimedOut);
                self.terminate();
                true
            }
            Phase::Terminating { .. } => {
                self.kill();
                true
            }
            Phase::Killed { .. } => {
                self.started.kill_supervisor();
                self.phase = Phase::Ended { until: Instant::now() + SHUTDOWN_TIMEOUT };
                true
            }
            Phase::Ended { .. } => false,
        }
    }

    fn terminate(&mut self) {
        if let Phase::Running { .. } = self.phase {
            self.started.terminate();
            self.phase = Phase::Terminating { until: Instant::now() + self.limits.grace };
        }
    }

    fn kill(&mut self) {
        self.started.kill();
        self.phase = Phase::Killed { until: Instant::now() + 6 * SHUTDOWN_TIMEOUT };
    }
}
