//! A reply while it arrives, within its limits.

use planwright_core::model::{ModelReply, ToolCall, Usage};
use planwright_engine::model::Listener;
use serde_json::Value;

use crate::options::ReplyLimits;

pub(super) struct ReplyBuilder<'a> {
    limits: &'a ReplyLimits,
    listener: &'a dyn Listener,
    text: String,
    calls: Vec<ToolCall>,
    /// Text, arguments and signatures.
    bytes: usize,
    pub(super) usage: Usage,
    pub(super) stop: Option<StopReason>,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StopReason {
    Completed,
    /// It may not write more.
    MaxTokens,
    /// The provider's filter stopped it; in the provider's words.
    ContentFilter(String),
    Other(String),
}

/// A limit that a reply exceeds, with the setting that changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TooLarge {
    #[error("it has more than {0} bytes of text (`reply.text_bytes`)")]
    Text(usize),
    #[error("the arguments of a tool call have more than {0} bytes (`reply.arguments_bytes`)")]
    Arguments(usize),
    #[error("it has more than {0} tool calls (`reply.calls`)")]
    Calls(usize),
    #[error("it has more than {0} bytes (`reply.bytes`)")]
    Reply(usize),
    #[error("one event of the stream has more than {0} bytes (`reply.event_bytes`)")]
    Event(usize),
    #[error("the stream has more than {0} bytes (`reply.stream_bytes`)")]
    Stream(u64),
}

/// A call of the reply, by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallIndex(usize);

impl<'a> ReplyBuilder<'a> {
    pub(super) fn new(limits: &'a ReplyLimits, listener: &'a dyn Listener) -> Self {
        Self { limits, listener, text: String::new(), calls: Vec::new(), bytes: 0, usage: Usage::default(), stop: None }
    }

    /// Adds text, and passes it on to the listener.
    pub(super) fn push_text(&mut self, piece: &str) -> Result<(), TooLarge> {
        if piece.is_empty() {
            return Ok(());
        }
        if self.text.len() + piece.len() > self.limits.text_bytes {
            return Err(TooLarge::Text(self.limits.text_bytes));
        }
        self.count(piece.len())?;
        self.text.push_str(piece);
        self.listener.text(piece);
        Ok(())
    }

    pub(super) fn begin_call(&mut self, name: &str) -> Result<CallIndex, TooLarge> {
        if self.calls.len() >= self.limits.calls {
            return Err(TooLarge::Calls(self.limits.calls));
        }
        self.count(name.len())?;
        self.calls.push(ToolCall { name: name.to_owned(), arguments: String::new(), signatures: Vec::new() });
        Ok(CallIndex(self.calls.len() - 1))
    }

    /// Some servers send the name of a call after its beginning.
    pub(super) fn name_call(&mut self, call: CallIndex, name: &str) -> Result<(), TooLarge> {
        self.count(name.len())?;
        name.clone_into(&mut self.calls[call.0].name);
        Ok(())
    }

    pub(super) fn push_arguments(&mut self, call: CallIndex, piece: &str) -> Result<(), TooLarge> {
        let most = self.limits.arguments_bytes;
        if self.calls[call.0].arguments.len() + piece.len() > most {
            return Err(TooLarge::Arguments(most));
        }
        self.count(piece.len())?;
        self.calls[call.0].arguments.push_str(piece);
        Ok(())
    }

    /// Something opaque that the provider wants back with the call.
    pub(super) fn sign(&mut self, call: CallIndex, signature: String) -> Result<(), TooLarge> {
        self.count(signature.len())?;
        self.calls[call.0].signatures.push(signature);
        Ok(())
    }

    /// Counts bytes that belong to the reply and are kept somewhere else.
    pub(super) fn count(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.bytes += bytes;
        if self.bytes > self.limits.reply_bytes {
            return Err(TooLarge::Reply(self.limits.reply_bytes));
        }
        Ok(())
    }

    pub(super) fn first_call(&self) -> Option<CallIndex> {
        (!self.calls.is_empty()).then_some(CallIndex(0))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }

    pub(super) fn build(self) -> ModelReply {
        let calls = self.calls.into_iter().map(|call| ToolCall { arguments: compact(call.arguments), ..call });
        ModelReply {
            text: self.text,
            calls: calls.collect(),
            usage: self.usage,
            cut_off: self.stop == Some(StopReason::MaxTokens),
        }
    }
}

/// Arguments without the white space between them. What is not JSON stays as the model wrote it.
fn compact(arguments: String) -> String {
    match serde_json::from_str(&arguments) {
        Ok(Value::Null) => "{}".to_owned(),
        // Some servers send an object inside a string.
        Ok(Value::String(inside)) if inside.trim().is_empty() => "{}".to_owned(),
        Ok(Value::String(inside)) => inside,
        Ok(value @ (Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_))) => value.to_string(),
        Err(_) if arguments.trim().is_empty() => "{}".to_owned(),
        Err(_) => arguments,
    }
}
