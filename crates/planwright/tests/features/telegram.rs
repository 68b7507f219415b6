//! Sentences about the Telegram bot, over a server that speaks the Bot API.

use std::time::Duration;

use cucumber::{given, then, when};
use planwright_core::plan::PlanStatus;
use planwright_core::session::{Session, SessionIdentity, TransportChat};
use planwright_engine::Engine;
use planwright_telegram::{TelegramBot, TelegramOptions};
use planwright_test_support::bot_api::{FakeBotApi, SentMessage, TOKEN};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::talk::Talk as _;
use crate::world::{World, person};

/// The bot of a scenario, and the Telegram it talks to.
#[derive(Default)]
pub(crate) struct Bot {
    api: Option<FakeBotApi>,
    running: Option<(JoinHandle<()>, CancellationToken)>,
    card: Option<SentMessage>,
    before: Option<SessionIdentity>,
    starts: u32,
}

fn user(name: &str) -> i64 {
    match name {
        "ada" => 7,
        "bob" => 8,
        _ => 666,
    }
}

impl World {
    fn api(&self) -> FakeBotApi {
        self.bot.api.clone().expect("there is a bot")
    }

    async fn start_bot(&mut self) {
        let ledger = self.store.ledger().await;
        self.engine = Engine::new(ledger.clone(), self.policy.clone());
        self.talk.forget_agent();
        let agent = self.talk.agent(&self.engine);
        self.bot.starts += 1;
        let options = TelegramOptions {
            api_url: self.api().url,
            allowed_users: vec![user("ada"), user("bob")],
            owner: format!("server {}", self.bot.starts),
            lease: Duration::from_secs(2),
            edit_pause: Duration::from_millis(30),
            ..TelegramOptions::new(TOKEN.into())
        };
        let shutdown = CancellationToken::new();
        let bot = TelegramBot::new(agent, ledger, options).expect("a bot");
        self.bot.running = Some((tokio::spawn(bot.run(shutdown.clone())), shutdown));
    }

    async fn telegram_session(&self, name: &str) -> Session {
        let transport = TransportChat(format!("telegram:123456:{}", user(name)));
        let session = self.engine.ledger().active_session(&transport).await.expect("readable").expect("a session");
        self.engine.sessions().get(&session).await.expect("a session")
    }
}

#[given("a Telegram bot that ada and bob may use")]
async fn a_bot(world: &mut World) {
    world.bot.api = Some(FakeBotApi::start().await);
    world.start_bot().await;
}

/// Waits for the answer: each message has at least one.
#[when(expr = "{word} writes {string} in Telegram")]
async fn writes(world: &mut World, name: String, text: String) {
    if world.bot.running.is_none() {
        world.api().say(user(&name), &text);
        return;
    }
    // The script is handed over.
    let _ = world.talk.agent(&world.engine);
    if text == "/new" {
        world.bot.before = Some(world.telegram_session(&name).await.identity);
    }
    let (api, chat) = (world.api(), user(&name));
    let before = api.messages(chat).len();
    api.say(chat, &text);
    api.wait(&format!("an answer to {text}"), |api| (api.messages(chat).len() > before).then_some(())).await;
}

#[then(expr = "{word} reads {string}")]
async fn reads(world: &mut World, name: String, text: String) {
    world.api().wait_for_text(user(&name), &text).await;
}

#[then(expr = "{word} gets a card with the button {string}")]
async fn gets_card(world: &mut World, name: String, label: String) {
    let wanted = |message: &SentMessage| message.labels().iter().any(|text| text.contains(&label));
    world.bot.card = Some(world.api().wait_for(user(&name), "a card", wanted).await);
}

#[then(expr = "the card says {string}")]
async fn card_says(world: &mut World, text: String) {
    let card = world.bot.card.clone().expect("a card");
    let wanted = |message: &SentMessage| message.id == card.id && message.text.contains(&text);
    world.api().wait_for(card.chat, &text, wanted).await;
}

#[when(expr = "{word} presses {string}")]
async fn presses(world: &mut World, name: String, label: String) {
    let card = world.bot.card.clone().expect("a card");
    world.api().press(user(&name), &card, &label);
}

#[when(expr = "{word} presses {string} on the card of {word}")]
async fn presses_of(world: &mut World, name: String, label: String, _owner: String) {
    let (api, card) = (world.api(), world.bot.card.clone().expect("a card"));
    let before = api.calls("answerCallbackQuery").len();
    api.press(user(&name), &card, &label);
    api.wait("the press is answered", |api| (api.calls("answerCallbackQuery").len() > before).then_some(())).await;
}

#[then(expr = "the session of {word} has no file {string}")]
async fn has_no_file(world: &mut World, name: String, file: String) {
    let session = world.telegram_session(&name).await.identity;
    assert!(!world.talk.files().folder(&session).join(file).exists());
}

#[then(expr = "the session of {word} has the file {string}")]
async fn has_file(world: &mut World, name: String, file: String) {
    let path = world.talk.files().folder(&world.telegram_session(&name).await.identity).join(file);
    world.api().wait("the file is written", |_| path.exists().then_some(())).await;
}

#[then(expr = "the newest plan of {word} is {word}")]
async fn newest_plan(world: &mut World, name: String, status: String) {
    let session = world.telegram_session(&name).await.identity;
    let page = world.engine.plans().list(&session, None, 1).await.expect("readable");
    let wanted: PlanStatus = serde_json::from_value(status.into()).expect("a status");
    assert_eq!(page.items[0].status, wanted);
}

#[then(expr = "plan work of {word} is {word}")]
async fn plan_work(world: &mut World, name: String, state: String) {
    let session = world.telegram_session(&name).await;
    assert_eq!(session.plan_mode.enabled, state == "on");
}

#[when(expr = "the session of {word} is deleted")]
async fn is_deleted(world: &mut World, name: String) {
    let session = world.telegram_session(&name).await.identity;
    let agent = world.talk.agent(&world.engine);
    agent.delete(&session, &person()).await.expect("deleted");
}

#[when(expr = "{word} goes back to the session before")]
async fn goes_back(world: &mut World, name: String) {
    let before = world.bot.before.clone().expect("a session before");
    writes(world, name, format!("/switch {}", before.conversation)).await;
}

#[then("there are no sessions")]
async fn no_sessions(world: &mut World) {
    assert_eq!(world.engine.ledger().count_sessions().await.expect("readable"), 0);
}

#[then("there is one session")]
async fn one_session(world: &mut World) {
    assert_eq!(world.engine.ledger().count_sessions().await.expect("readable"), 1);
}

#[then(expr = "{word} has one message")]
async fn one_message(world: &mut World, name: String) {
    let messages = world.api().messages(user(&name));
    assert_eq!(messages.len(), 1, "{messages:?}");
}

#[then(expr = "{word} never reads {string}")]
async fn never_reads(world: &mut World, name: String, text: String) {
    let messages = world.api().messages(user(&name));
    assert!(!messages.is_empty() && messages.iter().all(|message| !message.text.contains(&text)), "{messages:?}");
}

#[then(expr = "{word} reads the plan status of this session")]
async fn reads_status(world: &mut World, name: String) {
    let session = world.telegram_session(&name).await.identity;
    writes(world, name.clone(), "/status".to_owned()).await;
    world.api().wait_for_text(user(&name), &session.to_string()).await;
}

#[then(expr = "the new session of {word} has nothing of {string}")]
async fn has_nothing_of(world: &mut World, name: String, text: String) {
    let session = world.telegram_session(&name).await.identity;
    assert_ne!(Some(&session), world.bot.before.as_ref());
    let journal = world.engine.ledger().journal(&session, 0, 1_000).await.expect("readable");
    assert!(journal.iter().all(|entry| !entry.body.contains(&text)));
}

#[when("the server is stopped")]
async fn is_stopped(world: &mut World) {
    let (running, shutdown) = world.bot.running.take().expect("it runs");
    shutdown.cancel();
    running.await.expect("it stops");
}

#[when("the server is started")]
async fn is_started(world: &mut World) {
    world.start_bot().await;
}
