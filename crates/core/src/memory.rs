//! What a session remembers. Every item has a scope; an item is read only through a chain of scopes that is built from
//! the session and the run that reads.
//!
//! - [`MemoryScope`], [`ScopeChain`]: where an item belongs, and who reads and writes it
//! - [`MemoryItem`], [`MemoryCommand`], [`MemoryEvent`]: what is kept, what changes it, and what the journal says
//! - [`MemoryOffer`]: what rules offer to be remembered
//! - [`MemoryText`]: the terms of a text; [`MemoryQuery`]: the terms of a question
//! - [`ranking`]: which items answer a question best, and why

mod chain;
mod command;
mod event;
mod item;
mod offers;
mod query;
pub mod ranking;
mod scope;
mod stop_words;
mod text;

pub use chain::ScopeChain;
pub use command::{MemoryCommand, NewMemory};
pub use event::{MemoryChange, MemoryEvent};
pub use item::{MemoryItem, MemoryKind, MemoryRecord, MemorySource, MemoryTrust};
pub use offers::{MemoryOffer, offers_of_diary, offers_of_plan, offers_of_task_plan};
pub use query::MemoryQuery;
pub use scope::MemoryScope;
pub use text::MemoryText;
