//! The desktop of the machine: `notify-send`, else the terminal that the server runs in.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::process::Stdio;

use async_trait::async_trait;
use tokio::process::Command;

use super::{ChannelError, Notification, NotifyChannel};

#[derive(Debug, Clone)]
pub struct Desktop {
    program: String,
}

impl Default for Desktop {
    fn default() -> Self {
        Self::with_program("notify-send")
    }
}

impl Desktop {
    pub fn with_program(program: impl Into<String>) -> Self {
        Self { program: program.into() }
    }
}

#[async_trait]
impl NotifyChannel for Desktop {
    async fn send(&self, notification: &Notification) -> Result<(), ChannelError> {
        let mut command = Command::new(&self.program);
        command.args(["--app-name=Planwright", "--"]).arg(notification.subject()).arg(notification.text());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status().await {
            Ok(status) if status.success() => Ok(()),
            Ok(_) => to_terminal(&notification.subject()),
            Err(error) if error.kind() == ErrorKind::NotFound => to_terminal(&notification.subject()),
            Err(error) => Err(ChannelError::Transient(format!("notify-send could not be started: {error}"))),
        }
    }
}

/// Terminals show the text of an operating system command 9 as a notification.
fn to_terminal(text: &str) -> Result<(), ChannelError> {
    let mut terminal = std::io::stderr();
    if !terminal.is_terminal() {
        return Err(ChannelError::Permanent("there is neither notify-send nor a terminal".to_owned()));
    }
    let plain: String = text.chars().filter(|letter| !letter.is_control()).collect();
    write!(terminal, "\u{1b}]9;{plain}\u{7}").map_err(|error| ChannelError::Transient(error.to_string()))
}
