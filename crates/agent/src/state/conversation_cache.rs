//! A cache of conversations, so that a turn need not read and parse them again. A cached conversation is a prefix of the
//! journal; the entries after it are read.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use planwright_core::conversation::Conversation;
use planwright_core::session::SessionIdentity;

/// The tokens that are cached, over all sessions. A token is about four bytes.
const MAX_TOKENS: usize = 4_000_000;
/// The rough cost of a session besides its tokens.
const OVERHEAD: usize = 500;

#[derive(Debug, Default)]
pub(crate) struct ConversationCache {
    kept: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    conversations: HashMap<SessionIdentity, CachedConversation>,
    tokens: usize,
}

/// A conversation up to an entry of the journal.
#[derive(Debug)]
pub(crate) struct CachedConversation {
    pub(crate) conversation: Conversation,
    pub(crate) seq: u64,
    /// Tells a session from one that was deleted and opened again under the same key.
    pub(crate) opened_at: Timestamp,
}

impl CachedConversation {
    fn weight(&self) -> usize {
        self.conversation.tokens() as usize + OVERHEAD
    }
}

impl ConversationCache {
    pub(crate) fn take(&self, session: &SessionIdentity, opened_at: Timestamp) -> Option<CachedConversation> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = kept.conversations.remove(session)?;
        kept.tokens = kept.tokens.saturating_sub(cached.weight());
        (cached.opened_at == opened_at).then_some(cached)
    }

    /// The tokens of a conversation that is kept.
    pub(crate) fn tokens(&self, session: &SessionIdentity) -> Option<u32> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.conversations.get(session).map(|cached| cached.conversation.tokens())
    }

    pub(crate) fn forget(&self, session: &SessionIdentity) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = kept.conversations.remove(session) {
            kept.tokens = kept.tokens.saturating_sub(cached.weight());
        }
    }

    pub(crate) fn keep(&self, session: &SessionIdentity, cached: CachedConversation) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.tokens += cached.weight();
        if kept.tokens > MAX_TOKENS {
            *kept = CacheState { tokens: cached.weight(), ..CacheState::default() };
        }
        kept.conversations.insert(session.clone(), cached);
    }
}
