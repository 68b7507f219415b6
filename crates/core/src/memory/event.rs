//! What happens to a session's memory.

use serde::{Deserialize, Serialize};

use super::item::MemoryItem;
use crate::ids::MemoryId;
use crate::plan::Touches;
use crate::wire::events;

events! {
    pub enum MemoryEvent {
        "memory_saved" Saved { item: Box<MemoryItem> } => { progress: true, audit: "a memory was saved" },
        /// A person had a global copy made of an item.
        "memory_promoted" Promoted { memory: MemoryId, copy: Box<MemoryItem> } => {
            progress: true,
            audit: "a memory was promoted to global",
        },
        /// The item is not found any more. The journal keeps it.
        "memory_forgotten" Forgotten {
            memory: MemoryId,
            // Whether this takes the last change back.
            #[serde(default, skip_serializing_if = "is_false")]
            undo: bool,
        } => { progress: true, audit: "a memory was forgotten" },
        /// The last change was that the item was forgotten, and a person took it back.
        "memory_restored" Restored { memory: MemoryId } => { progress: true, audit: "a memory was restored" },
        /// A person does not want to be offered this again.
        "memory_offer_declined" OfferDeclined { offer: MemoryId } => {
            progress: true,
            audit: "an offered memory was declined",
        },
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

impl MemoryEvent {
    /// The item that the event adds or changes, or that a declined offer would have become.
    pub fn memory(&self) -> &MemoryId {
        match self {
            Self::Saved { item } => &item.id,
            Self::Promoted { copy, .. } => &copy.id,
            Self::Forgotten { memory, .. } | Self::Restored { memory } | Self::OfferDeclined { offer: memory } => {
                memory
            }
        }
    }

    /// The offer that the event accepts or declines.
    pub fn settled_offer(&self) -> Option<&MemoryId> {
        match self {
            Self::Saved { item } if item.source.is_offer() => Some(&item.id),
            Self::OfferDeclined { offer } => Some(offer),
            _ => None,
        }
    }

    /// The item that the event adds.
    pub fn added(&self) -> Option<&MemoryItem> {
        match self {
            Self::Saved { item } => Some(item),
            Self::Promoted { copy, .. } => Some(copy),
            _ => None,
        }
    }
}

/// A change that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum MemoryChange {
    Saved {
        memory: MemoryId,
    },
    /// The global copy.
    Promoted {
        memory: MemoryId,
    },
    Forgotten {
        memory: MemoryId,
    },
}

impl MemoryChange {
    /// How many changes can be taken back.
    pub(crate) const MAX_CHANGES: usize = 16;

    pub const fn memory(&self) -> &MemoryId {
        match self {
            Self::Saved { memory } | Self::Promoted { memory } | Self::Forgotten { memory } => memory,
        }
    }
}
