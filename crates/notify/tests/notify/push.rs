//! Pushes to browsers: a push service of our own, which reads what a browser would read.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aes_gcm::aead::Aead as _;
use aes_gcm::{Aes128Gcm, KeyInit as _, Nonce};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hkdf::Hkdf;
use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{Signature, VerifyingKey};
use p256::{PublicKey, SecretKey};
use planwright_agent::session::input::{ChatLocation, Input, Request};
use planwright_core::permission::{PermissionRule, PermissionRules};
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::permission_rules::FixedRules;
use planwright_engine::push::{NewPushSubscription, PushSubscription, PushSubscriptions};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_notify::options::PushOptions;
use planwright_notify::{Notifier, NotifyOptions, NotifyTarget};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::net::TcpListener;

use crate::world::{LONG, World, person, quiet_model};

/// A push service. It answers with the statuses that it is given, else with 201.
#[derive(Debug, Clone, Default)]
struct PushService {
    url: String,
    state: Arc<Mutex<PushState>>,
}

#[derive(Debug, Default)]
struct PushState {
    statuses: Vec<u16>,
    taken: Vec<(HeaderMap, Bytes)>,
}

impl PushService {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let service = Self { url: format!("http://{}", listener.local_addr().unwrap()), state: Arc::default() };
        let routes = Router::new().fallback(take).with_state(service.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        service
    }

    fn answer(&self, statuses: &[u16]) {
        self.state.lock().unwrap().statuses = statuses.to_vec();
    }

    fn taken(&self) -> Vec<(HeaderMap, Bytes)> {
        self.state.lock().unwrap().taken.clone()
    }
}

async fn take(State(service): State<PushService>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let mut state = service.state.lock().unwrap();
    let status = if state.statuses.is_empty() { 201 } else { state.statuses.remove(0) };
    if status == 201 {
        state.taken.push((headers, body));
    }
    StatusCode::from_u16(status).unwrap()
}

/// A browser, with the keys that it keeps for itself.
struct Browser {
    secret: SecretKey,
    auth: [u8; 16],
    added: PushSubscription,
}

impl Browser {
    /// One that a person switched pushes on in. `number` makes its keys and its address.
    async fn subscribed(world: &World, service: &PushService, number: u8) -> Self {
        let (secret, auth) = (SecretKey::from_slice(&[number; 32]).unwrap(), [number; 16]);
        let new = NewPushSubscription {
            endpoint: format!("{}/send/{number}", service.url),
            p256dh: URL_SAFE_NO_PAD.encode(secret.public_key().to_sec1_bytes()),
            auth: URL_SAFE_NO_PAD.encode(auth),
            client: format!("browser-{number}"),
            name: "Chrome on Android".to_owned(),
            origin: "https://plans.example.org".to_owned(),
        };
        let added = push(world).add(new, world.now()).await.unwrap();
        Self { secret, auth, added }
    }

    /// What the browser reads: RFC 8291, the other way round.
    fn read(&self, pushed: &[u8]) -> Option<Value> {
        let (salt, rest) = pushed.split_at(16);
        let (length, rest) = (usize::from(rest[4]), &rest[5..]);
        let (from, record) = rest.split_at(length);
        let sender = PublicKey::from_sec1_bytes(from).unwrap();
        let shared = p256::ecdh::diffie_hellman(self.secret.to_nonzero_scalar(), sender.as_affine());
        let to = self.secret.public_key().to_sec1_bytes();
        let info = [b"WebPush: info\0", to.as_ref(), from].concat();
        let derive = |salt: &[u8], secret: &[u8], info: &[u8], length: usize| {
            let mut derived = vec![0; length];
            Hkdf::<Sha256>::new(Some(salt), secret).expand(info, &mut derived).unwrap();
            derived
        };
        let key = derive(&self.auth, shared.raw_secret_bytes(), &info, 32);
        let content_key = derive(salt, &key, b"Content-Encoding: aes128gcm\0", 16);
        let nonce: [u8; 12] = derive(salt, &key, b"Content-Encoding: nonce\0", 12).try_into().unwrap();
        let cipher = Aes128Gcm::new_from_slice(&content_key).unwrap();
        let mut text = cipher.decrypt(&Nonce::from(nonce), record).ok()?;
        assert_eq!(text.pop(), Some(2), "the mark of the last record");
        Some(serde_json::from_slice(&text).unwrap())
    }
}

fn push(world: &World) -> PushSubscriptions {
    world.agent.engine().push()
}

/// No target is named and nothing else is set up.
fn options(world: &World) -> NotifyOptions {
    let push = PushOptions { allow_private: true, ..PushOptions::default() };
    NotifyOptions { to: Vec::new(), webhook: None, push, ..world.options("one") }
}

/// A plan waits, and its time has come.
async fn due(world: &World, notifier: &Notifier, key: &str) -> SessionIdentity {
    let session = world.waiting(key).await;
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    session
}

#[tokio::test]
async fn a_push_has_the_title_and_nothing_more_and_only_the_browser_reads_it() {
    let (world, service) = (World::new(quiet_model()).await, PushService::start().await);
    let (one, other) = (Browser::subscribed(&world, &service, 1).await, Browser::subscribed(&world, &service, 2).await);
    let notifier = world.notifier(options(&world));
    let session = due(&world, &notifier, "session-one").await;
    assert_eq!(notifier.send_due(NotifyTarget::Push).await.unwrap(), 2);
    let plan = world.agent.engine().plans().active(&session).await.unwrap();
    let expected = json!({
        "title": "Plan #1 waits for your decision",
        "body": "Plan of session-one",
        "path": format!("/p/{}", plan.id),
        "tag": format!("plan-{}-{}", plan.id, plan.digest()),
    });
    let taken = service.taken();
    assert_eq!(taken.len(), 2);
    for browser in [&one, &other] {
        let read: Vec<_> = taken.iter().filter_map(|(_, body)| browser.read(body)).collect();
        assert_eq!(read, std::slice::from_ref(&expected), "each reads its own");
    }
    for (headers, body) in &taken {
        assert_eq!(
            (headers["content-encoding"].as_bytes(), headers["ttl"].as_bytes()),
            (&b"aes128gcm"[..], &b"86400"[..])
        );
        assert!(!String::from_utf8_lossy(body).contains("session-one"), "the push service reads nothing");
    }
    // Told once.
    notifier.look(&session, world.now()).await.unwrap();
    assert_eq!(notifier.send_due(NotifyTarget::Push).await.unwrap(), 0);
}

/// The part of a token that is JSON.
fn part(text: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
}

#[tokio::test]
async fn a_push_is_signed_with_the_key_that_the_browser_subscribed_with() {
    let (world, service) = (World::new(quiet_model()).await, PushService::start().await);
    Browser::subscribed(&world, &service, 1).await;
    let key = push(&world).key().await.unwrap().public;
    let notifier = world.notifier(options(&world));
    due(&world, &notifier, "session-one").await;
    notifier.send_due(NotifyTarget::Push).await.unwrap();
    let (headers, _) = service.taken().remove(0);
    let authorization = headers["authorization"].to_str().unwrap();
    let (token, public) = authorization.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
    assert_eq!(public, key);
    assert_eq!(push(&world).key().await.unwrap().public, key, "it stays the same");
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let verifying = VerifyingKey::from_sec1_bytes(&URL_SAFE_NO_PAD.decode(public).unwrap()).unwrap();
    let signature = Signature::from_slice(&URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    verifying.verify(signed.as_bytes(), &signature).unwrap();
    let (header, claims) = signed.split_once('.').unwrap();
    assert_eq!(part(header)["alg"], "ES256");
    let claims = part(claims);
    assert_eq!((&claims["aud"], &claims["sub"]), (&json!(service.url), &json!("https://plans.example.org")));
    let ends = claims["exp"].as_i64().unwrap() - world.now().as_second();
    assert!(ends > 0 && ends <= 24 * 3_600, "{ends}");
}

/// A session whose agent asks whether it may write a file, pushed with or without details.
async fn pushed_ask(details: bool) -> Value {
    let rule: PermissionRule = serde_json::from_value(json!({ "tool": "write_file", "decide": "ask" })).unwrap();
    let rules = Arc::new(FixedRules::new(PermissionRules::new(vec![rule]).unwrap()));
    let model = ScriptedModel::new([Reply::call("write_file", json!({ "path": "key.txt", "content": "a-secret" }))]);
    let world = World::with(model, |setup| setup.options.permissions = rules).await;
    let service = PushService::start().await;
    let browser = Browser::subscribed(&world, &service, 1).await;
    let options = options(&world);
    let notifier = world.notifier(NotifyOptions { push: PushOptions { details, ..options.push.clone() }, ..options });
    let session = "web:session-one".parse().unwrap();
    world.say(&session, "write it").await;
    notifier.look(&session, world.now()).await.unwrap();
    world.advance(61);
    notifier.send_due(NotifyTarget::Push).await.unwrap();
    browser.read(&service.taken()[0].1).unwrap()
}

#[tokio::test]
async fn what_a_call_is_made_with_is_pushed_only_if_the_person_says_so() {
    for (details, body) in [(false, "write_file"), (true, "write_file\nwrite_file: key.txt")] {
        let read = pushed_ask(details).await;
        assert_eq!((&read["title"], &read["body"]), (&json!("The agent asks for permission"), &json!(body)));
    }
}

#[tokio::test]
async fn a_browser_that_its_push_service_does_not_know_any_more_is_forgotten() {
    for status in [404, 410] {
        let (world, service) = (World::new(quiet_model()).await, PushService::start().await);
        Browser::subscribed(&world, &service, 1).await;
        let notifier = world.notifier(options(&world));
        due(&world, &notifier, "session-one").await;
        service.answer(&[status]);
        notifier.send_due(NotifyTarget::Push).await.unwrap();
        assert!(push(&world).list().await.unwrap().is_empty(), "{status}");
        // Nothing is left to be sent, and nothing is complained of.
        world.advance(36_000);
        assert_eq!(notifier.send_due(NotifyTarget::Push).await.unwrap(), 0, "{status}");
        assert!(world.ledger.undelivered(10).await.unwrap().is_empty(), "{status}");
    }
}

#[tokio::test]
async fn a_push_service_that_fails_is_tried_again_and_a_refusal_is_told() {
    let (world, service) = (World::new(quiet_model()).await, PushService::start().await);
    let browser = Browser::subscribed(&world, &service, 1).await;
    let notifier = world.notifier(options(&world));
    due(&world, &notifier, "session-one").await;
    service.answer(&[503, 429]);
    for _ in 0..3 {
        notifier.send_due(NotifyTarget::Push).await.unwrap();
        world.advance(3_600);
    }
    assert_eq!(service.taken().len(), 1);
    assert!(world.ledger.undelivered(10).await.unwrap().is_empty());
    due(&world, &notifier, "session-two").await;
    service.answer(&[403]);
    notifier.send_due(NotifyTarget::Push).await.unwrap();
    let undelivered = world.ledger.undelivered(10).await.unwrap().remove(0);
    assert_eq!((undelivered.failed, undelivered.why.as_deref()), (true, Some("the push service answered 403")));
    assert_eq!(push(&world).list().await.unwrap(), [browser.added], "it is still subscribed");
}

#[tokio::test]
async fn a_push_service_in_a_private_network_is_not_called_unless_it_is_allowed() {
    let (world, service) = (World::new(quiet_model()).await, PushService::start().await);
    Browser::subscribed(&world, &service, 1).await;
    let notifier = world.notifier(NotifyOptions { push: PushOptions::default(), ..options(&world) });
    due(&world, &notifier, "session-one").await;
    notifier.send_due(NotifyTarget::Push).await.unwrap();
    assert!(service.taken().is_empty());
    let undelivered = world.ledger.undelivered(10).await.unwrap().remove(0);
    assert!(undelivered.failed, "{undelivered:?}");
}

#[tokio::test]
async fn a_browser_is_told_what_waits_already_and_not_what_ended_before_it_got_pushes() {
    let draft = Reply::call("plan_set_content", json!({ "plan_markdown": "- [x] paint the wall" }));
    let model = ScriptedModel::new([draft, Reply::text("Ready."), Reply::text("Done.")]);
    let (world, service) = (World::new(model).await, PushService::start().await);
    let ended: SessionIdentity = "web:session-one".parse().unwrap();
    world.agent.engine().sessions().open(&ended, &person()).await.unwrap();
    for line in ["/plan on", "Plan it", "/plan approve"] {
        let place = ChatLocation::new(TransportChat("web:1".to_owned()), ended.clone());
        world.agent.submit(Input::typed(line), Request::new(place, person())).outcome().await.unwrap();
    }
    let plan = world.agent.engine().plans().list(&ended, None, 1).await.unwrap().items.remove(0);
    assert_eq!(plan.status, planwright_core::plan::PlanStatus::Completed);
    let waiting = world.waiting("session-two").await;
    world.advance(1);
    let browser = Browser::subscribed(&world, &service, 1).await;
    let notifier = world.notifier(options(&world));
    for session in [&ended, &waiting] {
        notifier.look(session, plan.updated_at).await.unwrap();
    }
    world.advance(61);
    notifier.send_due(NotifyTarget::Push).await.unwrap();
    let read: Vec<_> = service.taken().iter().filter_map(|(_, body)| browser.read(body)).collect();
    assert_eq!(read.len(), 1, "{read:?}");
    assert_eq!(read[0]["body"], "Plan of session-two");
}

#[tokio::test]
async fn pushes_wait_for_the_escalation_where_the_settings_say_so() {
    let (world, service) = (World::new(quiet_model()).await, PushService::start().await);
    Browser::subscribed(&world, &service, 1).await;
    let late = NotifyOptions {
        escalate_after: Some(Duration::from_secs(3_600)),
        escalate_to: vec![NotifyTarget::Push],
        ..options(&world)
    };
    let notifier = world.notifier(late);
    due(&world, &notifier, "session-one").await;
    assert_eq!(notifier.send_due(NotifyTarget::Push).await.unwrap(), 0);
    world.advance(3_600);
    assert_eq!(notifier.send_due(NotifyTarget::Push).await.unwrap(), 1);
    assert_eq!(service.taken()[0].0["urgency"], "high");
}

/// Also where nothing else is set up, and where the browser comes after the notifier began.
#[tokio::test]
async fn the_notifier_sends_pushes_by_itself() {
    let (world, service) = (World::new(quiet_model()).await, PushService::start().await);
    let options = NotifyOptions { after: Duration::ZERO, ..options(&world) };
    let shutdown = tokio_util::sync::CancellationToken::new();
    let running = tokio::spawn(world.notifier(options).run(shutdown.clone()));
    Browser::subscribed(&world, &service, 1).await;
    world.waiting("session-one").await;
    let told = async {
        while service.taken().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG, told).await.expect("the plan is told");
    shutdown.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn a_browser_has_one_subscription_and_what_is_none_is_refused() {
    let (world, service) = (World::new(quiet_model()).await, PushService::start().await);
    let first = Browser::subscribed(&world, &service, 1).await.added;
    let as_new = |one: &PushSubscription| {
        let PushSubscription { endpoint, p256dh, auth, client, name, origin, .. } = one.clone();
        NewPushSubscription { endpoint, p256dh, auth, client, name, origin }
    };
    world.advance(60);
    let again = push(&world).add(as_new(&first), world.now()).await.unwrap();
    assert_eq!(again, first, "sent again it changes nothing");
    let moved = NewPushSubscription { endpoint: format!("{}/send/elsewhere", service.url), ..as_new(&first) };
    let moved = push(&world).add(moved, world.now()).await.unwrap();
    assert_eq!(push(&world).list().await.unwrap(), std::slice::from_ref(&moved));
    for wrong in [
        NewPushSubscription { endpoint: "file:///etc/passwd".to_owned(), ..as_new(&first) },
        NewPushSubscription { p256dh: "AAAA".to_owned(), ..as_new(&first) },
        NewPushSubscription { auth: "AAAA".to_owned(), ..as_new(&first) },
    ] {
        assert!(push(&world).add(wrong, world.now()).await.is_err());
    }
    push(&world).remove_client("another").await.unwrap();
    assert_eq!(push(&world).list().await.unwrap().len(), 1);
    push(&world).remove_client(&moved.client).await.unwrap();
    assert!(push(&world).list().await.unwrap().is_empty());
}
