//! A store that is slow, goes away and comes back under a running server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::ids::PlanId;
use planwright_core::journal::{Entry, SealedEntry};
use planwright_core::plan::Plan;
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::policy::Policy;
use planwright_core::session::{ConversationKey, SessionIdentity, TransportChat};
use planwright_core::snapshot::Snapshot;
use planwright_engine::Engine;
use planwright_engine::ledger::{
    Committed, DamagedRow, Lease, Ledger, LedgerError, LedgerResult, Page, PlanSummary, StoredSession, Submission,
};
use planwright_engine::version_index::VersionIndexEntry;
use planwright_surfaces::mcp::PlanStart;
use serde_json::json;
use tokio::sync::Mutex;

use crate::world::{COLLECT, Client, DOCUMENT, World};

#[derive(Debug)]
struct Troubled {
    ledger: Arc<dyn Ledger>,
    gone: Arc<AtomicBool>,
    /// Nothing is written while a test holds it.
    writing: Arc<Mutex<()>>,
}

impl Troubled {
    fn there(&self) -> LedgerResult<&dyn Ledger> {
        if self.gone.load(Ordering::Relaxed) {
            return Err(LedgerError::Unavailable("somebody pulled the plug".to_owned()));
        }
        Ok(self.ledger.as_ref())
    }
}

#[async_trait]
impl Ledger for Troubled {
    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        let _turn = self.writing.lock().await;
        self.there()?.submit(submission).await
    }
    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        self.there()?.session(session).await
    }
    async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.there()?.sessions(after, limit).await
    }
    async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        self.there()?.sessions_with_key(key).await
    }
    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        self.there()?.snapshot(session, plan).await
    }
    async fn candidates(
        &self,
        session: &SessionIdentity,
        reference: &PlanReference,
    ) -> LedgerResult<Vec<PlanCandidate>> {
        self.there()?.candidates(session, reference).await
    }
    async fn session_of(&self, plan: &PlanId) -> LedgerResult<Option<SessionIdentity>> {
        self.there()?.session_of(plan).await
    }
    async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        self.there()?.plans(session, before, limit).await
    }
    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>> {
        self.there()?.journal(session, after, limit).await
    }
    async fn conversation(&self, session: &SessionIdentity, from: u64, limit: u32) -> LedgerResult<Vec<Entry>> {
        self.there()?.conversation(session, from, limit).await
    }
    async fn plan_journal(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
    ) -> LedgerResult<Vec<Result<Entry, DamagedRow>>> {
        self.there()?.plan_journal(session, plan).await
    }

    async fn version_entry(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
        version: u32,
    ) -> LedgerResult<Option<Entry>> {
        self.there()?.version_entry(session, plan, version).await
    }

    async fn version_index(&self, session: &SessionIdentity) -> LedgerResult<BTreeSet<VersionIndexEntry>> {
        self.there()?.version_index(session).await
    }

    async fn walk_sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        self.there()?.walk_sessions(after, limit).await
    }

    async fn count_sessions(&self) -> LedgerResult<u64> {
        self.there()?.count_sessions().await
    }
    async fn stored_plans(&self, session: &SessionIdentity) -> LedgerResult<(BTreeMap<PlanId, Plan>, Vec<DamagedRow>)> {
        self.there()?.stored_plans(session).await
    }
    async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>> {
        self.there()?.orphans().await
    }
    async fn acquire_lease(
        &self,
        session: &SessionIdentity,
        owner: &str,
        ttl: Duration,
    ) -> LedgerResult<Option<Lease>> {
        self.there()?.acquire_lease(session, owner, ttl).await
    }
    async fn renew_lease(&self, lease: &Lease, ttl: Duration) -> LedgerResult<bool> {
        self.there()?.renew_lease(lease, ttl).await
    }

    async fn lease(&self, session: &SessionIdentity) -> LedgerResult<Option<Lease>> {
        self.there()?.lease(session).await
    }

    async fn release_lease(&self, lease: &Lease) -> LedgerResult<()> {
        self.there()?.release_lease(lease).await
    }
    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        self.there()?.delete_session(lease).await
    }
    async fn active_session(&self, transport: &TransportChat) -> LedgerResult<Option<SessionIdentity>> {
        self.there()?.active_session(transport).await
    }
    async fn point(&self, transport: &TransportChat, session: &SessionIdentity) -> LedgerResult<()> {
        self.there()?.point(transport, session).await
    }
}

struct Trouble {
    gone: Arc<AtomicBool>,
    writing: Arc<Mutex<()>>,
}

async fn client(world: &World, start: PlanStart) -> (Client, Trouble) {
    let trouble = Trouble { gone: Arc::default(), writing: Arc::default() };
    let ledger = Troubled {
        ledger: Arc::clone(world.engine.ledger()),
        gone: Arc::clone(&trouble.gone),
        writing: Arc::clone(&trouble.writing),
    };
    let mut options = world.options(start);
    options.engine = Engine::new(Arc::new(ledger), Policy::default());
    let mut client = Client::connect(options);
    client.initialize().await;
    (client, trouble)
}

#[tokio::test]
async fn calls_are_refused_while_the_store_is_gone_and_work_again_afterwards() {
    let world = World::new().await;
    let (mut client, trouble) = client(&world, DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": "# A" })).await;

    trouble.gone.store(true, Ordering::Relaxed);
    client.refused_with("plan_set_content", json!({ "plan_markdown": "# B" }), "UNAVAILABLE").await;
    client.refused_with("plan_get", json!({}), "UNAVAILABLE").await;
    client.refused_with("anything", json!({}), "UNAVAILABLE").await;
    let list = client.ask("tools/list", json!({})).await;
    assert_eq!((&list["error"]["code"], &list["error"]["data"]["code"]), (&json!(-32603), &json!("UNAVAILABLE")));
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    assert!(client.initialize().await["instructions"].as_str().unwrap().contains("cannot be read"));

    trouble.gone.store(false, Ordering::Relaxed);
    assert_eq!(client.succeed("plan_get", json!({})).await["markdown"], "# A");
    client.leave().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_its_turn_is_not_carried_out() {
    let world = World::new().await;
    let (mut client, trouble) = client(&world, COLLECT).await;
    let held = trouble.writing.lock().await;
    let first = client.send_request("tools/call", json!({ "name": "first" })).await;
    let second = client.send_request("tools/call", json!({ "name": "second" })).await;
    let third = client.send_request("tools/call", json!({ "name": "third" })).await;
    client
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": second } }))
        .await;
    // A ping has no turn, so it is answered now, and everything before it has been read.
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    drop(held);
    for id in [first, third] {
        assert_eq!(client.answer_to(&json!(id)).await["result"]["isError"], false);
    }
    let got = client.succeed("plan_get", json!({})).await;
    let tools: Vec<_> = got["steps"].as_array().unwrap().iter().map(|step| step["tool"].clone()).collect();
    assert_eq!(json!(tools), json!(["first", "third"]));
    client.leave().await;
}
