//! The browsers that are signed in, and signing one of them out.

use planwright_agent::Agent;
use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Require};
use planwright_core::presence::AgentClient;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use serde_json::Value;
use tokio::time::timeout;

use crate::client::{Answer, Ask, next, write};
use crate::push::subscription;
use crate::world::{TIMEOUT, World};

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0";

impl World {
    async fn clients(&self, ask: Ask) -> Vec<Value> {
        let answer = self.send(ask).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["clients"].as_array().unwrap().clone()
    }

    async fn end(&self, id: &str) -> Answer {
        self.send(self.allowed(&format!("DELETE /api/clients/{id}"))).await
    }
}

/// An agent is seen in the session `mcp:k3yk3y8x`, and what people do takes a person who is none.
pub(crate) async fn ask_for_a_person(engine: &Engine) {
    let (ada, session) = (Actor::person("ada", "cli"), "mcp:k3yk3y8x".parse::<SessionIdentity>().unwrap());
    engine.sessions().open(&session, &ada).await.unwrap();
    let program = AgentClient {
        machine: "here/pid:[1]".to_owned(),
        name: "codex".to_owned(),
        processes: Vec::new(),
        terminal: None,
        place: None,
        session: None,
        group: None,
        since: None,
        beats: false,
    };
    engine.sessions().see_client(&session, &Actor::system("mcp"), program).await.unwrap();
    engine.approvals().set_policy(&ada, &ApprovalPolicy::requiring(Require::Separate), None).await.unwrap();
    engine.approvals().policy().await.unwrap();
}

/// The cookies of a browser that was signed in with a link of `planwright dashboard`.
async fn signed_in_with_link(world: &World, engine: &Engine) -> String {
    let link = engine.approvals().make_link(&Actor::person("ada", "cli")).await.unwrap();
    let answer = world.send(world.ask("POST /api/login/link").json(&format!(r#"{{"link":"{}"}}"#, link.secret))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.all("set-cookie").map(|cookie| cookie.split(';').next().unwrap()).collect::<Vec<_>>().join("; ")
}

fn list(world: &World, cookie: &str) -> Ask {
    world.ask("GET /api/clients").header("User-Agent", FIREFOX).cookie(cookie)
}

#[tokio::test]
async fn a_browser_is_listed_once_it_is_seen_and_can_be_signed_out() {
    let world = World::new().await;
    let (one, other) = (world.cookie().await, world.cookie().await);
    assert_eq!(world.clients(world.allowed("GET /api/clients")).await, Vec::<Value>::new(), "programs are not listed");
    let seen = world.clients(list(&world, &one)).await;
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(
        (&seen[0]["kind"], &seen[0]["name"], &seen[0]["current"]),
        (&"browser".into(), &"Firefox on Linux".into(), &true.into())
    );
    assert!(!one.contains(seen[0]["id"].as_str().unwrap()), "it does not tell the cookie");
    let clients = world.clients(list(&world, &other)).await;
    assert_eq!(clients.len(), 2);
    let of_one = clients.iter().find(|client| client["current"] == false).unwrap();
    assert_eq!(of_one["id"], seen[0]["id"]);
    let created: jiff::Timestamp = of_one["createdAt"].as_str().unwrap().parse().unwrap();
    let last_seen: jiff::Timestamp = of_one["lastSeenAt"].as_str().unwrap().parse().unwrap();
    assert!(created <= last_seen, "{of_one}");

    // A WebSocket of the browser ends with its cookie.
    let upgrade = world.ask("GET /ws").header("Connection", "Upgrade").header("Upgrade", "websocket");
    let upgrade = upgrade.header("Sec-WebSocket-Version", "13").header("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    let upgrade = upgrade.header("Origin", &format!("http://{}", world.address)).cookie(&one);
    let mut stream = world.connect().await;
    write(&mut stream, &upgrade.bytes()).await;
    assert_eq!(next(&mut stream).await.status, 101);

    let id = of_one["id"].as_str().unwrap();
    assert_eq!(world.end(id).await.status, 204);
    let mut bytes = Vec::new();
    let closed = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut bytes);
    let _ = timeout(TIMEOUT, closed).await.expect("the server closes the WebSocket");
    world.send(list(&world, &one)).await.assert_problem(401, "UNAUTHENTICATED");
    assert_eq!(world.clients(list(&world, &other)).await.len(), 1);
    world.end(id).await.assert_problem(404, "NOT_FOUND");
    world.end("no-such-browser").await.assert_problem(404, "NOT_FOUND");
    // With a cookie this needs our own page, like every change.
    let foreign = world.ask(&format!("DELETE /api/clients/{id}")).cookie(&other);
    world.send(foreign).await.assert_problem(403, "POLICY_DENIED");
}

#[tokio::test]
async fn the_list_outlives_the_server_and_ends_with_the_token() {
    let token = || planwright_surfaces::http::Token::Given("a-token-of-both".into());
    let hosts = || vec!["plans.example.org".to_owned()];
    let one = World::with(|options| (options.token, options.hosts) = (token(), hosts())).await;
    let named = |what: &str| Ask::new(what).header("Host", "plans.example.org");
    let answer = one.send(named("POST /api/login").json(r#"{"token":"a-token-of-both"}"#)).await;
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(one.clients(named("GET /api/clients").cookie(&cookie)).await.len(), 1);
    let file = one.revoked_cookies_file().with_file_name("browsers");
    let written = async {
        while !file.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    timeout(TIMEOUT, written).await.expect("the list is written");
    let text = std::fs::read_to_string(&file).unwrap();
    let seal = cookie.rsplit('.').next().unwrap();
    assert!(!text.contains(seal) && !text.contains("a-token-of-both"), "{text}");

    let start = |given: &'static str| {
        World::with(|options| {
            (options.token, options.hosts) = (planwright_surfaces::http::Token::Given(given.into()), hosts());
            options.revoked_cookies = Some(one.revoked_cookies_file());
        })
    };
    let other = start("a-token-of-both").await;
    let listed = other.clients(named("GET /api/clients").bearer("a-token-of-both")).await;
    assert_eq!(listed.len(), 1);
    // Signed out at one server, it is signed out at both.
    assert_eq!(
        other
            .send(
                named(&format!("DELETE /api/clients/{}", listed[0]["id"].as_str().unwrap())).bearer("a-token-of-both")
            )
            .await
            .status,
        204
    );
    let noticed = async { while one.send(named("GET /api/clients").cookie(&cookie)).await.status != 401 {} };
    timeout(TIMEOUT, noticed).await.expect("the other server notices");

    let again = one.send(named("POST /api/login").json(r#"{"token":"a-token-of-both"}"#)).await;
    let cookie = again.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(one.clients(named("GET /api/clients").cookie(&cookie)).await.len(), 1);
    let renewed = start("a-token-that-is-new").await;
    assert_eq!(renewed.clients(named("GET /api/clients").bearer("a-token-that-is-new")).await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_browser_that_was_signed_in_with_a_link_is_told_apart_and_ends_as_a_person() {
    let mut agent: Option<Agent> = None;
    let world = World::with(|options| agent = Some(options.agent.clone())).await;
    let engine = agent.unwrap().engine().clone();
    let (approvals, cookies) = (engine.approvals(), signed_in_with_link(&world, &engine).await);
    let clients = world.clients(list(&world, &cookies)).await;
    assert_eq!((clients.len(), &clients[0]["kind"]), (1, &"linked_browser".into()), "{clients:?}");
    let secret = cookies.rsplit('=').next().unwrap().to_owned();
    let secret = planwright_engine::approvals::BrowserSecret(secret);
    assert!(approvals.is_signed_in(&secret).await.unwrap());
    assert_eq!(world.end(clients[0]["id"].as_str().unwrap()).await.status, 204);
    assert!(!approvals.is_signed_in(&secret).await.unwrap());
}

/// The token may be the agent's: what a person does then takes a browser that is recognised.
#[tokio::test]
async fn a_browser_with_a_link_does_what_the_token_alone_may_not() {
    let mut agent: Option<Agent> = None;
    let world = World::with(|options| agent = Some(options.agent.clone())).await;
    let engine = agent.unwrap().engine().clone();
    let (cookies, other) = (signed_in_with_link(&world, &engine).await, world.cookie().await);
    let clients = world.clients(list(&world, &other)).await;
    let of_other = clients.iter().find(|client| client["current"] == true).unwrap();
    let sign_out = format!("DELETE /api/clients/{}", of_other["id"].as_str().unwrap());
    ask_for_a_person(&engine).await;
    let goal = r#"{"sessionId":"k3yk3y8x","channel":"mcp","title":"No open warnings"}"#;
    let push = subscription("linked");
    for (what, body, status) in [
        ("POST /api/goals", Some(goal), 201),
        ("PATCH /api/sessions/k3yk3y8x?channel=mcp", Some(r#"{"title":"Warnings"}"#), 200),
        ("POST /api/push", Some(push.as_str()), 200),
        (sign_out.as_str(), None, 204),
        ("DELETE /api/sessions/k3yk3y8x?channel=mcp", None, 204),
    ] {
        let with_body = |ask: Ask| match body {
            Some(body) => ask.json(body),
            None => ask,
        };
        world.send(with_body(world.allowed(what))).await.assert_problem(403, "POLICY_DENIED");
        let in_browser = world.ask(what).header("Origin", &format!("http://{}", world.address)).cookie(&cookies);
        let answer = world.send(with_body(in_browser)).await;
        assert_eq!(answer.status, status, "{what}: {answer:?}");
    }
}
