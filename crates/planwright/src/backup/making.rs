//! What goes into an archive. Others go on writing meanwhile: every session is taken up to the entry that was its last
//! one when it was looked at.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use planwright_core::journal::{Damage, Head};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::server_ledger::ServerLedger;

use super::folder::{self, Found};
use super::manifest::{Manifest, Named};
use super::names::PartName;
use super::writing::{Draft, Writing};
use super::{Line, Pointer};
use crate::failure::Failure;

const PAGE: u32 = 500;
/// How often a session that is deleted and begun again while it is read is looked at.
const PATIENCE: u32 = 5;

/// Writes the archive. `progress` is told after every session.
pub(crate) async fn make<W: Write>(
    ledger: &dyn ServerLedger,
    users: &Path,
    to: W,
    mut progress: impl FnMut(&Manifest),
) -> Result<(W, Manifest), Failure> {
    let mut writing = Writing::new(to, Manifest::new(Timestamp::now()));
    let (sessions, damaged) = sessions(ledger).await?;
    writing.manifest.damaged.extend(damaged);
    let mut taken = BTreeSet::new();
    for session in sessions {
        let mut draft = Draft::new();
        match journal(ledger, &session, &mut draft).await? {
            Journal::Whole(head) => {
                writing.add(&PartName::Journal(session.clone()), draft).map_err(unwritable)?;
                writing.manifest.sessions += 1;
                writing.manifest.entries += head.seq;
                taken.insert(session);
            }
            Journal::Gone => {}
            Journal::Damaged(why) => writing.manifest.damaged.push(Named::new(format!("session {session}"), why)),
        }
        progress(&writing.manifest);
    }
    add_pointers(ledger, &taken, &mut writing).await?;
    add_files(users, &mut writing)?;
    progress(&writing.manifest);
    writing.finish().map_err(unwritable)
}

/// Every session, and the rows of sessions that cannot be read.
async fn sessions(ledger: &dyn ServerLedger) -> Result<(BTreeSet<SessionIdentity>, Vec<Named>), Failure> {
    let (mut found, mut damaged, mut after) = (BTreeSet::new(), Vec::new(), None);
    loop {
        let page = ledger.walk_sessions(after, PAGE).await?;
        found.extend(page.items.into_iter().map(|stored| stored.session.identity));
        damaged.extend(page.damaged.into_iter().map(Named::from));
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok((found, damaged)),
        }
    }
}

enum Journal {
    Whole(Head),
    /// The session was deleted meanwhile.
    Gone,
    Damaged(String),
}

async fn journal(ledger: &dyn ServerLedger, session: &SessionIdentity, draft: &mut Draft) -> Result<Journal, Failure> {
    let mut last = None;
    for _ in 0..PATIENCE {
        let stored = match ledger.session(session).await {
            Ok(Some(stored)) => stored,
            Ok(None) => return Ok(Journal::Gone),
            Err(LedgerError::Damaged { reason, .. }) => return Ok(Journal::Damaged(reason)),
            Err(error) => return Err(error.into()),
        };
        *draft = Draft::new();
        match copy(ledger, session, &stored.head, draft).await? {
            Ok(()) => return Ok(Journal::Whole(stored.head)),
            // The same damage again is no deletion that came in between.
            Err(damage) if last == Some((stored.head, damage.clone())) => {
                return Ok(Journal::Damaged(damage.to_string()));
            }
            Err(damage) => last = Some((stored.head, damage)),
        }
    }
    Ok(Journal::Damaged(last.map_or_else(String::new, |(_, damage)| damage.to_string())))
}

/// The entries up to this one, each checked against the one before.
async fn copy(
    ledger: &dyn ServerLedger,
    session: &SessionIdentity,
    end: &Head,
    draft: &mut Draft,
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
            let line = Line { seq: sealed.seq, hash: hex::encode(sealed.hash.0), body: sealed.body };
            write_line(draft, &line).map_err(unwritable)?;
        }
    }
    Ok(head.check_end(end))
}

fn write_line(draft: &mut Draft, line: &Line) -> io::Result<()> {
    serde_json::to_writer(&mut *draft, line)?;
    draft.write_all(b"\n")
}

/// Which session was chosen where, as far as the session is in the archive.
async fn add_pointers<W: Write>(
    ledger: &dyn ServerLedger,
    taken: &BTreeSet<SessionIdentity>,
    writing: &mut Writing<W>,
) -> Result<(), Failure> {
    let all: LedgerResult<_> = ledger.pointers().await;
    let pointers: Vec<_> = all?
        .into_iter()
        .filter(|(_, session)| taken.contains(session))
        .map(|(transport, session)| Pointer { transport, session })
        .collect();
    writing.manifest.pointers = pointers.len() as u64;
    let mut draft = Draft::new();
    serde_json::to_writer_pretty(&mut draft, &pointers).map_err(|error| unwritable(error.into()))?;
    writing.add(&PartName::Pointers, draft).map_err(unwritable)
}

/// The files of every session, also of one whose journal is damaged.
fn add_files<W: Write>(users: &Path, writing: &mut Writing<W>) -> Result<(), Failure> {
    folder::walk(users, &mut |found| {
        match found {
            Found::File(name, mut file) => {
                let mut draft = Draft::new();
                match io::copy(&mut file, &mut draft) {
                    Ok(_) => {
                        writing.add(&PartName::File(name), draft)?;
                        writing.manifest.files += 1;
                    }
                    Err(error) => writing.manifest.damaged.push(Named::new(name, error)),
                }
            }
            Found::Unreadable(what, error) => writing.manifest.damaged.push(Named::new(what, error)),
            Found::Other(what, why) => writing.manifest.left_out.push(Named::new(what, why)),
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
