//! The files of a session's workspace, and files that a person sends to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Request};
use planwright_core::permission::PermissionRules;
use planwright_engine::permission_rules::FixedRules;
use planwright_llm::scripted::ScriptedModel;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::world::{OTHER, Received, SESSION, World};

const KEY: &str = "project-session";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0";

fn project() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, content) in [
        ("README.md", b"# Till\n".as_slice()),
        ("src/main.rs", b"fn main() {}\n"),
        ("src/map.rs", b""),
        ("src/bin/till.rs", b""),
        ("secret/key.txt", b"hush"),
        ("target/out.o", b"\0\0"),
        (".gitignore", b"target\n"),
        (".git/config", b""),
        ("logo.png", PNG),
        ("page.html", b"<script>alert(1)</script>"),
        ("data.bin", b"\xff\0\xfe\x01"),
    ] {
        write(folder.path(), path, content);
    }
    folder
}

fn write(folder: &Path, path: &str, content: &[u8]) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// A session in the project, with a rule that keeps the agent from what is secret.
async fn in_project(project: &Path) -> World {
    let rule = |tool: &str, path: &str| json!({ "tool": tool, "match": path, "decide": "deny" });
    let tools = ["glob_files", "read_file"].into_iter();
    let rules = tools.flat_map(|tool| ["secret", "secret/**"].map(|path| rule(tool, path)));
    let rules = PermissionRules::new(rules.map(|rule| serde_json::from_value(rule).unwrap()).collect()).unwrap();
    let world = World::set_up(ScriptedModel::new([]), |setup| {
        setup.options.permissions = Arc::new(FixedRules::new(rules));
    })
    .await;
    world.post("/api/sessions", json!({ "sessionId": KEY, "workspace": project })).await.with(201);
    world
}

fn paths(answer: &Value) -> Vec<&str> {
    answer["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn files_are_listed_folder_by_folder_without_what_is_ignored_or_denied() {
    let project = project();
    let world = in_project(project.path()).await;
    let list = async |query: &str| world.get(&format!("/api/sessions/{KEY}/files?{query}")).await.with(200);

    let all = list("").await;
    assert_eq!(paths(&all), [".gitignore", "README.md", "data.bin", "logo.png", "page.html", "src"]);
    assert_eq!(all["files"][1], json!({ "path": "README.md", "bytes": 7, "directory": false }));
    assert_eq!(all["files"][5], json!({ "path": "src", "bytes": null, "directory": true }));
    assert_eq!(all["truncated"], false);
    for (prefix, found) in [
        ("src/", &["src/bin", "src/main.rs", "src/map.rs"][..]),
        ("src/ma", &["src/main.rs", "src/map.rs"]),
        ("src/bin/", &["src/bin/till.rs"]),
        ("RE", &["README.md"]),
        ("re", &[]),
        ("secret/", &[]),
        ("sec", &[]),
        ("target/", &[]),
        (".git/", &[]),
        ("nothing/here", &[]),
        ("../", &[]),
        ("/etc/", &[]),
        ("src/../", &[]),
        ("a%00b/", &[]),
    ] {
        assert_eq!(paths(&list(&format!("prefix={prefix}")).await), found, "{prefix}");
    }
    let some = list("limit=2").await;
    assert_eq!((paths(&some), &some["truncated"]), (vec![".gitignore", "README.md"], &json!(true)));

    let path = format!("/api/sessions/{KEY}/files");
    world.get(&format!("{path}?limit=0")).await.refused(400, "INVALID_ARGUMENT");
    world.get(&format!("{path}?prefix={}", "x".repeat(1025))).await.refused(400, "INVALID_ARGUMENT");
    world.get(&format!("{path}?channel=cli")).await.refused(404, "NOT_FOUND");
    world.get("/api/sessions/no-such-session/files").await.refused(404, "NOT_FOUND");
    // Another session has a folder of its own, which is empty.
    assert_eq!(world.get(&format!("/api/sessions/{OTHER}/files")).await.with(200)["files"], json!([]));
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_leads_neither_out_of_the_workspace_nor_to_what_is_denied() {
    let (project, outside) = (project(), TempDir::new().unwrap());
    write(outside.path(), "passwords", b"hush");
    for (to, link) in [
        (outside.path().join("passwords"), "out"),
        (outside.path().to_owned(), "outside"),
        (PathBuf::from("secret/key.txt"), "key"),
        (PathBuf::from("secret"), "hidden"),
        (PathBuf::from("README.md"), "again"),
    ] {
        std::os::unix::fs::symlink(to, project.path().join(link)).unwrap();
    }
    let world = in_project(project.path()).await;
    let list = async |query: &str| world.get(&format!("/api/sessions/{KEY}/files?{query}")).await.with(200);
    let all = list("").await;
    assert!(!paths(&all).contains(&"out") && !paths(&all).contains(&"outside"), "{all}");
    assert_eq!(list("prefix=again").await["files"][0]["bytes"], 7);
    for prefix in ["outside/", "hidden/"] {
        assert_eq!(paths(&list(&format!("prefix={prefix}")).await), Vec::<&str>::new(), "{prefix}");
    }
    let content = async |path: &str| world.get(&format!("/api/sessions/{KEY}/files/content?path={path}")).await;
    assert_eq!(content("again").await.text, "# Till\n");
    for path in ["key", "hidden/key.txt"] {
        content(path).await.refused(404, "NOT_FOUND");
    }
    for path in ["out", "outside/passwords"] {
        content(path).await.refused(403, "POLICY_DENIED");
    }
}

async fn fetched(world: &World, path: &str) -> (HeaderMap, Vec<u8>) {
    let path = format!("/api/sessions/{KEY}/files/content?path={path}");
    let response = world.send(Request::get(path).body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), 200, "{response:?}");
    let headers = response.headers().clone();
    (headers, axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec())
}

#[tokio::test]
async fn a_file_is_sent_as_it_is_and_does_nothing_in_a_browser() {
    let project = project();
    write(project.path(), "photo", b"\xff\xd8\xff\xe0rest");
    write(project.path(), "moving.txt", b"GIF89a....");
    write(project.path(), "new.webp", b"RIFF....WEBPVP8 ");
    write(project.path(), "picture.svg", b"<svg onload='alert(1)'/>");
    let world = in_project(project.path()).await;
    for (path, kind, opens) in [
        ("README.md", "text/plain; charset=utf-8", "inline"),
        ("page.html", "text/plain; charset=utf-8", "inline"),
        ("picture.svg", "text/plain; charset=utf-8", "inline"),
        ("src/map.rs", "text/plain; charset=utf-8", "inline"),
        ("logo.png", "image/png", "inline"),
        ("photo", "image/jpeg", "inline"),
        ("moving.txt", "image/gif", "inline"),
        ("new.webp", "image/webp", "inline"),
        ("data.bin", "application/octet-stream", "attachment"),
        ("target/out.o", "application/octet-stream", "attachment"),
    ] {
        let (headers, bytes) = fetched(&world, path).await;
        assert_eq!(
            (&headers["content-type"], &headers["content-disposition"]),
            (&kind.parse().unwrap(), &opens.parse().unwrap()),
            "{path}"
        );
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert!(headers["content-security-policy"].to_str().unwrap().starts_with("sandbox; default-src 'none'"));
        assert_eq!(bytes, std::fs::read(project.path().join(path)).unwrap(), "{path}");
    }
    let content = async |query: &str| world.get(&format!("/api/sessions/{KEY}/files/content{query}")).await;
    for path in ["gone.md", "secret/key.txt", "SECRET/key.txt", "../x", "/etc/passwd", "%00", ".", "src/main.rs/x"] {
        let came: Received = content(&format!("?path={path}")).await;
        assert!([400, 404].contains(&came.status.as_u16()), "{path}: {came:?}");
    }
    // What is denied looks like what does not exist.
    let (denied, gone) = (content("?path=secret/key.txt").await, content("?path=public/key.txt").await);
    assert_eq!(denied.text.replace("secret", "public"), gone.text);
    content("?path=src").await.refused(400, "INVALID_ARGUMENT");
    content("").await.refused(400, "INVALID_ARGUMENT");
    let large = std::fs::File::create(project.path().join("large")).unwrap();
    large.set_len(17 * 1024 * 1024).unwrap();
    content("?path=large").await.refused(413, "LIMIT_EXCEEDED");
    world.get("/api/sessions/no-such-session/files/content?path=README.md").await.refused(404, "NOT_FOUND");
    world.get(&format!("/api/sessions/{OTHER}/files/content?path=README.md")).await.refused(404, "NOT_FOUND");
}

async fn send(world: &World, query: &str, content: &[u8]) -> Received {
    let request = Request::post(format!("/api/sessions/{SESSION}/files{query}"));
    world.call(request.body(Body::from(content.to_vec())).unwrap()).await
}

#[tokio::test]
async fn a_file_that_a_person_sends_is_kept_and_replaces_nothing() {
    let world = World::new([]).await;
    let sent = send(&world, "?name=notes.md", b"# Notes\n").await.with(201);
    assert_eq!(sent, json!({ "path": "received/notes.md", "bytes": 8 }));
    let path = format!("/api/sessions/{SESSION}/files");
    assert_eq!(world.get(&format!("{path}/content?path=received/notes.md")).await.text, "# Notes\n");
    assert_eq!(paths(&world.get(&format!("{path}?prefix=received/")).await.with(200)), ["received/notes.md"]);
    // A file that is sent twice is one file; another content of the same name is a second file.
    assert_eq!(send(&world, "?name=notes.md", b"# Notes\n").await.with(201)["path"], "received/notes.md");
    assert_eq!(send(&world, "?name=notes.md", b"other").await.with(201)["path"], "received/notes-2.md");
    for (name, stored) in [
        ("?name=..%2F..%2Fetc%2Fpasswd", "received/_.._etc_passwd"),
        ("?name=.bashrc", "received/bashrc"),
        ("?name=a%20b%E2%80%AE.txt", "received/a_b_.txt"),
        ("?name=", "received/file"),
        ("", "received/file-2"),
    ] {
        assert_eq!(send(&world, name, name.as_bytes()).await.with(201)["path"], stored, "{name}");
    }
    send(&world, &format!("?name={}", "x".repeat(1025)), b"x").await.refused(400, "INVALID_ARGUMENT");
    send(&world, "?channel=cli", b"x").await.refused(404, "NOT_FOUND");
    assert_eq!(world.get(&format!("/api/sessions/{OTHER}/files")).await.with(200)["files"], json!([]));

    // Under a key it is taken once.
    let keyed = async |content: &'static str| {
        let request = Request::post(format!("{path}?name=once.txt")).header("idempotency-key", "once");
        world.call(request.body(Body::from(content)).unwrap()).await
    };
    assert_eq!(keyed("one").await.with(201), keyed("one").await.with(201));
    keyed("two").await.refused(422, "CONFLICT");
}

#[tokio::test]
async fn a_project_takes_no_files_that_are_sent() {
    let project = project();
    let world = in_project(project.path()).await;
    let request = Request::post(format!("/api/sessions/{KEY}/files?name=x")).body(Body::from("x")).unwrap();
    world.call(request).await.refused(403, "POLICY_DENIED");
    assert!(!project.path().join("received").exists());
}
