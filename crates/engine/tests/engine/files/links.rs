//! Links, pipes, sockets and devices.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use planwright_core::refusal::RefusalCode;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{Desk, SECRET, globbed};

#[tokio::test]
async fn links_that_lead_out_lead_nowhere() {
    let desk = Desk::begun();
    let inside = desk.inside();
    symlink(desk.outside(), inside.join("folder")).unwrap();
    symlink(desk.outside().join("secret.md"), inside.join("file")).unwrap();
    symlink("../../../../outside/secret.md", inside.join("relative")).unwrap();
    symlink("folder/secret.md", inside.join("twice")).unwrap();
    symlink("/proc/self/root", inside.join("magic")).unwrap();
    symlink("../plan", inside.join("plan")).unwrap();
    fs::create_dir(inside.parent().unwrap().join("plan")).unwrap();

    for path in ["folder/secret.md", "file", "relative", "twice", "magic/etc/passwd", "plan/task_plan.md"] {
        for tool in ["read_file", "list_files"] {
            let refusal = desk.try_call(tool, json!({"path": path})).await.unwrap_err();
            assert_eq!(refusal.code, RefusalCode::PolicyDenied, "{tool} {path}: {refusal}");
        }
        let grep = json!({"pattern": "", "path": path});
        assert_eq!(desk.refused("grep_files", grep).await, RefusalCode::PolicyDenied, "{path}");
        let write = json!({"path": path, "content": "overwritten"});
        assert_eq!(desk.refused("write_file", write).await, RefusalCode::PolicyDenied, "{path}");
    }
    for folder in ["folder", "magic", "plan"] {
        assert_eq!(desk.refused("list_files", json!({"path": folder})).await, RefusalCode::PolicyDenied, "{folder}");
        let write = json!({"path": format!("{folder}/deep/new.md"), "content": "x"});
        assert_eq!(desk.refused("write_file", write).await, RefusalCode::PolicyDenied, "{folder}");
    }
    assert!(globbed(&desk.call("glob_files", json!({"pattern": "**"})).await).is_empty());
    assert_eq!(desk.call("grep_files", json!({"pattern": "secret"})).await["matches"], json!([]));
    assert_eq!(desk.call("list_files", json!({})).await["entries"][0], json!({"path": "file", "kind": "link"}));
    assert_eq!(fs::read_dir(inside.parent().unwrap().join("plan")).unwrap().count(), 0);
    desk.check_outside();
}

#[tokio::test]
async fn links_that_stay_inside_are_read_and_not_written() {
    let desk = Desk::new();
    desk.write("notes/deep/a.md", "needle").await;
    symlink("../notes/deep", desk.inside().join("notes/short")).unwrap();
    symlink("notes/deep/a.md", desk.inside().join("a")).unwrap();
    assert_eq!(desk.read("a").await, "needle");
    assert_eq!(desk.read("notes/short/a.md").await, "needle");
    assert_eq!(desk.refused("write_file", json!({"path": "a", "content": "x"})).await, RefusalCode::PolicyDenied);
    desk.write("notes/short/b.md", "beside").await;
    assert_eq!(desk.read("notes/deep/b.md").await, "beside");
    // A walk meets each file once, where it is.
    let found = desk.call("glob_files", json!({"pattern": "*.md"})).await;
    assert_eq!(globbed(&found), ["notes/deep/a.md", "notes/deep/b.md"]);
}

#[tokio::test]
async fn links_that_go_round_or_nowhere_are_refused() {
    let desk = Desk::begun();
    symlink("round", desk.inside().join("round")).unwrap();
    symlink(".", desk.inside().join("self")).unwrap();
    symlink("gone", desk.inside().join("nowhere")).unwrap();
    assert_eq!(desk.refused("read_file", json!({"path": "round"})).await, RefusalCode::PolicyDenied);
    assert_eq!(desk.refused("read_file", json!({"path": "nowhere"})).await, RefusalCode::NotFound);
    for path in ["round", "nowhere", "round/a", "nowhere/a"] {
        desk.try_call("write_file", json!({"path": path, "content": "x"})).await.unwrap_err();
    }
    desk.write("a.md", "text").await;
    assert_eq!(desk.read("self/self/a.md").await, "text");
    assert_eq!(desk.call("glob_files", json!({"pattern": "**/*.md"})).await["paths"], json!(["a.md"]));
}

#[tokio::test]
async fn pipes_sockets_and_devices_are_left_alone_and_nobody_waits() {
    let desk = Desk::begun();
    let inside = desk.inside();
    mknodat(CWD, inside.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _socket = UnixListener::bind(inside.join("socket")).unwrap();
    symlink("pipe", inside.join("to_pipe")).unwrap();
    let mut special = vec!["pipe", "socket", "to_pipe"];
    // Only who may make devices can try one.
    if mknodat(CWD, inside.join("device"), FileType::CharacterDevice, Mode::RUSR, rustix::fs::makedev(1, 5)).is_ok() {
        special.push("device");
    }
    desk.put("text.md", "needle");
    for path in special {
        let read = desk.try_call("read_file", json!({"path": path})).await.unwrap_err();
        assert_eq!(read.code, RefusalCode::PolicyDenied, "{path}: {read}");
        let grep = json!({"pattern": "", "path": path});
        assert_eq!(desk.refused("grep_files", grep).await, RefusalCode::PolicyDenied, "{path}");
        let write = json!({"path": path, "content": "x"});
        assert_eq!(desk.refused("write_file", write).await, RefusalCode::PolicyDenied, "{path}");
        desk.try_call("list_files", json!({"path": path})).await.unwrap_err();
        assert!(fs::symlink_metadata(inside.join(path)).is_ok_and(|metadata| !metadata.is_file()));
    }
    let found = desk.call("grep_files", json!({"pattern": "."})).await;
    assert_eq!(found["matches"], json!([{"path": "text.md", "line": 1, "text": "needle"}]));
}

#[tokio::test]
async fn two_names_of_one_file_are_fine() {
    let desk = Desk::new();
    desk.write("a.md", "one").await;
    fs::hard_link(desk.inside().join("a.md"), desk.inside().join("b.md")).unwrap();
    desk.write("a.md", "two").await;
    assert_eq!(desk.read("b.md").await, "one");
}

#[tokio::test]
async fn a_link_in_the_place_of_the_sessions_folder_is_noticed() {
    for planted in ["session", "files", "files_to_plan"] {
        let desk = Desk::new();
        let files = desk.inside();
        let own = files.parent().unwrap();
        let (place, target) = match planted {
            "session" => (own.to_owned(), desk.outside()),
            "files" => (files.clone(), desk.outside()),
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
            let refusal = desk.try_call(tool, arguments).await.unwrap_err();
            assert_eq!(refusal.code, RefusalCode::PolicyDenied, "{planted} {tool}: {refusal}");
        }
        assert_eq!(fs::read_dir(target.join("files")).unwrap().count(), 0);
        desk.files.remove_all(&desk.session).await.unwrap();
        assert!(!place.is_symlink());
        assert_eq!(fs::read_to_string(desk.outside().join("secret.md")).unwrap(), SECRET);
    }
}
