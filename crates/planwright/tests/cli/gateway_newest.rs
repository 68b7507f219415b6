//! Questions of upstream servers where the client or the server speaks the protocol without `initialize`.

use serde_json::{Value, json};

use crate::gateway::{Client, SCRIPT, calls};
use crate::world::World;

const FREE: [(&str, &str); 1] = [("PLANWRIGHT_GATEWAY_WRITES", "free")];

/// A server of this name, accepted, whose questions pass to the client as `passed` says.
fn accept(world: &World, name: &str, mode: &str, passed: &str) {
    let notes = world.path("notes");
    std::fs::create_dir_all(&notes).unwrap();
    // Another command than that of the server `up`, whose first offer is accepted only if the store never saw its command.
    let server = format!("command = \"python3\"\nargs = [\"{SCRIPT}\", \"{mode}\", \"{}/.\"]", notes.display());
    world.write("planwright.toml", &format!("[mcp.servers.{name}]\n{server}\n{passed}"));
    let shown = world.json(&format!("mcp-server show {name}"));
    world.run(&format!("mcp-server accept {name} --digest {}", shown["digest"].as_str().unwrap())).done();
    world.run("config set gateway.writes free").done();
}

fn heard(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

/// A request of a client that can be asked this.
fn newest(mut params: Value, can: &Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": can,
        "io.modelcontextprotocol/clientInfo": { "name": "newest", "version": "1" },
    });
    params
}

/// The same call with answers.
fn again(mut call: Value, state: &Value, responses: Value) -> Value {
    (call["requestState"], call["inputResponses"]) = (state.clone(), responses);
    call
}

/// Such servers do not say of what type a result is, and the newest protocol wants it said.
#[test]
fn results_of_an_older_server_have_a_type_for_a_client_of_the_newest_protocol() {
    let world = World::new();
    accept(&world, "books", "library", "");
    let mut client = Client::connect(&world, "document", "plain", &FREE);
    for (method, params) in [
        ("resources/read", json!({ "uri": "planwright://upstream/books/book://one" })),
        ("prompts/get", json!({ "name": "books__review", "arguments": { "title": "Momo" } })),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "books__review" },
                "argument": { "name": "title", "value": "Mo" },
            }),
        ),
    ] {
        let answer = client.ask(method, newest(params, &json!({})));
        assert_eq!(answer["result"]["resultType"], "complete", "{method}: {answer}");
    }
    // A refusal names the address.
    let uri = "planwright://upstream/books/book://huge";
    let refused = client.ask("resources/read", newest(json!({ "uri": uri }), &json!({})));
    assert_eq!(refused["error"]["data"]["uri"], uri, "{refused}");
    client.leave();
}

/// To the server of the older protocol it is one call.
#[test]
fn a_client_of_the_newest_protocol_is_asked_by_the_result_of_its_call() {
    let world = World::new();
    accept(&world, "books", "library", "elicitation = true\n");
    let can = json!({ "elicitation": {} });
    let mut client = Client::connect(&world, "document", "plain", &FREE);
    let call = || newest(json!({ "name": "books__ask_person", "arguments": {} }), &can);
    let asked = client.ask("tools/call", call())["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["question"];
    assert_eq!(question["method"], "elicitation/create", "{asked}");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("The MCP server books asks: Which book"), "{message}");

    let accepted = json!({ "action": "accept", "content": { "title": "b", "count": 1 } });
    let answers = || json!({ "question": accepted });
    // The state is for this call alone, and a changed one is none.
    let state = asked["requestState"].clone();
    let changed = json!(format!("{}0", state.as_str().unwrap()));
    let other = newest(json!({ "name": "books__ask_person", "arguments": { "x": "y" } }), &can);
    for request in [again(call(), &changed, answers()), again(other, &state, answers())] {
        let refused = client.ask("tools/call", request);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    // Without the answer it is asked again.
    let asked = client.ask("tools/call", again(call(), &state, json!({ "another": accepted })))["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let state = asked["requestState"].clone();
    let answer = client.ask("tools/call", again(call(), &state, answers()))["result"].clone();
    assert_eq!(answer["resultType"], "complete", "{answer}");
    assert_eq!(heard(&answer)["result"], accepted, "{answer}");
    let used = client.ask("tools/call", again(call(), &state, answers()));
    assert_eq!(used["error"]["code"], -32602, "{used}");
    // A client that cannot be asked is not asked.
    let mute = newest(json!({ "name": "books__ask_person", "arguments": {} }), &json!({}));
    let refused = client.ask("tools/call", mute)["result"].clone();
    let error = heard(&refused)["error"].clone();
    assert!(error["message"].as_str().unwrap().starts_with("Refused by Planwright."), "{refused}");
    client.leave();
    let made = calls(&world).iter().filter(|line| line.starts_with("ask_person")).count();
    assert_eq!(made, 2, "{:?}", calls(&world));
}

#[test]
fn a_server_of_the_newest_protocol_asks_by_results_and_keeps_its_state() {
    let world = World::new();
    accept(&world, "shop", "newest", "elicitation = true\nroots = true\n");
    let can = json!({ "elicitation": {}, "roots": {} });
    let mut client = Client::connect(&world, "document", "plain", &FREE);
    let call = || newest(json!({ "name": "shop__order", "arguments": { "what": "tea" } }), &can);
    let size = json!({ "action": "accept", "content": { "size": "L" } });
    let folders = json!({ "roots": [{ "uri": "file:///tea", "name": "tea" }] });
    let first = client.ask("tools/call", call())["result"].clone();
    assert_eq!(first["inputRequests"]["size"]["method"], "elicitation/create", "{first}");
    let request = again(call(), &first["requestState"], json!({ "size": size }));
    let second = client.ask("tools/call", request)["result"].clone();
    assert_eq!(second["inputRequests"]["folders"]["method"], "roots/list", "{second}");
    assert_ne!(second["requestState"], first["requestState"]);
    let request = again(call(), &second["requestState"], json!({ "folders": folders }));
    let answer = client.ask("tools/call", request)["result"].clone();
    assert_eq!(heard(&answer), json!({ "responses": { "folders": folders }, "can": can }), "{answer}");
    client.leave();
    // The server's own state stays with Planwright, and one call is written down.
    let states: Vec<_> = calls(&world).iter().map(|line| line.split(' ').nth(3).unwrap().to_owned()).collect();
    assert_eq!(states, ["None", "first", "second"]);
    let shown = world.run("plan history 1 --session gateway-session").done();
    assert_eq!(shown.stdout.matches("call to `shop__order` was made").count(), 1, "{}", shown.stdout);
}

/// A client of the older protocol is asked by requests, whatever the server speaks.
#[test]
fn a_client_of_the_older_protocol_answers_a_server_of_the_newest() {
    let world = World::new();
    accept(&world, "shop", "newest", "elicitation = true\nroots = true\n");
    let can = json!({ "elicitation": {}, "roots": {} });
    let mut client = Client::start_with(&world, "document", "plain", &FREE, can);
    let call = client.request("tools/call", json!({ "name": "shop__order", "arguments": { "what": "tea" } }));
    let question = client.message("elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().starts_with("The MCP server shop asks: "), "{question}");
    let accepted = json!({ "action": "accept", "content": { "size": "L" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": accepted }));
    let question = client.message("roots/list");
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "roots": [] } }));
    let answer = client.answer(call)["result"].clone();
    assert_eq!(heard(&answer)["responses"], json!({ "folders": { "roots": [] } }), "{answer}");
    client.leave();
}

#[test]
fn what_the_settings_do_not_pass_on_a_server_may_not_ask() {
    let world = World::new();
    accept(&world, "shop", "newest", "");
    let mut client = Client::start_with(&world, "document", "plain", &FREE, json!({ "elicitation": {} }));
    let result = client.call("shop__order", json!({ "what": "tea" }));
    assert!(result.to_string().contains("no client that may and can be asked"), "{result}");
    client.leave();
    assert_eq!(calls(&world).len(), 1, "{:?}", calls(&world));
}

/// Errors about what the client can be asked are errors of the protocol for a client that knows them.
#[test]
fn a_server_that_needs_another_client_says_so_and_a_prompt_may_ask() {
    let world = World::new();
    accept(&world, "shop", "newest", "elicitation = true\n");
    let can = json!({ "elicitation": {} });
    let mut client = Client::connect(&world, "document", "plain", &FREE);
    let refused = client.ask("tools/call", newest(json!({ "name": "shop__summary", "arguments": {} }), &can));
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert_eq!(refused["error"]["data"], json!({ "requiredCapabilities": { "sampling": {} } }));
    let shown = world.run("plan history 1 --session gateway-session").done();
    assert!(shown.stdout.contains("there is no model"), "{}", shown.stdout);

    let prompt = || newest(json!({ "name": "shop__menu" }), &can);
    let asked = client.ask("prompts/get", prompt())["result"].clone();
    let message = asked["inputRequests"]["day"]["params"]["message"].as_str();
    assert_eq!(message, Some("The MCP server shop asks: Which day?"), "{asked}");
    let day = json!({ "action": "accept", "content": {} });
    let answer = client.ask("prompts/get", again(prompt(), &asked["requestState"], json!({ "day": day })));
    let text = answer["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), json!({ "day": day }));
    // A client that cannot be asked gets an error.
    let refused = client.ask("prompts/get", newest(json!({ "name": "shop__menu" }), &json!({})));
    assert!(refused["error"].is_object(), "{refused}");
    client.leave();
}

/// Reading is one call: the server's state stays with Planwright, and it is written down once.
#[test]
fn a_resource_of_a_server_of_the_newest_protocol_may_ask_like_a_call() {
    let world = World::new();
    accept(&world, "shop", "newest", "elicitation = true\n");
    let can = json!({ "elicitation": {} });
    let chosen = json!({ "action": "accept", "content": {} });
    let address = |own: &str| format!("planwright://upstream/shop/{own}");
    let read = |own: &str| newest(json!({ "uri": address(own) }), &can);
    let mut client = Client::connect(&world, "document", "plain", &FREE);
    // The server lists only the first one. The other address is free text.
    for own in ["shelf://tea", "shelf://coffee"] {
        let asked = client.ask("resources/read", read(own))["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let message = asked["inputRequests"]["shelf"]["params"]["message"].as_str();
        assert_eq!(message, Some("The MCP server shop asks: Which shelf?"), "{asked}");
        let state = asked["requestState"].clone();
        assert_ne!(state, "shelf");
        let answers = || json!({ "shelf": chosen });
        let other = client.ask("resources/read", again(read("shelf://other"), &state, answers()));
        assert_eq!(other["error"]["code"], -32602, "{other}");
        let answer = client.ask("resources/read", again(read(own), &state, answers()))["result"].clone();
        assert_eq!(answer["contents"][0]["uri"], address(own), "{answer}");
        let text = answer["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), json!({ "shelf": chosen }));
    }
    // A client that cannot be asked gets an error.
    let refused = client.ask("resources/read", newest(json!({ "uri": address("shelf://tea") }), &json!({})));
    assert!(refused["error"].is_object(), "{refused}");
    client.leave();
    let history = world.run("plan history 1 --session gateway-session").done().stdout.clone();
    for (why, times) in [("reads", 2), ("free", 1)] {
        let made = format!("call to `shop__read_resource` was made ({why})");
        assert_eq!(history.matches(&made).count(), times, "{history}");
    }

    // A client of the older protocol is asked by a request.
    let mut older = Client::start_with(&world, "document", "plain", &FREE, can.clone());
    let reading = older.request("resources/read", json!({ "uri": address("shelf://tea") }));
    let question = older.message("elicitation/create");
    older.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": chosen }));
    let answer = older.answer(reading)["result"].clone();
    assert!(answer["contents"][0]["text"].as_str().unwrap_or_default().contains("accept"), "{answer}");
    older.leave();
}

/// The question is Planwright's own. Nothing is made before the answer, and each permission is for one call.
#[test]
fn a_person_at_a_client_of_the_newest_protocol_is_asked_about_a_change_by_the_result_of_its_call() {
    let world = World::new();
    let can = json!({ "elicitation": {} });
    let mut client = Client::connect(&world, "document", "plain", &[("PLANWRIGHT_GATEWAY_WRITES", "ask")]);
    let call = |text: &str| newest(json!({ "name": "up__note", "arguments": { "text": text } }), &can);
    for (decision, made) in [("once", true), ("no", false)] {
        let before = calls(&world).len();
        let asked = client.ask("tools/call", call(decision))["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let form = &asked["inputRequests"]["question"]["params"];
        let message = form["message"].as_str().unwrap_or_else(|| panic!("{asked}"));
        assert!(message.starts_with("The agent wants to call up__note with") && message.contains(decision), "{asked}");
        assert_eq!(form["requestedSchema"]["properties"]["decision"]["enum"], json!(["once", "no"]), "{asked}");
        let answers =
            |decision: &str| json!({ "question": { "action": "accept", "content": { "decision": decision } } });
        let state = asked["requestState"].clone();
        let other = client.ask("tools/call", again(call("pay eve"), &state, answers("once")));
        assert_eq!(other["error"]["code"], -32602, "{other}");
        // Without the answer it is asked again.
        let asked = client.ask("tools/call", again(call(decision), &state, json!({})))["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        assert_eq!(calls(&world).len(), before, "nothing is made before the answer");
        let state = asked["requestState"].clone();
        let answer = client.ask("tools/call", again(call(decision), &state, answers(decision)))["result"].clone();
        assert_eq!(answer["isError"], !made, "{answer}");
        let used = client.ask("tools/call", again(call(decision), &state, answers("once")));
        assert_eq!(used["error"]["code"], -32602, "{used}");
    }
    // A client that cannot ask means no.
    let mute = newest(json!({ "name": "up__note", "arguments": { "text": "mute" } }), &json!({}));
    let refused = client.ask("tools/call", mute)["result"].clone();
    assert_eq!(refused["structuredContent"]["code"], "POLICY_DENIED", "{refused}");
    client.leave();
    assert_eq!(calls(&world), [r#"note {"text": "once"}"#]);
    let history = world.run("plan history 1 --session gateway-session").done().stdout.clone();
    for (text, times) in [
        ("call to `up__note`: the person is asked in the client", 3),
        ("call to `up__note`: permitted in the client", 1),
        ("call to `up__note`: not permitted", 2),
        ("call to `up__note` was made (permitted)", 1),
    ] {
        assert_eq!(history.matches(text).count(), times, "{text}: {history}");
    }
}

/// The rule is about all that the server has, so it holds for what the server lists, too.
#[test]
fn a_person_at_a_client_of_the_newest_protocol_is_asked_about_resources_and_prompts_by_their_results() {
    let world = World::new();
    let can = json!({ "elicitation": {} });
    let settings =
        [("PLANWRIGHT_GATEWAY_WRITES", "ask"), ("PLANWRIGHT_PERMISSIONS", r#"[{ server = "up", decide = "ask" }]"#)];
    let mut client = Client::connect(&world, "document", "library", &settings);
    for (method, params, name, words) in [
        ("resources/read", json!({ "uri": "planwright://upstream/up/book://one" }), "up__read_resource", "Ishmael"),
        ("prompts/get", json!({ "name": "up__review", "arguments": { "title": "Momo" } }), "up__read_prompt", "Momo"),
    ] {
        let request = || newest(params.clone(), &can);
        let asked = client.ask(method, request())["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let message = asked["inputRequests"]["question"]["params"]["message"].as_str();
        let expected = format!("The agent wants to call {name} with");
        assert!(message.is_some_and(|message| message.starts_with(&expected)), "{asked}");
        let answers = json!({ "question": { "action": "accept", "content": { "decision": "once" } } });
        let answer = client.ask(method, again(request(), &asked["requestState"], answers))["result"].clone();
        assert!(answer["resultType"] == "complete" && answer.to_string().contains(words), "{answer}");
    }
    client.leave();
    let history = world.run("plan history 1 --session gateway-session").done().stdout.clone();
    for name in ["up__read_resource", "up__read_prompt"] {
        let made = format!("call to `{name}` was made (permitted)");
        assert_eq!(history.matches(&made).count(), 1, "{history}");
    }
}

/// Answers in a request that no server asked for would pass the rules and the journal.
#[test]
fn a_server_hears_only_answers_that_it_asked_for_and_that_are_written_down() {
    let world = World::new();
    accept(&world, "shop", "newest", "elicitation = true\nroots = true\n");
    let can = json!({ "elicitation": {}, "roots": {} });
    let mut client = Client::connect(&world, "document", "plain", &FREE);
    let call = || newest(json!({ "name": "shop__order", "arguments": { "what": "tea" } }), &can);
    let size = json!({ "action": "accept", "content": { "size": "L" } });
    // What the client answers before it is asked is kept until the server asks that.
    let mut early = call();
    early["inputResponses"] = json!({ "size": size, "secret": { "action": "accept", "content": { "key": "1234" } } });
    let asked = client.ask("tools/call", early)["result"].clone();
    assert!(asked["inputRequests"]["folders"].is_object(), "{asked}");
    // Of an answer to a question the server gets what it asked for.
    let folders = json!({ "roots": [] });
    let answers = json!({ "folders": folders, "secret": { "key": "1234" } });
    let answer = client.ask("tools/call", again(call(), &asked["requestState"], answers))["result"].clone();
    assert_eq!(heard(&answer)["responses"], json!({ "folders": folders }), "{answer}");
    // A state is Planwright's own, also that of a prompt, and no server gets one that the client made up.
    let prompt = || newest(json!({ "name": "shop__menu" }), &can);
    let day = json!({ "day": { "action": "accept", "content": {} } });
    let forged = client.ask("prompts/get", again(prompt(), &json!("menu"), day.clone()));
    assert_eq!(forged["error"]["code"], -32602, "{forged}");
    let mut early = prompt();
    early["inputResponses"] = json!({ "day": day["day"], "secret": { "key": "1234" } });
    let got = client.ask("prompts/get", early)["result"].clone();
    let text = got["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{got}"));
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), day);
    client.leave();
    let written = r#"{"action": "accept", "content": {"size": "L"}}"#;
    let expected = [
        r#"order {"what": "tea"} None {}"#.to_owned(),
        format!(r#"order {{"what": "tea"}} first {{"size": {written}}}"#),
        r#"order {"what": "tea"} second {"folders": {"roots": []}}"#.to_owned(),
        "prompt None null".to_owned(),
        r#"prompt menu {"day": {"action": "accept", "content": {}}}"#.to_owned(),
    ];
    assert_eq!(calls(&world), expected);
    let history = world.run("plan history 1 --session gateway-session").done().stdout.clone();
    for (text, times) in [
        ("call to `shop__order`: the server asks", 1),
        ("call to `shop__order`: the server is answered", 2),
        ("call to `shop__read_prompt`: the server is answered", 1),
        ("call to `shop__read_prompt` was made (reads)", 1),
    ] {
        assert_eq!(history.matches(text).count(), times, "{text}: {history}");
    }
    assert!(!history.contains("1234"), "{history}");
    world.run("verify").done();
}

/// Questions by requests are written down as well.
#[test]
fn what_a_client_of_the_older_protocol_is_asked_and_answers_is_in_the_history() {
    let world = World::new();
    accept(&world, "books", "library", "elicitation = true\n");
    let mut client = Client::start_with(&world, "document", "plain", &FREE, json!({ "elicitation": {} }));
    let call = client.request("tools/call", json!({ "name": "books__ask_person", "arguments": {} }));
    let question = client.message("elicitation/create");
    let accepted = json!({ "action": "accept", "content": { "title": "b", "count": 1 } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": accepted }));
    client.answer(call);
    client.leave();
    let history = world.run("plan history 1 --session gateway-session").done().stdout.clone();
    for text in ["call to `books__ask_person`: the server asks", "call to `books__ask_person`: the server is answered"]
    {
        assert_eq!(history.matches(text).count(), 1, "{text}: {history}");
    }
}
