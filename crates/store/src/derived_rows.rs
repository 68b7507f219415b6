//! The rows of a session that follow from its journal.

use std::collections::{BTreeMap, BTreeSet};

use planwright_core::ids::MemoryId;
use planwright_core::memory::MemoryText;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{
    DamagedRow, DerivedRows, LedgerResult, RunsRow, ScopeCounts, SessionFlags, StoredMemory, StoredTerm,
};

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
    let own_plans = format!("SELECT id FROM plan WHERE session_id = {SESSION_ID}");
    let statements = vec![
        own(format!("SELECT due_at, running, waits FROM auto_session WHERE session_id = {SESSION_ID}")),
        own(
            "SELECT turn_open, asks_person, planning, has_agents FROM session WHERE conversation = ?1 AND channel = ?2"
                .to_owned(),
        ),
        own(format!("SELECT text FROM session_text WHERE session_id = {SESSION_ID}")),
        own(format!("SELECT plan_id, changed_at FROM waiting_plan WHERE plan_id IN ({own_plans})")),
        own(format!("SELECT plan_id FROM execution WHERE working AND plan_id IN ({own_plans})")),
        own(format!("SELECT scope, items, words, last_position, id FROM memory_scope WHERE session_id = {SESSION_ID}")),
        own(format!(
            "SELECT memory_item.id, body, forgotten, scope_id, position, scope
             FROM memory_item JOIN memory_scope ON memory_scope.id = scope_id WHERE session_id = {SESSION_ID}"
        )),
        own(format!(
            "SELECT scope_id, position, term, frequency, length
             FROM memory_posting JOIN memory_scope ON memory_scope.id = scope_id WHERE session_id = {SESSION_ID}"
        )),
        sql!(
            format!(
                "SELECT memory_item.id, body, forgotten, scope_id, position, scope
                 FROM memory_item JOIN memory_scope ON memory_scope.id = scope_id WHERE memory_item.id {}",
                B::any("?1")
            ),
            promoted
        ),
    ];
    let [runs, columns, texts, waiting, working, scopes, items, postings, copies] =
        sql.query_all(statements).await?.try_into().unwrap_or_default();
    let read = RowsRead {
        session: columns.first().map(session_flags).transpose()?.unwrap_or_default(),
        scopes: scopes.iter().map(scope).collect::<LedgerResult<_>>()?,
        items: items.iter().map(item).collect::<LedgerResult<_>>()?,
        postings: postings.iter().map(posting).collect::<LedgerResult<_>>()?,
        copies: copies.iter().map(item).collect::<LedgerResult<_>>()?,
        runs: runs.first().map(runs_row).transpose()?.unwrap_or_default(),
        search_text: texts.first().map(|row| row.get(0)).transpose()?,
        waiting: waiting.iter().map(|row| Ok((row.get(0)?, row.get(1)?))).collect::<LedgerResult<_>>()?,
        working: working.iter().map(|row| row.get(0)).collect::<LedgerResult<_>>()?,
    };
    read.put_together(session)
}

fn session_flags(row: &Row) -> LedgerResult<SessionFlags> {
    let (turn_open, asks_person) = (row.get(0)?, row.get(1)?);
    Ok(SessionFlags { turn_open, asks_person, planning: row.get(2)?, has_agents: row.get(3)? })
}

/// A number that is none, or below nothing, agrees with no journal.
fn number<T: TryFrom<i64>>(row: &Row, column: usize, otherwise: T) -> LedgerResult<T> {
    Ok(T::try_from(row.get::<i64>(column)?).unwrap_or(otherwise))
}

fn scope(row: &Row) -> LedgerResult<ScopeRead> {
    let counts = ScopeCounts {
        items: number(row, 1, u64::MAX)?,
        words: number(row, 2, u64::MAX)?,
        last_position: number(row, 3, u64::MAX)?,
    };
    Ok(ScopeRead { scope: row.get(0)?, counts, id: row.get(4)? })
}

fn posting(row: &Row) -> LedgerResult<PostingRead> {
    let term = StoredTerm { frequency: number(row, 3, u32::MAX)?, length: number(row, 4, u32::MAX)? };
    Ok(PostingRead { place: (row.get(0)?, row.get(1)?), text: row.get(2)?, term })
}

fn runs_row(row: &Row) -> LedgerResult<RunsRow> {
    Ok(RunsRow { due_at: row.get(0)?, running: row.get(1)?, waits: row.get(2)? })
}

fn item(row: &Row) -> LedgerResult<ItemRead> {
    let place = (row.get(3)?, row.get(4)?);
    Ok(ItemRead { id: row.get(0)?, body: row.get(1)?, forgotten: row.get(2)?, place, scope: row.get(5)? })
}

/// What was read of a session.
#[derive(Debug, Default)]
struct RowsRead {
    session: SessionFlags,
    scopes: Vec<ScopeRead>,
    items: Vec<ItemRead>,
    postings: Vec<PostingRead>,
    /// Promoted copies.
    copies: Vec<ItemRead>,
    runs: RunsRow,
    search_text: Option<String>,
    waiting: BTreeMap<String, i64>,
    working: BTreeSet<String>,
}

#[derive(Debug)]
struct ScopeRead {
    id: i64,
    scope: String,
    counts: ScopeCounts,
}

#[derive(Debug)]
struct ItemRead {
    id: String,
    body: String,
    forgotten: bool,
    /// The row of its scope, and its position there.
    place: (i64, i64),
    scope: String,
}

#[derive(Debug)]
struct PostingRead {
    place: (i64, i64),
    text: String,
    term: StoredTerm,
}

impl RowsRead {
    fn put_together(self, session: &SessionIdentity) -> LedgerResult<DerivedRows> {
        let mut rows = DerivedRows {
            session: self.session,
            search_text: self.search_text,
            runs: self.runs,
            waiting: self.waiting,
            working: self.working,
            ..DerivedRows::default()
        };
        for ScopeRead { id, scope, counts } in self.scopes {
            // Each memory has a position of its own, from 1 without gaps.
            let positions: BTreeSet<i64> =
                self.items.iter().filter(|item| item.place.0 == id).map(|item| item.place.1).collect();
            let is_gapless = positions.iter().zip(1..).all(|(position, expected)| *position == expected);
            if !is_gapless {
                let reason = "a position is missing or stands twice";
                rows.damaged.push(damaged(format!("the positions of the memories of {session}"), reason));
            }
            match scope.parse() {
                Ok(scope) => drop(rows.scopes.insert(scope, counts)),
                Err(refusal) => rows.damaged.push(damaged(format!("a memory scope of {session}"), refusal)),
            }
        }
        let mut terms: BTreeMap<(i64, i64), BTreeMap<String, StoredTerm>> = BTreeMap::new();
        for PostingRead { place, text, term } in self.postings {
            terms.entry(place).or_default().insert(text, term);
        }
        let items = self.items.into_iter().map(|item| (item, true));
        for (item, own) in items.chain(self.copies.into_iter().map(|copy| (copy, false))) {
            let terms = own.then(|| terms.remove(&item.place).unwrap_or_default());
            match encode::set_damage_aside(record(&item.id, &item.body, item.forgotten))? {
                Ok((id, record)) => {
                    rows.memories.insert(id, StoredMemory { record, scope: item.scope, terms });
                }
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

/// The global memories that are read at once.
const PAGE: u32 = 200;

/// What is wrong with the index of the global memories. A session's journal says what they are, also one that was deleted
/// since; what they are found by follows from themselves.
pub(crate) async fn global_index<B: Sql>(sql: &B) -> LedgerResult<Vec<DamagedRow>> {
    const SCOPES: &str = "SELECT id FROM memory_scope WHERE session_id = 0";
    let last = format!(
        "SELECT max(position) FROM (SELECT position FROM memory_item
         WHERE scope_id IN ({SCOPES}) AND position > ?1 ORDER BY position LIMIT ?2) AS page"
    );
    // One statement sees no change of a memory between its row and its terms.
    let page = format!(
        "SELECT position, id, body, CAST(CASE WHEN forgotten THEN 1 ELSE 0 END AS bigint),
             CAST(NULL AS text), CAST(0 AS bigint), CAST(0 AS bigint) FROM memory_item
         WHERE scope_id IN ({SCOPES}) AND position > ?1 AND position <= ?2
         UNION ALL
         SELECT position, CAST(NULL AS text), CAST(NULL AS text), CAST(0 AS bigint), term, frequency, length FROM memory_posting
         WHERE scope_id IN ({SCOPES}) AND position > ?1 AND position <= ?2"
    );
    let mut found = Vec::new();
    let mut after: i64 = 0;
    loop {
        let rows = sql.query(sql!(last.clone(), after, PAGE)).await?;
        let Some(end) = rows.first().map(|row| row.get::<Option<i64>>(0)).transpose()?.flatten() else {
            return Ok(found);
        };
        found.extend(wrong_terms(&sql.query(sql!(page.clone(), after, end)).await?)?);
        after = end;
    }
}

/// Of the rows of some memories and of their terms, what does not agree.
fn wrong_terms(rows: &[Row]) -> LedgerResult<Vec<DamagedRow>> {
    let mut terms: BTreeMap<i64, BTreeMap<String, StoredTerm>> = BTreeMap::new();
    for row in rows {
        if let Some(term) = row.get::<Option<&str>>(4)? {
            let stored = StoredTerm { frequency: number(row, 5, u32::MAX)?, length: number(row, 6, u32::MAX)? };
            terms.entry(row.get(0)?).or_default().insert(term.to_owned(), stored);
        }
    }
    let mut found = Vec::new();
    for row in rows {
        let (Some(id), Some(body)) = (row.get::<Option<&str>>(1)?, row.get::<Option<&str>>(2)?) else { continue };
        let stored = terms.remove(&row.get(0)?).unwrap_or_default();
        match encode::set_damage_aside(record(id, body, row.get::<i64>(3)? == 1))? {
            Ok((_, record)) => {
                let expected = match record.forgotten {
                    true => BTreeMap::new(),
                    false => StoredTerm::of(MemoryText::of(&record.item)),
                };
                if stored != expected {
                    let what = format!("the index of the global memory {id}");
                    found.push(damaged(what, "what is stored is not what the memory says"));
                }
            }
            Err(row) => found.push(row),
        }
    }
    Ok(found)
}

/// Scopes and runs that no session has, and items and terms that no scope or item has. Both stores understand it.
pub(crate) const ORPHANED: [(&str, &str); 12] = [
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
        "SELECT count(*) FROM memory_scope
         WHERE session_id = 0 AND words <> (SELECT coalesce(sum(length), 0) FROM (
             SELECT position, max(length) AS length FROM memory_posting
             WHERE memory_posting.scope_id = memory_scope.id GROUP BY position) AS found)",
        "counts of the words of global memories",
    ),
    (
        "SELECT count(*) FROM memory_scope
         WHERE session_id = 0 AND (last_position <> (SELECT count(*) FROM memory_item WHERE memory_item.scope_id = memory_scope.id)
             OR last_position <> (SELECT coalesce(max(position), 0) FROM memory_item WHERE memory_item.scope_id = memory_scope.id))",
        "positions of global memories",
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
    (
        "SELECT count(*) FROM session_text
         WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.id = session_text.session_id)",
        "texts for searches",
    ),
    (
        "SELECT count(*) FROM waiting_plan WHERE NOT EXISTS (SELECT 1 FROM plan WHERE plan.id = waiting_plan.plan_id)",
        "rows of plans that wait",
    ),
    (
        "SELECT count(*) FROM session_folder
         WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.id = session_folder.session_id)",
        "lists of shared files",
    ),
    (
        "SELECT count(*) FROM project_place
         WHERE NOT EXISTS (SELECT 1 FROM session WHERE session.id = project_place.session_id)",
        "places of project folders",
    ),
];

/// What is reported of such rows.
pub(crate) fn orphaned(count: u64, what: &str) -> Option<DamagedRow> {
    let reason = "what they belong to has no such row";
    (count > 0).then(|| damaged(format!("{count} {what} that belong to nothing"), reason))
}
