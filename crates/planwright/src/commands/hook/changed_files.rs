//! The files that a call of a client changes.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::tools::{self, ToolKind};
use super::wire::{HookPlace, ToolRequest};

/// Stands for a file that is not known: no plan covers it.
const OUTSIDE: &str = "/";
/// Links in one path. Systems follow about as many.
const MAX_LINKS: usize = 40;

/// The files that a call changes, below the project. One outside of it keeps its whole path, which no plan covers.
pub(super) fn changed_paths(place: &HookPlace, request: &ToolRequest) -> Vec<String> {
    let text = |field: &str| request.input.get(field).and_then(Value::as_str).map(str::to_owned);
    let named: Vec<String> = match tools::kind(&request.tool) {
        ToolKind::ChangesFiles => {
            let listed = request.input.get("files").and_then(Value::as_array).into_iter().flatten();
            let listed = listed.filter_map(|file| file.as_str().map(str::to_owned));
            let fields = ["file_path", "filePath", "path", "notebook_path", "dirPath"];
            let patch =
                ["command", "input", "patch"].into_iter().filter_map(text).flat_map(|text| patched_files(&text));
            fields.into_iter().filter_map(text).chain(listed).chain(patch).collect()
        }
        // Codex changes files with a patch in its shell.
        ToolKind::Commands => text("command").map(|line| shell_patch(&line)).unwrap_or_default(),
        ToolKind::Reads
        | ToolKind::Notes
        | ToolKind::Network
        | ToolKind::Agents
        | ToolKind::Server
        | ToolKind::Unknown => Vec::new(),
    };
    named.iter().map(|path| below_project(place, path)).collect()
}

/// The files of `apply_patch` with one text between its marks, and nothing else in the line.
fn shell_patch(line: &str) -> Vec<String> {
    let Some(rest) = line.trim().strip_prefix("apply_patch") else { return Vec::new() };
    let Some(begin) = rest.find("*** Begin Patch") else { return Vec::new() };
    let Some((patch, end)) = rest[begin..].split_once("*** End Patch") else { return Vec::new() };
    // Without quotes around its mark the shell would read the patch.
    let Some(mark) = rest[..begin].trim().strip_prefix("<<").map(str::trim) else { return Vec::new() };
    let quoted = ['\'', '"'].iter().find_map(|quote| mark.strip_prefix(*quote)?.strip_suffix(*quote));
    let is_whole = quoted.is_some_and(|mark| mark.chars().all(|c| c.is_ascii_alphanumeric()) && end.trim() == mark);
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
fn resolved(path: &Path) -> Option<PathBuf> {
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
}
