//! Moving and deleting.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use planwright_agent::toolbox::files::FileLimits;
use planwright_core::refusal::RefusalCode;
use serde_json::json;

use super::Snapshot;

#[tokio::test]
async fn a_file_is_moved_with_its_permissions() {
    for snapshot in Snapshot::both() {
        snapshot.put("run.sh", b"echo \xff");
        fs::set_permissions(snapshot.inside().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        let answer = snapshot.answer("move_file", json!({"path": "run.sh", "to": "bin/deep/run"})).await.unwrap();
        assert_eq!(answer.value, json!({"path": "run.sh", "to": "bin/deep/run", "bytes": 6}));
        let [from, to] = &answer.changes[..] else { panic!("{:?}", answer.changes) };
        assert_eq!((&from.path[..], from.after, from.before.is_some()), ("run.sh", None, true));
        assert_eq!((&to.path[..], to.before, to.after), ("bin/deep/run", None, from.before));
        assert!(!snapshot.inside().join("run.sh").exists());
        let moved = fs::metadata(snapshot.inside().join("bin/deep/run")).unwrap();
        assert_eq!(moved.permissions().mode() & 0o777, 0o755);
    }
}

#[tokio::test]
async fn nothing_is_overwritten_and_nothing_is_guessed() {
    for snapshot in Snapshot::both() {
        snapshot.put("a", "a");
        snapshot.put("b", "b");
        snapshot.put("folder/c", "c");
        for (path, to, code) in [
            ("a", "b", RefusalCode::Conflict),
            ("a", "folder", RefusalCode::Conflict),
            ("a", "b/x", RefusalCode::InvalidArgument),
            ("folder", "other", RefusalCode::InvalidArgument),
            ("none", "x", RefusalCode::NotFound),
        ] {
            let refusal = snapshot.answer("move_file", json!({"path": path, "to": to})).await.unwrap_err();
            assert_eq!(refusal.code, code, "{path} {to}: {refusal}");
        }
        for (path, code) in [("folder", RefusalCode::InvalidArgument), ("none", RefusalCode::NotFound)] {
            assert_eq!(snapshot.refused("delete_file", json!({"path": path})).await, code);
        }
        assert_eq!((snapshot.on_disk("a"), snapshot.on_disk("b")), (b"a".to_vec(), b"b".to_vec()));
        assert_eq!(snapshot.on_disk("folder/c"), b"c");
    }
}

#[tokio::test]
async fn a_deleted_file_is_gone_and_kept() {
    for snapshot in Snapshot::both() {
        snapshot.put("a", "");
        let answer = snapshot.answer("delete_file", json!({"path": "a"})).await.unwrap();
        assert_eq!(answer.value, json!({"path": "a", "bytes": 0, "deleted": true}));
        assert!(!snapshot.inside().join("a").exists());
        let report = snapshot.files.undo(snapshot.context(), &answer.changes).await.unwrap();
        assert_eq!(report.not_undone, []);
        assert_eq!(snapshot.on_disk("a"), b"");
    }
}

#[tokio::test]
async fn what_cannot_be_kept_is_not_changed() {
    let snapshot = Snapshot::in_project_with(FileLimits { kept_file_bytes: 10, ..FileLimits::default() });
    snapshot.put("large", "x".repeat(11));
    for (tool, arguments) in [
        ("delete_file", json!({"path": "large"})),
        ("move_file", json!({"path": "large", "to": "b"})),
        ("write_file", json!({"path": "large", "content": "y"})),
        ("edit_file", json!({"path": "large", "edits": [{"old": "x", "new": "y", "all": true}]})),
    ] {
        let refusal = snapshot.try_call(tool, arguments).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::LimitExceeded);
        assert!(refusal.message.contains("cannot be kept as it was"), "{refusal}");
    }
    assert_eq!(snapshot.on_disk("large"), b"xxxxxxxxxxx");
}

#[tokio::test]
async fn folders_on_the_way_count_for_the_quota_of_the_own_folder_only() {
    let limits = FileLimits { session_entries: 2, session_bytes: 10, ..FileLimits::default() };
    let own = Snapshot::with(limits.clone());
    own.put("a", "1234567890");
    assert_eq!(own.refused("move_file", json!({"path": "a", "to": "x/y/a"})).await, RefusalCode::LimitExceeded);
    assert!(!own.inside().join("x").exists());
    own.call("move_file", json!({"path": "a", "to": "x/a"})).await;
    let grow = json!({"path": "x/a", "edits": [{"old": "1", "new": "one"}]});
    assert_eq!(own.refused("edit_file", grow).await, RefusalCode::LimitExceeded);
    let project = Snapshot::in_project_with(limits);
    project.put("a", "1234567890");
    project.call("move_file", json!({"path": "a", "to": "x/y/z/a"})).await;
    project.write("x/b", "more than ten bytes").await;
}
