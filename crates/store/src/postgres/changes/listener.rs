//! Changes by other processes: received on a connection of its own, and polled as well, because a notification can get
//! lost and some databases have none.

use std::collections::HashSet;
use std::convert::Infallible;
use std::future::poll_fn;
use std::time::Duration;

use planwright_engine::backoff::Backoff;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::{AsyncMessage, Client};

use super::parse_payload;
use crate::changes::ChangeBroadcaster;
use crate::postgres::connect::RawConnection;
use crate::postgres::errors::{DatabaseError, RetryPolicy};
use crate::postgres::rows;
use crate::postgres::statement::{FixedStatement, StatementMode};
use crate::postgres::target::Target;

/// How often changes are polled besides the announcements.
const PAUSE: Duration = Duration::from_secs(1);
/// How often changes are polled where there are no announcements.
const SHORT_PAUSE: Duration = Duration::from_millis(100);
/// How long the database has to answer.
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);
/// A gap between two polls after which changes may have been missed; shorter than what `written_lately.sql` looks back.
const TOO_LONG: Duration = Duration::from_secs(30);

const FIRST_BREAK: Duration = Duration::from_millis(50);
const MAX_BREAK: Duration = Duration::from_secs(5);

pub(super) struct Listener {
    pub(super) target: Target,
    pub(super) broadcaster: ChangeBroadcaster,
    pub(super) channel: Option<String>,
    pub(super) own_name: String,
}

impl Listener {
    /// Runs until it is aborted, and reconnects whenever the database goes away.
    pub(super) async fn run(self) {
        let fresh = Backoff::new(FIRST_BREAK, MAX_BREAK);
        let mut backoff = fresh;
        loop {
            let began = Instant::now();
            let failure = self.listen().await;
            tracing::warn!(error = %failure.to_error(), "changes by other processes cannot be followed now");
            if began.elapsed() > MAX_BREAK {
                backoff = fresh;
            }
            sleep(backoff.next_pause()).await;
        }
    }

    async fn listen(&self) -> DatabaseError {
        let (client, connection) = match self.target.connect_to_listen().await {
            Ok(connected) => connected,
            Err(failure) => return failure,
        };
        let opened = std::time::Instant::now();
        tokio::select! {
            failure = self.receive(connection) => failure,
            failure = self.poll(client) => failure,
            () = self.target.moved_since(opened) => DatabaseError::Moved,
        }
    }

    /// Polls the connection, and passes the announcements on.
    async fn receive(&self, mut connection: RawConnection) -> DatabaseError {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(announced))) => {
                    match parse_payload(&self.own_name, announced.payload()) {
                        Some(sessions) => self.broadcaster.notify(sessions),
                        None => self.broadcaster.notify_unknown(),
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return DatabaseError::Database(error),
                None => return DatabaseError::Unreachable("the connection has ended".to_owned()),
            }
        }
    }

    async fn poll(&self, client: Client) -> DatabaseError {
        match self.poll_forever(&client).await {
            Ok(never) => match never {},
            Err(failure) => failure,
        }
    }

    /// Subscribes to announcements. Returns false if there are none.
    async fn subscribe(&self, client: &Client) -> Result<bool, DatabaseError> {
        let Some(channel) = &self.channel else { return Ok(false) };
        match client.batch_execute(&format!("LISTEN {channel}")).await.map_err(DatabaseError::Database) {
            Ok(()) => Ok(true),
            Err(failure) if failure.retry_policy() == RetryPolicy::Reconnect => Err(failure),
            Err(failure) => {
                tracing::warn!(error = %failure.to_error(), "LISTEN failed; changes are polled");
                Ok(false)
            }
        }
    }

    async fn poll_forever(&self, client: &Client) -> Result<Infallible, DatabaseError> {
        let pause = if self.subscribe(client).await? { PAUSE } else { SHORT_PAUSE };
        // Without a connection of its own on the server, nothing can be prepared there.
        let mode = if self.channel.is_some() { StatementMode::Prepared } else { self.target.statement_mode() };
        let lately = FixedStatement::new(client, mode, include_str!("../sql/written_lately.sql")).await?;
        let mut polled = Instant::now();
        let mut seen = written(client, &lately).await?;
        // What happened before this is not known.
        self.broadcaster.notify_unknown();
        loop {
            sleep(pause).await;
            let missed = polled.elapsed() > TOO_LONG;
            polled = Instant::now();
            let found = written(client, &lately).await?;
            let new: Option<Vec<_>> = found.difference(&seen).map(|(name, _)| name.parse().ok()).collect();
            match new.filter(|_| !missed) {
                Some(sessions) => self.broadcaster.notify(sessions),
                None => self.broadcaster.notify_unknown(),
            }
            seen = found;
        }
    }
}

/// The sessions that were written to or deleted within the last minute, and when. A transaction that commits now may have
/// written a while ago, so a poll cannot just ask for what is newer than the poll before.
async fn written(client: &Client, lately: &FixedStatement) -> Result<HashSet<(String, i64)>, DatabaseError> {
    let found = timeout(QUERY_TIMEOUT, lately.query(client, &[])).await.map_err(|_| DatabaseError::TimedOut)??;
    found.iter().map(|row| Ok((rows::name(row)?, row.try_get("micros")?))).collect()
}
