//! Sessions and their journals, and whether the store that has them can be read and written.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::ids::{MemoryId, PlanId, RequestId};
use planwright_core::journal::{Entry, EntryHash, SealedEntry};
use planwright_core::session::{ConversationKey, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::{
    Committed, CommittedRequest, DamagedRow, DerivedRows, EntryKeys, JournalSource, Lease, LedgerError, LedgerResult,
    Page, SessionStore, StoreChange, StoreCounts, StoreFacts, StoredSession, Submission, text_for_row,
};
use tokio::sync::broadcast;
use tokio::time::timeout;

use crate::backend::{Backend, SqlLedger};
use crate::derived_rows::{self, ORPHANED, orphaned};
use crate::encode;
use crate::overview::listed;
use crate::paging;
use crate::restore::replay_journal;
use crate::sql::{Row, Sql, Statement, Value, sql};

/// Health checks wait for the database no longer than this.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);
const REMOVE_PROBE: &str = "DELETE FROM claimed_request WHERE key = ''";
/// How many rows without a session are named, of each kind.
const ORPHANS: i64 = 10;

/// Of how many sessions that have the words of a search the page is picked. If they are more, they are found soon by reading the
/// list of all.
const MAX_FOUND: usize = 5_000;

/// The row of the session with this conversation and channel.
pub(crate) const SESSION_ID: &str = "(SELECT id FROM session WHERE conversation = ?1 AND channel = ?2)";

#[async_trait]
impl<B: Backend> SessionStore for SqlLedger<B> {
    async fn submit(&self, submission: Submission) -> LedgerResult<Committed> {
        self.0.submit(submission).await
    }

    async fn session(&self, session: &SessionIdentity) -> LedgerResult<Option<StoredSession>> {
        self.0.session(session).await
    }

    async fn sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        let below = paging::below(after)?;
        let read = |row: &Row| Ok((row.get(row.0.len() - 1)?, B::read_session(row)));
        paging::read_page(&self.0, |count| sql!(B::RECENT_SESSIONS, below, count), limit, read).await
    }

    async fn sessions_with_words(
        &self,
        words: &[String],
        after: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Option<Page<StoredSession>>> {
        let has_word = |n: usize| B::contains("text", &format!("?{n}"));
        let conditions: Vec<_> = (1..=words.len()).map(has_word).collect();
        let values = words.iter().map(|word| Value::from(text_for_row(word))).collect();
        let most = MAX_FOUND + 1;
        let text = format!("SELECT session_id FROM session_text WHERE {} LIMIT {most}", conditions.join(" AND "));
        let found = self.0.query(Statement { text: text.into(), values }).await?;
        if found.len() > MAX_FOUND {
            return Ok(None);
        }
        let ids = found.iter().map(|row| row.get(0)).collect::<LedgerResult<Vec<i64>>>()?;
        let below = paging::below(after)?;
        let read = |row: &Row| Ok((row.get(row.0.len() - 1)?, B::read_session(row)));
        let statement = |count| sql!(B::FOUND_SESSIONS, below, count, ids.clone());
        paging::read_page(&self.0, statement, limit, read).await.map(Some)
    }

    async fn walk_sessions(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        walk(&self.0, "true", after, limit).await
    }

    async fn sessions_with_agents(&self, after: Option<u64>, limit: u32) -> LedgerResult<Page<StoredSession>> {
        walk(&self.0, "session.has_agents", after, limit).await
    }

    async fn count_sessions(&self) -> LedgerResult<u64> {
        count(&self.0, sql!("SELECT count(*) FROM session")).await
    }

    async fn sessions_with_key(&self, key: &ConversationKey) -> LedgerResult<Vec<SessionIdentity>> {
        let statement = "SELECT channel || ':' || conversation FROM session WHERE conversation = ?1 ORDER BY channel";
        let rows = self.0.query(sql!(statement, key.as_str())).await?;
        // A row whose channel cannot be read does not hide the others; lists of sessions name it.
        Ok(rows.iter().filter_map(|row| identity(row, 0).ok()).collect())
    }

    async fn snapshot(&self, session: &SessionIdentity, plan: Option<&PlanId>) -> LedgerResult<Snapshot> {
        self.0.snapshot(session, plan).await
    }

    async fn find_request(
        &self,
        session: &SessionIdentity,
        request: &RequestId,
    ) -> LedgerResult<Option<CommittedRequest>> {
        let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
        let statement = sql!(include_str!("request_entries.sql"), conversation, channel, request.as_str());
        let rows = self.0.lookup(statement).await?;
        let entries = rows.iter().map(read_entry).collect::<LedgerResult<Vec<_>>>()?;
        let Some(seq) = entries.last().map(|entry| entry.seq) else { return Ok(None) };
        Ok(Some(CommittedRequest { events: entries.into_iter().map(|entry| entry.event).collect(), seq }))
    }

    async fn journal(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<SealedEntry>> {
        // Asked in this way it is read in the order of the index, so that a page costs no more than what is on it.
        let statement = format!(
            "SELECT seq, body, hash FROM journal WHERE session_id = {SESSION_ID} AND seq > ?3
             ORDER BY session_id, seq LIMIT ?4"
        );
        let rows = self.0.query(of_session(statement, session, after, limit)).await?;
        rows.iter().map(sealed_entry).collect()
    }

    async fn conversation(&self, session: &SessionIdentity, from: u64, limit: u32) -> LedgerResult<Vec<Entry>> {
        let statement = format!(
            "SELECT seq, body FROM journal WHERE session_id = {SESSION_ID} AND seq >= ?3 AND plan_id IS NULL
             ORDER BY session_id, seq LIMIT ?4"
        );
        let rows = self.0.query(of_session(statement, session, from, limit)).await?;
        rows.iter().map(read_entry).collect()
    }

    async fn orphans(&self) -> LedgerResult<Vec<DamagedRow>> {
        let entries = "SELECT count(*) FROM journal
                       WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.id = journal.session_id)
                       GROUP BY session_id ORDER BY session_id LIMIT ?1";
        let plans = "SELECT id FROM plan
                     WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.id = plan.session_id)
                     ORDER BY id LIMIT ?1";
        let runs = "SELECT plan_id FROM step_run WHERE NOT EXISTS (SELECT 1 FROM plan WHERE plan.id = step_run.plan_id)
                    UNION
                    SELECT plan_id FROM execution WHERE NOT EXISTS (SELECT 1 FROM plan WHERE plan.id = execution.plan_id)
                    ORDER BY plan_id LIMIT ?1";
        let mut found = Vec::new();
        for row in self.0.query(sql!(entries, ORPHANS)).await? {
            found.push(encode::orphaned_entries(row.get(0)?));
        }
        for row in self.0.query(sql!(plans, ORPHANS)).await? {
            found.push(encode::orphaned_plan(row.get(0)?));
        }
        for row in self.0.query(sql!(runs, ORPHANS)).await? {
            found.push(encode::orphaned_runs(row.get(0)?));
        }
        for (statement, what) in ORPHANED {
            found.extend(orphaned(count(&self.0, sql!(statement)).await?, what));
        }
        found.extend(derived_rows::global_index(&self.0).await?);
        Ok(found)
    }

    async fn derived_rows(&self, session: &SessionIdentity, promoted: &[MemoryId]) -> LedgerResult<DerivedRows> {
        derived_rows::read(&self.0, session, promoted).await
    }

    async fn entry_keys(&self, session: &SessionIdentity, after: u64, limit: u32) -> LedgerResult<Vec<EntryKeys>> {
        let statement = format!(
            "SELECT seq, plan_id, request FROM journal WHERE session_id = {SESSION_ID} AND seq > ?3
             ORDER BY session_id, seq LIMIT ?4"
        );
        let rows = self.0.query(of_session(statement, session, after, limit)).await?;
        // What is no text stands for itself: no entry has it.
        let text = |row: &Row, column| row.get(column).unwrap_or_else(|_| Some(String::new()));
        let columns = |row: &Row| Ok(EntryKeys { seq: row.get(0)?, plan: text(row, 1), request: text(row, 2) });
        rows.iter().map(columns).collect()
    }

    async fn damaged_pages(&self) -> LedgerResult<Vec<DamagedRow>> {
        let lines = self.0.check_pages().await?;
        Ok(lines.into_iter().map(|reason| DamagedRow { what: "the file of the store".to_owned(), reason }).collect())
    }

    async fn delete_session(&self, lease: &Lease) -> LedgerResult<()> {
        self.0.delete_session(lease).await
    }

    async fn counts(&self) -> LedgerResult<StoreCounts> {
        let statement = concat!(
            "SELECT (SELECT count(*) FROM session),
                 (SELECT count(*) FROM session WHERE planning), (SELECT count(*) FROM session WHERE turn_open),
                 (SELECT count(*) FROM plan WHERE plan.status = 'READY' AND ",
            listed!(),
            "), (SELECT count(*) FROM plan WHERE plan.status = 'EXECUTING' AND ",
            listed!(),
            ")"
        );
        let rows = self.0.query(sql!(statement)).await?;
        let row = rows.first().ok_or_else(|| LedgerError::Internal("the database counts nothing".to_owned()))?;
        Ok(StoreCounts {
            sessions: row.get(0)?,
            planning: row.get(1)?,
            turns: row.get(2)?,
            plans_ready: row.get(3)?,
            plans_executing: row.get(4)?,
        })
    }

    fn changes(&self) -> broadcast::Receiver<StoreChange> {
        self.0.changes()
    }

    async fn check(&self) -> LedgerResult<StoreFacts> {
        let facts = timeout(CHECK_TIMEOUT, self.0.facts()).await.map_err(|_| late())??;
        // It changes nothing, and fails where nothing may be changed.
        timeout(CHECK_TIMEOUT, self.0.write(sql!(REMOVE_PROBE))).await.map_err(|_| late())??;
        Ok(facts)
    }

    async fn check_writable(&self) -> LedgerResult<()> {
        if let Some(recent) = self.0.health().recent() {
            return recent;
        }
        // A row that is committed has to reach the disk, which fails when the disk is full.
        let probe = async {
            self.0.facts().await?;
            let add = "INSERT INTO claimed_request (key, fingerprint, at, claim) VALUES ('', '', 0, '')
                       ON CONFLICT (key) DO UPDATE SET at = 0";
            self.0.write_all(vec![sql!(add), sql!(REMOVE_PROBE)]).await
        };
        timeout(CHECK_TIMEOUT, probe).await.map_err(|_| late())??;
        self.0.health().note_success();
        Ok(())
    }

    async fn restore(&self, session: &SessionIdentity, journal: Arc<dyn JournalSource>) -> LedgerResult<()> {
        let restored = replay_journal(session, journal.as_ref())?;
        self.0.restore(restored, journal).await
    }
}

pub(crate) async fn count(sql: &impl Sql, statement: Statement) -> LedgerResult<u64> {
    sql.query(statement).await?.first().map_or(Ok(0), |row| row.get(0))
}

/// Sessions in the order of their row ids, which never change, if `condition` is true.
pub(crate) async fn walk<B: Backend>(
    backend: &B,
    condition: &str,
    after: Option<u64>,
    limit: u32,
) -> LedgerResult<Page<StoredSession>> {
    let (columns, tables) = (B::SESSION_COLUMNS, B::SESSION_TABLES);
    let statement =
        format!("SELECT {columns} FROM {tables} WHERE {condition} AND session.id > ?1 ORDER BY session.id LIMIT ?2");
    let rows = backend.query(sql!(statement, paging::walked_from(after), limit)).await?;
    paging::walked_page(&rows, limit, B::read_session)
}

/// A statement about the session `?1`, `?2` with a position and a limit.
fn of_session(text: String, session: &SessionIdentity, from: u64, limit: u32) -> Statement {
    sql!(text, session.conversation.as_str(), session.channel.as_str(), from, limit)
}

/// The session that a column names.
pub(crate) fn identity(row: &Row, column: usize) -> LedgerResult<SessionIdentity> {
    let name: &str = row.read(column, || "the name of a session".to_owned())?;
    name.parse().map_err(|error| LedgerError::damaged(format!("session {name}"), error))
}

/// An entry as it is stored. A hash of the wrong length cannot match, and neither can a body that is no text; the check of
/// the chain says so in its own words.
fn sealed_entry(row: &Row) -> LedgerResult<SealedEntry> {
    let hash = row.get::<&[u8]>(2).ok().and_then(|hash| hash.try_into().ok()).unwrap_or([0; 32]);
    let body = row.get::<String>(1).unwrap_or_default();
    Ok(SealedEntry { seq: row.get(0)?, body, hash: EntryHash(hash) })
}

/// An entry from its number and its body.
pub(crate) fn read_entry(row: &Row) -> LedgerResult<Entry> {
    let seq: i64 = row.read(0, || "a journal entry".to_owned())?;
    let what = || format!("journal entry {seq}");
    encode::entry_from_text(what, row.read(1, what)?)
}

fn late() -> LedgerError {
    LedgerError::Unavailable(format!("nothing could be written within {} seconds", CHECK_TIMEOUT.as_secs()))
}
