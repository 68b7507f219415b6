//! The store as one process reaches it: everything takes a while, and anything may be the last thing it does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::approval::record::SealedRecord;
use planwright_core::ids::{MemoryId, PlanId, RequestId};
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::memory::ranking::{MemoryMatches, Place};
use planwright_core::memory::{MemoryItem, ScopeChain};
use planwright_core::plan::Plan;
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::session::{ConversationKey, SessionIdentity, TransportChat};
use planwright_core::snapshot::Snapshot;
use planwright_engine::clock::Clock as _;
use planwright_engine::ledger::{
    Committed, CommittedRequest, DamagedRow, DerivedRows, EntryKeys, FoundMemories, Lease, LeaseOwner, Ledger,
    LedgerError, LedgerResult, MemoryVector, Page, PlanSummary, StoredSession, Submission,
};
use planwright_engine::version_index::{VersionIndexEntry, apply_and_index};
use planwright_test_support::forwarding::ForwardingLedger;

use crate::process::Process;
use crate::random::Random;
use crate::sabotage::Sabotage;
use crate::store::{State, Store};

#[derive(Debug)]
pub(crate) struct ProcessLedger {
    process: Arc<Process>,
    store: Arc<Store>,
}

impl ProcessLedger {
    pub(crate) fn new(process: &Arc<Process>, store: &Arc<Store>) -> Self {
        Self { process: Arc::clone(process), store: Arc::clone(store) }
    }

    /// Reads memories. A session without any is answered at once, as most are.
    async fn remembered<T: Send>(
        &self,
        chain: &ScopeChain,
        look: impl FnOnce(&mut State, &mut Random) -> LedgerResult<T> + Send,
    ) -> LedgerResult<T> {
        if self.store.lock().memories.is_empty() {
            let mut random = self.process.world.dice.on(format_args!("no memories"));
            return look(&mut self.store.lock(), &mut random);
        }
        self.operate("memories", &chain.session().to_string(), look).await
    }

    /// One operation. The process may die before it or after it, and the store may be away before it or after it.
    async fn operate<T: Send>(
        &self,
        name: &str,
        about: &str,
        work: impl FnOnce(&mut State, &mut Random) -> LedgerResult<T> + Send,
    ) -> LedgerResult<T> {
        let world = &self.process.world;
        let mut random = world.chance(format_args!("{name} {about} by {}", self.process.owner));
        self.process.breathe().await;
        self.process.spend(self.latency(&mut random)).await;
        let (dies, away) = (self.process.is_to_die(&mut random), world.strikes(&mut random, world.conditions.outages));
        let before = random.coin();
        if before && dies {
            self.process.die().await;
        }
        if before && away {
            return Err(LedgerError::Unavailable("it is away for a moment".to_owned()));
        }
        let outcome = work(&mut self.store.lock(), &mut random);
        if dies {
            self.process.die().await;
        }
        self.process.spend(self.latency(&mut random)).await;
        if away && !before {
            return Err(LedgerError::Unavailable("it went away for a moment".to_owned()));
        }
        outcome
    }

    fn latency(&self, random: &mut Random) -> Duration {
        let world = &self.process.world;
        let usual = u64::try_from(world.conditions.latency.as_millis()).unwrap();
        // Time always passes, so that no loop repeats a call for ever at one moment.
        if world.conditions.leases_get_lost && world.strikes(random, 8) {
            return random.millis(1, 20_000);
        }
        random.millis(1, usual)
    }
}

#[async_trait]
impl ForwardingLedger for ProcessLedger {
    /// What a simulation has no use for, it cannot do.
    fn inner(&self) -> LedgerResult<&dyn Ledger> {
        Err(LedgerError::Unavailable("a simulation has no such thing".to_owned()))
    }

    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        let world = &self.process.world;
        self.operate("submit", &submission.session.to_string(), |state, random| {
            let before = state.sessions.get(&submission.session).map_or(0, |kept| kept.head.seq);
            let outcome = state.submit(world, &self.process.owner, &submission);
            if world.sabotage == Some(Sabotage::WritesAreLost) && before > 0 && world.strikes(random, 10) {
                state.lose(&submission, before);
            }
            outcome
        })
        .await
    }

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        let look = |state: &mut State, _: &mut Random| Ok(state.sessions.get(session).map(|kept| kept.stored()));
        self.operate("session", &session.to_string(), look).await
    }

    async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        let look = |state: &mut State, _: &mut Random| {
            let mut kept: Vec<_> = state.sessions.values().collect();
            kept.sort_by_key(|kept| std::cmp::Reverse(kept.last_written));
            let offset = after.unwrap_or(0);
            let items: Vec<_> =
                kept.iter().skip(offset as usize).take(limit as usize).map(|kept| kept.stored()).collect();
            let next = (items.len() == limit as usize).then_some(offset + u64::from(limit));
            Ok(Page { items, damaged: Vec::new(), next })
        };
        self.operate("sessions", "", look).await
    }

    async fn sessions_with_agents(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        let mut page = self.walk_sessions(after, limit).await?;
        page.items.retain(|stored| !stored.session.clients.is_empty());
        Ok(page)
    }

    async fn walk_sessions(&self, _: Option<u64>, _: u32) -> LedgerResult<Page<StoredSession>> {
        let look = |state: &mut State, _: &mut Random| {
            let items = state.sessions.values().map(|kept| kept.stored()).collect();
            Ok(Page { items, damaged: Vec::new(), next: None })
        };
        self.operate("walk sessions", "", look).await
    }

    async fn count_sessions(&self) -> LedgerResult<u64> {
        self.operate("count sessions", "", |state, _| Ok(state.sessions.len() as u64)).await
    }

    async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        let look = |state: &mut State, _: &mut Random| {
            Ok(state.sessions.keys().filter(|session| session.conversation == *key).cloned().collect())
        };
        self.operate("sessions with key", key.as_str(), look).await
    }

    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        self.operate("snapshot", &session.to_string(), |state, _| Ok(state.snapshot(session, plan))).await
    }

    async fn find_request(
        &self,
        session: &SessionIdentity,
        request: &RequestId,
    ) -> LedgerResult<Option<CommittedRequest>> {
        let world = &self.process.world;
        let look = |state: &mut State, _: &mut Random| Ok(state.find_request(world, session, request));
        self.operate("request", request.as_str(), look).await
    }

    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>> {
        let look = |state: &mut State, _: &mut Random| {
            let sealed = state.kept(session).map(|kept| kept.sealed.as_slice()).unwrap_or_default();
            Ok(sealed.iter().filter(|entry| entry.seq > after).take(limit as usize).cloned().collect())
        };
        self.operate("journal", &session.to_string(), look).await
    }

    async fn conversation(&self, session: &SessionIdentity, from: u64, limit: u32) -> LedgerResult<Vec<Entry>> {
        let mixed = self.process.world.sabotage == Some(Sabotage::SessionsAreMixed);
        let look = |state: &mut State, _: &mut Random| {
            let read = state.sessions.iter().filter(|(identity, _)| *identity == session || mixed);
            let entries = read.flat_map(|(_, kept)| &kept.entries);
            let fits = |entry: &&Entry| entry.seq >= from && entry.event.plan().is_none();
            Ok(entries.filter(fits).take(limit as usize).cloned().collect())
        };
        self.operate("conversation", &session.to_string(), look).await
    }

    async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>> {
        Ok(Vec::new())
    }

    async fn derived_rows(&self, session: &SessionIdentity, promoted: &[MemoryId]) -> LedgerResult<DerivedRows> {
        let look = |state: &mut State, _: &mut Random| Ok(state.derived_rows(session, promoted));
        self.operate("derived rows", &session.to_string(), look).await
    }

    async fn entry_keys(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<EntryKeys>> {
        let look = |state: &mut State, _: &mut Random| {
            let entries = state.kept(session).map(|kept| kept.entries.as_slice()).unwrap_or_default();
            let before = std::iter::once(None).chain(entries.iter().map(|entry| Some(&entry.request)));
            let columns = entries.iter().zip(before).map(|(entry, before)| EntryKeys::of(entry, before));
            Ok(columns.filter(|columns| columns.seq > after).take(limit as usize).collect())
        };
        self.operate("entry keys", &session.to_string(), look).await
    }

    async fn damaged_pages(&self) -> LedgerResult<Vec<DamagedRow>> {
        Ok(Vec::new())
    }

    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        self.operate("delete", &lease.session.to_string(), |state, _| state.delete(lease)).await
    }

    async fn candidates(
        &self,
        session: &SessionIdentity,
        reference: &PlanReference,
    ) -> LedgerResult<Vec<PlanCandidate>> {
        let look = |state: &mut State, _: &mut Random| {
            let Ok(kept) = state.kept(session) else { return Ok(Vec::new()) };
            let (number, piece) = (reference.number(), reference.piece());
            let fits = |plan: &&Plan| {
                Some(plan.number) == number || piece.as_ref().is_some_and(|piece| plan.id.as_str().contains(piece))
            };
            let found = kept.numbered().into_iter().filter(fits);
            Ok(found.map(|plan| PlanCandidate { id: plan.id.clone(), number: plan.number }).collect())
        };
        self.operate("candidates", &session.to_string(), look).await
    }

    async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>> {
        let look = |state: &mut State, _: &mut Random| {
            let found = state.sessions.iter().find(|(_, kept)| kept.plans.contains_key(plan));
            Ok(found.map(|(session, _)| session.clone()))
        };
        self.operate("session of", plan.as_str(), look).await
    }

    async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        let look = |state: &mut State, _: &mut Random| {
            let plans = state.kept(session).map(|kept| kept.numbered()).unwrap_or_default();
            let older = plans.into_iter().rev().filter(|plan| before.is_none_or(|end| u64::from(plan.number) < end));
            let items: Vec<_> = older.take(limit as usize).map(summary).collect();
            let last = items.last().map(|plan| u64::from(plan.number));
            let next = last.filter(|number| *number > 1 && items.len() == limit as usize);
            Ok(Page { items, damaged: Vec::new(), next })
        };
        self.operate("plans", &session.to_string(), look).await
    }

    async fn plan_journal(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
    ) -> LedgerResult<Vec<Result<Entry, DamagedRow>>> {
        let look = |state: &mut State, _: &mut Random| {
            let entries = state.kept(session).map(|kept| kept.entries.as_slice()).unwrap_or_default();
            Ok(entries.iter().filter(|entry| entry.event.plan() == Some(plan)).cloned().map(Ok).collect())
        };
        self.operate("plan journal", &session.to_string(), look).await
    }

    async fn version_entry(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
        version: u32,
    ) -> LedgerResult<Option<Entry>> {
        let look = |state: &mut State, _: &mut Random| {
            let entries = state.kept(session).map(|kept| kept.entries.as_slice()).unwrap_or_default();
            let made = |made: &VersionIndexEntry| made.plan == *plan && made.version == version;
            let found = version_index(session, entries).into_iter().find(made);
            Ok(found.and_then(|made| entries.iter().find(|entry| entry.seq == made.seq)).cloned())
        };
        self.operate("version entry", &session.to_string(), look).await
    }

    async fn version_index(&self, session: &SessionIdentity) -> LedgerResult<BTreeSet<VersionIndexEntry>> {
        let look = |state: &mut State, _: &mut Random| {
            let entries = state.kept(session).map(|kept| kept.entries.as_slice()).unwrap_or_default();
            Ok(version_index(session, entries))
        };
        self.operate("version index", &session.to_string(), look).await
    }

    async fn stored_plans(&self, session: &SessionIdentity) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)> {
        let look = |state: &mut State, _: &mut Random| {
            let plans = state.kept(session).map(|kept| kept.numbered()).unwrap_or_default();
            Ok((plans.into_iter().map(|plan| (plan.id.clone(), plan.clone())).collect(), Vec::new()))
        };
        self.operate("stored plans", &session.to_string(), look).await
    }

    async fn memory_matches(&self, chain: &ScopeChain, lookups: &[String]) -> LedgerResult<MemoryMatches> {
        let world = &self.process.world;
        let look = |state: &mut State, _: &mut Random| Ok(state.memory_matches(world, chain, lookups));
        self.remembered(chain, look).await
    }

    async fn memory_items(&self, chain: &ScopeChain, places: &[Place]) -> LedgerResult<FoundMemories> {
        let world = &self.process.world;
        let look = |state: &mut State, _: &mut Random| Ok(state.memory_items(world, chain, places));
        self.remembered(chain, look).await
    }

    async fn memories(&self, chain: &ScopeChain, before: Option<u64>, limit: u32) -> LedgerResult<FoundMemories> {
        let world = &self.process.world;
        let look = |state: &mut State, _: &mut Random| Ok(state.memories(world, chain, before, limit));
        self.remembered(chain, look).await
    }

    async fn memories_named(&self, chain: &ScopeChain, piece: &str) -> LedgerResult<FoundMemories> {
        let world = &self.process.world;
        let look = |state: &mut State, _: &mut Random| Ok(state.memories_named(world, chain, piece));
        self.remembered(chain, look).await
    }

    async fn memory_of(&self, session: &SessionIdentity, memory: &MemoryId) -> LedgerResult<Option<MemoryItem>> {
        let look = |state: &mut State, _: &mut Random| Ok(state.memory_of(session, memory));
        self.operate("remembered", &session.to_string(), look).await
    }

    async fn memory_vectors(&self, _: &ScopeChain, _: &str, _: u32) -> LedgerResult<Vec<MemoryVector>> {
        Ok(Vec::new())
    }

    async fn acquire_lease(
        &self,
        session: &SessionIdentity,
        owner: &str,
        ttl: Duration,
    ) -> LedgerResult<Option<Lease>> {
        let world = &self.process.world;
        let take = |state: &mut State, _: &mut Random| state.acquire(world, session, owner, ttl);
        self.operate("acquire", &session.to_string(), take).await
    }

    async fn renew_lease(&self, lease: &Lease, ttl: Duration) -> LedgerResult<bool> {
        let world = &self.process.world;
        self.operate("renew", &lease.session.to_string(), |state, _| state.renew(world, lease, ttl)).await
    }

    async fn lease(&self, session: &SessionIdentity) -> LedgerResult<Option<Lease>> {
        let world = &self.process.world;
        self.operate("lease", &session.to_string(), |state, _| state.current_lease(world, session)).await
    }

    async fn release_lease(&self, lease: &Lease) -> LedgerResult<()> {
        let world = &self.process.world;
        self.operate("release", &lease.session.to_string(), |state, _| state.release(world, lease)).await
    }

    async fn lease_clock(&self) -> LedgerResult<Timestamp> {
        let world = &self.process.world;
        self.operate("lease_clock", "", |_, _| Ok(world.clock.now())).await
    }

    async fn lease_owners(&self, of: Option<&SessionIdentity>, longest: Duration) -> LedgerResult<Vec<LeaseOwner>> {
        let world = &self.process.world;
        let what = of.map_or_else(|| "all".to_owned(), ToString::to_string);
        self.operate("lease_owners", &what, |state, _| state.lease_owners(world, of, longest)).await
    }

    async fn shorten_leases(&self, owner: &str, ttl: Duration) -> LedgerResult<()> {
        let world = &self.process.world;
        self.operate("shorten", owner, |state, _| state.shorten_leases(world, owner, ttl)).await
    }

    async fn heartbeat(&self, owner: &str, now: Timestamp) -> LedgerResult<()> {
        let note = |state: &mut State, _: &mut Random| {
            state.alive.insert(owner.to_owned(), now);
            Ok(())
        };
        self.operate("heartbeat", owner, note).await
    }

    async fn alive_at(&self, owner: &str) -> LedgerResult<Option<Timestamp>> {
        self.operate("alive_at", owner, |state, _| Ok(state.alive.get(owner).copied())).await
    }

    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>> {
        let look = |state: &mut State, _: &mut Random| {
            Ok(state.pointers.get(&transport.0).and_then(|chosen| chosen.last()).cloned())
        };
        self.operate("active_session", &transport.0, look).await
    }

    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
        let choose = |state: &mut State, _: &mut Random| {
            state.kept(session)?;
            let chosen = state.pointers.entry(transport.0.clone()).or_default();
            chosen.retain(|other| other != session);
            chosen.push(session.clone());
            Ok(())
        };
        self.operate("point", &transport.0, choose).await
    }

    async fn count_undelivered(&self) -> LedgerResult<u64> {
        self.operate("count undelivered", "", |_, _| Ok(0)).await
    }

    async fn approval_records(&self) -> LedgerResult<Vec<SealedRecord>> {
        Ok(Vec::new())
    }

    async fn approval_head(&self) -> LedgerResult<Option<[u8; 32]>> {
        Ok(None)
    }
}

fn summary(plan: &Plan) -> PlanSummary {
    PlanSummary {
        id: plan.id.clone(),
        number: plan.number,
        status: plan.status,
        style: plan.style(),
        title: plan.display_title(),
        updated_at: plan.updated_at,
    }
}

fn version_index(session: &SessionIdentity, entries: &[Entry]) -> BTreeSet<VersionIndexEntry> {
    let mut snapshot = Snapshot::new(session.clone());
    let made = |entry: &Entry| apply_and_index(&mut snapshot, &entry.event, &entry.context(), entry.seq);
    entries.iter().filter_map(made).collect()
}
