//! A message as it waits in the outbox.

use planwright_core::session::SessionIdentity;
use serde::{Deserialize, Serialize};

use crate::markdown::{Entity, FormattedText};

/// What is sent to one chat. In the outbox it is JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingMessage {
    pub chat: i64,
    pub content: Content,
    /// A message that is replaced instead of sending another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<i64>,
    /// What the message is a card of, so that it is kept up to date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<CardSubject>,
    /// The plan that a reply to this message asks to change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<ChangesPrompt>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Content {
    Text {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entities: Vec<Entity>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        markup: Option<Markup>,
    },
    Document {
        name: String,
        content: String,
        caption: String,
    },
}

/// What stands below a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Markup {
    Buttons(Keyboard),
    /// The person's next words are a reply to this message.
    ForceReply {
        placeholder: String,
    },
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyboard {
    pub rows: Vec<Vec<Button>>,
}

/// One button: a code that the ledger knows, or an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// What a card is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardSubject {
    pub session: SessionIdentity,
    /// The id of the plan or of the ask.
    pub subject: String,
    pub digest: String,
    pub kind: CardKind,
    /// The person who may press its buttons.
    pub user: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardKind {
    Plan,
    Ask,
    /// A plan that is carried out and waits.
    Execution,
}

/// A question for words: what to change in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangesPrompt {
    pub session: SessionIdentity,
    pub plan: String,
    pub digest: String,
    pub user: i64,
}

impl OutgoingMessage {
    pub fn text(chat: i64, text: FormattedText, markup: Option<Markup>) -> Self {
        let FormattedText { text, entities } = text;
        let content = Content::Text { text, entities, markup };
        Self { chat, content, replaces: None, card: None, prompt: None }
    }

    pub fn document(chat: i64, name: String, content: String, caption: String) -> Self {
        let content = Content::Document { name, content, caption };
        Self { chat, content, replaces: None, card: None, prompt: None }
    }
}
