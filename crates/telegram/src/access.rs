//! The allow-list: who may use the bot, and where. Nothing of what strangers write is stored.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::context::BotContext;
use crate::markdown::FormattedText;
use crate::update::{Chat, Person, Update, UpdateContent};

/// How many strangers are remembered, so that each gets one line.
const MAX_STRANGERS: usize = 1_000;
const PRIVATE: &str = "This bot is private.";

/// Whether a person may use the bot where they wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChatAccess {
    Allowed,
    Stranger,
    /// An allowed person in a group that is not listed.
    OtherGroup,
}

impl BotContext {
    pub(crate) fn access(&self, person: &Person, chat: Option<&Chat>) -> ChatAccess {
        let options = &self.options;
        if !options.allowed_users.contains(&person.id) {
            return ChatAccess::Stranger;
        }
        match chat {
            Some(chat) if !chat.is_private() && !options.allowed_chats.contains(&chat.id) => ChatAccess::OtherGroup,
            Some(_) | None => ChatAccess::Allowed,
        }
    }
}

/// Strangers who were told that the bot is private. Nothing of what they write is kept.
#[derive(Debug, Default)]
pub(crate) struct Strangers {
    told: Mutex<HashSet<i64>>,
}

impl Strangers {
    pub(crate) fn refuse(&self, context: &BotContext, update: &Update) {
        let Some((person, chat)) = update.sender() else { return };
        tracing::info!(event = "telegram_refused", "a person who is not allowed wrote to the bot");
        let is_new = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.len() < MAX_STRANGERS && told.insert(person.id)
        };
        let api = context.api.clone();
        match &update.content {
            UpdateContent::Press(press) => {
                let press = press.id.clone();
                tokio::spawn(async move { api.answer_press(&press, PRIVATE).await });
            }
            UpdateContent::Message(_) if is_new => {
                let Some(chat) = chat.map(|chat| chat.id) else { return };
                tokio::spawn(async move { api.send_message(chat, &FormattedText::plain(PRIVATE), None).await });
            }
            UpdateContent::Message(_)
            | UpdateContent::Edited { .. }
            | UpdateContent::InlineQuery { .. }
            | UpdateContent::Other => {}
        }
    }
}
