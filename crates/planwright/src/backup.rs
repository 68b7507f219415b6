//! Everything in one archive, and back again. The archive is a tar that does not depend on the kind of store: what counts
//! is in the journals, and everything else in a store is made from them.
//!
//! - `names`: what the parts of an archive may be called, and nothing else
//! - `manifest`: what an archive says about itself
//! - `writing`: the tar, part by part, each with its hash
//! - `making`: the journals, choices and files that go into it
//! - `checking`: an archive read from its beginning to its end before anything is believed
//! - `restoring`: what was checked, written into a store
//! - `folder`: the files of the sessions, without following links

mod checking;
mod folder;
mod making;
mod manifest;
mod names;
mod restoring;
mod writing;

pub(crate) use self::checking::{Checked, check};
pub(crate) use self::making::make;
pub(crate) use self::manifest::Manifest;
pub(crate) use self::restoring::{Merging, Report, Restoring};

use serde::{Deserialize, Serialize};

/// A journal entry as it stands in an archive: the very text that was hashed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    seq: u64,
    hash: String,
    body: String,
}

/// A session that was chosen on a transport.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pointer {
    transport: planwright_core::session::TransportChat,
    session: planwright_core::session::SessionIdentity,
}
