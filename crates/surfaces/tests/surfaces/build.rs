use planwright_core::plan::PlanStatus;
use planwright_surfaces::mcp::SessionChoice;
use serde_json::json;

use crate::world::{BUILD, World};

#[tokio::test]
async fn a_draft_is_built_checked_and_proposed() {
    let world = World::new().await;
    let mut client = world.client(BUILD).await;

    let draft = client.succeed("plan_create_draft", json!({ "goal": "ship it", "title": "Ship" })).await;
    assert_eq!((&draft["number"], &draft["status"]), (&json!(1), &json!("COLLECTING")));

    let incomplete = client.refuse("plan_submit", json!({})).await;
    assert_eq!(incomplete["code"], "INVALID_ARGUMENT");
    let paths: Vec<_> = incomplete["errors"].as_array().unwrap().iter().map(|error| error["path"].clone()).collect();
    assert_eq!(json!(paths), json!(["/assumptions", "/risks", "/verification", "/files", "/steps"]));
    assert_eq!(world.active_plan().await.status, PlanStatus::Collecting);

    let given = json!({ "assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["f"] });
    let missing = client.succeed("plan_set_metadata", given).await;
    assert_eq!(missing["missing"].as_array().unwrap().len(), 1, "{missing}");

    // The client carries the steps out itself, so it names no specialist.
    let first = client.succeed("plan_add_step", json!({ "description": "write" })).await;
    assert_eq!((&first["step_id"], &first["position"]), (&json!("s1"), &json!(1)));
    let second = client
        .succeed(
            "plan_add_step",
            json!({ "description": "test", "agent": "tester", "needs": ["s1"], "verification": "green" }),
        )
        .await;
    assert_eq!((&second["step_id"], &second["position"]), (&json!("s2"), &json!(2)));
    let between =
        client.succeed("plan_add_step", json!({ "description": "x", "agent": "writer", "position": 2 })).await;
    assert_eq!((&between["step_id"], &between["position"]), (&json!("s3"), &json!(2)));
    let moved =
        client.succeed("plan_update_step", json!({ "step_id": "s3", "description": "docs", "position": 3 })).await;
    assert_eq!(moved["position"], 3);
    client.succeed("plan_remove_step", json!({ "step_id": "s3" })).await;

    let before = world.seq().await;
    for (tool, arguments, code) in [
        ("plan_add_step", json!({ "description": "x", "agent": "nobody" }), "UNKNOWN_AGENT"),
        ("plan_add_step", json!({ "description": "x", "agent": 3 }), "INVALID_ARGUMENT"),
        ("plan_add_step", json!({ "description": "x", "agent": "planner" }), "UNKNOWN_AGENT"),
        ("plan_add_step", json!({ "description": "x", "agent": "coder", "position": 9 }), "INVALID_ARGUMENT"),
        ("plan_add_step", json!({ "description": "x", "agent": "coder", "position": 0 }), "INVALID_ARGUMENT"),
        ("plan_add_step", json!({ "description": "x", "agent": "coder", "position": -1 }), "INVALID_ARGUMENT"),
        ("plan_add_step", json!({ "description": " ", "agent": "coder" }), "INVALID_ARGUMENT"),
        ("plan_add_step", json!({ "description": "x", "agent": "coder", "needs": ["s9"] }), "NOT_FOUND"),
        ("plan_add_step", json!({ "description": "x", "agent": "coder", "needs": "s1" }), "INVALID_ARGUMENT"),
        ("plan_update_step", json!({ "step_id": "s3", "description": "x" }), "NOT_FOUND"),
        ("plan_update_step", json!({ "step_id": "../s1" }), "INVALID_ARGUMENT"),
        ("plan_remove_step", json!({ "step_id": "s1" }), "INVALID_ARGUMENT"),
        ("plan_remove_step", json!({}), "INVALID_ARGUMENT"),
        ("plan_set_metadata", json!({}), "INVALID_ARGUMENT"),
        ("plan_set_metadata", json!({ "status": "APPROVED" }), "INVALID_ARGUMENT"),
        ("plan_create_draft", json!({ "goal": "" }), "INVALID_ARGUMENT"),
        ("plan_get", json!({ "plan_id": "2" }), "NOT_FOUND"),
        ("plan_get", json!({ "plan_id": 1 }), "INVALID_ARGUMENT"),
        ("plan_list", json!({ "before": "2" }), "INVALID_ARGUMENT"),
        ("plan_set_content", json!({ "plan_markdown": "# A" }), "POLICY_DENIED"),
        ("plan_finalize", json!({}), "WRONG_STATUS"),
        ("plan_progress", json!({ "status": "done" }), "WRONG_STATUS"),
        ("write_file", json!({}), "NOT_FOUND"),
    ] {
        client.refused_with(tool, arguments, code).await;
    }
    assert_eq!(world.seq().await, before);

    let submitted = client.succeed("plan_submit", json!({ "summary": "short" })).await;
    assert_eq!(submitted["status"], "READY");
    client.refused_with("plan_add_step", json!({ "description": "x", "agent": "coder" }), "WRONG_STATUS").await;

    let got = client.succeed("plan_get", json!({ "plan_id": "1" })).await;
    assert_eq!((&got["goal"], &got["summary"]), (&json!("ship it"), &json!("short")));
    let steps: Vec<_> = got["steps"].as_array().unwrap().iter().map(|step| step["step_id"].clone()).collect();
    assert_eq!(json!(steps), json!(["s1", "s2"]));

    let other = client.succeed("plan_create_draft", json!({ "goal": "another" })).await;
    assert_eq!(other["number"], 2);
    let list = client.succeed("plan_list", json!({})).await;
    let numbers: Vec<_> = list["plans"].as_array().unwrap().iter().map(|plan| plan["number"].clone()).collect();
    assert_eq!(json!(numbers), json!([2, 1]));
    client.leave().await;
}

#[tokio::test]
async fn plans_of_other_sessions_do_not_exist() {
    let world = World::new().await;
    let mut ours = world.client(BUILD).await;
    let draft = ours.succeed("plan_create_draft", json!({ "goal": "ours" })).await;

    let mut options = world.options(BUILD);
    options.session = SessionChoice::Fixed("mcp:another1".parse().unwrap());
    let mut theirs = crate::world::Client::connect(options);
    theirs.initialize().await;
    theirs.refused_with("plan_get", json!({ "plan_id": draft["plan_id"] }), "NOT_FOUND").await;
    let list = theirs.succeed("plan_list", json!({})).await;
    assert_eq!(list["plans"].as_array().unwrap().len(), 1, "only their own: {list}");
    assert_ne!(list["plans"][0]["plan_id"], draft["plan_id"]);
    ours.leave().await;
    theirs.leave().await;
}
