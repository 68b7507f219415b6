//! Every column of the schema follows from a journal and is compared with it, or is listed here as free, with the reason.

use std::collections::{BTreeMap, BTreeSet};

use planwright_core::memory::NewMemory;
use planwright_core::plan::execution::StepStatus;
use planwright_engine::Engine;
use planwright_engine::approvals::OpenedFor;

use super::derived_rows::{BYSTANDER, HERE, remembering};
use crate::commands::*;
use crate::stores::Store;
use crate::turns::begin;
use crate::verification::assert_whole;

/// How a column is damaged and put back.
#[derive(Debug, Clone, Copy)]
enum Tampering {
    Number,
    Negative,
    Text,
    Flag,
    /// These two expressions.
    With(&'static str, &'static str),
}

#[derive(Debug, Clone, Copy)]
enum Column {
    /// `verify` finds a change of the rows that this condition is true of.
    Compared(Tampering, &'static str),
    /// Another test changes it.
    Elsewhere(&'static str),
    /// It does not follow from a journal, and steers nothing that a journal decides.
    Free(&'static str),
}

use Column::{Compared, Elsewhere, Free};
use Tampering::{Flag, Negative, Number, Text, With};

const ALL: &str = "1 = 1";
const OWN_SCOPES: &str = "scope_id IN (SELECT id FROM memory_scope WHERE session_id <> 0)";
const ORDER: &str = "the order of lists, over all sessions";

/// `*` stands for every column of a table.
const COLUMNS: &[(&str, &str, Column)] = &[
    ("session", "id", Compared(Number, ALL)),
    ("session", "channel", Compared(Text, ALL)),
    ("session", "conversation", Compared(Text, ALL)),
    ("session", "state", Compared(Text, ALL)),
    // A lower number is no damage by itself: it tells less of entries that are missing at the end.
    ("session", "seq", Compared(Number, ALL)),
    ("session", "head_seq", Compared(Number, ALL)),
    ("session", "head_hash", Elsewhere("damage.rs")),
    ("session", "last_active", Compared(Number, ALL)),
    ("session", "turn_open", Compared(Flag, ALL)),
    ("session", "asks_person", Compared(Flag, ALL)),
    ("session", "planning", Compared(Flag, ALL)),
    ("session", "written_at", Free(ORDER)),
    ("journal", "id", Free(ORDER)),
    ("journal", "session_id", Compared(Number, ALL)),
    ("journal", "seq", Compared(Number, ALL)),
    ("journal", "plan_id", Compared(Text, "plan_id IS NOT NULL")),
    ("journal", "request", Compared(Text, "request IS NOT NULL")),
    ("journal", "version", Compared(Number, "version IS NOT NULL")),
    ("journal", "hash", Elsewhere("damage.rs")),
    ("journal", "body", Compared(Text, ALL)),
    ("plan", "row_id", Free("it names the row and nothing else")),
    ("plan", "id", Compared(Text, ALL)),
    ("plan", "session_id", Compared(Number, ALL)),
    ("plan", "number", Compared(Number, ALL)),
    ("plan", "status", Compared(Text, ALL)),
    ("plan", "style", Compared(Text, ALL)),
    ("plan", "title", Compared(Text, ALL)),
    ("plan", "body", Compared(Text, ALL)),
    ("plan", "seq", Compared(Number, ALL)),
    ("plan", "updated_at", Compared(Number, ALL)),
    ("step_run", "plan_id", Compared(Text, ALL)),
    ("step_run", "position", Compared(Number, ALL)),
    ("step_run", "body", Compared(Text, ALL)),
    ("execution", "plan_id", Compared(Text, ALL)),
    ("execution", "steps", Compared(Number, ALL)),
    ("execution", "seq", Compared(Number, ALL)),
    ("execution", "updated_at", Compared(Text, ALL)),
    ("execution", "pause", Compared(With("'{}'", "NULL"), "pause IS NULL OR pause = '{}'")),
    ("memory_scope", "id", Compared(Number, ALL)),
    ("memory_scope", "session_id", Compared(Number, "session_id <> 0")),
    ("memory_scope", "scope", Compared(Text, "session_id <> 0")),
    ("memory_scope", "items", Compared(Number, ALL)),
    ("memory_scope", "words", Compared(Number, "session_id <> 0")),
    ("memory_scope", "last_position", Compared(Number, ALL)),
    ("memory_item", "number", Free(ORDER)),
    ("memory_item", "id", Compared(Text, ALL)),
    ("memory_item", "scope_id", Compared(Number, ALL)),
    ("memory_item", "position", Compared(Number, ALL)),
    // Any session may forget a global memory, and its own journal says so.
    ("memory_item", "forgotten", Compared(Flag, OWN_SCOPES)),
    ("memory_item", "body", Compared(Text, ALL)),
    ("memory_posting", "scope_id", Compared(Number, ALL)),
    ("memory_posting", "term", Compared(Text, OWN_SCOPES)),
    ("memory_posting", "position", Compared(Number, ALL)),
    ("memory_posting", "frequency", Compared(Number, OWN_SCOPES)),
    ("memory_posting", "length", Compared(Number, OWN_SCOPES)),
    ("memory_vector", "*", Free("it can be made again from the memories at any time")),
    ("auto_session", "session_id", Compared(Number, ALL)),
    ("auto_session", "due_at", Compared(Number, "due_at IS NOT NULL")),
    ("auto_session", "running", Compared(Flag, ALL)),
    ("auto_session", "waits", Compared(Flag, ALL)),
    ("auto_session", "taken_until", Free("which server starts what is due now")),
    ("approval_record", "seq", Compared(Negative, ALL)),
    ("approval_record", "body", Elsewhere("core/tests/core/approvers.rs")),
    ("approval_record", "hash", Elsewhere("core/tests/core/approvers.rs")),
    ("upstream_server", "*", Free("what servers offer and people accepted; it has a digest of its own")),
    ("lease", "*", Free("which process works now")),
    ("process_heartbeat", "*", Free("which process works now")),
    ("pointer", "*", Free("what a person looks at")),
    ("deleted_session", "*", Free("what other processes are told once")),
    ("claimed_request", "*", Free("what a client may send twice, for a while")),
    ("outbox", "*", Free("messages on their way")),
    ("chat_poller", "*", Free("updates of a chat service on their way")),
    ("chat_update", "*", Free("updates of a chat service on their way")),
    ("keyed_record", "*", Free("buttons and cards of chats")),
    ("planwright_schema", "*", Free("the version of the schema")),
];

/// The columns that the tables of this store have.
async fn schema(store: &Store) -> BTreeMap<String, BTreeSet<String>> {
    let sqlite = matches!(store, Store::Sqlite { .. });
    let tables = if sqlite {
        "SELECT group_concat(name, ' ') FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    } else {
        "SELECT string_agg(table_name, ' ') FROM information_schema.tables WHERE table_schema = current_schema()"
    };
    let mut schema = BTreeMap::new();
    for table in store.look(tables).await.split(' ') {
        let columns = if sqlite {
            format!("SELECT group_concat(name, ' ') FROM pragma_table_info('{table}')")
        } else {
            format!(
                "SELECT string_agg(column_name, ' ') FROM information_schema.columns
                 WHERE table_schema = current_schema() AND table_name = '{table}'"
            )
        };
        let columns = store.look(&columns).await;
        schema.insert(table.to_owned(), columns.split(' ').map(str::to_owned).collect());
    }
    schema
}

pub(crate) async fn every_column_is_compared_or_listed_as_free(store: &Store) {
    store.engine().await;
    let schema = schema(store).await;
    let is_listed =
        |table: &str, column: &str| COLUMNS.iter().any(|(t, c, _)| *t == table && (*c == column || *c == "*"));
    for (table, columns) in &schema {
        let unknown: Vec<_> = columns.iter().filter(|column| !is_listed(table, column)).collect();
        assert!(unknown.is_empty(), "nothing says whether these columns of {table} are compared: {unknown:?}");
    }
    for (table, column, kind) in COLUMNS {
        if let Free(reason) | Elsewhere(reason) = kind {
            assert!(!reason.is_empty(), "{table}.{column}");
        }
    }
}

/// Whether the check finds anything.
async fn is_found(store: &Store) -> bool {
    let engine = store.engine().await;
    let report = engine.verifier().verify_all(|_| ()).await;
    let audit = engine.approvals().audit(None).await;
    !report.is_ok_and(|report| report.is_whole()) || !audit.is_ok_and(|found| found.is_empty())
}

/// A store with something in every table that follows from a journal.
async fn full(store: &Store) -> Engine {
    let engine = store.engine().await;
    engine.approvals().record_configured(&person(), &BTreeMap::new(), OpenedFor::Server).await.unwrap();
    remembering(&engine, BYSTANDER, "okapis").await;
    remembering(&engine, HERE, "zebras").await;
    let here = session(HERE);
    let kept = engine.memories().save(&here, &person(), NewMemory::by_person("Zebras are striped.")).await.unwrap();
    engine.memories().promote(&here, &person(), kept.id).await.unwrap();
    let plan = ready(&engine, &here, "1. zebras\n2. more zebras").await;
    engine.submit(&here, &person(), approve(&plan)).await.unwrap();
    engine.submit(&here, &agent(), report(StepStatus::Completed)).await.unwrap();
    engine.submit(&here, &person(), begin("Hello, zebras")).await.unwrap();
    assert_whole(&engine).await;
    engine
}

pub(crate) async fn a_change_of_any_column_that_is_compared_is_found(store: &Store) {
    let _engine = full(store).await;
    let (schema, sqlite) = (schema(store).await, matches!(store, Store::Sqlite { .. }));
    assert!(!is_found(store).await);
    for (table, column, kind) in COLUMNS {
        let Compared(tampering, condition) = kind else { continue };
        if !schema.get(*table).is_some_and(|columns| columns.contains(*column)) {
            continue;
        }
        let (damage, repair) = match tampering {
            Number => (format!("{column} + 1000000"), format!("{column} - 1000000")),
            Negative => (format!("-{column}"), format!("-{column}")),
            Text => (format!("{column} || 'x'"), format!("substr({column}, 1, length({column}) - 1)")),
            Flag if sqlite => (format!("1 - {column}"), format!("1 - {column}")),
            Flag => (format!("NOT {column}"), format!("NOT {column}")),
            With(damage, repair) => ((*damage).to_owned(), (*repair).to_owned()),
        };
        let set = |value: &str| format!("UPDATE {table} SET {column} = {value} WHERE {condition}");
        assert!(store.tamper(&set(&damage)).await > 0, "no row: {}", set(&damage));
        assert!(is_found(store).await, "it is not found: {}", set(&damage));
        store.tamper(&set(&repair)).await;
        assert!(!is_found(store).await, "it cannot be put back: {}", set(&repair));
    }
    assert_whole(&store.engine().await).await;
}
