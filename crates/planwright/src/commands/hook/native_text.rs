//! The plans of clients' own plan modes: where each client has the text, and the files that its plan mode writes.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::changed_files::{changed_paths, resolved};
use super::tools::{self, ToolKind};
use super::wire::HookInput;
use crate::cli::ClientName;

/// A longer file is no plan that a person reads.
const MAX_FILE: u64 = 1024 * 1024;
/// What Codex puts a plan between in a message, each on a line of its own.
const PROPOSED: (&str, &str) = ("<proposed_plan>", "</proposed_plan>");

#[derive(Debug, PartialEq)]
pub(super) enum NativeText {
    /// The client does not propose a plan.
    None,
    Found(String),
    /// The reason why its plan cannot be read.
    Unreadable(String),
}

/// The plan that the client proposes. Claude Code sends the text with the call, Codex in the last message of a turn; Gemini CLI
/// and Copilot have it in a file.
pub(super) fn native_text(client: ClientName, input: &HookInput) -> NativeText {
    let is_exit = |name: &str| input.request.tool == name;
    match client {
        ClientName::ClaudeCode if is_exit("ExitPlanMode") => {
            let text = input.request.input.get("plan").and_then(Value::as_str);
            of_text(text.ok_or_else(|| "the call has no text".to_owned()))
        }
        ClientName::Gemini if is_exit("exit_plan_mode") => of_text(gemini_file(input).and_then(|file| read(&file))),
        ClientName::Vscode if is_exit("exit_plan_mode") => of_text(copilot_file(input).and_then(|file| read(&file))),
        ClientName::Codex => input.text("last_assistant_message").map_or(NativeText::None, proposed),
        ClientName::ClaudeCode
        | ClientName::Gemini
        | ClientName::Vscode
        | ClientName::Opencode
        | ClientName::Goose
        | ClientName::Cursor
        | ClientName::Zed => NativeText::None,
    }
}

fn of_text<T: Into<String>>(found: Result<T, String>) -> NativeText {
    match found.map(Into::into) {
        Ok(text) if text.trim().is_empty() => NativeText::Unreadable("it is empty".to_owned()),
        Ok(text) => NativeText::Found(text),
        Err(reason) => NativeText::Unreadable(reason),
    }
}

/// The last plan in a message, as Codex itself reads it: a tag beside other words on its line is text.
fn proposed(message: &str) -> NativeText {
    let (mut found, mut is_open) = (None, false);
    for line in message.split_inclusive('\n') {
        let tag = line.trim();
        if !is_open {
            is_open = tag == PROPOSED.0;
            found = if is_open { Some(String::new()) } else { found };
        } else if tag == PROPOSED.1 {
            is_open = false;
        } else if let Some(text) = &mut found {
            text.push_str(line);
        }
    }
    found.map_or(NativeText::None, |text| of_text(Ok(text.trim())))
}

/// The folder comes from the client itself; the agent names a file in it. Versions from before the folder was told name the whole
/// path.
fn gemini_file(input: &HookInput) -> Result<PathBuf, String> {
    let named = |field: &str| input.request.input.get(field).and_then(Value::as_str);
    match (named("plan_filename"), gemini_folder()) {
        (Some(name), Some(folder)) if is_plan_name(Path::new(name)) => Ok(folder.join(name)),
        (Some(_), Some(_)) => Err("`plan_filename` is not the name of a Markdown file".to_owned()),
        (Some(_), None) => Err("Gemini CLI did not tell the folder of its plans (GEMINI_PLANS_DIR)".to_owned()),
        (None, _) => {
            let path = named("plan_path").map(Path::new).filter(|path| path.is_absolute());
            let path = path.filter(|path| path.file_name().is_some_and(|name| is_plan_name(Path::new(name))));
            path.map(Path::to_owned).ok_or_else(|| "the call names no file".to_owned())
        }
    }
}

fn gemini_folder() -> Option<PathBuf> {
    std::env::var_os("GEMINI_PLANS_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute())
}

/// Copilot has one plan in the folder of each of its sessions.
fn copilot_file(input: &HookInput) -> Result<PathBuf, String> {
    let session = input.text("session_id").or_else(|| input.text("sessionId"));
    let is_plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let session = session.filter(is_plain).ok_or("the call does not name its session")?;
    let named = std::env::var_os("COPILOT_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = named.or_else(|| Some(dirs::home_dir()?.join(".copilot"))).ok_or("there is no home folder")?;
    Ok(home.join("session-state").join(session).join("plan.md"))
}

fn read(file: &Path) -> Result<String, String> {
    let unread = |why: &str| format!("{} {why}", file.display());
    let about = std::fs::metadata(file).map_err(|error| unread(&format!("cannot be read ({error})")))?;
    if !about.is_file() || about.len() > MAX_FILE {
        return Err(unread("is no file of at most 1 MiB"));
    }
    std::fs::read_to_string(file).map_err(|error| unread(&format!("cannot be read ({error})")))
}

/// A Markdown file without a folder.
fn is_plan_name(name: &Path) -> bool {
    let is_plain = name.components().count() == 1 && name.file_name().is_some_and(|file| file == name.as_os_str());
    is_plain && name.extension().is_some_and(|extension| extension == "md")
}

/// Whether the call writes only the file in which the client's plan mode keeps its plan. It lies outside of the project.
pub(super) fn writes_plan_file(client: ClientName, input: &HookInput) -> bool {
    let (place, request) = (&input.place, &input.request);
    let folder = match client {
        ClientName::ClaudeCode if input.text("permission_mode") == Some("plan") => claude_folder(),
        ClientName::Gemini => gemini_folder(),
        ClientName::Vscode => copilot_file(input).ok().and_then(|file| Some(file.parent()?.to_owned())),
        ClientName::ClaudeCode
        | ClientName::Codex
        | ClientName::Opencode
        | ClientName::Goose
        | ClientName::Cursor
        | ClientName::Zed => None,
    };
    // The first plan is written before there is a folder of plans.
    let Some(folder) = folder.and_then(|folder| resolved(&folder)) else { return false };
    let Some(project) = resolved(&place.project) else { return false };
    if tools::kind(&request.tool) != ToolKind::ChangesFiles || folder.starts_with(&project) {
        return false;
    }
    let paths = changed_paths(place, request);
    !paths.is_empty() && paths.iter().all(|path| is_plan_in(Path::new(path), &folder))
}

/// Where Claude Code keeps its plans unless a setting names another folder.
fn claude_folder() -> Option<PathBuf> {
    let named = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    Some(named.or_else(|| Some(dirs::home_dir()?.join(".claude")))?.join("plans"))
}

fn is_plan_in(path: &Path, folder: &Path) -> bool {
    let is_there = path.parent().and_then(resolved).is_some_and(|parent| parent == folder);
    let is_link = path.symlink_metadata().is_ok_and(|about| about.file_type().is_symlink());
    is_there && !is_link && path.is_absolute() && path.file_name().is_some_and(|name| is_plan_name(Path::new(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_proposed_plan_of_a_message_is_read() {
        for (message, expected) in [
            ("no plan", NativeText::None),
            ("x\n<proposed_plan>\n# A\n</proposed_plan>\ny", NativeText::Found("# A".to_owned())),
            ("  <proposed_plan> \r\n# A\r\n1. b\r\n</proposed_plan>\r\n", NativeText::Found("# A\r\n1. b".to_owned())),
            (
                "<proposed_plan>\n# A\n</proposed_plan>\n<proposed_plan>\n# B\n</proposed_plan>",
                NativeText::Found("# B".to_owned()),
            ),
            ("<proposed_plan>\n# cut off", NativeText::Found("# cut off".to_owned())),
            ("<proposed_plan>\n \n</proposed_plan>", NativeText::Unreadable("it is empty".to_owned())),
            // Codex shows these as words of a message.
            ("I write <proposed_plan>\n# A\n</proposed_plan>", NativeText::None),
            ("<proposed_plan># A</proposed_plan>", NativeText::None),
            (
                "<proposed_plan>\n# A\nno </proposed_plan> and\n<proposed_plan>\n</proposed_plan>\n# B",
                NativeText::Found("# A\nno </proposed_plan> and\n<proposed_plan>".to_owned()),
            ),
        ] {
            assert_eq!(proposed(message), expected, "{message}");
        }
    }

    #[test]
    fn the_name_of_a_plan_leads_nowhere_else() {
        for (name, expected) in [
            ("plan.md", true),
            ("a/plan.md", false),
            ("../plan.md", false),
            ("plan.txt", false),
            ("..", false),
            ("", false),
        ] {
            assert_eq!(is_plan_name(Path::new(name)), expected, "{name}");
        }
    }
}
