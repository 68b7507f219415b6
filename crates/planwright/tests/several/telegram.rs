//! The Telegram bot in real servers: webhooks, several servers, and a server that is killed.

use planwright_test_support::bot_api::{FakeBotApi, HoldPoint, TOKEN};
use serde_json::{Value, json};

use crate::program::{Address, Program};
use crate::provider::{FIRST_TEXT, Provider, Work};
use crate::stores::Store;
use crate::world::TIMEOUT;

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
        provider.wait_for(1, |asked| asked.phrase.contains("look at it")).await;
        api.all_received().await;
        first.kill();
        assert!(api.messages(ADA).is_empty());
        provider.release();
        let second = Program::asking(&store, &provider, &settings(&api, mode));
        api.webhook_servers(&[webhook_of(&second)]);
        answers(&api, 1).await;
        api.say(ADA, "/status");
        answers(&api, 2).await;
        // Asked by the killed server, and by the one that continued.
        let first_requests =
            provider.asked().into_iter().filter(|asked| asked.phrase == "look at it" && asked.results == 0);
        assert_eq!(first_requests.count(), 2, "{mode}: {:?}", provider.asked());
    }
}

/// Waits until this count in the store is as wanted.
async fn counted(store: &Store, what: &str, sql: &str, wanted: u32) {
    let looking = async {
        while store.look(sql).await != wanted.to_string() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, looking).await.unwrap_or_else(|_| panic!("it did not happen: {what}"));
}

const UNSENT: &str = "SELECT CAST(count(*) AS TEXT) FROM outbox WHERE settled_at IS NULL";

/// Another server sends the messages of a killed one 45 seconds later: that time is over.
async fn lapse(store: &Store) {
    assert_eq!(store.look(UNSENT).await, "1", "one message is taken and not noted as sent");
    store.tamper("UPDATE outbox SET taken_until = 0 WHERE settled_at IS NULL").await;
}

/// Telegram has the message and shows it; the server is killed before it reads Telegram's answer. The next server cannot know
/// that it was sent: it sends it again, once, and loses nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_between_acceptance_and_note_sends_a_new_message_once_more() {
    for (store, mode) in [(Store::sqlite(), "polling"), (Store::postgres().await, "webhook")] {
        let api = FakeBotApi::start().await;
        let mut first = Program::rehearsing(&store, &settings(&api, mode));
        api.webhook_servers(&[webhook_of(&first)]);
        api.hold("sendMessage", HoldPoint::BeforeAnswer);
        api.say(ADA, "/goals");
        answers(&api, 1).await;
        api.all_received().await;
        first.kill();
        api.release();
        lapse(&store).await;
        let second = Program::rehearsing(&store, &settings(&api, mode));
        api.webhook_servers(&[webhook_of(&second)]);
        answers(&api, 2).await;
        counted(&store, "the message is noted as sent", UNSENT, 0).await;
        api.say(ADA, "/tasks");
        answers(&api, 3).await;
        let texts: Vec<_> = api.messages(ADA).into_iter().map(|message| message.text).collect();
        assert!(
            texts[0].contains("no goals") && texts[0] == texts[1] && texts[2].contains("no tasks"),
            "{mode}: {texts:?}"
        );
        assert_eq!(api.calls("sendMessage").len(), 3, "{mode}");
    }
}

/// The server is killed with an answer that replaces what was shown while the agent wrote: its message is known, so
/// the next server edits it in place, and the person reads the answer once.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_killed_between_acceptance_and_note_of_an_edit_shows_the_answer_once() {
    let (store, api) = (Store::sqlite(), FakeBotApi::start().await);
    let provider = Provider::working(Work::WritesSlowly).await;
    api.without_drafts();
    provider.hold();
    let mut first = Program::asking(&store, &provider, &settings(&api, "polling"));
    api.say(ADA, "look at it");
    let live = api.wait_for_text(ADA, FIRST_TEXT.trim()).await;
    let live_messages = "SELECT CAST(count(*) AS TEXT) FROM keyed_record WHERE key LIKE 'live/%'";
    counted(&store, "the message is noted", live_messages, 1).await;
    // What is shown while the agent writes has the call of the tool in it, and is not held.
    let answer = format!("{FIRST_TEXT}done: look at it");
    api.hold_text("editMessageText", HoldPoint::BeforeAnswer, &answer);
    provider.release();
    api.wait_for(ADA, "the answer is shown", |message| message.text == answer).await;
    first.kill();
    api.release();
    lapse(&store).await;
    let edits = api.calls("editMessageText").len();
    let second = Program::asking(&store, &provider, &settings(&api, "polling"));
    api.wait("the answer is edited again", |api| (api.calls("editMessageText").len() > edits).then_some(())).await;
    counted(&store, "the answer is noted as sent", UNSENT, 0).await;
    let shown = api.messages(ADA);
    assert_eq!((shown.len(), shown[0].id, &shown[0].text), (1, live.id, &answer), "{shown:?}");
    assert_eq!(provider.asked().len(), 2, "the model is not asked again: {:?}", provider.asked());
    drop(second);
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
