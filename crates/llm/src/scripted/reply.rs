//! One scripted reply: what is said, what is called, and how it ends.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use planwright_core::model::{ModelReply, ModelRequest, ToolCall, Usage};
use planwright_engine::model::{Listener, ModelError, ModelErrorKind};
use serde_json::Value;
use tokio::sync::watch;

use crate::text_pieces::stream_words;

#[derive(Debug, Clone, Default)]
pub struct Reply {
    wait: Option<Wait>,
    again: Vec<(String, Duration)>,
    model_reply: ModelReply,
    ending: Ending,
}

#[derive(Debug, Clone)]
enum Wait {
    For(Duration),
    Until(Gate),
}

#[derive(Clone, Default)]
enum Ending {
    #[default]
    Whole,
    Fails(ModelError),
    Hangs,
    Becomes(Arc<dyn Fn(&ModelRequest) -> Reply + Send + Sync>),
}

impl Reply {
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().with_text(text)
    }

    /// A call with arguments in JSON.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self::default().and_call(tool, arguments)
    }

    /// A call with whatever the model wrote as its arguments.
    pub fn raw_call(tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::default().and_raw_call(tool, arguments)
    }

    pub fn error(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self::default().then_error(kind, message)
    }

    /// Never answers.
    pub fn hang() -> Self {
        Self::default().then_hang()
    }

    /// Built from the request when it arrives.
    pub fn made_from(answer: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self { ending: Ending::Becomes(Arc::new(answer)), ..Self::default() }
    }

    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.model_reply.text = text.into();
        self
    }

    pub fn and_call(self, tool: impl Into<String>, arguments: Value) -> Self {
        self.and_raw_call(tool, arguments.to_string())
    }

    pub fn and_raw_call(mut self, tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        self.model_reply.calls.push(ToolCall {
            name: tool.into(),
            arguments: arguments.into(),
            signatures: Vec::new(),
        });
        self
    }

    pub fn with_usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.model_reply.usage = Usage { input_tokens, output_tokens };
        self
    }

    pub fn cut_off(mut self) -> Self {
        self.model_reply.cut_off = true;
        self
    }

    /// Fails after its text was sent.
    pub fn then_error(mut self, kind: ModelErrorKind, message: impl Into<String>) -> Self {
        self.ending = Ending::Fails(ModelError::new(kind, message));
        self
    }

    /// Sends its text and then nothing more.
    pub fn then_hang(mut self) -> Self {
        self.ending = Ending::Hangs;
        self
    }

    /// Waits so long before it begins. With a paused runtime that takes no time.
    pub fn after(mut self, wait: Duration) -> Self {
        self.wait = Some(Wait::For(wait));
        self
    }

    /// Waits until the test opens the gate.
    pub fn behind(mut self, gate: &Gate) -> Self {
        self.wait = Some(Wait::Until(gate.clone()));
        self
    }

    /// Begins with a failed attempt: half of its text is sent, then the retry is announced.
    pub fn tried_again(mut self, why: impl Into<String>, wait: Duration) -> Self {
        self.again.push((why.into(), wait));
        self
    }

    pub(super) async fn play(self, request: &ModelRequest, listener: &dyn Listener) -> Result<ModelReply, ModelError> {
        let mut reply = self;
        loop {
            match &mut reply.wait {
                Some(Wait::For(wait)) => tokio::time::sleep(*wait).await,
                Some(Wait::Until(gate)) => gate.opened().await,
                None => {}
            }
            for (why, wait) in &reply.again {
                let text = &reply.model_reply.text;
                let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
                stream_words(&text[..half], listener);
                listener.again(why, *wait);
            }
            stream_words(&reply.model_reply.text, listener);
            reply = match reply.ending {
                Ending::Whole => return Ok(reply.model_reply),
                Ending::Fails(error) => return Err(error),
                Ending::Hangs => std::future::pending().await,
                Ending::Becomes(answer) => answer(request),
            }
        }
    }
}

impl fmt::Debug for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("Whole"),
            Self::Fails(error) => f.debug_tuple("Fails").field(error).finish(),
            Self::Hangs => f.write_str("Hangs"),
            Self::Becomes(_) => f.write_str("Becomes(…)"),
        }
    }
}

/// Holds replies back until the test opens it; open it stays.
#[derive(Debug, Clone)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub fn closed() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    pub fn open(&self) {
        self.0.send_replace(true);
    }

    async fn opened(&self) {
        // The sender is held by this very gate, so it cannot be gone.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}
