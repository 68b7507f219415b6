//! The conversation as a model reads it: what was said and done, put together from the journal.
//!
//! - [`Conversation`]: the items, and how they become messages
//! - [`compaction`]: what is dropped and summarised when there is too much of it
//! - [`token_budget`]: the messages that are sent, within a number of tokens
//! - `items`: what was said and done, item by item
//! - `model_notes`: what we say ourselves inside a conversation

pub mod compaction;
mod items;
mod model_notes;
pub mod token_budget;

pub use items::{Conversation, ConversationItem, ItemContent, MESSAGE_TOKENS, READS_PLAN};

use crate::model::{ModelMessage, ModelReply, ToolCall};

pub use crate::session::{Compaction, Summarizer};

/// Counts the tokens of a text as the model will.
pub trait CountTokens {
    fn count(&self, text: &str) -> u32;
}

/// What a message takes when it is sent.
pub fn message_tokens(message: &ModelMessage, counter: &dyn CountTokens) -> u32 {
    let tokens = match message {
        ModelMessage::User { text } => counter.count(text),
        ModelMessage::Assistant { text, calls } => {
            calls.iter().fold(counter.count(text), |sum, sent| sum.saturating_add(call_tokens(&sent.call, counter)))
        }
        ModelMessage::ToolResult { text, .. } => counter.count(text),
    };
    tokens.saturating_add(MESSAGE_TOKENS)
}

/// What a reply takes in the history.
pub fn reply_tokens(reply: &ModelReply, counter: &dyn CountTokens) -> u32 {
    reply.calls.iter().fold(counter.count(&reply.text), |sum, call| sum.saturating_add(call_tokens(call, counter)))
}

fn call_tokens(call: &ToolCall, counter: &dyn CountTokens) -> u32 {
    counter.count(&call.name).saturating_add(counter.count(&call.arguments))
}

/// As much of a text as fits, its beginning and its end.
pub fn clip(text: &str, tokens: u32, counter: &dyn CountTokens) -> String {
    if counter.count(text) <= tokens {
        return text.to_owned();
    }
    // A token has about four bytes; a text with shorter tokens is cut further until it fits.
    let mut room = (tokens as usize).saturating_mul(4).min(text.len());
    while room > 0 {
        let head = text.floor_char_boundary(room * 2 / 3);
        let tail = text.ceil_char_boundary(text.len() - room / 3);
        if head < tail {
            let left_out = model_notes::left_out(&text[head..tail]);
            let clipped = format!("{}\n{left_out}\n{}", &text[..head], &text[tail..]);
            if counter.count(&clipped) <= tokens {
                return clipped;
            }
        }
        room = room * 3 / 4;
    }
    String::new()
}
