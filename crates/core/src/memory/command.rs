//! What can be asked of a session's memory.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::event::MemoryChange;
use super::item::{MemoryKind, MemorySource};
use super::offers::MemoryOffer;
use super::origin::MemoryOrigin;
use super::scope::MemoryScope;
use crate::auto::AutoExecutionContext;
use crate::ids::MemoryId;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryCommand {
    Save(Box<NewMemory>),
    /// Remembers what a rule offered.
    Accept(Box<MemoryOffer>),
    /// The offer is not made again. Only a person declines.
    Decline {
        offer: MemoryId,
    },
    /// Only a person forgets.
    Forget {
        memory: MemoryId,
    },
    /// A copy that every session reads. Only a person promotes.
    Promote {
        memory: MemoryId,
    },
    /// Takes the last change back. Only a person does.
    Undo,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewMemory {
    pub content: String,
    pub kind: MemoryKind,
    pub tags: Vec<String>,
    /// The narrowest scope that fits the kind if absent.
    pub scope: Option<MemoryScope>,
    pub source: MemorySource,
    pub expires_at: Option<Timestamp>,
    /// Where it was learnt, if that was elsewhere. What its text says at its beginning if absent.
    #[serde(default)]
    pub origin: Option<MemoryOrigin>,
    /// The run that saves it.
    pub run: Option<AutoExecutionContext>,
}

impl NewMemory {
    /// What a person asks to be remembered.
    pub fn by_person(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            kind: MemoryKind::default(),
            tags: Vec::new(),
            scope: None,
            source: MemorySource::Person,
            expires_at: None,
            origin: None,
            run: None,
        }
    }
}

impl MemoryCommand {
    /// The item that the command changes. An undo is about the last one of the session's `changes`.
    pub fn subject<'a>(&'a self, changes: &'a [MemoryChange]) -> Option<&'a MemoryId> {
        match self {
            Self::Save(_) | Self::Accept(_) | Self::Decline { .. } => None,
            Self::Forget { memory } | Self::Promote { memory } => Some(memory),
            Self::Undo => Some(changes.last()?.memory()),
        }
    }

    /// Its content in bytes, roughly.
    pub fn size(&self) -> usize {
        match self {
            Self::Save(new) => {
                let tags = new.tags.iter().map(String::len).sum::<usize>();
                new.content.len() + tags + new.origin.as_ref().map_or(0, MemoryOrigin::size)
            }
            Self::Accept(offer) => offer.content.len(),
            Self::Decline { .. } | Self::Forget { .. } | Self::Promote { .. } | Self::Undo => 0,
        }
    }
}
