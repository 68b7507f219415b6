//! A whole session as a batch of its own.

use std::collections::{BTreeMap, HashMap};

use super::session::BatchSession;
use super::{Batch, NewEntry, write};
use crate::plan_rows::PlanRowChanges;
use crate::postgres::changes::Changes;
use crate::postgres::errors::DatabaseError;
use crate::postgres::schema;
use crate::postgres::writer_connection::WriterConnection;
use crate::restore::RestoredSession;

/// Says whether the session was written; if not, there is one of this name.
pub(in crate::postgres) async fn restore(
    connection: &WriterConnection,
    changes: &Changes,
    restored: &RestoredSession,
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
    write::write(connection, &batch(row.try_get(0)?, restored)).await?;
    changes.commit(&connection.client, vec![session.clone()]).await?;
    Ok(true)
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
        last_active: Some(restored.last_active),
        ..BatchSession::new(&restored.identity)
    };
    let entries = restored.entries.iter().map(|entry| NewEntry {
        session_id,
        seq: entry.seq,
        plan: entry.plan.clone(),
        request: entry.request.as_ref(),
        version: entry.version,
        body: entry.body.clone(),
        hash: entry.hash.0,
    });
    Batch {
        sessions: BTreeMap::from([(&restored.identity, session)]),
        done: HashMap::new(),
        homes: HashMap::new(),
        loaded: 0,
        entries: entries.collect(),
    }
}
