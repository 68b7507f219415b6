//! What all parts of the bot share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::Timestamp;
use planwright_agent::Agent;
use planwright_core::ids::RequestId;
use planwright_core::session::TransportChat;
use planwright_engine::backoff::Backoff;
use planwright_engine::ledger::{Ledger, LedgerError, LedgerResult, NewMessage};
use secrecy::ExposeSecret as _;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::access::Strangers;
use crate::api::{ApiError, BotApi};
use crate::message::OutgoingMessage;
use crate::options::TelegramOptions;
use crate::{CHANNEL, buttons, records};

/// The pauses while Telegram does not answer.
pub(crate) const API_BACKOFF: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));

/// What all parts of the bot share.
#[derive(Debug)]
pub(crate) struct BotContext {
    pub(crate) agent: Agent,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) api: BotApi,
    pub(crate) options: TelegramOptions,
    /// The number of the bot, which is the part of its token that is no secret.
    pub(crate) bot: String,
    /// Wakes the sender.
    pub(crate) put: Notify,
    /// Wakes the process that works on the updates, when it stored one that Telegram sent.
    pub(crate) pushed: Notify,
    pub(crate) strangers: Strangers,
    /// Whether the Bot API server has drafts. An older one does not.
    pub(crate) has_drafts: AtomicBool,
    pub(crate) shutdown: CancellationToken,
}

impl BotContext {
    pub(crate) fn new(agent: Agent, ledger: Arc<dyn Ledger>, options: TelegramOptions) -> Result<Self, ApiError> {
        let api = BotApi::new(&options)?;
        let bot = bot_number(options.token.expose_secret());
        let (put, pushed, shutdown) = (Notify::new(), Notify::new(), CancellationToken::new());
        let (strangers, has_drafts) = (Strangers::default(), AtomicBool::new(true));
        Ok(Self { agent, ledger, api, options, bot, put, pushed, strangers, has_drafts, shutdown })
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.agent.engine().now()
    }

    /// The name of the request that an update leads to. It ends in characters that cannot be guessed, because the key of
    /// a new session is made from them.
    pub(crate) fn request(&self, update: i64) -> Option<RequestId> {
        let name = format!("telegram-{}-{update}", self.bot);
        let code: String =
            buttons::code(&self.options.token, &name).chars().filter(char::is_ascii_alphanumeric).take(16).collect();
        RequestId::new(format!("{name}-{code}")).ok()
    }

    /// The id of a message that answers an update.
    pub(crate) fn message_id(&self, update: i64, part: &str) -> String {
        format!("telegram-{}-{update}-{part}", self.bot)
    }

    pub(crate) fn stored(&self, id: String, message: &OutgoingMessage) -> LedgerResult<NewMessage> {
        Ok(NewMessage {
            id,
            channel: CHANNEL.to_owned(),
            target: format!("{}/{}", self.bot, message.chat),
            body: records::text(message)?,
            due: self.now(),
        })
    }

    /// Puts messages into the outbox, from which they are sent at once.
    pub(crate) async fn put(&self, messages: &[NewMessage]) -> LedgerResult<()> {
        self.ledger.put_messages(messages, self.now()).await?;
        self.put.notify_one();
        Ok(())
    }

    /// Waits before something that failed is tried again. Returns false if the bot stops.
    pub(crate) async fn pause(&self, backoff: &mut Backoff) -> bool {
        timeout(backoff.next_pause(), self.shutdown.cancelled()).await.is_err()
    }

    /// The page of the dashboard.
    pub(crate) fn link(&self, path: &str) -> Option<String> {
        self.options.public_url.as_ref().map(|url| format!("{url}{path}"))
    }
}

/// Where the answers to a chat of the bot with this token go.
pub fn transport_of(token: &str, chat: i64) -> TransportChat {
    chat_of_bot(&bot_number(token), chat)
}

pub(crate) fn chat_of_bot(bot: &str, chat: i64) -> TransportChat {
    TransportChat(format!("telegram:{bot}:{chat}"))
}

/// `123456` of `123456:secret`.
fn bot_number(token: &str) -> String {
    let number: String = token.chars().take_while(char::is_ascii_digit).collect();
    if number.is_empty() { "bot".to_owned() } else { number }
}

/// Whether another try may help.
pub(crate) fn is_transient(error: &LedgerError) -> bool {
    match error {
        LedgerError::Unavailable(_) | LedgerError::Leased(_) | LedgerError::Fenced(_) => true,
        LedgerError::Refused(_)
        | LedgerError::TooNew { .. }
        | LedgerError::Damaged { .. }
        | LedgerError::Internal(_) => false,
    }
}

/// How long to wait before the next try.
pub(crate) fn wait_after(options: &TelegramOptions, error: &ApiError, backoff: &mut Backoff) -> Duration {
    let grown = backoff.next_pause();
    match error {
        ApiError::TooMany(wait) => *wait,
        ApiError::Unauthorized => options.revoked_pause,
        ApiError::Conflict(_) => grown.max(options.conflict_pause),
        ApiError::Forbidden(_) | ApiError::Rejected(_) | ApiError::Unavailable(_) | ApiError::Settings(_) => grown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_not_accepted_is_tried_every_five_minutes() {
        let options = TelegramOptions::new("123456:secret".into());
        let mut pause = API_BACKOFF;
        for _ in 0..3 {
            assert_eq!(wait_after(&options, &ApiError::Unauthorized, &mut pause), Duration::from_secs(300));
        }
        let asked = Duration::from_secs(7);
        assert_eq!(wait_after(&options, &ApiError::TooMany(asked), &mut pause), asked);
        assert!(wait_after(&options, &ApiError::Conflict(String::new()), &mut API_BACKOFF.clone()).as_secs() >= 5);
    }
}
