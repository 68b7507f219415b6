//! What an upstream server sends and asks during a call, as a client of the real program meets it.

use serde_json::{Value, json};

use crate::gateway::{Client, calls};
use crate::world::World;

const FREE: [(&str, &str); 1] = [("PLANWRIGHT_GATEWAY_WRITES", "free")];
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../upstream/tests/servers/hostile.py");

#[test]
fn the_content_of_a_result_reaches_the_client_as_the_server_sent_it() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "plain", &FREE);
    let image = client.call("up__image", json!({}));
    let data = "iVBORyBub3QgcmVhbGx5";
    assert_eq!(image["content"], json!([{ "type": "image", "mimeType": "image/png", "data": data }]), "{image}");
    assert_eq!((image.get("structuredContent"), &image["isError"]), (None, &json!(false)), "{image}");

    // The client reads a resource of the result under the address that it finds there.
    let resource = client.call("up__resource", json!({}));
    assert_eq!(
        resource["content"],
        json!([
            { "type": "resource", "resource": {
                "uri": "planwright://upstream/up/file:///a", "mimeType": "text/plain", "text": "the text",
            } },
            { "type": "resource_link", "uri": "planwright://upstream/up/file:///b", "name": "b" },
        ]),
        "{resource}"
    );
    let structured = client.call("up__structured", json!({}));
    // Once: the text says it already.
    assert_eq!(structured.get("structuredContent"), None, "{structured}");
    assert_eq!(structured["content"][0]["text"], r#"{"rows": [1, 2, 3]}"#, "{structured}");
    client.leave();
}

#[test]
fn lines_of_the_servers_log_reach_a_client_that_asked_for_their_level() {
    let world = World::new();
    let mut client = Client::start(&world, "document", "library", &FREE);
    let lines = |client: &mut Client| {
        let call = client.request("tools/call", json!({ "name": "up__logs", "arguments": {} }));
        let mut lines = Vec::new();
        loop {
            let message = client.receive();
            if message["id"] == call {
                return lines;
            }
            if message["method"] == "notifications/message" && message["params"]["logger"] != "planwright" {
                lines.push(message["params"].clone());
            }
        }
    };
    assert_eq!(lines(&mut client), [json!(null); 0], "the client asked for none");
    client.ask("logging/setLevel", json!({ "level": "info" }));
    let expected = [
        json!({ "level": "info", "logger": "up", "data": { "line": "info" } }),
        json!({ "level": "error", "logger": "up/shelf", "data": { "line": "error" } }),
    ];
    assert_eq!(lines(&mut client), expected);
    // The server is told, once for each more verbose level.
    client.ask("logging/setLevel", json!({ "level": "warning" }));
    client.ask("logging/setLevel", json!({ "level": "debug" }));
    client.leave();
    let levels: Vec<_> = calls(&world).into_iter().filter(|line| line.starts_with("level ")).collect();
    assert_eq!(levels, ["level info", "level debug"]);
}

/// A server `books` whose questions pass to the client, besides `up`, whose questions do not.
fn with_books(world: &World) {
    let notes = world.path("notes");
    std::fs::create_dir_all(&notes).unwrap();
    // Another command than that of the server `up`, whose first offer is accepted only if the store never saw its command.
    let server = format!("command = \"python3\"\nargs = [\"{SCRIPT}\", \"library\", \"{}/.\"]", notes.display());
    world.write("planwright.toml", &format!("[mcp.servers.books]\n{server}\nelicitation = true\nsampling = true\n"));
    let shown = world.json("mcp-server show books");
    world.run(&format!("mcp-server accept books --digest {}", shown["digest"].as_str().unwrap())).done();
    world.run("config set gateway.writes free").done();
}

fn heard(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn questions_of_a_server_pass_to_the_client_that_made_the_call() {
    let world = World::new();
    with_books(&world);
    let can = json!({ "elicitation": {}, "sampling": {} });
    let mut client = Client::start_with(&world, "document", "plain", &FREE, can);
    let call = client.request("tools/call", json!({ "name": "books__ask_person", "arguments": {} }));
    let question = client.message("elicitation/create");
    // The person is told who asks, without characters that hide text. Nothing of the schema is lost.
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("The MCP server books asks: Which book") && !message.contains('\u{202e}'), "{message}");
    let fields = &question["params"]["requestedSchema"]["properties"];
    assert_eq!(
        *fields,
        json!({
            "title": { "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"], "default": "a" },
            "count": { "type": "integer", "default": 30 },
        })
    );
    let accepted = json!({ "action": "accept", "content": { "title": "b", "count": 1 } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": accepted }));
    let answer = client.answer(call);
    let heard_by_server = heard(answer["result"]["content"][0]["text"].as_str().unwrap());
    assert_eq!(heard_by_server["result"], accepted, "{answer}");
    assert_eq!(heard_by_server["capabilities"], json!({ "elicitation": {}, "sampling": {} }));

    let call = client.request("tools/call", json!({ "name": "books__ask_model", "arguments": {} }));
    let question = client.message("sampling/createMessage");
    assert_eq!(question["params"]["messages"][0]["content"]["text"], "Which book?", "{question}");
    assert_eq!(question["params"]["maxTokens"], 100);
    let phrase = json!({ "type": "text", "text": "Moby Dick" });
    let reply = json!({ "role": "assistant", "content": phrase, "model": "m", "stopReason": "endTurn" });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply }));
    let answer = client.answer(call);
    assert_eq!(heard(answer["result"]["content"][0]["text"].as_str().unwrap())["result"], reply, "{answer}");

    // What the client refuses, the server is told in the client's words.
    let call = client.request("tools/call", json!({ "name": "books__ask_model", "arguments": {} }));
    let question = client.message("sampling/createMessage");
    let error = json!({ "code": -1, "message": "The person rejected it" });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }));
    let answer = client.answer(call);
    assert_eq!(heard(answer["result"]["content"][0]["text"].as_str().unwrap())["error"], error, "{answer}");
    client.leave();
}

#[test]
fn a_question_that_cannot_be_passed_on_is_refused_and_never_lost() {
    let world = World::new();
    with_books(&world);
    // The settings pass it on, and the client cannot be asked.
    let mut mute = Client::start(&world, "document", "library", &FREE);
    for tool in ["books__ask_person", "books__ask_model"] {
        let error = heard(&mute.text(tool, json!({})))["error"].clone();
        assert!(error["message"].as_str().unwrap_or_default().starts_with("Refused by Planwright."), "{tool}: {error}");
    }
    mute.leave();
    // The client can be asked, and the settings do not pass it on.
    let can = json!({ "elicitation": {}, "sampling": {} });
    let mut client = Client::start_with(&world, "document", "library", &FREE, can);
    let person = heard(&client.text("up__ask_person", json!({})));
    assert_eq!((&person["result"], &person["capabilities"]), (&json!({ "action": "decline" }), &json!({})));
    let model = heard(&client.text("up__ask_model", json!({})));
    assert_eq!(model["error"]["code"], -32601, "{model}");
    client.leave();
}
