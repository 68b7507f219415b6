//! A file inspected without being opened for work.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use planwright_engine::ledger::{LedgerError, LedgerResult};
use rusqlite::{Connection, OpenFlags};

use super::connection::check_owner;
use super::errors::translate;
use super::schema_version::KNOWN_SCHEMA;
use crate::inspect::{Inspection, LinkSafety, Pooler};

pub(crate) async fn inspect(path: PathBuf) -> LedgerResult<Inspection> {
    tokio::task::spawn_blocking(move || inspect_file(&path))
        .await
        .map_err(|error| LedgerError::Internal(format!("looking at the store failed: {error}")))?
}

fn inspect_file(path: &Path) -> LedgerResult<Inspection> {
    let connection = open(path).map_err(|error| translate(path, &error))?;
    check_owner(&connection, path)?;
    let read = || -> rusqlite::Result<Inspection> {
        let (schema, known) = (connection.pragma_query_value(None, "user_version", |row| row.get(0))?, KNOWN_SCHEMA);
        Ok(Inspection {
            schema,
            known,
            is_too_new: schema > known,
            write_ahead: write_ahead(path),
            link: LinkSafety::OwnMachine,
            pooler: Pooler::None,
            database: None,
        })
    };
    read().map_err(|error| translate(path, &error))
}

/// A file that is taken as it is does not say this by itself, but its header does: the version it has to be written with.
fn write_ahead(path: &Path) -> Option<bool> {
    let mut header = [0; 20];
    File::open(path).and_then(|mut file| file.read_exact(&mut header)).ok()?;
    Some(header[18] == 2)
}

/// A file that no process has open is read as immutable: otherwise even a reader would make files beside it.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let mut beside = path.as_os_str().to_owned();
    beside.push("-wal");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if Path::new(&beside).exists() {
        return Connection::open_with_flags(path, flags);
    }
    let address = format!("file:{}?immutable=1", escaped(&path.to_string_lossy()));
    Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI)
}

/// What means something else in an address.
fn escaped(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}
