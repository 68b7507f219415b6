use planwright_surfaces::mcp::PlanStart;
use serde_json::{Value, json};

use crate::world::{BUILD, COLLECT, Client, DOCUMENT, World};

#[tokio::test]
async fn the_server_says_what_it_is_and_how_to_work_with_it() {
    for (start, message) in [
        (DOCUMENT, "plan_set_content"),
        (COLLECT, "plan_finalize"),
        (BUILD, "plan_submit"),
        (PlanStart::Off, "Plan work is off"),
    ] {
        let world = World::new().await;
        let mut client = Client::connect(world.options(start));
        let hello = client.initialize().await;
        assert_eq!(hello["protocolVersion"], "2025-06-18");
        assert_eq!(hello["serverInfo"]["name"], "planwright");
        assert_eq!(hello["capabilities"]["tools"], json!({ "listChanged": true }));
        assert_eq!(hello["capabilities"]["resources"], json!({ "listChanged": true, "subscribe": true }));
        for offered in ["prompts", "completions", "logging"] {
            assert!(hello["capabilities"][offered].is_object(), "{offered}: {hello}");
        }
        let instructions = hello["instructions"].as_str().unwrap();
        let on = ["planwright plan show --session mcp:k3yk3y8x", "Do not approve the plan yourself; a person does"];
        let on = on.into_iter().filter(|_| start != PlanStart::Off);
        for expected in [message, "session `mcp:k3yk3y8x`"].into_iter().chain(on) {
            assert!(instructions.contains(expected), "{expected}: {instructions}");
        }
        // A token has three characters at least, in English text.
        assert!(instructions.len() / 3 < 400 && instructions.split_whitespace().count() < 220, "{instructions}");
        assert!(!instructions.contains('{'), "{instructions}");
        // The same key may be there on another channel.
        assert!(!instructions.contains("--session k3yk3y8x"), "{instructions}");
        let turned_on = instructions.contains("planwright plan on --session mcp:k3yk3y8x");
        assert_eq!(turned_on, start == PlanStart::Off, "{instructions}");
        client.leave().await;
    }
}

#[tokio::test]
async fn each_style_offers_exactly_its_tools() {
    let build = [
        "plan_get",
        "plan_progress",
        "plan_await_decision",
        "plan_create_draft",
        "plan_set_metadata",
        "plan_add_step",
        "plan_update_step",
        "plan_remove_step",
        "plan_submit",
        "plan_list",
    ];
    let document = ["plan_get", "plan_set_content", "plan_progress", "plan_await_decision"];
    let collect = ["plan_get", "plan_progress", "plan_add_call", "plan_finalize", "plan_await_decision"];
    for (start, names) in [(DOCUMENT, &document[..]), (COLLECT, &collect), (BUILD, &build), (PlanStart::Off, &[])] {
        let world = World::new().await;
        let mut client = world.client(start).await;
        assert_eq!(client.tool_names().await, names, "{start:?}");
        client.leave().await;
    }
}

#[tokio::test]
async fn tools_carry_a_title_schemas_and_hints() {
    let world = World::new().await;
    for start in [DOCUMENT, COLLECT, BUILD] {
        let mut client = world.client(start).await;
        let answer = client.ask("tools/list", json!({})).await;
        for tool in answer["result"]["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            assert!(tool["description"].as_str().is_some_and(|text| !text.is_empty()), "{tool}");
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
            assert!(tool["inputSchema"]["properties"].is_object(), "{tool}");
            // A refusal fits the schema of the result as well: no field is required.
            if name.starts_with("plan_") {
                assert!(tool["outputSchema"]["properties"]["status"].is_object(), "{tool}");
                assert!(tool["outputSchema"].get("required").is_none(), "{tool}");
            }
            let title = tool["title"].as_str().unwrap_or_else(|| panic!("{name} has no title"));
            let reads = matches!(name, "plan_get" | "plan_list" | "plan_await_decision" | "memory_search");
            let hints = &tool["annotations"];
            assert_eq!((&hints["title"], &hints["readOnlyHint"]), (&json!(title), &json!(reads)), "{name}");
            assert_eq!((&hints["destructiveHint"], &hints["openWorldHint"]), (&json!(false), &json!(false)), "{name}");
            assert!(hints["idempotentHint"].is_boolean(), "{name}");
            assert!(!name.contains("approve") && !name.contains("reject"), "deciding is not a tool");
        }
        client.leave().await;
    }
}

#[tokio::test]
async fn a_client_may_ping_and_ask_before_it_says_hello() {
    let world = World::new().await;
    let mut client = Client::connect(world.options(DOCUMENT));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client.send(&json!({ "jsonrpc": "2.0", "id": 77, "result": {} })).await;
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    assert_eq!(client.tool_names().await, ["plan_get", "plan_set_content", "plan_progress", "plan_await_decision"]);
    client.succeed("plan_set_content", json!({ "plan_markdown": "# A" })).await;
    assert_eq!(client.initialize().await["serverInfo"]["name"], "planwright");
    client.leave().await;
}

#[tokio::test]
async fn what_is_not_offered_is_not_a_method() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    for (method, params) in [
        ("sampling/createMessage", json!({})),
        ("subscriptions/listen", json!({ "notifications": {} })),
        ("tasks/list", json!({})),
        ("plan/approve", json!({})),
        ("no/such", Value::Null),
    ] {
        let answer = client.ask(method, params).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
        assert_eq!(answer["error"]["message"], format!("Method not found: `{method}`"), "{answer}");
    }
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    client.leave().await;
}

#[tokio::test]
async fn a_probe_gets_a_proper_answer_or_none_at_all_but_never_an_empty_one() {
    let world = World::new().await;
    let mut client = Client::connect(world.options(DOCUMENT));
    let bare = client.ask("server/discover", json!({})).await;
    assert_eq!(bare["error"]["code"], -32601, "{bare}");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let full = client.ask("server/discover", json!({ "_meta": meta })).await;
    let result = &full["result"];
    assert!(result["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")), "{full}");
    assert_eq!(result["capabilities"]["tools"]["listChanged"], true);
    assert!(result["instructions"].as_str().unwrap().contains("plan_set_content"));
    // It may still fall back.
    assert_eq!(client.initialize().await["protocolVersion"], "2025-06-18");
    client.leave().await;
}

#[tokio::test]
async fn an_unknown_version_is_answered_with_a_supported_one() {
    let world = World::new().await;
    let mut client = Client::connect(world.options(DOCUMENT));
    let info = json!({ "name": "t", "version": "0" });
    for version in ["1999-01-01", "2026-07-28", "2099-01-01"] {
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": info });
        let answer = client.ask("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{version}: {answer}");
    }
    client.leave().await;
}

#[tokio::test]
async fn the_journal_names_the_client_that_called() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": "# A" })).await;
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": format!(" \u{1b}[31mevil\u{202e}{}", "ü".repeat(1000)), "version": "1" },
    });
    client.ask("initialize", params).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": "# B" })).await;
    let plan = world.active_plan().await;
    let entries = world.engine.ledger().plan_journal(&world.session, &plan.id).await.unwrap();
    let names: Vec<_> = entries.iter().map(|entry| entry.as_ref().unwrap().by.to_string()).collect();
    assert_eq!(names[0], "planwright (system) through mcp", "{names:?}");
    assert_eq!(names[names.len() - 2], "test-agent (agent) through mcp", "{names:?}");
    // As it came: the surface that shows it makes it visible once.
    let last = &entries.last().unwrap().as_ref().unwrap().by.name;
    assert!(last.starts_with("\u{1b}[31mevil\u{202e}üüü") && last.chars().count() == 128, "{last:?}");
    client.leave().await;
}
