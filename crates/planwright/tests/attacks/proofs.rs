//! Where a verified person is asked for, the API takes a passphrase with every decision.

use planwright_core::approval::Require;
use serde_json::{Value, json};

use crate::browser::sign_in_person;
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

/// The signature is over what was shown, so the agent cannot exchange it before the passphrase is typed.
#[test]
fn what_changed_after_it_was_shown_is_not_signed() {
    let mut stage = Stage::new(Require::Verified);
    for line in ["schedule add '0 9 * * *' 'Wash the cups'", "schedule pause 1", "goal add 'A clean kitchen'"] {
        stage.person_runs(&format!("{PROGRAM} {line} --session {SESSION}"));
    }
    let server = Server::start(&stage);
    let headers = format!("authorization: Bearer {}\r\n", server.token);
    let of_session = "sessionId=attack-one&channel=mcp";
    let listed = |path: &str| {
        let (_, body) = send(&server.address, "GET", &format!("{path}?{of_session}"), &headers, &Value::Null);
        let listed: Value = serde_json::from_str(&body).unwrap();
        listed["items"][0].clone()
    };
    let signed = |path: &str, mut body: Value| {
        body["passphrase"] = PASSPHRASE.into();
        send(&server.address, "POST", path, &headers, &body)
    };
    let (schedule, goal) = (listed("/api/schedules"), listed("/api/goals"));
    for line in ["task open 1 'with bleach'", "task add '#1 Throw the cups away'"] {
        stage.person_runs(&format!("{PROGRAM} {line} --session {SESSION}"));
    }
    let resume = format!("/api/schedules/{}/resume?{of_session}", schedule["id"].as_str().unwrap());
    let run = json!({ "sessionId": "attack-one", "channel": "mcp", "goalId": "1", "digest": goal["digest"] });
    for (path, body) in [(resume.as_str(), json!({ "digest": schedule["digest"] })), ("/api/runs", run)] {
        let (_, answer) = signed(path, body);
        assert!(answer.contains("STALE_APPROVAL"), "{path}: {answer}");
    }
    let (head, answer) = signed(&resume, json!({ "digest": listed("/api/schedules")["digest"] }));
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    // On the command line it is shown where the passphrase is asked for.
    stage.person_runs(&format!("{PROGRAM} schedule pause 1 --session {SESSION}"));
    let shown = stage.person_runs(&format!("{PROGRAM} schedule resume 1 --session {SESSION}"));
    assert!(
        shown.contains("Schedule 1 is to run again, `0 9 * * *` in UTC, with task 1: Wash the cups (with bleach)"),
        "{shown}"
    );
}

/// What stands between the first `before` and the next backtick.
fn quoted_after<'a>(text: &'a str, before: &str) -> &'a str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("{before}: {text}")).1;
    rest.split('`').next().unwrap()
}

/// A message carries no signature: a slash command in it that decides is refused, and the refusal names what signs it.
#[test]
fn the_refusal_of_a_typed_command_names_a_command_that_signs_it() {
    let mut stage = Stage::new(Require::Verified);
    for line in ["memory save 'The cups are blue'", "schedule add '0 9 * * *' 'Wash the cups'", "schedule pause 1"] {
        stage.person_runs(&format!("{PROGRAM} {line} --session {SESSION}"));
    }
    let server = Server::start(&stage);
    let headers = format!("authorization: Bearer {}\r\n", server.token);
    let get = |path: &str| send(&server.address, "GET", path, &headers, &Value::Null);
    let (_, listed) = get("/api/memory?sessionId=attack-one&channel=mcp");
    let memory = serde_json::from_str::<Value>(&listed).unwrap()["items"][0]["id"].as_str().unwrap().to_owned();
    let path = "/api/sessions/attack-one/messages?channel=mcp";
    // An approval is refused before the plan was shown in the session.
    let browser = sign_in_person(&mut stage, &server);
    let (head, answer) = server.post(path, &browser, &json!({ "text": "/plan show 1" }));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}\n{answer}");
    for (typed, confirmed) in [
        ("/schedule resume 1".to_owned(), false),
        ("/schedule add 0 8 * * * max=2 Wash Ann's pots".to_owned(), false),
        (format!("/memory promote {memory}"), true),
        ("/plan approve 1".to_owned(), true),
    ] {
        let (head, answer) = server.post(path, &headers, &json!({ "text": typed }));
        assert!(head.starts_with("HTTP/1.1 403") && answer.contains("POLICY_DENIED"), "{typed}: {head}\n{answer}");
        let problem: Value = serde_json::from_str(&answer).unwrap();
        let detail = problem["detail"].as_str().unwrap();
        let page = quoted_after(detail, "in the dashboard at `");
        assert!(page.starts_with("/s/mcp:attack-one/") || page.starts_with("/p/"), "{typed}: {page}");
        let command = quoted_after(detail, "in a terminal with `planwright ");
        // What is asked on the terminal is on its screen, and not in a file.
        stage.person.type_line(&format!("{PROGRAM} {command} > /dev/tty 2>&1"));
        if confirmed {
            stage.person.answer("[y/N] ", "y");
        }
        stage.person.answer("Passphrase of ada: ", PASSPHRASE);
        let ended = stage.person.end();
        assert_eq!(ended.code, 0, "{typed}: {command}: {} {}", ended.output, stage.person.seen());
    }
    let signed = stage.acts_of_people().into_iter().filter(|entry| !entry["by"]["presence"]["signed"].is_null());
    let mut kinds: Vec<_> = signed.map(|entry| entry["by"]["presence"]["signed"]["act"]["kind"].to_string()).collect();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, ["\"add_schedule\"", "\"promote\"", "\"resume_schedule\""]);
    assert_eq!(stage.plan()["approval"]["presence"], "verified");
    let (_, schedules) = get("/api/schedules?sessionId=attack-one&channel=mcp");
    assert!(schedules.contains("Wash Ann's pots"), "{schedules}");
    assert_eq!(stage.verify("").code, 0);
}
