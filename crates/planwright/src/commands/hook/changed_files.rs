//! The files that a call of a client changes.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use planwright_core::permission::is_git_name;
use serde_json::Value;

use super::tools::{self, ToolKind};
use super::wire::{HookPlace, ToolRequest};

/// Stands for a file that is not known: no plan covers it.
const OUTSIDE: &str = "/";
/// Links in one path. Systems follow about as many.
const MAX_LINKS: usize = 40;

/// The files that a call changes, below the project. One outside of it keeps its whole path, which no plan covers.
pub(super) fn changed_paths(place: &HookPlace, request: &ToolRequest) -> Vec<String> {
    named_files(place, request).iter().flat_map(|path| judged(place, path)).collect()
}

/// The first file of a call that is in a folder of git's, as the call names it.
pub(super) fn path_in_git(place: &HookPlace, request: &ToolRequest) -> Option<String> {
    let project = place.project.to_string_lossy();
    let says = |path: &str| path.split(['/', '\\']).any(is_git_name);
    named_files(place, request).into_iter().find(|path| {
        let below = path.trim().strip_prefix(&*project).unwrap_or(path);
        let leads = resolved(&place.folder.join(path.trim())).is_some_and(|whole| is_in_git_folder(&whole));
        says(below) || leads || judged(place, path).iter().any(|path| says(path))
    })
}

/// A folder of git's may have any name.
fn is_in_git_folder(whole: &Path) -> bool {
    whole.ancestors().skip(1).any(|folder| {
        let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
        let has_parts = is_there("objects") || is_there("refs") || is_there("commondir");
        has_parts && (is_there("HEAD") || whole == folder.join("HEAD"))
    })
}

/// The files as the call names them.
fn named_files(place: &HookPlace, request: &ToolRequest) -> Vec<String> {
    let input = &request.input;
    match tools::kind(&request.tool) {
        ToolKind::ChangesFiles => {
            let mut named = Vec::new();
            collect(input, &mut named);
            let has_own_folder =
                ["workdir", "cwd"].iter().any(|field| input.get(field).is_some_and(|folder| !folder.is_null()));
            if named.is_empty() || has_own_folder {
                named.push(OUTSIDE.to_owned());
            }
            named
        }
        // Codex changes files with a patch in its shell.
        ToolKind::Commands => {
            let mut named = input.get("command").and_then(Value::as_str).map(shell_patch).unwrap_or_default();
            let is_elsewhere = |folder: &PathBuf| resolved(folder) != resolved(&place.folder);
            if !named.is_empty() && tools::folders(input, &place.folder).iter().any(is_elsewhere) {
                named.push(OUTSIDE.to_owned());
            }
            named
        }
        ToolKind::Reads
        | ToolKind::Notes
        | ToolKind::Network
        | ToolKind::Agents
        | ToolKind::Skills
        | ToolKind::Server
        | ToolKind::Unknown => Vec::new(),
    }
}

/// The paths in every field that may name one, at any depth. Which of them a client obeys is not known.
fn collect(input: &Value, named: &mut Vec<String>) {
    const PATHS: [&str; 9] =
        ["path", "paths", "file", "files", "uri", "filename", "notebook", "directory", "destination"];
    match input {
        Value::Object(fields) => {
            for (field, value) in fields {
                let field: String = field.chars().filter(char::is_ascii_alphanumeric).collect();
                let field = field.to_ascii_lowercase();
                if PATHS.iter().any(|ending| field.ends_with(ending)) {
                    named.extend(texts(value).filter(|path| !path.is_empty()).map(str::to_owned));
                }
                let patched: Vec<_> = match field.as_str() {
                    "command" | "input" | "patch" | "patchtext" | "diff" => {
                        texts(value).flat_map(patched_files).collect()
                    }
                    _ => Vec::new(),
                };
                if patched.is_empty() && matches!(field.as_str(), "patch" | "patchtext" | "diff") {
                    named.push(OUTSIDE.to_owned());
                }
                named.extend(patched);
                collect(value, named);
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| collect(entry, named)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let listed = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    value.as_str().into_iter().chain(listed)
}

/// What is decided by for one name. Of a home folder or an address a client makes a path of its own, so it is outside of the
/// project, and a rule that denies sees it in every form.
fn judged(place: &HookPlace, path: &str) -> Vec<String> {
    let written = path.trim();
    if written == OUTSIDE {
        return vec![OUTSIDE.to_owned()];
    }
    let (scheme, rest) = scheme(written).unwrap_or(("", written));
    if scheme.is_empty() && !written.starts_with('~') {
        let mut paths = vec![below_project(place, path)];
        if written != path {
            paths.push(below_project(place, written));
        }
        return paths;
    }
    let mut paths = vec![written.to_owned(), OUTSIDE.to_owned()];
    if scheme.eq_ignore_ascii_case("file") {
        paths.push(below_project(place, rest.strip_prefix("//").unwrap_or(rest)));
    }
    if let (Some(rest), Some(home)) = (written.strip_prefix("~/"), dirs::home_dir()) {
        paths.push(below_project(place, &home.join(rest).to_string_lossy()));
    }
    paths
}

/// `file` and what is behind its colon. One letter is a drive.
fn scheme(path: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = path.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'));
    is_scheme.then_some((scheme, rest))
}

/// The files of `apply_patch` with one text between its marks, and nothing else in the line.
fn shell_patch(line: &str) -> Vec<String> {
    let Some(rest) = line.trim().strip_prefix("apply_patch") else { return Vec::new() };
    let Some(begin) = rest.find("*** Begin Patch") else { return Vec::new() };
    let Some((patch, end)) = rest[begin..].split_once("*** End Patch") else { return Vec::new() };
    // Without quotes around its mark the shell would read the patch.
    let Some(mark) = rest[..begin].trim().strip_prefix("<<").map(str::trim) else { return Vec::new() };
    let quoted = ['\'', '"'].iter().find_map(|quote| mark.strip_prefix(*quote)?.strip_suffix(*quote));
    // The text ends at the first line that is the mark, and the shell runs what follows.
    let has_line = |patch: &str, mark: &str| patch.lines().any(|line| line == mark);
    let is_whole = quoted.is_some_and(|mark| {
        mark.chars().all(|c| c.is_ascii_alphanumeric()) && end.trim() == mark && !has_line(patch, mark)
    });
    if is_whole { patched_files(patch) } else { Vec::new() }
}

/// The files that a patch names. Clients take a line with spaces around it for a mark, too; of a mark that is not known it is not
/// known what it changes.
fn patched_files(patch: &str) -> Vec<String> {
    const MARKS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    const WITHOUT_FILE: [&str; 3] = ["*** Begin Patch", "*** End Patch", "*** End of File"];
    let marks = patch.lines().map(str::trim).filter(|line| line.starts_with("***") && !WITHOUT_FILE.contains(line));
    let named = |line: &str| MARKS.iter().find_map(|mark| line.strip_prefix(mark)).map(|path| path.trim().to_owned());
    marks.map(|line| named(line).unwrap_or_else(|| OUTSIDE.to_owned())).collect()
}

fn below_project(place: &HookPlace, path: &str) -> String {
    let (Some(whole), Some(project)) = (resolved(&place.folder.join(path)), resolved(&place.project)) else {
        return OUTSIDE.to_owned();
    };
    let shown = whole.strip_prefix(&project).unwrap_or(&whole);
    shown.to_string_lossy().into_owned()
}

/// The path without `..` and links, also where nothing is there yet: a link whose destination is missing leads there all the
/// same. `None` if that cannot be told.
pub(super) fn resolved(path: &Path) -> Option<PathBuf> {
    let mut rest = parts(path);
    let mut plain = PathBuf::new();
    let mut links = 0;
    while let Some(part) = rest.pop_front() {
        if part == "." {
            continue;
        }
        if part == ".." {
            plain.pop();
            continue;
        }
        plain.push(part);
        match plain.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                let mut to = parts(&plain.read_link().ok()?);
                plain.pop();
                to.append(&mut rest);
                rest = to;
            }
            // As the system writes it.
            Ok(_) => plain = plain.canonicalize().unwrap_or(plain),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    Some(plain)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components().map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A project with a folder `src`, and a home beside it.
    fn place(root: &Path) -> HookPlace {
        let project = root.join("project");
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::create_dir_all(root.join("home")).unwrap();
        HookPlace { folder: project.clone(), project, servers: None }
    }

    fn changed(place: &HookPlace, tool: &str, input: Value) -> Vec<String> {
        changed_paths(place, &ToolRequest { tool: tool.to_owned(), input })
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_what_is_missing_is_judged_as_its_destination() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        for (link, to) in [
            ("rc", "../../home/.bashrc"),
            ("env", "../.envrc"),
            ("twice", "rc"),
            ("round", "round"),
            ("near", "new/./a.rs"),
            ("folder", "../../home"),
        ] {
            std::os::unix::fs::symlink(to, place.project.join("src").join(link)).unwrap();
        }
        let home = root.path().canonicalize().unwrap().join("home");
        let at_home = |name: &str| home.join(name).display().to_string();
        for (path, expected) in [
            ("src/rc", at_home(".bashrc")),
            ("src/twice", at_home(".bashrc")),
            ("src/folder/new/a", at_home("new/a")),
            ("src/env", ".envrc".to_owned()),
            ("src/near", "src/new/a.rs".to_owned()),
            ("src/round", OUTSIDE.to_owned()),
            ("src/new/../b.rs", "src/b.rs".to_owned()),
        ] {
            assert_eq!(changed(&place, "Write", json!({ "file_path": path })), [expected], "{path}");
        }
    }

    #[test]
    fn every_file_of_a_patch_is_seen() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        for (lines, expected) in [
            ("*** Add File: src/a\n+x", &["src/a"][..]),
            ("*** Add File: src/a\n+x\n*** End of File", &["src/a"]),
            ("*** Update File: src/a\n*** Move to: b\n@@\n-*** One\n+x", &["src/a", "b"]),
            ("*** Add File: src/a\n+x\n  *** Add File: /etc/x\n+x", &["src/a", "/etc/x"]),
            ("*** Add File: src/a\r\n+x\r\n\t*** Delete File: Makefile \r", &["src/a", "Makefile"]),
            ("*** Add File: src/a\n+x\n*** Copy File: b", &["src/a", OUTSIDE]),
            ("***  Add File: src/a", &[OUTSIDE]),
        ] {
            let patch = format!("*** Begin Patch\n{lines}\n*** End Patch");
            assert_eq!(changed(&place, "apply_patch", json!({ "command": patch })), expected, "{lines}");
            let line = format!("apply_patch <<'EOF'\n{patch}\nEOF");
            assert_eq!(changed(&place, "Bash", json!({ "command": line })), expected, "{lines}");
        }
    }

    #[test]
    fn every_field_that_may_name_a_file_is_seen() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        let outside = "*** Begin Patch\n*** Add File: /etc/x\n+x\n*** End Patch";
        let uri = format!("file://{}/secret/x", place.project.display());
        let two = json!({ "filePath": "src/a", "replacements": [{ "filePath": "/etc/x", "oldString": "a" }] });
        for (tool, input, expected) in [
            ("multi_replace_string_in_file", two, &["src/a", "/etc/x"][..]),
            ("apply_patch", json!({ "path": "src/a", "patchText": outside }), &["src/a", "/etc/x"]),
            ("edit_file", json!({ "path": "src/a", "target_file": "/etc/x" }), &["src/a", "/etc/x"]),
            ("editFiles", json!({ "files": ["src/a", "b"] }), &["src/a", "b"]),
            ("write_file", json!({ "path": "~other/x" }), &["~other/x", OUTSIDE]),
            ("create_file", json!({ "filePath": "vscode-userdata:/k.json" }), &["vscode-userdata:/k.json", OUTSIDE]),
            ("create_file", json!({ "filePath": uri }), &[uri.as_str(), OUTSIDE, "secret/x"]),
            ("Write", json!({ "file_path": "src/a", "content": "see /etc/x" }), &["src/a"]),
            ("Write", json!({ "file_path": "src/a", "cwd": "/etc" }), &["src/a", OUTSIDE]),
            ("apply_patch", json!({ "path": "src/a", "patch": "--- a\n+++ b" }), &["src/a", OUTSIDE]),
            ("Write", json!({ "content": "x" }), &[OUTSIDE]),
        ] {
            let mut found = changed(&place, tool, input.clone());
            let mut expected: Vec<_> = expected.iter().map(|path| (*path).to_owned()).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{tool} {input}");
        }
        let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n*** End Patch\nEOF";
        assert_eq!(changed(&place, "Bash", json!({ "command": patch, "workdir": "." })), ["a"]);
        assert_eq!(changed(&place, "Bash", json!({ "command": patch, "workdir": "src" })), ["a", OUTSIDE]);
        let ended = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: src/a\nEOF\nrm x\n*** End Patch\nEOF";
        assert_eq!(changed(&place, "Bash", json!({ "command": ended })), [""; 0], "the shell runs the rest");
    }

    #[test]
    fn a_file_in_a_folder_of_git_is_known() {
        let root = tempfile::tempdir().unwrap();
        let place = place(root.path());
        for folder in ["bare/refs", "bare/hooks", ".git/hooks"] {
            std::fs::create_dir_all(place.project.join(folder)).unwrap();
        }
        std::fs::write(place.project.join("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
        let whole = place.project.join(".git/config").display().to_string();
        for (path, expected) in [
            (whole.as_str(), true),
            (".git/hooks/pre-commit", true),
            ("src/../.GIT/config", true),
            ("GIT~1/config", true),
            ("vendored/.git", true),
            ("file:.git/config", true),
            ("bare/hooks/update", true),
            (".gitignore", false),
            ("src/git/a.rs", false),
            (".github/a.md", false),
        ] {
            let request = ToolRequest { tool: "Write".to_owned(), input: json!({ "file_path": path }) };
            assert_eq!(path_in_git(&place, &request).is_some(), expected, "{path}");
        }
        let reading = ToolRequest { tool: "Read".to_owned(), input: json!({ "file_path": ".git/config" }) };
        assert_eq!(path_in_git(&place, &reading), None);
    }
}
