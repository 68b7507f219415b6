//! Announces which sessions were written to: to this process at once, to others by `NOTIFY` where the database has it.
//!
//! A notification is sent behind the commit, in the same round trip, and is no part of it: PostgreSQL lets no two
//! transactions that notify be flushed to disk at the same time.

mod listener;

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};
use std::pin::pin;
use std::sync::{Arc, OnceLock};

use futures::StreamExt as _;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::StoreChange;
use tokio::runtime::Handle;
use tokio::sync::broadcast;
use tokio::task::AbortHandle;
use tokio_postgres::{Client, Error};

use super::errors::{DatabaseError, RetryPolicy, describe};
use super::statement;
use super::target::Target;
use crate::changes::ChangeBroadcaster;

/// PostgreSQL takes less than 8,000 bytes at once.
const MAX_BYTES: usize = 7_900;

/// A cheap handle; clones send to the same receivers.
#[derive(Debug, Clone)]
pub(super) struct Changes(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    target: Target,
    broadcaster: ChangeBroadcaster,
    /// Where this schema's changes are announced; `None` if the database has no such thing.
    channel: Option<String>,
    /// Distinguishes the announcements of this process from those of others.
    own_name: String,
    runtime: Handle,
    listening: OnceLock<Listening>,
}

#[derive(Debug)]
struct Listening(AbortHandle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Changes {
    /// Finds out whether the database has `LISTEN` and `NOTIFY`.
    pub(super) async fn new(client: &Client, target: &Target) -> Result<Self, DatabaseError> {
        let shared = Shared {
            target: target.clone(),
            broadcaster: ChangeBroadcaster::new(),
            channel: find_channel(client).await?,
            own_name: format!("{:016x}", RandomState::new().hash_one(std::process::id())),
            runtime: Handle::current(),
            listening: OnceLock::new(),
        };
        Ok(Self(Arc::new(shared)))
    }

    /// Whether other processes get announcements at once.
    pub(super) fn reach_others(&self) -> bool {
        self.0.channel.is_some() && self.0.target.can_listen()
    }

    /// The first change that is sent is [`StoreChange::Anywhere`], once the listening has begun: what others wrote until then is
    /// not known.
    pub(super) fn subscribe(&self) -> broadcast::Receiver<StoreChange> {
        let Shared { target, broadcaster, channel, own_name, .. } = &*self.0;
        let changes = broadcaster.subscribe();
        self.0.listening.get_or_init(|| {
            let listener = listener::Listener {
                target: target.clone(),
                broadcaster: broadcaster.clone(),
                channel: channel.clone().filter(|_| target.can_listen()),
                own_name: own_name.clone(),
            };
            Listening(self.0.runtime.spawn(listener.run()).abort_handle())
        });
        changes
    }

    /// Commits the transaction and announces the sessions it wrote to.
    pub(super) async fn commit(&self, client: &Client, sessions: Vec<SessionIdentity>) -> Result<(), DatabaseError> {
        self.commit_for_others(client, &sessions).await?;
        self.notify_here(sessions);
        Ok(())
    }

    /// Commits the transaction and announces the sessions it wrote to, except to this process. All of it is sent when this is polled
    /// first. Of a transaction that has failed nothing is committed, which its own statements say.
    pub(super) async fn commit_for_others(
        &self,
        client: &Client,
        sessions: &[SessionIdentity],
    ) -> Result<(), DatabaseError> {
        match self.announcement(sessions) {
            None => client.batch_execute("COMMIT").await?,
            Some(announcement) => {
                let mut answers = pin!(client.simple_query_raw(&format!("COMMIT; {announcement}")).await?);
                answers.next().await.transpose()?;
                // The commit has succeeded. Processes that miss the announcement find the change when they poll.
                while let Some(answer) = answers.next().await {
                    if let Err(error) = answer {
                        log_unannounced(&error);
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Announces sessions to this process.
    pub(super) fn notify_here(&self, sessions: Vec<SessionIdentity>) {
        self.0.broadcaster.notify(sessions);
    }

    /// Announces sessions to all other processes.
    pub(super) async fn notify_others(&self, client: &Client, sessions: &[SessionIdentity]) {
        let Some(announcement) = self.announcement(sessions) else { return };
        if let Err(error) = client.batch_execute(&announcement).await {
            log_unannounced(&error);
        }
    }

    fn announcement(&self, sessions: &[SessionIdentity]) -> Option<String> {
        let channel = self.0.channel.as_ref().filter(|_| !sessions.is_empty())?;
        let mut sql = String::from("SELECT");
        for (nth, payload) in payloads(&self.0.own_name, sessions).into_iter().enumerate() {
            let comma = if nth == 0 { "" } else { "," };
            // Names of sessions have no character in them that would have to be escaped.
            let _ = write!(sql, "{comma} pg_notify('{channel}', '{payload}')");
        }
        Some(sql)
    }
}

fn log_unannounced(error: &Error) {
    tracing::warn!(error = %describe(error), "a change could not be announced to other processes");
}

/// Notifications go to the whole database, so those of each schema have a name of their own.
async fn find_channel(client: &Client) -> Result<Option<String>, DatabaseError> {
    let name = "SELECT 'planwright_' || md5(coalesce(current_schema(), ''))";
    let attempt = async {
        let rows = statement::query(client, name, &[]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let channel: String = row.try_get(0)?;
        let attempt = format!("LISTEN {channel}; UNLISTEN {channel}; SELECT pg_notify('{channel}', '')");
        client.batch_execute(&attempt).await?;
        Ok(Some(channel))
    };
    match attempt.await.map_err(DatabaseError::Database) {
        Ok(channel) => Ok(channel),
        Err(failure) if failure.retry_policy() == RetryPolicy::Reconnect => Err(failure),
        Err(failure) => {
            tracing::info!(error = %failure.to_error(), "the database has no LISTEN; changes are polled");
            Ok(None)
        }
    }
}

/// The name of this process and those of the sessions, in as many payloads as they need.
fn payloads(own_name: &str, sessions: &[SessionIdentity]) -> Vec<String> {
    let mut payloads: Vec<String> = Vec::new();
    for session in sessions {
        let name = session.to_string();
        match payloads.last_mut().filter(|payload| payload.len() + 1 + name.len() <= MAX_BYTES) {
            Some(payload) => {
                payload.push(' ');
                payload.push_str(&name);
            }
            None => payloads.push(format!("{own_name} {name}")),
        }
    }
    payloads
}

/// The sessions that another process has written to; `None` if the payload cannot be parsed.
fn parse_payload(own_name: &str, payload: &str) -> Option<Vec<SessionIdentity>> {
    let mut words = payload.split_ascii_whitespace();
    if words.next().is_none_or(|broadcaster| broadcaster == own_name) {
        return Some(Vec::new());
    }
    words.map(|name| name.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_sessions_are_announced_they_are_all_heard() {
        for count in [0, 1, 2, 300] {
            let longest = |n: usize| format!("telegram:{n:064}").parse().unwrap();
            let sessions: Vec<SessionIdentity> = (0..count).map(longest).collect();
            let payloads = payloads("me", &sessions);
            assert!(payloads.iter().all(|payload| payload.len() < 8_000));
            let all = payloads.iter().flat_map(|payload| parse_payload("you", payload).unwrap());
            assert_eq!(all.collect::<Vec<_>>(), sessions);
            assert!(payloads.iter().all(|payload| parse_payload("me", payload).unwrap().is_empty()));
        }
        assert_eq!(parse_payload("me", ""), Some(Vec::new()));
        assert_eq!(parse_payload("me", "you and nonsense"), None);
    }
}
