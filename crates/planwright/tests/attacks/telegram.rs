//! Buttons that the agent presses in the place of the person.

use std::path::Path;
use std::time::{Duration, Instant};

use planwright_core::actor::Actor;
use planwright_core::approval::Require;
use planwright_core::plan::approval::Selection;
use planwright_core::presence::Presence;
use planwright_test_support::bot_api::{FakeBotApi, SentMessage, TOKEN};
use planwright_test_support::tls_proxy::{TELEGRAM, TlsProxy};
use tokio::runtime::Runtime;

use crate::decisions::with_engine;
use crate::place::compare;
use crate::results::AttackResult;
use crate::servers::AgentServer;
use crate::stage::{PROGRAM, Stage, attack, attack_with, done};

/// The only user of the bot.
const USER: i64 = 7;
/// A card that is allowed comes within a second or two.
const CARD_TIMEOUT: Duration = Duration::from_secs(12);

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Waits for something that a server that does its work well never does.
fn within<T>(limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if let Some(found) = look() {
            return Some(found);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

fn approve_button(message: &SentMessage) -> bool {
    message.labels().iter().any(|label| label.contains("Approve"))
}

/// Presses the button of the card about the agent's plan, if it comes here. The log may say before that it cannot come.
fn press_approve(api: &FakeBotApi, log: &Path) {
    let is_cut_off = || std::fs::read_to_string(log).is_ok_and(|log| log.contains("Telegram cannot be reached"));
    let find = || match api.messages(USER).into_iter().find(approve_button) {
        None => is_cut_off().then_some(None),
        card => Some(card),
    };
    if let Some(card) = within(CARD_TIMEOUT, find).flatten() {
        api.press(USER, &card, "Approve");
        within(CARD_TIMEOUT, || (!api.calls("answerCallbackQuery").is_empty()).then_some(()));
    }
}

/// The settings of a person with a bot, whose Telegram has this address.
fn bot_settings(address: &str) -> String {
    let telegram = format!("[telegram]\ntoken = \"{TOKEN}\"\nallowed_users = [{USER}]\napi_url = \"{address}\"\n");
    format!("{telegram}\n[notify]\nto = [\"telegram\"]\nafter_seconds = 1\n")
}

/// The buttons of the user count under `verified`, too.
fn bind_user(stage: &mut Stage) {
    if stage.require == Require::Verified {
        stage.person_runs(&format!("{PROGRAM} telegram bind {USER}"));
    }
}

/// The agent is the bot's only user, and presses the button of the card about its own plan.
#[test]
fn own_telegram() {
    let runtime = runtime();
    attack("own_telegram", |stage| {
        let api = runtime.block_on(FakeBotApi::start());
        let variables = [
            ("PLANWRIGHT_TELEGRAM_TOKEN", TOKEN),
            ("PLANWRIGHT_TELEGRAM_API_URL", api.url.as_str()),
            ("PLANWRIGHT_TELEGRAM_ALLOWED_USERS", "7"),
            ("PLANWRIGHT_NOTIFY_TO", "telegram"),
            ("PLANWRIGHT_NOTIFY_AFTER_SECONDS", "1"),
        ];
        let Some(_server) = AgentServer::start(stage, &variables) else { return AttackResult::Stopped };
        press_approve(&api, &stage.path("served.log"));
        stage.result()
    });
}

/// The agent puts a Telegram of its own between a server that it starts and the person's Telegram.
#[test]
fn proxied_telegram() {
    let runtime = runtime();
    attack_with(&bot_settings(TELEGRAM), "proxied_telegram", |stage| {
        bind_user(stage);
        let api = runtime.block_on(FakeBotApi::start());
        let proxy = TlsProxy::start(&api.url);
        let authority = proxy.authority();
        let (authority, own_address) = (authority.to_str().unwrap(), proxy.url.as_str());
        let variables = [
            ("HTTPS_PROXY", own_address),
            ("https_proxy", own_address),
            ("ALL_PROXY", own_address),
            ("all_proxy", own_address),
            ("SSL_CERT_FILE", authority),
            ("PLANWRIGHT_TELEGRAM_PROXY", own_address),
            ("PLANWRIGHT_TELEGRAM_CERTIFICATES", authority),
        ];
        let Some(_server) = AgentServer::start(stage, &variables) else { return AttackResult::Stopped };
        press_approve(&api, &stage.path("served.log"));
        stage.result()
    });
}

/// A program of the agent's own writes into the store what a server writes that received a press.
#[test]
fn forged_press() {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::with_settings(require, &bot_settings("http://127.0.0.1:1"));
        bind_user(&mut stage);
        with_engine(&stage, async |engine, session| {
            let user = Actor::person("ada", "telegram").recognised(Presence::chat_user(USER));
            let plan = engine.plans().find(&session, None).await.unwrap();
            let plans = engine.plans();
            plans.approve(&session, &user, &plan.id, plan.digest(), Selection::All, None).await.unwrap();
        });
        done(&stage.verify(""));
        stage.result()
    });
    compare("forged_press", results);
}
