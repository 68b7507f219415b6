//! Links, pipes, sockets and devices.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use planwright_core::refusal::RefusalCode;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{SECRET, Snapshot, globbed};

#[tokio::test]
async fn links_that_lead_out_lead_nowhere() {
    for snapshot in Snapshot::both() {
        let inside = snapshot.inside();
        symlink(snapshot.outside(), inside.join("folder")).unwrap();
        symlink(snapshot.outside().join("secret.md"), inside.join("file")).unwrap();
        symlink("../../../../outside/secret.md", inside.join("relative")).unwrap();
        symlink("folder/secret.md", inside.join("twice")).unwrap();
        symlink("/proc/self/root", inside.join("magic")).unwrap();
        symlink("../plan", inside.join("plan")).unwrap();
        fs::create_dir(inside.parent().unwrap().join("plan")).unwrap();

        for path in ["folder/secret.md", "file", "relative", "twice", "magic/etc/passwd", "plan/task_plan.md"] {
            for tool in ["read_file", "list_files"] {
                let refusal = snapshot.try_call(tool, json!({"path": path})).await.unwrap_err();
                assert_eq!(refusal.code, RefusalCode::PolicyDenied, "{tool} {path}: {refusal}");
            }
            let grep = json!({"pattern": "", "path": path});
            assert_eq!(snapshot.refused("grep_files", grep).await, RefusalCode::PolicyDenied, "{path}");
            let write = json!({"path": path, "content": "overwritten"});
            assert_eq!(snapshot.refused("write_file", write).await, RefusalCode::PolicyDenied, "{path}");
            let edit = json!({"path": path, "edits": [{"old": "the", "new": "b"}]});
            assert_eq!(snapshot.refused("edit_file", edit).await, RefusalCode::PolicyDenied, "{path}");
            let delete = json!({"path": path});
            assert_eq!(snapshot.refused("delete_file", delete).await, RefusalCode::PolicyDenied, "{path}");
            let away = json!({"path": path, "to": "elsewhere"});
            assert_eq!(snapshot.refused("move_file", away).await, RefusalCode::PolicyDenied, "{path}");
        }
        for folder in ["folder", "magic", "plan"] {
            assert_eq!(
                snapshot.refused("list_files", json!({"path": folder})).await,
                RefusalCode::PolicyDenied,
                "{folder}"
            );
            let write = json!({"path": format!("{folder}/deep/new.md"), "content": "x"});
            assert_eq!(snapshot.refused("write_file", write).await, RefusalCode::PolicyDenied, "{folder}");
        }
        assert!(globbed(&snapshot.call("glob_files", json!({"pattern": "**"})).await).is_empty());
        assert_eq!(snapshot.call("grep_files", json!({"pattern": "secret"})).await["matches"], json!([]));
        assert_eq!(snapshot.call("list_files", json!({})).await["entries"][0], json!({"path": "file", "kind": "link"}));
        assert_eq!(fs::read_dir(inside.parent().unwrap().join("plan")).unwrap().count(), 0);
        snapshot.check_outside();
    }
}

#[tokio::test]
async fn links_that_stay_inside_are_read_and_not_written() {
    let snapshot = Snapshot::new();
    snapshot.write("notes/deep/a.md", "needle").await;
    symlink("../notes/deep", snapshot.inside().join("notes/short")).unwrap();
    symlink("notes/deep/a.md", snapshot.inside().join("a")).unwrap();
    assert_eq!(snapshot.read("a").await, "needle");
    assert_eq!(snapshot.read("notes/short/a.md").await, "needle");
    assert_eq!(snapshot.refused("write_file", json!({"path": "a", "content": "x"})).await, RefusalCode::PolicyDenied);
    snapshot.write("notes/short/b.md", "beside").await;
    assert_eq!(snapshot.read("notes/deep/b.md").await, "beside");
    // A walk meets each file once, where it is.
    let found = snapshot.call("glob_files", json!({"pattern": "*.md"})).await;
    assert_eq!(globbed(&found), ["notes/deep/a.md", "notes/deep/b.md"]);
}

#[tokio::test]
async fn links_that_go_round_or_nowhere_are_refused() {
    let snapshot = Snapshot::begun();
    symlink("round", snapshot.inside().join("round")).unwrap();
    symlink(".", snapshot.inside().join("self")).unwrap();
    symlink("gone", snapshot.inside().join("nowhere")).unwrap();
    assert_eq!(snapshot.refused("read_file", json!({"path": "round"})).await, RefusalCode::PolicyDenied);
    assert_eq!(snapshot.refused("read_file", json!({"path": "nowhere"})).await, RefusalCode::NotFound);
    for path in ["round", "nowhere", "round/a", "nowhere/a"] {
        snapshot.try_call("write_file", json!({"path": path, "content": "x"})).await.unwrap_err();
    }
    snapshot.write("a.md", "text").await;
    assert_eq!(snapshot.read("self/self/a.md").await, "text");
    assert_eq!(snapshot.call("glob_files", json!({"pattern": "**/*.md"})).await["paths"], json!(["a.md"]));
}

#[tokio::test]
async fn pipes_sockets_and_devices_are_left_alone_without_blocking() {
    for snapshot in Snapshot::both() {
        let inside = snapshot.inside();
        mknodat(CWD, inside.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = UnixListener::bind(inside.join("socket")).unwrap();
        symlink("pipe", inside.join("to_pipe")).unwrap();
        let mut special = vec!["pipe", "socket", "to_pipe"];
        // Only who may make devices can try one.
        if mknodat(CWD, inside.join("device"), FileType::CharacterDevice, Mode::RUSR, rustix::fs::makedev(1, 5)).is_ok()
        {
            special.push("device");
        }
        snapshot.put("text.md", "needle");
        for path in special {
            let read = snapshot.try_call("read_file", json!({"path": path})).await.unwrap_err();
            assert_eq!(read.code, RefusalCode::PolicyDenied, "{path}: {read}");
            let grep = json!({"pattern": "", "path": path});
            assert_eq!(snapshot.refused("grep_files", grep).await, RefusalCode::PolicyDenied, "{path}");
            let write = json!({"path": path, "content": "x"});
            assert_eq!(snapshot.refused("write_file", write).await, RefusalCode::PolicyDenied, "{path}");
            let edit = json!({"path": path, "edits": [{"old": "a", "new": "b"}]});
            assert_eq!(snapshot.refused("edit_file", edit).await, RefusalCode::PolicyDenied, "{path}");
            let delete = json!({"path": path});
            assert_eq!(snapshot.refused("delete_file", delete).await, RefusalCode::PolicyDenied, "{path}");
            let away = json!({"path": path, "to": "elsewhere"});
            assert_eq!(snapshot.refused("move_file", away).await, RefusalCode::PolicyDenied, "{path}");
            let onto = json!({"path": "text.md", "to": path});
            assert_eq!(snapshot.refused("move_file", onto).await, RefusalCode::Conflict, "{path}");
            snapshot.try_call("list_files", json!({"path": path})).await.unwrap_err();
            assert!(fs::symlink_metadata(inside.join(path)).is_ok_and(|metadata| !metadata.is_file()));
        }
        let found = snapshot.call("grep_files", json!({"pattern": "."})).await;
        assert_eq!(found["matches"], json!([{"path": "text.md", "line": 1, "text": "needle"}]));
    }
}

#[tokio::test]
async fn two_names_of_one_file_are_fine() {
    let snapshot = Snapshot::new();
    snapshot.write("a.md", "one").await;
    fs::hard_link(snapshot.inside().join("a.md"), snapshot.inside().join("b.md")).unwrap();
    snapshot.write("a.md", "two").await;
    assert_eq!(snapshot.read("b.md").await, "one");
}

#[tokio::test]
async fn a_link_in_the_place_of_the_sessions_folder_is_noticed() {
    for planted in ["session", "files", "files_to_plan"] {
        let snapshot = Snapshot::new();
        let files = snapshot.inside();
        let own = files.parent().unwrap();
        let (place, target) = match planted {
            "session" => (own.to_owned(), snapshot.outside()),
            "files" => (files.clone(), snapshot.outside()),
            _ => (files.clone(), own.join("plan")),
        };
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::create_dir_all(&target).unwrap();
        fs::create_dir_all(target.join("files")).unwrap();
        symlink(&target, &place).unwrap();
        for (tool, arguments) in [
            ("list_files", json!({})),
            ("glob_files", json!({"pattern": "*"})),
            ("grep_files", json!({"pattern": "secret"})),
            ("read_file", json!({"path": "secret.md"})),
            ("write_file", json!({"path": "new.md", "content": "x"})),
        ] {
            let refusal = snapshot.try_call(tool, arguments).await.unwrap_err();
            assert_eq!(refusal.code, RefusalCode::PolicyDenied, "{planted} {tool}: {refusal}");
        }
        assert_eq!(fs::read_dir(target.join("files")).unwrap().count(), 0);
        snapshot.files.remove_all(&snapshot.session).await.unwrap();
        assert!(!place.is_symlink());
        assert_eq!(fs::read_to_string(snapshot.outside().join("secret.md")).unwrap(), SECRET);
    }
}
