//! Folders of git's, in which no file tool changes anything: git runs and obeys what is in them.

use cap_std::fs::Dir;
use planwright_core::permission::is_git_name;
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;

use super::path::{FilePath, real_path};

/// Refuses a path that says itself that it is in a folder of git's.
pub(super) fn check_words(path: &FilePath) -> Result<(), Refusal> {
    if path.as_str().split('/').any(is_git_name) { Err(refused(path)) } else { Ok(()) }
}

/// Refuses a path that leads into a folder of git's, whatever that folder is called.
pub(super) fn check(files: &Dir, path: &FilePath) -> Result<(), Refusal> {
    check_words(path)?;
    let Some(real) = real_path(files, path) else { return Ok(()) };
    let real = FilePath::parse(&real)?;
    check_words(&real)?;
    let mut around = real.parent_and_name();
    let completes = around.as_ref().is_some_and(|(_, name)| *name == "HEAD");
    while let Some((folder, _)) = around.take() {
        let is_there = |name: &str| folder.join(name).is_ok_and(|path| files.symlink_metadata(path.beneath()).is_ok());
        let has_parts = is_there("objects") || is_there("refs") || is_there("commondir");
        let is_head_there =
            is_there("HEAD") || (completes && real.parent_and_name().is_some_and(|(of, _)| of == folder));
        if has_parts && is_head_there {
            return Err(refused(path));
        }
        around = folder.parent_and_name().map(|(folder, _)| (folder, ""));
    }
    Ok(())
}

fn refused(path: &FilePath) -> Refusal {
    Refusal::policy_denied(format!(
        "{} is in a folder of git's. Git runs and obeys what is there, so no file tool changes it; use git itself in a \
         command, or ask the person.",
        quoted(path.as_str())
    ))
}
