//! Resources and prompts of an upstream server, as a client of the real program meets them.

use serde_json::{Value, json};

use crate::gateway::{Client, calls};
use crate::world::World;

#[test]
fn resources_and_prompts_of_a_server_are_passed_on_under_its_name() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "library", &[]);
    let resources = client.ask("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<_> = resources.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    let expected =
        ["planwright://plan/active", "planwright://upstream/up/book://one", "planwright://upstream/up/book://huge"];
    assert!(expected.iter().all(|uri| uris.contains(uri)), "{uris:?}");
    let one = resources.as_array().unwrap().iter().find(|one| one["uri"] == expected[1]).unwrap();
    assert_eq!(one["name"], "one (up)");
    assert!(!one["description"].as_str().unwrap().contains('\u{202e}'), "{one}");
    let read = client.ask("resources/read", json!({ "uri": expected[1] }));
    assert_eq!(read["result"]["contents"][0]["text"], "Call me Ishmael.", "{read}");
    assert_eq!(read["result"]["contents"][0]["uri"], expected[1]);
    let templates = client.ask("resources/templates/list", json!({}));
    assert!(templates.to_string().contains("planwright://upstream/up/book://{title}"), "{templates}");

    let prompts = client.ask("prompts/list", json!({}));
    assert!(prompts.to_string().contains("up__review") && prompts.to_string().contains("plan-status"), "{prompts}");
    let prompt = client.ask("prompts/get", json!({ "name": "up__review", "arguments": { "title": "Moby Dick" } }));
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "Review Moby Dick", "{prompt}");
    assert_eq!(prompt["result"]["messages"][1]["content"]["resource"]["uri"], expected[1], "{prompt}");

    // What the server refuses, what is too large and what no server has is said, each in words.
    for (method, params, text) in [
        ("resources/read", json!({ "uri": expected[2] }), "at most"),
        ("resources/read", json!({ "uri": "planwright://upstream/down/book://one" }), "planwright://upstream/down"),
        ("prompts/get", json!({ "name": "up__burn" }), "There is no prompt `up__burn`. The nearest are `up__review`"),
        ("prompts/get", json!({ "name": "down__review" }), "There is no prompt"),
    ] {
        let refused = client.ask(method, params.clone());
        assert!(refused["error"]["message"].as_str().unwrap_or_default().contains(text), "{params}: {refused}");
    }
    client.leave();
}

/// An address that the server does not list is free text: it can carry something out, and reading it can change something.
#[test]
fn a_resource_that_the_server_does_not_list_is_read_like_a_call() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "library", &[]);
    let read = |client: &mut Client, own: &str| {
        let uri = format!("planwright://upstream/up/{own}");
        client.ask("resources/read", json!({ "uri": uri }))
    };
    let listed = read(&mut client, "book://one");
    assert_eq!(listed["result"]["contents"][0]["text"], "Call me Ishmael.", "{listed}");
    let planned = read(&mut client, "book://the password is 1234");
    let text = planned["result"]["contents"][0]["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("[Planned] up__read_resource"), "{planned}");
    client.succeed("plan_finalize", json!({}));
    let round = world.plan("mcp:gateway-session", 2);
    assert!(round.markdown().contains("the password is 1234"), "{}", round.markdown());
    let digest = round.digest();
    world.run(&format!("plan approve 2 --session gateway-session --digest {digest}")).done();
    let plan = client.wait_until(|plan| plan["round"]["status"] == "COMPLETED");
    assert!(plan["round"]["steps"][0]["note"].as_str().unwrap().contains("Ishmael"), "{plan}");
    client.leave();
    let history = world.run("plan history 1 --session gateway-session").done();
    assert!(history.stdout.contains("call to `up__read_resource` was made (reads)"), "{}", history.stdout);
    // A person who believes the annotations of the server has said nothing about its addresses.
    world.run("config set mcp.trust_annotations up").done();
    let mut client = Client::start(&world, "document", "library", &[]);
    let planned = read(&mut client, "book://two");
    let text = planned["result"]["contents"][0]["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("[Planned] up__read_resource"), "{planned}");
    client.leave();
}

#[test]
fn a_rule_lets_a_server_read_what_it_does_not_list() {
    let world = World::new();
    let rule = [("PLANWRIGHT_PERMISSIONS", r#"[{ tool = "up__read_resource", decide = "allow" }]"#)];
    let mut client = Client::start(&world, "document", "library", &rule);
    let read = client.ask("resources/read", json!({ "uri": "planwright://upstream/up/book://two" }));
    assert_eq!(read["result"]["contents"][0]["text"], "Call me Ishmael.", "{read}");
    client.leave();
    let history = world.run("plan history 1 --session gateway-session").done();
    assert!(history.stdout.contains("call to `up__read_resource` was made (rule)"), "{}", history.stdout);
}

#[test]
fn a_rule_that_denies_a_server_holds_for_its_resources_and_prompts() {
    let world = World::new();
    for rule in [r#"[{ tool = "up__*", decide = "deny" }]"#, r#"[{ server = "up", decide = "deny" }]"#] {
        let mut client = Client::start(&world, "document", "library", &[("PLANWRIGHT_PERMISSIONS", rule)]);
        for (method, key) in [("resources/list", "resources"), ("prompts/list", "prompts")] {
            let listed = client.ask(method, json!({}))["result"][key].to_string();
            assert!(!listed.contains("book://") && !listed.contains("up__review"), "{rule}: {listed}");
        }
        for (method, params) in [
            ("resources/read", json!({ "uri": "planwright://upstream/up/book://one" })),
            ("prompts/get", json!({ "name": "up__review", "arguments": { "title": "Momo" } })),
            ("resources/subscribe", json!({ "uri": "planwright://upstream/up/book://one" })),
        ] {
            let refused = client.ask(method, params);
            assert!(refused.get("error").is_some(), "{rule}: {method}: {refused}");
        }
        client.refused("up__steps", json!({}), "POLICY_DENIED");
        client.leave();
    }
}

/// A read is recorded, as a call would be. No plan can have a prompt, so a person is asked about it at once.
#[test]
fn a_rule_that_asks_holds_for_what_a_server_lists() {
    let world = World::new();
    let rule = [("PLANWRIGHT_PERMISSIONS", r#"[{ server = "up", decide = "ask" }]"#)];
    let can = json!({ "elicitation": { "form": {} } });
    let mut client = Client::start_with(&world, "document", "library", &rule, can);
    let book = json!({ "uri": "planwright://upstream/up/book://one" });
    let planned = client.ask("resources/read", book.clone());
    let text = planned["result"]["contents"][0]["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("[Planned] up__read_resource"), "{planned}");
    for (decision, title, words) in [("once", "Momo", "Review Momo"), ("no", "Emma", "they did not")] {
        let prompt = json!({ "name": "up__review", "arguments": { "title": title } });
        let getting = client.request("prompts/get", prompt);
        let question = client.message("elicitation/create");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(
            message.starts_with("The agent wants to call up__read_prompt with") && message.contains(title),
            "{message}"
        );
        let result = json!({ "action": "accept", "content": { "decision": decision } });
        client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
        let answer = client.answer(getting);
        assert!(answer.to_string().contains(words), "{answer}");
    }
    // Planwright asks no person about completions and subscriptions, so it refuses them and the server gets neither.
    let argument = json!({ "name": "title", "value": "M" });
    let reference = json!({ "type": "ref/prompt", "name": "up__review" });
    for (method, params) in
        [("resources/subscribe", book), ("completion/complete", json!({ "ref": reference, "argument": argument }))]
    {
        let refused = client.ask(method, params);
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("no person is asked about such a request"), "{method}: {refused}");
    }
    client.leave();
    let heard = calls(&world).join("\n");
    assert!(!heard.contains("subscribe") && !heard.contains("argument"), "{heard}");
    let history = world.run("plan history 1 --session gateway-session").done().stdout.clone();
    for (text, times) in [
        ("call to `up__read_prompt`: the person is asked in the client", 2),
        ("call to `up__read_prompt`: permitted in the client", 1),
        ("call to `up__read_prompt` was made (permitted)", 1),
        ("call to `up__read_prompt`: not permitted", 1),
        ("call to `up__subscribe_resource` refused (POLICY_DENIED)", 1),
        ("call to `up__complete_argument` refused (POLICY_DENIED)", 1),
    ] {
        assert_eq!(history.matches(text).count(), times, "{text}: {history}");
    }
}

/// Both carry text to the server, so it gets only what it lists, and what it got is written down.
#[test]
fn prompts_and_completions_of_what_the_server_lists_are_made_and_written_down() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "library", &[]);
    let complete = |client: &mut Client, reference: Value, value: &str| {
        let argument = json!({ "name": "title", "value": value });
        client.ask("completion/complete", json!({ "ref": reference, "argument": argument }))
    };
    let prompt = |name: &str| json!({ "type": "ref/prompt", "name": name });
    let secret = json!({ "type": "ref/resource", "uri": "planwright://upstream/up/secret://{key}" });
    for (refused, text) in [
        (client.ask("prompts/get", json!({ "name": "up__reviev" })), "The nearest are `up__review`"),
        (complete(&mut client, prompt("up__reviev"), "M"), "The nearest are `up__review`"),
        (complete(&mut client, secret, "1234"), "There is no template"),
    ] {
        assert!(refused["error"]["message"].as_str().unwrap_or_default().contains(text), "{text}: {refused}");
    }
    assert_eq!(calls(&world), [""; 0], "the server heard nothing of them");
    // The first, the second and the fourth of what a person types are written down, and whatever is longer.
    for value in ["M", "Mo", "Mob", "Moby", "Moby D", "x".repeat(100).as_str()] {
        let completed = complete(&mut client, prompt("up__review"), value);
        assert!(completed["result"]["completion"]["values"].is_array(), "{completed}");
    }
    client.ask("prompts/get", json!({ "name": "up__review", "arguments": { "title": "Momo" } }));
    client.leave();
    let history = world.run("plan history 1 --session gateway-session").done().stdout.clone();
    for (text, times) in [
        ("call to `up__complete_argument` was made (reads)", 4),
        ("call to `up__complete_argument` refused (NOT_FOUND)", 2),
        ("call to `up__read_prompt` was made (reads)", 1),
        ("call to `up__read_prompt` refused (NOT_FOUND)", 1),
    ] {
        assert_eq!(history.matches(text).count(), times, "{text}: {history}");
    }
    let rule = [("PLANWRIGHT_PERMISSIONS", r#"[{ tool = "up__read_prompt", decide = "deny" }]"#)];
    let mut client = Client::start(&world, "document", "library", &rule);
    let refused = client.ask("prompts/get", json!({ "name": "up__review", "arguments": { "title": "Momo" } }));
    assert!(refused["error"]["message"].as_str().unwrap_or_default().contains("denied"), "{refused}");
    client.leave();
}

#[test]
fn lists_without_end_are_cut_and_do_not_hold_up_the_client() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "endless", &[]);
    for (method, key) in [("resources/list", "resources"), ("prompts/list", "prompts")] {
        let listed = client.ask(method, json!({}))["result"][key].clone();
        let again = listed.as_array().unwrap().iter().filter(|one| one.to_string().contains("again")).count();
        assert_eq!(again, 20, "the server sends one entry a page, and twenty pages are read");
    }
    client.succeed("plan_get", json!({}));
    client.leave();
}

/// What a server offers is passed on only as long as it is what a person accepted.
#[test]
fn resources_of_a_server_that_changed_wait_for_a_person() {
    let world = World::new();
    let free = [("PLANWRIGHT_GATEWAY_WRITES", "free")];
    let mut client = Client::start(&world, "document", "library", &free);
    client.succeed("up__change", json!({}));
    client.refused("up__note", json!({ "text": "x" }), "POLICY_DENIED");
    let listed = client.ask("resources/list", json!({}));
    assert!(!listed.to_string().contains("book://"), "{listed}");
    let refused = client.ask("resources/read", json!({ "uri": "planwright://upstream/up/book://one" }));
    assert!(refused.get("error").is_some(), "{refused}");
    client.leave();
}

/// Both pass through the gateway, each under the server's own name there.
#[test]
fn subscriptions_and_completion_reach_the_server_and_its_news_reach_the_client() {
    let world = World::new();
    let free = [("PLANWRIGHT_GATEWAY_WRITES", "free")];
    let mut client = Client::start(&world, "document", "library", &free);
    let uri = "planwright://upstream/up/book://one";
    let subscribed = client.ask("resources/subscribe", json!({ "uri": uri }));
    assert_eq!(subscribed["result"], json!({}), "{subscribed}");
    // Any other address is free text, and none of it reaches the server.
    let refused =
        client.ask("resources/subscribe", json!({ "uri": "planwright://upstream/up/book://the-key-is-1234" }));
    assert!(refused.get("error").is_some(), "{refused}");
    // Only the resource that the client subscribed to is told.
    for own in ["book://two", "book://one"] {
        client.request("tools/call", json!({ "name": "up__publish", "arguments": { "uri": own } }));
    }
    let told = loop {
        let message = client.receive();
        if message["method"] == "notifications/resources/updated" {
            break message;
        }
    };
    assert_eq!(told["params"]["uri"], uri, "{told}");
    // A server that was started again is asked again.
    client.succeed("up__die", json!({}));
    client.request("tools/call", json!({ "name": "up__publish", "arguments": { "uri": "book://one" } }));
    while client.receive()["method"] != "notifications/resources/updated" {}
    client.ask("resources/unsubscribe", json!({ "uri": uri }));
    let of_subscriptions = |line: &&String| line.contains("subscribe");
    let lines: Vec<_> = calls(&world).iter().filter(of_subscriptions).cloned().collect();
    assert_eq!(lines, ["subscribe book://one", "subscribe book://one", "unsubscribe book://one"]);

    let prompt = json!({ "type": "ref/prompt", "name": "up__review" });
    let template = json!({ "type": "ref/resource", "uri": "planwright://upstream/up/book://{title}" });
    for reference in [prompt, template] {
        let argument = json!({ "name": "title", "value": "Mob" });
        let completed = client.ask("completion/complete", json!({ "ref": reference, "argument": argument }));
        assert_eq!(completed["result"]["completion"]["values"], json!(["Moby Dick"]), "{completed}");
    }
    let asked = calls(&world).join("\n");
    assert!(asked.contains(r#""name": "review""#) && asked.contains(r#""uri": "book://{title}""#), "{asked}");
    client.leave();
    let history = world.run("plan history 1 --session gateway-session").done().stdout.clone();
    for text in
        ["call to `up__subscribe_resource` was made (reads)", "call to `up__subscribe_resource` refused (NOT_FOUND)"]
    {
        assert_eq!(history.matches(text).count(), 1, "{text}: {history}");
    }
}

/// Clients of the newest protocol name the resources when they begin to listen.
#[test]
fn a_client_that_listens_hears_of_the_resources_that_it_named() {
    let world = World::new();
    let free = [("PLANWRIGHT_GATEWAY_WRITES", "free")];
    let mut client = Client::connect(&world, "document", "library", &free);
    let with_meta = |mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "newest", "version": "1" },
        });
        params
    };
    let uri = "planwright://upstream/up/book://one";
    // It is the first request, so the server has not started yet.
    let wanted = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let listening = client.request("subscriptions/listen", with_meta(wanted));
    let acknowledged = client.message("notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"]["resourceSubscriptions"], json!([uri]), "{acknowledged}");
    while !calls(&world).contains(&"subscribe book://one".to_owned()) {
        let ping = client.request("tools/list", with_meta(json!({})));
        client.answer(ping);
    }
    for own in ["book://two", "book://one"] {
        let publish = json!({ "name": "up__publish", "arguments": { "uri": own } });
        client.request("tools/call", with_meta(publish));
    }
    let told = client.message("notifications/resources/updated");
    assert_eq!(told["params"]["uri"], uri, "{told}");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listening, "{told}");
    // The subscription ends with the stream.
    let params = json!({ "requestId": listening });
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    while !calls(&world).contains(&"unsubscribe book://one".to_owned()) {
        let ping = client.request("tools/list", with_meta(json!({})));
        client.answer(ping);
    }
    client.leave();
}

#[test]
fn a_server_without_subscriptions_and_completion_is_not_asked_for_them() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "endless", &[]);
    let refused = client.ask("resources/subscribe", json!({ "uri": "planwright://upstream/up/book://again" }));
    let text = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("does not tell about changes"), "{refused}");
    let missing = client.ask("resources/subscribe", json!({ "uri": "planwright://upstream/down/book://one" }));
    assert!(missing.get("error").is_some(), "{missing}");
    let argument = json!({ "name": "title", "value": "" });
    let reference = json!({ "type": "ref/prompt", "name": "up__again" });
    let completed = client.ask("completion/complete", json!({ "ref": reference, "argument": argument }));
    assert_eq!(completed["result"]["completion"]["values"], json!([]), "{completed}");
    assert_eq!(calls(&world), [""; 0]);
    client.leave();
}

/// The server has a tool with the name of ours, which would do something else.
#[test]
fn a_resource_that_its_server_lists_is_never_read_with_a_tool_of_the_server() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "reader", &[("PLANWRIGHT_GATEWAY_WRITES", "ask")]);
    let read = |client: &mut Client, own: &str| {
        client.ask("resources/read", json!({ "uri": format!("planwright://upstream/up/{own}") }))
    };
    for _ in 0..3 {
        let listed = read(&mut client, "book://one");
        assert_eq!(listed["result"]["contents"][0]["text"], "Call me Ishmael.", "{listed}");
    }
    let lists = std::fs::read_to_string(world.path("notes/lists.log")).unwrap();
    assert_eq!(lists.lines().count(), 1, "the server is asked once for what it lists");
    // Of another address neither the resource nor a tool reads anything, and the journal says that it was refused.
    let refused = read(&mut client, "book://the-key-is-1234");
    assert!(refused["error"]["message"].as_str().unwrap_or_default().contains("up__read_resource"), "{refused}");
    assert_eq!(calls(&world), [""; 0], "no tool of the server was called");
    let tools = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(tools.contains("up__read_resource_"), "the server's own tool has another name: {tools}");
    client.leave();
    let history = world.run("plan history 1 --session gateway-session").done();
    assert!(history.stdout.contains("`up__read_resource`") && history.stdout.contains("refused"), "{}", history.stdout);
}
