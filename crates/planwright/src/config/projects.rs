//! The section `projects`: the project folders that a server works in, and the files in them that are guarded.

use std::path::PathBuf;

use planwright_core::visible::quoted;

use super::setting::{Check, Checked, List, section};

section! {
    pub(super) struct ProjectsSection, "projects" {
        "The server lets sessions work in these folders and in the folders below them, and in no other project folder. `planwright chat` and `planwright mcp` are not restricted by it."
        allow: List<Folder> = Vec::new(),
        "Further files that later run or instruct, beside the usual ones ([permissions.md](permissions.md#files-that-later-run-or-instruct)): a change of one is asked about, also under an approved plan that does not name it."
        guard: List<GuardedName> = Vec::new(),
        "Names the project folders that this machine has, where several servers share a database: a session that works in one is continued only by a server with the same name ([several-machines.md](several-machines.md#project-folders)). Servers that mount the same project folders have the same."
        id: Checked<PlaceName> => "the number in `/etc/machine-id`, else one of the data folder",
    }
}

/// A name at any depth, or a path from the project's root.
#[derive(Debug)]
pub(super) enum GuardedName {}

impl Check for GuardedName {
    type Value = String;
    const KIND: &'static str =
        "names of files and folders, such as `Makefile`; `/tools` is the one in the project's root only";

    fn check(text: &str) -> Result<String, String> {
        let mut parts = text.trim_start_matches('/').trim_end_matches('/').split('/');
        let fits = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['*', '?', '\\']);
        if parts.all(fits) { Ok(text.to_owned()) } else { Err(format!("{} is not the name of a file", quoted(text))) }
    }

    fn show(value: &String) -> String {
        format!("`{value}`")
    }
}

/// A name that people give to a set of folders.
#[derive(Debug)]
pub(super) enum PlaceName {}

impl Check for PlaceName {
    type Value = String;
    const KIND: &'static str = "a name of up to 64 letters, digits, `.`, `-` and `_`";

    fn check(text: &str) -> Result<String, String> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
        let is_name = (1..=64).contains(&text.len()) && text.chars().all(fits);
        if is_name { Ok(text.to_owned()) } else { Err(format!("{} is not {}", quoted(text), Self::KIND)) }
    }

    fn show(value: &String) -> String {
        format!("`{value}`")
    }
}

#[derive(Debug)]
pub(super) enum Folder {}

impl Check for Folder {
    type Value = PathBuf;
    const KIND: &'static str = "absolute paths of folders, such as `/srv/projects`";

    fn check(text: &str) -> Result<PathBuf, String> {
        let path = PathBuf::from(text);
        if path.is_absolute() { Ok(path) } else { Err(format!("{} is not an absolute path", quoted(text))) }
    }

    fn show(value: &PathBuf) -> String {
        format!("`{}`", value.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guarded_files_have_plain_names() {
        let read = |text: &str| toml::from_str::<ProjectsSection>(text).map(|mut section| section.guard());
        assert_eq!(read("guard = [\"Makefile\", \"/tools/\"]").unwrap(), ["Makefile", "/tools/"]);
        for wrong in ["*.sh", "../x", "/", ""] {
            assert!(
                read(&format!("guard = [\"{wrong}\"]")).unwrap_err().to_string().contains("not the name"),
                "{wrong}"
            );
        }
    }
}
