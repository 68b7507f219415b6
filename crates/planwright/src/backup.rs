//! One archive with everything in it, and the way back. The archive is a tar file and does not depend on the kind of store:
//! it holds the journals, and everything else in a store follows from them.
//!
//! - `part_name`: the names that the parts of an archive can have
//! - `manifest`: the list of the parts, at the end of the archive
//! - `archive_writer`: writes the tar file, part by part, each with its hash
//! - `create`: puts journals, pointers and files into an archive
//! - `check`: reads a whole archive before anything of it is used
//! - `restore`: writes a checked archive into a store
//! - `restored_journal`: the journal of a restored session, which says that it was restored
//! - `session_files`: reads and writes the sessions' files without following links

mod archive_writer;
mod check;
mod create;
mod manifest;
mod part_name;
mod restore;
mod restored_journal;
mod session_files;

pub(crate) use self::check::{CheckedArchive, check};
pub(crate) use self::create::create;
pub(crate) use self::manifest::Manifest;
pub(crate) use self::restore::{ExistingSessions, Restore, RestoreReport};

use serde::{Deserialize, Serialize};

/// The longest line of a journal in an archive. An archive is not trusted: reading a line must not need unlimited memory.
const LINE_BYTES: u64 = 64 << 20;

/// A journal entry in an archive. `body` is the exact text that was hashed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalLine {
    seq: u64,
    hash: String,
    body: String,
}

/// Which session a chat on a transport is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pointer {
    transport: planwright_core::session::TransportChat,
    session: planwright_core::session::SessionIdentity,
}
