//! A fuzz target for the bytes a client sends: they are read as lines and messages, and nothing may panic.

#[path = "../../../core/tests/core/fuzz/cases.rs"]
mod cases;

use serde_json::Value;

use super::line::{Line, LineReader};
use super::message::{self, Incoming};
use super::recover_id;

#[test]
fn any_bytes_are_read_as_messages() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    cases::for_each(|bytes: &Vec<u8>| runtime.block_on(read_all(bytes)));
}

/// Random bytes are hardly ever JSON; these are, with holes for the fuzzer to fill.
#[test]
fn near_misses_are_read_as_messages() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    cases::for_each(|(shape, value, text): &(u8, u8, String)| {
        let text = serde_json::to_string(text).unwrap();
        let value = [
            &text,
            "null",
            "7",
            "-1.5",
            "[]",
            "{}",
            "true",
            "1e999",
            "18446744073709551615",
            "\"",
            "[[[[",
            "\"\\ud83d\"",
        ][usize::from(*value) % 12];
        let line = match shape % 6 {
            0 => format!(r#"{{"jsonrpc":"2.0","id":{value},"method":{text}}}"#),
            1 => format!(r#"{{"jsonrpc":{value},"id":1,"method":"tools/list"}}"#),
            2 => format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{value}}}"#),
            3 => format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{text},"arguments":{value}}}}}"#
            ),
            4 => format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":{value}}}}}"#),
            _ => format!(r#"{{"jsonrpc":"2.0","id":{value},"result":{text},"error":{value}}}"#),
        };
        runtime.block_on(read_all(line.as_bytes()));
        // The scanner and the JSON parser must find the same request.
        if let Ok(Value::Object(object)) = serde_json::from_str(&line) {
            let is_request = object.contains_key("method") && !object.contains_key("result");
            let id = object.get("id").filter(|id| is_request && message::is_usable(id)).cloned().unwrap_or_default();
            assert_eq!(recover_id::recover_id(line.as_bytes()).id, id, "{line}");
        }
    });
}

async fn read_all(bytes: &[u8]) {
    let mut lines = LineReader::new(bytes);
    while let Some(line) = lines.next().await.unwrap() {
        let Line::Whole(line) = line else { continue };
        recover_id::recover_id(&line);
        if let Incoming::Refused(answer) = message::read(&line) {
            let in_band = answer["result"]["isError"] == true && message::is_usable(&answer["id"]);
            let code = answer["error"]["code"].as_i64();
            assert!(in_band || matches!(code, Some(-32700 | -32600 | -32602)), "{answer}");
        }
    }
}
