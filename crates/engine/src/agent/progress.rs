//! What happens in a turn while it lasts, for whoever watches.

use std::time::Duration;

use planwright_core::ids::TurnId;
use planwright_core::plan::execution::StepStatus;
use planwright_core::turn::ToolStatus;
use tokio::sync::mpsc;

use super::outcome::TurnOutcome;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// Another process works on this session; the message waits until it is done.
    WaitingForOthers,
    /// The message is on disk.
    Accepted(TurnId),
    /// An interrupted turn goes on.
    Resumed(TurnId),
    /// An interrupted turn is over, and the message that waited for it begins.
    Finished(Box<TurnOutcome>),
    ModelCalled,
    Text(String),
    /// What was said so far does not count; the model is asked again after `wait`.
    Again {
        why: String,
        wait: Duration,
    },
    /// The reply is complete; `calls` tools follow.
    Replied {
        calls: usize,
    },
    ToolStarted {
        name: String,
        detail: String,
    },
    ToolEnded {
        name: String,
        status: ToolStatus,
        detail: String,
        took: Duration,
    },
    StepStarted {
        position: usize,
        total: usize,
        about: String,
    },
    StepEnded {
        position: usize,
        total: usize,
        about: String,
        status: StepStatus,
        note: Option<String>,
        took: Duration,
    },
    /// Something the person should read at once, in Markdown.
    Said(String),
    Compacting,
    Compacted {
        messages: u32,
    },
}

/// Where progress is told. Nobody has to listen.
#[derive(Debug, Clone, Default)]
pub struct Watcher {
    to: Option<mpsc::UnboundedSender<Progress>>,
}

impl Watcher {
    pub fn nobody() -> Self {
        Self::default()
    }

    pub fn new() -> (Self, mpsc::UnboundedReceiver<Progress>) {
        let (to, heard) = mpsc::unbounded_channel();
        (Self { to: Some(to) }, heard)
    }

    pub(crate) fn tell(&self, progress: Progress) {
        if let Some(to) = &self.to {
            let _ = to.send(progress);
        }
    }
}
