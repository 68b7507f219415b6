//! The rows of a session that follow from its journal.

use std::collections::BTreeMap;

use planwright_core::ids::MemoryId;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{DamagedRow, DerivedRows, LedgerResult, RunsRow, StoredMemory};

use crate::encode;
use crate::memory_rows::record;
use crate::sessions::SESSION_ID;
use crate::sql::{Row, Sql, sql};

pub(crate) async fn read<B: Sql>(
    sql: &B,
    session: &SessionIdentity,
    promoted: &[MemoryId],
) -> LedgerResult<DerivedRows> {
    let (conversation, channel) = (session.conversation.as_str(), session.channel.as_str());
    let own = |text: String| sql!(text, conversation, channel);
    let promoted: Vec<String> = promoted.iter().map(ToString::to_string).collect();
    let statements = vec![
        own(format!("SELECT due_at, running, waits FROM auto_session WHERE session_id = {SESSION_ID}")),
        own(format!("SELECT scope, items, words FROM memory_scope WHERE session_id = {SESSION_ID}")),
        own(format!(
            "SELECT memory_item.id, body, forgotten, scope_id, position
             FROM memory_item JOIN memory_scope ON memory_scope.id = scope_id WHERE session_id = {SESSION_ID}"
        )),
        own(format!(
            "SELECT scope_id, position, term, frequency
             FROM memory_posting JOIN memory_scope ON memory_scope.id = scope_id WHERE session_id = {SESSION_ID}"
        )),
        sql!(
            format!("SELECT id, body, forgotten, scope_id, position FROM memory_item WHERE id {}", B::any("?1")),
            promoted
        ),
    ];
    let [runs, scopes, items, postings, copies] = sql.query_all(statements).await?.try_into().unwrap_or_default();
    let scope = |row: &Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let posting = |row: &Row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let read = RowsRead {
        scopes: scopes.iter().map(scope).collect::<LedgerResult<_>>()?,
        items: items.iter().map(item).collect::<LedgerResult<_>>()?,
        postings: postings.iter().map(posting).collect::<LedgerResult<_>>()?,
        copies: copies.iter().map(item).collect::<LedgerResult<_>>()?,
        runs: runs.first().map(runs_row).transpose()?.unwrap_or_default(),
    };
    read.put_together(session)
}

fn runs_row(row: &Row) -> LedgerResult<RunsRow> {
    Ok(RunsRow { due_at: row.get(0)?, running: row.get(1)?, waits: row.get(2)? })
}

fn item(row: &Row) -> LedgerResult<ItemRead> {
    let place = (row.get(3)?, row.get(4)?);
    Ok(ItemRead { id: row.get(0)?, body: row.get(1)?, forgotten: row.get(2)?, place })
}

/// What was read of a session.
#[derive(Debug, Default)]
struct RowsRead {
    /// Scope, items and words.
    scopes: Vec<(String, u64, u64)>,
    items: Vec<ItemRead>,
    /// Row id of the scope, position, term and frequency.
    postings: Vec<(i64, i64, String, i64)>,
    /// Promoted copies.
    copies: Vec<ItemRead>,
    runs: RunsRow,
}

#[derive(Debug)]
struct ItemRead {
    id: String,
    body: String,
    forgotten: bool,
    place: (i64, i64),
}

impl RowsRead {
    fn put_together(self, session: &SessionIdentity) -> LedgerResult<DerivedRows> {
        let mut rows = DerivedRows { runs: self.runs, ..DerivedRows::default() };
        for (scope, items, words) in self.scopes {
            match scope.parse() {
                Ok(scope) => drop(rows.scopes.insert(scope, (items, words))),
                Err(refusal) => rows.damaged.push(damaged(format!("a memory scope of {session}"), refusal)),
            }
        }
        let mut terms: BTreeMap<(i64, i64), BTreeMap<String, u32>> = BTreeMap::new();
        for (scope, position, term, frequency) in self.postings {
            let frequency = u32::try_from(frequency).unwrap_or(u32::MAX);
            terms.entry((scope, position)).or_default().insert(term, frequency);
        }
        let items = self.items.into_iter().map(|item| (item, true));
        for (item, own) in items.chain(self.copies.into_iter().map(|copy| (copy, false))) {
            let terms = own.then(|| terms.remove(&item.place).unwrap_or_default());
            match encode::set_damage_aside(record(&item.id, &item.body, item.forgotten))? {
                Ok((id, record)) => drop(rows.memories.insert(id, StoredMemory { record, terms })),
                Err(row) => rows.damaged.push(row),
            }
        }
        if !terms.is_empty() {
            let what = format!("the index of the memories of {session}");
            rows.damaged.push(damaged(what, "it has terms of a memory that does not exist"));
        }
        Ok(rows)
    }
}

fn damaged(what: String, reason: impl ToString) -> DamagedRow {
    DamagedRow { what, reason: reason.to_string() }
}

/// Scopes and runs that no session has, and items and terms that no scope or item has. Both stores understand it.
pub(crate) const ORPHANED: [(&str, &str); 6] = [
    (
        "SELECT count(*) FROM memory_scope
         WHERE session_id <> 0 AND NOT EXISTS (SELECT 1 FROM session WHERE session.id = memory_scope.session_id)",
        "memory scopes",
    ),
    (
        "SELECT count(*) FROM memory_item
         WHERE NOT EXISTS (SELECT 1 FROM memory_scope WHERE memory_scope.id = memory_item.scope_id)",
        "memories",
    ),
    (
        "SELECT count(*) FROM memory_posting
         WHERE NOT EXISTS (SELECT 1 FROM memory_item WHERE memory_item.scope_id = memory_posting.scope_id
             AND memory_item.position = memory_posting.position AND NOT memory_item.forgotten)",
        "terms of memories",
    ),
    (
        "SELECT count(*) FROM memory_scope
         WHERE session_id = 0 AND items <> (SELECT count(*) FROM memory_item
             WHERE memory_item.scope_id = memory_scope.id AND NOT memory_item.forgotten)",
        "counts of global memories",
    ),
    (
        "SELECT count(*) FROM memory_vector
         WHERE NOT EXISTS (SELECT 1 FROM memory_item WHERE memory_item.id = memory_vector.memory)",
        "vectors of memories",
    ),
    (
        "SELECT count(*) FROM auto_session
         WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.id = auto_session.session_id)",
        "rows of schedules and runs",
    ),
];

/// What is reported of such rows.
pub(crate) fn orphaned(count: u64, what: &str) -> Option<DamagedRow> {
    let reason = "what they belong to has no such row";
    (count > 0).then(|| damaged(format!("{count} {what} that belong to nothing"), reason))
}
