//! Browsers: the link that signs one in, the cookies of one that is signed in, and passkeys.

use planwright_core::approval::Require;
use serde_json::json;

use crate::results::AttackResult;
use crate::shell::Ran;
use crate::stage::{PROGRAM, SESSION, Stage, attack, done};
use crate::surfaces::{Server, approve};

/// The secret of the link that the command printed, if it printed one.
fn link(output: &str) -> Option<String> {
    let (_, rest) = output.split_once("#link=")?;
    Some(rest.chars().take_while(char::is_ascii_hexdigit).collect())
}

/// What a browser is given for the link: every `Set-Cookie` line.
fn sign_in(server: &Server, link: &str) -> Vec<String> {
    let origin = format!("origin: http://{}\r\n", server.address);
    let (head, body) = server.post("/api/login/link", &origin, &json!({ "link": link }));
    let cookies = head.lines().filter_map(|line| line.strip_prefix("set-cookie: ")).map(str::to_owned);
    let cookies: Vec<_> = cookies.collect();
    assert_eq!(cookies.is_empty(), !head.starts_with("HTTP/1.1 200"), "{head}\n{body}");
    cookies
}

/// The headers of a browser with these cookies.
fn headers<'a>(server: &Server, cookies: impl IntoIterator<Item = &'a String>) -> String {
    let pairs = cookies.into_iter().filter_map(|line| line.split(';').next());
    let pairs = pairs.collect::<Vec<_>>().join("; ");
    format!("origin: http://{}\r\ncookie: {pairs}\r\n", server.address)
}

pub(crate) fn dashboard(server: &Server) -> String {
    format!("{PROGRAM} dashboard --url http://{}", server.address)
}

/// The headers of the person's browser, which they have signed in from their terminal.
pub(crate) fn sign_in_person(stage: &mut Stage, server: &Server) -> String {
    let made = stage.person.run(&dashboard(server));
    done(&made);
    let cookies = sign_in(server, &link(&made.output).unwrap());
    headers(server, &cookies)
}

/// Signs in with what the commands printed, and approves.
pub(crate) fn approves_with_link(stage: &mut Stage, server: &Server, printed: &str) -> AttackResult {
    if let Some(link) = link(printed) {
        let cookies = sign_in(server, &link);
        approve(stage, server, &headers(server, &cookies));
    }
    stage.result()
}

#[test]
fn dashboard_link() {
    attack("dashboard_link", |stage| {
        let server = Server::start(stage);
        let ran = stage.agent.run(&dashboard(&server));
        assert_eq!(ran.code == 0, stage.require == Require::Any, "{}", ran.output);
        approves_with_link(stage, &server, &ran.output)
    });
}

#[test]
fn dashboard_link_in_script() {
    attack("dashboard_link_in_script", |stage| {
        let server = Server::start(stage);
        let command = dashboard(&server);
        let Ran { mut output, .. } = stage.agent.run(&format!(
            "script -qec '{command}' /dev/null; setsid --wait {command}; setsid --wait script -qec '{command}' /dev/null < /dev/null"
        ));
        output.push_str(&stage.service.run(&format!("{command}; script -qec '{command}' /dev/null < /dev/null")));
        approves_with_link(stage, &server, &output)
    });
}

/// The cookie with an end. The one without an end is not in the clear on disk: Chromium writes it encrypted, others keep it
/// in memory.
#[test]
fn cookie_theft() {
    attack("cookie_theft", |stage| {
        let server = Server::start(stage);
        let made = stage.person.run(&dashboard(&server));
        done(&made);
        let cookies = sign_in(&server, &link(&made.output).unwrap());
        assert_eq!(cookies.len(), 2);
        let on_disk: Vec<_> = cookies.into_iter().filter(|line| line.contains("Max-Age=")).collect();
        assert_eq!(on_disk.len(), 1);
        approve(stage, &server, &headers(&server, &on_disk));
        stage.result()
    });
}

/// What the person saw last is kept with the session for surfaces where they type.
#[test]
fn shown_with_token() {
    attack("shown_with_token", |stage| {
        let server = Server::start(stage);
        let (browser, token) = (sign_in_person(stage, &server), format!("authorization: Bearer {}\r\n", server.token));
        let say = |headers: &str, text: &str| {
            let key = SESSION.trim_start_matches("mcp:");
            server.post(&format!("/api/sessions/{key}/messages"), headers, &json!({ "text": text, "channel": "mcp" })).1
        };
        assert!(say(&browser, "/plan show 1").contains("delete everything"));
        let changed = json!({ "plan_markdown": "# Empty the bin\n\n- [ ] delete the kitchen, too\n" });
        stage.agent_calls(SESSION, "plan_set_content", &changed);
        say(&token, "/plan show 1");
        say(&token, "/plan approve 1");
        say(&browser, "/plan approve 1");
        stage.result()
    });
}

/// The person's browser approves where the token does not, and only until it signs out.
#[test]
fn a_person_approves_in_a_browser_that_they_signed_in() {
    let mut stage = Stage::new(Require::Separate);
    let server = Server::start(&stage);
    let made = stage.person.run(&dashboard(&server));
    done(&made);
    assert!(made.output.contains("once, until 2") && !made.output.contains("just now"), "{}", made.output);
    let link = link(&made.output).unwrap();
    let cookies = sign_in(&server, &link);
    assert_eq!(sign_in(&server, &link), Vec::<String>::new(), "the link works once");
    let other = stage.person.run(&dashboard(&server));
    let other_browser = sign_in(&server, &self::link(&other.output).unwrap());
    let (head, _) = server.post("/api/logout", &headers(&server, &other_browser), &json!({}));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    // The cookie of this sign-in with the secret of the one that signed out.
    let mixed = [&cookies[0], &other_browser[1]];
    let (head, body) = approve(&mut stage, &server, &headers(&server, mixed));
    assert!(head.starts_with("HTTP/1.1 403") && body.contains("access token alone"), "{head}\n{body}");
    let (head, body) = approve(&mut stage, &server, &headers(&server, &cookies));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}\n{body}");
    assert_eq!(stage.plan()["approval"]["presence"], "browser");
    done(&stage.verify(""));
}

/// Under `verified` a browser alone is not enough.
#[test]
fn a_signed_in_browser_is_no_signature() {
    let mut stage = Stage::new(Require::Verified);
    let server = Server::start(&stage);
    let made = stage.person.run(&dashboard(&server));
    done(&made);
    let cookies = sign_in(&server, &link(&made.output).unwrap());
    let (head, body) = approve(&mut stage, &server, &headers(&server, &cookies));
    assert!(head.starts_with("HTTP/1.1 403") && body.contains("approver's signature"), "{head}\n{body}");
}

#[test]
fn forged_passkey() {
    attack("forged_passkey", |stage| {
        let server = Server::start(stage);
        let plan = stage.plan();
        let path = format!("/api/plans/{}/approve", plan["id"].as_str().unwrap());
        let token = format!("authorization: Bearer {}\r\n", server.token);
        let passkey = json!({ "approver": "ada", "seq": 1, "validUntil": null, "nonce": "00", "credential": "AQ",
            "clientData": "{}", "authenticatorData": "AQ", "signature": "AQ" });
        let body = json!({ "digest": plan["digest"], "later": true, "passkey": passkey });
        let (head, body) = server.post(&path, &token, &body);
        assert!(head.starts_with("HTTP/1.1 403") && body.contains("POLICY_DENIED"), "{head}\n{body}");
        stage.result()
    });
}

/// The person's browser shows a page of another server. It sends the cookies with what the page asks for, and says which page that is.
#[test]
fn foreign_page() {
    attack("foreign_page", |stage| {
        let server = Server::start(stage);
        let own = sign_in_person(stage, &server);
        let cookies: String =
            own.lines().filter(|line| line.starts_with("cookie: ")).map(|line| format!("{line}\r\n")).collect();
        for origin in ["origin: http://127.0.0.1:9\r\n", "origin: http://example.org\r\n", "origin: null\r\n", ""] {
            let (head, body) = approve(stage, &server, &format!("{origin}{cookies}"));
            assert!(head.starts_with("HTTP/1.1 403") && body.contains("POLICY_DENIED"), "{origin}{head}\n{body}");
        }
        stage.result()
    });
}
