//! Lines that certainly only read, and the many ways to write or run something that look like them.

#![allow(clippy::disallowed_methods, reason = "the test looks at real files")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use planwright_core::permission::only_reads;

const READING: &str = include_str!("../fixtures/lines_that_read.txt");
const CHANGING: &str = include_str!("../fixtures/lines_that_change.txt");

/// One line each; `⏎` is a new line.
fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("##")).map(|line| line.replace('⏎', "\n"))
}

#[test]
fn lines_that_only_read_pass() {
    let refused: Vec<_> = lines(READING).filter(|line| only_reads(line).is_none()).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn lines_that_may_write_or_run_something_do_not_pass() {
    assert!(lines(CHANGING).count() >= 250, "{}", lines(CHANGING).count());
    let passed: Vec<_> = lines(CHANGING).filter(|line| only_reads(line).is_some()).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

/// A line that passes followed by one that does not, joined in every way, does not pass.
#[test]
fn a_line_is_as_dangerous_as_its_worst_part() {
    for joint in [" && ", " || ", "; ", " | ", "\n", ";", "|", "&&"] {
        for worst in ["rm a", "tee a", "echo x >a", "ls $(rm a)"] {
            assert_eq!(only_reads(&format!("ls{joint}{worst}")), None, "{joint:?} {worst}");
            assert_eq!(only_reads(&format!("{worst}{joint}ls")), None, "{joint:?} {worst}");
        }
        assert!(only_reads(&format!("ls{joint}wc -l")).is_some(), "{joint:?}");
    }
}

#[test]
fn it_is_told_that_git_runs_or_that_the_folder_changes() {
    assert!(!only_reads("ls -la | head").unwrap().uses_git);
    assert!(only_reads("ls; git status --short").unwrap().uses_git);
    assert!(!only_reads("ls -la | head").unwrap().changes_folder);
    assert!(only_reads("cd src && ls").unwrap().changes_folder);
}

/// Runs every line that passes in a real shell, in a repository, and compares everything in it.
#[test]
fn lines_that_only_read_change_nothing_in_a_real_shell() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("repository");
    std::fs::create_dir_all(folder.join("src/deep")).unwrap();
    for (file, text) in
        [("src/main.rs", "fn main() {}\n"), ("src/deep/a.json", "{\"a\": [1, 2]}\n"), ("README.md", "# Read\n")]
    {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let setup = "git init -q -b main . && git add . && git -c user.name=a -c user.email=a@b.c commit -qm one && git tag v1 && \
                 git branch topic && echo more >> README.md && git -c user.name=a -c user.email=a@b.c stash -q && echo x >> src/main.rs";
    assert!(shell("sh", &folder, setup).status.success());
    // Looking at the state, git may write down in its index what it saw.
    drop(shell("sh", &folder, "git status"));
    for name in ["sh", "bash"] {
        for line in lines(READING) {
            let before = state(root.path());
            let ran = shell(name, &folder, &line);
            assert_eq!(state(root.path()), before, "{name}: {line}: {}", String::from_utf8_lossy(&ran.stderr));
        }
    }
}

fn shell(name: &str, folder: &Path, line: &str) -> std::process::Output {
    let mut command = Command::new(name);
    command.args(["-c", line]).current_dir(folder).stdin(std::process::Stdio::null());
    command.env("HOME", folder.parent().unwrap()).env("GIT_CONFIG_NOSYSTEM", "1");
    command.output().unwrap()
}

/// Every file and folder below a folder, with its permissions and content.
fn state(folder: &Path) -> BTreeMap<String, (bool, Option<Vec<u8>>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let about = std::fs::symlink_metadata(&path).unwrap();
            let content = about.is_file().then(|| std::fs::read(&path).unwrap());
            found.insert(path.display().to_string(), (about.permissions().readonly(), content));
            if about.is_dir() {
                open.push(path);
            }
        }
    }
    found
}
