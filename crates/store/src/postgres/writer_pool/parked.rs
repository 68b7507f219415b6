//! Jobs whose session another transaction holds. They wait here, in their order, and are tried again; meanwhile the jobs of
//! all other sessions run.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use planwright_core::session::SessionIdentity;
use planwright_engine::backoff::Backoff;
use tokio::time::Instant;

use super::Job;

const FIRST_PAUSE: Duration = Duration::from_millis(2);
/// How long a session is left alone at the most that was skipped because its row is locked. Asking costs little.
const MAX_SKIPPED_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause of a job that waited for another lock, because trying it again makes the writer wait as well.
const MAX_BLOCKED_PAUSE: Duration = Duration::from_secs(1);

/// Why a job could not be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blocked {
    /// The row of its session is locked. It can be tried again together with other sessions.
    SessionLocked,
    /// Something else that it needs is locked. It is tried again by itself.
    Otherwise,
}

/// How often a job was tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retry {
    give_up: Instant,
    backoff: Backoff,
}

impl Retry {
    fn new(give_up: Instant) -> Self {
        Self { give_up, backoff: Backoff::new(FIRST_PAUSE, MAX_BLOCKED_PAUSE) }
    }
}

#[derive(Debug, Default)]
pub(super) struct ParkedJobs(BTreeMap<SessionIdentity, ParkedSession>);

#[derive(Debug)]
struct ParkedSession {
    jobs: Vec<Job>,
    next_attempt: Instant,
    blocked: Blocked,
}

/// Jobs that are tried again now.
#[derive(Debug, Default)]
pub(super) struct DueJobs {
    pub(super) together: Vec<Job>,
    pub(super) apart: Vec<Job>,
}

impl ParkedJobs {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn next_attempt(&self) -> Option<Instant> {
        self.0.values().map(|session| session.next_attempt).min()
    }

    /// Parks a job. Gives it back if it was tried for long enough.
    pub(super) fn park(&mut self, mut job: Job, blocked: Blocked, patience: Duration) -> Option<Job> {
        let now = Instant::now();
        let longest = match blocked {
            Blocked::SessionLocked => MAX_SKIPPED_PAUSE,
            Blocked::Otherwise => MAX_BLOCKED_PAUSE,
        };
        if job.retry.is_some_and(|retry| retry.give_up <= now) {
            return Some(job);
        }
        let retry = job.retry.get_or_insert_with(|| Retry::new(now + patience));
        let next_attempt = (now + retry.backoff.next_pause().min(longest)).min(retry.give_up);
        match self.0.entry(job.submission.session.clone()) {
            Entry::Occupied(mut parked) => parked.get_mut().jobs.push(job),
            Entry::Vacant(place) => {
                place.insert(ParkedSession { jobs: vec![job], next_attempt, blocked });
            }
        }
        None
    }

    /// Parks the jobs whose session has parked ones already, so that they keep their order, and keeps the others.
    pub(super) fn park_behind(&mut self, jobs: &mut Vec<Job>, patience: Duration) {
        if self.0.is_empty() {
            return;
        }
        for mut job in std::mem::take(jobs) {
            match self.0.get_mut(&job.submission.session) {
                Some(parked) => {
                    job.retry.get_or_insert_with(|| Retry::new(Instant::now() + patience));
                    parked.jobs.push(job);
                }
                None => jobs.push(job),
            }
        }
    }

    pub(super) fn take_due(&mut self) -> DueJobs {
        let now = Instant::now();
        let mut due = DueJobs::default();
        for (_, session) in self.0.extract_if(.., |_, session| session.next_attempt <= now) {
            match session.blocked {
                Blocked::SessionLocked => due.together.extend(session.jobs),
                Blocked::Otherwise => due.apart.extend(session.jobs),
            }
        }
        due
    }
}
