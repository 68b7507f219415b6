//! Sentences about a project folder that a session works in.

use std::path::Path;
use std::process::Command;

use cucumber::{given, then, when};
use tempfile::TempDir;

use crate::conversation::types;
use crate::world::{World, unescaped};

const FILES: [(&str, &[u8]); 5] = [
    ("Cargo.toml", b"[package]\nname = \"greeter\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
    ("src/lib.rs", b"//! Greets.\n\n/// A greeting.\npub fn greet() -> &'static str {\n    \"hi\"\n}\n"),
    ("README.md", b"Greeter\r\n=======\r\n"),
    ("old.bin", b"\xff\x00old\r\n"),
    ("run.sh", b"#!/bin/sh\ncargo run\n"),
];

fn git(project: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(project).args(["-c", "user.name=ann", "-c", "user.email=ann@example.org"]).args(arguments);
    // The person's own configuration does not matter here.
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn project(world: &World) -> &Path {
    world.project.as_ref().expect("there is a project").path()
}

#[given("a small Rust project under git")]
fn small_project(world: &mut World) {
    let folder = TempDir::new().unwrap();
    for (path, content) in FILES {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(folder.path().join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "--message", "all"]);
    world.project = Some(folder);
}

#[given("the person works in the project")]
async fn works_in_it(world: &mut World) {
    let path = project(world).display().to_string();
    types(world, format!("/project {path}")).await;
    assert!(!world.talk.answer().refused(), "{}", world.talk.answer().reply);
}

#[given(expr = "{string} of the project is {string}")]
#[when(expr = "a person writes {string} into {string} of the project")]
fn write(world: &mut World, one: String, other: String) {
    // The two sentences name the file and its content in different orders.
    let (path, content) = if one.ends_with(".md") { (one, other) } else { (other, one) };
    std::fs::write(project(world).join(path), unescaped(&content)).unwrap();
}

#[then(expr = "{string} of the project is {string}")]
fn has_content(world: &mut World, path: String, content: String) {
    assert_eq!(std::fs::read_to_string(project(world).join(path)).unwrap(), unescaped(&content));
}

/// New files count, and the hashes in `index` lines are git's own.
#[then(regex = r#"^"/changes" shows what git shows$"#)]
async fn same_diff(world: &mut World) {
    types(world, "/changes".to_owned()).await;
    let reply = &world.talk.answer().reply;
    let (_, diff) = reply.split_once("```diff\n").unwrap_or_else(|| panic!("no diff in {reply}"));
    let (diff, _) = diff.split_once("\n```").unwrap();
    git(project(world), &["add", "--all"]);
    let theirs = git(project(world), &["diff", "--cached", "--no-renames", "--no-ext-diff", "--no-color"]);
    git(project(world), &["reset", "--quiet"]);
    let theirs: Vec<_> = theirs.lines().filter(|line| !line.starts_with("index ")).collect();
    assert_eq!(diff.lines().collect::<Vec<_>>(), theirs);
}

#[then("the project is as it was committed")]
fn as_committed(world: &mut World) {
    assert_eq!(git(project(world), &["status", "--porcelain", "--untracked-files=all"]), "");
    for (path, content) in FILES {
        assert_eq!(std::fs::read(project(world).join(path)).unwrap(), content, "{path}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(project(world).join("run.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }
}
