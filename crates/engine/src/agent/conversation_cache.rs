//! Conversations that were read lately, so that a turn need not read and parse them again. What is kept here is only
//! ever a prefix of what the journal says; the rest is read from where it ends.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use planwright_core::conversation::Conversation;
use planwright_core::session::SessionIdentity;

/// How many tokens are kept, over all sessions. A token is about four bytes.
const MOST: usize = 4_000_000;
/// What a session takes besides, roughly.
const OVERHEAD: usize = 500;

#[derive(Debug, Default)]
pub(super) struct ConversationCache {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    conversations: HashMap<SessionIdentity, CachedConversation>,
    tokens: usize,
}

/// A conversation up to an entry of the journal.
#[derive(Debug)]
pub(super) struct CachedConversation {
    pub(super) conversation: Conversation,
    pub(super) seq: u64,
    /// A session that was deleted and begun again is another one.
    pub(super) opened_at: Timestamp,
}

impl CachedConversation {
    fn weight(&self) -> usize {
        self.conversation.tokens() as usize + OVERHEAD
    }
}

impl ConversationCache {
    pub(super) fn take(&self, session: &SessionIdentity, opened_at: Timestamp) -> Option<CachedConversation> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = kept.conversations.remove(session)?;
        kept.tokens = kept.tokens.saturating_sub(remembered.weight());
        (remembered.opened_at == opened_at).then_some(remembered)
    }

    pub(super) fn forget(&self, session: &SessionIdentity) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(remembered) = kept.conversations.remove(session) {
            kept.tokens = kept.tokens.saturating_sub(remembered.weight());
        }
    }

    pub(super) fn keep(&self, session: &SessionIdentity, remembered: CachedConversation) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.tokens += remembered.weight();
        if kept.tokens > MOST {
            *kept = Kept { tokens: remembered.weight(), ..Kept::default() };
        }
        kept.conversations.insert(session.clone(), remembered);
    }
}
