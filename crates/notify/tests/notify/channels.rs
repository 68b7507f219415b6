//! The channels themselves.

use std::time::Duration;

use planwright_notify::channels::{
    ChannelError, Desktop, Email, Notification, NotifiedEvent, NotifyChannel as _, Ntfy,
};
use planwright_notify::notice::NoticeKind;
use planwright_notify::options::{EmailOptions, NtfyOptions};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

fn notification() -> Notification {
    let event = NotifiedEvent {
        id: "plan-1".to_owned(),
        kind: NoticeKind::Waits,
        what: "Plan #1 waits for your decision".to_owned(),
        title: "-rf \u{1b}]0;x".to_owned(),
        session: "web:k3yk3y8x".to_owned(),
        path: "/p/1".to_owned(),
        since: "2030-01-01T12:00:00Z".parse().unwrap(),
        url: Some("https://plans.example.org/p/1".to_owned()),
        escalated: false,
    };
    Notification { id: "abc123".to_owned(), events: vec![event] }
}

#[tokio::test]
async fn an_email_says_what_waits_since_when_and_where() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // A mail server that takes one mail.
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (reading, mut writing) = stream.into_split();
        let (mut lines, mut mail, mut in_data) = (BufReader::new(reading).lines(), Vec::new(), false);
        writing.write_all(b"220 test\r\n").await.unwrap();
        while let Some(line) = lines.next_line().await.unwrap() {
            mail.push(line.clone());
            let answer = match line.as_str() {
                "." => {
                    in_data = false;
                    "250 taken"
                }
                _ if in_data => continue,
                "DATA" => {
                    in_data = true;
                    "354 go on"
                }
                "QUIT" => "221 bye",
                _ => "250 fine",
            };
            writing.write_all(format!("{answer}\r\n").as_bytes()).await.unwrap();
            if answer == "250 taken" {
                return mail.join("\n");
            }
        }
        mail.join("\n")
    });
    let options = EmailOptions {
        server: format!("smtp://{address}").into(),
        from: "planwright@example.org".to_owned(),
        to: vec!["ada@example.org".to_owned()],
    };
    Email::new(&options).unwrap().send(&notification()).await.unwrap();
    let mail = server.await.unwrap();
    for text in [
        "Subject: Plan #1 waits for your decision",
        "To: ada@example.org",
        "Since 2030-01-01 12:00 UTC",
        "https://plans.example.org/p/1",
        "Message-ID: <abc123@example.org>",
    ] {
        assert!(mail.contains(text), "{text}:\n{mail}");
    }
}

#[tokio::test]
async fn a_mail_server_that_is_not_there_is_tried_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let options = EmailOptions {
        server: format!("smtp://ada:geheim@{address}").into(),
        from: "planwright@example.org".to_owned(),
        to: vec!["ada@example.org".to_owned()],
    };
    let Err(ChannelError::Transient(why)) = Email::new(&options).unwrap().send(&notification()).await else {
        panic!("it should fail");
    };
    assert!(!why.contains("geheim"), "{why}");
}

/// One HTTP request as it came, which is answered with this status.
async fn requested(listener: TcpListener, status: &str) -> String {
    let (stream, _) = listener.accept().await.unwrap();
    let (reading, mut writing) = stream.into_split();
    let (mut reader, mut head, mut length) = (BufReader::new(reading), String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await.unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await.unwrap();
    writing.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes()).await.unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn ntfy(listener: &TcpListener) -> NtfyOptions {
    NtfyOptions {
        url: format!("http://{}/push/my-topic", listener.local_addr().unwrap()),
        token: Some("tk_geheim".into()),
        allow_private: true,
        answer_time: Duration::from_secs(10),
    }
}

#[tokio::test]
async fn a_push_to_a_topic_has_the_title_and_opens_the_page_and_says_nothing_more() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let channel = Ntfy::new(&ntfy(&listener)).unwrap();
    let server = tokio::spawn(requested(listener, "200 OK"));
    channel.send(&notification()).await.unwrap();
    let request = server.await.unwrap();
    assert!(request.starts_with("POST /push/ HTTP/1.1\r\n"), "{request}");
    assert!(request.to_ascii_lowercase().contains("authorization: bearer tk_geheim"), "{request}");
    let body: serde_json::Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let expected = json!({
        "topic": "my-topic",
        "title": "Plan #1 waits for your decision",
        "message": "-rf \u{1b}]0;x",
        "click": "https://plans.example.org/p/1",
    });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn an_ntfy_server_that_fails_is_tried_again_and_one_that_refuses_is_not() {
    for (status, is_transient) in [("503 Unavailable", true), ("403 Forbidden", false), ("302 Found", false)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let channel = Ntfy::new(&ntfy(&listener)).unwrap();
        let server = tokio::spawn(requested(listener, status));
        let failed = channel.send(&notification()).await.unwrap_err();
        server.await.unwrap();
        assert_eq!(matches!(failed, ChannelError::Transient(_)), is_transient, "{status}: {failed}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let elsewhere = NtfyOptions { allow_private: false, ..ntfy(&listener) };
    let refused = Ntfy::new(&elsewhere).unwrap().send(&notification()).await.unwrap_err();
    assert!(refused.to_string().contains("notify.ntfy_private"), "{refused}");
    let without = NtfyOptions { url: "https://ntfy.sh/".to_owned(), ..elsewhere };
    assert!(Ntfy::new(&without).unwrap_err().contains("TOPIC"));
}

#[cfg(unix)]
#[tokio::test]
async fn the_desktop_is_told_by_its_program() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (program, output) = (folder.path().join("notify-send"), folder.path().join("told"));
    std::fs::write(&program, format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n", output.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let desktop = Desktop::with_program(program.to_string_lossy());
    desktop.send(&notification()).await.unwrap();
    let told = std::fs::read_to_string(output).unwrap();
    // What comes from a plan is never taken for an option.
    assert!(told.starts_with("--app-name=Planwright\n--\nPlan #1 waits for your decision\n"), "{told}");
}
