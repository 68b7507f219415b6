//! Updates are received by one process at a time. They are stored together with the place up to which they were received,
//! and handled after that. What strangers write is not stored.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::SignedDuration;
use planwright_engine::chat_updates::{Poller, ReceivedUpdate};
use planwright_engine::ledger::LedgerResult;
use serde_json::Value;
use tokio::time::{interval, sleep};

use crate::bot::{BotContext, wait_after};
use crate::dispatcher::Dispatcher;
use crate::markdown::FormattedText;
use crate::update::{Chat, Person, Update, UpdateContent};

const PAGE: u32 = 100;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// After a week without updates Telegram numbers them anew, perhaps with smaller numbers.
const NUMBERED_ANEW: SignedDuration = SignedDuration::from_hours(24 * 6);
/// How many strangers are remembered, so that each gets one line.
const STRANGERS: usize = 1_000;
const PRIVATE: &str = "This bot is private.";

/// Whether a person may use the bot where they wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Allowed,
    Stranger,
    /// An allowed person in a group that is not listed.
    OtherGroup,
}

impl BotContext {
    pub(crate) fn access(&self, person: &Person, chat: Option<&Chat>) -> Access {
        let options = &self.options;
        if !options.allowed_users.contains(&person.id) {
            return Access::Stranger;
        }
        match chat {
            Some(chat) if !chat.is_private() && !options.allowed_chats.contains(&chat.id) => Access::OtherGroup,
            Some(_) | None => Access::Allowed,
        }
    }
}

pub(crate) async fn run(context: &std::sync::Arc<BotContext>, username: Option<&str>) {
    let dispatcher = Dispatcher::new(context, username);
    let strangers = Strangers::default();
    loop {
        match acquire(context).await {
            Ok(Some(poller)) => {
                tracing::info!(event = "telegram_polling", bot = context.bot, "this process receives the updates");
                if let Err(error) = receive(context, poller, &dispatcher, &strangers).await {
                    tracing::warn!(event = "telegram_store_unavailable", %error);
                    sleep(FIRST_PAUSE).await;
                }
            }
            Ok(None) => sleep(context.options.lease / 3).await,
            Err(error) => {
                tracing::warn!(event = "telegram_store_unavailable", %error);
                sleep(FIRST_PAUSE * 5).await;
            }
        }
    }
}

async fn acquire(context: &BotContext) -> LedgerResult<Option<Poller>> {
    let options = &context.options;
    context.ledger.acquire_poller(&context.bot, &options.owner, context.now(), options.lease).await
}

/// Lets another process receive at once.
pub(crate) async fn release(context: &BotContext) {
    if let Ok(Some(poller)) = acquire(context).await {
        let _ = context.ledger.release_poller(&poller).await;
    }
}

/// Receives until the right to is lost.
async fn receive(
    context: &BotContext,
    poller: Poller,
    dispatcher: &Dispatcher,
    strangers: &Strangers,
) -> LedgerResult<()> {
    dispatch_pending(context, dispatcher).await?;
    let is_old = context.now().duration_since(poller.received_at) > NUMBERED_ANEW;
    let mut next = Some(poller.next_update).filter(|next| *next > 0 && !is_old);
    let (mut pause, mut said) = (FIRST_PAUSE, None);
    let mut renewal = interval(context.options.lease / 3);
    loop {
        let updates = {
            let mut polling = std::pin::pin!(context.api.get_updates(next, context.options.poll_seconds));
            loop {
                tokio::select! {
                    updates = &mut polling => break updates,
                    _ = renewal.tick() => {
                        let held = acquire(context).await?;
                        if held.is_none_or(|held| held.fence != poller.fence) {
                            return Ok(());
                        }
                    }
                }
            }
        };
        match updates {
            Ok(updates) => {
                (pause, said) = (FIRST_PAUSE, None);
                let Some(received) = Received::read(context, &updates, strangers) else { continue };
                let after = received.next.max(next.unwrap_or(i64::MIN));
                let now = context.now();
                if !context.ledger.receive_updates(&poller, &received.updates, after, now).await? {
                    return Ok(());
                }
                next = Some(after);
                dispatcher.dispatch(received.updates.into_iter().map(|update| (update.id, update.body, None)));
            }
            Err(error) => {
                if said.as_ref() != Some(&error) {
                    tracing::warn!(event = "telegram_unavailable", %error);
                }
                let wait = wait_after(&error, &mut pause);
                said = Some(error);
                // The right is kept during short pauses only.
                if wait > context.options.lease {
                    context.ledger.release_poller(&poller).await?;
                    sleep(wait).await;
                    return Ok(());
                }
                sleep(wait).await;
            }
        }
    }
}

/// What another process received and did not finish.
async fn dispatch_pending(context: &BotContext, dispatcher: &Dispatcher) -> LedgerResult<()> {
    let mut after = i64::MIN;
    loop {
        let pending = context.ledger.pending_updates(&context.bot, after, PAGE).await?;
        let Some(last) = pending.last() else { return Ok(()) };
        after = last.id;
        dispatcher.dispatch(pending.into_iter().map(|update| (update.id, update.body, update.session)));
    }
}

/// The updates of one answer that are stored.
#[derive(Debug)]
struct Received {
    updates: Vec<ReceivedUpdate>,
    next: i64,
}

impl Received {
    /// `None` if nothing came that has a number.
    fn read(context: &BotContext, raw: &[Value], strangers: &Strangers) -> Option<Self> {
        let (mut updates, mut next) = (Vec::new(), None);
        for raw in raw {
            let Some(update) = Update::read(raw) else { continue };
            next = next.max(Some(update.id.saturating_add(1)));
            let Some((person, chat)) = update.sender() else { continue };
            match context.access(person, chat) {
                Access::Allowed => updates.push(ReceivedUpdate { id: update.id, body: raw.to_string() }),
                Access::Stranger | Access::OtherGroup => strangers.refuse(context, &update),
            }
        }
        updates.sort_by_key(|update| update.id);
        Some(Self { updates, next: next? })
    }
}

/// Strangers who were told that the bot is private. Nothing of what they write is kept.
#[derive(Debug, Default)]
pub(crate) struct Strangers {
    told: Mutex<HashSet<i64>>,
}

impl Strangers {
    fn refuse(&self, context: &BotContext, update: &Update) {
        let Some((person, chat)) = update.sender() else { return };
        tracing::info!(event = "telegram_refused", "a person who is not allowed wrote to the bot");
        let is_new = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.len() < STRANGERS && told.insert(person.id)
        };
        let api = context.api.clone();
        match &update.content {
            UpdateContent::Press(press) => {
                let press = press.id.clone();
                tokio::spawn(async move { api.answer_press(&press, PRIVATE).await });
            }
            UpdateContent::Message(_) if is_new => {
                let Some(chat) = chat.map(|chat| chat.id) else { return };
                tokio::spawn(async move { api.send_message(chat, &FormattedText::plain(PRIVATE), None).await });
            }
            UpdateContent::Message(_)
            | UpdateContent::Edited { .. }
            | UpdateContent::InlineQuery { .. }
            | UpdateContent::Other => {}
        }
    }
}
