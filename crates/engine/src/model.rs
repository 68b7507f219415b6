//! The port to a language model.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::model::{ModelReply, ModelRequest};

/// The name of the built-in model, which answers where no model is configured.
pub const REHEARSAL: &str = "rehearsal";

/// Answers one request. Trying again, waiting and giving up on a silent provider are its own business.
///
/// Whoever stops waiting for `reply` (drops it) ends the request.
#[async_trait]
pub trait Model: Send + Sync + fmt::Debug + 'static {
    /// As people chose it, such as `openai:gpt-5` or `rehearsal`.
    fn name(&self) -> &str;

    /// How many tokens fit into one call, question and answer together.
    fn context_tokens(&self) -> u32;

    /// Tells `listener` the words as they come, and gives the whole reply at the end.
    async fn reply(&self, request: &ModelRequest, listener: &dyn Listener) -> Result<ModelReply, ModelError>;
}

/// Hears a reply while it is made.
pub trait Listener: Send + Sync {
    fn text(&self, piece: &str);

    /// What was heard so far does not count: the request is made again after `wait`.
    fn again(&self, why: &str, wait: Duration);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Listener for Silent {
    fn text(&self, _: &str) {}
    fn again(&self, _: &str, _: Duration) {}
}

/// Why there is no reply, in words for the person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The provider does not take the key.
    NotAllowed,
    /// Too many requests, for longer than it is worth waiting.
    TooManyRequests,
    /// It cannot be reached, broke off or is in trouble.
    Unavailable,
    /// Nothing came for too long.
    Stalled,
    /// The request has more tokens than the model takes.
    TooLong,
    /// It does not take the request for another reason, such as a model it does not have.
    Refused,
    /// Its answer cannot be understood.
    Unreadable,
    /// Its answer is larger than the limits allow.
    TooLarge,
}

impl ModelError {
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}
