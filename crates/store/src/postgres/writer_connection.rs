//! A writer's own connection, with all of its statements.

use futures::future::join_all;
use futures::try_join;
use std::time::Duration;
use tokio_postgres::{Client, Error, Row};

use super::errors::{DatabaseError, RetryPolicy};
use super::statement::{self, FixedStatement, Parameter, StatementMode};
use super::target::Target;

/// How long a job is tried again whose session another transaction holds, unless the database's owner chose a time.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The settings of a writer, each with a condition on the value it has. A transaction waits only a little for a row that
/// another one holds: busy sessions are left out of a batch, and the rare rest is tried again apart from the others. A writer
/// that hangs or dies must not hold others up for ever, and a commit is on disk when it is answered. A time limit of the server's would
/// answer a commit as done that still waits for its standby; how long one may take is decided here. Every statement finds its
/// rows by key, so it is planned for an index, however small the tables are. A database that lacks one of these settings does
/// without it.
const SETTINGS: [(&str, &str, &str); 8] = [
    ("lock_timeout", "100ms", "true"),
    ("statement_timeout", "0", "true"),
    ("idle_in_transaction_session_timeout", "60s", "current_setting('idle_in_transaction_session_timeout') = '0'"),
    ("synchronous_commit", "on", "current_setting('synchronous_commit') = 'off'"),
    ("plan_cache_mode", "force_generic_plan", "true"),
    ("enable_seqscan", "off", "true"),
    ("enable_hashjoin", "off", "true"),
    ("enable_mergejoin", "off", "true"),
];

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// For one transaction, or for the whole connection.
fn setting((name, value, condition): (&str, &str, &str), local: bool) -> String {
    format!(
        "SELECT set_config('{name}', '{value}', {local}) WHERE current_setting('{name}', true) IS NOT NULL AND {condition}"
    )
}

pub(super) struct WriterConnection {
    pub(super) client: Client,
    /// How long jobs wait for a busy session.
    pub(super) patience: Duration,
    begin: String,
    pub(super) schema_version: FixedStatement,
    pub(super) make_sessions: FixedStatement,
    pub(super) lock_sessions: FixedStatement,
    pub(super) journal_ends: FixedStatement,
    pub(super) find_requests: FixedStatement,
    pub(super) request_entries: FixedStatement,
    pub(super) find_plans: FixedStatement,
    pub(super) find_leases: FixedStatement,
    pub(super) insert_entries: FixedStatement,
    pub(super) insert_plans: FixedStatement,
    pub(super) update_plans: FixedStatement,
    pub(super) set_executions: FixedStatement,
    pub(super) delete_runs: FixedStatement,
    pub(super) set_runs: FixedStatement,
    pub(super) update_sessions: FixedStatement,
    pub(super) delete_sessions: FixedStatement,
    pub(super) set_leases: FixedStatement,
    pub(super) find_memories: FixedStatement,
    pub(super) add_memory: FixedStatement,
    pub(super) forget_memory: FixedStatement,
    pub(super) restore_memory: FixedStatement,
    pub(super) set_auto: FixedStatement,
    pub(super) delete_auto: FixedStatement,
    pub(super) set_waiting: FixedStatement,
    pub(super) delete_waiting: FixedStatement,
    pub(super) set_texts: FixedStatement,
}

impl WriterConnection {
    pub(super) async fn open(target: &Target) -> Result<Self, DatabaseError> {
        let client = target.connect().await?;
        let mode = target.statement_mode();
        let patience = lock_patience(&client).await?;
        let begin = match mode {
            StatementMode::Prepared => {
                set_for_connection(&client).await?;
                BEGIN.to_owned()
            }
            // What is set for a connection would stay on the server's one, which others use after this.
            StatementMode::Unnamed => {
                let settings = SETTINGS.map(|one| setting(one, true)).join("; ");
                format!("{BEGIN}; {settings}")
            }
        };
        let new = |sql| FixedStatement::new(&client, mode, sql);
        let (make_sessions, lock_sessions, journal_ends, find_requests, request_entries, find_plans, find_leases) = try_join!(
            new(include_str!("sql/make_sessions.sql")),
            new(include_str!("sql/lock_sessions.sql")),
            new(include_str!("sql/journal_ends.sql")),
            new(include_str!("sql/find_requests.sql")),
            new(include_str!("sql/request_entries.sql")),
            new(include_str!("sql/find_plans.sql")),
            new(include_str!("sql/find_leases.sql")),
        )?;
        let (insert_entries, insert_plans, update_plans, update_sessions, delete_sessions, set_leases) = try_join!(
            new(include_str!("sql/insert_entries.sql")),
            new(include_str!("sql/insert_plans.sql")),
            new(include_str!("sql/update_plans.sql")),
            new(include_str!("sql/update_sessions.sql")),
            new(include_str!("sql/delete_sessions.sql")),
            new(include_str!("sql/set_leases.sql")),
        )?;
        let (schema_version, set_executions, delete_runs, set_runs) = try_join!(
            new(super::schema::VERSION),
            new(include_str!("sql/set_executions.sql")),
            new(include_str!("sql/delete_runs.sql")),
            new(include_str!("sql/set_runs.sql")),
        )?;
        let (find_memories, add_memory, forget_memory, restore_memory) = try_join!(
            new(include_str!("sql/find_memories.sql")),
            new(include_str!("sql/add_memory.sql")),
            new(include_str!("sql/forget_memory.sql")),
            new(include_str!("sql/restore_memory.sql")),
        )?;
        let (set_auto, delete_auto, set_waiting, delete_waiting, set_texts) = try_join!(
            new(include_str!("sql/set_auto.sql")),
            new(include_str!("sql/delete_auto.sql")),
            new(include_str!("sql/set_waiting.sql")),
            new(include_str!("sql/delete_waiting.sql")),
            new(include_str!("sql/set_texts.sql")),
        )?;
        Ok(Self {
            client,
            patience,
            begin,
            schema_version,
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
            find_memories,
            add_memory,
            forget_memory,
            restore_memory,
            set_auto,
            delete_auto,
            set_waiting,
            delete_waiting,
            set_texts,
        })
    }

    /// Begins a transaction.
    pub(super) async fn begin(&self) -> Result<(), Error> {
        self.client.batch_execute(&self.begin).await
    }

    /// Asks about `count` things; not at all if there are none.
    pub(super) async fn query<const N: usize>(
        &self,
        count: usize,
        statement: &FixedStatement,
        parameters: [&dyn Parameter; N],
    ) -> Result<Vec<Row>, Error> {
        if count == 0 { Ok(Vec::new()) } else { statement.query(&self.client, &parameters).await }
    }

    /// Writes `count` rows and says how many there were; not at all if there are none.
    pub(super) async fn execute<const N: usize>(
        &self,
        count: usize,
        statement: &FixedStatement,
        parameters: [&dyn Parameter; N],
    ) -> Result<u64, Error> {
        if count == 0 { Ok(0) } else { statement.execute(&self.client, &parameters).await }
    }
}

async fn set_for_connection(client: &Client) -> Result<(), DatabaseError> {
    let settings = SETTINGS.map(|one| setting(one, false));
    let outcomes = join_all(settings.iter().map(|setting| client.batch_execute(setting))).await;
    for (setting, outcome) in settings.iter().zip(outcomes) {
        if let Err(error) = outcome {
            let error = DatabaseError::from(error);
            if error.retry_policy() == RetryPolicy::Reconnect {
                return Err(error);
            }
            tracing::debug!(setting, error = %error.to_error(), "the database does not take a setting");
        }
    }
    Ok(())
}

/// What the database's owner chose as `lock_timeout`.
async fn lock_patience(client: &Client) -> Result<Duration, DatabaseError> {
    let sql = "SELECT setting FROM pg_catalog.pg_settings WHERE name = 'lock_timeout'";
    match statement::query(client, sql, &[]).await.map_err(DatabaseError::from) {
        Ok(rows) => {
            let chosen = rows.first().and_then(|row| row.try_get::<_, &str>(0).ok()?.parse::<u64>().ok());
            Ok(chosen.filter(|millis| *millis > 0).map_or(DEFAULT_TIMEOUT, Duration::from_millis))
        }
        Err(error) if error.retry_policy() == RetryPolicy::Reconnect => Err(error),
        Err(_) => Ok(DEFAULT_TIMEOUT),
    }
}
