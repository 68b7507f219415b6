//! What the agent does by itself: the context that every tick and every command of a run carries.

mod attributes;
mod context;

pub use attributes::ContextAttribute;
pub use context::{AutoExecutionContext, RunKind, RunTarget};
