//! What a session remembers. Every item has a scope; an item is read only through a chain of scopes that is built from
//! the session and the run that reads.
//!
//! - [`MemoryScope`], [`ScopeChain`]: where an item belongs, and who reads and writes it
//! - [`MemoryItem`], [`MemoryCommand`], [`MemoryEvent`]: what is kept, what changes it, and what the journal says
//! - [`MemoryOffer`]: what rules offer to be remembered
//! - [`MemoryText`]: the terms of a text; [`MemoryQuery`]: the terms of a question
//! - [`ranking`]: which items answer a question best, and why
//! - `chain`: the scopes that a session and its run read, the nearest first, and where they write
//! - `command`: what can be asked of a session's memory
//! - `event`: what happens to a session's memory
//! - `item`: a memory: what is remembered, who wrote it, and where it came from
//! - `offers`: memories that rules offer: decisions of finished plans, resolved errors of the workbook, and entries of
//!   the diary
//! - `origin`: who said elsewhere what was learnt there, when, and in which context
//! - `query`: what is looked for: the terms of a question, the names in it, and the dates that it names
//! - `scope`: where a memory belongs: `global`, `session:{channel}:{conversation}`,
//!   `goal:{channel}:{conversation}:{goal}` or `task:{task}`
//! - `stop_words`: English words that say too little to be looked for, and irregular forms that a stemmer does not join
//! - `text`: the terms of a text: its words without the ones that say little, each reduced to its stem, and besides
//!   them the words of the author's name and the date

mod chain;
mod command;
mod event;
mod item;
mod offers;
mod origin;
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
pub use origin::MemoryOrigin;
pub use query::MemoryQuery;
pub use scope::MemoryScope;
pub use text::MemoryText;
