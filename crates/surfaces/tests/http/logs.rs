//! What is logged of requests, and what is not.

use std::io;
use std::sync::{Arc, LazyLock, Mutex};

use planwright_core::actor::Actor;
use planwright_core::command::{Command, SessionCommand};
use planwright_core::ids::RequestId;
use planwright_core::plan::PlanStyle;
use planwright_core::session::SessionIdentity;
use planwright_engine::submitter::SubmitRequest;
use planwright_test_support::agent::AgentSetup;
use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

use crate::world::World;

#[derive(Debug, Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// The log of every test of this process: the first event of a callsite decides for all threads whether it is logged.
pub(crate) fn log() -> Log {
    static LOG: LazyLock<Log> = LazyLock::new(|| {
        let log = Log::default();
        let json = tracing_subscriber::fmt().json().with_max_level(tracing::Level::TRACE);
        tracing::subscriber::set_global_default(json.with_writer(log.clone()).finish()).unwrap();
        log
    });
    LOG.clone()
}

#[tokio::test]
async fn requests_are_logged_without_anything_secret() {
    let log = log();
    let world = World::new().await;
    let cookie = world.cookie().await;
    let secret = "s3cr3t-words";
    let asks = [
        world.allowed(&format!("GET /metrics?q={secret}")),
        world.allowed(&format!("GET /{secret}")),
        world.ask("GET /metrics").bearer(secret),
        world.ask("GET /metrics").cookie(&cookie),
        world.ask("POST /api/login").json(&format!(r#"{{"token":"{secret}"}}"#)),
        world.ask("POST /api/login").json(&format!(r#"{{"{secret}":1}}"#)),
        world.ask("POST /api/login").form(&format!("token={secret}")),
        world.ask("GET /healthz").header("Host", secret),
        world.ask("GET /healthz").header("Origin", secret),
    ];
    let mut answers = Vec::new();
    for ask in asks {
        answers.push(world.send(ask).await);
    }
    std::fs::write(world.token_file(), format!("{secret} and more")).unwrap();
    answers.push(world.send(world.ask("GET /metrics").bearer("wrong")).await);

    let text = log.text();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for answer in &answers {
        let about = lines.iter().filter(|line| line["span"]["request_id"] == answer.header("x-request-id").unwrap());
        let requests: Vec<_> = about.filter(|line| line["fields"]["event"] == "http_request").collect();
        assert_eq!(requests.len(), 1, "{answer:?}: {requests:?}");
        let fields = &requests[0]["fields"];
        assert_eq!(fields["status"], answer.status, "{fields}");
        assert!(fields["method"].is_string() && fields["route"].is_string(), "{fields}");
        assert!(fields["milliseconds"].is_f64(), "{fields}");
    }
    assert!(lines.iter().any(|line| line["fields"]["event"] == "token_unreadable"), "{text}");

    let value = cookie.split_once('=').unwrap().1;
    for secret in [secret, &world.token, value] {
        let told: Vec<_> = text.lines().filter(|line| line.contains(secret)).collect();
        assert!(told.is_empty(), "{told:?}");
    }
}

#[tokio::test]
async fn a_request_that_is_sent_again_is_logged_once() {
    let log = log();
    let (folder, ada) = (tempfile::tempdir().unwrap(), Actor::person("ada", "web"));
    let session: SessionIdentity = "web:sent-twice".parse().unwrap();
    let setup = AgentSetup::new(folder.path());
    let engine = setup.engine(setup.ledger().await);
    engine.sessions().open(&session, &ada).await.unwrap();
    for _ in 0..2 {
        let style = PlanStyle::Document;
        let enable = Command::Session(SessionCommand::EnablePlanMode { style, parked: None });
        let id = RequestId::new("sent-again").unwrap();
        let request = SubmitRequest { id, ..engine.submitter().request(&session, &ada) };
        engine.submitter().submit_as(request, enable).await.unwrap();
    }
    let is_it = |line: &&str| {
        ["\"INFO\"", "web:sent-twice", "\"plan_mode_enabled\""].iter().all(|expected| line.contains(expected))
    };
    assert_eq!(log.text().lines().filter(is_it).count(), 1);
}
