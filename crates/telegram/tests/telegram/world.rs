//! A bot on a store, and the Telegram it talks to.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::session::SessionIdentity;
use planwright_engine::agent::Agent;
use planwright_engine::ledger::{Ledger, LedgerResult};
use planwright_engine::server_ledger::ServerLedger;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_telegram::{TelegramBot, TelegramOptions};
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::bot_api::{FakeBotApi, TOKEN};
use planwright_test_support::forwarding::{Forwarding, ForwardingLedger, ForwardingServerLedger};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const ADA: i64 = 7;
pub(crate) const BOB: i64 = 8;
pub(crate) const STRANGER: i64 = 666;
pub(crate) const GROUP: i64 = -100_500;

pub(crate) struct World {
    pub(crate) api: FakeBotApi,
    pub(crate) model: ScriptedModel,
    pub(crate) setup: AgentSetup,
    pub(crate) agent: Agent,
    pub(crate) ledger: Arc<dyn ServerLedger>,
    pub(crate) process: Process,
    _folder: TempDir,
}

/// One server with the bot in it.
pub(crate) struct Process {
    shutdown: CancellationToken,
    running: JoinHandle<()>,
}

impl Process {
    /// Ends it in good order.
    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        self.running.await.unwrap();
    }
}

impl World {
    pub(crate) async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(ScriptedModel::new(replies), |_| {}).await
    }

    pub(crate) async fn with(model: ScriptedModel, change: impl FnOnce(&mut AgentSetup)) -> Self {
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
        let setup = self.setup.clone().owned_by(owner);
        let ledger = setup.ledger().await;
        let agent = setup.agent(ledger.clone(), self.model.clone());
        start(&agent, ledger, options(&self.api, owner))
    }

    /// The session that the person's private chat is in.
    pub(crate) async fn session_of(&self, chat: i64) -> SessionIdentity {
        let transport = planwright_core::session::TransportChat(format!("telegram:123456:{chat}"));
        self.ledger.active_session(&transport).await.unwrap().unwrap()
    }

    /// Waits until the update is finished, with everything that it led to.
    pub(crate) async fn finished(&self, update: i64) {
        self.api.all_received().await;
        while self.ledger.pending_updates("123456", update - 1, 1).await.unwrap().iter().any(|next| next.id == update) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// What the model was sent as the person's words, in order.
    pub(crate) fn heard(&self) -> Vec<String> {
        let newest = |request: &planwright_core::model::ModelRequest| {
            let said = request.messages.iter().rev().find_map(|message| match message {
                planwright_core::model::ModelMessage::User { text, .. } => Some(text.clone()),
                _ => None,
            });
            said.unwrap_or_default()
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
        ..TelegramOptions::new(TOKEN.into())
    }
}

pub(crate) fn start(agent: &Agent, ledger: Arc<dyn ServerLedger>, options: TelegramOptions) -> Process {
    let shutdown = CancellationToken::new();
    let bot = TelegramBot::new(agent.clone(), ledger, options).unwrap();
    Process { running: tokio::spawn(bot.run(shutdown.clone())), shutdown }
}

/// A plan with two steps, as a document.
pub(crate) fn plan(markdown: &str) -> Reply {
    Reply::call("plan_set_content", json!({ "plan_markdown": markdown, "title": "Tidy up" }))
}

/// A ledger that waits for ever at one place, as if the process were killed there.
#[derive(Debug)]
pub(crate) struct KilledLedger {
    inner: Arc<dyn ServerLedger>,
    at: KillPoint,
    reached: watch::Sender<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KillPoint {
    Before(&'static str),
    After(&'static str),
}

impl KilledLedger {
    /// The ledger, and what becomes true when the place is reached.
    pub(crate) fn around(
        inner: Arc<dyn ServerLedger>,
        at: KillPoint,
    ) -> (Arc<dyn ServerLedger>, watch::Receiver<bool>) {
        let (reached, receiver) = watch::channel(false);
        (Arc::new(Forwarding(Self { inner, at, reached })), receiver)
    }

    async fn pass(&self, here: KillPoint) {
        if self.at == here {
            self.reached.send_replace(true);
        }
        if *self.reached.borrow() {
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait]
impl ForwardingLedger for KilledLedger {
    fn inner(&self) -> LedgerResult<&dyn Ledger> {
        Ok(self.inner.as_ref())
    }
}

#[async_trait]
impl ForwardingServerLedger for KilledLedger {
    fn inner_server(&self) -> &dyn ServerLedger {
        self.inner.as_ref()
    }

    async fn before(&self, method: &'static str) {
        self.pass(KillPoint::Before(method)).await;
    }

    async fn after(&self, method: &'static str) {
        self.pass(KillPoint::After(method)).await;
    }
}
