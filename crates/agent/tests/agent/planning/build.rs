//! Style build: a proposal is put together piece by piece, and while that lasts the agent only reads.

use planwright_core::plan::PlanStatus;
use planwright_core::turn::{ToolStatus, TurnEnd};
use planwright_llm::scripted::Reply;
use serde_json::json;

use crate::world::{World, script, statuses, tool_names};

fn submit() -> Reply {
    Reply::call("plan_submit", json!({}))
}

fn add(description: &str, agent: &str) -> Reply {
    Reply::call("plan_add_step", json!({"description": description, "agent": agent}))
}

#[tokio::test]
async fn a_proposal_is_built_checked_and_submitted() {
    let world = World::new([
        Reply::call("plan_create_draft", json!({"goal": "Ship the shop", "title": "Shop"})),
        submit(),
        add("Build it", "coder").and_call("plan_add_step", json!({"description": "Test it", "agent": "plumber"})),
        add("Test it", "tester"),
        Reply::call(
            "plan_set_metadata",
            json!({"assumptions": ["It builds."], "risks": ["It may not."], "verification": ["It runs."], "files": ["shop/"]}),
        ),
        Reply::call("plan_submit", json!({"summary": "Build, then test."})),
    ])
    .await;
    world.send("/plan on build").await;
    let outcome = world.say("Plan the shop").await;
    let expected = [
        ToolStatus::Done,
        ToolStatus::Refused,
        ToolStatus::Done,
        ToolStatus::Refused,
        ToolStatus::Done,
        ToolStatus::Done,
        ToolStatus::Settled,
    ];
    assert_eq!(statuses(&world.events().await), expected, "{:#?}", script(&world.model.last_request()));
    let sent = script(&world.model.last_request());
    assert!(sent[4].contains("/steps"), "everything that is missing is listed: {}", sent[4]);
    assert!(sent[7].contains("UNKNOWN_AGENT") && sent[7].contains("tester"), "{}", sent[7]);
    let plan = world.plan(1).await;
    assert_eq!(outcome.end, Some(TurnEnd::PlanReady { plan: plan.id.clone() }));
    assert_eq!(outcome.reply, "Build, then test.");
    let card = outcome.plan.unwrap();
    assert_eq!((card.status, card.digest), (PlanStatus::Ready, plan.digest()));
    for message in ["Ship the shop", "Build it", "Test it", "It may not."] {
        assert!(card.markdown.contains(message), "{}", card.markdown);
    }
    world.model.assert_finished();
    world.is_sound().await;
}

#[tokio::test]
async fn research_is_run_and_changes_are_neither_advertised_nor_run() {
    let world = World::new([
        Reply::call("list_files", json!({})),
        Reply::call("write_file", json!({"path": "a.txt", "content": "one"})),
        Reply::call("write_file", json!({"path": 7})),
        Reply::text("I may not."),
    ])
    .await;
    world.send("/plan on build").await;
    world.say("Look around").await;
    let request = world.sent(1);
    assert!(!tool_names(&request).contains(&"write_file"));
    assert!(tool_names(&request).contains(&"read_file"));
    assert_eq!(statuses(&world.events().await), [ToolStatus::Done, ToolStatus::Refused, ToolStatus::Refused]);
    let sent = script(&world.sent(4));
    assert!(sent[4].contains("POLICY_DENIED"), "{sent:?}");
    assert!(sent[6].contains("POLICY_DENIED"), "what is not there need not fit: {sent:?}");
    assert!(!world.files().join("a.txt").exists());
}

#[tokio::test]
async fn a_proposal_that_waits_is_frozen() {
    let world = World::new([
        Reply::call("plan_create_draft", json!({"goal": "Ship it"}))
            .and_call("plan_add_step", json!({"description": "Do", "agent": "coder"})),
        Reply::call(
            "plan_set_metadata",
            json!({"assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["f"]}),
        ),
        submit(),
        add("More", "coder"),
        Reply::text("It is frozen."),
    ])
    .await;
    world.send("/plan on build").await;
    world.say("Plan it").await;
    let before = world.plan(1).await;
    assert_eq!(before.status, PlanStatus::Ready);
    world.say("Add more").await;
    assert!(script(&world.model.last_request()).last().unwrap().contains("WRONG_STATUS"));
    assert_eq!(world.plan(1).await.digest(), before.digest());
}
