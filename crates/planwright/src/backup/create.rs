//! Puts journals, pointers and files into an archive while other processes write. Each session is copied up to the entry
//! that was its last one when the copy began.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use planwright_core::journal::{Damage, Head};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Ledger, LedgerError, LedgerResult};

use super::archive_writer::{ArchiveWriter, PartBuffer};
use super::manifest::{Manifest, Omitted};
use super::part_name::PartName;
use super::session_files::{self, FolderItem};
use super::{JournalLine, LINE_BYTES, Pointer};
use crate::failure::Failure;

const PAGE: u32 = 500;
const TOO_LONG: &str = "it is too long for an archive";
/// How often a session is read again that was deleted and made anew while it was read.
const MAX_ATTEMPTS: u32 = 5;

/// Writes the archive. `progress` is called after every session.
pub(crate) async fn create<W: Write>(
    ledger: &dyn Ledger,
    users: &Path,
    to: W,
    mut progress: impl FnMut(&Manifest),
) -> Result<(W, Manifest), Failure> {
    let mut writer = ArchiveWriter::new(to, Manifest::new(Timestamp::now()));
    let (sessions, damaged) = sessions(ledger).await?;
    writer.manifest.damaged.extend(damaged);
    let mut taken = BTreeSet::new();
    for session in sessions {
        let mut buffer = PartBuffer::new();
        match journal(ledger, &session, &mut buffer).await? {
            Journal::Whole(head) => {
                writer.add(&PartName::Journal(session.clone()), buffer).map_err(unwritable)?;
                writer.manifest.sessions += 1;
                writer.manifest.entries += head.seq;
                taken.insert(session);
            }
            Journal::Gone => {}
            Journal::Damaged(why) => writer.manifest.damaged.push(Omitted::new(format!("session {session}"), why)),
        }
        progress(&writer.manifest);
    }
    add_pointers(ledger, &taken, &mut writer).await?;
    add_files(users, &taken, &mut writer)?;
    progress(&writer.manifest);
    writer.finish().map_err(unwritable)
}

/// Every session, and the rows of sessions that cannot be read.
async fn sessions(ledger: &dyn Ledger) -> Result<(BTreeSet<SessionIdentity>, Vec<Omitted>), Failure> {
    let (mut found, mut damaged, mut after) = (BTreeSet::new(), Vec::new(), None);
    loop {
        let page = ledger.walk_sessions(after, PAGE).await?;
        found.extend(page.items.into_iter().map(|stored| stored.session.identity));
        damaged.extend(page.damaged.into_iter().map(Omitted::from));
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok((found, damaged)),
        }
    }
}

enum Journal {
    Whole(Head),
    /// The session was deleted since it was listed.
    Gone,
    Damaged(String),
}

async fn journal(ledger: &dyn Ledger, session: &SessionIdentity, buffer: &mut PartBuffer) -> Result<Journal, Failure> {
    let mut last = None;
    for _ in 0..MAX_ATTEMPTS {
        let stored = match ledger.session(session).await {
            Ok(Some(stored)) => stored,
            Ok(None) => return Ok(Journal::Gone),
            Err(LedgerError::Damaged { reason, .. }) => return Ok(Journal::Damaged(reason)),
            Err(error) => return Err(error.into()),
        };
        *buffer = PartBuffer::new();
        match copy(ledger, session, &stored.head, buffer).await? {
            Ok(()) => return Ok(Journal::Whole(stored.head)),
            // The same damage twice does not come from a deletion in between.
            Err(damage) if last == Some((stored.head, damage.clone())) => {
                return Ok(Journal::Damaged(damage.to_string()));
            }
            Err(damage) => last = Some((stored.head, damage)),
        }
    }
    Ok(Journal::Damaged(last.map_or_else(String::new, |(_, damage)| damage.to_string())))
}

/// Copies the entries up to `end` and checks their chain.
async fn copy(
    ledger: &dyn Ledger,
    session: &SessionIdentity,
    end: &Head,
    buffer: &mut PartBuffer,
) -> Result<Result<(), Damage>, Failure> {
    let mut head = Head::START;
    while head.seq < end.seq {
        let wanted = u32::try_from(end.seq - head.seq).unwrap_or(PAGE).min(PAGE);
        let entries = ledger.journal(session, head.seq, wanted).await?;
        if entries.is_empty() {
            break;
        }
        for sealed in entries {
            if let Err(damage) = head.check(session, &sealed) {
                return Ok(Err(damage));
            }
            let line = JournalLine { seq: sealed.seq, hash: hex::encode(sealed.hash.0), body: sealed.body };
            if write_line(buffer, &line).map_err(unwritable)? > LINE_BYTES {
                return Ok(Err(Damage::Unreadable { seq: line.seq, reason: TOO_LONG.to_owned() }));
            }
        }
    }
    Ok(head.check_end(end))
}

/// Returns the length of the line.
fn write_line(buffer: &mut PartBuffer, line: &JournalLine) -> io::Result<u64> {
    let before = buffer.bytes();
    serde_json::to_writer(&mut *buffer, line)?;
    buffer.write_all(b"\n")?;
    Ok(buffer.bytes() - before)
}

/// Which session each chat is in, for the sessions in the archive.
async fn add_pointers<W: Write>(
    ledger: &dyn Ledger,
    taken: &BTreeSet<SessionIdentity>,
    writer: &mut ArchiveWriter<W>,
) -> Result<(), Failure> {
    let all: LedgerResult<_> = ledger.pointers().await;
    let pointers: Vec<_> = all?
        .into_iter()
        .filter(|(_, session)| taken.contains(session))
        .map(|(transport, session)| Pointer { transport, session })
        .collect();
    writer.manifest.pointers = pointers.len() as u64;
    let mut buffer = PartBuffer::new();
    serde_json::to_writer_pretty(&mut buffer, &pointers).map_err(|error| unwritable(error.into()))?;
    writer.add(&PartName::Pointers, buffer).map_err(unwritable)
}

/// The files of every session in the archive, and of those whose journal is damaged.
fn add_files<W: Write>(
    users: &Path,
    taken: &BTreeSet<SessionIdentity>,
    writer: &mut ArchiveWriter<W>,
) -> Result<(), Failure> {
    session_files::walk(users, &mut |found| {
        match found {
            FolderItem::File(name, _)
                if !taken.contains(&name.session) && !writer.manifest.names_damaged(&name.session) =>
            {
                writer.manifest.left_out.push(Omitted::new(name, "its session is not in the archive"));
            }
            FolderItem::File(name, mut file) => {
                let mut buffer = PartBuffer::new();
                match io::copy(&mut file, &mut buffer) {
                    Ok(_) => {
                        writer.add(&PartName::File(name), buffer)?;
                        writer.manifest.files += 1;
                    }
                    Err(error) => writer.manifest.damaged.push(Omitted::new(name, error)),
                }
            }
            FolderItem::Unreadable(what, error) => writer.manifest.damaged.push(Omitted::new(what, error)),
            FolderItem::Other(what, why) => writer.manifest.left_out.push(Omitted::new(what, why)),
        }
        Ok(())
    })
    .map_err(|error| Failure::unavailable(format!("the files of the sessions cannot be copied: {error}")))
}

fn unwritable(error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return error.into();
    }
    Failure::unavailable(format!("the archive cannot be written: {error}"))
}
