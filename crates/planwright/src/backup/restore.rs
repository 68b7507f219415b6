//! Writes a checked archive into a store. Everything that could be in the way is inspected first. What exists with the
//! same content is skipped, so that the same command continues after an interruption.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use planwright_core::journal::Head;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::{Ledger, LedgerError, LedgerResult};

use super::check::{ArchivedJournal, CheckedArchive, CheckedJournal};
use super::manifest::Omitted;
use super::part_name::FileName;
use super::restored_journal::RestoredJournal;
use super::session_files::{self, TargetState};
use crate::context::make_folder;
use crate::failure::Failure;

/// What to do if the store has sessions that are not in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExistingSessions {
    Refuse,
    Merge,
}

/// What was added, and what was not.
#[derive(Debug, Default)]
pub(crate) struct RestoreReport {
    pub(crate) sessions: u64,
    pub(crate) files: u64,
    pub(crate) pointers: u64,
    /// Sessions that existed, as they are in the archive or continued from there.
    pub(crate) same_sessions: u64,
    /// Files that existed with the same content.
    pub(crate) same_files: u64,
    /// What was not added because something else exists in its place, or because it does not belong to the archive.
    pub(crate) left: Vec<Omitted>,
}

#[derive(Debug)]
pub(crate) struct Restore<'a> {
    ledger: &'a dyn Ledger,
    users: PathBuf,
    archive: &'a CheckedArchive,
    /// Sessions of the archive that exist in the store and are not written.
    existing: BTreeSet<SessionIdentity>,
    /// Those of them that have another journal. Their files and pointers are not restored either.
    different: BTreeSet<SessionIdentity>,
    skipped_files: BTreeSet<FileName>,
    report: RestoreReport,
}

impl<'a> Restore<'a> {
    /// Inspects everything that could be in the way. Nothing is written.
    pub(crate) async fn prepare(
        ledger: &'a dyn Ledger,
        users: &Path,
        archive: &'a CheckedArchive,
        others: ExistingSessions,
    ) -> Result<Self, Failure> {
        let mut restore = Self {
            ledger,
            users: users.to_owned(),
            archive,
            existing: BTreeSet::new(),
            different: BTreeSet::new(),
            skipped_files: BTreeSet::new(),
            report: RestoreReport::default(),
        };
        if others == ExistingSessions::Refuse {
            restore.refuse_other_sessions().await?;
        }
        for (session, CheckedJournal { end, .. }) in &archive.sessions {
            match restore.stored_state(session, end).await? {
                StoredState::Absent => {}
                StoredState::Same => {
                    restore.report.same_sessions += 1;
                    restore.existing.insert(session.clone());
                }
                StoredState::Different => {
                    let why = "the store has a session of this name with another journal";
                    restore.report.left.push(Omitted::new(format!("session {session}"), why));
                    restore.existing.insert(session.clone());
                    restore.different.insert(session.clone());
                }
            }
        }
        restore.inspect_files().await?;
        match (others, restore.report.left.first()) {
            (ExistingSessions::Refuse, Some(first)) => Err(in_the_way(&first.what, &first.reason)),
            (ExistingSessions::Refuse, None) | (ExistingSessions::Merge, _) => Ok(restore),
        }
    }

    /// A store with sessions that are not in the archive is often the wrong store.
    async fn refuse_other_sessions(&self) -> Result<(), Failure> {
        let mut after = None;
        loop {
            let page = self.ledger.walk_sessions(after, 500).await?;
            let mut found = page.items.iter().map(|stored| &stored.session.identity);
            if let Some(other) = found.find(|session| !self.archive.sessions.contains_key(session)) {
                return Err(in_the_way(&format!("session {other}"), "it is in the store and not in the archive"));
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

    /// A session that continued after it was restored is still the one in the archive.
    async fn stored_state(&self, session: &SessionIdentity, end: &Head) -> LedgerResult<StoredState> {
        if self.ledger.session(session).await?.is_none() {
            return Ok(StoredState::Absent);
        }
        let entry = self.ledger.journal(session, end.seq - 1, 1).await?;
        let same = entry.first().is_some_and(|entry| entry.seq == end.seq && entry.hash == end.hash);
        Ok(if same { StoredState::Same } else { StoredState::Different })
    }

    async fn inspect_files(&mut self) -> Result<(), Failure> {
        for (file, part) in &self.archive.files {
            if self.different.contains(&file.session) {
                self.skipped_files.insert(file.clone());
                continue;
            }
            if let Some(why) = self.foreign(file).await? {
                self.report.left.push(Omitted::new(file, why));
                self.skipped_files.insert(file.clone());
                continue;
            }
            let state = session_files::inspect(&self.users, file, &part.sha256)
                .map_err(|error| Failure::unavailable(format!("{file} cannot be inspected: {error}")))?;
            match state {
                TargetState::Free => {}
                TargetState::Same => {
                    self.report.same_files += 1;
                    self.skipped_files.insert(file.clone());
                }
                TargetState::Taken => {
                    self.report.left.push(Omitted::new(file, "something else exists in its place"));
                    self.skipped_files.insert(file.clone());
                }
            }
        }
        Ok(())
    }

    /// Why a file does not come with a session of the archive. Only the files of a damaged session come without it, and
    /// only if the store does not have that session.
    async fn foreign(&self, file: &FileName) -> Result<Option<&'static str>, Failure> {
        if self.archive.sessions.contains_key(&file.session) {
            return Ok(None);
        }
        if !self.archive.manifest.names_damaged(&file.session) {
            return Ok(Some("its session is not in the archive"));
        }
        // A session that cannot be read exists, too.
        let absent = matches!(self.ledger.session(&file.session).await, Ok(None));
        Ok((!absent).then_some("its session is in the store and not in the archive"))
    }

    /// Adds what does not exist. `progress` is called after every part.
    pub(crate) async fn write(
        mut self,
        file: &mut File,
        mut progress: impl FnMut(&RestoreReport),
    ) -> Result<RestoreReport, Failure> {
        // The files come first: if one of them cannot be written, the store is unchanged.
        self.write_files(file, &mut progress)?;
        self.write_sessions(file, &mut progress).await?;
        self.write_pointers().await?;
        Ok(self.report)
    }

    fn write_files(&mut self, file: &mut File, progress: &mut impl FnMut(&RestoreReport)) -> Result<(), Failure> {
        let archive = self.archive;
        for (name, part) in archive.files.iter().filter(|(name, _)| !self.skipped_files.contains(name)) {
            if self.report.files == 0 {
                make_folder(&self.users)?;
            }
            let mut content = part.content.read(file)?;
            session_files::write(&self.users, name, &mut content, &part.sha256).map_err(|error| {
                Failure::unavailable(format!("{name} cannot be written: {error}; no session was restored"))
                    .hint("solve this and run the same command again: it continues")
            })?;
            self.report.files += 1;
            progress(&self.report);
        }
        Ok(())
    }

    async fn write_sessions(&mut self, file: &File, progress: &mut impl FnMut(&RestoreReport)) -> Result<(), Failure> {
        let archive = self.archive;
        // Lists begin with the session that was written last.
        let mut sessions: Vec<_> =
            archive.sessions.iter().filter(|(session, _)| !self.existing.contains(session)).collect();
        sessions.sort_by_key(|(_, journal)| journal.last_active);
        for (session, journal) in sessions {
            let archive = file
                .try_clone()
                .map_err(|error| Failure::unavailable(format!("the archive cannot be opened once more: {error}")))?;
            let journal = ArchivedJournal { archive, session: session.clone(), content: journal.content };
            self.ledger.restore(session, Arc::new(RestoredJournal::new(journal)?)).await?;
            self.report.sessions += 1;
            progress(&self.report);
        }
        Ok(())
    }

    /// A chat that is in a session here stays there.
    async fn write_pointers(&mut self) -> Result<(), Failure> {
        for pointer in &self.archive.pointers {
            let session = &pointer.session;
            if !self.archive.sessions.contains_key(session) || self.different.contains(session) {
                continue;
            }
            if self.ledger.active_session(&pointer.transport).await?.is_some() {
                continue;
            }
            match self.ledger.point(&pointer.transport, session).await {
                // The session was deleted since it was restored.
                Err(LedgerError::Refused(Refusal { code: RefusalCode::NotFound, .. })) => {}
                written => {
                    written?;
                    self.report.pointers += 1;
                }
            }
        }
        Ok(())
    }
}

enum StoredState {
    Absent,
    Same,
    Different,
}

fn in_the_way(what: &str, why: &str) -> Failure {
    let message = format!("The archive cannot be restored here: {what}: {why}. Nothing was changed.");
    Failure::from(Refusal::wrong_status(message))
        .hint("`--merge` leaves that as it is and adds the rest; `--data` and `--database` name another store")
}
