//! What is told, when, and how often.

use jiff::tz::TimeZone;
use planwright_agent::session::input::{ChatLocation, Input, Request};
use planwright_core::approval::{ApprovalPolicy, Require};
use planwright_core::auto::RunState;
use planwright_core::permission::{PermissionRule, PermissionRules};
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::permission_rules::FixedRules;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_notify::notice::NoticeKind;
use planwright_notify::schedule::QuietHours;
use planwright_notify::{NotifyOptions, NotifyTarget};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

use crate::world::{LONG, World, person, quiet_model};

#[tokio::test]
async fn a_run_at_its_limit_is_told() {
    let world = World::with(quiet_model(), |setup| setup.policy.auto.run.turns = Some(1)).await;
    let session: SessionIdentity = "web:session-one".parse().unwrap();
    world.agent.engine().sessions().open(&session, &person()).await.unwrap();
    for line in ["/task add Tidy up", "/auto on"] {
        let place = ChatLocation::new(TransportChat("web:1".to_owned()), session.clone());
        world.agent.submit(Input::typed(line), Request::new(place, person())).outcome().await.unwrap();
    }
    let paused = async || {
        let state = world.agent.engine().auto().state(&session).await.unwrap();
        state.runs.iter().any(|run| matches!(run.state, RunState::Paused { .. }))
    };
    let pausing = async {
        while !paused().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, pausing).await.expect("the run is paused");
    let notifier = world.notifier(world.options("one"));
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 1);
    let event = world.receiver.events().remove(0);
    let told = [&event["kind"], &event["what"], &event["title"]];
    assert_eq!(told, ["budget", "Run 1 is at a limit", "Tidy up"], "{event}");
}

#[tokio::test]
async fn what_waits_is_told_after_a_while_with_its_place() {
    let world = World::new(quiet_model()).await;
    let notifier = world.notifier(world.options("one"));
    let session = world.waiting("session-one").await;
    notifier.look(&session, world.now()).await.unwrap();
    assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 0);
    world.advance(61);
    assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 1);
    let (headers, body) = world.receiver.received().remove(0);
    let event = &body["events"][0];
    let plan = world.agent.engine().plans().active(&session).await.unwrap();
    assert_eq!(event["what"], "Plan #1 waits for your decision");
    assert_eq!(event["url"], format!("https://plans.example.org/p/{}", plan.id));
    assert_eq!(event["since"], "2030-01-01T12:00:00Z");
    assert_eq!(headers["idempotency-key"], body["id"].as_str().unwrap());
    assert!(headers["x-planwright-signature"].to_str().unwrap().starts_with("sha256="));
    assert!(!body.to_string().contains("work of"), "it is not enough to decide by");
    // Told once, however often it is looked at.
    for _ in 0..3 {
        notifier.look(&session, world.now()).await.unwrap();
        assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn what_is_decided_meanwhile_is_not_told() {
    let world = World::new(quiet_model()).await;
    let notifier = world.notifier(world.options("one"));
    let session = world.waiting("session-one").await;
    notifier.look(&session, world.now()).await.unwrap();
    let plan = world.agent.engine().plans().active(&session).await.unwrap();
    world.agent.engine().plans().reject(&session, &person(), &plan.id, None).await.unwrap();
    world.advance(61);
    notifier.send_due(NotifyTarget::Webhook).await.unwrap();
    assert!(world.receiver.received().is_empty());
}

#[tokio::test]
async fn what_is_due_together_is_told_together() {
    let world = World::new(quiet_model()).await;
    let notifier = world.notifier(world.options("one"));
    for key in ["session-one", "session-two", "session-three"] {
        let session = world.waiting(key).await;
        notifier.look(&session, world.now()).await.unwrap();
    }
    world.advance(61);
    notifier.send_due(NotifyTarget::Webhook).await.unwrap();
    assert_eq!((world.receiver.received().len(), world.receiver.events().len()), (1, 3));
}

#[tokio::test]
async fn several_servers_tell_it_once() {
    let world = World::new(quiet_model()).await;
    let (one, two) = (world.notifier(world.options("one")), world.notifier(world.options("two")));
    let session = world.waiting("session-one").await;
    for notifier in [&one, &two] {
        notifier.look(&session, world.now()).await.unwrap();
    }
    world.advance(61);
    let (first, second) = tokio::join!(one.send_due(NotifyTarget::Webhook), two.send_due(NotifyTarget::Webhook));
    assert_eq!(first.unwrap() + second.unwrap(), 1);
    assert_eq!(world.receiver.events().len(), 1);
}

#[tokio::test]
async fn quiet_hours_are_kept_and_others_are_told_in_the_end() {
    let world = World::new(quiet_model()).await;
    // It is noon; the quiet hours end at two.
    let quiet = QuietHours::parse("11:00-14:00", TimeZone::UTC).unwrap();
    let options = NotifyOptions {
        quiet: Some(quiet),
        escalate_after: Some(Duration::from_secs(3 * 3_600)),
        escalate_to: vec![NotifyTarget::Webhook],
        ..world.options("one")
    };
    let notifier = world.notifier(options);
    let session = world.waiting("session-one").await;
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(3_600);
    assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 0);
    world.advance(3_600);
    assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 1);
    assert_eq!(world.receiver.events()[0]["escalated"], false);
    world.advance(3_600);
    assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 1);
    assert_eq!(world.receiver.events()[1]["escalated"], true);
}

#[tokio::test]
async fn a_call_that_waits_for_permission_is_named_without_its_arguments() {
    let rule: PermissionRule = serde_json::from_value(json!({ "tool": "write_file", "decide": "ask" })).unwrap();
    let rules = Arc::new(FixedRules::new(PermissionRules::new(vec![rule]).unwrap()));
    let model = ScriptedModel::new([Reply::call("write_file", json!({ "path": "key.txt", "content": "a-secret" }))]);
    let world = World::with(model, |setup| setup.options.permissions = rules).await;
    let notifier = world.notifier(world.options("one"));
    let session = "web:session-one".parse().unwrap();
    world.say(&session, "write it").await;
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    notifier.send_due(NotifyTarget::Webhook).await.unwrap();
    let event = world.receiver.events().remove(0);
    assert_eq!(
        (event["what"].as_str(), event["title"].as_str()),
        (Some("The agent asks for permission"), Some("write_file"))
    );
    assert!(!event.to_string().contains("a-secret") && !event.to_string().contains("key.txt"));
}

/// What the turn asks is told, and the plan that it works on is not paused meanwhile.
#[tokio::test]
async fn a_plan_whose_turn_asks_something_is_not_told_as_paused() {
    let draft = Reply::call("plan_set_content", json!({ "plan_markdown": "- [ ] paint the wall" }));
    let asks = Reply::call("ask_person", json!({ "questions": [{ "text": "Which colour?" }] }));
    let [ready, first, second] = ["Ready.", "I stop here.", "I stop here again."].map(Reply::text);
    let world = World::new(ScriptedModel::new([draft, ready, first, second, asks])).await;
    let session: SessionIdentity = "web:session-one".parse().unwrap();
    world.agent.engine().sessions().open(&session, &person()).await.unwrap();
    let typed = async |line: &str| {
        let place = ChatLocation::new(TransportChat("web:1".to_owned()), session.clone());
        world.agent.submit(Input::typed(line), Request::new(place, person())).outcome().await.unwrap();
    };
    for line in ["/plan on", "Plan it", "/plan approve", "Go on"] {
        typed(line).await;
    }
    let plan = world.agent.engine().plans().active(&session).await.unwrap();
    assert!(plan.is_paused(), "the turns of the approval left it open: {plan:?}");
    let notifier = world.notifier(world.options("one"));
    let told = async || {
        notifier.look(&session, world.now()).await.unwrap();
        world.advance(61);
        notifier.send_due(NotifyTarget::Webhook).await.unwrap();
        world.receiver.events().iter().map(|event| event["what"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(told().await, ["The agent asks a question"]);
    typed("/stop").await;
    assert_eq!(told().await, ["The agent asks a question", "Plan #1 is paused"]);
}

#[tokio::test]
async fn only_the_chosen_events_are_told() {
    let world = World::new(quiet_model()).await;
    let notifier = world.notifier(NotifyOptions { events: vec![NoticeKind::Failed], ..world.options("one") });
    let session = world.waiting("session-one").await;
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), 0);
}

#[tokio::test]
async fn the_notifier_follows_the_store_by_itself() {
    let world = World::new(quiet_model()).await;
    let options = NotifyOptions { after: Duration::ZERO, ..world.options("one") };
    let shutdown = tokio_util::sync::CancellationToken::new();
    let running = tokio::spawn(world.notifier(options).run(shutdown.clone()));
    world.waiting("session-one").await;
    let told = async {
        while world.receiver.events().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG, told).await.expect("the plan is told");
    shutdown.cancel();
    running.await.unwrap();
    assert_eq!(world.receiver.events().len(), 1);
}

/// Also where the settings name other events, no target and quiet hours.
#[tokio::test]
async fn a_weaker_policy_is_told_on_every_channel_that_is_set_up() {
    let world = World::new(quiet_model()).await;
    let quiet = QuietHours::parse("00:00-23:59", TimeZone::UTC).unwrap();
    let options = NotifyOptions { to: Vec::new(), events: Vec::new(), quiet: Some(quiet), ..world.options("one") };
    let notifier = world.notifier(options);
    let approvals = world.agent.engine().approvals();
    let since = world.now();
    for (require, told) in [(Require::Separate, 0), (Require::Verified, 0), (Require::Any, 1)] {
        approvals.set_policy(&person(), &ApprovalPolicy::requiring(require), None).await.unwrap();
        // Looking twice tells once.
        for _ in 0..2 {
            notifier.look_at_records(since).await.unwrap();
        }
        assert_eq!(notifier.send_due(NotifyTarget::Webhook).await.unwrap(), told, "{require:?}");
    }
    let event = world.receiver.events().remove(0);
    assert_eq!(event["kind"], "weakened", "{event}");
    let title = event["title"].as_str().unwrap();
    assert!(title.contains("from `verified` to `any`") && title.contains("by ada through web"), "{title}");
}
