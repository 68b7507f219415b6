//! Listing and reading.

use std::fs;

use planwright_agent::toolbox::files::FileLimits;
use planwright_core::refusal::RefusalCode;
use serde_json::json;

use super::{Snapshot, listed};

#[tokio::test]
async fn reading_makes_no_folders() {
    let snapshot = Snapshot::new();
    assert_eq!(snapshot.call("list_files", json!({})).await, json!({"path": "", "entries": []}));
    assert_eq!(snapshot.call("glob_files", json!({"pattern": "**"})).await, json!({"paths": []}));
    let nothing = json!({"matches": [], "files_searched": 0});
    assert_eq!(snapshot.call("grep_files", json!({"pattern": "."})).await, nothing);
    assert_eq!(snapshot.refused("list_files", json!({"path": "notes"})).await, RefusalCode::NotFound);
    assert_eq!(snapshot.refused("grep_files", json!({"pattern": ".", "path": "notes"})).await, RefusalCode::NotFound);
    assert_eq!(snapshot.refused("read_file", json!({"path": "a.md"})).await, RefusalCode::NotFound);
    snapshot.files.remove_all(&snapshot.session).await.unwrap();
    assert!(!snapshot.folder.path().join("data").exists());
}

#[tokio::test]
async fn a_folder_is_listed_in_order() {
    let snapshot = Snapshot::begun();
    for path in ["b.md", "a/deep.md", "a-b.md", "ü.md", "C.md"] {
        snapshot.put(path, "text");
    }
    let answer = snapshot.call("list_files", json!({})).await;
    assert_eq!(listed(&answer), ["C.md", "a", "a-b.md", "b.md", "ü.md"]);
    assert_eq!(answer["entries"][0], json!({"path": "C.md", "kind": "file", "bytes": 4}));
    assert_eq!(answer["entries"][1], json!({"path": "a", "kind": "folder"}));
    assert_eq!(listed(&snapshot.call("list_files", json!({"path": "./a/"})).await), ["a/deep.md"]);
    assert_eq!(snapshot.refused("list_files", json!({"path": "b.md"})).await, RefusalCode::InvalidArgument);
    assert_eq!(snapshot.refused("list_files", json!({"path": "b.md/x"})).await, RefusalCode::InvalidArgument);
}

#[tokio::test]
async fn a_large_folder_is_listed_page_by_page() {
    let snapshot = Snapshot::with(FileLimits { listed: 7, ..FileLimits::default() });
    for number in 0..20 {
        snapshot.put(&format!("notes/{number:02}.md"), "");
    }
    for (tool, first) in [("list_files", json!({"path": "notes"})), ("glob_files", json!({"pattern": "notes/*.md"}))] {
        let (mut arguments, mut seen, mut pages) = (first, Vec::new(), 0);
        loop {
            let answer = snapshot.call(tool, arguments.clone()).await;
            pages += 1;
            let page = if tool == "list_files" { listed(&answer) } else { super::globbed(&answer) };
            assert!(page.len() <= 7);
            seen.extend(page.into_iter().map(str::to_owned));
            if answer.get("truncated").is_none() {
                break;
            }
            arguments["after"] = answer["after"].clone();
        }
        assert_eq!(pages, 3);
        assert_eq!(seen, (0..20).map(|number| format!("notes/{number:02}.md")).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn names_no_path_can_say_are_counted() {
    use std::os::unix::ffi::OsStrExt as _;
    let snapshot = Snapshot::begun();
    for name in [&b"\xff\xfe"[..], b"back\\slash", b"new\nline"] {
        fs::write(snapshot.inside().join(std::ffi::OsStr::from_bytes(name)), "needle").unwrap();
    }
    let answer = snapshot.call("list_files", json!({})).await;
    assert_eq!(answer, json!({"path": "", "entries": [], "unnamed": 3}));
    let found = snapshot.call("grep_files", json!({"pattern": "needle"})).await;
    assert_eq!(found, json!({"matches": [], "files_searched": 0, "not_readable": 3}));
}

#[tokio::test]
async fn a_file_is_read_as_it_is() {
    let snapshot = Snapshot::begun();
    let text = "\u{feff}one\r\ntwo\n\n  four\u{2028}still four";
    snapshot.put("a.md", text);
    let answer = snapshot.call("read_file", json!({"path": "a.md", "numbers": false})).await;
    let about = json!({"line_ends": "mixed", "byte_order_mark": true, "no_final_newline": true});
    let mut expected = json!({"path": "a.md", "content": text, "first_line": 1, "lines": 4, "bytes": text.len()});
    expected.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
    assert_eq!(answer, expected);
    expected["content"] = "     1\tone\n     2\ttwo\n     3\t\n     4\t  four\u{2028}still four".into();
    assert_eq!(snapshot.call("read_file", json!({"path": "a.md"})).await, expected);
    snapshot.put("empty", "");
    let answer = snapshot.call("read_file", json!({"path": "empty"})).await;
    assert_eq!(answer, json!({"path": "empty", "content": "", "first_line": 1, "lines": 0, "bytes": 0}));
    snapshot.put("folder/a.md", "");
    assert_eq!(snapshot.refused("read_file", json!({"path": "folder"})).await, RefusalCode::InvalidArgument);
    assert_eq!(snapshot.refused("read_file", json!({"path": "folder/b.md"})).await, RefusalCode::NotFound);
    assert_eq!(snapshot.refused("read_file", json!({"path": "a.md/b.md"})).await, RefusalCode::InvalidArgument);
}

#[tokio::test]
async fn some_lines_of_a_file_are_read() {
    let snapshot = Snapshot::begun();
    snapshot.put("a.md", "1\n2\n3\n4\n5\n");
    for (offset, limit, content, next) in [
        (1, 2, "1\n2\n", Some(3)),
        (3, 2, "3\n4\n", Some(5)),
        (5, 2, "5\n", None),
        (2, 9, "2\n3\n4\n5\n", None),
        (1, 5, "1\n2\n3\n4\n5\n", None),
    ] {
        let answer = snapshot
            .call("read_file", json!({"path": "a.md", "offset": offset, "limit": limit, "numbers": false}))
            .await;
        assert_eq!(answer["content"], content);
        assert_eq!((&answer["first_line"], &answer["lines"]), (&json!(offset), &json!(5)));
        assert_eq!(answer.get("next_offset"), next.map(|next: u64| json!(next)).as_ref());
        assert_eq!(answer.get("truncated").is_some(), next.is_some());
    }
    assert_eq!(snapshot.refused("read_file", json!({"path": "a.md", "offset": 6})).await, RefusalCode::InvalidArgument);
}

#[tokio::test]
async fn a_long_file_is_read_page_by_page() {
    let snapshot = Snapshot::with(FileLimits { answer_bytes: 1000, ..FileLimits::default() });
    let text: String = (0..500).map(|number| format!("żółć {number}\n")).collect();
    snapshot.put("a.md", &text);
    let (mut read, mut offset) = (String::new(), 1);
    loop {
        let read_on = json!({"path": "a.md", "offset": offset, "numbers": false});
        let answer = snapshot.call("read_file", read_on).await;
        let content = answer["content"].as_str().unwrap();
        assert!(content.len() <= 1000);
        read.push_str(content);
        match answer.get("next_offset") {
            Some(next) => offset = next.as_u64().unwrap(),
            None => break,
        }
    }
    assert_eq!(read, text);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_cut_between_characters() {
    let snapshot = Snapshot::with(FileLimits { answer_bytes: 1000, ..FileLimits::default() });
    snapshot.put("a.md", format!("{}\nnext", "漢".repeat(100_000)));
    let answer = snapshot.call("read_file", json!({"path": "a.md", "numbers": false})).await;
    assert_eq!(answer["content"], "漢".repeat(333));
    assert!(answer["cut"].is_string());
    assert_eq!(answer["next_offset"], 2);
    assert_eq!(snapshot.call("read_file", json!({"path": "a.md", "offset": 2})).await["content"], "     2\tnext");
}

#[tokio::test]
async fn what_is_not_text_is_not_shown() {
    let snapshot = Snapshot::begun();
    let late = [vec![b'x'; 200_000], vec![0xff, b'\n']].concat();
    for (name, content, why) in [
        ("nul", b"text\0text".to_vec(), "is not text: it has NUL bytes."),
        ("latin", b"one\ncaf\xe9\n".to_vec(), "is not UTF-8 (line 2); it may be text in another encoding."),
        ("late", late, "is not UTF-8 (line 1); it may be text in another encoding."),
        ("utf16", b"\xff\xfet\0\n\0".to_vec(), "is text in UTF-16, and file tools take UTF-8 only."),
    ] {
        snapshot.put(name, &content);
        let answer = snapshot.call("read_file", json!({"path": name})).await;
        let why = format!("`{name}` {why}");
        assert_eq!(answer, json!({"path": name, "bytes": content.len(), "binary": true, "why": why}));
    }
    // Half a character at the end is not text either.
    snapshot.put("half", "漢".as_bytes().split_last().unwrap().1);
    assert_eq!(snapshot.call("read_file", json!({"path": "half"})).await["binary"], true);
}
