//! The Telegram bot in real servers: webhooks, several servers, and a server that is killed.

use planwright_test_support::bot_api::{FakeBotApi, TOKEN};
use serde_json::{Value, json};

use crate::program::{Address, Program};
use crate::provider::Provider;
use crate::stores::Store;

const ADA: i64 = 7;
const SECRET: &str = "a-secret-of-the-webhook";
const PATH: &str = "/telegram/webhook";
const HEADER: &str = "X-Telegram-Bot-Api-Secret-Token";

fn settings<'a>(api: &'a FakeBotApi, mode: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("PLANWRIGHT_TELEGRAM_TOKEN", TOKEN),
        ("PLANWRIGHT_TELEGRAM_API_URL", api.url.as_str()),
        ("PLANWRIGHT_TELEGRAM_ALLOWED_USERS", "7"),
        ("PLANWRIGHT_TELEGRAM_MODE", mode),
        ("PLANWRIGHT_TELEGRAM_WEBHOOK_SECRET", SECRET),
        ("PLANWRIGHT_SERVER_PUBLIC_URL", "https://plans.example.org"),
        ("PLANWRIGHT_SERVER_LEASE_SECONDS", "3"),
    ]
}

fn webhook_of(server: &Program) -> String {
    format!("http://{}{PATH}", server.address)
}

async fn answers(api: &FakeBotApi, wanted: usize) {
    let what = format!("{wanted} answers");
    api.wait(&what, |api| (api.messages(ADA).len() == wanted).then_some(())).await;
}

fn update(id: i64, text: &str) -> Value {
    let chat = json!({ "id": ADA, "type": "private" });
    json!({ "update_id": id, "message": { "message_id": 1, "from": { "id": ADA }, "chat": chat, "text": text } })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_takes_updates_with_its_secret_only() {
    let (store, api) = (Store::sqlite(), FakeBotApi::start().await);
    let server = Program::rehearsing(&store, &settings(&api, "webhook"));
    let (url, secret) = api.wait("the webhook", FakeBotApi::webhook).await;
    assert_eq!((url.as_str(), secret.as_str()), ("https://plans.example.org/telegram/webhook", SECRET));
    let at = server.at();
    let body = update(1, "hello").to_string();
    for headers in [
        &[][..],
        &[(HEADER, "wrong")],
        &[(HEADER, "")],
        &[(HEADER, SECRET), (HEADER, SECRET)],
        &[("Authorization", "Bearer a-token-that-all-servers-share")],
    ] {
        let refused = at.post_with(PATH, headers, &body).await;
        assert_eq!((refused.status, &refused.body["code"]), (401, &json!("UNAUTHENTICATED")), "{headers:?}");
    }
    let with_secret = async |at: Address, body: &str| at.post_with(PATH, &[(HEADER, SECRET)], body).await;
    for malformed in ["", "not json", "[]", "{}", "{\"update_id\":\"1\"}"] {
        let refused = with_secret(at, malformed).await;
        assert_eq!((refused.status, &refused.body["code"]), (400, &json!("INVALID_ARGUMENT")), "{malformed}");
    }
    // An update that is larger than what may be posted without any secret.
    let mut long = update(2, "/status");
    long["message"]["a_new_field"] = json!("long ".repeat(4_000));
    let long = long.to_string();
    assert_eq!(with_secret(at, &long).await.status, 200);
    assert_eq!(with_secret(at, &json!({ "update_id": 3, "poll": {} }).to_string()).await.status, 200);
    answers(&api, 1).await;
    // The same update again is taken and not answered again.
    assert_eq!(with_secret(at, &long).await.status, 200);
    api.webhook_servers(&[webhook_of(&server)]);
    api.say(ADA, "/status");
    answers(&api, 2).await;
    assert_eq!(api.webhook_statuses(), [200]);
    assert!(!server.log().contains(SECRET) && !server.log().contains(TOKEN));
}

/// Updates come to both servers in turn. When one is killed, Telegram sends what it did not take to the other.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_take_updates_and_one_is_killed() {
    let (store, api) = (Store::postgres().await, FakeBotApi::start().await);
    let mut first = Program::rehearsing(&store, &settings(&api, "webhook"));
    let second = Program::rehearsing(&store, &settings(&api, "webhook"));
    api.webhook_servers(&[webhook_of(&first), webhook_of(&second)]);
    for number in 1..=4 {
        api.say(ADA, "/status");
        answers(&api, number).await;
    }
    first.kill();
    for number in 5..=6 {
        api.say(ADA, "/status");
        answers(&api, number).await;
    }
    assert!(api.webhook_statuses().contains(&0), "some went to the killed server first");
}

/// The update is stored, the model is asked, and the server is killed.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_leaves_its_updates_to_the_next_one() {
    for (store, mode) in [(Store::sqlite(), "polling"), (Store::postgres().await, "webhook")] {
        let (api, provider) = (FakeBotApi::start().await, Provider::start().await);
        let mut first = Program::asking(&store, &provider, &settings(&api, mode));
        api.webhook_servers(&[webhook_of(&first)]);
        provider.hold();
        api.say(ADA, "look at it");
        provider.wait_for(1, |asked| asked.words.contains("look at it")).await;
        api.all_received().await;
        first.kill();
        assert!(api.messages(ADA).is_empty());
        provider.let_go();
        let second = Program::asking(&store, &provider, &settings(&api, mode));
        api.webhook_servers(&[webhook_of(&second)]);
        answers(&api, 1).await;
        api.say(ADA, "/status");
        answers(&api, 2).await;
        // Asked by the killed server, and by the one that continued.
        let first_requests =
            provider.asked().into_iter().filter(|asked| asked.words == "look at it" && asked.results == 0);
        assert_eq!(first_requests.count(), 2, "{mode}: {:?}", provider.asked());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_in_polling_mode_takes_no_webhook_and_removes_it() {
    let (store, api) = (Store::sqlite(), FakeBotApi::start().await);
    let mut server = Program::rehearsing(&store, &settings(&api, "webhook"));
    api.wait("the webhook", FakeBotApi::webhook).await;
    server.terminate();
    assert_eq!(server.ended().await, 0);
    // It stays, so that Telegram keeps what comes until the next start.
    assert!(api.webhook().is_some());
    api.say(ADA, "/status");
    let server = Program::rehearsing(&store, &settings(&api, "polling"));
    answers(&api, 1).await;
    assert_eq!(api.webhook(), None);
    let refused = server.at().post_with(PATH, &[(HEADER, SECRET)], &update(1, "hello").to_string()).await;
    assert_eq!(refused.status, 401);
}
