//! A writer's own connection, with everything it says applied.

use futures::future::join_all;
use futures::try_join;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::errors::{Failure, RetryPolicy};
use super::target::Target;

/// A writer that hangs or dies must not hold others up for ever, unless the database's owner chose how long, and a
/// commit is on disk when it is answered, whatever they chose. Every statement finds its rows by key, so it is planned
/// once and for an index, however small the tables were at that moment. A database that lacks one of these settings
/// does without it.
const SETTINGS: [&str; 7] = [
    "SELECT set_config('lock_timeout', '10s', false) WHERE current_setting('lock_timeout') = '0'",
    "SELECT set_config('idle_in_transaction_session_timeout', '60s', false)
     WHERE current_setting('idle_in_transaction_session_timeout') = '0'",
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    "SET plan_cache_mode = 'force_generic_plan'",
    "SET enable_seqscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
];

pub(super) struct WriterConnection {
    pub(super) client: Client,
    pub(super) make_sessions: Statement,
    pub(super) lock_sessions: Statement,
    pub(super) journal_ends: Statement,
    pub(super) find_requests: Statement,
    pub(super) request_entries: Statement,
    pub(super) find_plans: Statement,
    pub(super) find_leases: Statement,
    pub(super) insert_entries: Statement,
    pub(super) insert_plans: Statement,
    pub(super) update_plans: Statement,
    pub(super) set_executions: Statement,
    pub(super) delete_runs: Statement,
    pub(super) set_runs: Statement,
    pub(super) update_sessions: Statement,
    pub(super) delete_sessions: Statement,
    pub(super) set_leases: Statement,
}

impl WriterConnection {
    pub(super) async fn open(target: &Target) -> Result<Self, Failure> {
        let client = target.connect().await?;
        let settings = join_all(SETTINGS.map(|setting| client.batch_execute(setting))).await;
        for (setting, outcome) in SETTINGS.iter().zip(settings) {
            if let Err(error) = outcome {
                let failure = Failure::from(error);
                if failure.retry_policy() == RetryPolicy::Reconnect {
                    return Err(failure);
                }
                tracing::debug!(setting, error = %failure.to_error(), "the database does not take a setting");
            }
        }
        let (make_sessions, lock_sessions, journal_ends, find_requests, request_entries, find_plans, find_leases) = try_join!(
            client.prepare(include_str!("sql/make_sessions.sql")),
            client.prepare(include_str!("sql/lock_sessions.sql")),
            client.prepare(include_str!("sql/journal_ends.sql")),
            client.prepare(include_str!("sql/find_requests.sql")),
            client.prepare(include_str!("sql/request_entries.sql")),
            client.prepare(include_str!("sql/find_plans.sql")),
            client.prepare(include_str!("sql/find_leases.sql")),
        )?;
        let (insert_entries, insert_plans, update_plans, update_sessions, delete_sessions, set_leases) = try_join!(
            client.prepare(include_str!("sql/insert_entries.sql")),
            client.prepare(include_str!("sql/insert_plans.sql")),
            client.prepare(include_str!("sql/update_plans.sql")),
            client.prepare(include_str!("sql/update_sessions.sql")),
            client.prepare(include_str!("sql/delete_sessions.sql")),
            client.prepare(include_str!("sql/set_leases.sql")),
        )?;
        let (set_executions, delete_runs, set_runs) = try_join!(
            client.prepare(include_str!("sql/set_executions.sql")),
            client.prepare(include_str!("sql/delete_runs.sql")),
            client.prepare(include_str!("sql/set_runs.sql")),
        )?;
        Ok(Self {
            client,
            make_sessions,
            lock_sessions,
            journal_ends,
            find_requests,
            request_entries,
            find_plans,
            find_leases,
            insert_entries,
            insert_plans,
            update_plans,
            set_executions,
            delete_runs,
            set_runs,
            update_sessions,
            delete_sessions,
            set_leases,
        })
    }

    /// Asks about `count` things; not at all if there are none.
    pub(super) async fn query<const N: usize>(
        &self,
        count: usize,
        statement: &Statement,
        parameters: [&(dyn ToSql + Sync); N],
    ) -> Result<Vec<Row>, Error> {
        if count == 0 { Ok(Vec::new()) } else { self.client.query(statement, &parameters).await }
    }

    /// Writes `count` rows and says how many there were; not at all if there are none.
    pub(super) async fn execute<const N: usize>(
        &self,
        count: usize,
        statement: &Statement,
        parameters: [&(dyn ToSql + Sync); N],
    ) -> Result<u64, Error> {
        if count == 0 { Ok(0) } else { self.client.execute(statement, &parameters).await }
    }
}
