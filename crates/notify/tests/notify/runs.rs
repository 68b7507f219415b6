//! Runs that ended or wait are told, and nothing stands too far back to be told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use planwright_agent::session::input::{ChatLocation, Input, Request};
use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::auto::AutoRun;
use planwright_core::model::ModelMessage;
use planwright_core::plan::PlanStyle;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::{Ledger, LedgerError, LedgerResult, Page, PlanSummary};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_notify::{NotifyOptions, NotifyTarget};
use planwright_test_support::forwarding::{Forwarding, ForwardingLedger};
use serde_json::json;

use crate::world::{LONG, World, person, quiet_model};

/// Starts a run and waits until it is in this state.
async fn run_until(world: &World, wanted: impl Fn(&AutoRun) -> bool) -> SessionIdentity {
    let session: SessionIdentity = "web:session-one".parse().unwrap();
    world.agent.engine().sessions().open(&session, &person()).await.unwrap();
    for line in ["/task add Tidy up", "/auto on"] {
        let place = ChatLocation::new(TransportChat("web:1".to_owned()), session.clone());
        world.agent.submit(Input::typed(line), Request::new(place, person())).outcome().await.unwrap();
    }
    let there = async {
        while !world.agent.engine().auto().state(&session).await.unwrap().runs.iter().any(&wanted) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, there).await.expect("the run gets there");
    session
}

#[tokio::test]
async fn a_run_that_ended_is_told_with_its_result() {
    for (status, kind, what) in
        [("done", "finished", "Run 1 is completed: swept twice"), ("failed", "failed", "Run 1 is failed: swept twice")]
    {
        let model = ScriptedModel::answering(move |request| match request.messages.last() {
            Some(ModelMessage::User { .. }) => {
                Reply::call("task_update", json!({ "status": status, "note": "swept twice" }))
            }
            _ => Reply::text("Done."),
        });
        let world = World::new(model).await;
        let session = run_until(&world, |run| !run.is_open()).await;
        let notifier = world.notifier(world.options("one"));
        notifier.look(&session, world.now()).await.unwrap();
        assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 1);
        let event = world.receiver.events().remove(0);
        let told = [&event["kind"], &event["what"], &event["title"]];
        assert_eq!(told, [kind, what, "Tidy up"], "{event}");
        // What ended before the notifier's time is not told.
        world.advance(60);
        let later = world.notifier(world.options("two"));
        later.look(&session, world.now()).await.unwrap();
        assert_eq!(later.send_due(NotifyTarget::Webhook).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_run_that_paused_before_the_start_is_told() {
    let world = World::with(quiet_model(), |setup| setup.policy.auto.run.turns = Some(1)).await;
    run_until(&world, |run| run.waits_since().is_some()).await;
    world.advance(3_600);
    let shutdown = tokio_util::sync::CancellationToken::new();
    let options = NotifyOptions { after: Duration::ZERO, ..world.options("one") };
    let running = tokio::spawn(world.notifier(options).run(shutdown.clone()));
    let told = async {
        while world.receiver.events().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG, told).await.expect("the run is told");
    shutdown.cancel();
    running.await.unwrap();
    assert_eq!(world.receiver.events()[0]["what"], "Run 1 is at a limit");
}

#[tokio::test]
async fn a_plan_that_waits_is_told_however_many_came_after_it() {
    let world = World::new(quiet_model()).await;
    let session = world.waiting("session-one").await;
    let engine = world.agent.engine();
    for number in 0..20 {
        engine.sessions().disable_plan_mode(&session, &person()).await.unwrap();
        engine.sessions().enable_plan_mode(&session, &person(), PlanStyle::Document).await.unwrap();
        let content = json!({ "plan_markdown": format!("- [ ] {number}") }).as_object().unwrap().clone();
        let agent = Actor::agent("scripted", "test");
        PlanTools::new(engine).call(&session, &agent, "plan_set_content", content).await.unwrap();
        let plan = engine.plans().active(&session).await.unwrap();
        engine.plans().reject(&session, &person(), &plan.id, None).await.unwrap();
    }
    let notifier = world.notifier(world.options("one"));
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    notifier.send_due(NotifyTarget::Webhook).await.unwrap();
    let told: Vec<_> = world.receiver.events().iter().map(|event| event["what"].clone()).collect();
    assert_eq!(told, ["Plan #1 waits for your decision"]);
}

/// Does not read the plans of a session the first time.
#[derive(Debug)]
struct FailsOnce {
    inner: Arc<dyn Ledger>,
    has_failed: AtomicBool,
}

#[async_trait]
impl ForwardingLedger for FailsOnce {
    fn inner(&self) -> LedgerResult<&dyn Ledger> {
        Ok(self.inner.as_ref())
    }

    async fn plans(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<PlanSummary>> {
        match self.has_failed.swap(true, Ordering::SeqCst) {
            false => Err(LedgerError::Unavailable("the test says so".to_owned())),
            true => self.inner.plans(session, before, limit).await,
        }
    }
}

#[tokio::test]
async fn a_session_that_could_not_be_read_is_looked_at_again() {
    let world = World::new(quiet_model()).await;
    world.waiting("session-one").await;
    let ledger = Arc::new(Forwarding(FailsOnce { inner: world.ledger.clone(), has_failed: AtomicBool::new(false) }));
    let options = NotifyOptions { after: Duration::ZERO, ..world.options("one") };
    let shutdown = tokio_util::sync::CancellationToken::new();
    let running = tokio::spawn(world.notifier_on(ledger.clone(), options).run(shutdown.clone()));
    let until = async |is_there: &dyn Fn() -> bool| {
        let waiting = async {
            while !is_there() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(LONG, waiting).await.expect("it happens");
    };
    until(&|| ledger.0.has_failed.load(Ordering::SeqCst)).await;
    // The next change is in another session.
    world.waiting("session-two").await;
    until(&|| world.receiver.events().len() == 2).await;
    shutdown.cancel();
    running.await.unwrap();
}
