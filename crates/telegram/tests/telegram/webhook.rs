//! Updates that Telegram sends to the servers.

use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_telegram::{WebhookError, WebhookHandler};
use planwright_test_support::bot_api::FakeBotApi;
use planwright_test_support::killed_ledger::{KillPoint, KilledLedger};
use serde_json::{Value, json};

use crate::world::{ADA, STRANGER, WEBHOOK_SECRET, World, options, start, webhook_options};

fn echo() -> ScriptedModel {
    ScriptedModel::answering(|_| Reply::text("the answer"))
}

fn update(id: i64, user: i64, text: &str) -> Value {
    let message =
        json!({ "message_id": 1, "from": { "id": user }, "chat": { "id": user, "type": "private" }, "text": text });
    json!({ "update_id": id, "message": message })
}

async fn push(handler: &WebhookHandler, update: &Value) {
    handler.receive(update.to_string().as_bytes()).await.unwrap();
}

fn handler(world: &World) -> WebhookHandler {
    world.process.webhook.clone().unwrap()
}

async fn answers(world: &World, wanted: usize) {
    let count = |api: &FakeBotApi| api.messages(ADA).iter().filter(|message| message.text == "the answer").count();
    world.api.wait(&format!("{wanted} answers"), |api| (count(api) == wanted).then_some(())).await;
}

#[tokio::test]
async fn telegram_learns_the_address_and_each_update_is_handled_once() {
    let world = World::with_webhook(echo()).await;
    let named = world.api.wait("the webhook", FakeBotApi::webhook).await;
    assert_eq!(named, ("https://plans.example.org/telegram/webhook".to_owned(), WEBHOOK_SECRET.to_owned()));
    let call = world.api.calls("setWebhook").remove(0);
    assert_eq!((&call["max_connections"], &call["drop_pending_updates"]), (&json!(1), &json!(false)));
    for (id, text) in [(2_001, "one"), (2_001, "one"), (2_003, "three"), (2_002, "two"), (2_003, "three")] {
        push(&handler(&world), &update(id, ADA, text)).await;
    }
    answers(&world, 3).await;
    for id in [2_002, 2_003, 2_004] {
        push(&handler(&world), &update(id, ADA, "four")).await;
    }
    answers(&world, 4).await;
    let mut heard = world.heard();
    heard.sort_unstable();
    assert_eq!(heard, ["four", "one", "three", "two"]);
    assert!(world.api.calls("getUpdates").is_empty());
}

#[tokio::test]
async fn strangers_are_refused_and_malformed_bodies_are_named() {
    let world = World::with_webhook(echo()).await;
    let handler = handler(&world);
    push(&handler, &update(1, STRANGER, "let me in")).await;
    world.api.wait_for_text(STRANGER, "private").await;
    assert!(world.ledger.pending_updates("123456", 0, 10).await.unwrap().is_empty());
    for odd in [&b"not json"[..], b"", b"[]", b"{}", b"{\"update_id\":\"1\"}", b"\xff\xfe", b"{\"update_id\":1e99}"] {
        let refused = handler.receive(odd).await;
        assert!(matches!(refused, Err(WebhookError::Malformed(_))), "{odd:?}");
    }
    // A kind that is not known is taken, so that it is not sent again.
    for known in [json!({ "update_id": 7, "poll": {} }), json!({ "update_id": 8, "message": { "message_id": "x" } })] {
        push(&handler, &known).await;
    }
    assert!(world.heard().is_empty());
}

#[tokio::test]
async fn only_the_secret_is_the_secret() {
    let world = World::with_webhook(echo()).await;
    let handler = handler(&world);
    assert!(handler.is_secret(WEBHOOK_SECRET.as_bytes()));
    let longer = format!("{WEBHOOK_SECRET}x");
    for wrong in ["", "a", &WEBHOOK_SECRET[1..], &longer, &WEBHOOK_SECRET.to_uppercase()] {
        assert!(!handler.is_secret(wrong.as_bytes()), "{wrong}");
    }
    assert!(start_polling(&world).await.is_none());
}

async fn start_polling(world: &World) -> Option<WebhookHandler> {
    world.another("another").await.webhook
}

/// Updates of one chat come to two servers in turn and stay in their order: what follows `/new` is in the new session.
#[tokio::test]
async fn two_servers_take_updates_and_keep_their_order() {
    let world = World::with_webhook(echo()).await;
    let second = world.another_with(webhook_options(&world.api, "second")).await;
    let handlers = [handler(&world), second.webhook.clone().unwrap()];
    for (index, text) in ["first", "/new", "second", "third"].into_iter().enumerate() {
        let update = update(2_000 + i64::try_from(index).unwrap(), ADA, text);
        push(&handlers[index % 2], &update).await;
        // Telegram sends an update to another server when it did not get the answer of the first.
        push(&handlers[(index + 1) % 2], &update).await;
    }
    answers(&world, 3).await;
    assert_eq!(world.model.requests().len(), 3);
    let journal = world.ledger.journal(&world.session_of(ADA).await, 0, 100).await.unwrap();
    let has = |expected: &str| journal.iter().any(|entry| entry.body.contains(expected));
    assert!(has("second") && has("third") && !has("first"));
    second.stop().await;
}

/// A server that took an update and died before or after it was stored.
#[tokio::test]
async fn a_kill_while_an_update_is_taken_loses_nothing() {
    for at in [KillPoint::Before("receive_pushed"), KillPoint::After("receive_pushed")] {
        let world = World::with_webhook(echo()).await;
        world.process.stop().await;
        let setup = world.setup.clone().owned_by("killed");
        let (ledger, mut killed_at) = KilledLedger::around(setup.ledger().await, at);
        let killed =
            start(&setup.agent(ledger.clone(), world.model.clone()), ledger, webhook_options(&world.api, "killed"));
        let taking = killed.webhook.clone().unwrap();
        tokio::spawn(async move { taking.receive(update(2_001, ADA, "do it").to_string().as_bytes()).await });
        killed_at.reached().await;
        let second = world.another_with(webhook_options(&world.api, "second")).await;
        // Telegram got no answer and sends it again.
        push(second.webhook.as_ref().unwrap(), &update(2_001, ADA, "do it")).await;
        answers(&world, 1).await;
        push(second.webhook.as_ref().unwrap(), &update(2_002, ADA, "and again")).await;
        answers(&world, 2).await;
        assert_eq!(world.model.requests().len(), 2, "{at:?}");
        second.stop().await;
    }
}

#[tokio::test]
async fn the_mode_changes_without_losing_or_repeating_an_update() {
    let mut world = World::with(echo(), |_| {}).await;
    world.api.say(ADA, "by polling");
    answers(&world, 1).await;
    world.process.stop().await;
    world.process = world.another_with(webhook_options(&world.api, "with webhook")).await;
    world.api.wait("the webhook", FakeBotApi::webhook).await;
    push(world.process.webhook.as_ref().unwrap(), &update(5_001, ADA, "by webhook")).await;
    answers(&world, 2).await;
    world.process.stop().await;
    // Telegram did not get our answer, so that the update still waits there, before a new one.
    world.api.deliver_as(5_001, update(5_001, ADA, "by webhook"));
    world.api.deliver_as(5_002, update(5_002, ADA, "by polling again"));
    world.process = world.another_with(options(&world.api, "with polling")).await;
    answers(&world, 3).await;
    assert_eq!(world.api.webhook(), None);
    world.api.all_received().await;
    assert_eq!(world.heard(), ["by polling", "by webhook", "by polling again"]);
    assert_eq!(world.api.messages(ADA).len(), 3);
}
