//! Ways to reach a person.

mod desktop;
mod email;
mod http_target;
mod ntfy;
mod web_push;
mod webhook;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::Serialize;

pub use desktop::Desktop;
pub use email::Email;
pub use http_target::is_private;
pub use ntfy::Ntfy;
pub use web_push::WebPush;
pub use webhook::Webhook;

use crate::notice::NoticeKind;

/// One or several notices in one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    /// Does not change when the message is sent again.
    pub id: String,
    pub events: Vec<NotifiedEvent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotifiedEvent {
    /// Identical in every notification about the event.
    pub id: String,
    pub kind: NoticeKind,
    pub what: String,
    pub title: String,
    pub session: String,
    pub since: Timestamp,
    /// The page of the dashboard.
    #[serde(skip)]
    pub path: String,
    /// Where it is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether no one decided for a long time.
    pub escalated: bool,
}

impl Notification {
    pub fn subject(&self) -> String {
        match self.events.as_slice() {
            [event] if event.escalated => format!("Still waiting: {}", event.what),
            [event] => event.what.clone(),
            events => format!("{} things to look at", events.len()),
        }
    }

    /// What each is, since when, and where to decide.
    pub fn text(&self) -> String {
        let event = |event: &NotifiedEvent| {
            let since = event.since.strftime("%Y-%m-%d %H:%M UTC");
            let place = match &event.url {
                Some(url) => url.clone(),
                None => format!("`planwright inbox` shows it (session {})", event.session),
            };
            let late = if event.escalated { "No one has decided yet. " } else { "" };
            format!("{}: {}\n{late}Since {since}\n{place}\n", event.what, event.title)
        };
        self.events.iter().map(event).collect::<Vec<_>>().join("\n")
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ChannelError {
    /// Another try may succeed.
    #[error("{0}")]
    Transient(String),
    #[error("{0}")]
    Permanent(String),
    /// The receiver is no more.
    #[error("{0}")]
    Gone(String),
}

#[async_trait]
pub trait NotifyChannel: std::fmt::Debug + Send + Sync {
    async fn send(&self, notification: &Notification) -> Result<(), ChannelError>;
}
