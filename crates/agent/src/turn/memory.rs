//! What a turn is shown of the memory: found once, when the turn first calls the model, and the same in all of its requests.

use planwright_core::conversation::{ItemContent, message_tokens};
use planwright_core::memory::ScopeChain;
use planwright_core::model::ModelMessage;
use planwright_core::prompt::memory_block;
use planwright_core::turn::Purpose;
use planwright_engine::ledger::LedgerResult;

use super::runner::TurnRunner;

/// How many items are looked at for the block.
const FOUND: usize = 24;
/// The most tokens of the block, and its part of the context.
const MAX_TOKENS: u32 = 1_200;
const PART_OF_CONTEXT: u32 = 16;

/// The block of a turn.
#[derive(Debug, Default)]
pub(super) enum TurnMemory {
    /// Nothing was looked for yet.
    #[default]
    Unread,
    Read {
        /// The words that were looked for.
        about: String,
        message: Option<ModelMessage>,
    },
}

impl TurnRunner<'_> {
    /// Finds what is remembered about the person's message. A store that fails here fails the turn.
    pub(super) async fn read_memory(&mut self) -> LedgerResult<()> {
        match self.turn.purpose {
            Purpose::Answer | Purpose::Document { .. } | Purpose::Run(_) => {}
            // A specialist's turn is apart from the conversation and what it remembers.
            Purpose::Step { .. } | Purpose::Question { .. } => return Ok(()),
        }
        let Some(message) = self.last_message() else { return Ok(()) };
        // The message of a tick names the task in its first line; the rest is the same in every tick.
        let about = match self.turn.purpose.run() {
            Some(_) => message.lines().next().unwrap_or_default().to_owned(),
            None => message.to_owned(),
        };
        if matches!(&self.memory, TurnMemory::Read { about: known, .. } if *known == about) {
            return Ok(());
        }
        let chain = ScopeChain::of(&self.session, self.turn.purpose.run())?;
        let search = self.agent.engine().memories().search(&chain, &about, FOUND).await?;
        let room = MAX_TOKENS.min(self.agent.context_tokens() / PART_OF_CONTEXT);
        let block = memory_block(&search.found, room, &self.agent.tokens);
        self.memory = TurnMemory::Read { about, message: block.map(|text| ModelMessage::User { text }) };
        Ok(())
    }

    /// The tokens that the block takes.
    pub(super) fn memory_tokens(&self) -> u32 {
        self.memory_message().map_or(0, |message| message_tokens(message, &self.agent.tokens))
    }

    /// Puts the block before the message that it was found for. Everything before that message stays as it was in earlier
    /// requests, so that a provider can keep it.
    pub(super) fn with_memory(&self, mut messages: Vec<ModelMessage>) -> Vec<ModelMessage> {
        let (TurnMemory::Read { about, .. }, Some(block)) = (&self.memory, self.memory_message()) else {
            return messages;
        };
        let is_message =
            |message: &ModelMessage| matches!(message, ModelMessage::User { text } if text.contains(about.as_str()));
        let place = messages.iter().rposition(is_message).unwrap_or(0);
        messages.insert(place, block.clone());
        messages
    }

    fn memory_message(&self) -> Option<&ModelMessage> {
        match &self.memory {
            TurnMemory::Unread => None,
            TurnMemory::Read { message, .. } => message.as_ref(),
        }
    }

    fn last_message(&self) -> Option<&str> {
        self.conversation.items.iter().rev().find_map(|item| match &item.content {
            ItemContent::Person { text } => Some(text.as_str()),
            ItemContent::Model { .. }
            | ItemContent::Result { .. }
            | ItemContent::Note { .. }
            | ItemContent::Reminder { .. }
            | ItemContent::RunResult { .. } => None,
        })
    }
}
