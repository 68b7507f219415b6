//! Follows the store, and stores what is to be told.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use planwright_core::plan::PlanStatus;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::changes::{ChangeFollower, Changed};
use planwright_engine::ledger::{Ledger, LedgerResult, NewMessage};
use planwright_engine::push::PushSubscription;
use planwright_telegram::InboxCards;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::channels::{Desktop, Email, NotifyChannel, Ntfy, Webhook};
use crate::deliver;
use crate::notice::{FoundNotice, Notice, NoticeKind, find, find_weakened};
use crate::options::{NotifyOptions, NotifyTarget};

/// Changes that come closer together are looked at once.
const DEBOUNCE: Duration = Duration::from_millis(500);
/// How often it is noted up to when everything was looked at.
const MARK: Duration = Duration::from_secs(60);
/// Servers may be stopped and started; what ended shortly before the mark is looked at again.
const OVERLAP: SignedDuration = SignedDuration::from_mins(10);
const MARK_KEY: &str = "notify/since";
const PAGE: u32 = 200;
/// Ids of messages that this process stored, so that it does not store them with every change.
const MAX_KNOWN_IDS: usize = 10_000;

/// A notifier that is set up and does not run yet. Clones share everything.
#[derive(Debug, Clone)]
pub struct Notifier {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) options: NotifyOptions,
    pub(crate) telegram: Option<InboxCards>,
    pub(crate) webhook: Option<Webhook>,
    pub(crate) ntfy: Option<Ntfy>,
    pub(crate) email: Option<Email>,
    pub(crate) desktop: Desktop,
    pub(crate) put: Notify,
    known: Mutex<HashSet<String>>,
}

/// A message in the outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredNotification {
    #[serde(rename = "happening")]
    pub(crate) notice: Notice,
    pub(crate) escalated: bool,
}

impl Notifier {
    /// Fails with words if a target is named and not set up.
    pub fn new(
        engine: Engine,
        ledger: Arc<dyn Ledger>,
        options: NotifyOptions,
        telegram: Option<InboxCards>,
    ) -> Result<Self, String> {
        let webhook = options.webhook.as_ref().map(Webhook::new).transpose()?;
        let ntfy = options.ntfy.as_ref().map(Ntfy::new).transpose()?;
        let email = options.email.as_ref().map(Email::new).transpose()?;
        for target in options.to.iter().chain(&options.escalate_to) {
            let is_there = match target {
                NotifyTarget::Telegram => telegram.is_some(),
                NotifyTarget::Webhook => webhook.is_some(),
                NotifyTarget::Ntfy => ntfy.is_some(),
                NotifyTarget::Email => email.is_some(),
                NotifyTarget::Desktop | NotifyTarget::Push => true,
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
            ntfy,
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
        let named = shared.options.to.iter().chain(&shared.options.escalate_to).copied();
        let targets: BTreeSet<_> = named.chain(shared.configured()).chain([NotifyTarget::Push]).collect();
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

    /// Looks at the records about approvers and stores what is to be told about them.
    pub async fn look_at_records(&self, since: Timestamp) -> LedgerResult<()> {
        look_at_records(&self.shared, since).await
    }

    /// Sends what is due now. Returns how many messages were taken.
    pub async fn send_due(&self, target: NotifyTarget) -> LedgerResult<usize> {
        deliver::send_due(&self.shared, target).await
    }
}

impl Shared {
    pub(crate) fn channel(&self, target: NotifyTarget) -> Option<&dyn NotifyChannel> {
        match target {
            NotifyTarget::Telegram | NotifyTarget::Push => None,
            NotifyTarget::Desktop => Some(&self.desktop),
            NotifyTarget::Webhook => self.webhook.as_ref().map(|webhook| webhook as &dyn NotifyChannel),
            NotifyTarget::Ntfy => self.ntfy.as_ref().map(|ntfy| ntfy as &dyn NotifyChannel),
            NotifyTarget::Email => self.email.as_ref().map(|email| email as &dyn NotifyChannel),
        }
    }

    /// The targets that are set up, also those that the settings do not name, and without browsers.
    fn configured(&self) -> impl Iterator<Item = NotifyTarget> {
        let is_there = |target: &NotifyTarget| match target {
            NotifyTarget::Telegram => self.telegram.is_some(),
            NotifyTarget::Webhook => self.webhook.is_some(),
            NotifyTarget::Ntfy => self.ntfy.is_some(),
            NotifyTarget::Email => self.email.is_some(),
            NotifyTarget::Desktop => self.options.to.contains(target) || self.options.escalate_to.contains(target),
            NotifyTarget::Push => false,
        };
        NotifyTarget::ALL.into_iter().filter(is_there)
    }

    /// Where notifications are sent first: as the settings say, and to browsers unless they are for later.
    fn first_targets(&self) -> BTreeSet<NotifyTarget> {
        let NotifyOptions { to, escalate_to, .. } = &self.options;
        let push = Some(NotifyTarget::Push).filter(|push| !escalate_to.contains(push));
        to.iter().copied().chain(push).collect()
    }

    /// Whether there is anyone to tell.
    async fn is_any_receiver(&self) -> LedgerResult<bool> {
        Ok(self.configured().next().is_some() || self.engine.push().is_any().await?)
    }

    /// Whether any browser gets pushes. It may be that it cannot be read.
    pub(crate) async fn is_any_push(&self) -> bool {
        self.engine.push().is_any().await.unwrap_or(true)
    }

    /// The addresses within a target. A browser is not told what ended before it got pushes.
    fn addresses(&self, target: NotifyTarget, notice: &Notice, browsers: &[PushSubscription]) -> Vec<String> {
        match target {
            NotifyTarget::Push => {
                let is_told = |one: &&PushSubscription| is_waiting(notice.kind) || one.since <= notice.since;
                browsers.iter().filter(is_told).map(|one| one.id.clone()).collect()
            }
            NotifyTarget::Telegram => {
                self.telegram.iter().flat_map(|cards| cards.users()).map(i64::to_string).collect()
            }
            NotifyTarget::Desktop | NotifyTarget::Webhook | NotifyTarget::Ntfy | NotifyTarget::Email => {
                vec![target.as_str().to_owned()]
            }
        }
    }
}

/// Whether it is told after a while, if no one decides by then.
const fn is_waiting(kind: NoticeKind) -> bool {
    match kind {
        NoticeKind::Waits | NoticeKind::Budget => true,
        NoticeKind::Finished | NoticeKind::Failed | NoticeKind::Damage | NoticeKind::Weakened => false,
    }
}

async fn follow(shared: &Shared) {
    let mut changes = ChangeFollower::follow(shared.ledger.as_ref(), DEBOUNCE);
    let since = loop {
        match mark(shared).await {
            Ok(since) => break since,
            Err(error) => {
                tracing::warn!(event = "notify_unavailable", %error);
                sleep(MARK).await;
            }
        }
    };
    let mut marked = shared.engine.now();
    let mut changed = Changed::anywhere();
    // Whether there was anyone to tell when it was looked last.
    let mut was_any = true;
    loop {
        let is_any = shared.is_any_receiver().await.unwrap_or(was_any);
        // Who gets pushes from now on is told what waits.
        changed.resync |= is_any && !was_any;
        was_any = is_any;
        let left = if is_any { look_at_changed(shared, &changed, since).await } else { Changed::default() };
        let now = shared.engine.now();
        if now.duration_since(marked) >= SignedDuration::try_from(MARK).unwrap_or(SignedDuration::ZERO) {
            marked = now;
            let _ = warn_of(set_mark(shared, now).await);
        }
        changed = match timeout(MARK, changes.next()).await {
            Ok(Some(changed)) => changed,
            Ok(None) => return,
            Err(_) => Changed::default(),
        };
        // What could not be looked at is looked at again.
        changed.resync |= left.resync;
        changed.sessions.extend(left.sessions);
    }
}

/// Returns what could not be looked at.
async fn look_at_changed(shared: &Shared, changed: &Changed, since: Timestamp) -> Changed {
    warn_of(look_at_records(shared, since).await);
    let mut left = Changed::default();
    if changed.resync {
        left.resync = warn_of(look_everywhere(shared, since).await);
        return left;
    }
    for session in &changed.sessions {
        if warn_of(look(shared, session, since).await) {
            left.sessions.insert(session.clone());
        }
    }
    left
}

/// Returns whether it failed.
fn warn_of(looked: LedgerResult<()>) -> bool {
    looked.inspect_err(|error| tracing::warn!(event = "notify_unavailable", %error)).is_err()
}

/// People are notified of work that ended after this time: the first start, or shortly before the last stop.
async fn mark(shared: &Shared) -> LedgerResult<Timestamp> {
    let now = shared.engine.now();
    let stored = shared.ledger.keyed_record(MARK_KEY).await?;
    let found = stored.and_then(|record| record.body.parse::<Timestamp>().ok());
    match found {
        Some(found) => Ok(found.checked_sub(OVERLAP).unwrap_or(found)),
        None => {
            let _ = warn_of(set_mark(shared, now).await);
            Ok(now)
        }
    }
}

/// Another server may do it at the same time; either is good.
async fn set_mark(shared: &Shared, now: Timestamp) -> LedgerResult<()> {
    let revision = shared.ledger.keyed_record(MARK_KEY).await?.map_or(0, |record| record.revision);
    shared.ledger.put_keyed_record(MARK_KEY, revision, &now.to_string()).await.map(drop)
}

/// Every session in which something waits, or ended since.
async fn look_everywhere(shared: &Shared, since: Timestamp) -> LedgerResult<()> {
    let mut sessions = BTreeSet::new();
    let (asks, _) = shared.engine.inbox().asks().await?;
    sessions.extend(asks.into_iter().map(|waiting| waiting.session));
    let (runs, _) = shared.engine.inbox().runs().await?;
    sessions.extend(runs.into_iter().map(|waiting| waiting.session));
    sessions.extend(active_since(shared, since).await?);
    let mut after = None;
    loop {
        let page = shared.ledger.waiting_plans(after, PAGE).await?;
        sessions.extend(page.items.into_iter().map(|listed| listed.session));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let ended = [PlanStatus::Completed, PlanStatus::PartiallyCompleted];
    loop {
        let page = shared.ledger.plans_anywhere(&ended, after, PAGE).await?;
        let is_old = page.items.last().is_some_and(|listed| listed.plan.updated_at < since);
        let wanted = page.items.into_iter().filter(|listed| listed.plan.updated_at >= since);
        sessions.extend(wanted.map(|listed| listed.session));
        after = page.next;
        // The newest come first.
        if after.is_none() || is_old {
            break;
        }
    }
    let mut failed = None;
    for session in &sessions {
        // A session that cannot be read does not hide the others.
        if let Err(error) = look(shared, session, since).await {
            failed = Some(error);
        }
    }
    failed.map_or(Ok(()), Err)
}

/// The sessions in which something happened since, such as the end of a run.
async fn active_since(shared: &Shared, since: Timestamp) -> LedgerResult<Vec<SessionIdentity>> {
    let (mut sessions, mut after) = (Vec::new(), None);
    loop {
        let page = shared.ledger.sessions(after, PAGE).await?;
        let is_old = page.items.last().is_some_and(|stored| stored.last_active < since);
        let recent = page.items.into_iter().filter(|stored| stored.last_active >= since);
        sessions.extend(recent.map(|stored| stored.session.identity));
        after = page.next;
        // The most recently active come first.
        if after.is_none() || is_old {
            return Ok(sessions);
        }
    }
}

async fn look_at_records(shared: &Shared, since: Timestamp) -> LedgerResult<()> {
    let records = shared.ledger.approval_records().await?;
    let browsers = shared.engine.push().list().await?;
    let mut messages = Vec::new();
    for notice in find_weakened(&records, since) {
        add(shared, notice, &browsers, &mut messages)?;
    }
    put(shared, messages).await
}

async fn look(shared: &Shared, session: &SessionIdentity, since: Timestamp) -> LedgerResult<()> {
    let found = find(shared.ledger.as_ref(), session, since).await?;
    let browsers = shared.engine.push().list().await?;
    let mut messages = Vec::new();
    for FoundNotice { notice, .. } in found {
        if shared.options.events.contains(&notice.kind) {
            add(shared, notice, &browsers, &mut messages)?;
        }
    }
    put(shared, messages).await
}

/// Stores the messages that this process has not stored yet.
async fn put(shared: &Shared, mut messages: Vec<NewMessage>) -> LedgerResult<()> {
    {
        let known = shared.known.lock().unwrap_or_else(PoisonError::into_inner);
        messages.retain(|message| !known.contains(&message.id));
    }
    if messages.is_empty() {
        return Ok(());
    }
    shared.ledger.put_messages(&messages, shared.engine.now()).await?;
    let mut known = shared.known.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() > MAX_KNOWN_IDS {
        known.clear();
    }
    known.extend(messages.into_iter().map(|message| message.id));
    drop(known);
    shared.put.notify_waiters();
    Ok(())
}

/// The messages about one notice: at once or after a while, and later to others if no one decides.
fn add(
    shared: &Shared,
    notice: Notice,
    browsers: &[PushSubscription],
    messages: &mut Vec<NewMessage>,
) -> LedgerResult<()> {
    let options = &shared.options;
    let now = shared.engine.now();
    let waits = is_waiting(notice.kind);
    let later = |wait: Duration| {
        let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::ZERO);
        notice.since.checked_add(wait).unwrap_or(now).max(now)
    };
    let first = if waits { later(options.after) } else { now };
    let is_for_all = notice.kind == NoticeKind::Weakened;
    let targets =
        if is_for_all { shared.configured().chain([NotifyTarget::Push]).collect() } else { shared.first_targets() };
    let mut planned: Vec<(NotifyTarget, Timestamp, bool)> =
        targets.into_iter().map(|target| (target, first, false)).collect();
    if let Some(after) = options.escalate_after.filter(|_| waits) {
        planned.extend(options.escalate_to.iter().map(|target| (*target, later(after), true)));
    }
    for (target, due, escalated) in planned {
        let stored = StoredNotification { notice: notice.clone(), escalated };
        let body = serde_json::to_string(&stored)
            .map_err(|error| planwright_engine::ledger::LedgerError::Internal(error.to_string()))?;
        let quiet = options.quiet.as_ref().filter(|_| !is_for_all);
        let due = quiet.map_or(due, |quiet| quiet.after(due));
        let late = if escalated { "late-" } else { "" };
        for address in shared.addresses(target, &notice, browsers) {
            messages.push(NewMessage {
                id: format!("notify-{}-{address}-{late}{}", target.as_str(), notice.id),
                channel: target.channel(),
                target: address,
                body: body.clone(),
                due,
            });
        }
    }
    Ok(())
}
