//! What was checked, written into a store. Everything that could be in the way is looked at first; what is there already
//! and the same is skipped, so that the same command goes on after an interruption.

use std::collections::BTreeSet;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use planwright_core::journal::Head;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::server_ledger::ServerLedger;

use super::checking::{Checked, CheckedJournal, read_journal};
use super::folder::{self, Place};
use super::manifest::Named;
use super::names::FileName;
use crate::context::make_folder;
use crate::failure::Failure;

/// Whether the store may have sessions of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merging {
    Refused,
    Wanted,
}

/// What was brought back, and what was not.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) sessions: u64,
    pub(crate) files: u64,
    pub(crate) pointers: u64,
    /// Sessions and files that were there already, just as they are in the archive.
    pub(crate) already_there: u64,
    /// What was there already and is something else, which it stays.
    pub(crate) left: Vec<Named>,
}

#[derive(Debug)]
pub(crate) struct Restoring<'a> {
    ledger: &'a dyn ServerLedger,
    users: PathBuf,
    checked: &'a Checked,
    /// Sessions of the archive that need not be written, or must not.
    there: BTreeSet<SessionIdentity>,
    /// Those of them that are not what is in the archive, and whose files are not ours to touch.
    others: BTreeSet<SessionIdentity>,
    skipped: BTreeSet<FileName>,
    report: Report,
}

impl<'a> Restoring<'a> {
    /// Looks at everything that could be in the way. Nothing is written.
    pub(crate) async fn prepare(
        ledger: &'a dyn ServerLedger,
        users: &Path,
        checked: &'a Checked,
        merging: Merging,
    ) -> Result<Self, Failure> {
        let mut restoring = Self {
            ledger,
            users: users.to_owned(),
            checked,
            there: BTreeSet::new(),
            others: BTreeSet::new(),
            skipped: BTreeSet::new(),
            report: Report::default(),
        };
        if merging == Merging::Refused {
            restoring.refuse_strangers().await?;
        }
        for (session, CheckedJournal { end, .. }) in &checked.sessions {
            match restoring.standing(session, end).await? {
                Standing::Absent => {}
                Standing::Same => {
                    restoring.report.already_there += 1;
                    restoring.there.insert(session.clone());
                }
                Standing::Another => {
                    let why = "there is a session of this name with another journal";
                    restoring.report.left.push(Named::new(format!("session {session}"), why));
                    restoring.there.insert(session.clone());
                    restoring.others.insert(session.clone());
                }
            }
        }
        restoring.look_at_files()?;
        match (merging, restoring.report.left.first()) {
            (Merging::Refused, Some(first)) => Err(in_the_way(&first.what, &first.reason)),
            (Merging::Refused, None) | (Merging::Wanted, _) => Ok(restoring),
        }
    }

    /// A store with sessions that are not in the archive is more often the wrong one.
    async fn refuse_strangers(&self) -> Result<(), Failure> {
        let mut after = None;
        loop {
            let page = self.ledger.walk_sessions(after, 500).await?;
            let mut found = page.items.iter().map(|stored| &stored.session.identity);
            if let Some(stranger) = found.find(|session| !self.checked.sessions.contains_key(session)) {
                return Err(in_the_way(&format!("session {stranger}"), "it is not in the archive"));
            }
            if let Some(row) = page.damaged.first() {
                return Err(in_the_way(&row.what, &row.reason));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// A session that has gone on since it was restored is still the one in the archive.
    async fn standing(&self, session: &SessionIdentity, end: &Head) -> LedgerResult<Standing> {
        if self.ledger.session(session).await?.is_none() {
            return Ok(Standing::Absent);
        }
        let entry = self.ledger.journal(session, end.seq - 1, 1).await?;
        let same = entry.first().is_some_and(|entry| entry.seq == end.seq && entry.hash == end.hash);
        Ok(if same { Standing::Same } else { Standing::Another })
    }

    fn look_at_files(&mut self) -> Result<(), Failure> {
        for (file, part) in &self.checked.files {
            if self.others.contains(&file.session) {
                self.skipped.insert(file.clone());
                continue;
            }
            let place = folder::look(&self.users, file, &part.sha256)
                .map_err(|error| Failure::unavailable(format!("{file} cannot be looked at: {error}")))?;
            match place {
                Place::Free => {}
                Place::Same => {
                    self.report.already_there += 1;
                    self.skipped.insert(file.clone());
                }
                Place::Taken => {
                    self.report.left.push(Named::new(file, "there is another file, or something else, at its place"));
                    self.skipped.insert(file.clone());
                }
            }
        }
        Ok(())
    }

    /// Writes what is not there. `progress` is told after every part.
    pub(crate) async fn write<R: Read + Seek>(
        mut self,
        archive: &mut R,
        mut progress: impl FnMut(&Report),
    ) -> Result<Report, Failure> {
        let checked = self.checked;
        // What was active last is the first in every list, so it comes last.
        let mut sessions: Vec<_> =
            checked.sessions.iter().filter(|(session, _)| !self.there.contains(session)).collect();
        sessions.sort_by_key(|(_, journal)| journal.last_active);
        for (session, journal) in sessions {
            let mut entries = Vec::new();
            let mut content = journal.content.read(archive)?;
            read_journal(session, &mut content, |entry| {
                entries.push(entry);
                Ok(())
            })?;
            self.ledger.restore(session, &entries).await?;
            self.report.sessions += 1;
            progress(&self.report);
        }
        for (file, part) in checked.files.iter().filter(|(file, _)| !self.skipped.contains(file)) {
            if self.report.files == 0 {
                make_folder(&self.users)?;
            }
            let mut content = part.content.read(archive)?;
            folder::write(&self.users, file, &mut content, &part.sha256)
                .map_err(|error| Failure::unavailable(format!("{file} cannot be written: {error}")))?;
            self.report.files += 1;
            progress(&self.report);
        }
        self.point().await?;
        Ok(self.report)
    }

    /// A choice that somebody made here stands.
    async fn point(&mut self) -> Result<(), Failure> {
        for pointer in &self.checked.pointers {
            if self.others.contains(&pointer.session) || self.ledger.active_session(&pointer.transport).await?.is_some()
            {
                continue;
            }
            match self.ledger.point(&pointer.transport, &pointer.session).await {
                // The session was deleted meanwhile.
                Err(LedgerError::Refused(Refusal { code: RefusalCode::NotFound, .. })) => {}
                pointed => {
                    pointed?;
                    self.report.pointers += 1;
                }
            }
        }
        Ok(())
    }
}

enum Standing {
    Absent,
    Same,
    Another,
}

fn in_the_way(what: &str, why: &str) -> Failure {
    let message = format!("Something is here that the archive would meet: {what} ({why}). Nothing was changed.");
    Failure::from(Refusal::wrong_status(message))
        .hint("`--merge` keeps what is here and adds the rest; `--data` and `--database` name another place")
}
