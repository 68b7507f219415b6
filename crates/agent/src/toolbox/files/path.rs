//! A path inside the workspace.

use std::cmp::Ordering;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::path::PathBuf;
use std::{fmt, io};

use cap_std::fs::Dir;
#[cfg(target_os = "linux")]
use cap_std::fs::{OpenOptions, OpenOptionsExt as _};
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use serde::Deserialize;

/// Folders within folders, no deeper than this.
pub(super) const DEEPEST: usize = 64;
const MAX_NAME: usize = 255;

/// Names with `/` between them and nothing else; without any, it is the workspace as a whole.
///
/// That nothing leads out is the capability's doing. This type says no early, in words that help.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct FilePath(String);

/// The path without links, also where its last names do not exist yet. `None` if a link leads out of the workspace.
pub(super) fn real_path(files: &Dir, path: &FilePath) -> Option<String> {
    let mut existing = path.clone();
    let mut rest: Vec<String> = Vec::new();
    loop {
        match canonical(files, existing.beneath()) {
            Ok(real) => {
                let real = real.to_str()?.trim_start_matches("./");
                let real = if real == "." { "" } else { real };
                let names = std::iter::once(real).chain(rest.iter().rev().map(String::as_str));
                return Some(names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join("/"));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let (parent, name) = existing.parent_and_name().map(|(parent, name)| (parent, name.to_owned()))?;
                rest.push(name);
                existing = parent;
            }
            Err(_) => return None,
        }
    }
}

/// `Dir::canonicalize` opens what moved out of the folder while it looked, and opening a pipe waits for a writer.
#[cfg(target_os = "linux")]
fn canonical(files: &Dir, path: &str) -> io::Result<PathBuf> {
    let place_of = |open: BorrowedFd<'_>| std::fs::read_link(format!("/proc/self/fd/{}", open.as_raw_fd()));
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(rustix::fs::OFlags::PATH.bits().cast_signed());
    let found = files.open_with(path, &options)?;
    let place = place_of(found.as_fd())?;
    let beneath = place.strip_prefix(place_of(files.as_fd())?).map(PathBuf::from);
    beneath.map_err(|_| io::Error::other("it was moved out of the workspace"))
}

#[cfg(not(target_os = "linux"))]
fn canonical(files: &Dir, path: &str) -> io::Result<PathBuf> {
    files.canonicalize(path)
}

impl FilePath {
    /// In bytes.
    pub(super) const MAX_LENGTH: usize = 1024;

    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        if text.starts_with('/') || text.split('/').any(|name| name == "..") {
            return Err(Refusal::invalid(
                "Paths are relative to the workspace; `..` and absolute paths lead out of it",
            ));
        }
        let mut path = Self::default();
        for name in text.split('/').filter(|name| !name.is_empty() && *name != ".") {
            path = path.join(name)?;
        }
        Ok(path)
    }

    pub(super) fn join(&self, name: &str) -> Result<Self, Refusal> {
        check_name(name)?;
        let joined = if self.is_whole_folder() { name.to_owned() } else { format!("{}/{name}", self.0) };
        if joined.len() > Self::MAX_LENGTH {
            let (shown, most) = (quoted(&joined), Self::MAX_LENGTH);
            return Err(Refusal::invalid(format!("{shown} has more than {most} bytes")));
        }
        let joined = Self(joined);
        if joined.depth() > DEEPEST {
            return Err(Refusal::invalid(format!("{} is more than {DEEPEST} folders deep", quoted(&joined.0))));
        }
        Ok(joined)
    }

    pub(super) fn is_whole_folder(&self) -> bool {
        self.0.is_empty()
    }

    /// The folder it is in and its name there, or `None` for the whole folder.
    pub(super) fn parent_and_name(&self) -> Option<(Self, &str)> {
        match self.0.rsplit_once('/') {
            Some((parent, name)) => Some((Self(parent.to_owned()), name)),
            None if self.is_whole_folder() => None,
            None => Some((Self::default(), &self.0)),
        }
    }

    /// The folders on the way to it, outermost first, and itself.
    pub(super) fn ancestors_and_self(&self) -> impl DoubleEndedIterator<Item = Self> {
        let ends: Vec<_> = self.0.match_indices('/').map(|(at, _)| at).chain([self.0.len()]).collect();
        ends.into_iter().filter(|end| *end > 0).map(|end| Self(self.0[..end].to_owned()))
    }

    /// Whether a file of this name can be named in a path.
    pub(super) fn may_be_name(name: &str) -> bool {
        check_name(name).is_ok()
    }

    fn depth(&self) -> usize {
        self.0.split('/').count()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// As the capability wants it, which knows no empty path.
    pub(super) fn beneath(&self) -> &str {
        if self.is_whole_folder() { "." } else { &self.0 }
    }
}

/// A folder comes directly before what is in it, as on a walk.
impl Ord for FilePath {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0, &other.0)
    }
}

/// The order of paths.
pub(super) fn compare(one: &str, other: &str) -> Ordering {
    one.split('/').cmp(other.split('/'))
}

impl PartialOrd for FilePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for FilePath {
    type Error = Refusal;
    fn try_from(text: String) -> Result<Self, Refusal> {
        Self::parse(&text)
    }
}

/// Names that mean the same on every system, so that a folder can be moved from one to another.
fn check_name(name: &str) -> Result<(), Refusal> {
    let drive = name.as_bytes().get(1) == Some(&b':') && name.starts_with(|c: char| c.is_ascii_alphabetic());
    let reason = if name.contains('\\') {
        "names have no backslashes; folders are separated by `/`"
    } else if name.contains(char::is_control) {
        "names have no control characters"
    } else if drive {
        "names do not begin with a drive letter"
    } else if name.len() > MAX_NAME {
        return Err(Refusal::invalid(format!("{} is longer than the {MAX_NAME} bytes of a name", quoted(name))));
    } else {
        return Ok(());
    };
    Err(Refusal::invalid(format!("{} is not a name: {reason}", quoted(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_tidied() {
        for (given, meant) in [
            ("", ""),
            (".", ""),
            ("./", ""),
            ("a", "a"),
            ("./a//b/./c/", "a/b/c"),
            ("...", "..."),
            ("a b/ü漢.md", "a b/ü漢.md"),
        ] {
            assert_eq!(FilePath::parse(given).unwrap().as_str(), meant, "{given:?}");
        }
    }

    #[test]
    fn what_is_no_path_here_is_refused() {
        let long = "x".repeat(256);
        let far = ["name"; 300].join("/");
        let deep = ["d"; DEEPEST + 1].join("/");
        for given in [
            "/", "/etc", "..", "a/..", "a/../b", "a\\b", "..\\b", "C:", "c:x", "a/C:/b", "a\0b", "a\nb", &long, &far,
            &deep,
        ] {
            assert!(FilePath::parse(given).is_err(), "{given:?}");
        }
    }

    #[test]
    fn a_folder_comes_before_what_is_in_it() {
        let mut paths: Vec<_> = ["a-b", "a/b", "a", "a/b/c", "b"].map(|path| FilePath::parse(path).unwrap()).into();
        paths.sort();
        assert_eq!(paths.iter().map(FilePath::as_str).collect::<Vec<_>>(), ["a", "a/b", "a/b/c", "a-b", "b"]);
    }

    #[test]
    fn the_way_to_a_file_is_made_of_folders() {
        let path = FilePath::parse("a/b/c").unwrap();
        let way: Vec<_> = path.ancestors_and_self().map(|path| path.to_string()).collect();
        assert_eq!(way, ["a", "a/b", "a/b/c"]);
        assert_eq!(path.parent_and_name().unwrap(), (FilePath::parse("a/b").unwrap(), "c"));
        assert_eq!(FilePath::default().ancestors_and_self().count(), 0);
    }
}
