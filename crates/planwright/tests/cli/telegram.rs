//! `planwright telegram` and what `doctor` says of the bot, against a server that speaks the Bot API.

use planwright_test_support::bot_api::{FakeBotApi, TOKEN};
use planwright_test_support::tls_proxy::{TELEGRAM, TlsProxy};
use serde_json::{Value, json};

use crate::world::{Ran, World, ran};

/// The program beside a Bot API server.
struct Telegram {
    world: World,
    api: FakeBotApi,
    _runtime: tokio::runtime::Runtime,
}

impl Telegram {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { world: World::new(), api: runtime.block_on(FakeBotApi::start()), _runtime: runtime }
    }

    fn run(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        let mut command = self.world.command();
        command.env("PLANWRIGHT_TELEGRAM_API_URL", &self.api.url).env("PLANWRIGHT_SERVER_LISTEN", "127.0.0.1:1");
        command.env("PLANWRIGHT_TELEGRAM_TOKEN", TOKEN).envs(variables.iter().copied());
        ran(command.args(arguments))
    }

    fn check(&self, variables: &[(&str, &str)]) -> Value {
        let answer = self.run(variables, &["doctor", "--json"]).json();
        let checks = answer["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == "telegram").unwrap_or_else(|| panic!("{answer}")).clone()
    }
}

#[test]
fn the_token_is_checked_and_the_first_sender_is_shown() {
    let telegram = Telegram::new();
    telegram.api.say(11, "hello");
    let ran = telegram.run(&[], &["telegram"]).done();
    ran.tells("The token belongs to @test_bot.")
        .tells("No person may use it yet.")
        .tells("person11 wrote; the id is 11.")
        .tells("allowed_users = [11]");
    let shown = telegram.run(&[("PLANWRIGHT_TELEGRAM_ALLOWED_USERS", "7")], &["telegram", "--json"]).json();
    assert_eq!(
        shown,
        json!({ "bot": "test_bot", "allowedUsers": [7], "sender": { "userId": 11, "name": "person11", "groupId": null } })
    );
    telegram.api.say_in_group(-100_500, 12, "hello from the group");
    let ran = telegram.run(&[("PLANWRIGHT_TELEGRAM_ALLOWED_USERS", "12")], &["telegram"]).done();
    ran.tells("This person is allowed already.").tells("`allowed_chats = [-100500]` allows it");
    // The updates stay at Telegram, so that the server receives them.
    assert!(telegram.api.calls("getUpdates").iter().all(|call| call["offset"].is_null()));
}

#[test]
fn what_is_missing_or_wrong_is_told() {
    let telegram = Telegram::new();
    ran(telegram.world.command().arg("telegram")).exits(2).complains("@BotFather");
    telegram.run(&[], &["telegram", "--wait-seconds", "0"]).done().tells("The token belongs to @test_bot.");
    telegram.run(&[], &["telegram", "--wait-seconds", "1"]).exits(3).tells("No message came.");
    telegram.api.fail_next(
        "getUpdates",
        409,
        r#"{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request"}"#,
    );
    telegram.run(&[], &["telegram"]).exits(6).complains("a server receives the messages of this bot now");
    telegram.api.fail_next("getUpdates", 409, r#"{"ok":false,"error_code":409,"description":"Conflict: can't use getUpdates method while webhook is active"}"#);
    telegram.run(&[], &["telegram"]).exits(6).complains("Telegram sends the messages of this bot to a webhook");
    telegram.api.revoke_token();
    let refused = telegram.run(&[], &["telegram"]).exits(6);
    refused.complains("Telegram does not accept the token").never_complains(TOKEN);
}

#[test]
fn doctor_says_whether_the_bot_answers_and_who_may_use_it() {
    let telegram = Telegram::new();
    let state =
        |check: &Value| (check["state"].as_str().unwrap().to_owned(), check["words"].as_str().unwrap().to_owned());
    let people = |ids: &'static str| [("PLANWRIGHT_TELEGRAM_ALLOWED_USERS", ids)];
    let (is, text) = state(&telegram.check(&[]));
    assert_eq!((is.as_str(), text.as_str()), ("notice", "@test_bot answers, and no person may use it"));
    assert_eq!(state(&telegram.check(&people("7"))).1, "@test_bot answers; one person may use it");
    let (is, text) = state(&telegram.check(&people("7,8")));
    assert_eq!((is.as_str(), text.as_str()), ("fine", "@test_bot answers; 2 people may use it"));
    // In webhook mode Telegram has to know the address.
    let webhook = [
        ("PLANWRIGHT_TELEGRAM_ALLOWED_USERS", "7"),
        ("PLANWRIGHT_TELEGRAM_MODE", "webhook"),
        ("PLANWRIGHT_TELEGRAM_WEBHOOK_SECRET", "a-secret-of-the-webhook"),
        ("PLANWRIGHT_SERVER_PUBLIC_URL", "https://plans.example.org"),
    ];
    let (is, text) = state(&telegram.check(&webhook));
    assert!(is == "notice" && text.contains("Telegram has no webhook yet"), "{is}: {text}");
    telegram.api.revoke_token();
    let (is, text) = state(&telegram.check(&people("7")));
    assert!(is == "wrong" && text.contains("does not accept the token"), "{is}: {text}");
}

/// Who starts a server chooses its variables, and must not be able to answer for Telegram.
#[test]
fn a_proxy_and_certificates_are_settings_and_no_variables_of_the_system() {
    let telegram = Telegram::new();
    let proxy = TlsProxy::start(&telegram.api.url);
    let (address, authority) = (proxy.url.as_str(), proxy.authority());
    let authority = authority.to_str().unwrap();
    let set_up = |variables: &[(&str, &str)]| {
        let mut all = vec![("PLANWRIGHT_TELEGRAM_API_URL", TELEGRAM)];
        all.extend(variables);
        telegram.run(&all, &["telegram", "--wait-seconds", "0"])
    };
    let of_system =
        [("HTTPS_PROXY", address), ("https_proxy", address), ("ALL_PROXY", address), ("SSL_CERT_FILE", authority)];
    set_up(&of_system).exits(6).complains("Telegram cannot be reached: no connection");
    let by_proxy = ("PLANWRIGHT_TELEGRAM_PROXY", address);
    // The proxy says that it is Telegram, and no authority that is known says so.
    set_up(&[by_proxy, ("SSL_CERT_FILE", authority)]).exits(6).complains("Telegram cannot be reached: no connection");
    assert!(telegram.api.calls("getMe").is_empty());
    set_up(&[by_proxy, ("PLANWRIGHT_TELEGRAM_CERTIFICATES", authority)])
        .done()
        .tells("The token belongs to @test_bot.");
    set_up(&[by_proxy, ("PLANWRIGHT_TELEGRAM_CERTIFICATES", "/nowhere.pem")])
        .exits(6)
        .complains("/nowhere.pem cannot be read");
    set_up(&[("PLANWRIGHT_TELEGRAM_CERTIFICATES", "own.pem")]).exits(2).complains("is not a path from the root");
}

/// The store keeps the hash of the file, so who can write the file changes nothing.
#[test]
fn certificates_that_were_changed_since_they_were_chosen_are_refused() {
    let telegram = Telegram::new();
    telegram.run(&[], &["plan", "on", "--session", "cli:first-session"]).done();
    let file = telegram.world.path("own.pem");
    let path = file.to_str().unwrap();
    telegram.run(&[], &["config", "set", "telegram.certificates", path]).exits(2).complains("cannot be read");
    std::fs::write(&file, "one").unwrap();
    telegram.run(&[], &["config", "set", "telegram.certificates", path]).done();
    telegram.run(&[], &["config", "show"]).done().tells(&format!("{path} sha256:"));
    let state = || telegram.check(&[])["words"].as_str().unwrap().to_owned();
    assert!(state().contains("has no certificates in PEM"), "{}", state());
    std::fs::write(&file, "two").unwrap();
    assert!(state().contains("is not the file that was chosen"), "{}", state());
}

#[test]
fn webhook_mode_needs_its_settings() {
    let telegram = Telegram::new();
    let mode = ("PLANWRIGHT_TELEGRAM_MODE", "webhook");
    let secret = ("PLANWRIGHT_TELEGRAM_WEBHOOK_SECRET", "a-secret-of-the-webhook");
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    telegram.run(&[mode], &serve).exits(2).complains("`telegram.webhook_secret` is not set");
    telegram.run(&[mode, secret], &serve).exits(2).complains("`server.public_url` is not set");
    let short = ("PLANWRIGHT_TELEGRAM_WEBHOOK_SECRET", "geheim");
    telegram.run(&[mode, short], &serve).exits(2).complains("16 to 256").never_complains("geheim");
}
