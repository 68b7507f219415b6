//! The channels themselves.

use planwright_notify::channels::{ChannelError, Desktop, Email, Notification, NotifiedEvent, NotifyChannel as _};
use planwright_notify::notice::NoticeKind;
use planwright_notify::options::EmailOptions;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

fn notification() -> Notification {
    let event = NotifiedEvent {
        id: "plan-1".to_owned(),
        kind: NoticeKind::Waits,
        what: "Plan #1 waits for your decision".to_owned(),
        title: "-rf \u{1b}]0;x".to_owned(),
        session: "web:k3yk3y8x".to_owned(),
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
