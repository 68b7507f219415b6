use serde_json::json;

use crate::world::{COLLECT, World};

#[tokio::test]
async fn calls_are_written_down_and_finalised() {
    let world = World::new().await;
    let mut client = world.client(COLLECT).await;
    let first = client.succeed("write_file", json!({ "path": "a", "text": "b" })).await;
    assert_eq!((&first["planned"], &first["step"]), (&json!(true), &json!(1)));
    let message = first["message"].as_str().unwrap();
    assert!(message.starts_with("[Planned] write_file was recorded as step 1 "), "{message}");
    client.succeed("git__commit", json!({})).await;

    let got = client.succeed("plan_get", json!({})).await;
    assert_eq!(got["status"], "COLLECTING");
    assert_eq!(got["steps"].as_array().unwrap().len(), 2);

    client.refused_with("plan_finalize", json!({ "summary": 7 }), "INVALID_ARGUMENT").await;
    let done = client.succeed("plan_finalize", json!({ "summary": "two things" })).await;
    assert_eq!((&done["status"], &done["number"]), (&json!("READY"), &json!(1)));
    let steps = json!([{ "step": 1, "tool": "write_file" }, { "step": 2, "tool": "git__commit" }]);
    assert_eq!(done["steps"], steps);

    let before = world.seq().await;
    for (tool, arguments, code) in [
        ("write_file", json!({}), "WRONG_STATUS"),
        ("plan_finalize", json!({}), "WRONG_STATUS"),
        ("plan_set_content", json!({ "plan_markdown": "# A" }), "POLICY_DENIED"),
        ("plan_submit", json!({}), "POLICY_DENIED"),
        ("plan_approve", json!({}), "POLICY_DENIED"),
        ("", json!({}), "INVALID_ARGUMENT"),
        ("write_file", json!(["a"]), "INVALID_ARGUMENT"),
    ] {
        client.refused_with(tool, arguments, code).await;
    }
    assert_eq!(world.seq().await, before);
    client.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_sent_all_at_once_become_steps_in_their_order() {
    let world = World::new().await;
    let mut client = world.client(COLLECT).await;
    let mut ids = Vec::new();
    for n in 0..100 {
        ids.push(client.send_request("tools/call", json!({ "name": format!("tool_{n:03}"), "arguments": {} })).await);
    }
    for (n, id) in ids.into_iter().enumerate() {
        let answer = client.answer_to(&json!(id)).await;
        assert_eq!(answer["result"]["structuredContent"]["step"], n + 1, "{answer}");
    }
    let got = client.succeed("plan_get", json!({})).await;
    let tools: Vec<_> = got["steps"].as_array().unwrap().iter().map(|step| step["tool"].as_str().unwrap()).collect();
    assert_eq!(tools.len(), 100);
    assert!(tools.is_sorted(), "{tools:?}");
    client.leave().await;
}

#[tokio::test]
async fn an_agent_cannot_end_plan_work_by_finalizing_nothing() {
    let world = World::new().await;
    let mut client = world.client(COLLECT).await;
    let plan = world.active_plan().await;
    client.refused_with("plan_finalize", json!({}), "INVALID_ARGUMENT").await;
    assert_eq!(world.active_plan().await.id, plan.id);
    let mode = world.engine.sessions().get(&world.session).await.unwrap().plan_mode;
    assert!(mode.enabled, "{mode:?}");
    client.leave().await;
}
