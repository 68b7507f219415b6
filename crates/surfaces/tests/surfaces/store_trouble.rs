//! A store that is slow, goes away and comes back under a running server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use planwright_core::policy::Policy;
use planwright_engine::Engine;
use planwright_engine::ledger::{Committed, Ledger, LedgerError, LedgerResult, Submission};
use planwright_surfaces::mcp::PlanStart;
use planwright_test_support::forwarding::{Forwarding, ForwardingLedger};
use serde_json::json;
use tokio::sync::Mutex;

use crate::world::{COLLECT, Client, DOCUMENT, World};

#[derive(Debug)]
struct InterruptedLedger {
    ledger: Arc<dyn Ledger>,
    gone: Arc<AtomicBool>,
    /// Nothing is written while a test holds it.
    writing: Arc<Mutex<()>>,
}

#[async_trait]
impl ForwardingLedger for InterruptedLedger {
    fn inner(&self) -> LedgerResult<&dyn Ledger> {
        if self.gone.load(Ordering::Relaxed) {
            return Err(LedgerError::Unavailable("the test stopped the store".to_owned()));
        }
        Ok(self.ledger.as_ref())
    }

    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        let _turn = self.writing.lock().await;
        self.inner()?.submit(submission).await
    }
}

struct Trouble {
    gone: Arc<AtomicBool>,
    writing: Arc<Mutex<()>>,
}

async fn client(world: &World, start: PlanStart) -> (Client, Trouble) {
    let trouble = Trouble { gone: Arc::default(), writing: Arc::default() };
    let ledger = InterruptedLedger {
        ledger: Arc::clone(world.engine.ledger()),
        gone: Arc::clone(&trouble.gone),
        writing: Arc::clone(&trouble.writing),
    };
    let mut options = world.options(start);
    options.engine = Engine::new(Arc::new(Forwarding(ledger)), Policy::default());
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
    // A client that reads the list now still learns the tools.
    assert!(client.tool_names_raw().await.contains(&"plan_set_content".to_owned()));
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    assert!(client.initialize().await["instructions"].as_str().unwrap().contains("cannot work at the moment"));

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
