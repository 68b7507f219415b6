//! The progress of a running turn.

use planwright_agent::session::progress::Progress;
use planwright_core::plan::execution::StepStatus;
use planwright_core::turn::ToolStatus;
use serde::Serialize;
use utoipa::ToSchema;

use super::AnswerView;

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ProgressView {
    /// Another process works on this session; the message waits until it is done.
    Waiting,
    /// The message is on disk.
    Accepted {
        turn_id: String,
    },
    /// An interrupted turn continues.
    Resumed {
        turn_id: String,
    },
    /// An interrupted turn is over, and the message that waited for it begins.
    Finished {
        answer: Box<AnswerView>,
    },
    ModelCalled,
    Text {
        text: String,
    },
    /// The text so far is void; the model is called again.
    Again {
        why: String,
        wait_ms: u64,
    },
    /// The reply is complete; so many tools follow.
    Replied {
        calls: usize,
    },
    ToolStarted {
        name: String,
        detail: String,
    },
    /// What a command wrote since the last piece. Of a fast output only the end is sent.
    ToolOutput {
        name: String,
        text: String,
    },
    ToolEnded {
        name: String,
        status: ToolStatus,
        detail: String,
        took_ms: u64,
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
        took_ms: u64,
    },
    /// Something the person should read at once, in Markdown.
    Said {
        text: String,
    },
    Compacting,
    Compacted {
        messages: u32,
    },
}

impl ProgressView {
    pub fn of(progress: &Progress) -> Self {
        let milliseconds = |time: &std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        match progress {
            Progress::WaitingForOthers => Self::Waiting,
            Progress::Accepted(turn) => Self::Accepted { turn_id: turn.to_string() },
            Progress::Resumed(turn) => Self::Resumed { turn_id: turn.to_string() },
            Progress::Finished(outcome) => {
                let answer = planwright_agent::session::outcome::Answer::from(outcome.as_ref().clone());
                Self::Finished { answer: Box::new(answer.into()) }
            }
            Progress::ModelCalled => Self::ModelCalled,
            Progress::Text(text) => Self::Text { text: text.clone() },
            Progress::Again { why, wait } => Self::Again { why: why.clone(), wait_ms: milliseconds(wait) },
            Progress::Replied { calls } => Self::Replied { calls: *calls },
            Progress::ToolStarted { name, detail } => Self::ToolStarted { name: name.clone(), detail: detail.clone() },
            Progress::ToolOutput { name, text } => Self::ToolOutput { name: name.clone(), text: text.clone() },
            Progress::ToolEnded { name, status, detail, took } => Self::ToolEnded {
                name: name.clone(),
                status: *status,
                detail: detail.clone(),
                took_ms: milliseconds(took),
            },
            Progress::StepStarted { position, total, about } => {
                Self::StepStarted { position: *position, total: *total, about: about.clone() }
            }
            Progress::StepEnded { position, total, about, status, note, took } => Self::StepEnded {
                position: *position,
                total: *total,
                about: about.clone(),
                status: *status,
                note: note.clone(),
                took_ms: milliseconds(took),
            },
            Progress::Said(text) => Self::Said { text: text.clone() },
            Progress::Compacting => Self::Compacting,
            Progress::Compacted { messages } => Self::Compacted { messages: *messages },
        }
    }
}
