//! What tools changed, shown as diffs and undone.

use std::collections::BTreeMap;

use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use planwright_core::workspace::{FileChange, FileVersion, NotUndone, Workspace};

use super::change::{ChangeError, ChangePlace};
use super::diff::{self, FileDiff};
use super::kept::KeptVersions;
use super::path::FilePath;
use super::tool::FileCallContext;
use super::{FileTools, io_error};
use crate::toolbox::ToolContext;

/// What an undo did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoReport {
    /// The files that are as they were before. An undo is a change as well and can be undone.
    pub changes: Vec<FileChange>,
    /// The files that were left as they are.
    pub not_undone: Vec<NotUndone>,
}

impl FileTools {
    /// What these changes did together, one diff for each file, in the order of the first change of each.
    pub async fn diff(&self, session: &SessionIdentity, changes: &[FileChange]) -> Result<Vec<FileDiff>, Refusal> {
        self.shared.fetch(session).await?;
        let (own, merged) = (self.shared.folder(session), merge(changes));
        let work = move || {
            let kept = KeptVersions::open(&own)?;
            let content = |version: Option<FileVersion>| match (version, &kept) {
                (Some(version), Some(kept)) => {
                    kept.get(&version.hash).map_err(|error| io_error::refusal("a kept version", &error))
                }
                (Some(_) | None, _) => Ok(None),
            };
            let mut diffs = Vec::new();
            for merged in merged.iter().filter(|merged| merged.change.before != merged.change.after) {
                let (before, after) = (content(merged.change.before)?, content(merged.change.after)?);
                diffs.push(diff::of_change(&merged.change, before.as_deref(), after.as_deref()));
            }
            Ok(diffs)
        };
        self.shared.blocking("Comparing files", work).await
    }

    /// Puts the files back as they were before these changes. A file that something else changed meanwhile is left as
    /// it is.
    pub async fn undo(&self, context: ToolContext<'_>, changes: &[FileChange]) -> Result<UndoReport, Refusal> {
        self.shared.fetch(context.session).await?;
        self.check_kept_here(context.session, changes).await?;
        let mut by_workspace: Vec<(Workspace, Vec<MergedChange>)> = Vec::new();
        for merged in merge(changes) {
            match by_workspace.iter_mut().find(|(workspace, _)| *workspace == merged.change.workspace) {
                Some((_, group)) => group.push(merged),
                None => by_workspace.push((merged.change.workspace.clone(), vec![merged])),
            }
        }
        let mut report = UndoReport::default();
        for (workspace, group) in by_workspace {
            let context = ToolContext { call: None, ..context.in_workspace(&workspace) };
            let write_locks = self.shared.write_locks(context.session, &workspace).await;
            let fence = self.shared.claim(context).await?;
            let (opening, _cancel_on_drop) = FileCallContext::opening(&self.shared, context, fence);
            let work = move || {
                let _write_locks = write_locks;
                let place = opening.open()?;
                Ok(group.into_iter().map(|merged| (undo_one(&place, &merged), merged.change)).collect::<Vec<_>>())
            };
            for (undone, change) in self.shared.blocking("Undoing changes", work).await? {
                match undone {
                    Ok(undone) => report.changes.extend(undone),
                    Err(refusal) => {
                        let FileChange { workspace, path, .. } = change;
                        report.not_undone.push(NotUndone { workspace, path, why: refusal.message });
                    }
                }
            }
        }
        self.publish_changes(context).await?;
        Ok(report)
    }

    /// Every change keeps a version in the data folder of the process that made it. Where nothing was kept, a file that is
    /// not there was not put back: it is elsewhere.
    async fn check_kept_here(&self, session: &SessionIdentity, changes: &[FileChange]) -> Result<(), Refusal> {
        if changes.is_empty() {
            return Ok(());
        }
        let own = self.shared.folder(session);
        let look = move || Ok(KeptVersions::open(&own)?.is_some());
        if self.shared.blocking("Looking for kept versions", look).await? {
            return Ok(());
        }
        let folder = self.shared.root.display();
        Err(Refusal::conflict(format!(
            "The files of session {session} are elsewhere: nothing that was changed in it is kept in {}. Undo it with the \
             server or command line that changed them; nothing was done here.",
            quoted(&folder.to_string())
        )))
    }
}

/// All changes of one file as one.
#[derive(Debug)]
struct MergedChange {
    change: FileChange,
    /// Something else changed the file between two of the changes.
    has_gap: bool,
}

fn merge(changes: &[FileChange]) -> Vec<MergedChange> {
    let mut merged: Vec<MergedChange> = Vec::new();
    let mut places: BTreeMap<(Option<&str>, &str), usize> = BTreeMap::new();
    for change in changes {
        let key = (change.workspace.project(), change.path.as_str());
        match places.get(&key) {
            Some(place) => {
                let MergedChange { change: earlier, has_gap } = &mut merged[*place];
                *has_gap |= hash(earlier.after) != hash(change.before);
                earlier.after = change.after;
            }
            None => {
                places.insert(key, merged.len());
                merged.push(MergedChange { change: change.clone(), has_gap: false });
            }
        }
    }
    merged
}

fn hash(version: Option<FileVersion>) -> Option<planwright_core::workspace::ContentHash> {
    version.map(|version| version.hash)
}

fn undo_one(place: &FileCallContext, merged: &MergedChange) -> Result<Option<FileChange>, Refusal> {
    let FileChange { before, after, .. } = &merged.change;
    if merged.has_gap {
        return Err(Refusal::conflict(
            "Something else changed it between two of these changes, so it was left as it is.",
        ));
    }
    if before == after {
        return Ok(None);
    }
    let path = FilePath::parse(&merged.change.path)?;
    let target = ChangePlace::new(place, &path)?;
    let found = target.find()?;
    let there = found.as_ref().map(|found| found.version.hash);
    if there == hash(*before) && hash(*before) != hash(*after) {
        if let Some(after) = after
            && target.kept(after)?.is_none()
        {
            return Err(Refusal::conflict(
                "It is as it was before here, and what was changed is not kept here. It may be changed on another machine.",
            ));
        }
        // A process ended between putting the file back and saying so, or a person was faster.
        let change = FileChange { before: *after, after: *before, ..merged.change.clone() };
        return Ok(Some(change));
    }
    if there != hash(*after) {
        let what = match (&found, after) {
            (None, _) => "It was deleted since",
            (Some(_), None) => "A new file stands in its place",
            (Some(_), Some(_)) => "It was changed since",
        };
        return Err(Refusal::conflict(format!("{what}, so it was left as it is.")));
    }
    let undone = match (before, &found) {
        (Some(version), found) => {
            let content = target.kept(version)?.ok_or_else(|| {
                Refusal::not_found("Its content from before is no longer kept, so it was left as it is.")
            })?;
            target.replace(found.as_ref(), &content, version.mode)
        }
        (None, Some(found)) => target.remove(found),
        (None, None) => return Ok(None),
    };
    undone.map(Some).map_err(|error| match error {
        ChangeError::Raced => Refusal::conflict("It was changed while it was undone, so it was left as it is."),
        ChangeError::Refused(refusal) => refusal,
    })
}
