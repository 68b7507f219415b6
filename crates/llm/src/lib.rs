//! Models behind the port of the engine.
//!
//! - [`choose`]: from what people write, such as `openai:gpt-5`, to a model that answers
//! - [`options`]: how much fits, how long to wait, how often to try again
//! - `provider`: OpenAI and everything that speaks like it, Anthropic, Gemini and Ollama, through `genai`, of which
//!   nothing is seen outside
//! - `context_window`: how much the models of each family take
//! - [`rehearsal`]: the built-in model, offline and deterministic, that plays through every way of planning
//! - [`scripted`]: a model for tests that answers by script and keeps every request

pub mod choose;
mod context_window;
pub mod options;
mod provider;
pub mod rehearsal;
pub mod scripted;
mod words;

pub use choose::{ChooseError, ModelChoice, Provider, connect};
pub use options::{Options, Patience, Retries};
