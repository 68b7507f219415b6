//! The section `chat`: the chat in a terminal.

use serde::Deserialize;

use super::setting::{Choice, Choices, section};

section! {
    pub(super) struct ChatSection, "chat" {
        "How the chat tells that the agent is done or asks something, after it worked for ten seconds or longer: with the bell of the terminal, with a notification (OSC 9), or not at all."
        alert: Choice<ChatAlert> = ChatAlert::default(),
        "How one types in the chat: in a box that stays at the bottom (inline), or line by line (plain), which screen readers follow well. Where a terminal cannot draw the box, the chat is plain."
        interface: Choice<ChatInterface> = ChatInterface::default(),
    }
}

/// How a person who looks elsewhere is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChatAlert {
    #[default]
    Bell,
    Notification,
    None,
}

impl Choices for ChatAlert {
    const NAMES: &'static [(&'static str, Self)] =
        &[("bell", Self::Bell), ("notification", Self::Notification), ("none", Self::None)];
}

/// How a person types in the chat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChatInterface {
    #[default]
    Inline,
    Plain,
}

impl Choices for ChatInterface {
    const NAMES: &'static [(&'static str, Self)] = &[("inline", Self::Inline), ("plain", Self::Plain)];
}
