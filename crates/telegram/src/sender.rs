//! Sends what waits in the outbox. The messages of one chat are sent one after another.

use std::time::Duration;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use planwright_engine::backoff::Backoff;
use planwright_engine::ledger::{Delivery, LedgerResult, OutboxMessage, TakeMessages, TakeOrder};
use tokio::time::{sleep, timeout};

use crate::CHANNEL;
use crate::api::ApiError;
use crate::card_watch::SentCard;
use crate::context::BotContext;
use crate::markdown::FormattedText;
use crate::message::{Content, Markup, OutgoingMessage};
use crate::records;

/// After this time another process sends the messages of one that died.
const CLAIM_DURATION: SignedDuration = SignedDuration::from_secs(45);
/// How often the outbox is looked at for messages of other processes and for those that are tried again.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
const BATCH_SIZE: u32 = 32;
/// The pauses between the attempts of a message.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(256));
/// A message that could not be sent for so long is given up.
const DELIVERY_TIMEOUT: SignedDuration = SignedDuration::from_hours(48);
const FORGET_AFTER: SignedDuration = SignedDuration::from_hours(24 * 14);

/// Runs until the bot stops. What it has begun to send is noted before it ends.
pub(crate) async fn run(context: &BotContext) {
    let mut last_forgotten = Timestamp::UNIX_EPOCH;
    while !context.shutdown.is_cancelled() {
        match send_due(context).await {
            Ok(0) => {
                tokio::select! {
                    () = context.shutdown.cancelled() => return,
                    _ = timeout(POLL_INTERVAL, context.put.notified()) => {}
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(event = "outbox_unavailable", %error);
                sleep(POLL_INTERVAL * 5).await;
            }
        }
        let now = context.now();
        if now.duration_since(last_forgotten) > SignedDuration::from_hours(1) {
            last_forgotten = now;
            forget(context, now).await;
        }
    }
}

async fn forget(context: &BotContext, now: Timestamp) {
    if let Ok(before) = now.checked_sub(FORGET_AFTER) {
        let forgotten = context.ledger.forget_messages(before).await;
        let forgotten = forgotten.and(context.ledger.forget_updates(before).await);
        if let Err(error) = forgotten {
            tracing::warn!(event = "outbox_not_cleared", %error);
        }
    }
}

/// Sends one message of each chat that has one. Returns how many were tried.
pub(crate) async fn send_due(context: &BotContext) -> LedgerResult<usize> {
    let now = context.now();
    let take = TakeMessages {
        channel: CHANNEL.to_owned(),
        owner: context.options.owner.clone(),
        now,
        until: now.checked_add(CLAIM_DURATION).unwrap_or(now),
        limit: BATCH_SIZE,
        order: TakeOrder::OneOfEachTarget,
    };
    let messages = context.ledger.take_messages(&take).await?;
    let sent = join_all(messages.iter().map(|message| deliver(context, message))).await;
    sent.into_iter().collect::<LedgerResult<Vec<()>>>()?;
    Ok(messages.len())
}

async fn deliver(context: &BotContext, stored: &OutboxMessage) -> LedgerResult<()> {
    let delivery = match serde_json::from_str::<OutgoingMessage>(&stored.body) {
        Ok(message) => match send(context, &message).await {
            Ok(id) => {
                remember(context, &message, id).await?;
                Delivery::Sent
            }
            Err(error) => failed(context, stored, &error),
        },
        Err(_) => Delivery::Failed { why: "the message cannot be read".to_owned() },
    };
    context.ledger.settle_message(&stored.id, &context.options.owner, &delivery, context.now()).await?;
    Ok(())
}

fn failed(context: &BotContext, stored: &OutboxMessage, error: &ApiError) -> Delivery {
    let (now, why) = (context.now(), error.to_string());
    let is_old = now.duration_since(stored.created_at) > DELIVERY_TIMEOUT;
    if !error.is_transient() || is_old {
        tracing::warn!(event = "message_not_delivered", message = stored.id, %error);
        return Delivery::Failed { why };
    }
    let wait = match error {
        ApiError::TooMany(wait) => *wait,
        ApiError::Unauthorized => Duration::from_secs(300),
        ApiError::Conflict(_)
        | ApiError::Forbidden(_)
        | ApiError::Rejected(_)
        | ApiError::Unavailable(_)
        | ApiError::Settings(_) => BACKOFF.after(stored.attempts),
    };
    Delivery::Retry { at: now.checked_add(wait).unwrap_or(now), why }
}

/// Sends or replaces a message, and gives its id.
async fn send(context: &BotContext, message: &OutgoingMessage) -> Result<i64, ApiError> {
    let chat = message.chat;
    match &message.content {
        Content::Document { name, content, caption } => context.api.send_document(chat, name, content, caption).await,
        Content::Text { text, entities, markup } => {
            let text = FormattedText { text: text.clone(), entities: entities.clone() };
            match send_text(context, message, &text, markup.as_ref()).await {
                // Text that Telegram does not take with its look is sent without.
                Err(ApiError::Rejected(why)) if !text.entities.is_empty() && why.to_lowercase().contains("entit") => {
                    send_text(context, message, &FormattedText::plain(text.text), markup.as_ref()).await
                }
                outcome => outcome,
            }
        }
    }
}

async fn send_text(
    context: &BotContext,
    message: &OutgoingMessage,
    text: &FormattedText,
    markup: Option<&Markup>,
) -> Result<i64, ApiError> {
    if let Some(replaced) = message.replaces {
        let keyboard = match markup {
            Some(Markup::Buttons(keyboard)) => Some(keyboard),
            Some(Markup::ForceReply { .. }) | None => None,
        };
        match context.api.edit_message(message.chat, replaced, text, keyboard).await {
            Ok(()) => return Ok(replaced),
            // The person deleted it, or it is too old.
            Err(ApiError::Rejected(why)) if !why.to_lowercase().contains("entit") => {}
            Err(error) => return Err(error),
        }
    }
    context.api.send_message(message.chat, text, markup).await
}

/// Notes what a message is a card of, so that it is found when that is decided elsewhere.
async fn remember(context: &BotContext, message: &OutgoingMessage, id: i64) -> LedgerResult<()> {
    let ledger = context.ledger.as_ref();
    if let (Some(subject), Content::Text { text, entities, .. }) = (&message.card, &message.content) {
        let key = card_key(context, &subject.session.to_string(), message.chat, id);
        let (subject, text, entities) = (subject.clone(), text.clone(), entities.clone());
        let card = SentCard { subject, chat: message.chat, message: id, text, entities };
        records::replace(ledger, &key, &card).await?;
    }
    if let Some(prompt) = &message.prompt {
        records::replace(ledger, &prompt_key(context, message.chat, id), prompt).await?;
    }
    Ok(())
}

pub(crate) fn card_key(context: &BotContext, session: &str, chat: i64, message: i64) -> String {
    format!("card/{}/{session}/{chat}/{message}", context.bot)
}

pub(crate) fn prompt_key(context: &BotContext, chat: i64, message: i64) -> String {
    format!("prompt/{}/{chat}/{message}", context.bot)
}
