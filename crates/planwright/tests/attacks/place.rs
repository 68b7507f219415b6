//! Who runs the attacks, where the agent is, and on which store. `make test` runs them as the user of the tests and as an ordinary
//! user (`ordinary_user`), on SQLite; `make test-attacks` (`scripts/test-attacks`) in every place, with these variables:
//!
//! - `PLANWRIGHT_ATTACKS_STORE=postgres`: each stage has a schema of its own in the server of `PLANWRIGHT_TEST_POSTGRES`
//! - `PLANWRIGHT_ATTACKS_AGENT=elsewhere`: the agent's shell has network and PID namespaces of its own, as on a second host
//! - `PLANWRIGHT_ATTACKS_RESULTS`: a file that the results are appended to
//! - `PLANWRIGHT_ATTACKS_FILES`: a folder with copies of the files that the tests use, for a user who cannot enter this one

use std::fmt;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use planwright_store::Location;
use planwright_test_support::stores::Store;

use crate::results::{ATTACKS, AttackResult, expected};

const STORE: &str = "PLANWRIGHT_ATTACKS_STORE";
const AGENT: &str = "PLANWRIGHT_ATTACKS_AGENT";
pub(crate) const RESULTS: &str = "PLANWRIGHT_ATTACKS_RESULTS";
pub(crate) const FILES: &str = "PLANWRIGHT_ATTACKS_FILES";

/// Beside the configuration: where the store of a stage is.
const DATABASE: &str = "database.url";

/// A file that the tests use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestFile(pub(crate) &'static str);

impl TestFile {
    pub(crate) fn path(self) -> PathBuf {
        let own = Path::new(self.0);
        match (std::env::var_os(FILES), own.file_name()) {
            (Some(folder), Some(name)) => Path::new(&folder).join(name),
            _ => own.to_owned(),
        }
    }
}

impl fmt::Display for TestFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path().display())
    }
}

pub(crate) fn user() -> u32 {
    std::fs::metadata("/proc/self").unwrap().uid()
}

fn is_set(variable: &str, value: &str) -> bool {
    std::env::var(variable).is_ok_and(|set| set == value)
}

/// The first process of a namespace takes over those whose parents have ended. `script` does not wait for them, and hangs.
const FIRST: &str = r#""$@"; exit $?"#;

/// What starts the agent's shell.
pub(crate) fn around_agent() -> &'static [&'static str] {
    match (is_set(AGENT, "elsewhere"), user()) {
        (false, _) => &[],
        (true, 0) => &["unshare", "-npf", "--mount-proc", "--kill-child", "sh", "-c", FIRST, "sh"],
        (true, _) => &["unshare", "-Urnpf", "--mount-proc", "--kill-child", "sh", "-c", FIRST, "sh"],
    }
}

/// Makes the store of a new stage, unless it is the file that Planwright makes itself.
pub(crate) fn make_store(folder: &Path) {
    if !is_set(STORE, "postgres") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let Location::Postgres(address) = runtime.block_on(Store::postgres()).location() else {
        unreachable!("it was made on PostgreSQL")
    };
    std::fs::write(folder.join(DATABASE), address.url()).unwrap();
}

/// The store of a data folder.
pub(crate) fn location(folder: &Path) -> Location {
    match std::fs::read_to_string(folder.join(DATABASE)) {
        Ok(url) => Location::Postgres(url.into()),
        Err(_) => Location::Sqlite(folder.join("planwright.db")),
    }
}

/// The line of the configuration that names it.
pub(crate) fn setting(folder: &Path) -> String {
    match location(folder) {
        Location::Postgres(address) => format!("database = \"{}\"\n", address.url()),
        Location::Sqlite(_) => String::new(),
    }
}

/// The texts that a query finds, behind the back of the store.
pub(crate) fn texts(folder: &Path, query: &str) -> Vec<String> {
    match location(folder) {
        Location::Sqlite(file) => {
            let database = rusqlite::Connection::open(file).unwrap();
            let mut query = database.prepare(query).unwrap();
            let found = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
            found.map(Result::unwrap).collect()
        }
        Location::Postgres(address) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(address.url(), tokio_postgres::NoTls).await.unwrap();
                tokio::spawn(connection);
                let found = client.query(query, &[]).await.unwrap();
                // Some columns are bytes there.
                let bytes = |row: &tokio_postgres::Row| String::from_utf8(row.get(0)).unwrap();
                found.iter().map(|row| row.try_get(0).unwrap_or_else(|_| bytes(row))).collect()
            })
        }
    }
}

/// Compares the results under `any`, `separate` and `verified` with the list. On another store, or from another host, an attack may
/// fail that succeeds here, and none may do better.
#[track_caller]
pub(crate) fn compare(name: &str, results: [AttackResult; 3]) {
    let listed = expected(name);
    record(name, results);
    if is_set(STORE, "postgres") || is_set(AGENT, "elsewhere") {
        let better = results.iter().zip(&listed).any(|(result, listed)| result > listed);
        assert!(!better, "{name} under any, separate, verified: {results:?} is better than {listed:?}");
    } else {
        assert_eq!(results, listed, "{name} under any, separate, verified");
    }
}

/// One line: the attack, the user, the store, where the agent is, and the three results.
fn record(name: &str, results: [AttackResult; 3]) {
    let Some(file) = std::env::var_os(RESULTS) else { return };
    let attack = ATTACKS.iter().find(|attack| attack.name == name).unwrap();
    let user = if user() == 0 { "root" } else { "ordinary" };
    let store = if is_set(STORE, "postgres") { "PostgreSQL" } else { "SQLite" };
    let agent = if is_set(AGENT, "elsewhere") { "elsewhere" } else { "here" };
    let [any, separate, verified] = results;
    let line = format!("{name}\t{}\t{user}\t{store}\t{agent}\t{any:?}\t{separate:?}\t{verified:?}\n", attack.message);
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
    // One write, because many tests append at once.
    file.write_all(line.as_bytes()).unwrap();
}
