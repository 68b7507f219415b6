//! The output of commands and the results of upstream tools: whole, in files beside the session's own. `read_file` and
//! `grep_files` reach them under `@commands`, in every workspace. Commands do not see them.

use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use planwright_engine::temp_file::make_folder;

use super::FileTools;
use super::folder::SessionFolder;
use super::io_error;
use super::open::{OpenFile, open_named};
use super::path::FilePath;
use super::tool::FileCallContext;
use super::workspace::WorkspaceFolder;
use crate::toolbox::ToolContext;

/// The folder beside the session's files.
const FOLDER: &str = "outputs";
/// The folder as it is written in a path.
const SHOWN_FOLDER: &str = "@commands";
/// The extension of text.
const TEXT: &str = "txt";
/// Outputs that a session keeps. The oldest ones make room.
const MAX_OUTPUTS: usize = 64;
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Where a command runs, and where its output is kept.
#[derive(Debug)]
pub(crate) struct CommandFolder {
    /// An existing folder, without links.
    pub(crate) workspace: PathBuf,
    /// Relative to the workspace.
    pub(crate) cwd: PathBuf,
    /// 1-based index within the session.
    pub(crate) number: u64,
    /// Does not exist yet.
    pub(crate) output_file: PathBuf,
}

impl CommandFolder {
    /// The output file as `read_file` takes it.
    pub(crate) fn shown_output(number: u64) -> String {
        format!("{SHOWN_FOLDER}/{}", file_name(number, TEXT))
    }
}

impl FileTools {
    /// Prepares the folders for a command of the session, as the holder of its lease.
    pub(crate) async fn command_folder(
        &self,
        context: ToolContext<'_>,
        cwd: Option<&str>,
    ) -> Result<CommandFolder, Refusal> {
        let shared = &self.shared;
        let fence = shared.claim(context).await?;
        let (own, chosen) = (shared.folder(context.session), context.workspace.clone());
        let (rules, cwd) = (shared.projects.clone(), cwd.map(str::to_owned));
        let work = move || {
            let _passed = fence.as_ref().map(|fence| fence.pass(&own)).transpose()?;
            let workspace = match WorkspaceFolder::open(&chosen, own.clone(), &rules)? {
                WorkspaceFolder::Own(own) => {
                    own.make()?;
                    own.path()
                }
                WorkspaceFolder::Project(project) => project.path,
            };
            let cwd = working_folder(&workspace, cwd.as_deref())?;
            let (number, name) = next_output(&own, TEXT)?;
            let output_file = own.path_of(FOLDER).join(name);
            Ok(CommandFolder { workspace, cwd, number, output_file })
        };
        shared.blocking("Preparing the command", work).await
    }

    /// Keeps the result of a call, and gives its path as `read_file` takes it.
    pub(crate) async fn keep_result(
        &self,
        context: ToolContext<'_>,
        extension: &'static str,
        content: Vec<u8>,
    ) -> Result<String, Refusal> {
        let shared = &self.shared;
        let fence = shared.claim(context).await?;
        let own = shared.folder(context.session);
        let work = move || {
            let _passed = fence.as_ref().map(|fence| fence.pass(&own)).transpose()?;
            let (_, name) = next_output(&own, extension)?;
            let write = || -> io::Result<()> {
                let outputs =
                    make_folder(&own.make_whole().map_err(|refusal| io::Error::other(refusal.message))?, FOLDER)?;
                outputs.write(&name, &content)
            };
            write().map_err(|error| io_error::refusal("the file for a result", &error))?;
            Ok(format!("{SHOWN_FOLDER}/{name}"))
        };
        let shown = shared.blocking("Keeping a result", work).await?;
        self.publish_changes(context).await?;
        Ok(shown)
    }
}

impl FileTools {
    /// A part of a kept result from this byte on, and how many bytes it has altogether.
    pub(crate) async fn read_result(
        &self,
        session: &SessionIdentity,
        shown: &str,
        from: u64,
        most: usize,
    ) -> Result<(Vec<u8>, u64), Refusal> {
        self.shared.fetch(session).await?;
        let own = self.shared.folder(session);
        let (name, path) = (shown.to_owned(), FilePath::parse(shown)?);
        let work = move || {
            let gone = || Refusal::not_found(format!("There is no result {}. Old results make room.", quoted(&name)));
            let beneath = beneath_outputs(&path)?.ok_or_else(gone)?;
            let own = own.open_whole()?.ok_or_else(gone)?;
            let outputs = own.open_dir_nofollow(FOLDER).map_err(|_| gone())?;
            let OpenFile { mut file, bytes } = open_named(&outputs, &beneath).map_err(|_| gone())?;
            let mut part = Vec::new();
            let mut read = || -> io::Result<()> {
                file.seek(SeekFrom::Start(from))?;
                (&mut file).take(most as u64).read_to_end(&mut part).map(drop)
            };
            read().map_err(|error| io_error::refusal(&name, &error))?;
            Ok((part, bytes))
        };
        self.shared.blocking("Reading a result", work).await
    }
}

impl FileCallContext {
    /// The folder that a path to be read is in, and the path there. `None` while that folder does not exist.
    pub(super) fn readable(&self, path: &FilePath) -> Result<Option<(Dir, FilePath)>, Refusal> {
        let Some(beneath) = beneath_outputs(path)? else {
            return Ok(self.workspace.files()?.map(|files| (files, path.clone())));
        };
        let Some(own) = self.own.open_whole()? else { return Ok(None) };
        match own.open_dir_nofollow(FOLDER) {
            Ok(outputs) => Ok(Some((outputs, beneath))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io_error::refusal(SHOWN_FOLDER, &error)),
        }
    }
}

/// The path within the outputs, for a path that leads there.
fn beneath_outputs(path: &FilePath) -> Result<Option<FilePath>, Refusal> {
    match path.as_str().strip_prefix(SHOWN_FOLDER) {
        Some("") => Ok(Some(FilePath::default())),
        Some(rest) if rest.starts_with('/') => FilePath::parse(&rest[1..]).map(Some),
        Some(_) | None => Ok(None),
    }
}

/// Models often name the workspace itself by its absolute path.
fn working_folder(workspace: &Path, cwd: Option<&str>) -> Result<PathBuf, Refusal> {
    let Some(cwd) = cwd else { return Ok(PathBuf::new()) };
    let inside = Path::new(cwd).strip_prefix(workspace).ok().and_then(Path::to_str);
    let path = FilePath::parse(inside.unwrap_or(cwd))?;
    Ok(PathBuf::from(path.as_str()))
}

fn file_name(number: u64, extension: &str) -> String {
    format!("{number}.{extension}")
}

fn number_of(name: &str) -> Option<u64> {
    name.split_once('.')?.0.parse().ok()
}

/// The number of the next output and the name of its file. Old outputs are removed.
fn next_output(own: &SessionFolder, extension: &str) -> Result<(u64, String), Refusal> {
    let next = || -> io::Result<(u64, String)> {
        let outputs = make_folder(&own.make_whole().map_err(|refusal| io::Error::other(refusal.message))?, FOLDER)?;
        let mut found = Vec::new();
        for entry in outputs.entries()? {
            let entry = entry?;
            let name = entry.file_name();
            if let Some(number) = name.to_str().and_then(number_of) {
                found.push((number, name, entry.metadata().map_or(0, |metadata| metadata.len())));
            }
        }
        found.sort_unstable_by(|one, other| other.cmp(one));
        let mut bytes = 0;
        for (index, (_, name, size)) in found.iter().enumerate() {
            bytes += size;
            if index >= MAX_OUTPUTS - 1 || bytes > MAX_BYTES {
                outputs.remove_file(name)?;
            }
        }
        let number = found.first().map_or(1, |(last, ..)| last + 1);
        Ok((number, file_name(number, extension)))
    };
    next().map_err(|error| io_error::refusal("the folder for the output of commands", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_folder_of_outputs_leads_to_outputs() {
        for (path, beneath) in [
            ("@commands/3.txt", Some("3.txt")),
            ("./@commands//3.txt", Some("3.txt")),
            ("@commands", Some("")),
            ("@commands.txt", None),
            ("src/@commands/3.txt", None),
            ("notes.md", None),
        ] {
            let path = FilePath::parse(path).unwrap();
            assert_eq!(beneath_outputs(&path).unwrap().as_ref().map(FilePath::as_str), beneath, "{path}");
        }
    }

    #[test]
    fn the_oldest_outputs_make_room() {
        let root = tempfile::tempdir().unwrap();
        let own = SessionFolder::new(root.path().to_owned(), &"cli:k3yk3y8x".parse().unwrap());
        for expected in 1..=70 {
            let (number, name) = next_output(&own, if expected % 2 == 0 { TEXT } else { "png" }).unwrap();
            assert_eq!(number, expected);
            std::fs::write(own.path_of(FOLDER).join(name), "output").unwrap();
        }
        let mut kept: Vec<_> = std::fs::read_dir(own.path_of(FOLDER))
            .unwrap()
            .filter_map(|entry| number_of(entry.unwrap().file_name().to_str().unwrap()))
            .collect();
        kept.sort_unstable();
        assert_eq!(kept, (7..=70).collect::<Vec<_>>());
    }

    #[test]
    fn a_working_folder_is_below_the_workspace() {
        let workspace = Path::new("/home/ada/project");
        for (cwd, expected) in [
            (None, Some("")),
            (Some("."), Some("")),
            (Some("src"), Some("src")),
            (Some("/home/ada/project"), Some("")),
            (Some("/home/ada/project/src"), Some("src")),
            (Some("/home/ada/project/../other"), None),
            (Some("/home/ada/projects"), None),
            (Some("/etc"), None),
            (Some("../other"), None),
        ] {
            assert_eq!(working_folder(workspace, cwd).ok(), expected.map(PathBuf::from), "{cwd:?}");
        }
    }
}
