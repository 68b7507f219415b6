//! Follows the store, and stores what is to be told.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use planwright_core::plan::PlanStatus;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::outbox::NewMessage;
use planwright_engine::server_ledger::{ServerLedger, StoreChange};
use planwright_telegram::InboxCards;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::channels::{Desktop, Email, NotifyChannel, Webhook};
use crate::deliver;
use crate::happening::{Found, Happening, HappeningKind, find};
use crate::options::{NotifyOptions, Target};

/// Changes that come closer together are looked at once.
const BUNDLE: Duration = Duration::from_millis(500);
/// How often it is noted up to when everything was looked at.
const MARK: Duration = Duration::from_secs(60);
/// Servers may be stopped and started; what ended shortly before the mark is looked at again.
const OVERLAP: SignedDuration = SignedDuration::from_mins(10);
const MARK_KEY: &str = "notify/since";
const PAGE: u32 = 200;
/// Ids of messages that this process stored, so that it does not store them with every change.
const KNOWN: usize = 10_000;

/// A notifier that is set up and does not run yet. Clones share everything.
#[derive(Debug, Clone)]
pub struct Notifier {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) ledger: Arc<dyn ServerLedger>,
    pub(crate) options: NotifyOptions,
    pub(crate) telegram: Option<InboxCards>,
    pub(crate) webhook: Option<Webhook>,
    pub(crate) email: Option<Email>,
    pub(crate) desktop: Desktop,
    pub(crate) put: Notify,
    known: Mutex<HashSet<String>>,
}

/// A message in the outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredNotification {
    pub(crate) happening: Happening,
    pub(crate) escalated: bool,
}

impl Notifier {
    /// Fails with words if a target is named and not set up.
    pub fn new(
        engine: Engine,
        ledger: Arc<dyn ServerLedger>,
        options: NotifyOptions,
        telegram: Option<InboxCards>,
    ) -> Result<Self, String> {
        let webhook = options.webhook.as_ref().map(Webhook::new).transpose()?;
        let email = options.email.as_ref().map(Email::new).transpose()?;
        for target in options.to.iter().chain(&options.escalate_to) {
            let is_there = match target {
                Target::Telegram => telegram.is_some(),
                Target::Webhook => webhook.is_some(),
                Target::Email => email.is_some(),
                Target::Desktop => true,
            };
            if !is_there {
                return Err(format!("`notify` names {}, which is not set up", target.as_str()));
            }
        }
        let shared = Shared {
            engine,
            ledger,
            options,
            telegram,
            webhook,
            email,
            desktop: Desktop::default(),
            put: Notify::new(),
            known: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Follows and sends until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        let shared = &self.shared;
        let targets: BTreeSet<_> = shared.options.to.iter().chain(&shared.options.escalate_to).copied().collect();
        let sending = targets.into_iter().map(|target| deliver::run(shared, target));
        let work = async {
            tokio::join!(follow(shared), join_all(sending));
        };
        tokio::select! {
            () = work => {}
            () = shutdown.cancelled() => {}
        }
    }

    /// Looks at one session and stores what is to be told about it.
    pub async fn look(&self, session: &SessionIdentity, since: Timestamp) -> LedgerResult<()> {
        look(&self.shared, session, since).await
    }

    /// Sends what is due now. Returns how many messages were taken.
    pub async fn send_due(&self, target: Target) -> LedgerResult<usize> {
        deliver::send_due(&self.shared, target).await
    }
}

impl Shared {
    pub(crate) fn channel(&self, target: Target) -> Option<&dyn NotifyChannel> {
        match target {
            Target::Telegram => None,
            Target::Desktop => Some(&self.desktop),
            Target::Webhook => self.webhook.as_ref().map(|webhook| webhook as &dyn NotifyChannel),
            Target::Email => self.email.as_ref().map(|email| email as &dyn NotifyChannel),
        }
    }

    /// The addresses within a target.
    fn addresses(&self, target: Target) -> Vec<String> {
        match target {
            Target::Telegram => self.telegram.iter().flat_map(|cards| cards.users()).map(i64::to_string).collect(),
            Target::Desktop | Target::Webhook | Target::Email => vec![target.as_str().to_owned()],
        }
    }
}

async fn follow(shared: &Shared) {
    let mut changes = shared.ledger.changes();
    let mut since = None;
    loop {
        let begun = match since {
            Some(since) => since,
            None => match mark(shared).await {
                Ok(found) => *since.insert(found),
                Err(error) => {
                    tracing::warn!(event = "notify_unavailable", %error);
                    sleep(MARK).await;
                    continue;
                }
            },
        };
        if let Err(error) = look_everywhere(shared, begun).await {
            tracing::warn!(event = "notify_unavailable", %error);
        }
        let mut marked = shared.engine.now();
        loop {
            let first = match timeout(MARK, changes.recv()).await {
                Ok(Ok(StoreChange::Session(session))) => Some(session),
                Ok(Ok(StoreChange::Anywhere) | Err(RecvError::Lagged(_))) => break,
                Ok(Err(RecvError::Closed)) => return,
                Err(_) => None,
            };
            let mut sessions: BTreeSet<_> = first.into_iter().collect();
            let mut all = false;
            if !sessions.is_empty() {
                sleep(BUNDLE).await;
            }
            while let Ok(change) = changes.try_recv() {
                match change {
                    StoreChange::Session(session) => drop(sessions.insert(session)),
                    StoreChange::Anywhere => all = true,
                }
            }
            for session in &sessions {
                if let Err(error) = look(shared, session, begun).await {
                    tracing::warn!(event = "notify_unavailable", %error);
                }
            }
            let now = shared.engine.now();
            if now.duration_since(marked) >= SignedDuration::try_from(MARK).unwrap_or(SignedDuration::ZERO) {
                marked = now;
                set_mark(shared, now).await;
            }
            if all {
                break;
            }
        }
    }
}

/// People are notified of work that ended after this time: the first start, or shortly before the last stop.
async fn mark(shared: &Shared) -> LedgerResult<Timestamp> {
    let now = shared.engine.now();
    let stored = shared.ledger.keyed_record(MARK_KEY).await?;
    let found = stored.and_then(|record| record.body.parse::<Timestamp>().ok());
    match found {
        Some(found) => Ok(found.checked_sub(OVERLAP).unwrap_or(found)),
        None => {
            set_mark(shared, now).await;
            Ok(now)
        }
    }
}

/// Another server may do it at the same time; either is good.
async fn set_mark(shared: &Shared, now: Timestamp) {
    let written = async {
        let revision = shared.ledger.keyed_record(MARK_KEY).await?.map_or(0, |record| record.revision);
        shared.ledger.put_keyed_record(MARK_KEY, revision, &now.to_string()).await
    };
    if let Err(error) = written.await {
        tracing::warn!(event = "notify_unavailable", %error);
    }
}

/// Every session in which something waits, or ended since.
async fn look_everywhere(shared: &Shared, since: Timestamp) -> LedgerResult<()> {
    let mut sessions = BTreeSet::new();
    let (asks, _) = shared.engine.inbox().asks(shared.ledger.as_ref()).await?;
    sessions.extend(asks.into_iter().map(|waiting| waiting.session));
    let ended = [PlanStatus::Completed, PlanStatus::PartiallyCompleted];
    for (statuses, all) in [(&[PlanStatus::Ready, PlanStatus::Executing][..], true), (&ended[..], false)] {
        let mut after = None;
        loop {
            let page = shared.ledger.plans_anywhere(statuses, after, PAGE).await?;
            let is_old = page.items.last().is_some_and(|listed| listed.plan.updated_at < since);
            let wanted = page.items.into_iter().filter(|listed| all || listed.plan.updated_at >= since);
            sessions.extend(wanted.map(|listed| listed.session));
            after = page.next;
            // The newest come first.
            if after.is_none() || (!all && is_old) {
                break;
            }
        }
    }
    for session in &sessions {
        look(shared, session, since).await?;
    }
    Ok(())
}

async fn look(shared: &Shared, session: &SessionIdentity, since: Timestamp) -> LedgerResult<()> {
    let found = find(shared.ledger.as_ref(), session, since).await?;
    let mut messages = Vec::new();
    for Found { happening, .. } in found {
        if shared.options.events.contains(&happening.kind) {
            add(shared, happening, &mut messages)?;
        }
    }
    {
        let known = shared.known.lock().unwrap_or_else(PoisonError::into_inner);
        messages.retain(|message| !known.contains(&message.id));
    }
    if messages.is_empty() {
        return Ok(());
    }
    shared.ledger.put_messages(&messages, shared.engine.now()).await?;
    let mut known = shared.known.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() > KNOWN {
        known.clear();
    }
    known.extend(messages.into_iter().map(|message| message.id));
    drop(known);
    shared.put.notify_waiters();
    Ok(())
}

/// The messages about one happening: at once or after a while, and later to others if no one decides.
fn add(shared: &Shared, happening: Happening, messages: &mut Vec<NewMessage>) -> LedgerResult<()> {
    let options = &shared.options;
    let now = shared.engine.now();
    let waits = match happening.kind {
        HappeningKind::Waits | HappeningKind::Budget => true,
        HappeningKind::Finished | HappeningKind::Failed | HappeningKind::Damage => false,
    };
    let later = |wait: Duration| {
        let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::ZERO);
        happening.since.checked_add(wait).unwrap_or(now).max(now)
    };
    let first = if waits { later(options.after) } else { now };
    let mut planned: Vec<(Target, Timestamp, bool)> = options.to.iter().map(|target| (*target, first, false)).collect();
    if let Some(after) = options.escalate_after.filter(|_| waits) {
        planned.extend(options.escalate_to.iter().map(|target| (*target, later(after), true)));
    }
    for (target, due, escalated) in planned {
        let stored = StoredNotification { happening: happening.clone(), escalated };
        let body = serde_json::to_string(&stored)
            .map_err(|error| planwright_engine::ledger::LedgerError::Internal(error.to_string()))?;
        let due = options.quiet.as_ref().map_or(due, |quiet| quiet.after(due));
        let late = if escalated { "late-" } else { "" };
        for address in shared.addresses(target) {
            messages.push(NewMessage {
                id: format!("notify-{}-{address}-{late}{}", target.as_str(), happening.id),
                channel: target.channel(),
                target: address,
                body: body.clone(),
                due,
            });
        }
    }
    Ok(())
}
