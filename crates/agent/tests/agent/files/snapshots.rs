//! What commands change is found by comparing the workspace before and after.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;
use std::time::{Duration, SystemTime};

use planwright_agent::toolbox::files::Watched;
use planwright_core::workspace::ChangedPaths;

use super::Snapshot;

fn shell(snapshot: &Snapshot, line: &str) {
    let output = Command::new("sh").args(["-ec", line]).current_dir(snapshot.inside()).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What a shell line changes.
async fn changed_by(snapshot: &Snapshot, line: &str) -> ChangedPaths {
    let before = snapshot.files.snapshot(snapshot.context(), Watched::default()).await.unwrap();
    shell(snapshot, line);
    before.compare(&snapshot.files.snapshot_after(snapshot.context(), &before).await.unwrap())
}

fn paths(added: &[&str], changed: &[&str], removed: &[&str]) -> ChangedPaths {
    let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect();
    ChangedPaths { added: owned(added), changed: owned(changed), removed: owned(removed), complete: true }
}

#[tokio::test]
async fn every_kind_of_change_is_found() {
    for snapshot in Snapshot::both() {
        for name in ["a", "b", "c", "d", "folder/e", "f"] {
            snapshot.put(name, "text");
        }
        snapshot.put(".gitignore", "target/\n");
        for (line, expected) in [
            ("true", paths(&[], &[], &[])),
            ("cat a folder/e", paths(&[], &[], &[])),
            // The same size, within the same moment.
            ("printf TEXT > a", paths(&[], &["a"], &[])),
            ("printf more >> b; rm c; mkdir new; echo x > new/g", paths(&["new/g"], &["b"], &["c"])),
            ("chmod +x d", paths(&[], &["d"], &[])),
            ("mv folder/e folder/h", paths(&["folder/h"], &[], &["folder/e"])),
            ("ln -sf a f", paths(&[], &[], &["f"])),
            ("mkdir target; echo x > target/out; mkdir .git; echo x > .git/HEAD", paths(&[], &[], &[])),
        ] {
            assert_eq!(changed_by(&snapshot, line).await, expected, "{line}");
        }
    }
}

#[tokio::test]
async fn an_old_file_is_told_by_its_times() {
    let snapshot = Snapshot::in_project();
    snapshot.put("a", "text");
    let old = SystemTime::now() - Duration::from_secs(3600);
    let set_old =
        || fs::File::options().write(true).open(snapshot.inside().join("a")).unwrap().set_modified(old).unwrap();
    set_old();
    let before = snapshot.files.snapshot(snapshot.context(), Watched::default()).await.unwrap();
    shell(&snapshot, "printf TEXT > a");
    // Setting the time back hides nothing.
    set_old();
    let after = snapshot.files.snapshot_after(snapshot.context(), &before).await.unwrap();
    assert_eq!(before.compare(&after), paths(&[], &["a"], &[]));
}

#[tokio::test]
async fn what_git_does_is_seen_by_its_files() {
    let snapshot = Snapshot::in_project();
    shell(&snapshot, "git init -q; git config user.email a@b.c; git config user.name a; printf one > a; printf b > b");
    shell(&snapshot, "git add .; git commit -qm one; git checkout -qb other; printf two > a; git commit -qam two");
    assert_eq!(changed_by(&snapshot, "git checkout -q -").await, paths(&[], &["a"], &[]));
    assert_eq!(changed_by(&snapshot, "printf three > a; git commit -qam three").await, paths(&[], &["a"], &[]));
    assert_eq!(changed_by(&snapshot, "git rm -q --cached b").await, paths(&[], &[], &[]));
}

/// A command may write what git would run into the repository; nothing of it runs.
#[tokio::test]
async fn nothing_in_the_repository_is_run() {
    let snapshot = Snapshot::in_project();
    let trap = snapshot.folder.path().join("trap");
    fs::write(&trap, format!("#!/bin/sh\ntouch {}/sprung\ncat\n", snapshot.folder.path().display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    shell(&snapshot, "git init -q; printf a > a; git add a");
    let line = format!(
        "git config core.fsmonitor {0}; git config filter.x.clean {0}; echo '* filter=x' > .gitattributes; printf b > a",
        trap.display()
    );
    assert_eq!(changed_by(&snapshot, &line).await, paths(&[".gitattributes"], &["a"], &[]));
    assert!(!snapshot.folder.path().join("sprung").exists());
}

#[tokio::test]
async fn what_tools_changed_is_covered() {
    let snapshot = Snapshot::in_project();
    snapshot.put("a", "a");
    let before = snapshot.files.snapshot(snapshot.context(), Watched::default()).await.unwrap();
    let changes = snapshot.edit("a", "a", "b").await.unwrap().changes;
    shell(&snapshot, "echo x > c");
    let after = snapshot.files.snapshot_after(snapshot.context(), &before).await.unwrap();
    assert_eq!(before.compare(&after).without(&changes), paths(&["c"], &[], &[]));
    symlink(snapshot.outside(), snapshot.inside().join("link")).unwrap();
    assert!(changed_by(&snapshot, "true").await.is_empty(), "links are not followed");
}

/// A command cannot keep what it changes from being seen by what it writes into the rules.
#[tokio::test]
async fn what_is_ignored_is_said_by_the_rules_of_before() {
    let git = "git -c user.email=a@b.c -c user.name=a";
    for (line, expected) in [
        ("echo '*' > .gitignore; echo x > new", paths(&["new"], &[".gitignore"], &[])),
        ("echo '*' >> .git/info/exclude; echo x > new; echo x >> a", paths(&["new"], &["a"], &[])),
        ("echo '*' > .planwrightignore; echo x > new", paths(&[".planwrightignore", "new"], &[], &[])),
        (
            "mkdir deep; echo '*' > deep/.gitignore; echo x > deep/new",
            paths(&["deep/.gitignore", "deep/new"], &[], &[]),
        ),
        ("rm .gitignore; mkdir out; echo x > out/new", paths(&[], &[], &[".gitignore"])),
        // Ignored, and tracked all the same.
        (
            "echo x >> build/tracked; echo x >> build/other; git rm -q --cached build/tracked",
            paths(&[], &["build/tracked"], &[]),
        ),
        ("rm -r build", paths(&[], &[], &["build/tracked"])),
        // Ignored, and obeyed by a shell or an editor.
        (
            "echo x > .envrc; mkdir .vscode; echo x > .vscode/tasks.json",
            paths(&[".envrc", ".vscode/tasks.json"], &[], &[]),
        ),
        // Ignored, and named by the plan.
        (
            "mkdir -p gen/in out; echo x > gen/in/a; echo x > out/named; echo x > out/other",
            paths(&["gen/in/a", "out/named"], &[], &[]),
        ),
    ] {
        for version in ["2", "3", "4"] {
            for in_worktree in [false, true] {
                let mut snapshot = Snapshot::in_project();
                shell(
                    &snapshot,
                    "git init -q; printf 'build\nout/\ngen\n.envrc\n.vscode\n' > .gitignore; echo a > a; mkdir build",
                );
                shell(&snapshot, "echo t > build/tracked; echo o > build/other; git add .; git add -f build/tracked");
                shell(&snapshot, &format!("git update-index --index-version {version}; {git} commit -qm a"));
                if in_worktree {
                    shell(&snapshot, "git worktree add -q ../tree; echo o > ../tree/build/other");
                    if line.contains(".git/info") {
                        continue;
                    }
                    let path = snapshot.inside().parent().unwrap().join("tree");
                    snapshot.workspace = snapshot.files.project(&path).unwrap();
                }
                let watched =
                    Watched { plan_files: vec!["gen/in/".to_owned(), "out/named".to_owned()], ..Watched::default() };
                let before = snapshot.files.snapshot(snapshot.context(), watched).await.unwrap();
                shell(&snapshot, line);
                let after = snapshot.files.snapshot_after(snapshot.context(), &before).await.unwrap();
                assert_eq!(before.compare(&after), expected, "{line} {version} {in_worktree}");
            }
        }
    }
}
