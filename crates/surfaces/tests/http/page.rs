//! The start page and what a browser may do with answers.

use planwright_core::actor::Actor;

use crate::store::HOSTILE_TITLE;
use crate::world::World;

#[tokio::test]
async fn the_page_runs_nothing_but_its_own_files() {
    let world = World::new().await;
    let answer = world.send(world.ask("GET /start")).await;
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = answer.header("content-security-policy").unwrap();
    for rule in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.split("; ").any(|one| one == rule), "{rule} is missing in {policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    for inline in ["<style", "style=", "onclick", "onload", "javascript:", "<script>"] {
        assert!(!answer.body.contains(inline), "{inline} does not work under that policy");
    }
    // A browser that sends no referrer sends no origin with a form either, and the form could not sign in.
    assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
    assert!(answer.body.contains(env!("CARGO_PKG_VERSION")));
    assert!(!answer.body.contains("{{"), "{}", answer.body);
    for (path, kind) in [
        ("/start.js", "text/javascript; charset=utf-8"),
        ("/start.css", "text/css; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        assert!(answer.body.contains(&format!("\"{path}\"")), "{path} is not used");
        assert_eq!(world.send(world.ask(&format!("GET {path}"))).await.header("content-type"), Some(kind));
    }
}

#[tokio::test]
async fn nothing_of_an_answer_is_kept_or_guessed_at() {
    let world = World::new().await;
    for ask in [
        world.ask("GET /"),
        world.ask("GET /start"),
        world.ask("GET /s/k3yk3y8x"),
        world.ask("GET /p/019ca6b1/run/1"),
        world.ask("GET /assets/nothing.js"),
        world.ask("GET /healthz"),
        world.ask("GET /metrics"),
        world.allowed("GET /metrics"),
        world.allowed("GET /nothing"),
        world.allowed("POST /metrics"),
        world.ask("POST /api/login").json("{"),
        world.ask("GET /").header("Host", "evil.com"),
    ] {
        let told = format!("{ask:?}");
        let answer = world.send(ask).await;
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{told}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{told}");
        assert!(answer.header("referrer-policy").is_some(), "{told}");
        assert!(answer.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"), "{told}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{told}");
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"), "{told}");
        assert!(answer.header("server").is_none(), "{told}");
    }
}

#[tokio::test]
async fn the_list_is_for_signed_in_clients_and_is_only_text() {
    let mut engine = None;
    let world = World::with(|options| engine = Some(options.agent.engine().clone())).await;
    let session = "web:k3yk3y8x".parse().unwrap();
    engine.unwrap().sessions().open(&session, &Actor::person("ada", "web")).await.unwrap();

    let stranger = world.send(world.ask("GET /start")).await;
    assert!(stranger.body.contains("<h2>Sign in</h2>") && !stranger.body.contains("k3yk3y8x"), "{}", stranger.body);
    let cookie = world.cookie().await;
    let owner = world.send(world.ask("GET /start").cookie(&cookie)).await;
    assert!(owner.body.contains("You are signed in") && owner.body.contains("web:k3yk3y8x"), "{}", owner.body);
    let escaped = "Plan 1: &lt;script src=&quot;/start.js&quot;&gt;&#39;&amp;";
    assert!(owner.body.contains(escaped) && !owner.body.contains(HOSTILE_TITLE), "{}", owner.body);
    assert!(!owner.body.contains(&world.token));
    assert!(!owner.body.contains("{{"), "{}", owner.body);
    world.control.refuse();
    let without = world.send(world.ask("GET /start").cookie(&cookie)).await;
    assert_eq!(without.status, 200);
    assert!(without.body.contains("The store does not answer."), "{}", without.body);
}
