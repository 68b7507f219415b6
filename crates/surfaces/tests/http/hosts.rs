//! The names under which the server may be asked, and the web pages that may ask it.

use crate::client::Ask;
use crate::world::World;

/// A server with names of its own. `PORT` in the tables below is the port it listens on.
async fn world() -> World {
    World::with(|options| {
        options.hosts = vec!["plans.example.org".to_owned(), "gate.example.org:8443".to_owned()];
        options.origins = vec!["https://dash.example.org".to_owned()];
    })
    .await
}

impl World {
    fn filled(&self, text: &str) -> String {
        text.replace("PORT", &self.address.port().to_string())
    }
}

#[tokio::test]
async fn its_own_names_and_those_that_were_configured_are_answered() {
    let world = world().await;
    for host in [
        "localhost:PORT",
        "LocalHost:PORT",
        "127.0.0.1:PORT",
        "[::1]:PORT",
        "[0:0:0:0:0:0:0:1]:PORT",
        "plans.example.org",
        "PLANS.example.org",
        "plans.example.org:443",
        "plans.example.org:9999",
        "gate.example.org:8443",
    ] {
        let answer = world.send(Ask::new("GET /healthz").header("Host", &world.filled(host))).await;
        assert_eq!(answer.status, 200, "{host}: {answer:?}");
    }
}

#[tokio::test]
async fn every_other_name_is_refused_before_anything_else() {
    let world = world().await;
    for host in [
        "",
        "localhost",
        "127.0.0.1",
        "localhost:1",
        "localhost:",
        "localhost:0PORT",
        "localhost:+PORT",
        "localhost:PORT:PORT",
        "localhost:99999999",
        "localhost.:PORT",
        ".localhost:PORT",
        "localhost..:PORT",
        "localhost.evil.com:PORT",
        "evil.localhost:PORT",
        "evil.com",
        "evil.com:PORT",
        "127.0.0.1.nip.io:PORT",
        "127.0.0.1.:PORT",
        "127.0.0.2:PORT",
        "127.1:PORT",
        "0.0.0.0:PORT",
        "2130706433:PORT",
        "0x7f000001:PORT",
        "0177.0.0.1:PORT",
        "[::]:PORT",
        "[::ffff:127.0.0.1]:PORT",
        "[::1%25lo]:PORT",
        "[::1]PORT",
        "[::1",
        "::1",
        "[127.0.0.1]:PORT",
        "user@localhost:PORT",
        "localhost:PORT@evil.com",
        "localhost:PORT/",
        "localhost:PORT#",
        "localhost:PORT, evil.com",
        "localhost :PORT",
        "http://localhost:PORT",
        "plans.example.org.",
        "plans.example.org.evil.com",
        "xplans.example.org",
        "gate.example.org",
        "gate.example.org:443",
        "dash.example.org",
        "lоcalhost:PORT",
    ] {
        let host = world.filled(host);
        // Neither an open place nor the token helps.
        for ask in [Ask::new("GET /healthz"), Ask::new("GET /metrics").bearer(&world.token)] {
            let answer = world.send(ask.header("Host", &host)).await;
            answer.assert_problem(421, "POLICY_DENIED");
        }
    }
}

#[tokio::test]
async fn a_host_is_named_exactly_once() {
    let world = world().await;
    let own = world.address.to_string();
    world.send(Ask::new("GET /healthz")).await.assert_problem(421, "POLICY_DENIED");
    for second in [own.as_str(), "evil.com"] {
        let answer = world.send(Ask::new("GET /healthz").header("Host", &own).header("Host", second)).await;
        answer.assert_problem(421, "POLICY_DENIED");
    }
    let unreadable = Ask::new("GET /healthz").header_bytes("Host", b"local\xffhost");
    world.send(unreadable).await.assert_problem(421, "POLICY_DENIED");
}

#[tokio::test]
async fn a_host_in_the_target_is_checked_as_well() {
    let world = world().await;
    let own = world.address.to_string();
    let fine = Ask::new(&format!("GET http://{own}/healthz")).header("Host", &own);
    assert_eq!(world.send(fine).await.status, 200);
    for (target, host) in [
        ("http://evil.com/healthz", own.as_str()),
        ("http://user@127.0.0.1:PORT/healthz", own.as_str()),
        ("http://127.0.0.1.nip.io:PORT/healthz", own.as_str()),
        ("http://127.0.0.1:PORT/healthz", "evil.com"),
    ] {
        let answer = world.send(Ask::new(&format!("GET {}", world.filled(target))).header("Host", host)).await;
        answer.assert_problem(421, "POLICY_DENIED");
    }
}

#[tokio::test]
async fn its_own_pages_and_listed_ones_may_ask() {
    let world = world().await;
    for (origin, host) in [
        ("http://127.0.0.1:PORT", "127.0.0.1:PORT"),
        ("https://127.0.0.1:PORT", "127.0.0.1:PORT"),
        ("http://localhost:PORT", "127.0.0.1:PORT"),
        ("http://[::1]:PORT", "127.0.0.1:PORT"),
        ("HTTP://LOCALHOST:PORT", "127.0.0.1:PORT"),
        ("https://plans.example.org", "plans.example.org"),
        ("https://plans.example.org", "plans.example.org:443"),
        ("http://plans.example.org:9999", "plans.example.org:9999"),
        ("https://plans.example.org", "127.0.0.1:PORT"),
        ("https://gate.example.org:8443", "gate.example.org:8443"),
        ("https://dash.example.org", "127.0.0.1:PORT"),
        ("https://dash.example.org:443", "127.0.0.1:PORT"),
    ] {
        let (origin, host) = (world.filled(origin), world.filled(host));
        let ask = Ask::new("GET /metrics").header("Host", &host).header("Origin", &origin).bearer(&world.token);
        let answer = world.send(ask).await;
        assert_eq!(answer.status, 200, "{origin} at {host}: {answer:?}");
        assert!(!answer.names().any(|name| name.starts_with("access-control-")), "{answer:?}");
    }
}

#[tokio::test]
async fn pages_of_others_may_not_ask_even_with_the_token() {
    let world = world().await;
    for (origin, host) in [
        ("null", "127.0.0.1:PORT"),
        ("", "127.0.0.1:PORT"),
        ("http://evil.com", "127.0.0.1:PORT"),
        ("http://evil.com:PORT", "127.0.0.1:PORT"),
        ("http://localhost", "127.0.0.1:PORT"),
        ("http://localhost:1", "127.0.0.1:PORT"),
        ("http://localhost:PORT.evil.com", "127.0.0.1:PORT"),
        ("http://localhost.evil.com:PORT", "127.0.0.1:PORT"),
        ("http://localhost.:PORT", "127.0.0.1:PORT"),
        ("http://127.0.0.1.nip.io:PORT", "127.0.0.1:PORT"),
        ("http://user@127.0.0.1:PORT", "127.0.0.1:PORT"),
        ("http://127.0.0.1:PORT/", "127.0.0.1:PORT"),
        ("http://127.0.0.1:PORT http://evil.com", "127.0.0.1:PORT"),
        ("http://127.0.0.1:PORT, http://evil.com", "127.0.0.1:PORT"),
        ("http:127.0.0.1:PORT", "127.0.0.1:PORT"),
        ("//127.0.0.1:PORT", "127.0.0.1:PORT"),
        ("127.0.0.1:PORT", "127.0.0.1:PORT"),
        ("file://", "127.0.0.1:PORT"),
        ("ftp://127.0.0.1:PORT", "127.0.0.1:PORT"),
        ("chrome-extension://abcdefgh", "127.0.0.1:PORT"),
        // A program on another port of the same machine is another origin.
        ("https://plans.example.org:9999", "plans.example.org"),
        ("https://plans.example.org:9999", "127.0.0.1:PORT"),
        ("http://dash.example.org", "127.0.0.1:PORT"),
        ("https://dash.example.org:8443", "127.0.0.1:PORT"),
        ("https://gate.example.org", "gate.example.org:8443"),
    ] {
        let (origin, host) = (world.filled(origin), world.filled(host));
        // Open places are shut as well.
        for ask in [Ask::new("GET /metrics"), Ask::new("GET /"), Ask::new("POST /api/login")] {
            let ask = ask.header("Host", &host).header("Origin", &origin).bearer(&world.token);
            let answer = world.send(ask).await;
            assert_eq!(answer.status, 403, "{origin:?} at {host}: {answer:?}");
            answer.assert_problem(403, "POLICY_DENIED");
        }
    }
    let twice = world.allowed("GET /metrics");
    let own = format!("http://{}", world.address);
    world.send(twice.header("Origin", &own).header("Origin", &own)).await.assert_problem(403, "POLICY_DENIED");
}

#[tokio::test]
async fn no_answer_permits_other_origins() {
    let world = world().await;
    let preflight = |ask: Ask| ask.header("Access-Control-Request-Method", "POST");
    let foreign = preflight(world.ask("OPTIONS /metrics")).header("Origin", "https://evil.com");
    world.send(foreign).await.assert_problem(403, "POLICY_DENIED");
    let own = preflight(world.allowed("OPTIONS /metrics")).header("Origin", "https://dash.example.org");
    let answer = world.send(own).await;
    answer.assert_problem(405, "INVALID_ARGUMENT");
    assert_eq!(answer.header("allow"), Some("GET,HEAD"));
    assert!(!answer.names().any(|name| name.starts_with("access-control-")), "{answer:?}");
}
