use serde_json::{Value, json};

use crate::world::{Client, DOCUMENT, World, checked};

/// Sends something wrong and then something right: the first is answered as expected, and so is the second.
async fn survives(client: &mut Client, line: &[u8], expected: &Value) {
    let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
    client.send_bytes(line).await;
    client.send_bytes(b"\n").await;
    if !expected.is_null() {
        let answer = client.receive().await.unwrap();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &expected["id"]), "{shown}: {answer}");
        assert!(answer.as_object().unwrap().contains_key("id"), "{shown}: {answer}");
        assert_eq!(answer["error"]["code"], expected["code"], "{shown}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(expected["says"].as_str().unwrap()), "{shown}: {answer}");
    }
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}), "{shown}");
}

/// Sends a call that cannot be read, and then something right. Gives back the refusal, which has the shape of any other.
async fn refused_in_band(client: &mut Client, line: &[u8], id: &Value) -> Value {
    client.send_bytes(line).await;
    client.send_bytes(b"\n").await;
    let answer = client.answer_to(id).await;
    let refused = checked(&answer);
    let usual = client.call("plan_submit", json!({})).await;
    let names = |result: &Value| result.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&refused), names(&usual), "{refused} {usual}");
    assert_eq!((&refused["isError"], &usual["isError"]), (&json!(true), &json!(true)));
    refused["structuredContent"].clone()
}

fn error(code: i32, id: Value, says: &str) -> Value {
    json!({ "code": code, "id": id, "says": says })
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_and_the_server_goes_on() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let before = world.seq().await;
    for (line, expected) in [
        (&b"hello"[..], error(-32700, Value::Null, "not JSON")),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,", error(-32700, Value::Null, "not JSON")),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}", error(-32700, json!(1), "UTF-8")),
        (br#"{"jsonrpc":"2.0","id":20,"method":"ping","params":{"a":"\ud83d"}}"#, error(-32700, json!(20), "not JSON")),
        (br#"{"method":"tools/call","params":{"a":NaN},"jsonrpc":"2.0","id":"x"}"#, error(-32700, json!("x"), "not JSON")),
        (br#"{"method":"tools/call","params":{"a":"\ud83d","id":1},"jsonrpc":"2.0"}"#, error(-32700, Value::Null, "not JSON")),
        (br#"{"jsonrpc":"2.0","id":1,"result":{"a":"\ud83d"}}"#, error(-32700, Value::Null, "not JSON")),
        (b"\x00\x01\x02", error(-32700, Value::Null, "not JSON")),
        (deep.as_bytes(), error(-32700, Value::Null, "not JSON")),
        (b"Content-Length: 42\r", error(-32700, Value::Null, "not JSON")),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, error(-32600, Value::Null, "Batches")),
        (b"[]", error(-32600, Value::Null, "Batches")),
        (b"7", error(-32600, Value::Null, "JSON object")),
        (b"null", error(-32600, Value::Null, "JSON object")),
        (b"{}", error(-32600, Value::Null, "`method`")),
        (br#"{"jsonrpc":"2.0","id":5}"#, error(-32600, json!(5), "`method`")),
        (br#"{"jsonrpc":"2.0","id":"five","params":{}}"#, error(-32600, json!("five"), "`method`")),
        (br#"{"jsonrpc":"2.0","id":6,"method":7}"#, error(-32600, json!(6), "`method`")),
        (br#"{"id":7,"method":"ping"}"#, error(-32600, json!(7), "`jsonrpc`")),
        (br#"{"jsonrpc":"1.0","id":8,"method":"ping"}"#, error(-32600, json!(8), "`jsonrpc`")),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, error(-32600, Value::Null, "`id`")),
        (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, error(-32600, Value::Null, "`id`")),
        (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, error(-32600, Value::Null, "`id`")),
        (br#"{"jsonrpc":"2.0","id":9,"method":"ping","result":{}}"#, error(-32600, json!(9), "`result`")),
        // Known methods with parameters that do not fit.
        (br#"{"jsonrpc":"2.0","id":10,"method":"tools/call"}"#, error(-32602, json!(10), "`name`")),
        (br#"{"jsonrpc":"2.0","id":11,"method":"tools/call","params":[]}"#, error(-32602, json!(11), "`params`")),
        (br#"{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":7}}"#, error(-32602, json!(12), "`name`")),
        (br#"{"jsonrpc":"2.0","id":13,"method":"initialize","params":{}}"#, error(-32602, json!(13), "protocolVersion")),
        (br#"{"jsonrpc":"2.0","id":16,"method":"tools/list","params":{"_meta":7}}"#, error(-32602, json!(16), "`_meta`")),
        (br#"{"jsonrpc":"2.0","id":17,"method":"no/such","params":"x"}"#, error(-32602, json!(17), "`params`")),
        (br#"{"jsonrpc":"2.0","id":18,"method":"tools/call","params":{"name":"plan_get","arguments":{},"inputResponses":7}}"#, error(-32602, json!(18), "`name`")),
        (br#"{"jsonrpc":"2.0","id":15,"method":"tools/list","params":{"cursor":"2"}}"#, error(-32602, json!(15), "cursor")),
        // Nothing is said about these.
        (b"", Value::Null),
        (b"  \r", Value::Null),
        (br#"{"jsonrpc":"2.0","method":"notifications/no/such"}"#, Value::Null),
        (br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#, Value::Null),
        (br#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"plan_set_content","arguments":{"plan_markdown":"x"}}}"#, Value::Null),
        (br#"{"jsonrpc":"2.0","id":99,"result":{}}"#, Value::Null),
        (br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"an echo"}}"#, Value::Null),
        (br#"{"jsonrpc":"2.0","result":7,"error":7}"#, Value::Null),
    ] {
        survives(&mut client, line, &expected).await;
    }
    assert_eq!(world.seq().await, before, "nothing of it was carried out");
    client.leave().await;
}

#[tokio::test]
async fn the_same_holds_before_the_client_has_said_hello() {
    let world = World::new().await;
    let mut client = Client::connect(world.options(DOCUMENT));
    survives(&mut client, b"hello", &error(-32700, Value::Null, "not JSON")).await;
    survives(&mut client, b"[]", &error(-32600, Value::Null, "Batches")).await;
    assert_eq!(client.initialize().await["serverInfo"]["name"], "planwright");
    client.leave().await;
}

#[tokio::test]
async fn a_line_without_end_is_refused_and_skipped() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..20 {
        client.send_bytes(&piece).await;
    }
    survives(&mut client, b"", &error(-32600, Value::Null, "longer than 8388608 bytes")).await;
    client.leave().await;
}

#[tokio::test]
async fn a_message_that_is_too_long_is_answered_by_its_id() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let before = world.seq().await;
    let long = "\\\"id\\\":1}, ".repeat(1024 * 1024);
    for (method, id_comes) in [("tools/call", "first"), ("tools/call", "last"), ("no/such", "last")] {
        let params = format!(
            r#""params":{{"name":"plan_set_content","arguments":{{"plan_markdown":"{long}"}},"_meta":{{"id":1}}}}"#
        );
        let line = match id_comes {
            "first" => format!(r#"{{"jsonrpc":"2.0","id":"long","method":"{method}",{params}}}"#),
            _ => format!(r#"{{"method":"{method}",{params},"jsonrpc":"2.0","id":"long"}}"#),
        };
        if method == "tools/call" {
            let refusal = refused_in_band(&mut client, line.as_bytes(), &json!("long")).await;
            assert_eq!(refusal["code"], "LIMIT_EXCEEDED", "{refusal}");
            assert!(refusal["message"].as_str().unwrap().contains("longer than 8388608 bytes"), "{refusal}");
        } else {
            survives(&mut client, line.as_bytes(), &error(-32600, json!("long"), "longer than 8388608 bytes")).await;
        }
    }
    assert_eq!(world.seq().await, before, "nothing of it was carried out");

    // The last line, without its end, counts as well.
    let unended = format!(r#"{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{{"name":"{long}"#);
    client.send_bytes(unended.as_bytes()).await;
    client.stop_writing().await;
    let answer = client.answer_to(&json!(77)).await;
    assert_eq!(checked(&answer)["structuredContent"]["code"], "LIMIT_EXCEEDED");
    assert!(client.receive().await.is_none());
    client.ended().await;
}

#[tokio::test]
async fn a_call_with_arguments_that_no_value_can_hold_is_refused_as_a_call() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let before = world.seq().await;
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    for value in [r#""cut \ud83d""#, r#""\udc00 turned \ud83d""#, r#""\ud83dx""#, "1e999", &deep] {
        let params = format!(r#""params":{{"name":"plan_set_content","arguments":{{"plan_markdown":{value}}}}}"#);
        for line in [
            format!(r#"{{"jsonrpc":"2.0","id":"half","method":"tools/call",{params}}}"#),
            format!(r#"{{"method":"tools/call",{params},"jsonrpc":"2.0","id":"half"}}"#),
        ] {
            let refusal = refused_in_band(&mut client, line.as_bytes(), &json!("half")).await;
            assert_eq!(refusal["code"], "INVALID_ARGUMENT", "{refusal}");
            assert!(refusal["message"].as_str().unwrap().contains("surrogate pair"), "{refusal}");
        }
    }
    assert_eq!(world.seq().await, before, "nothing of it was carried out");
    client.leave().await;
}

#[tokio::test]
async fn a_message_may_come_in_pieces_and_several_in_one() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let message = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"ü\",\"method\":\"ping\"}\r\n";
    for byte in message.as_bytes() {
        client.send_bytes(&[*byte]).await;
    }
    assert_eq!(client.answer_to(&json!("ü")).await["result"], json!({}));
    let two = "{\"jsonrpc\":\"2.0\",\"id\":1001,\"method\":\"tools/list\"}\nnonsense\n{\"jsonrpc\":\"2.0\",\"id\":1002,\"method\":\"tools/list\"}\n";
    client.send_bytes(two.as_bytes()).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(client.receive().await.unwrap()["id"].to_string());
    }
    ids.sort_unstable();
    assert_eq!(ids, ["1001", "1002", "null"]);
    client.leave().await;
}

#[tokio::test]
async fn a_plan_of_the_largest_size_goes_through() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    // Every character takes six bytes on the wire, and the whole has to come back as well.
    let markdown = "\u{1}".repeat(1024 * 1024);
    let set = client.succeed("plan_set_content", json!({ "plan_markdown": markdown })).await;
    assert_eq!(set["status"], "READY");
    let got = client.succeed("plan_get", json!({})).await;
    assert!(got["markdown"] == markdown.as_str());
    client.leave().await;
}

#[tokio::test]
async fn many_requests_may_wait_at_once() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let mut ids = Vec::new();
    for n in 0..200 {
        let markdown = format!("# Version {n}");
        let call = json!({ "name": "plan_set_content", "arguments": { "plan_markdown": markdown } });
        ids.push(client.send_request("tools/call", call).await);
    }
    for id in ids {
        assert_eq!(client.answer_to(&json!(id)).await["result"]["isError"], false);
    }
    assert_eq!(client.succeed("plan_get", json!({})).await["markdown"], "# Version 199");
    client.leave().await;
}

#[tokio::test]
async fn a_client_that_does_not_listen_is_waited_for_and_then_answered() {
    const MANY: i64 = 20_000;
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let ping = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let (all_taken_in, sending) = client.send_without_listening((1000..1000 + MANY).map(ping).collect()).await;
    assert!(!all_taken_in, "the answers pile up somewhere");
    let mut answered = 0;
    while let Some(answer) = client.receive().await {
        assert_eq!(answer["result"], json!({}));
        answered += 1;
    }
    assert_eq!(answered, MANY);
    sending.await.unwrap();
    client.ended().await;
}
