//! A token that is replaced while the server runs.

use planwright_surfaces::http::Token;
use secrecy::ExposeSecret;
use tokio::time::timeout;

use crate::client::Ask;
use crate::world::{TIMEOUT, World};

impl World {
    fn rotate(&self) -> String {
        Token::File(self.token_file()).rotate().unwrap().expose_secret().to_owned()
    }

    /// Asks until this token is answered like this.
    async fn until(&self, token: &str, status: u16) {
        let asking = async { while self.send(self.ask("GET /metrics").bearer(token)).await.status != status {} };
        timeout(TIMEOUT, asking).await.unwrap_or_else(|_| panic!("it is never answered with {status}"));
    }
}

async fn world() -> World {
    World::limited(|limits| {
        limits.wrong_tokens_per_minute = 0;
        limits.requests_per_second = 0;
        limits.refused_per_second = 0;
    })
    .await
}

#[tokio::test]
async fn a_new_token_counts_at_once_and_the_old_one_no_more() {
    let world = world().await;
    let cookie = world.cookie().await;
    let new = world.rotate();
    assert_ne!(new, world.token);
    assert_eq!(world.send(world.ask("GET /metrics").bearer(&new)).await.status, 200);
    world.send(world.allowed("GET /metrics")).await.assert_problem(401, "UNAUTHENTICATED");
    world.send(world.ask("GET /metrics").cookie(&cookie)).await.assert_problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_new_token_is_noticed_before_a_client_sends_it() {
    let world = world().await;
    let cookie = world.cookie().await;
    world.rotate();
    let asking = async { while world.send(world.ask("GET /metrics").cookie(&cookie)).await.status != 401 {} };
    timeout(TIMEOUT, asking).await.expect("the old cookie ends");
    world.send(world.allowed("GET /metrics")).await.assert_problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn without_a_token_every_request_is_refused() {
    let world = world().await;
    let kept = std::fs::read(world.token_file()).unwrap();
    std::fs::remove_file(world.token_file()).unwrap();
    world.until(&world.token, 401).await;
    for nothing in ["", "null"] {
        assert_eq!(world.send(world.ask("GET /metrics").bearer(nothing)).await.status, 401);
    }
    assert!(!world.token_file().exists(), "a server that runs makes no token");
    // An empty file is no token, and neither is something that cannot be one.
    for content in [b"".as_slice(), b"\n", b"two words", b"\xff\xfe"] {
        std::fs::write(world.token_file(), content).unwrap();
        assert_eq!(world.send(world.allowed("GET /metrics")).await.status, 401);
    }
    std::fs::write(world.token_file(), kept).unwrap();
    world.until(&world.token, 200).await;
}

/// Behind one public name, any of the servers may get the next request of a browser.
#[tokio::test]
async fn two_servers_behind_one_name_accept_each_others_cookies() {
    let token = "a-token-of-both";
    let start = || {
        World::with(|options| {
            options.token = Token::Given(token.into());
            options.hosts = vec!["plans.example.org".to_owned()];
        })
    };
    let (one, other) = (start().await, start().await);
    let named = |what: &str| Ask::new(what).header("Host", "plans.example.org");
    let answer = one.send(named("POST /api/login").json(&format!(r#"{{"token":"{token}"}}"#))).await;
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert!(cookie.starts_with("planwright=2."), "{cookie}");
    assert_eq!(other.send(named("GET /metrics").cookie(&cookie)).await.status, 200);
}
