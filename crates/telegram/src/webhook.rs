//! Webhook mode: Telegram sends updates to any of the servers, which stores them. One process works on them, by the same lease
//! as in polling mode, so that the updates of a chat stay in their order.

use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use planwright_engine::ledger::{LedgerError, LedgerResult, Poller, ReceivedUpdate};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use sha2::Sha256;
use tokio::time::{interval, sleep};

use crate::access::ChatAccess;
use crate::context::BotContext;
use crate::dispatcher::Dispatcher;
use crate::options::UpdateMode;
use crate::poller;
use crate::update::Update;

/// How often the store is read for updates that other servers took.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Takes the updates that Telegram sends to this server. Clones share everything.
#[derive(Debug, Clone)]
pub struct WebhookHandler {
    context: Arc<BotContext>,
}

/// Why an update is not taken.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    #[error("the body is not an update of Telegram: {0}")]
    Malformed(&'static str),
    /// Telegram sends the update again.
    #[error("the update could not be stored: {0}")]
    Store(#[from] LedgerError),
}

impl WebhookHandler {
    /// `None` in polling mode.
    pub(crate) fn new(context: &Arc<BotContext>) -> Option<Self> {
        match context.options.mode {
            UpdateMode::Polling => None,
            UpdateMode::Webhook { .. } => Some(Self { context: Arc::clone(context) }),
        }
    }

    /// Whether a request presents the secret. Only keyed hashes are compared, in constant time.
    pub fn is_secret(&self, presented: &[u8]) -> bool {
        let UpdateMode::Webhook { secret } = &self.context.options.mode else { return false };
        let hash = |text: &[u8]| {
            let mac = Hmac::<Sha256>::new_from_slice(self.context.options.token.expose_secret().as_bytes()).ok()?;
            Some(mac.chain_update(text))
        };
        let expected = hash(secret.expose_secret().as_bytes()).map(|mac| mac.finalize().into_bytes());
        hash(presented).zip(expected).is_some_and(|(mac, expected)| mac.verify(&expected).is_ok())
    }

    /// Stores an update. An update that is stored already is not stored again.
    pub async fn receive(&self, body: &[u8]) -> Result<(), WebhookError> {
        let raw: Value = serde_json::from_slice(body).map_err(|_| WebhookError::Malformed("it is not JSON"))?;
        let update = Update::read(&raw).ok_or(WebhookError::Malformed("it has no `update_id`"))?;
        let context = &self.context;
        // An update of another kind is taken, so that Telegram does not send it again.
        let Some((person, chat)) = update.sender() else { return Ok(()) };
        match context.access(person, chat) {
            ChatAccess::Allowed => {
                let updates = [ReceivedUpdate { id: update.id, body: raw.to_string() }];
                if !context.ledger.receive_pushed(&context.bot, &updates).await?.is_empty() {
                    context.pushed.notify_one();
                }
            }
            ChatAccess::Stranger | ChatAccess::OtherGroup => context.strangers.refuse(context, &update),
        }
        Ok(())
    }
}

/// Works on stored updates until the lease is lost.
pub(crate) async fn follow(context: &BotContext, poller: Poller, dispatcher: &Dispatcher) -> LedgerResult<()> {
    let mut renewal = interval(context.options.lease / 3);
    loop {
        poller::dispatch_pending(context, dispatcher).await?;
        tokio::select! {
            () = context.pushed.notified() => {}
            () = sleep(POLL_INTERVAL) => {}
            _ = renewal.tick() => {
                let held = poller::acquire(context).await?;
                if held.is_none_or(|held| held.fence != poller.fence) {
                    return Ok(());
                }
            }
        }
    }
}
