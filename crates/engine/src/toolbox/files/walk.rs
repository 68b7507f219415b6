//! A walk through a folder and all the folders in it, in order of names.

use std::io;
use std::ops::ControlFlow;

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;

use super::effort::Effort;
use super::open::Kind;
use super::path::FilePath;

/// What a walk comes by.
#[derive(Debug)]
pub(super) struct Met<'a> {
    pub(super) folder: &'a Dir,
    pub(super) name: &'a str,
    pub(super) path: FilePath,
    pub(super) kind: Kind,
}

/// Links are met and never followed: what they point to inside is met where it is, and there are no circles.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    effort: &'a Effort,
    entries_left: usize,
    /// Time was up or there were too many entries, so there may be more than was met.
    pub(super) stopped_early: bool,
    /// What was passed by: names no path can be made of, folders that could not be opened.
    pub(super) passed_by: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(effort: &'a Effort, entries: usize) -> Self {
        Self { effort, entries_left: entries, stopped_early: false, passed_by: 0 }
    }

    /// Meets everything beneath `folder`, which is at `path`, until `meet` has had enough.
    pub(super) fn through(
        &mut self,
        folder: &Dir,
        path: &FilePath,
        meet: &mut dyn FnMut(&Met<'_>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        self.step_into(folder, path, meet).map(drop)
    }

    fn step_into(
        &mut self,
        folder: &Dir,
        path: &FilePath,
        meet: &mut dyn FnMut(&Met<'_>) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<()>> {
        for (name, kind) in self.entries(folder)? {
            if self.is_over() {
                return Ok(ControlFlow::Break(()));
            }
            let Ok(path) = path.join(&name) else {
                self.passed_by += 1;
                continue;
            };
            let met = Met { folder, name: &name, path, kind };
            if meet(&met).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if kind == Kind::Folder {
                let inner = folder.open_dir_nofollow(&name).and_then(|inner| self.step_into(&inner, &met.path, meet));
                match inner {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                    // It is gone, not ours to read, or something else by now.
                    Err(_) => self.passed_by += 1,
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
                self.passed_by += 1;
                continue;
            };
            // What is gone by now was not there.
            if let Ok(metadata) = entry.metadata() {
                entries.push((name, Kind::of(&metadata)));
            }
        }
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Ok(entries)
    }

    fn is_over(&mut self) -> bool {
        let over = self.effort.is_over();
        self.stopped_early |= over;
        over
    }
}
