//! Files as a person looks at them: what is in a folder, and the bytes of one file.

use std::collections::BTreeMap;
use std::io::Read as _;

use cap_std::fs::Dir;
use planwright_core::permission::DeniedPaths;
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use rustix::fd::AsFd as _;

use super::FileTools;
use super::ignore_rules::{IgnoreOptions, IgnoreRules};
use super::io_error;
use super::list::open_folder;
use super::open::{Kind, open_named};
use super::path::{FilePath, real_path};
use super::text::{Encoding, encoding_of};
use super::tool::FileCallContext;
use crate::toolbox::ToolContext;

/// The largest file that is shown.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// An entry of a folder, by its path in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderEntry {
    pub path: String,
    /// The size of a file; `None` for a folder.
    pub bytes: Option<u64>,
}

/// Some entries of one folder, in order of their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderPage {
    pub entries: Vec<FolderEntry>,
    /// There are more entries than asked for.
    pub more: bool,
}

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    pub bytes: Vec<u8>,
    /// Whether it is text in UTF-8.
    pub is_text: bool,
}

impl FileTools {
    /// The files and folders whose path begins with `prefix` and continues in one folder. What the workspace ignores and what
    /// rules deny is left out; a prefix that no path begins with finds nothing.
    pub(crate) async fn entries(
        &self,
        context: ToolContext<'_>,
        prefix: &str,
        most: usize,
    ) -> Result<FolderPage, Refusal> {
        let (parent, start) = prefix.rsplit_once('/').unwrap_or(("", prefix));
        let Ok(parent) = FilePath::parse(parent) else { return Ok(FolderPage::default()) };
        let start = start.to_owned();
        self.shared.fetch(context.session).await?;
        let (opening, _cancel_on_drop) = FileCallContext::opening(&self.shared, context, None);
        let work = move || {
            let place = opening.open()?;
            match place.workspace.files()? {
                Some(files) => read_folder(&files, &parent, &start, most, &place),
                None => Ok(FolderPage::default()),
            }
        };
        self.shared.blocking("Listing files", work).await
    }

    /// A file of the workspace. One that rules deny is answered like a missing one.
    pub(crate) async fn content(&self, context: ToolContext<'_>, path: &str) -> Result<FileContent, Refusal> {
        let named = path.to_owned();
        let Ok(path) = FilePath::parse(path) else { return Err(missing(path)) };
        self.shared.fetch(context.session).await?;
        let (opening, _cancel_on_drop) = FileCallContext::opening(&self.shared, context, None);
        let work = move || {
            let place = opening.open()?;
            let files = place.workspace.files()?.ok_or_else(|| missing(&named))?;
            if path.is_whole_folder() || is_denied(&files, &path, &place.denied) {
                return Err(missing(&named));
            }
            let opened = open_named(&files, &path)?;
            if opened.bytes > MAX_BYTES {
                return Err(too_large(&path, opened.bytes));
            }
            let mut bytes = Vec::new();
            let read = opened.file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
            read.map_err(|error| io_error::refusal(path.as_str(), &error))?;
            // The file may have grown meanwhile.
            if bytes.len() as u64 > MAX_BYTES {
                return Err(too_large(&path, bytes.len() as u64));
            }
            let is_text = matches!(encoding_of(&bytes), Encoding::Utf8(_));
            Ok(FileContent { bytes, is_text })
        };
        self.shared.blocking("Reading the file", work).await
    }
}

/// Whether rules deny the path, as it is written, in a folder on the way, or after links were resolved.
pub(super) fn is_denied(files: &Dir, path: &FilePath, denied: &DeniedPaths) -> bool {
    let contains = |path: &FilePath| path.ancestors_and_self().any(|part| denied.contains(part.as_str()));
    contains(path)
        || real_path(files, path).and_then(|real| FilePath::parse(&real).ok()).is_some_and(|real| contains(&real))
}

fn read_folder(
    files: &Dir,
    parent: &FilePath,
    start: &str,
    most: usize,
    place: &FileCallContext,
) -> Result<FolderPage, Refusal> {
    if is_left_out(files, parent, &place.denied) {
        return Ok(FolderPage::default());
    }
    let Ok((folder, rules)) = open_folder(files, parent, IgnoreOptions::default(), &place.denied) else {
        return Ok(FolderPage::default());
    };
    let refusal = |error: std::io::Error| io_error::refusal(parent.as_str(), &error);
    let (mut found, mut more) = (BTreeMap::new(), false);
    for entry in Dir::from(folder).entries().map_err(refusal)? {
        if place.deadline.is_over() {
            return Err(io_error::took_too_long());
        }
        let entry = entry.map_err(refusal)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(path) = parent.join(&name) else { continue };
        // A link counts as what it leads to, as long as that is in the workspace.
        let Ok(metadata) = files.metadata(path.beneath()) else { continue };
        let bytes = match Kind::of(&metadata) {
            Kind::File { bytes } => Some(bytes),
            Kind::Folder => None,
            Kind::Link | Kind::Special => continue,
        };
        if name.starts_with(start) && !rules.leave_out(path.as_str(), &name, bytes.is_none()) {
            found.insert(path, bytes);
        }
        if found.len() > most {
            more = true;
            found.pop_last();
        }
    }
    let entry = |(path, bytes): (FilePath, Option<u64>)| FolderEntry { path: path.to_string(), bytes };
    Ok(FolderPage { entries: found.into_iter().map(entry).collect(), more })
}

/// Whether a folder, or one on the way to it, is ignored or denied: a search does not go there either.
fn is_left_out(files: &Dir, folder: &FilePath, denied: &DeniedPaths) -> bool {
    let mut rules = IgnoreRules::of_root(files.as_fd(), IgnoreOptions::default(), denied.clone());
    for way in folder.ancestors_and_self() {
        let is_out = way.parent_and_name().is_some_and(|(_, name)| rules.leave_out(way.as_str(), name, true));
        let Ok(inner) = files.open_dir(way.beneath()) else { return true };
        if is_out {
            return true;
        }
        rules = rules.within(inner.as_fd(), way.as_str());
    }
    is_denied(files, folder, denied)
}

fn missing(path: &str) -> Refusal {
    Refusal::not_found(format!("There is no {}.", quoted(path)))
}

fn too_large(path: &FilePath, bytes: u64) -> Refusal {
    Refusal::limit(format!("{} has {bytes} bytes; files of at most {MAX_BYTES} are shown.", quoted(path.as_str())))
}
