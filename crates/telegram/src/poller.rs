//! One process at a time works on the updates of a bot, by a lease. In polling mode it also asks Telegram for them: they are stored
//! together with the place up to which they were received, and handled after that. What strangers write is not stored.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use planwright_engine::ledger::{LedgerResult, Poller, ReceivedUpdate};
use serde_json::Value;
use tokio::time::{interval, sleep};

use crate::access::ChatAccess;
use crate::api::ApiError;
use crate::context::{API_BACKOFF, BotContext, wait_after};
use crate::dispatcher::Dispatcher;
use crate::options::UpdateMode;
use crate::update::Update;
use crate::{menu, webhook};

const PAGE: u32 = 100;
/// The pause after an error of the store.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// After a week without updates Telegram numbers them anew, perhaps with smaller numbers.
const NUMBERED_ANEW: SignedDuration = SignedDuration::from_hours(24 * 6);

pub(crate) async fn run(context: &Arc<BotContext>, username: Option<&str>) {
    prepare(context).await;
    let dispatcher = Dispatcher::new(context, username);
    // The error that was reported last. It is reported again only after a success.
    let mut last_error = None;
    loop {
        match acquire(context).await {
            Ok(Some(poller)) => {
                tracing::info!(event = "telegram_polling", bot = context.bot, "this process works on the updates");
                let ended = match context.options.mode {
                    UpdateMode::Polling => receive(context, poller, &dispatcher, &mut last_error).await,
                    UpdateMode::Webhook { .. } => webhook::follow(context, poller, &dispatcher).await,
                };
                if let Err(error) = ended {
                    tracing::warn!(event = "telegram_store_unavailable", %error);
                    sleep(STORE_PAUSE).await;
                }
            }
            Ok(None) => sleep(context.options.lease / 3).await,
            Err(error) => {
                tracing::warn!(event = "telegram_store_unavailable", %error);
                sleep(STORE_PAUSE * 5).await;
            }
        }
    }
}

/// Tells Telegram how updates reach this server, until it accepts that. The menu is tried once.
async fn prepare(context: &BotContext) {
    if let Err(error) = menu::register(&context.api).await {
        tracing::warn!(event = "telegram_not_prepared", %error, "the menu could not be set");
    }
    let (mut backoff, mut last_error) = (API_BACKOFF, None);
    while let Err(error) = set_mode(context).await {
        let wait = wait_after(&context.options, &error, &mut backoff);
        if last_error.as_ref() != Some(&error) {
            tracing::error!(event = "telegram_not_prepared", %error, "Telegram did not accept how updates are received");
        }
        last_error = Some(error);
        sleep(wait).await;
    }
}

/// Updates that wait at Telegram stay there in both modes.
async fn set_mode(context: &BotContext) -> Result<(), ApiError> {
    match &context.options.mode {
        UpdateMode::Polling => context.api.delete_webhook().await,
        UpdateMode::Webhook { secret } => match context.link(crate::WEBHOOK_PATH) {
            Some(url) => context.api.set_webhook(&url, secret).await,
            None => Err(ApiError::Rejected("the server has no public address".to_owned())),
        },
    }
}

pub(crate) async fn acquire(context: &BotContext) -> LedgerResult<Option<Poller>> {
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
    last_error: &mut Option<ApiError>,
) -> LedgerResult<()> {
    dispatch_pending(context, dispatcher).await?;
    let is_old = context.now().duration_since(poller.received_at) > NUMBERED_ANEW;
    let mut next = Some(poller.next_update).filter(|next| *next > 0 && !is_old);
    let (mut backoff, mut is_first) = (API_BACKOFF, true);
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
                (backoff, *last_error) = (API_BACKOFF, None);
                let Some(received) = Received::read(context, &updates) else { continue };
                let after = received.next.max(next.unwrap_or(i64::MIN));
                let now = context.now();
                if !context.ledger.receive_updates(&poller, &received.updates, after, now).await? {
                    return Ok(());
                }
                next = Some(after);
                // Another process, or a webhook, may have finished some of the first ones.
                if std::mem::take(&mut is_first) {
                    dispatch_pending(context, dispatcher).await?;
                } else {
                    dispatcher.dispatch(received.updates.into_iter().map(|update| (update.id, update.body, None)));
                }
            }
            Err(error) => {
                if last_error.as_ref() != Some(&error) {
                    tracing::warn!(event = "telegram_unavailable", %error);
                }
                let wait = wait_after(&context.options, &error, &mut backoff);
                *last_error = Some(error);
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
pub(crate) async fn dispatch_pending(context: &BotContext, dispatcher: &Dispatcher) -> LedgerResult<()> {
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
    fn read(context: &BotContext, raw: &[Value]) -> Option<Self> {
        let (mut updates, mut next) = (Vec::new(), None);
        for raw in raw {
            let Some(update) = Update::read(raw) else { continue };
            next = next.max(Some(update.id.saturating_add(1)));
            let Some((person, chat)) = update.sender() else { continue };
            match context.access(person, chat) {
                ChatAccess::Allowed => updates.push(ReceivedUpdate { id: update.id, body: raw.to_string() }),
                ChatAccess::Stranger | ChatAccess::OtherGroup => context.strangers.refuse(context, &update),
            }
        }
        updates.sort_by_key(|update| update.id);
        Some(Self { updates, next: next? })
    }
}
