//! Reads a whole archive before anything of it is used: every name, every hash and every journal. An archive is not
//! trusted, so reading it never needs more memory than its longest valid line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Seek, SeekFrom};

use hex::FromHex;
use jiff::Timestamp;
use planwright_core::journal::{EntryHash, Head, SealedEntry};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::visible::quoted;
use planwright_engine::ledger::{JournalEntries, JournalSource, LedgerError, LedgerResult};
use sha2::{Digest as _, Sha256};

use super::manifest::{FORMAT, Manifest, Part};
use super::part_name::{FileName, PartName};
use super::{JournalLine, LINE_BYTES, Pointer};
use crate::failure::Failure;

/// The longest manifest or list of pointers.
const JSON_BYTES: u64 = 256 << 20;
/// The longest name of a part.
const HEADER_BYTES: u64 = 64 << 10;

/// An archive in which everything is valid.
#[derive(Debug)]
pub(crate) struct CheckedArchive {
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
    pub(super) content: ByteRange,
}

#[derive(Debug)]
pub(super) struct CheckedFile {
    pub(super) sha256: String,
    pub(super) content: ByteRange,
}

/// Where the content of a part is in the archive file.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteRange {
    from: u64,
    bytes: u64,
}

impl ByteRange {
    pub(super) fn read<'a, R: Read + Seek>(&self, archive: &'a mut R) -> Result<io::Take<&'a mut R>, Failure> {
        archive.seek(SeekFrom::Start(self.from)).map_err(|error| unreadable(&error))?;
        Ok(archive.take(self.bytes))
    }
}

pub(crate) fn check(archive: &mut (impl Read + Seek)) -> Result<CheckedArchive, Failure> {
    check_headers(archive)?;
    let (mut parts, mut sessions, mut files) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let (mut manifest, mut pointers) = (None, None);
    each_part(archive, |name, from, content| {
        if manifest.is_some() {
            return Err(damaged("it continues after its manifest"));
        }
        let mut content = HashingReader { from: content, hash: Sha256::new(), bytes: 0 };
        let (mut end, mut last_active, mut snapshot) = (Head::START, Timestamp::MIN, None);
        match &name {
            PartName::Manifest => {
                manifest = Some(read_manifest(&mut content)?);
                return Ok(());
            }
            PartName::Pointers => pointers = Some(read_json(&name, &mut content)?),
            PartName::Journal(session) => read_journal(session, &mut content, |sealed| {
                let broken = |damage| damaged(format!("the journal of session {session}: {damage}"));
                let entry = end.check(session, &sealed).map_err(broken)?;
                let snapshot = snapshot.get_or_insert_with(|| Snapshot::new(session.clone()));
                snapshot.apply(&entry.event, &entry.context(), entry.seq);
                last_active = entry.at;
                Ok(())
            })?,
            PartName::File(_) => {}
        }
        let part = content.finish()?;
        let content = ByteRange { from, bytes: part.bytes };
        match &name {
            PartName::Journal(session) if end == Head::START => {
                return Err(damaged(format!("the journal of session {session} is empty")));
            }
            PartName::Journal(session) if snapshot.as_ref().is_none_or(|snapshot| snapshot.session.is_none()) => {
                return Err(damaged(format!("the journal of session {session} does not open a session")));
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
    let manifest = manifest.ok_or_else(|| damaged("its end is missing: it was cut off"))?;
    compare(&parts, &manifest)?;
    let pointers = pointers.ok_or_else(|| damaged("pointers.json is missing"))?;
    let is_file = |folder: &FileName| files.contains_key(folder);
    if let Some(clash) = files.keys().flat_map(FileName::parents).find(is_file) {
        return Err(damaged(format!("{} is a file and a folder", quoted(&clash.to_string()))));
    }
    Ok(CheckedArchive { manifest, sessions, pointers, files })
}

/// Long names come in headers of their own, which the tar library reads into memory.
fn check_headers<R: Read + Seek>(archive: &mut R) -> Result<(), Failure> {
    archive.seek(SeekFrom::Start(0)).map_err(|error| unreadable(&error))?;
    let mut tar = tar::Archive::new(archive);
    for entry in tar.entries_with_seek().map_err(|error| unreadable(&error))?.raw(true) {
        let entry = entry.map_err(|error| unreadable(&error))?;
        let kind = entry.header().entry_type();
        let extends_the_next = kind.is_gnu_longname()
            || kind.is_gnu_longlink()
            || kind.is_pax_local_extensions()
            || kind.is_pax_global_extensions();
        if extends_the_next && entry.size() > HEADER_BYTES {
            return Err(damaged("a name in it is too long"));
        }
    }
    Ok(())
}

/// Calls `part` for each part, in the order of the archive, with the offset of its content.
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
            .ok_or_else(|| damaged(format!("{} is not the name of a part of an archive", quoted(&text))))?;
        let from = entry.raw_file_position();
        part(name, from, &mut entry)?;
    }
    Ok(())
}

/// Calls `entry` for each entry of a journal, before it is checked.
fn read_journal(
    session: &SessionIdentity,
    content: &mut dyn Read,
    mut entry: impl FnMut(SealedEntry) -> Result<(), Failure>,
) -> Result<(), Failure> {
    JournalLines::new(session, content).try_for_each(|read| entry(read?))
}

/// The entries of a journal in an archive, unchecked. At most one line is in memory.
struct JournalLines<'a, R> {
    session: &'a SessionIdentity,
    lines: BufReader<R>,
    text: Vec<u8>,
}

impl<'a, R: Read> JournalLines<'a, R> {
    fn new(session: &'a SessionIdentity, content: R) -> Self {
        Self { session, lines: BufReader::new(content), text: Vec::new() }
    }

    fn next_entry(&mut self) -> Result<Option<SealedEntry>, Failure> {
        let session = self.session;
        self.text.clear();
        let mut line = self.lines.by_ref().take(LINE_BYTES + 1);
        let read = line.read_until(b'\n', &mut self.text).map_err(|error| unreadable(&error))?;
        if read == 0 {
            return Ok(None);
        }
        if read as u64 > LINE_BYTES {
            return Err(damaged(format!(
                "a line in the journal of session {session} is longer than {LINE_BYTES} bytes"
            )));
        }
        let broken = || damaged(format!("the journal of session {session} cannot be read"));
        let JournalLine { seq, hash, body } = serde_json::from_slice(&self.text).map_err(|_| broken())?;
        let hash = EntryHash(FromHex::from_hex(&hash).map_err(|_| broken())?);
        Ok(Some(SealedEntry { seq, body, hash }))
    }
}

impl<R: Read> Iterator for JournalLines<'_, R> {
    type Item = Result<SealedEntry, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_entry().transpose()
    }
}

/// A journal that stays in the archive while it is restored.
pub(super) struct ArchivedJournal {
    pub(super) archive: File,
    pub(super) session: SessionIdentity,
    pub(super) content: ByteRange,
}

impl JournalSource for ArchivedJournal {
    fn read(&self) -> LedgerResult<JournalEntries<'_>> {
        let failed = |failure: Failure| LedgerError::Unavailable(failure.message().to_owned());
        let mut archive = &self.archive;
        archive.seek(SeekFrom::Start(self.content.from)).map_err(|error| failed(unreadable(&error)))?;
        let lines = JournalLines::new(&self.session, archive.take(self.content.bytes));
        Ok(Box::new(lines.map(move |entry| entry.map_err(failed))))
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
    read_short_json(name, content, JSON_BYTES)
}

fn read_short_json<T: serde::de::DeserializeOwned>(
    name: &PartName,
    content: &mut dyn Read,
    most: u64,
) -> Result<T, Failure> {
    let mut content = content.take(most + 1);
    let read = serde_json::from_reader(BufReader::new(&mut content));
    if content.limit() == 0 {
        return Err(damaged(format!("{name} is longer than {most} bytes")));
    }
    read.map_err(|_| damaged(format!("{name} cannot be read")))
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

/// Counts and hashes what is read through it.
struct HashingReader<'a> {
    from: &'a mut dyn Read,
    hash: Sha256,
    bytes: u64,
}

impl HashingReader<'_> {
    fn finish(mut self) -> Result<Part, Failure> {
        // The reader before may have stopped at the end of a JSON value.
        io::copy(&mut self, &mut io::sink()).map_err(|error| unreadable(&error))?;
        Ok(Part { bytes: self.bytes, sha256: hex::encode(self.hash.finalize()) })
    }
}

impl Read for HashingReader<'_> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(piece)?;
        self.hash.update(&piece[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

fn damaged(why: impl std::fmt::Display) -> Failure {
    Failure::damaged(format!("The archive is damaged: {why}. Nothing was changed."))
        .hint("use another copy of it, or an older archive")
}

fn unreadable(error: &io::Error) -> Failure {
    damaged(format!("it cannot be read to its end ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_never_ends_is_refused() {
        let mut endless = (&b"\""[..]).chain(io::repeat(b'x'));
        let refused = read_short_json::<String>(&PartName::Pointers, &mut endless, 1_000).unwrap_err();
        assert!(refused.message().contains("pointers.json is longer than 1000 bytes"), "{refused:?}");
    }
}
