//! What a session's state says about its workbook, and what events do to it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{DocumentKind, Documents, WorkbookEvent};
use crate::refusal::Refusal;
use crate::visible::quoted;
use crate::wire::hex_text;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkbookState {
    /// Whether the agent has planning files; `None` leaves it to the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<Workbook>,
    /// The oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archives: Vec<Archive>,
    /// How many versions of each document there ever were. Numbers continue from one workbook to the next, so that a
    /// version that was looked at is never mistaken for one of a workbook that took its place.
    pub made: Documents<u32>,
}

/// The workbook that is being worked with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workbook {
    pub title: String,
    pub begun_at: Timestamp,
    pub documents: Documents<DocumentState>,
}

/// The version of a document that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentState {
    pub version: u32,
    /// The journal's entry that has its text.
    pub seq: u64,
    pub digest: TextDigest,
}

/// A workbook that was put away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archive {
    /// The name of its file.
    pub name: String,
    pub title: String,
    pub at: Timestamp,
    /// The journal's entries that have the texts.
    pub seqs: Documents<u64>,
}

/// The fingerprint of a document's text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TextDigest([u8; 32]);

impl WorkbookState {
    pub(crate) fn apply(&mut self, event: &WorkbookEvent, at: Timestamp, seq: u64) {
        match event {
            WorkbookEvent::Switched { on } => self.on = Some(*on),
            WorkbookEvent::Begun { title, documents } => {
                self.on = Some(true);
                let documents = Documents::each(|which| {
                    let made = self.made.get_mut(which);
                    *made += 1;
                    DocumentState { version: *made, seq, digest: TextDigest::of(documents.get(which)) }
                });
                self.current = Some(Workbook { title: title.clone(), begun_at: at, documents });
            }
            WorkbookEvent::Written { which, version, content, .. } => {
                *self.made.get_mut(*which) = *version;
                if let Some(current) = &mut self.current {
                    let digest = TextDigest::of(content);
                    *current.documents.get_mut(*which) = DocumentState { version: *version, seq, digest };
                }
            }
            WorkbookEvent::Archived { name } => {
                if let Some(Workbook { title, documents, .. }) = self.current.take() {
                    let seqs = documents.map(|document| document.seq);
                    self.archives.push(Archive { name: name.clone(), title, at, seqs });
                }
            }
            WorkbookEvent::Cleared => self.current = None,
            WorkbookEvent::Assessed { .. } => {}
        }
    }

    /// A name that no archive has, of this minute.
    pub(crate) fn archive_name(&self, at: Timestamp, taken: &[String]) -> String {
        let minute = at.to_zoned(jiff::tz::TimeZone::UTC).strftime("plan-%Y%m%d-%H%M").to_string();
        let is_taken =
            |name: &String| taken.contains(name) || self.archives.iter().any(|archive| archive.name == *name);
        let first = format!("{minute}.md");
        let mut names = std::iter::once(first).chain((2_u64..).map(|n| format!("{minute}-{n}.md")));
        names.find(|name| !is_taken(name)).unwrap_or_default()
    }
}

impl Workbook {
    pub fn document(&self, which: DocumentKind) -> &DocumentState {
        self.documents.get(which)
    }

    pub fn versions(&self) -> Documents<u32> {
        self.documents.map(|document| document.version)
    }
}

impl TextDigest {
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

hex_text!(TextDigest, |text| format!("{} is not a digest", quoted(text)));
