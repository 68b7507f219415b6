//! Where a verified person is asked for, the API takes a passphrase with every decision.

use planwright_core::approval::Require;
use serde_json::{Value, json};

use crate::stage::{PASSPHRASE, PROGRAM, SESSION, Stage};
use crate::surfaces::{Server, send};

#[test]
fn what_lets_work_happen_takes_the_passphrase_over_rest() {
    let mut stage = Stage::new(Require::Verified);
    for line in ["memory save 'The cups are blue'", "schedule add '0 9 * * *' 'Wash the cups'", "schedule pause 1"] {
        stage.person_runs(&format!("{PROGRAM} {line} --session {SESSION}"));
    }
    let server = Server::start(&stage);
    let headers = format!("authorization: Bearer {}\r\n", server.token);
    let id = |path: &str| {
        let path = format!("{path}?sessionId=attack-one&channel=mcp");
        let (_, body) = send(&server.address, "GET", &path, &headers, &Value::Null);
        let listed: Value = serde_json::from_str(&body).unwrap();
        listed["items"][0]["id"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned()
    };
    let (memory, schedule) = (id("/api/memory"), id("/api/schedules"));
    let of_session = "sessionId=attack-one&channel=mcp";
    let new = json!({ "sessionId": "attack-one", "channel": "mcp", "cron": "0 8 * * *", "title": "Wash the pots" });
    for (path, body) in [
        (format!("/api/memory/{memory}/promote?{of_session}"), json!({})),
        (format!("/api/schedules/{schedule}/resume?{of_session}"), json!({})),
        ("/api/schedules".to_owned(), new),
    ] {
        let (_, answer) = send(&server.address, "POST", &path, &headers, &body);
        assert!(answer.contains("POLICY_DENIED"), "{path}: {answer}");
        let mut wrong = body.clone();
        wrong["passphrase"] = "let me in".into();
        let (_, answer) = send(&server.address, "POST", &path, &headers, &wrong);
        assert!(answer.contains("UNAUTHENTICATED"), "{path}: {answer}");
        let mut given = body;
        given["passphrase"] = PASSPHRASE.into();
        let (head, answer) = send(&server.address, "POST", &path, &headers, &given);
        assert!(head.starts_with("HTTP/1.1 20"), "{path}: {head} {answer}");
    }
    let signed = stage.acts_of_people().into_iter().filter(|entry| !entry["by"]["presence"]["signed"].is_null());
    let mut kinds: Vec<_> = signed.map(|entry| entry["by"]["presence"]["signed"]["act"]["kind"].to_string()).collect();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, ["\"add_schedule\"", "\"promote\"", "\"resume_schedule\""]);
    assert_eq!(stage.verify("").code, 0);
}
