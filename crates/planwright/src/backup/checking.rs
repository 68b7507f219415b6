//! An archive read from its beginning to its end. Nothing of it is believed before all of it is known to be whole: every
//! name, every hash, every journal.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read, Seek, SeekFrom};

use hex::FromHex;
use jiff::Timestamp;
use planwright_core::journal::{EntryHash, Head, SealedEntry};
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use sha2::{Digest as _, Sha256};

use super::manifest::{FORMAT, Manifest, Part};
use super::names::{FileName, PartName};
use super::{Line, Pointer};
use crate::failure::Failure;

/// An archive that is whole.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) manifest: Manifest,
    pub(super) sessions: BTreeMap<SessionIdentity, CheckedJournal>,
    pub(super) pointers: Vec<Pointer>,
    pub(super) files: BTreeMap<FileName, CheckedFile>,
}

#[derive(Debug)]
pub(super) struct CheckedJournal {
    pub(super) end: Head,
    /// When the last entry was written.
    pub(super) last_active: Timestamp,
    pub(super) content: Span,
}

#[derive(Debug)]
pub(super) struct CheckedFile {
    pub(super) sha256: String,
    pub(super) content: Span,
}

/// Where the content of a part is in the archive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    from: u64,
    bytes: u64,
}

impl Span {
    pub(super) fn read<'a, R: Read + Seek>(&self, archive: &'a mut R) -> Result<io::Take<&'a mut R>, Failure> {
        archive.seek(SeekFrom::Start(self.from)).map_err(|error| unreadable(&error))?;
        Ok(archive.take(self.bytes))
    }
}

pub(crate) fn check(archive: &mut (impl Read + Seek)) -> Result<Checked, Failure> {
    let (mut parts, mut sessions, mut files) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let (mut manifest, mut pointers) = (None, None);
    each_part(archive, |name, from, content| {
        if manifest.is_some() {
            return Err(damaged("there is something after its end"));
        }
        let mut content = Hashing { from: content, hash: Sha256::new(), bytes: 0 };
        let (mut end, mut last_active) = (Head::START, Timestamp::MIN);
        match &name {
            PartName::Manifest => {
                manifest = Some(read_manifest(&mut content)?);
                return Ok(());
            }
            PartName::Pointers => pointers = Some(read_json(&name, &mut content)?),
            PartName::Journal(session) => read_journal(session, &mut content, |sealed| {
                let broken = |damage| damaged(format!("the journal of session {session}: {damage}"));
                last_active = end.check(session, &sealed).map_err(broken)?.at;
                Ok(())
            })?,
            PartName::File(_) => {}
        }
        let part = content.finish()?;
        let content = Span { from, bytes: part.bytes };
        match &name {
            PartName::Journal(session) if end == Head::START => {
                return Err(damaged(format!("the journal of session {session} is empty")));
            }
            PartName::Journal(session) => {
                sessions.insert(session.clone(), CheckedJournal { end, last_active, content });
            }
            PartName::File(file) => {
                files.insert(file.clone(), CheckedFile { sha256: part.sha256.clone(), content });
            }
            PartName::Manifest | PartName::Pointers => {}
        }
        match parts.insert(name.to_string(), part) {
            Some(_) => Err(damaged(format!("{name} is in it twice"))),
            None => Ok(()),
        }
    })?;
    let manifest = manifest.ok_or_else(|| damaged("it has no end: it was cut off"))?;
    compare(&parts, &manifest)?;
    let pointers = pointers.ok_or_else(|| damaged("pointers.json is missing"))?;
    Ok(Checked { manifest, sessions, pointers, files })
}

/// Reads every part in its order, with where it begins. Only files by the names we give them can be in an archive.
fn each_part<R: Read + Seek>(
    archive: &mut R,
    mut part: impl FnMut(PartName, u64, &mut dyn Read) -> Result<(), Failure>,
) -> Result<(), Failure> {
    archive.seek(SeekFrom::Start(0)).map_err(|error| unreadable(&error))?;
    let mut tar = tar::Archive::new(archive);
    for entry in tar.entries().map_err(|error| unreadable(&error))? {
        let mut entry = entry.map_err(|error| unreadable(&error))?;
        let path = entry.path_bytes().into_owned();
        let text = String::from_utf8_lossy(&path).into_owned();
        if entry.header().entry_type() != tar::EntryType::Regular {
            return Err(damaged(format!("{} is not a plain file", quoted(&text))));
        }
        let name = PartName::parse(&text)
            .filter(|_| text.as_bytes() == path)
            .ok_or_else(|| damaged(format!("{} does not belong into an archive", quoted(&text))))?;
        let from = entry.raw_file_position();
        part(name, from, &mut entry)?;
    }
    Ok(())
}

/// Gives every entry of a journal, unchecked.
pub(super) fn read_journal(
    session: &SessionIdentity,
    content: &mut dyn Read,
    mut entry: impl FnMut(SealedEntry) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut lines = BufReader::new(content);
    let mut text = Vec::new();
    loop {
        text.clear();
        if lines.read_until(b'\n', &mut text).map_err(|error| unreadable(&error))? == 0 {
            return Ok(());
        }
        let broken = || damaged(format!("the journal of session {session} cannot be read"));
        let Line { seq, hash, body } = serde_json::from_slice(&text).map_err(|_| broken())?;
        let hash = EntryHash(FromHex::from_hex(&hash).map_err(|_| broken())?);
        entry(SealedEntry { seq, body, hash })?;
    }
}

fn read_manifest(content: &mut dyn Read) -> Result<Manifest, Failure> {
    #[derive(serde::Deserialize)]
    struct Format {
        format: u32,
    }
    let value: serde_json::Value = read_json(&PartName::Manifest, content)?;
    let unknown = |_| damaged("manifest.json cannot be read");
    let Format { format } = serde_json::from_value(value.clone()).map_err(unknown)?;
    if format != FORMAT {
        return Err(Failure::unavailable(format!(
            "the archive has format {format}, and this version reads format {FORMAT}; nothing was changed"
        ))
        .hint("use the version of Planwright that made it, or a newer one"));
    }
    serde_json::from_value(value).map_err(unknown)
}

fn read_json<T: serde::de::DeserializeOwned>(name: &PartName, content: &mut dyn Read) -> Result<T, Failure> {
    serde_json::from_reader(BufReader::new(content)).map_err(|_| damaged(format!("{name} cannot be read")))
}

fn compare(found: &BTreeMap<String, Part>, manifest: &Manifest) -> Result<(), Failure> {
    if let Some(missing) = manifest.parts.keys().find(|name| !found.contains_key(*name)) {
        return Err(damaged(format!("{} is missing", quoted(missing))));
    }
    for (name, part) in found {
        match manifest.parts.get(name) {
            None => return Err(damaged(format!("{} is not in its manifest", quoted(name)))),
            Some(promised) if promised != part => return Err(damaged(format!("{} was changed", quoted(name)))),
            Some(_) => {}
        }
    }
    Ok(())
}

/// What is read, counted and hashed on the way.
struct Hashing<'a> {
    from: &'a mut dyn Read,
    hash: Sha256,
    bytes: u64,
}

impl Hashing<'_> {
    fn finish(mut self) -> Result<Part, Failure> {
        // Whoever read it may have stopped at what they understood.
        io::copy(&mut self, &mut io::sink()).map_err(|error| unreadable(&error))?;
        Ok(Part { bytes: self.bytes, sha256: hex::encode(self.hash.finalize()) })
    }
}

impl Read for Hashing<'_> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(piece)?;
        self.hash.update(&piece[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

fn damaged(why: impl std::fmt::Display) -> Failure {
    Failure::damaged(format!("The archive is not as it was made: {why}. Nothing was changed."))
        .hint("another copy of it, or an older one, is the way back")
}

fn unreadable(error: &io::Error) -> Failure {
    damaged(format!("it cannot be read to its end ({error})"))
}
