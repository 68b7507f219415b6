//! What a turn of a run has done so far.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::auto::RunConversation;
use crate::model::Usage;
use crate::turn::TurnInput;

/// How many bytes of the last words are kept.
const MAX_SAID: usize = 2_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickProgress {
    pub usage: Usage,
    /// The model that replied last; its price counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many calls it made.
    pub calls: u32,
    /// The hash of its words, calls and results.
    pub work: String,
    /// The beginning of its last words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
    /// Whether it changed a file, a plan, a memory, the workbook, a goal or a task.
    pub changed: bool,
    /// How long it was at work before it last waited for a person, in milliseconds.
    pub millis: u64,
    /// Since when it is at work; `None` while it waits for a person.
    pub since: Option<Timestamp>,
    /// When it last did something. A process that ended did not work after it. Turns of earlier versions have none, nor their last words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_at: Option<Timestamp>,
}

impl TickProgress {
    pub(crate) fn begun(conversation: RunConversation, at: Timestamp) -> Self {
        let (usage, work, said) = (Usage::default(), String::new(), String::new());
        let active_at = match conversation {
            RunConversation::Own => Some(at),
            RunConversation::Session => None,
        };
        Self { usage, model: None, calls: 0, work, said, changed: false, millis: 0, since: Some(at), active_at }
    }

    pub(crate) fn apply(&mut self, input: &TurnInput, at: Timestamp) {
        if let Some(active_at) = &mut self.active_at {
            *active_at = at;
        }
        match input {
            TurnInput::Replied { reply, .. } => {
                self.usage = self.usage + reply.usage;
                self.calls = self.calls.saturating_add(u32::try_from(reply.calls.len()).unwrap_or(u32::MAX));
                self.mix("reply", &reply.text);
                let said = reply.text.trim();
                if !said.is_empty() && self.active_at.is_some() {
                    said[..said.floor_char_boundary(MAX_SAID)].clone_into(&mut self.said);
                }
                for call in &reply.calls {
                    self.mix(&call.name, &call.arguments);
                }
            }
            TurnInput::ToolEnded { outcome, .. } => self.mix("result", &outcome.text),
        }
    }

    /// It waits for a person from now on.
    pub(crate) fn wait(&mut self, at: Timestamp) {
        self.millis = self.worked_until(at);
        self.since = None;
    }

    /// It is at work again.
    pub(crate) fn resume(&mut self, at: Timestamp) {
        self.since.get_or_insert(at);
    }

    /// Its process ended in the middle of it. It worked until it last did something.
    pub(crate) fn interrupt(&mut self) {
        let Some(active_at) = self.active_at else { return };
        self.millis = self.worked_until(self.since.map_or(active_at, |since| since.max(active_at)));
        self.since = None;
    }

    /// How long it was at work until `at`, in milliseconds.
    pub fn worked_until(&self, at: Timestamp) -> u64 {
        let now = self.since.map_or(0, |since| at.as_millisecond().saturating_sub(since.as_millisecond()));
        self.millis.saturating_add(u64::try_from(now).unwrap_or(0))
    }

    fn mix(&mut self, kind: &str, text: &str) {
        let hash = Sha256::digest(format!("{}\n{kind}\n{text}", self.work));
        self.work = hex::encode(hash);
        self.work.truncate(32);
    }
}
