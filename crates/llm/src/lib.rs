//! Models behind the port of the engine.
//!
//! - [`choose`]: which model is meant by a setting such as `openai:gpt-5`; `connect`: the model itself
//! - [`options`]: context window, timeouts, retries and the size of a reply
//! - `provider`: OpenAI and every server that speaks like it, Anthropic, Gemini and Ollama
//! - `key_check`: whether a provider takes the key
//! - `embeddings`: vectors of texts, from OpenAI and every server that speaks like it
//! - `http_client`: the connection to an address, also on a system without certificates
//! - `context_window`: the context window of each family of models
//! - [`rehearsal`]: the built-in model, offline and deterministic, for trying out every style of plan
//! - [`scripted`]: a model for tests that replies by script and records every request
//! - `text_pieces`: text in small pieces, for models that have all of it at once
//!
//! Never in it: policy. Which tools a model has, and what its reply leads to, is decided in `core` and the agent.

pub mod choose;
mod connect;
mod context_window;
mod embeddings;
mod http_client;
mod key_check;
pub mod options;
mod provider;
pub mod rehearsal;
pub mod scripted;
mod text_pieces;

pub use choose::{ChooseError, ModelChoice, Provider};
pub use connect::connect;
pub use embeddings::{MissingEmbeddings, connect_embeddings};
pub use key_check::{KeyCheck, OfferedModels, check_key, offered_models};
pub use options::{Options, ReplyLimits, RetryPolicy, Timeouts};
