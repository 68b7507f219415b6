//! A walk through a folder and all the folders in it, in order of names.

use std::io;
use std::ops::ControlFlow;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::deadline::Deadline;
use super::open::Kind;
use super::path::FilePath;

/// Links are reported and never followed, so a walk has no cycles and finds every file once.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    deadline: &'a Deadline,
    entries_left: usize,
    /// The deadline or the limit of entries ended the walk, so there may be more entries.
    pub(super) stopped_early: bool,
    /// Entries that were left out: names that are no paths, folders that cannot be opened.
    pub(super) skipped: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(deadline: &'a Deadline, entries: usize) -> Self {
        Self { deadline, entries_left: entries, stopped_early: false, skipped: 0 }
    }

    /// Calls `visit` for everything beneath `folder`, which is at `path`, until it breaks.
    pub(super) fn through(
        &mut self,
        folder: &Dir,
        path: &FilePath,
        visit: &mut dyn FnMut(Kind) -> ControlFlow<()>,
    ) -> io::Result<()> {
        self.visit_folder(folder, path, visit).map(drop)
    }

    fn visit_folder(
        &mut self,
        folder: &Dir,
        path: &FilePath,
        visit: &mut dyn FnMut(Kind) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        for (name, kind) in self.entries(folder)? {
            if self.is_over() {
                return Ok(ControlFlow::Break(()));
            }
            let Ok(path) = path.join(&name) else {
                self.skipped += 1;
                continue;
            };
            if visit(kind).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if kind == Kind::Folder {
                let inner = folder.open_dir_nofollow(&name).and_then(|inner| self.visit_folder(&inner, &path, visit));
                match inner {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                    // It is gone, not ours to read, or something else by now.
                    Err(_) => self.skipped += 1,
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// What is in one folder, by name.
    fn entries(&mut self, folder: &Dir) -> io::Result<Vec<(String, Kind)>> {
        let mut entries = Vec::new();
        for entry in folder.entries()? {
            if self.is_over() {
                break;
            }
            let Some(left) = self.entries_left.checked_sub(1) else {
                self.stopped_early = true;
                break;
            };
            self.entries_left = left;
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                self.skipped += 1;
                continue;
            };
            // An entry that was removed meanwhile is left out.
            if let Ok(metadata) = entry.metadata() {
                entries.push((name, Kind::of(&metadata)));
            }
        }
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(entries)
    }

    fn is_over(&mut self) -> bool {
        let over = self.deadline.is_over();
        self.stopped_early |= over;
        over
    }
}
