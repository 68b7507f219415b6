//! Every column of the schema follows from a journal or from the records of approvers and is compared with them, or is listed here
//! as free, with the reason.

use std::collections::{BTreeMap, BTreeSet};

use planwright_core::auto::{AutoCommand, StartTarget};
use planwright_core::command::Command;
use planwright_core::memory::NewMemory;
use planwright_core::plan::execution::StepStatus;
use planwright_engine::Engine;
use planwright_engine::approvals::OpenedFor;

use super::derived_rows::{BYSTANDER, HERE, remembering};
use crate::commands::*;
use crate::contract::pins;
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
    /// The first character or byte stands last.
    Rotated,
    /// These two expressions.
    With(&'static str, &'static str),
}

#[derive(Debug, Clone, Copy)]
enum Column {
    /// `verify` finds a change.
    Compared(Tampering),
    /// It does not follow from a journal, and steers nothing that a journal decides.
    Free(&'static str),
}

use Column::{Compared, Free};
use Tampering::{Flag, Negative, Number, Rotated, Text, With};

/// Columns of a table, separated by spaces, in the rows that a condition is true of. It is true of a damaged row as well.
type Listed = (&'static str, &'static str, &'static str, Column);

const ALL: &str = "1 = 1";
const OWN: &str = "session_id <> 0";
const OWN_SCOPES: &str = "scope_id IN (SELECT id FROM memory_scope WHERE session_id <> 0)";
const GLOBAL_SCOPE: &str = "scope_id IN (SELECT id FROM memory_scope WHERE session_id = 0)";
const ORDER: &str = "the order of lists, over all sessions";
const SHARED: &str =
    "files, whose pieces are compared with their hashes when they are read, and by `planwright verify`";
const NOW: &str = "which process works now; it is asked with a fence and for a short time";
const CLAIM: &str = "what a client may send twice, for a while; the ledger knows the command by its entry";
const SENT: &str = "a message on its way; what it tells is read again from its session";
const RECEIVED: &str = "an update of a chat service on its way; a command of it is known by its entry";

const BOTH: &[Listed] = &[
    ("session", "id", ALL, Compared(Number)),
    ("session", "channel conversation state", ALL, Compared(Text)),
    ("session", "turn_open asks_person planning has_agents", ALL, Compared(Flag)),
    ("journal", "session_id seq", ALL, Compared(Number)),
    ("journal", "plan_id", "plan_id IS NOT NULL AND plan_id <> 'x'", Compared(Text)),
    ("journal", "plan_id", "plan_id IS NULL OR plan_id = 'x'", Compared(With("'x'", "NULL"))),
    ("journal", "request", "request IS NOT NULL AND request NOT LIKE 'row %'", Compared(Text)),
    (
        "journal",
        "request",
        "request IS NULL OR request LIKE 'row %'",
        Compared(With("'row ' || session_id || ' ' || seq", "NULL")),
    ),
    ("journal", "version", "version IS NOT NULL AND version <> 4711", Compared(Number)),
    (
        "journal",
        "version",
        "plan_id IS NOT NULL AND (version IS NULL OR version = 4711)",
        Compared(With("4711", "NULL")),
    ),
    (
        "journal",
        "version",
        "plan_id IS NULL",
        Free("an entry of no plan makes no version, and none is looked for there"),
    ),
    ("journal", "hash", ALL, Compared(Rotated)),
    ("journal", "body", ALL, Compared(Text)),
    ("plan", "id status style title body", ALL, Compared(Text)),
    ("plan", "session_id number updated_at", ALL, Compared(Number)),
    ("step_run", "plan_id body", ALL, Compared(Text)),
    ("step_run", "position", ALL, Compared(Number)),
    ("execution", "plan_id updated_at", ALL, Compared(Text)),
    ("execution", "steps", ALL, Compared(Number)),
    ("execution", "working", ALL, Compared(Flag)),
    ("session_text", "session_id", ALL, Compared(Number)),
    ("session_text", "text", ALL, Compared(Text)),
    ("waiting_plan", "plan_id", ALL, Compared(Text)),
    ("waiting_plan", "changed_at", ALL, Compared(Number)),
    ("session_folder", "session_id", ALL, Compared(Number)),
    ("session_folder", "folder number lease items", ALL, Free(SHARED)),
    ("file_piece", "session_id hash stored_at content", ALL, Free(SHARED)),
    ("project_place", "session_id", ALL, Compared(Number)),
    ("project_place", "path place", ALL, Free("where a person chose a folder; it is compared with the session's own")),
    ("server_beat", "owner beat fences", ALL, Free(NOW)),
    ("execution", "pause", "pause IS NULL OR pause = '{}'", Compared(With("'{}'", "NULL"))),
    ("memory_scope", "id items words last_position", OWN, Compared(Number)),
    ("memory_scope", "id items words last_position", "session_id = 0", Compared(Number)),
    ("memory_scope", "session_id", "session_id NOT IN (0, 4711)", Compared(Number)),
    ("memory_scope", "session_id", "session_id IN (0, 4711)", Compared(With("4711", "0"))),
    ("memory_scope", "scope", OWN, Compared(Text)),
    ("memory_scope", "scope", "session_id = 0", Compared(Text)),
    ("memory_item", "number", ALL, Free(ORDER)),
    ("memory_item", "id", ALL, Compared(Text)),
    ("memory_item", "scope_id", ALL, Compared(Number)),
    ("memory_item", "position", OWN_SCOPES, Compared(Number)),
    ("memory_item", "position", GLOBAL_SCOPE, Compared(Number)),
    ("memory_item", "forgotten", OWN_SCOPES, Compared(Flag)),
    // Any session may forget a global memory, so it is compared with the index and not with one journal.
    ("memory_item", "forgotten", GLOBAL_SCOPE, Compared(Flag)),
    ("memory_item", "body", OWN_SCOPES, Compared(Text)),
    ("memory_item", "body", GLOBAL_SCOPE, Compared(Text)),
    ("memory_posting", "scope_id", ALL, Compared(Number)),
    ("memory_posting", "position frequency length", OWN_SCOPES, Compared(Number)),
    ("memory_posting", "position frequency length", GLOBAL_SCOPE, Compared(Number)),
    ("memory_posting", "term", OWN_SCOPES, Compared(Text)),
    ("memory_posting", "term", GLOBAL_SCOPE, Compared(Text)),
    ("memory_vector", "memory", ALL, Compared(Text)),
    ("memory_vector", "model vector", ALL, Free("it can be made again from the memories at any time")),
    ("auto_session", "session_id", ALL, Compared(Number)),
    ("auto_session", "due_at", "due_at IS NOT NULL AND due_at <> 4711", Compared(Number)),
    ("auto_session", "due_at", "due_at IS NULL OR due_at = 4711", Compared(With("4711", "NULL"))),
    ("auto_session", "running waits", ALL, Compared(Flag)),
    ("auto_session", "taken_until", ALL, Free("which server starts what is due now; another looks a minute later")),
    ("approval_record", "seq", ALL, Compared(Negative)),
    ("approval_record", "body hash", ALL, Compared(Rotated)),
    ("upstream_server", "name", ALL, Compared(Text)),
    ("upstream_server", "revision", ALL, Free("it tells processes to read the row again")),
    (
        "upstream_server",
        "offered_tools accepted_tools",
        ALL,
        Compared(With("replace(COLUMN, 'Reads.', 'Sends.')", "replace(COLUMN, 'Sends.', 'Reads.')")),
    ),
    ("upstream_server", "offered_digest commands", ALL, Compared(Text)),
    ("upstream_server", "offered_at", ALL, Free("when it was offered, for people; what they accept has a digest")),
    (
        "upstream_server",
        "accepted_by",
        ALL,
        Compared(With("replace(accepted_by, '\"ada\"', '\"eve\"')", "replace(accepted_by, '\"eve\"', '\"ada\"')")),
    ),
    ("upstream_server", "accepted_at", ALL, Compared(Number)),
    ("lease", "session_id owner fence expires_at", ALL, Free(NOW)),
    ("process_heartbeat", "process at", ALL, Free(NOW)),
    (
        "pointer",
        "transport session_id used",
        ALL,
        Free("which session a person looks at; every decision names its own"),
    ),
    ("deleted_session", "id", ALL, Free("what other processes are told once")),
    ("claimed_request", "key fingerprint at claim status body", ALL, Free(CLAIM)),
    ("outbox", "seq id channel target body created_at due retry_at attempts owner", ALL, Free(SENT)),
    ("outbox", "taken_until settled_at outcome why", ALL, Free(SENT)),
    ("chat_poller", "bot owner fence expires_at next_update received_at", ALL, Free(RECEIVED)),
    ("chat_update", "bot id body session done_at", ALL, Free(RECEIVED)),
    (
        "keyed_record",
        "key revision body",
        ALL,
        Free("buttons and cards; a press is compared with what it decides about"),
    ),
];

const SQLITE: &[Listed] = &[
    // A lower number is no damage by itself: it tells less of entries that are missing at the end.
    ("session", "seq", ALL, Compared(Number)),
    ("session", "activity", ALL, Free(ORDER)),
    ("journal", "id", ALL, Free(ORDER)),
    ("plan", "row_id", ALL, Free("it names the row and nothing else")),
    ("plan", "seq", ALL, Compared(Number)),
    ("execution", "seq", ALL, Compared(Number)),
    ("deleted_session", "name journal_end", ALL, Free("what other processes are told once")),
];

const POSTGRES: &[Listed] = &[
    ("session", "head_seq last_active", ALL, Compared(Number)),
    ("session", "head_hash", ALL, Compared(Rotated)),
    ("session", "written_at", ALL, Free(ORDER)),
    ("deleted_session", "channel conversation deleted_at", ALL, Free("what other processes are told once")),
    (
        "planwright_schema",
        "one version",
        ALL,
        Free("the version of the schema; a program of another one refuses to work"),
    ),
    ("planwright_compatibility", "one oldest", ALL, Free("which programs a newer schema leaves room for")),
];

fn is_sqlite(store: &Store) -> bool {
    matches!(store, Store::Sqlite { .. })
}

/// Every column that the list names for this store, with its rows.
fn listed(store: &Store) -> impl Iterator<Item = (&'static str, &'static str, &'static str, Column)> {
    let own = if is_sqlite(store) { SQLITE } else { POSTGRES };
    let lines = BOTH.iter().chain(own);
    lines.flat_map(|(table, columns, rows, kind)| columns.split(' ').map(|column| (*table, column, *rows, *kind)))
}

/// The columns that the tables of this store have.
async fn schema(store: &Store) -> BTreeMap<String, BTreeSet<String>> {
    let sqlite = is_sqlite(store);
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
    let _engine = full(store).await;
    let schema = schema(store).await;
    let mut said: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (table, column, _, kind) in listed(store) {
        said.entry(table.to_owned()).or_default().insert(column.to_owned());
        if let Free(reason) = kind {
            assert!(!reason.is_empty(), "{table}.{column}");
        }
    }
    assert_eq!(said, schema, "the list names every column of every table, and nothing else");
    // And it says something about every row.
    for (table, columns) in &schema {
        for column in columns {
            let of_it = listed(store).filter(|(t, c, ..)| t == table && c == column);
            let rows: Vec<_> = of_it.map(|(_, _, rows, _)| format!("({rows})")).collect();
            let left =
                format!("SELECT CAST(count(*) AS text) FROM {table} WHERE NOT coalesce({}, 1 = 0)", rows.join(" OR "));
            assert_eq!(store.look(&left).await, "0", "nothing is said about some rows: {left}");
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
    // Its run has no schedule.
    let unscheduled = session("web:unscheduled");
    engine.sessions().open(&unscheduled, &person()).await.unwrap();
    engine.auto().add_goal(&unscheduled, &person(), "Understand gnus".to_owned()).await.unwrap();
    let start = AutoCommand::Start { target: StartTarget::Current, driver: "here".to_owned() };
    engine.submit(&unscheduled, &person(), Command::Auto(start)).await.unwrap();
    ready(&engine, &session("web:waiting-one"), "# Gnus").await;
    let (folder, place) =
        ("session_folder (session_id, folder, number, lease, items)", "project_place (session_id, path, place)");
    for row in [format!("{folder} SELECT id, 'one', 1, '', '{{}}'"), format!("{place} SELECT id, '/zoo', 'desk'")] {
        assert!(store.tamper(&format!("INSERT INTO {row} FROM session")).await > 0);
    }
    let kept = engine.memories().save(&here, &person(), NewMemory::by_person("Zebras are striped.")).await.unwrap();
    engine.memories().promote(&here, &person(), kept.id).await.unwrap();
    let plan = ready(&engine, &here, "1. zebras\n2. more zebras").await;
    engine.submit(&here, &person(), approve(&plan)).await.unwrap();
    engine.submit(&here, &agent(), report(StepStatus::Completed)).await.unwrap();
    engine.submit(&here, &person(), begin("Hello, zebras")).await.unwrap();
    let (server, offered) = (pins::name(), pins::offer("Reads.", 1));
    engine.ledger().record_offer(&server, pins::command("a"), &offered).await.unwrap();
    let digest = offered.digest();
    let at = engine.approvals().record_acceptance(&person(), &server, digest, pins::command("a")).await.unwrap();
    assert!(engine.ledger().accept_offer(&server, pins::command("a"), digest, &person(), at).await.unwrap());
    assert_whole(&engine).await;
    engine
}

/// The expressions that damage a column and put it back.
fn expressions(tampering: Tampering, column: &str, sqlite: bool) -> (String, String) {
    // What two pieces of bytes make is a text in one of the two languages.
    let bytes = |text: String| match sqlite {
        true => format!("CASE typeof({column}) WHEN 'blob' THEN CAST({text} AS BLOB) ELSE {text} END"),
        false => text,
    };
    match tampering {
        Number => (format!("{column} + 1000000"), format!("{column} - 1000000")),
        Negative => (format!("-{column}"), format!("-{column}")),
        Text => (format!("{column} || 'x'"), format!("substr({column}, 1, length({column}) - 1)")),
        Flag if sqlite => (format!("1 - {column}"), format!("1 - {column}")),
        Flag => (format!("NOT {column}"), format!("NOT {column}")),
        Rotated => (
            bytes(format!("substr({column}, 2) || substr({column}, 1, 1)")),
            bytes(format!("substr({column}, length({column}), 1) || substr({column}, 1, length({column}) - 1)")),
        ),
        With(damage, repair) => (damage.replace("COLUMN", column), repair.replace("COLUMN", column)),
    }
}

pub(crate) async fn a_change_of_any_column_that_is_compared_is_found(store: &Store) {
    let _engine = full(store).await;
    assert!(!is_found(store).await);
    for (table, column, rows, kind) in listed(store) {
        let Compared(tampering) = kind else { continue };
        let (damage, repair) = expressions(tampering, column, is_sqlite(store));
        let set = |value: &str| format!("UPDATE {table} SET {column} = {value} WHERE {rows}");
        assert!(store.tamper(&set(&damage)).await > 0, "no row: {}", set(&damage));
        assert!(is_found(store).await, "it is not found: {}", set(&damage));
        store.tamper(&set(&repair)).await;
        assert!(!is_found(store).await, "it cannot be put back: {}", set(&repair));
    }
    assert_whole(&store.engine().await).await;
}
