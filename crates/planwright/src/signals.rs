//! Ctrl+C, and the wish of the system that the program ends.

use std::io;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl+C
    Interrupt,
    /// The system wants the program to end.
    Terminate,
    /// The terminal is gone.
    Hangup,
}

#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.hangup.recv() => Signal::Hangup,
        }
    }
}

#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}

/// What happened to the window of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WindowChange {
    Resized,
    /// The program was suspended, and goes on.
    Continued,
}

#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct WindowChanges {
    resized: tokio::signal::unix::Signal,
    continued: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl WindowChanges {
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let continued = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
        Ok(Self { resized: signal(SignalKind::window_change())?, continued: signal(continued)? })
    }

    pub(crate) async fn next(&mut self) -> WindowChange {
        tokio::select! {
            _ = self.resized.recv() => WindowChange::Resized,
            _ = self.continued.recv() => WindowChange::Continued,
        }
    }
}

#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct WindowChanges;

#[cfg(not(unix))]
impl WindowChanges {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> WindowChange {
        std::future::pending().await
    }
}

impl Signals {
    /// Completes when a server has to stop. SIGHUP is ignored unless the server was started in a terminal: it has no settings
    /// that it could read again while it runs.
    pub(crate) async fn stop(&mut self) {
        let in_terminal = io::IsTerminal::is_terminal(&io::stdout());
        while self.next().await == Signal::Hangup && !in_terminal {}
    }
}
