//! The section `projects`: the project folders that a server works in.

use std::path::PathBuf;

use planwright_core::visible::quoted;

use super::setting::{Check, List, section};

section! {
    pub(super) struct ProjectsSection, "projects" {
        "The server lets sessions work in these folders and in the folders below them, and in no other project folder. `planwright chat` and `planwright mcp` are not restricted by it."
        allow: List<Folder> = Vec::new(),
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
