//! Ledgers that pass every call on to another ledger, except for the methods that a test overrides.
//!
//! ```
//! use std::sync::Arc;
//! use async_trait::async_trait;
//! use planwright_engine::ledger::{Ledger, LedgerError, LedgerResult};
//! use planwright_test_support::forwarding::{Forwarding, ForwardingLedger};
//!
//! #[derive(Debug)]
//! struct Uncountable {
//!     inner: Arc<dyn Ledger>,
//! }
//!
//! #[async_trait]
//! impl ForwardingLedger for Uncountable {
//!     fn inner(&self) -> LedgerResult<&dyn Ledger> {
//!         Ok(self.inner.as_ref())
//!     }
//!
//!     async fn count_sessions(&self) -> LedgerResult<u64> {
//!         Err(LedgerError::Unavailable("the test says so".to_owned()))
//!     }
//! }
//!
//! fn wrapped(inner: Arc<dyn Ledger>) -> Arc<dyn Ledger> {
//!     Arc::new(Forwarding(Uncountable { inner }))
//! }
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::record::SealedRecord;
use planwright_core::ids::{MemoryId, PlanId, RequestId};
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::memory::ranking::{MemoryMatches, Place};
use planwright_core::memory::{MemoryItem, ScopeChain};
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::plan::{Digest, Plan, PlanStatus};
use planwright_core::session::{ConversationKey, SessionIdentity, TransportChat};
use planwright_core::snapshot::Snapshot;
use planwright_core::upstream::ServerName;
use planwright_engine::ledger::{
    ApprovalStore, ChatStore, Claim, ClaimedRequest, Committed, CommittedRequest, DamagedRow, Delivery, DerivedRows,
    EntryKeys, FoundMemories, JournalSource, KeyedRecord, Lease, LeaseOwner, LeaseStore, Ledger, LedgerResult,
    MemoryStore, MemoryVector, NewMessage, OutboxMessage, Page, PendingUpdate, PlanAnywhere, PlanStore, PlanSummary,
    Poller, ReceivedUpdate, RunsFilter, SessionStore, StoreChange, StoreCounts, StoreFacts, StoredAnswer,
    StoredSession, Submission, TakeMessages, Undelivered, Unfinished,
};
use planwright_engine::upstream::{OfferedTools, PinnedServer};
use planwright_engine::version_index::VersionIndexEntry;
use tokio::sync::broadcast;

/// Makes a [`ForwardingLedger`] a [`Ledger`].
#[derive(Debug)]
pub struct Forwarding<L>(pub L);

/// Each method is named once here; the macro writes the default that forwards it and the implementation that calls it.
/// In brackets behind a port is what cannot be named in this way.
macro_rules! forwarding_ledger {
    ($($store:ident $([$($written:tt)*])? {
        $(async fn $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    })*) => {
        /// The methods of [`Ledger`], each of which calls the same method of [`Self::inner`] unless it is overridden.
        #[async_trait]
        pub trait ForwardingLedger: Send + Sync + Debug + 'static {
            /// The ledger that is called. An error is the answer of every method that is not overridden.
            fn inner(&self) -> LedgerResult<&dyn Ledger>;

            /// Called before each method, with its name.
            async fn before(&self, _method: &'static str) {}

            /// Called after each method.
            async fn after(&self, _method: &'static str) {}

            /// Nothing changes without an inner ledger.
            fn changes(&self) -> broadcast::Receiver<StoreChange> {
                self.inner().map_or_else(|_| broadcast::Sender::new(1).subscribe(), |inner| inner.changes())
            }

            $($(async fn $method(&self, $($argument: $type),*) -> LedgerResult<$answer> {
                self.inner()?.$method($($argument),*).await
            })*)*
        }

        $(#[async_trait]
        impl<L: ForwardingLedger> $store for Forwarding<L> {
            $($($written)*)?

            $(async fn $method(&self, $($argument: $type),*) -> LedgerResult<$answer> {
                self.0.before(stringify!($method)).await;
                let answer = self.0.$method($($argument),*).await;
                self.0.after(stringify!($method)).await;
                answer
            })*
        })*
    };
}

forwarding_ledger! {
    SessionStore [
        fn changes(&self) -> broadcast::Receiver<StoreChange> {
            self.0.changes()
        }
    ] {
        async fn submit(submission: Submission) -> Committed;
        async fn session(session: &SessionIdentity) -> Option<StoredSession>;
        async fn sessions(after: Option<u64>, limit: u32) -> Page<StoredSession>;
        async fn sessions_with_words(words: &[String], after: Option<u64>, limit: u32) -> Option<Page<StoredSession>>;
        async fn walk_sessions(after: Option<u64>, limit: u32) -> Page<StoredSession>;
        async fn sessions_with_agents(after: Option<u64>, limit: u32) -> Page<StoredSession>;
        async fn count_sessions() -> u64;
        async fn sessions_with_key(key: &ConversationKey) -> Vec<SessionIdentity>;
        async fn snapshot(session: &SessionIdentity, plan: Option<&PlanId>) -> Snapshot;
        async fn find_request(session: &SessionIdentity, request: &RequestId) -> Option<CommittedRequest>;
        async fn journal(session: &SessionIdentity, after: u64, limit: u32) -> Vec<SealedEntry>;
        async fn conversation(session: &SessionIdentity, from: u64, limit: u32) -> Vec<Entry>;
        async fn orphans() -> Vec<DamagedRow>;
        async fn derived_rows(session: &SessionIdentity, promoted: &[MemoryId]) -> DerivedRows;
        async fn entry_keys(session: &SessionIdentity, after: u64, limit: u32) -> Vec<EntryKeys>;
        async fn damaged_pages() -> Vec<DamagedRow>;
        async fn delete_session(lease: &Lease) -> ();
        async fn counts() -> StoreCounts;
        async fn check() -> StoreFacts;
        async fn check_writable() -> ();
        async fn restore(session: &SessionIdentity, journal: Arc<dyn JournalSource>) -> ();
    }
    PlanStore {
        async fn candidates(session: &SessionIdentity, reference: &PlanReference) -> Vec<PlanCandidate>;
        async fn session_of(plan: &PlanId) -> Option<SessionIdentity>;
        async fn plans(session: &SessionIdentity, before: Option<u64>, limit: u32) -> Page<PlanSummary>;
        async fn plan_journal(session: &SessionIdentity, plan: &PlanId) -> Vec<Result<Entry, DamagedRow>>;
        async fn version_entry(session: &SessionIdentity, plan: &PlanId, version: u32) -> Option<Entry>;
        async fn version_index(session: &SessionIdentity) -> BTreeSet<VersionIndexEntry>;
        async fn stored_plans(session: &SessionIdentity) -> (BTreeMap<PlanId, Plan>, Vec<DamagedRow>);
        async fn plans_anywhere(statuses: &[PlanStatus], after: Option<u64>, limit: u32) -> Page<PlanAnywhere>;
        async fn waiting_plans(after: Option<u64>, limit: u32) -> Page<PlanAnywhere>;
    }
    MemoryStore {
        async fn memory_matches(chain: &ScopeChain, lookups: &[String]) -> MemoryMatches;
        async fn memory_items(chain: &ScopeChain, places: &[Place]) -> FoundMemories;
        async fn memories(chain: &ScopeChain, before: Option<u64>, limit: u32) -> FoundMemories;
        async fn memories_named(chain: &ScopeChain, piece: &str) -> FoundMemories;
        async fn memory_of(session: &SessionIdentity, memory: &MemoryId) -> Option<MemoryItem>;
        async fn memory_vectors(chain: &ScopeChain, model: &str, limit: u32) -> Vec<MemoryVector>;
        async fn keep_vectors(model: &str, vectors: &[(MemoryId, Vec<f32>)]) -> ();
    }
    LeaseStore {
        async fn acquire_lease(session: &SessionIdentity, owner: &str, ttl: Duration) -> Option<Lease>;
        async fn renew_lease(lease: &Lease, ttl: Duration) -> bool;
        async fn lease(session: &SessionIdentity) -> Option<Lease>;
        async fn release_lease(lease: &Lease) -> ();
        async fn lease_clock() -> Timestamp;
        async fn lease_owners(of: Option<&SessionIdentity>, longest: Duration) -> Vec<LeaseOwner>;
        async fn shorten_leases(owner: &str, ttl: Duration) -> ();
        async fn heartbeat(owner: &str, now: Timestamp) -> ();
        async fn alive_at(owner: &str) -> Option<Timestamp>;
        async fn sign_of_life(program: &str) -> ();
        async fn silent_for(program: &str) -> Option<Duration>;
        async fn unfinished(after: Option<u64>, limit: u32) -> Page<Unfinished>;
        async fn asking(after: Option<u64>, limit: u32) -> Page<StoredSession>;
        async fn take_due(now: Timestamp, keep: Duration, limit: u32) -> Vec<SessionIdentity>;
        async fn sessions_with_runs(which: RunsFilter, after: Option<u64>, limit: u32) -> Page<StoredSession>;
        async fn claim(request: &ClaimedRequest, now: Timestamp, keep: Duration) -> Claim;
        async fn keep_answer(key: &str, answer: &StoredAnswer) -> ();
        async fn forget_claim(key: &str) -> ();
    }
    ChatStore {
        async fn active_session(transport: &TransportChat) -> Option<SessionIdentity>;
        async fn point(transport: &TransportChat, session: &SessionIdentity) -> ();
        async fn pointers() -> Vec<(TransportChat, SessionIdentity)>;
        async fn put_messages(messages: &[NewMessage], now: Timestamp) -> u64;
        async fn take_messages(take: &TakeMessages) -> Vec<OutboxMessage>;
        async fn settle_message(id: &str, owner: &str, delivery: &Delivery, now: Timestamp) -> bool;
        async fn undelivered(limit: u32) -> Vec<Undelivered>;
        async fn next_due(channel: &str) -> Option<Timestamp>;
        async fn forget_messages(before: Timestamp) -> ();
        async fn count_undelivered() -> u64;
        async fn acquire_poller(bot: &str, owner: &str, now: Timestamp, ttl: Duration) -> Option<Poller>;
        async fn release_poller(poller: &Poller) -> ();
        async fn receive_updates(
            poller: &Poller, updates: &[ReceivedUpdate], next_update: i64, now: Timestamp
        ) -> bool;
        async fn receive_pushed(bot: &str, updates: &[ReceivedUpdate]) -> Vec<i64>;
        async fn pending_updates(bot: &str, after: i64, limit: u32) -> Vec<PendingUpdate>;
        async fn assign_update(bot: &str, id: i64, session: &SessionIdentity) -> ();
        async fn finish_update(bot: &str, id: i64, messages: &[NewMessage], now: Timestamp) -> ();
        async fn forget_updates(before: Timestamp) -> ();
        async fn keyed_record(key: &str) -> Option<KeyedRecord>;
        async fn put_keyed_record(key: &str, expected: u64, body: &str) -> bool;
        async fn keyed_records(prefix: &str, limit: u32) -> Vec<(String, KeyedRecord)>;
        async fn remove_keyed_record(key: &str) -> ();
    }
    ApprovalStore {
        async fn approval_records() -> Vec<SealedRecord>;
        async fn approval_head() -> Option<[u8; 32]>;
        async fn add_approval_record(record: &SealedRecord) -> bool;
        async fn pin_revisions() -> Vec<(ServerName, u64)>;
        async fn pinned_server(server: &ServerName) -> Option<PinnedServer>;
        async fn record_offer(server: &ServerName, command: Digest, offered: &OfferedTools) -> ();
        async fn accept_first_offer(
            server: &ServerName, command: Digest, offered: &OfferedTools, by: &Actor
        ) -> bool;
        async fn accept_offer(
            server: &ServerName, command: Digest, digest: Digest, by: &Actor, at: Timestamp
        ) -> bool;
    }
}
