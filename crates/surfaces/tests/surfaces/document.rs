use planwright_core::actor::Actor;
use planwright_core::plan::PlanStatus;
use serde_json::{Value, json};

use crate::world::{DOCUMENT, World};

const MARKDOWN: &str = "# Move house\n\n- [ ] pack \u{1f4e6}\n- [ ] drive\n- [ ] unpack\n";

#[tokio::test]
async fn a_plan_is_written_approved_outside_and_carried_out() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;

    let empty = client.succeed("plan_get", json!({})).await;
    assert_eq!((&empty["status"], &empty["number"], &empty["markdown"]), (&json!("COLLECTING"), &json!(1), &json!("")));

    let set = client.succeed("plan_set_content", json!({ "plan_markdown": MARKDOWN, "title": "House" })).await;
    assert_eq!((&set["status"], &set["number"]), (&json!("READY"), &json!(1)));
    let plan = world.active_plan().await;
    assert_eq!(set["plan_id"], json!(plan.id));
    assert_eq!(set["digest"], json!(plan.digest()));

    let got = client.succeed("plan_get", json!({})).await;
    assert_eq!((&got["markdown"], &got["title"]), (&json!(MARKDOWN), &json!("House")));
    assert_eq!(got["progress"], Value::Null);
    client.refused_with("plan_progress", json!({ "status": "done" }), "WRONG_STATUS").await;

    world.approve().await;
    let begun = client.succeed("plan_progress", json!({ "status": "in_progress" })).await;
    assert_eq!((&begun["done"], &begun["total"], &begun["next"]["step"]), (&json!(0), &json!(3), &json!(1)));
    let first =
        client.succeed("plan_progress", json!({ "status": "done", "note": "12 boxes", "evidence": "photo" })).await;
    assert_eq!((&first["done"], &first["next"]["description"]), (&json!(1), &json!("drive")));
    client.succeed("plan_progress", json!({ "step": 2, "status": "skipped" })).await;
    client.refused_with("plan_progress", json!({ "step": 9, "status": "done" }), "NOT_FOUND").await;
    client.succeed("plan_progress", json!({ "step": 3, "status": "failed", "note": "no key" })).await;

    let plan = world.active_plan().await;
    assert_eq!(plan.status, PlanStatus::PartiallyCompleted);
    let got = client.succeed("plan_get", json!({})).await;
    assert_eq!(got["markdown"], MARKDOWN, "the approved text is never edited");
    assert_eq!(got["progress"]["done"], 1);
    client.leave().await;
}

#[tokio::test]
async fn an_approved_plan_is_superseded_by_new_content() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let first = client.succeed("plan_set_content", json!({ "plan_markdown": MARKDOWN })).await;
    let again = client.succeed("plan_set_content", json!({ "plan_markdown": "# Stay" })).await;
    assert_eq!(again["plan_id"], first["plan_id"], "overwritten while it is ready");
    world.approve().await;
    let third = client.succeed("plan_set_content", json!({ "plan_markdown": MARKDOWN })).await;
    assert_ne!(third["plan_id"], first["plan_id"]);
    assert_eq!((&third["number"], &third["status"]), (&json!(2), &json!("READY")));
    client.leave().await;
}

#[tokio::test]
async fn bad_arguments_are_refused_and_change_nothing() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": MARKDOWN })).await;
    let before = (world.seq().await, world.active_plan().await);

    let huge = "x".repeat(1024 * 1024 + 1);
    for (tool, arguments, code) in [
        ("plan_set_content", json!({}), "INVALID_ARGUMENT"),
        ("plan_set_content", json!({ "plan_markdown": " \n\t" }), "INVALID_ARGUMENT"),
        ("plan_set_content", json!({ "plan_markdown": 7 }), "INVALID_ARGUMENT"),
        ("plan_set_content", json!({ "plan_markdown": null }), "INVALID_ARGUMENT"),
        ("plan_set_content", json!({ "plan_markdown": ["# A"] }), "INVALID_ARGUMENT"),
        ("plan_set_content", json!({ "plan_markdown": "# A", "title": {} }), "INVALID_ARGUMENT"),
        ("plan_set_content", json!({ "plan_markdown": "# A", "title": " " }), "INVALID_ARGUMENT"),
        ("plan_set_content", json!({ "plan_markdown": "# A", "title": "t".repeat(20_000) }), "LIMIT_EXCEEDED"),
        ("plan_set_content", json!({ "plan_markdown": huge }), "LIMIT_EXCEEDED"),
        ("plan_set_content", json!([]), "INVALID_ARGUMENT"),
        ("plan_set_content", json!("# A"), "INVALID_ARGUMENT"),
        ("plan_get", json!({ "plan_id": "9" }), "NOT_FOUND"),
        ("plan_get", json!(7), "INVALID_ARGUMENT"),
        ("plan_progress", json!({ "status": "done" }), "WRONG_STATUS"),
        ("plan_progress", json!({ "status": "approved" }), "INVALID_ARGUMENT"),
        ("plan_finalize", json!({}), "WRONG_STATUS"),
        ("plan_add_step", json!({ "description": "x", "agent": "coder" }), "POLICY_DENIED"),
        ("plan_submit", json!({ "nonsense": 1 }), "POLICY_DENIED"),
        ("plan_approve", json!({}), "NOT_FOUND"),
        ("write_file", json!({ "path": "x" }), "NOT_FOUND"),
        ("", json!({}), "NOT_FOUND"),
    ] {
        client.refused_with(tool, arguments, code).await;
    }
    assert_eq!((world.seq().await, world.active_plan().await), before);
    client.leave().await;
}

#[tokio::test]
async fn arguments_may_be_left_out() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    for params in [json!({ "name": "plan_get" }), json!({ "name": "plan_get", "arguments": null })] {
        let answer = client.ask("tools/call", params).await;
        assert_eq!(answer["result"]["structuredContent"]["status"], "COLLECTING", "{answer}");
    }
    client.leave().await;
}

#[tokio::test]
async fn while_plan_work_is_off_every_plan_tool_is_refused() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": MARKDOWN })).await;
    client.leave().await;

    let by = Actor::person("ada", "cli");
    world.engine.sessions().disable_plan_mode(&world.session, &by).await.unwrap();
    let mut client = world.client(DOCUMENT).await;
    let before = (world.seq().await, world.engine.plans().list(&world.session, None, 10).await.unwrap().items);
    assert_eq!(client.tool_names().await, [""; 0]);
    for (tool, arguments) in [
        ("plan_get", json!({})),
        ("plan_set_content", json!({ "plan_markdown": "# B" })),
        ("plan_set_content", json!({ "wrong": 1 })),
        ("plan_progress", json!({ "status": "done" })),
        ("plan_finalize", json!({})),
        ("plan_create_draft", json!({ "goal": "x" })),
        ("plan_set_metadata", json!({ "goal": "x" })),
        ("plan_add_step", json!({ "description": "x", "agent": "coder" })),
        ("plan_update_step", json!({ "step_id": "s1" })),
        ("plan_remove_step", json!({ "step_id": "s1" })),
        ("plan_submit", json!({})),
        ("plan_list", json!({})),
    ] {
        client.refused_with(tool, arguments, "POLICY_DENIED").await;
    }
    client.refused_with("anything", json!({}), "NOT_FOUND").await;
    let after = (world.seq().await, world.engine.plans().list(&world.session, None, 10).await.unwrap().items);
    assert_eq!(after, before);
    client.leave().await;
}
