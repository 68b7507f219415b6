//! Project folders: which are taken, and what is reached through them.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use planwright_agent::toolbox::files::{FileLimits, FileTools};
use planwright_agent::toolbox::{ToolContext, Toolbox};
use planwright_core::refusal::RefusalCode;
use planwright_core::workspace::Workspace;
use planwright_test_support::prerequisites::{Prerequisite, skip};
use serde_json::json;

use super::{Snapshot, globbed, listed};

fn refused(files: &FileTools, path: &Path) -> (RefusalCode, String) {
    let refusal = files.project(path).unwrap_err();
    (refusal.code, refusal.message)
}

#[test]
fn a_project_is_a_folder_that_exists() {
    let snapshot = Snapshot::new();
    let root = fs::canonicalize(snapshot.folder.path()).unwrap();
    fs::create_dir_all(root.join("code/till")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    symlink("code/till", root.join("link")).unwrap();
    symlink("file", root.join("to_file")).unwrap();
    symlink("round", root.join("round")).unwrap();
    let expected = Workspace::Project { path: root.join("code/till").to_str().unwrap().to_owned() };
    for path in ["code/till", "code/../code/./till/", "link"] {
        assert_eq!(snapshot.files.project(&root.join(path)).unwrap(), expected, "{path}");
    }
    for (path, code) in [
        (root.join("none"), RefusalCode::NotFound),
        (root.join("file"), RefusalCode::InvalidArgument),
        (root.join("file/x"), RefusalCode::InvalidArgument),
        (root.join("to_file"), RefusalCode::InvalidArgument),
        (root.join("round"), RefusalCode::Unavailable),
        ("code/till".into(), RefusalCode::InvalidArgument),
        ("/".into(), RefusalCode::PolicyDenied),
        ("/proc/self/root".into(), RefusalCode::PolicyDenied),
        ("/tmp/..".into(), RefusalCode::PolicyDenied),
    ] {
        let (refused, message) = refused(&snapshot.files, &path);
        assert_eq!(refused, code, "{}: {message}", path.display());
    }
}

#[test]
fn planwrights_own_data_is_never_a_project() {
    let snapshot = Snapshot::new();
    let data = snapshot.folder.path().join("data");
    // Also before it exists.
    assert_eq!(refused(&snapshot.files, snapshot.folder.path()).0, RefusalCode::PolicyDenied);
    fs::create_dir_all(data.join("users/web-other/files")).unwrap();
    fs::create_dir_all(data.join("backups")).unwrap();
    symlink(&data, snapshot.folder.path().join("innocent")).unwrap();
    for path in ["", "data", "data/users", "data/users/web-other/files", "data/backups", "innocent", "innocent/users"] {
        let (code, message) = refused(&snapshot.files, &snapshot.folder.path().join(path));
        assert_eq!(code, RefusalCode::PolicyDenied, "{path:?}: {message}");
        assert!(message.contains("Planwright's own data"), "{message}");
    }
}

#[test]
fn a_server_takes_only_what_is_below_its_list() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    for path in ["projects/till", "projects-old/till", "elsewhere"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    symlink(root.join("elsewhere"), root.join("projects/out")).unwrap();
    symlink(root.join("projects"), root.join("alias")).unwrap();
    let server = |allow: &[&str]| {
        let allow = allow.iter().map(|path| root.join(path)).collect();
        FileTools::with_allowed_projects(root.join("data/users"), FileLimits::default(), allow)
    };
    for allow in [&["projects"][..], &["none", "alias"]] {
        let files = server(allow);
        for path in ["projects", "projects/till", "alias/till"] {
            files.project(&root.join(path)).unwrap();
        }
        for path in ["projects/out", "projects-old/till", "elsewhere", "projects/../elsewhere"] {
            let (code, message) = refused(&files, &root.join(path));
            assert_eq!(code, RefusalCode::PolicyDenied, "{path}: {message}");
            assert!(message.contains("projects.allow"), "{message}");
        }
    }
    assert_eq!(refused(&server(&[]), &root.join("projects/till")).0, RefusalCode::PolicyDenied);
}

/// A list that became shorter since the project was chosen counts too.
#[tokio::test]
async fn a_recorded_project_is_checked_again() {
    let snapshot = Snapshot::in_project();
    let narrowed =
        FileTools::with_allowed_projects(snapshot.folder.path().join("data/users"), FileLimits::default(), vec![]);
    let toolbox = Toolbox::new(narrowed.tools());
    let context = ToolContext::without_lease(&snapshot.session).in_workspace(&snapshot.workspace);
    let listed = toolbox.get("list_files").unwrap().call(context, serde_json::Map::new()).await;
    assert_eq!(listed.unwrap_err().code, RefusalCode::PolicyDenied);
    for path in ["/", "/proc/self/root", "relative"] {
        let workspace = Workspace::Project { path: path.to_owned() };
        let context = ToolContext::without_lease(&snapshot.session).in_workspace(&workspace);
        snapshot.tool("list_files").call(context, serde_json::Map::new()).await.unwrap_err();
    }
}

#[tokio::test]
async fn a_project_that_is_removed_or_replaced_has_its_own_words() {
    let calls = || {
        [
            ("list_files", json!({})),
            ("read_file", json!({"path": "a"})),
            ("grep_files", json!({"pattern": "."})),
            ("write_file", json!({"path": "a", "content": "new"})),
            ("edit_file", json!({"path": "a", "edits": [{"old": "a", "new": "b"}]})),
            ("delete_file", json!({"path": "a"})),
        ]
    };
    let snapshot = Snapshot::in_project();
    snapshot.put("a", "a");
    let moved = snapshot.folder.path().join("moved");
    fs::rename(snapshot.inside(), &moved).unwrap();
    for (tool, arguments) in calls() {
        let refusal = snapshot.try_call(tool, arguments).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::NotFound, "{tool}");
        assert!(refusal.message.contains("was removed. Choose another workspace."), "{refusal}");
    }
    symlink(snapshot.outside(), snapshot.inside()).unwrap();
    for (tool, arguments) in calls() {
        let refusal = snapshot.try_call(tool, arguments).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::Conflict, "{tool}");
        assert!(refusal.message.contains("stands in the place of the project folder"), "{refusal}");
    }
    fs::remove_file(snapshot.inside()).unwrap();
    fs::write(snapshot.inside(), "a file").unwrap();
    for (tool, arguments) in calls() {
        let refusal = snapshot.try_call(tool, arguments).await.unwrap_err();
        assert!(refusal.message.contains("is not a folder"), "{tool}: {refusal}");
    }
    assert_eq!(fs::read(moved.join("a")).unwrap(), b"a");
    snapshot.check_outside();
}

#[tokio::test]
async fn nothing_of_planwright_stays_in_a_project() {
    let snapshot = Snapshot::in_project();
    snapshot.write("new/file.txt", "text").await;
    snapshot.write("new/file.txt", "other").await;
    snapshot.edit("new/file.txt", "other", "another").await.unwrap();
    snapshot.call("move_file", json!({"path": "new/file.txt", "to": "b.txt"})).await;
    let found = snapshot.call("glob_files", json!({"pattern": "**", "hidden": true, "no_ignore": true})).await;
    assert_eq!(globbed(&found), ["b.txt"]);
    assert_eq!(listed(&snapshot.call("list_files", json!({"hidden": true})).await), ["b.txt", "new"]);
    // As any program of the person makes them.
    let umask_mode = |path: &str| fs::metadata(snapshot.inside().join(path)).unwrap().permissions().mode() & 0o777;
    fs::create_dir(snapshot.inside().join("made")).unwrap();
    fs::write(snapshot.inside().join("made.txt"), "").unwrap();
    assert_eq!((umask_mode("new"), umask_mode("b.txt")), (umask_mode("made"), umask_mode("made.txt")));
    // Nor is a session's own folder of files made.
    assert!(!snapshot.files.folder(&snapshot.session).exists());
}

#[tokio::test]
async fn what_a_crash_left_in_a_project_is_cleared_away() {
    let snapshot = Snapshot::in_project();
    let left = ".planwright-018f0000-0000-7000-8000-000000000001";
    for name in [left, ".planwright-notes", "018f0000-0000-7000-8000-000000000001"] {
        snapshot.put(name, "half");
        let yesterday = std::time::SystemTime::now() - std::time::Duration::from_secs(86_400);
        let file = fs::File::options().write(true).open(snapshot.inside().join(name)).unwrap();
        file.set_modified(yesterday).unwrap();
    }
    snapshot.write("a", "text").await;
    assert!(!snapshot.inside().join(left).exists());
    assert_eq!(fs::read_dir(snapshot.inside()).unwrap().count(), 3, "files of the person stay");
}

#[tokio::test]
async fn a_full_disk_leaves_everything_as_it_was() {
    let mut snapshot = Snapshot::new();
    let project = snapshot.folder.path().join("small");
    fs::create_dir(&project).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k,nr_inodes=64", "tmpfs"])
        .arg(&project)
        .output()
        .is_ok_and(|output| output.status.success());
    if !mounted {
        return skip(Prerequisite::Root, "a small disk cannot be mounted");
    }
    snapshot.workspace = snapshot.files.project(&project).unwrap();
    snapshot.put("a", "a\n".repeat(10_000));
    let before = snapshot.on_disk("a");
    let larger = "b\n".repeat(30_000);
    let results = [
        snapshot.try_call("write_file", json!({"path": "a", "content": larger})).await,
        snapshot.try_call("write_file", json!({"path": "new", "content": larger})).await,
        snapshot
            .try_call("edit_file", json!({"path": "a", "edits": [{"old": "a\n", "new": "bbbbbb\n", "all": true}]}))
            .await,
    ];
    let after = snapshot.on_disk("a");
    let left = fs::read_dir(&project).unwrap().count();
    assert!(Command::new("umount").arg(&project).status().unwrap().success());
    for result in results {
        let refusal = result.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::Unavailable);
        assert!(refusal.message.contains("no room left on the disk"), "{refusal}");
    }
    assert_eq!((after == before, left), (true, 1));
}
