//! Signing in with a browser: the cookie, and what may be done with it.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use planwright_surfaces::http::Token;
use tokio::time::timeout;

use crate::client::next;
use crate::world::{TIMEOUT, World};

/// A cookie as a server with this token makes it.
fn forged(world: &World, token: &str, text: &str) -> String {
    let key = Sha256::new().chain_update(b"planwright cookie 2\0").chain_update(token).finalize();
    let seal = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    let seal = seal.chain_update(text).chain_update(b"\0").chain_update(world.address.to_string());
    let seal: String = seal.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}={text}.{seal}", name(world))
}

fn name(world: &World) -> String {
    format!("planwright_{}", world.address.port())
}

const FAR: &str = "99999999999";

#[tokio::test]
async fn the_token_is_exchanged_for_a_cookie_that_scripts_and_other_sites_cannot_read() {
    let world = World::new().await;
    let ask = world.ask("POST /api/login").json(&format!(r#"{{"token":"{}"}}"#, world.token));
    let answer = world.send(ask).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["signedIn"], true);
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with(&format!("{}=2.", name(&world))), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000"), "{cookie}");
    assert!(!cookie.contains(&world.token));

    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(world.send(world.ask("GET /metrics").cookie(cookie)).await.status, 200);
    let among_others = format!("a=b; {cookie}; {}=old", name(&world));
    assert_eq!(world.send(world.ask("GET /metrics").cookie(&among_others)).await.status, 200);
    assert_ne!(world.cookie().await, cookie, "no two are the same");
}

#[tokio::test]
async fn the_link_of_the_start_signs_one_browser_in_as_the_token_does() {
    let world = World::new().await;
    let body = format!(r#"{{"link":"{}"}}"#, world.start_link);
    let answer = world.send(world.ask("POST /api/login/link").json(&body)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let cookies: Vec<_> = answer.all("set-cookie").collect();
    let [cookie] = cookies[..] else { panic!("{cookies:?}") };
    // It is not the cookie that a person is recognised by: an agent may have read the screen.
    assert!(cookie.starts_with(&format!("{}=2.", name(&world))), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(world.send(world.ask("GET /metrics").cookie(cookie)).await.status, 200);
    // It worked once.
    world.send(world.ask("POST /api/login/link").json(&body)).await.assert_problem(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn over_https_the_cookie_is_secure() {
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

    let page = world.send(world.ask("GET /start").cookie(&cookie)).await;
    assert!(page.body.contains("You are signed in"), "{page:?}");
    let left = world.send(world.ask("POST /api/logout").header("Origin", &origin).cookie(&cookie).form("")).await;
    assert_eq!((left.status, left.header("location")), (303, Some("/")), "{left:?}");
    assert!(left.header("set-cookie").unwrap().contains(&format!("{}=; ", name(&world))), "{left:?}");
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
async fn a_forged_cookie_is_refused() {
    let world = World::new().await;
    let real = world.cookie().await;
    let (text, seal) = real.rsplit_once('.').unwrap();
    let ends = text.split('.').nth(1).unwrap();
    for cookie in [
        format!("{}=", name(&world)),
        format!("{}=1", name(&world)),
        format!("{}=...", name(&world)),
        text.to_owned(),
        format!("{text}."),
        format!("{text}.{}", "0".repeat(64)),
        format!("{text}.{}", &seal[..62]),
        format!("{text}.{seal}00"),
        format!("{}.{seal}", text.replacen(ends, FAR, 1)),
        format!("{}.{seal}", text.replacen("=2.", "=1.", 1)),
        real.replacen("planwright", "Planwright", 1),
        real.replacen("planwright", "xplanwright", 1),
        forged(&world, "another token", &format!("2.{FAR}.00")),
        forged(&world, "", &format!("2.{FAR}.00")),
        // The seal of these is valid, and the text is not.
        forged(&world, &world.token, "2.1000000000.00"),
        forged(&world, &world.token, "2.-5.00"),
        forged(&world, &world.token, "2"),
        forged(&world, &world.token, ""),
        forged(&world, &world.token, &format!("1.{FAR}.00")),
        forged(&world, &world.token, FAR),
    ] {
        let answer = world.send(world.ask("GET /metrics").cookie(&cookie)).await;
        assert_eq!(answer.status, 401, "{cookie}: {answer:?}");
    }
    // The cases above would prove nothing if no forged cookie were valid.
    let good = forged(&world, &world.token, &format!("2.{FAR}.00"));
    assert_eq!(world.send(world.ask("GET /metrics").cookie(&good)).await.status, 200);
}

#[tokio::test]
async fn with_the_cookie_changes_and_websockets_need_our_own_origin() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    let own = format!("http://{}", world.address);
    let change = || world.ask("POST /api/logout").cookie(&cookie);
    world.send(change()).await.assert_problem(403, "POLICY_DENIED");
    world.send(change().header("Origin", "null")).await.assert_problem(403, "POLICY_DENIED");
    world.send(change().header("Origin", "https://evil.com")).await.assert_problem(403, "POLICY_DENIED");

    let upgrade = || {
        let ask = world.ask("GET /ws").header("Upgrade", "websocket").header("Sec-WebSocket-Version", "13");
        ask.header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==").cookie(&cookie)
    };
    world.send(upgrade()).await.assert_problem(403, "POLICY_DENIED");
    world.send(upgrade().header("Origin", "https://evil.com")).await.assert_problem(403, "POLICY_DENIED");
    assert_eq!(world.send(change().header("Origin", &own)).await.status, 200);
    // Programs send the token themselves and need no origin.
    assert_eq!(world.send(world.allowed("POST /api/logout")).await.status, 200);
}

#[tokio::test]
async fn a_cookie_does_not_make_up_for_a_wrong_token() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    let ask = world.ask("GET /metrics").cookie(&cookie).bearer("wrong");
    world.send(ask).await.assert_problem(401, "UNAUTHENTICATED");
}

impl World {
    async fn sign_out(&self, cookie: &str) {
        let origin = format!("http://{}", self.address);
        let answer = self.send(self.ask("POST /api/logout").header("Origin", &origin).cookie(cookie)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    async fn status_with(&self, cookie: &str) -> u16 {
        self.send(self.ask("GET /metrics").cookie(cookie)).await.status
    }
}

/// A browser sends its cookies to every port of a host.
#[tokio::test]
async fn a_cookie_of_one_port_is_refused_at_another() {
    let token = || Token::Given("a-token-of-both".into());
    let one = World::with(|options| options.token = token()).await;
    let other = World::with(|options| options.token = token()).await;
    let cookie = one.cookie().await;
    assert_eq!(one.status_with(&cookie).await, 200);
    assert_eq!(other.status_with(&cookie).await, 401);
    let renamed = cookie.replacen(&name(&one), &name(&other), 1);
    assert_eq!(other.status_with(&renamed).await, 401, "the seal covers the port");
    // A browser that is signed in at both keeps both cookies.
    let both = format!("{cookie}; {}", other.cookie().await);
    assert_eq!((one.status_with(&both).await, other.status_with(&both).await), (200, 200));
}

#[tokio::test]
async fn after_a_sign_out_the_cookie_is_refused() {
    let world = World::new().await;
    let (cookie, another) = (world.cookie().await, world.cookie().await);
    assert_eq!(world.status_with(&cookie).await, 200);
    world.sign_out(&cookie).await;
    assert_eq!(world.status_with(&cookie).await, 401);
    assert_eq!(world.status_with(&another).await, 200, "other browsers stay signed in");
    let page = world.send(world.ask("GET /start").cookie(&cookie)).await;
    assert!(!page.body.contains("You are signed in"), "{page:?}");
}

/// Two servers of one machine share the data folder; so does a server with the one before it.
#[tokio::test]
async fn a_sign_out_holds_for_every_server_of_the_data_folder() {
    let token = || Token::Given("a-token-of-both".into());
    let hosts = || vec!["plans.example.org".to_owned()];
    let one = World::with(|options| {
        options.token = token();
        options.hosts = hosts();
    })
    .await;
    let start = || {
        World::with(|options| {
            options.token = token();
            options.hosts = hosts();
            options.revoked_cookies = Some(one.revoked_cookies_file());
        })
    };
    let running = start().await;
    let named = |what: &str| crate::client::Ask::new(what).header("Host", "plans.example.org");
    let login = named("POST /api/login").json(r#"{"token":"a-token-of-both"}"#);
    let answer = one.send(login).await;
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let look = || named("GET /metrics").cookie(&cookie);
    assert_eq!(running.send(look()).await.status, 200);

    let out = named("POST /api/logout").header("Origin", "http://plans.example.org").cookie(&cookie);
    assert_eq!(one.send(out).await.status, 200);
    let noticed = async { while running.send(look()).await.status != 401 {} };
    timeout(TIMEOUT, noticed).await.expect("the other server notices");
    let restarted = start().await;
    assert_eq!(restarted.send(look()).await.status, 401);
}

#[tokio::test]
async fn a_sign_out_ends_open_websockets_of_the_cookie() {
    let world = World::new().await;
    let cookie = world.cookie().await;
    let origin = format!("http://{}", world.address);
    let upgrade = world.ask("GET /ws").header("Connection", "Upgrade").header("Upgrade", "websocket");
    let upgrade = upgrade.header("Sec-WebSocket-Version", "13").header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    let mut stream = world.connect().await;
    crate::client::write(&mut stream, &upgrade.header("Origin", &origin).cookie(&cookie).bytes()).await;
    assert_eq!(next(&mut stream).await.status, 101);
    world.sign_out(&cookie).await;
    let mut bytes = Vec::new();
    let ended = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut bytes);
    let _ = timeout(TIMEOUT, ended).await.expect("the server closes it");
    assert!(bytes.starts_with(&[0x88]), "a close frame: {bytes:?}");
}
