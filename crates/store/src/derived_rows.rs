//! The rows of a session that follow from its journal, put together in the same way from both stores.

use std::collections::BTreeMap;

use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{DamagedRow, DerivedRows, LedgerResult, RunsRow, StoredMemory};

use crate::encode;
use crate::memory_rows::record;

/// What was read of a session.
#[derive(Debug, Default)]
pub(crate) struct RowsRead {
    /// Row id, scope, items and words.
    pub(crate) scopes: Vec<(i64, String, i64, i64)>,
    pub(crate) items: Vec<ItemRead>,
    /// Row id of the scope, position, term and frequency.
    pub(crate) postings: Vec<(i64, i64, String, i64)>,
    /// Promoted copies.
    pub(crate) copies: Vec<ItemRead>,
    pub(crate) runs: RunsRow,
}

#[derive(Debug)]
pub(crate) struct ItemRead {
    pub(crate) id: String,
    pub(crate) body: String,
    pub(crate) forgotten: bool,
    pub(crate) place: (i64, i64),
}

impl RowsRead {
    pub(crate) fn put_together(self, session: &SessionIdentity) -> LedgerResult<DerivedRows> {
        let mut rows = DerivedRows { runs: self.runs, ..DerivedRows::default() };
        for (_, scope, items, words) in self.scopes {
            match scope.parse() {
                Ok(scope) => drop(rows.scopes.insert(scope, (items.unsigned_abs(), words.unsigned_abs()))),
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
pub(crate) fn orphaned(count: i64, what: &str) -> Option<DamagedRow> {
    let reason = "what they belong to has no such row";
    (count > 0).then(|| damaged(format!("{count} {what} that belong to nothing"), reason))
}
