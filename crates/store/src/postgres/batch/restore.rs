//! A whole session as a batch of its own.

use std::collections::{BTreeMap, HashMap};

use planwright_engine::ledger::{JournalSource, RunsRow};

use super::session::BatchSession;
use super::write::{self, RowWriter};
use super::{Batch, NewEntry};
use crate::plan_rows::PlanRowChanges;
use crate::postgres::changes::Changes;
use crate::postgres::errors::DatabaseError;
use crate::postgres::schema;
use crate::postgres::writer_connection::WriterConnection;
use crate::restore::{JournalReplay, RestoredEntry, RestoredSession};
use crate::waiting::waiting;

/// How much one statement writes at most, unless one entry is more.
const STATEMENT_BYTES: usize = 1 << 20;
const STATEMENT_ENTRIES: usize = 1_000;

/// Says whether the session was written; if not, there is one of this name.
pub(in crate::postgres) async fn restore(
    connection: &WriterConnection,
    changes: &Changes,
    restored: &RestoredSession,
    journal: &dyn JournalSource,
) -> Result<bool, DatabaseError> {
    let session = &restored.identity;
    let (channel, conversation) = (vec![session.channel.as_str()], vec![session.conversation.as_str()]);
    connection.begin().await?;
    let made = connection.query(1, &connection.make_sessions, [&channel, &conversation]).await?;
    schema::check_version(&connection.query(1, &connection.schema_version, []).await?)?;
    let Some(row) = made.first() else {
        connection.client.batch_execute("ROLLBACK").await?;
        return Ok(false);
    };
    let session_id = row.try_get(0)?;
    write_entries(connection, session_id, restored, journal).await?;
    RowWriter::new(connection).write(&batch(session_id, restored)).await?;
    changes.commit(&connection.client, vec![session.clone()]).await?;
    Ok(true)
}

/// Writes the entries a few at a time, as far as that takes little memory.
async fn write_entries(
    connection: &WriterConnection,
    session_id: i64,
    restored: &RestoredSession,
    journal: &dyn JournalSource,
) -> Result<(), DatabaseError> {
    let mut replay = JournalReplay::new(&restored.identity, journal)?;
    loop {
        let (mut entries, mut bytes) = (Vec::new(), 0);
        while bytes < STATEMENT_BYTES && entries.len() < STATEMENT_ENTRIES {
            let Some(entry) = replay.next().transpose()? else { break };
            bytes += entry.body.len();
            entries.push(entry);
        }
        if entries.is_empty() {
            return Ok(replay.check_end(&restored.head)?);
        }
        let entries: Vec<_> = entries.iter().map(|entry| new_entry(session_id, entry)).collect();
        write::write_entries(connection, &entries).await?;
    }
}

fn new_entry(session_id: i64, entry: &RestoredEntry) -> NewEntry<'_> {
    NewEntry {
        session_id,
        seq: entry.seq,
        plan: entry.plan.clone(),
        request: entry.request.as_ref(),
        version: entry.version,
        body: entry.body.clone(),
        hash: entry.hash.0,
    }
}

fn batch(session_id: i64, restored: &RestoredSession) -> Batch<'_> {
    let plans = restored.snapshot.plans.keys();
    let session = BatchSession {
        id: Some(session_id),
        fresh: true,
        head: restored.head,
        snapshot: restored.snapshot.clone(),
        changed: plans.clone().map(|plan| (plan.clone(), PlanRowChanges::everything())).collect(),
        made: plans.cloned().collect(),
        memories: restored.memories().collect(),
        waiting: waiting(&restored.snapshot).into_iter().map(|(plan, since)| (plan, Some(since))).collect(),
        search_text: Some(restored.session.search_text()),
        auto: Some(RunsRow::of(&restored.session)),
        last_active: Some(restored.last_active),
        ..BatchSession::new(&restored.identity)
    };
    Batch {
        sessions: BTreeMap::from([(&restored.identity, session)]),
        done: HashMap::new(),
        homes: HashMap::new(),
        loaded: 0,
        entries: Vec::new(),
    }
}
