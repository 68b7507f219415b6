//! The port to a language model.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::model::{ModelReply, ModelRequest};

/// The name of the built-in model, which answers where no model is configured.
pub const REHEARSAL: &str = "rehearsal";

/// Answers one request. Retries, waits and timeouts are up to the implementation.
///
/// Dropping the future of `reply` cancels the request.
#[async_trait]
pub trait Model: Send + Sync + fmt::Debug + 'static {
    /// The name by which it was chosen, such as `openai:gpt-5` or `rehearsal`.
    fn name(&self) -> &str;

    /// How many tokens fit into one call, question and answer together.
    fn context_tokens(&self) -> u32;

    /// Passes the text on to `listener` as it arrives, and returns the whole reply at the end.
    async fn reply(&self, request: &ModelRequest, listener: &dyn Listener) -> Result<ModelReply, ModelError>;
}

/// Makes vectors of texts, so that texts of a similar meaning have vectors of a similar direction.
#[async_trait]
pub trait EmbeddingModel: Send + Sync + fmt::Debug + 'static {
    /// The name by which it was chosen, such as `openai:text-embedding-3-small`. Vectors of different models are not compared.
    fn name(&self) -> &str;

    /// One vector for each text, in their order.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError>;
}

/// The models that specialists name.
pub trait ModelCatalog: Send + Sync + fmt::Debug + 'static {
    /// The model of this name, such as `openai:gpt-5`, or why it cannot answer.
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, String>;
}

/// Receives a reply while it arrives.
pub trait Listener: Send + Sync {
    fn text(&self, piece: &str);

    /// The text so far is void: the request is sent again after `wait`.
    fn again(&self, why: &str, wait: Duration);
}

/// Ignores the reply while it arrives.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Listener for Silent {
    fn text(&self, _: &str) {}
    fn again(&self, _: &str, _: Duration) {}
}

/// Why there is no reply, in words for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The provider does not accept the key.
    NotAllowed,
    /// Too many requests, for longer than the retry policy waits.
    TooManyRequests,
    /// The provider cannot be reached, ended the answer early, or reports an error of its own.
    Unavailable,
    /// The provider sent nothing until the timeout.
    Stalled,
    /// The request has more tokens than the model takes.
    TooLong,
    /// The provider refuses the request for another reason, such as an unknown model.
    Refused,
    /// The answer cannot be parsed.
    Unreadable,
    /// The answer exceeds a limit.
    TooLarge,
}

impl ModelError {
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}
