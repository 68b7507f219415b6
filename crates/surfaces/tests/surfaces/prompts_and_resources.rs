use serde_json::{Value, json};

use crate::world::{DOCUMENT, World};

#[tokio::test]
async fn prompts_put_the_plan_before_the_agent_and_decide_nothing() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": "# Move\n\n- [ ] pack\n" })).await;
    let listed = client.ask("prompts/list", json!({})).await;
    let prompts = listed["result"]["prompts"].as_array().unwrap();
    let names: Vec<_> = prompts.iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    for name in ["plan-on", "plan-status", "plan-show", "plan-done", "plan-revise"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let before = world.seq().await;
    for name in names {
        let arguments = json!({ "changes": "less", "task": "move house", "plan": "1" });
        let answer = client.ask("prompts/get", json!({ "name": name, "arguments": arguments })).await;
        let message = &answer["result"]["messages"][0];
        assert_eq!(message["role"], "user", "{name}: {answer}");
        let text = message["content"]["text"].as_str().unwrap();
        assert!(name == "plan-on" || text.contains("- [ ] pack"), "{name}: {text}");
        assert!(!name.contains("approve") && !name.contains("reject"));
    }
    assert_eq!(world.seq().await, before);
    for wrong in [json!({ "name": "plan-approve" }), json!({ "name": "plan-revise" })] {
        let refused = client.ask("prompts/get", wrong).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    client.leave().await;
}

#[tokio::test]
async fn plans_their_history_and_their_changes_are_resources() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": "# Move\n\n- [ ] pack\n" })).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": "# Move\n\n- [ ] drive\n" })).await;
    let listed = client.ask("resources/list", json!({})).await;
    let uris: Vec<_> = listed["result"]["resources"].as_array().unwrap().iter().map(|it| it["uri"].clone()).collect();
    assert_eq!(json!(uris), json!(["planwright://plan/active", "planwright://plan/1"]));
    let templates = client.ask("resources/templates/list", json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 3);
    for (uri, phrase) in [
        ("planwright://plan/active", "- [ ] drive"),
        ("planwright://plan/1", "READY"),
        ("planwright://plan/1/history", "version 2 by test-agent (agent) through mcp"),
        ("planwright://plan/active/changes", "-- [ ] pack"),
    ] {
        let read = client.ask("resources/read", json!({ "uri": uri })).await;
        let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
        let flat = text.replace("waits for your decision", "READY").replace("is ready", "READY");
        assert!(text.contains(phrase) || flat.contains(phrase), "{uri}: {text}");
    }
    for uri in ["planwright://plan/9", "planwright://plan/1/secrets", "file:///etc/passwd", "planwright://plan/"] {
        let refused = client.ask("resources/read", json!({ "uri": uri })).await;
        assert!(matches!(refused["error"]["code"].as_i64(), Some(-32002 | -32602)), "{uri}: {refused}");
    }
    client.leave().await;
}

#[tokio::test]
async fn a_subscriber_is_told_about_a_decision_made_elsewhere_and_so_is_the_log() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": "- [ ] one" })).await;
    let uri = json!({ "uri": "planwright://plan/active" });
    assert_eq!(client.ask("resources/subscribe", uri.clone()).await["result"], json!({}));
    assert_eq!(client.ask("logging/setLevel", json!({ "level": "info" })).await["result"], json!({}));
    let unknown = client.ask("resources/subscribe", json!({ "uri": "x:y" })).await;
    assert!(unknown["error"].is_object(), "{unknown}");
    world.approve().await;
    let (mut updated, mut logged) = (false, false);
    while !(updated && logged) {
        let told = client.notification().await;
        match told["method"].as_str().unwrap() {
            "notifications/resources/updated" => updated |= told["params"]["uri"] == uri["uri"],
            "notifications/message" => logged |= told["params"]["data"]["status"] == "APPROVED",
            other => panic!("{other}: {told}"),
        }
    }
    assert_eq!(client.ask("resources/unsubscribe", uri).await["result"], json!({}));
    client.leave().await;
}

#[tokio::test]
async fn the_numbers_of_plans_are_completed() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let reference = json!({ "type": "ref/prompt", "name": "plan-show" });
    let ask = |name: &str, value: &str| json!({ "ref": reference, "argument": { "name": name, "value": value } });
    for (name, value, expected) in [("plan", "", json!(["1"])), ("plan", "2", json!([])), ("other", "", json!([]))] {
        let answer = client.ask("completion/complete", ask(name, value)).await;
        assert_eq!(answer["result"]["completion"]["values"], expected, "{name} {value}: {answer}");
    }
    assert_eq!(client.leave().await, [Value::Null; 0]);
}
