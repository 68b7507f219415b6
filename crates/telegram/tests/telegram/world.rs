//! A bot on a store, and the Telegram it talks to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use planwright_agent::Agent;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::Ledger;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_telegram::{TelegramBot, TelegramOptions, UpdateMode, WebhookHandler};
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::bot_api::{FakeBotApi, TOKEN};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const ADA: i64 = 7;
pub(crate) const BOB: i64 = 8;
pub(crate) const STRANGER: i64 = 666;
pub(crate) const GROUP: i64 = -100_500;

/// Nothing here takes that long; it turns a hanging test into a failing one.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) api: FakeBotApi,
    pub(crate) model: ScriptedModel,
    pub(crate) setup: AgentSetup,
    pub(crate) agent: Agent,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) process: Process,
    _folder: TempDir,
}

/// One server with the bot in it.
pub(crate) struct Process {
    /// In webhook mode.
    pub(crate) webhook: Option<WebhookHandler>,
    shutdown: CancellationToken,
    running: Mutex<Option<JoinHandle<()>>>,
}

impl Process {
    /// Ends it in good order.
    pub(crate) async fn stop(&self) {
        self.shutdown.cancel();
        let running = self.running.lock().unwrap().take().unwrap();
        tokio::time::timeout(LONG, running).await.expect("the bot stops").unwrap();
    }
}

impl World {
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(ScriptedModel::new(replies), |_| {}).await
    }

    /// Telegram sends the updates to the servers.
    pub(crate) async fn with_webhook(model: ScriptedModel) -> Self {
        Self::start(model, |_| {}, webhook_options).await
    }

    pub(crate) async fn with(model: ScriptedModel, change: impl FnOnce(&mut AgentSetup)) -> Self {
        Self::start(model, change, options).await
    }

    async fn start(
        model: ScriptedModel,
        change: impl FnOnce(&mut AgentSetup),
        options: impl Fn(&FakeBotApi, &str) -> TelegramOptions,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let api = FakeBotApi::start().await;
        let mut setup = AgentSetup::new(folder.path());
        change(&mut setup);
        let ledger = setup.ledger().await;
        let agent = setup.agent(ledger.clone(), model.clone());
        let process = start(&agent, ledger.clone(), options(&api, "first"));
        Self { api, model, setup, agent, ledger, process, _folder: folder }
    }

    /// Another process on the same store.
    pub(crate) async fn another(&self, owner: &str) -> Process {
        self.another_with(options(&self.api, owner)).await
    }

    pub(crate) async fn another_with(&self, options: TelegramOptions) -> Process {
        let setup = self.setup.clone().owned_by(&options.owner);
        let ledger = setup.ledger().await;
        let agent = setup.agent(ledger.clone(), self.model.clone());
        start(&agent, ledger, options)
    }

    /// The session that the person's private chat is in.
    pub(crate) async fn session_of(&self, chat: i64) -> SessionIdentity {
        let transport = planwright_core::session::TransportChat(format!("telegram:123456:{chat}"));
        self.ledger.active_session(&transport).await.unwrap().unwrap()
    }

    /// Waits until the update is finished, with everything that it led to.
    pub(crate) async fn finished(&self, update: i64) {
        self.api.all_received().await;
        let finished = async {
            while self
                .ledger
                .pending_updates("123456", update - 1, 1)
                .await
                .unwrap()
                .iter()
                .any(|next| next.id == update)
            {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(LONG, finished).await.expect("the update is finished");
    }

    /// What the model was sent as the person's words, in order.
    pub(crate) fn heard(&self) -> Vec<String> {
        let newest = |request: &planwright_core::model::ModelRequest| {
            let reply = request.messages.iter().rev().find_map(|message| match message {
                planwright_core::model::ModelMessage::User { text, .. } => Some(text.clone()),
                _ => None,
            });
            reply.unwrap_or_default()
        };
        self.model.requests().iter().map(newest).collect()
    }
}

pub(crate) fn options(api: &FakeBotApi, owner: &str) -> TelegramOptions {
    TelegramOptions {
        api_url: api.url.clone(),
        allowed_users: vec![ADA, BOB],
        allowed_chats: vec![GROUP],
        public_url: Some("https://plans.example.org".to_owned()),
        owner: owner.to_owned(),
        lease: Duration::from_secs(2),
        edit_pause: Duration::from_millis(30),
        revoked_pause: Duration::from_millis(50),
        conflict_pause: Duration::from_millis(50),
        ..TelegramOptions::new(TOKEN.into())
    }
}

pub(crate) fn start(agent: &Agent, ledger: Arc<dyn Ledger>, options: TelegramOptions) -> Process {
    let shutdown = CancellationToken::new();
    let bot = TelegramBot::new(agent.clone(), ledger, options).unwrap();
    Process { webhook: bot.webhook(), running: Mutex::new(Some(tokio::spawn(bot.run(shutdown.clone())))), shutdown }
}

pub(crate) const WEBHOOK_SECRET: &str = "a-secret-of-the-webhook";

pub(crate) fn webhook_options(api: &FakeBotApi, owner: &str) -> TelegramOptions {
    TelegramOptions { mode: UpdateMode::Webhook { secret: WEBHOOK_SECRET.into() }, ..options(api, owner) }
}

/// A plan with two steps, as a document.
pub(crate) fn plan(markdown: &str) -> Reply {
    Reply::call("plan_set_content", json!({ "plan_markdown": markdown, "title": "Tidy up" }))
}
