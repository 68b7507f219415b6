//! Calls as people read them before they run.

use planwright_core::call_text::call_blocks;
use serde_json::{Value, json};

fn text(tool: &str, arguments: &Value) -> String {
    call_blocks(tool, arguments).iter().map(|block| block.markdown("")).collect()
}

#[test]
fn a_command_is_a_command_and_a_write_and_an_edit_are_diffs() {
    let command = json!({ "command": "echo \"a\"\nls", "timeout_seconds": 5 });
    assert_eq!(
        text("run_command", &command),
        "```sh\necho \"a\"\nls\n```\n```json\n{\n  \"timeout_seconds\": 5\n}\n```\n"
    );
    let write = json!({ "path": "a.md", "content": "# A\n\n```\nb\n```\n" });
    assert_eq!(text("write_file", &write), "````diff\n+++ a.md\n+# A\n+\n+```\n+b\n+```\n````\n");
    let edit = json!({ "path": "a.py", "edits": [{ "old": "'x'", "new": "\"y\"" }, { "old": "a\n", "new": "", "all": true }] });
    assert_eq!(
        text("edit_file", &edit),
        "```diff\n--- a.py\n+++ a.py\n@@ once @@\n-'x'\n+\"y\"\n@@ everywhere @@\n-a\n-\n+\n```\n"
    );
    assert_eq!(text("send", &json!({ "to": "ada" })), "```json\n{\n  \"to\": \"ada\"\n}\n```\n");
}

/// A person approves what they read, so no two calls read the same.
#[test]
fn different_arguments_have_different_texts() {
    let calls = [
        ("write_file", json!({ "path": "a", "content": "b" })),
        ("write_file", json!({ "path": "a", "content": "b\n" })),
        ("write_file", json!({ "path": "a", "content": "b\n\\ No newline at the end of the file" })),
        ("write_file", json!({ "path": "a", "content": "" })),
        ("write_file", json!({ "path": "a", "content": "\n" })),
        ("write_file", json!({ "path": "a\n+b", "content": "" })),
        ("write_file", json!({ "path": "a", "content": "b", "mode": 7 })),
        ("write_file", json!({ "path": "a", "content": 1 })),
        ("edit_file", json!({ "path": "a", "edits": [] })),
        ("edit_file", json!({ "path": "a", "edits": [{ "old": "b", "new": "c" }] })),
        ("edit_file", json!({ "path": "a", "edits": [{ "old": "b", "new": "c", "all": true }] })),
        ("edit_file", json!({ "path": "a", "edits": [{ "old": "b", "new": "c", "more": true }] })),
        ("edit_file", json!({ "path": "a", "edits": [{ "old": "b", "new": "c\n@@ once @@" }] })),
        ("run_command", json!({ "command": "a" })),
        ("run_command", json!({ "command": "a", "background": true })),
        ("run_command", json!("a")),
    ];
    let texts: std::collections::BTreeSet<_> = calls.iter().map(|(tool, arguments)| text(tool, arguments)).collect();
    assert_eq!(texts.len(), calls.len(), "{texts:#?}");
}
