//! No file tool changes what git obeys, in any repository of the workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use planwright_core::refusal::RefusalCode;
use serde_json::json;

use super::Snapshot;

fn shell(snapshot: &Snapshot, line: &str) {
    let output = Command::new("sh").args(["-ec", line]).current_dir(snapshot.inside()).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn folders_of_git_are_read_and_never_changed() {
    for snapshot in Snapshot::both() {
        fs::create_dir_all(snapshot.inside()).unwrap();
        let git = "git -c user.email=a@b.c -c user.name=a -c protocol.file.allow=always";
        shell(&snapshot, &format!("git init -q .; echo a > a; git add a; {git} commit -qm a"));
        shell(&snapshot, &format!("git init -q lib; cd lib; echo a > a; git add a; {git} commit -qm a"));
        shell(
            &snapshot,
            &format!("{git} submodule --quiet add ./lib sub; {git} worktree add -q tree; git init -q --bare store"),
        );
        shell(&snapshot, "git init -q --separate-git-dir=meta apart; mkdir links half; mkdir half/refs half/objects");
        symlink("../.git", snapshot.inside().join("links/hidden")).unwrap();
        for path in [
            ".git/config",
            ".git/hooks/pre-commit",
            ".git/commondir",
            ".git/info/exclude",
            ".git/modules/sub/config",
            ".git/worktrees/tree/commondir",
            "lib/.git/config",
            "new/.git/config",
            ".GIT/config",
            "lib/.Git/hooks/post-checkout",
            "sub/.git",
            "tree/.git",
            "apart/.git",
            "meta/config",
            "meta/hooks/pre-commit",
            "store/config",
            "store/hooks/new/pre-push",
            "links/hidden/config",
            "half/HEAD",
        ] {
            let refused = async |tool: &str, arguments| {
                let refusal = snapshot.try_call(tool, arguments).await.unwrap_err();
                assert_eq!(refusal.code, RefusalCode::PolicyDenied, "{tool} {path}: {refusal}");
                assert!(refusal.message.contains("folder of git's"), "{tool} {path}: {refusal}");
            };
            let before = fs::read(snapshot.inside().join(path)).ok();
            refused("write_file", json!({"path": path, "content": "[core]\n\tfsmonitor = ./run\n"})).await;
            if !path.ends_with("HEAD") && !path.ends_with(".git") {
                refused("move_file", json!({"path": "a", "to": format!("{path}2")})).await;
            }
            if before.is_some() {
                refused("edit_file", json!({"path": path, "edits": [{"old": "e", "new": "f", "all": true}]})).await;
                refused("delete_file", json!({"path": path})).await;
                refused("move_file", json!({"path": path, "to": "elsewhere"})).await;
                snapshot.call("read_file", json!({"path": path})).await;
            }
            assert_eq!(fs::read(snapshot.inside().join(path)).ok(), before, "{path}");
        }
        for path in [".gitignore", ".github/notes.md", "refs/HEAD.md", "notes/HEAD"] {
            snapshot.call("write_file", json!({"path": path, "content": "x"})).await;
        }
    }
}
