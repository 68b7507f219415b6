//! Sessions followed live: every entry of a journal once, in order, from any process.
//!
//! Nothing is queued for a follower. It is woken when its session was written to, and reads from where it stood; one that
//! is slow reads later, and costs no memory.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planwright_core::journal::{Entry, EntryHash, Head, SealedEntry};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::changes::{ChangeFollower, Changed};
use crate::ledger::{Ledger, LedgerError, LedgerResult};

/// The number of entries that are read at once, if they are small.
const PAGE: usize = 64;
/// How much of a journal one follower may hold. An entry can be a megabyte, and there may be thousands of followers.
const PAGE_BYTES: usize = 64 * 1024;

/// A cheap handle; clones share everything.
#[derive(Debug, Clone)]
pub struct Feed {
    hub: Arc<Hub>,
    /// Ends with the last handle.
    _listening: Arc<Listening>,
}

#[derive(Debug)]
struct Hub {
    ledger: Arc<dyn Ledger>,
    /// The sessions that have followers. The message says only that there may be new entries.
    followed: Mutex<HashMap<SessionIdentity, watch::Sender<()>>>,
}

#[derive(Debug)]
struct Listening(AbortHandle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Feed {
    pub fn start(ledger: Arc<dyn Ledger>) -> Self {
        let mut changes = ChangeFollower::follow(ledger.as_ref(), Duration::ZERO);
        let hub = Arc::new(Hub { ledger, followed: Mutex::default() });
        let waking = Arc::clone(&hub);
        let listening = tokio::spawn(async move {
            while let Some(changed) = changes.next().await {
                waking.wake(&changed);
            }
        });
        Self { hub, _listening: Arc::new(Listening(listening.abort_handle())) }
    }

    /// Follows a session from behind the entry `after`; 0 is the beginning. Refused if the journal does not reach that far.
    pub async fn follow(&self, session: &SessionIdentity, after: u64) -> LedgerResult<Follower> {
        // Every write from here on wakes the follower, so that no entry is missed between the read and the wait.
        let watch = self.watch(session);
        let mut follower = Follower { watch, head: Head::START, read: VecDeque::new(), page: 1, behind: true };
        let stored = self.hub.ledger.session(session).await?;
        let stored = stored.ok_or_else(|| Refusal::not_found(format!("There is no session {session}.")))?;
        if after > stored.head.seq {
            let message = format!("The journal of session {session} ends at {}, before {after}.", stored.head.seq);
            return Err(Refusal::invalid(message).into());
        }
        if after > 0 {
            follower.head = Head { seq: after, hash: self.hub.hash_of(session, after).await? };
        }
        Ok(follower)
    }

    /// Watches a session from now on, whether it exists or not.
    pub fn watch(&self, session: &SessionIdentity) -> SessionWatch {
        let written = self.hub.followed().entry(session.clone()).or_default().subscribe();
        SessionWatch { hub: Arc::clone(&self.hub), session: session.clone(), written }
    }

    /// How many watches there are, and in how many sessions.
    pub fn watched(&self) -> (usize, usize) {
        let followed = self.hub.followed();
        (followed.values().map(|written| written.receiver_count()).sum(), followed.len())
    }

    /// The last entry of the journal of a session.
    pub async fn head(&self, session: &SessionIdentity) -> LedgerResult<u64> {
        let stored = self.hub.ledger.session(session).await?;
        let stored = stored.ok_or_else(|| Refusal::not_found(format!("There is no session {session}.")))?;
        Ok(stored.head.seq)
    }
}

impl Hub {
    fn followed(&self) -> MutexGuard<'_, HashMap<SessionIdentity, watch::Sender<()>>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, changed: &Changed) {
        let followed = self.followed();
        let wake = |written: &watch::Sender<()>| written.send_replace(());
        if changed.resync {
            followed.values().for_each(wake);
        } else {
            changed.sessions.iter().filter_map(|session| followed.get(session)).for_each(wake);
        }
    }

    async fn hash_of(&self, session: &SessionIdentity, seq: u64) -> LedgerResult<EntryHash> {
        let entries = self.ledger.journal(session, seq - 1, 1).await?;
        let entry = entries.into_iter().find(|entry| entry.seq == seq);
        let missing = || LedgerError::damaged(format!("the journal of session {session}"), format!("{seq} is missing"));
        Ok(entry.ok_or_else(missing)?.hash)
    }
}

/// Tells that a session may have been written to.
#[derive(Debug)]
pub struct SessionWatch {
    hub: Arc<Hub>,
    session: SessionIdentity,
    written: watch::Receiver<()>,
}

impl SessionWatch {
    /// Waits for the next write. Dropping the future loses none.
    pub async fn changed(&mut self) {
        // The hub lives as long as this does, and with it the sender.
        let _ = self.written.changed().await;
    }
}

impl Drop for SessionWatch {
    fn drop(&mut self) {
        let mut followed = self.hub.followed();
        // This one is still counted.
        if followed.get(&self.session).is_some_and(|written| written.receiver_count() <= 1) {
            followed.remove(&self.session);
        }
    }
}

/// An item that a follower reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedItem {
    Entry(Box<Entry>),
    /// The session was deleted. A session that is opened again under its key is another one.
    Gone,
}

/// One reader of one session. It checks the chain, so that it never returns an entry that was changed.
#[derive(Debug)]
pub struct Follower {
    watch: SessionWatch,
    head: Head,
    read: VecDeque<Entry>,
    /// How many entries are read next, by how large the last ones were.
    page: u32,
    /// Whether there may be entries to read: false after an empty read until the follower is woken.
    behind: bool,
}

impl Follower {
    pub fn session(&self) -> &SessionIdentity {
        &self.watch.session
    }

    fn ledger(&self) -> &dyn Ledger {
        self.watch.hub.ledger.as_ref()
    }

    /// Waits for the next entry. Dropping the future loses no entry.
    pub async fn next(&mut self) -> LedgerResult<FeedItem> {
        loop {
            if let Some(entry) = self.read.pop_front() {
                return Ok(FeedItem::Entry(Box::new(entry)));
            }
            if !self.behind {
                self.watch.changed().await;
                self.behind = true;
            }
            self.watch.written.mark_unchanged();
            let sealed = self.ledger().journal(self.session(), self.head.seq, self.page).await?;
            if sealed.is_empty() {
                if self.is_gone().await? {
                    return Ok(FeedItem::Gone);
                }
                self.behind = false;
                continue;
            }
            let mut head = self.head;
            let (mut read, mut bytes) = (VecDeque::new(), 0);
            for sealed in &sealed {
                // Entries beyond the limit are read again by the next call.
                if bytes >= PAGE_BYTES {
                    break;
                }
                bytes += sealed.body.len();
                match head.check(self.session(), sealed) {
                    Ok(entry) => read.push_back(entry),
                    Err(_) if self.is_gone().await? => return Ok(FeedItem::Gone),
                    Err(damage) => {
                        let what = format!("the journal of session {}", self.session());
                        return Err(LedgerError::damaged(what, damage));
                    }
                }
            }
            (self.head, self.read) = (head, read);
            self.page = next_page(self.page, &sealed);
        }
    }

    /// Whether the last entry that was read does not exist any more.
    async fn is_gone(&self) -> LedgerResult<bool> {
        let Some(seq) = self.head.seq.checked_sub(1) else {
            return Ok(self.ledger().session(self.session()).await?.is_none());
        };
        let entries = self.ledger().journal(self.session(), seq, 1).await?;
        Ok(entries.first().is_none_or(|entry| entry.hash != self.head.hash))
    }
}

/// As many entries of the size of these as may be held, but not many more than before: the next ones may be larger.
fn next_page(page: u32, sealed: &[SealedEntry]) -> u32 {
    let bytes: usize = sealed.iter().map(|sealed| sealed.body.len()).sum();
    let average = (bytes / sealed.len().max(1)).max(1);
    let fit = (PAGE_BYTES / average).clamp(1, PAGE) as u32;
    fit.min(page * 2)
}
