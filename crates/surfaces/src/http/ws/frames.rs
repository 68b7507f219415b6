//! What goes over the wire. Every frame to the client has `type`, `sessionId` and `seq`.

use planwright_core::actor::Actor;
use planwright_core::event::Event;
use planwright_core::journal::Entry;
use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::http::problem::ApiProblem;

/// What a client says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub(super) enum ClientFrame {
    /// Follow a session from behind the entry `after`; from now on if it is absent.
    Subscribe {
        session_id: ConversationKey,
        channel: Option<Channel>,
        after: Option<u64>,
    },
    Unsubscribe {
        session_id: ConversationKey,
        channel: Option<Channel>,
    },
    /// Something for the agent, or a command with a slash. The answer carries the same `id`. What has a `key` and was
    /// sent before is not carried out again: it gets the same answer, or is refused if its text is another one.
    Message {
        session_id: ConversationKey,
        channel: Option<Channel>,
        text: String,
        id: Option<Value>,
        key: Option<String>,
    },
    /// Tell which sessions are written to, all of them.
    Watch,
    Unwatch,
    Ping,
}

/// The session that a client names.
pub(super) fn identity(key: ConversationKey, channel: Option<Channel>) -> SessionIdentity {
    SessionIdentity::new(channel.unwrap_or(Channel::Web), key)
}

/// A frame to the client.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    session_id: Option<&'a str>,
    channel: Option<Channel>,
    /// The last entry of the journal that the frame knows of.
    seq: u64,
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl<'a> Frame<'a> {
    /// About the client as a whole.
    pub(super) fn about_nothing(kind: &'a str) -> Self {
        Self { kind, session_id: None, channel: None, seq: 0, more: Map::new() }
    }

    pub(super) fn about(kind: &'a str, session: &'a SessionIdentity, seq: u64) -> Self {
        let session_id = Some(session.conversation.as_str());
        Self { kind, session_id, channel: Some(session.channel), seq, more: Map::new() }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    /// Everything that an object has, but for what every frame has.
    pub(super) fn with_all(mut self, value: Value) -> Self {
        if let Value::Object(fields) = value {
            let own = ["type", "sessionId", "channel", "seq"];
            self.more.extend(fields.into_iter().filter(|(name, _)| !own.contains(&name.as_str())));
        }
        self
    }

    pub(super) fn problem(self, problem: &ApiProblem) -> Self {
        self.with_all(problem.to_value())
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// An entry of the journal as a frame.
pub(super) fn entry_text(entry: &Entry) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct EntryFrame<'a> {
        #[serde(rename = "type")]
        kind: &'static str,
        session_id: &'a str,
        channel: Channel,
        seq: u64,
        at: jiff::Timestamp,
        by: &'a Actor,
        plan_id: Option<&'a str>,
        /// The run that it is about, or whose turn it begins.
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<&'a str>,
        event: &'a Event,
    }
    let frame = EntryFrame {
        kind: entry.event.name(),
        session_id: entry.session.conversation.as_str(),
        channel: entry.session.channel,
        seq: entry.seq,
        at: entry.at,
        by: &entry.by,
        plan_id: entry.event.plan().map(planwright_core::ids::PlanId::as_str),
        run_id: entry.event.touches().run.map(planwright_core::ids::RunId::as_str),
        event: &entry.event,
    };
    serde_json::to_string(&frame).unwrap_or_default()
}
