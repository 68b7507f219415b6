//! A store that a test can make fail.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use planwright_core::ids::PlanId;
use planwright_core::journal::SealedEntry;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    Ledger, LedgerError, LedgerResult, Page, PlanAnywhere, PlanSummary, StoreCounts, StoreFacts, StoredSession,
};
use planwright_test_support::forwarding::{Forwarding, ForwardingLedger};

/// How a test controls its store. Clones control the same store.
#[derive(Debug, Clone, Default)]
pub(crate) struct StoreControl {
    behaviour: Arc<Mutex<Behaviour>>,
    write_checks: Arc<AtomicUsize>,
    looks: Arc<Mutex<HashMap<SessionIdentity, usize>>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Behaviour {
    /// It answers, with fixed counts.
    #[default]
    Answer,
    /// It answers, and counts what it holds.
    CountTruly,
    /// It can be read and not written.
    FullDisk,
    Unavailable,
    Panic,
}

impl StoreControl {
    pub(crate) fn answer(&self) {
        self.set(Behaviour::Answer);
    }

    pub(crate) fn refuse(&self) {
        self.set(Behaviour::Unavailable);
    }

    pub(crate) fn panic(&self) {
        self.set(Behaviour::Panic);
    }

    /// It can be read and not written.
    pub(crate) fn fill_disk(&self) {
        self.set(Behaviour::FullDisk);
    }

    /// It counts what it holds, instead of returning fixed counts.
    pub(crate) fn count_truly(&self) {
        self.set(Behaviour::CountTruly);
    }

    /// How often the store was asked whether it can be written.
    pub(crate) fn checks(&self) -> usize {
        self.write_checks.load(Ordering::Relaxed)
    }

    /// How often each session was read.
    pub(crate) fn looks(&self) -> HashMap<SessionIdentity, usize> {
        self.looks.lock().unwrap().clone()
    }

    fn note_look(&self, session: &SessionIdentity) {
        *self.looks.lock().unwrap().entry(session.clone()).or_default() += 1;
    }

    fn set(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    fn behaviour(&self) -> Behaviour {
        *self.behaviour.lock().unwrap()
    }

    fn read(&self) -> LedgerResult<()> {
        match self.behaviour() {
            Behaviour::Answer | Behaviour::CountTruly | Behaviour::FullDisk => Ok(()),
            Behaviour::Unavailable => Err(LedgerError::Unavailable("the test stopped the store".to_owned())),
            Behaviour::Panic => panic!("the test makes the store panic"),
        }
    }
}

/// What a model may call its plan.
pub(crate) const HOSTILE_TITLE: &str = r#"<script src="/start.js">'&"#;

#[derive(Debug)]
pub(crate) struct ControlledLedger {
    store: Arc<dyn Ledger>,
    control: StoreControl,
}

impl ControlledLedger {
    pub(crate) fn new(store: Arc<dyn Ledger>, control: StoreControl) -> Arc<Forwarding<Self>> {
        Arc::new(Forwarding(Self { store, control }))
    }
}

#[async_trait]
impl ForwardingLedger for ControlledLedger {
    fn inner(&self) -> LedgerResult<&dyn Ledger> {
        Ok(self.store.as_ref())
    }

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        self.control.note_look(session);
        self.store.session(session).await
    }

    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        self.control.note_look(session);
        self.store.snapshot(session, plan).await
    }

    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>> {
        self.control.note_look(session);
        self.store.journal(session, after, limit).await
    }

    async fn waiting_plans(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<PlanAnywhere>> {
        self.plans_anywhere(&[], after, limit).await
    }

    async fn plans_anywhere(&self, _: &[PlanStatus], _: Option<u64>, _: u32) -> LedgerResult<Page<PlanAnywhere>> {
        self.control.read()?;
        let plan = PlanSummary {
            id: PlanId::new("plan-1").unwrap(),
            number: 1,
            status: PlanStatus::Ready,
            style: PlanStyle::Document,
            title: HOSTILE_TITLE.to_owned(),
            updated_at: Timestamp::UNIX_EPOCH,
        };
        let found = PlanAnywhere { session: "web:someone1".parse().unwrap(), plan, active: true };
        Ok(Page { items: vec![found], damaged: Vec::new(), next: None })
    }

    async fn counts(&self) -> LedgerResult<StoreCounts> {
        self.control.read()?;
        if self.control.behaviour() == Behaviour::CountTruly {
            return self.store.counts().await;
        }
        Ok(StoreCounts { sessions: 5, planning: 4, turns: 3, plans_ready: 2, plans_executing: 1 })
    }

    async fn check(&self) -> LedgerResult<StoreFacts> {
        self.control.read()?;
        Ok(StoreFacts { kind: "a store".to_owned(), schema: 1, told_by_others: true })
    }

    async fn check_writable(&self) -> LedgerResult<()> {
        self.control.write_checks.fetch_add(1, Ordering::Relaxed);
        if self.control.behaviour() == Behaviour::FullDisk {
            return Err(LedgerError::Unavailable("no space left on the block device".to_owned()));
        }
        self.control.read()
    }
}
