//! Signing in with a browser: the cookie, and what may be done with it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::world::World;

/// A cookie as a server with this token makes it.
fn forged(token: &str, text: &str) -> String {
    let key = Sha256::new().chain_update(b"planwright cookie 1\0").chain_update(token).finalize();
    let seal = Hmac::<Sha256>::new_from_slice(&key).unwrap().chain_update(text).finalize().into_bytes();
    let seal: String = seal.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("planwright={text}.{seal}")
}

const FAR: &str = "99999999999";

#[tokio::test]
async fn the_token_is_exchanged_for_a_cookie_that_scripts_and_other_sites_do_not_get() {
    let world = World::new().await;
    let ask = world.ask("POST /api/login").json(&format!(r#"{{"token":"{}"}}"#, world.token));
    let answer = world.send(ask).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["signedIn"], true);
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("planwright=1."), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000"), "{cookie}");
    assert!(!cookie.contains(&world.token));

    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(world.send(world.ask("GET /metrics").cookie(cookie)).await.status, 200);
    let among_others = format!("a=b; {cookie}; planwright=old");
    assert_eq!(world.send(world.ask("GET /metrics").cookie(&among_others)).await.status, 200);
    assert_ne!(world.cookie().await, cookie, "no two are the same");
}

#[tokio::test]
async fn over_https_the_cookie_stays_there() {
    let world = World::with(|options| options.hosts = vec!["plans.example.org".to_owned()]).await;
    let body = format!(r#"{{"token":"{}"}}"#, world.token);
    let ask = world.ask("POST /api/login").header("Origin", "https://plans.example.org").json(&body);
    let answer = world.send(ask).await;
    assert!(answer.header("set-cookie").unwrap().ends_with("; Secure"), "{answer:?}");
}

#[tokio::test]
async fn a_form_signs_in_without_a_script() {
    let world = World::new().await;
    let origin = format!("http://{}", world.address);
    let ask = world.ask("POST /api/login").header("Origin", &origin).form(&format!("token={}", world.token));
    let answer = world.send(ask).await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{answer:?}");
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();

    let page = world.send(world.ask("GET /").cookie(&cookie)).await;
    assert!(page.body.contains("You are signed in"), "{page:?}");
    let left = world.send(world.ask("POST /api/logout").header("Origin", &origin).cookie(&cookie).form("")).await;
    assert_eq!((left.status, left.header("location")), (303, Some("/")), "{left:?}");
    assert!(left.header("set-cookie").unwrap().contains("planwright=; "), "{left:?}");
    assert!(left.header("set-cookie").unwrap().contains("Max-Age=0"), "{left:?}");

    let refused = world.send(world.ask("POST /api/login").form("token=%3Cb%3Ewrong")).await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(refused.body.contains("this is not the token") && refused.body.contains("<form"), "{refused:?}");
    assert!(!refused.body.contains("wrong"), "what was typed is not shown again");
    assert!(refused.header("set-cookie").is_none());
}

#[tokio::test]
async fn a_wrong_login_is_a_problem() {
    let world = World::new().await;
    let login = || world.ask("POST /api/login");
    world.send(login().json(r#"{"token":"wrong"}"#)).await.assert_problem(401, "UNAUTHENTICATED");
    world.send(login().json(r#"{"token":""}"#)).await.assert_problem(401, "UNAUTHENTICATED");
    world.send(login()).await.assert_problem(400, "INVALID_ARGUMENT");
    world.send(login().json(r#"{"tokens":1}"#)).await.assert_problem(400, "INVALID_ARGUMENT");
    // The token in the header is not a login.
    world.send(login().bearer(&world.token)).await.assert_problem(400, "INVALID_ARGUMENT");
    let plain = login().header("Content-Type", "text/plain").body(b"token");
    world.send(plain).await.assert_problem(415, "INVALID_ARGUMENT");
}

#[tokio::test]
async fn a_cookie_that_nobody_gave_out_is_worth_nothing() {
    let world = World::new().await;
    let real = world.cookie().await;
    let (text, seal) = real.rsplit_once('.').unwrap();
    let ends = text.split('.').nth(1).unwrap();
    for cookie in [
        "planwright=".to_owned(),
        "planwright=1".to_owned(),
        "planwright=...".to_owned(),
        text.to_owned(),
        format!("{text}."),
        format!("{text}.{}", "0".repeat(64)),
        format!("{text}.{}", &seal[..62]),
        format!("{text}.{seal}00"),
        format!("{}.{seal}", text.replacen(ends, FAR, 1)),
        format!("{}.{seal}", text.replacen("=1.", "=2.", 1)),
        real.replacen("planwright", "Planwright", 1),
        real.replacen("planwright", "xplanwright", 1),
        forged("another token", &format!("1.{FAR}.00")),
        forged("", &format!("1.{FAR}.00")),
        // These are sealed rightly, and say something else.
        forged(&world.token, "1.1000000000.00"),
        forged(&world.token, "1.-5.00"),
        forged(&world.token, "1"),
        forged(&world.token, ""),
        forged(&world.token, &format!("2.{FAR}.00")),
        forged(&world.token, FAR),
    ] {
        let answer = world.send(world.ask("GET /metrics").cookie(&cookie)).await;
        assert_eq!(answer.status, 401, "{cookie}: {answer:?}");
    }
    // The table would prove nothing if no cookie of this making were good.
    let good = forged(&world.token, &format!("1.{FAR}.00"));
    assert_eq!(world.send(world.ask("GET /metrics").cookie(&good)).await.status, 200);
}

#[tokio::test]
async fn with_the_cookie_changes_and_websockets_have_to_come_from_our_own_page() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    let own = format!("http://{}", world.address);
    let change = || world.ask("POST /api/logout").cookie(&cookie);
    world.send(change()).await.assert_problem(403, "POLICY_DENIED");
    world.send(change().header("Origin", "null")).await.assert_problem(403, "POLICY_DENIED");
    world.send(change().header("Origin", "https://evil.com")).await.assert_problem(403, "POLICY_DENIED");
    assert_eq!(world.send(change().header("Origin", &own)).await.status, 200);

    let upgrade = || {
        let ask = world.ask("GET /ws").header("Upgrade", "websocket").header("Sec-WebSocket-Version", "13");
        ask.header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==").cookie(&cookie)
    };
    world.send(upgrade()).await.assert_problem(403, "POLICY_DENIED");
    world.send(upgrade().header("Origin", "https://evil.com")).await.assert_problem(403, "POLICY_DENIED");
    // Programs send the token themselves and need no page.
    assert_eq!(world.send(world.allowed("POST /api/logout")).await.status, 200);
}

#[tokio::test]
async fn a_wrong_token_is_not_made_good_by_a_cookie() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    let ask = world.ask("GET /metrics").cookie(&cookie).bearer("wrong");
    world.send(ask).await.assert_problem(401, "UNAUTHENTICATED");
}
