//! Sends notifications from the outbox. What is due for one address at the same time is sent in one message.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use planwright_core::session::SessionIdentity;
use planwright_core::visible::visible;
use planwright_engine::backoff::Backoff;
use planwright_engine::ledger::{Delivery, LedgerError, LedgerResult, OutboxMessage, TakeMessages, TakeOrder};
use sha2::{Digest as _, Sha256};
use tokio::time::{sleep, timeout};

use crate::channels::{ChannelError, Notification, NotifiedEvent, WebPush};
use crate::notice::{FoundNotice, Notice, NoticeKind, Subject, find};
use crate::notifier::{Shared, StoredNotification};
use crate::options::NotifyTarget;

const CLAIM_DURATION: SignedDuration = SignedDuration::from_secs(120);
/// How often the outbox is looked at.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
const BATCH_SIZE: u32 = 50;
/// A notification that could not be sent for so long is given up.
const DELIVERY_TIMEOUT: SignedDuration = SignedDuration::from_hours(24);
/// The pauses between the attempts of a notification.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(3_600));

pub(crate) async fn run(shared: &Shared, target: NotifyTarget) {
    loop {
        match send_due(shared, target).await {
            // Where no browser gets pushes, the outbox is not looked at for them.
            Ok(0) if target == NotifyTarget::Push && !shared.is_any_push().await => {
                let _ = timeout(POLL_INTERVAL * 5, shared.put.notified()).await;
            }
            Ok(0) => {
                let _ = timeout(POLL_INTERVAL, shared.put.notified()).await;
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(event = "outbox_unavailable", %error);
                sleep(POLL_INTERVAL * 5).await;
            }
        }
    }
}

pub(crate) async fn send_due(shared: &Shared, target: NotifyTarget) -> LedgerResult<usize> {
    let now = shared.engine.now();
    let take = TakeMessages {
        channel: target.channel(),
        owner: shared.options.owner.clone(),
        now,
        until: now.checked_add(CLAIM_DURATION).unwrap_or(now),
        limit: BATCH_SIZE,
        order: TakeOrder::Any,
    };
    let messages = shared.ledger.take_messages(&take).await?;
    let count = messages.len();
    let mut by_address: BTreeMap<String, Vec<(OutboxMessage, StoredNotification, FoundNotice)>> = BTreeMap::new();
    for message in messages {
        let Ok(stored) = serde_json::from_str::<StoredNotification>(&message.body) else {
            settle(shared, &message, Delivery::Failed { why: "the notification cannot be read".to_owned() }).await?;
            continue;
        };
        match current(shared, &stored.notice).await? {
            Some(found) => by_address.entry(message.target.clone()).or_default().push((message, stored, found)),
            None => settle(shared, &message, Delivery::Dropped { why: "it is decided".to_owned() }).await?,
        }
    }
    for (address, messages) in by_address {
        let outcome = send(shared, target, &address, &messages).await?;
        for (message, _, _) in &messages {
            settle(shared, message, delivery(shared, message, &outcome)).await?;
        }
    }
    Ok(count)
}

/// The notice as it is now. `None` if it is decided.
async fn current(shared: &Shared, notice: &Notice) -> LedgerResult<Option<FoundNotice>> {
    let nothing = FoundNotice { notice: notice.clone(), subject: Subject::None };
    match notice.kind {
        // Its run is named by what is found now.
        NoticeKind::Finished | NoticeKind::Failed if notice.id.starts_with("run-") => {
            let Ok(session) = notice.session.parse::<SessionIdentity>() else { return Ok(None) };
            let found = find(shared.ledger.as_ref(), &session, notice.since).await?;
            return Ok(Some(found.into_iter().find(|found| found.notice.id == notice.id).unwrap_or(nothing)));
        }
        NoticeKind::Finished | NoticeKind::Failed | NoticeKind::Damage | NoticeKind::Weakened => {
            return Ok(Some(nothing));
        }
        NoticeKind::Waits | NoticeKind::Budget => {}
    }
    let Ok(session) = notice.session.parse::<SessionIdentity>() else { return Ok(None) };
    let found = find(shared.ledger.as_ref(), &session, Timestamp::MAX).await?;
    Ok(found.into_iter().find(|found| found.notice.id == notice.id))
}

async fn send(
    shared: &Shared,
    target: NotifyTarget,
    address: &str,
    messages: &[(OutboxMessage, StoredNotification, FoundNotice)],
) -> LedgerResult<Result<(), ChannelError>> {
    match target {
        NotifyTarget::Telegram => send_cards(shared, address, messages).await.map(Ok),
        NotifyTarget::Push => send_push(shared, address, messages).await,
        NotifyTarget::Desktop | NotifyTarget::Webhook | NotifyTarget::Ntfy | NotifyTarget::Email => {
            let notification = notification(shared, messages);
            Ok(match shared.channel(target) {
                Some(channel) => channel.send(&notification).await,
                None => Err(ChannelError::Permanent("it is not set up any more".to_owned())),
            })
        }
    }
}

/// To one browser. One that its push service does not know any more is forgotten.
async fn send_push(
    shared: &Shared,
    subscription: &str,
    messages: &[(OutboxMessage, StoredNotification, FoundNotice)],
) -> LedgerResult<Result<(), ChannelError>> {
    let push = shared.engine.push();
    let Some(subscription) = push.get(subscription).await? else {
        return Ok(Err(ChannelError::Gone("pushes were switched off in the browser".to_owned())));
    };
    let key = push.key().await?;
    let options = &shared.options.push;
    let details = messages.iter().filter(|_| options.details).filter_map(|(_, _, found)| details(found));
    let details = details.collect::<Vec<_>>().join("\n");
    let channel = WebPush { options, key: &key, subscription: &subscription };
    let sent = channel.send(&notification(shared, messages), &details, shared.engine.now()).await;
    if let Err(ChannelError::Gone(_)) = &sent {
        push.remove(&subscription.id).await?;
    }
    Ok(sent)
}

/// More than the title: the steps of a plan, and what a call is made with.
fn details(found: &FoundNotice) -> Option<String> {
    match &found.subject {
        Subject::Plan(plan) => {
            let steps = plan.content.steps();
            Some(steps.iter().map(|step| visible(&step.description)).collect::<Vec<_>>().join("\n"))
        }
        Subject::Ask(waiting) => Some(waiting.ask.subject.title()),
        Subject::Run(..) | Subject::None => None,
    }
}

/// The cards go into the outbox of the bot, which sends each once.
async fn send_cards(
    shared: &Shared,
    address: &str,
    messages: &[(OutboxMessage, StoredNotification, FoundNotice)],
) -> LedgerResult<()> {
    let (Some(cards), Ok(user)) = (&shared.telegram, address.parse::<i64>()) else {
        return Err(LedgerError::Internal("a notification has no address".to_owned()));
    };
    for (message, stored, found) in messages {
        let id = format!("{}-card", message.id);
        match &found.subject {
            Subject::Plan(plan) => cards.send_plan(&id, user, plan).await?,
            Subject::Ask(waiting) => cards.send_ask(&id, user, waiting).await?,
            Subject::Run(session, run) if cards.tells_run(session, user, run).await? => {}
            Subject::Run(..) | Subject::None => {
                let Notice { what, title, path, .. } = &stored.notice;
                cards.send_text(&id, user, &format!("{what}: {title}"), path).await?;
            }
        }
    }
    Ok(())
}

fn notification(shared: &Shared, messages: &[(OutboxMessage, StoredNotification, FoundNotice)]) -> Notification {
    let mut hash = Sha256::new();
    for (message, _, _) in messages {
        hash.update(message.id.as_bytes());
        hash.update(b"\n");
    }
    let mut id = hex::encode(hash.finalize());
    id.truncate(32);
    let events = messages.iter().map(|(_, stored, _)| {
        let Notice { id, kind, session, what, title, since, path } = stored.notice.clone();
        let url = shared.options.public_url.as_ref().map(|base| format!("{base}{path}"));
        NotifiedEvent { id, kind, what, title, session, since, path, url, escalated: stored.escalated }
    });
    Notification { id, events: events.collect() }
}

fn delivery(shared: &Shared, message: &OutboxMessage, outcome: &Result<(), ChannelError>) -> Delivery {
    let now = shared.engine.now();
    match outcome {
        Ok(()) => Delivery::Sent,
        Err(ChannelError::Transient(why)) if now.duration_since(message.created_at) < DELIVERY_TIMEOUT => {
            let at = now.checked_add(BACKOFF.after(message.attempts)).unwrap_or(now);
            Delivery::Retry { at, why: why.clone() }
        }
        Err(ChannelError::Gone(why)) => Delivery::Dropped { why: why.clone() },
        Err(ChannelError::Transient(why) | ChannelError::Permanent(why)) => {
            tracing::warn!(event = "notification_not_delivered", channel = message.channel, why);
            Delivery::Failed { why: why.clone() }
        }
    }
}

async fn settle(shared: &Shared, message: &OutboxMessage, delivery: Delivery) -> LedgerResult<()> {
    shared.ledger.settle_message(&message.id, &shared.options.owner, &delivery, shared.engine.now()).await?;
    Ok(())
}
