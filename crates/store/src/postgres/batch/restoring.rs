//! A whole session as a batch of its own.

use std::collections::{BTreeMap, HashMap};

use super::place::Place;
use super::{Batch, NewEntry, writing};
use crate::postgres::changes::Changes;
use crate::postgres::connection::Connection;
use crate::postgres::errors::Failure;
use crate::restoring::Restored;
use crate::runs::Rewrite;

/// Says whether the session was written; if not, there is one of this name.
pub(in crate::postgres) async fn restore(
    connection: &Connection,
    changes: &Changes,
    restored: &Restored,
) -> Result<bool, Failure> {
    let session = &restored.identity;
    let (channel, conversation) = (vec![session.channel.as_str()], vec![session.conversation.as_str()]);
    connection.client.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
    let made = connection.query(1, &connection.make_sessions, [&channel, &conversation]).await?;
    let Some(row) = made.first() else {
        connection.client.batch_execute("ROLLBACK").await?;
        return Ok(false);
    };
    writing::write(connection, &batch(row.try_get(0)?, restored)).await?;
    changes.commit(&connection.client, vec![session.clone()]).await?;
    Ok(true)
}

fn batch(session_id: i64, restored: &Restored) -> Batch<'_> {
    let plans = restored.snapshot.plans.keys();
    let place = Place {
        id: Some(session_id),
        fresh: true,
        head: restored.head,
        snapshot: restored.snapshot.clone(),
        changed: plans.clone().map(|plan| (plan.clone(), Rewrite::everything())).collect(),
        made: plans.cloned().collect(),
        last_active: Some(restored.last_active),
        ..Place::new(&restored.identity)
    };
    let entries = restored.entries.iter().map(|entry| NewEntry {
        session_id,
        seq: entry.seq,
        plan: entry.plan.clone(),
        request: entry.request.as_ref(),
        body: entry.body.clone(),
        hash: entry.hash.0,
    });
    Batch {
        places: BTreeMap::from([(&restored.identity, place)]),
        done: HashMap::new(),
        homes: HashMap::new(),
        loaded: 0,
        entries: entries.collect(),
    }
}
