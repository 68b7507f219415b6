//! Files that cannot be used, each with a message of its own.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use planwright_core::plan::PlanStyle;
use planwright_core::policy::Policy;
use planwright_core::refusal::RefusalCode;
use planwright_engine::Engine;
use planwright_engine::ledger::{ClaimedRequest, LeaseStore as _, LedgerError, SessionStore as _};
use planwright_store::SqliteLedger;

use crate::commands::*;
use crate::contract::damage::{BYSTANDER, here, three_plans};
use crate::stores::{Store, raw};
use crate::verification::{assert_whole, findings, verify};

async fn engine(file: &Path) -> Engine {
    Engine::new(Arc::new(SqliteLedger::open(file).await.unwrap()), Policy::default())
}

#[tokio::test]
async fn a_missing_folder_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("not/there/yet/planwright.db");
    planning(&engine(&file).await, &session("cli:k3yk3y8x"), PlanStyle::Document).await;
    assert_whole(&engine(&file).await).await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "a file, not a folder").unwrap();
    unavailable(SqliteLedger::open(&folder.path().join("file/planwright.db")).await, "file");
    // Nor is a folder a file.
    unavailable(SqliteLedger::open(folder.path()).await, "");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planwright.db");
    for content in ["# My notes, which are nobody else's business\n".repeat(100), "x".repeat(4096)] {
        fs::write(&file, &content).unwrap();
        let error = SqliteLedger::open(&file).await.unwrap_err();
        assert!(matches!(error, LedgerError::Damaged { .. }), "{error:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planwright.db");
    raw(&file).execute_batch("CREATE TABLE recipe (name TEXT)").unwrap();
    let before = fs::read(&file).unwrap();
    unavailable(SqliteLedger::open(&file).await, "another program");
    assert_eq!(fs::read(&file).unwrap(), before);
}

/// Another program may hold the lock for longer than a call should wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_file_is_unavailable_and_nothing_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planwright.db");
    let here = session("cli:k3yk3y8x");
    let engine = engine(&file).await;
    let plan = ready(&engine, &here, "# Before").await;
    let holder = raw(&file);
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Reads are not blocked.
    assert_eq!(engine.plans().active(&here).await.unwrap(), plan);
    let outcome = engine.submit(&here, &agent(), set("# After")).await;
    assert_eq!(outcome.as_ref().unwrap_err().code(), RefusalCode::Unavailable);
    unavailable(outcome, "locked");
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(engine.plans().active(&here).await.unwrap(), plan);
    draft(&engine, &here, set("# After all")).await;
    assert_whole(&engine).await;
}

/// With a rollback journal a writer locks readers out. The only thread of the runtime stays free meanwhile: the task that
/// gives the lock back runs on it.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_read_that_has_to_wait_blocks_no_other_task() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planwright.db");
    let here = session("cli:k3yk3y8x");
    let plan = ready(&engine(&file).await, &here, "# Before").await;
    let holder = raw(&file);
    holder.pragma_update(None, "journal_mode", "DELETE").unwrap();
    let ledger = SqliteLedger::open(&file).await.unwrap();
    // Opens a connection, so that the next read finds one.
    ledger.session(&here).await.unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let outcome = tokio::spawn(async move {
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let releasing = tokio::spawn(async move {
            has_begun.await.unwrap();
            holder.execute_batch("ROLLBACK").unwrap();
        });
        begun.send(()).unwrap();
        let read = ledger.snapshot(&here, None).await;
        releasing.await.unwrap();
        read
    });
    let snapshot = outcome.await.unwrap().unwrap();
    assert_eq!(snapshot.plans.values().next(), Some(&plan));
}

/// The process may not make its files any larger, which is what a full disk looks like to SQLite.
#[test]
fn a_full_disk_is_not_writable() {
    let test = "sqlite_faults::a_full_disk_is_not_writable";
    if std::env::var_os(AGAIN).is_none() {
        let limited = "trap '' XFSZ; exec prlimit --fsize=2000000 -- \"$0\" \"$@\"";
        let status = Command::new("sh")
            .args(["-c", limited])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test])
            .env(AGAIN, "1")
            .status()
            .expect("this test needs sh and prlimit (util-linux)");
        assert!(status.success());
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("planwright.db");
        let ledger = Arc::new(SqliteLedger::open(&file).await.unwrap());
        ledger.check_writable().await.unwrap();
        let engine = Engine::new(ledger.clone(), Policy::default());
        let here = session("cli:k3yk3y8x");
        ready(&engine, &here, "# Plan").await;
        // Until nothing large fits any more.
        let mut written = 0;
        let error = loop {
            match engine.submit(&here, &agent(), set(&format!("# {written}\n{}", "x".repeat(20_000)))).await {
                Ok(_) => written += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error.code(), RefusalCode::Unavailable, "{error}");
        assert!(written > 0);
        // Until nothing small fits either.
        let mut claimed = 0;
        let error = loop {
            let request = ClaimedRequest { key: format!("key {claimed}"), fingerprint: "print".to_owned() };
            match ledger.claim(&request, at(1), std::time::Duration::from_secs(600)).await {
                Ok(_) => claimed += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error.code(), RefusalCode::Unavailable, "{error}");
        unavailable(ledger.check_writable().await, "");
        // A process that has not tried to write finds it out as well.
        let other = SqliteLedger::open(&file).await.unwrap();
        // This commits nothing, so it says nothing about the disk.
        other.check().await.unwrap();
        unavailable(other.check_writable().await, "");
        assert_eq!(engine.plans().active(&here).await.unwrap().version, written + 1);
    });
}

/// Bytes that are no text, in any of the columns that should have some.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_text_cost_nothing_but_their_own_row() {
    const NO_TEXT: &str = "CAST(x'ff' AS TEXT)";
    let ours = "(SELECT id FROM session WHERE conversation = 'k3yk3y8x')";
    let last = format!("(SELECT max(seq) FROM journal WHERE session_id = {ours})");
    for (tampering, named) in [
        (format!("UPDATE session SET state = {NO_TEXT} WHERE conversation = 'k3yk3y8x'"), "session cli:k3yk3y8x"),
        (format!("UPDATE plan SET body = {NO_TEXT} WHERE number = 2"), "plan 2 of cli:k3yk3y8x"),
        (format!("UPDATE plan SET title = {NO_TEXT} WHERE number = 2"), "plan 2 of cli:k3yk3y8x"),
        (format!("UPDATE plan SET status = {NO_TEXT} WHERE number = 2"), "plan 2 of cli:k3yk3y8x"),
        (format!("UPDATE journal SET body = {NO_TEXT} WHERE seq = 4 AND session_id = {ours}"), "cli:k3yk3y8x"),
        (format!("UPDATE journal SET body = {NO_TEXT} WHERE seq = {last} AND session_id = {ours}"), "cli:k3yk3y8x"),
    ] {
        let store = Store::sqlite();
        let engine = three_plans(&store).await;
        assert_eq!(store.tamper(&tampering).await, 1);
        let page = engine.sessions().list(None, 10).await.unwrap();
        assert!(page.items.iter().any(|stored| stored.session.identity == session(BYSTANDER)), "{tampering}: {page:?}");
        let report = verify(&engine).await;
        assert!(
            report.chains.iter().any(|chain| chain.session == session(BYSTANDER) && chain.is_whole()),
            "{report:?}"
        );
        let reply = findings(&report);
        assert!(!reply.is_empty() && reply.iter().all(|reply| reply.contains(named)), "{tampering}: {reply:?}");
        if named.starts_with("plan") {
            let page = engine.plans().list(&here(), None, 10).await.unwrap();
            let others: Vec<_> = page.items.iter().map(|plan| plan.number).filter(|number| *number != 2).collect();
            assert_eq!(others, [3, 1], "{tampering}");
        }
        ready(&engine, &session(BYSTANDER), "# Goes on").await;
    }
}

const AGAIN: &str = "PLANWRIGHT_TEST_WITHOUT_POWERS";

/// Root may write what is read-only, so the test runs itself once more without that power.
fn runs_without_powers(test: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let probe = folder.path().join("probe");
    fs::write(&probe, "").unwrap();
    fs::set_permissions(&probe, Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().write(true).open(&probe).is_err() {
        return true;
    }
    assert!(std::env::var_os(AGAIN).is_none(), "setpriv did not take root's powers away");
    let status = Command::new("setpriv")
        .args(["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(AGAIN, "1")
        .status()
        .expect("run the tests as an ordinary user, or install setpriv");
    assert!(status.success());
    false
}

#[tokio::test]
async fn a_read_only_file_can_be_read_and_says_why_not_more() {
    if !runs_without_powers("sqlite_faults::a_read_only_file_can_be_read_and_says_why_not_more") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("planwright.db");
    let here = session("cli:k3yk3y8x");
    ready(&engine(&file).await, &here, "# Read me").await;
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    let read_only = engine(&file).await;
    unavailable(SqliteLedger::open(&file).await.unwrap().check().await, "read-only");
    assert_eq!(read_only.plans().active(&here).await.unwrap().display_title(), "Read me");
    unavailable(read_only.submit(&here, &agent(), set("# Write me")).await, "read-only");
    assert_eq!(read_only.plans().active(&here).await.unwrap().display_title(), "Read me");
}

#[tokio::test]
async fn a_folder_that_may_not_be_written_is_unavailable() {
    if !runs_without_powers("sqlite_faults::a_folder_that_may_not_be_written_is_unavailable") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
    unavailable(SqliteLedger::open(&folder.path().join("planwright.db")).await, "planwright.db");
    unavailable(SqliteLedger::open(&folder.path().join("deeper/planwright.db")).await, "deeper");
}

#[tokio::test]
async fn a_new_store_is_readable_by_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("planwright.db");
    let ledger = SqliteLedger::open(&path).await.unwrap();
    ledger.submit(submission(&session("cli:k3yk3y8x"), "open", open())).await.unwrap();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{}", entry.path().display());
    }
    drop(ledger);
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    SqliteLedger::open(&path).await.unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640, "a file keeps its rights");
}

/// The file of a store and what lies beside it, each with its name.
fn files_of(file: &Path) -> Vec<std::path::PathBuf> {
    ["", "-wal", "-shm"].iter().map(|end| format!("{}{end}", file.display()).into()).collect()
}

fn move_all(from: &Path, to: &Path) {
    for (from, to) in files_of(from).into_iter().zip(files_of(to)) {
        if from.exists() {
            fs::rename(from, to).unwrap();
        }
    }
}

/// What is written to a file that no other process finds is not stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_deleted_or_replaced_takes_nothing_more() {
    for how in ["deleted", "replaced"] {
        let folder = tempfile::tempdir().unwrap();
        let (file, aside) = (folder.path().join("planwright.db"), folder.path().join("aside.db"));
        let here = session("cli:k3yk3y8x");
        let ledger = Arc::new(SqliteLedger::open(&file).await.unwrap());
        let engine = Engine::new(ledger.clone(), Policy::default());
        let plan = ready(&engine, &here, "# Before").await;
        ledger.check_writable().await.unwrap();
        move_all(&file, &aside);
        if how == "replaced" {
            drop(SqliteLedger::open(&file).await.unwrap());
        }
        let expected = format!("was {how} while it was open");
        unavailable(engine.submit(&here, &agent(), set("# Lost")).await, &expected);
        unavailable(ledger.check().await, &expected);
        unavailable(ledger.check_writable().await, &expected);
        assert_eq!(file.exists(), how == "replaced", "no new store is made in its place");
        files_of(&file).iter().filter(|file| file.exists()).for_each(|file| fs::remove_file(file).unwrap());
        // Once it is put back it goes on.
        move_all(&aside, &file);
        assert_eq!(engine.plans().active(&here).await.unwrap(), plan);
        draft(&engine, &here, set("# After all")).await;
        assert_whole(&engine).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_without_its_log_takes_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let (file, here) = (folder.path().join("planwright.db"), session("cli:k3yk3y8x"));
    let engine = engine(&file).await;
    ready(&engine, &here, "# Before").await;
    fs::remove_file(&files_of(&file)[1]).unwrap();
    unavailable(engine.submit(&here, &agent(), set("# Lost")).await, "separated from its log");
    unavailable(engine.ledger().check().await, "separated from its log");
}

/// What SQLite's own check says, in its words.
fn own_check(file: &Path) -> Result<Vec<String>, rusqlite::Error> {
    let connection = raw(file);
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let lines = statement.query_map([], |row| row.get(0))?;
    lines.collect()
}

async fn is_found_by_verify(file: &Path) -> bool {
    let Ok(ledger) = SqliteLedger::open(file).await else { return true };
    let engine = Engine::new(Arc::new(ledger), Policy::default());
    let report = engine.verifier().verify_all(|_| ()).await;
    !report.is_ok_and(|report| report.is_whole())
}

/// Pages of indexes and free pages are not read by a check that only compares rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_damaged_page_that_the_database_finds_is_found() {
    const PAGE: usize = 8_192;
    let folder = tempfile::tempdir().unwrap();
    let (file, damaged) = (folder.path().join("planwright.db"), folder.path().join("damaged.db"));
    let engine = engine(&file).await;
    for n in 0..30 {
        ready(&engine, &nth_session(n), &format!("# {n}\n{}", "word ".repeat(400))).await;
    }
    drop(engine);
    raw(&file).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    assert!(!is_found_by_verify(&file).await);
    let whole = fs::read(&file).unwrap();
    let mut found = 0;
    for page in 1..whole.len() / PAGE {
        let mut content = whole.clone();
        // The header of the page and where its cells are.
        content[page * PAGE..page * PAGE + 64].fill(0xa5);
        files_of(&damaged).iter().filter(|file| file.exists()).for_each(|file| fs::remove_file(file).unwrap());
        fs::write(&damaged, &content).unwrap();
        if own_check(&damaged).is_ok_and(|lines| lines == ["ok"]) {
            continue;
        }
        found += 1;
        assert!(is_found_by_verify(&damaged).await, "page {} is damaged", page + 1);
    }
    assert!(found > 20, "{found} of {} pages", whole.len() / PAGE);
}
