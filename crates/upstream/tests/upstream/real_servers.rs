//! Servers from npm, as people use them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;
use planwright_llm::scripted::Reply;
use planwright_upstream::UpstreamServerOptions;
use serde_json::json;

use crate::world::{World, program};

/// The folder of Node's program and the folder of the packages, installed once.
fn installed() -> &'static (PathBuf, PathBuf) {
    static INSTALLED: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let output = Command::new(root.join("scripts/ensure-mcp-servers")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines = text.lines();
        (lines.next().unwrap().into(), lines.next().unwrap().into())
    })
}

fn server(server: &str, script: &str, arguments: &[&str], folder: &Path) -> UpstreamServerOptions {
    let (node, packages) = installed();
    let script = packages.join(script);
    let arguments = std::iter::once(script.to_str().unwrap()).chain(arguments.iter().copied()).map(str::to_owned);
    program(server, node.join("node").to_str().unwrap(), arguments.collect(), folder.to_owned())
}

const FILESYSTEM: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";
const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";
const MEMORY: &str = "@modelcontextprotocol/server-memory/dist/index.js";

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_written_by_an_approved_plan_once() {
    let files = tempfile::tempdir().unwrap();
    let root = files.path().canonicalize().unwrap();
    let path = root.join("note.txt");
    let write = json!({ "path": path, "content": "milk" });
    let replies =
        [Reply::call("files__write_file", write), Reply::call("plan_finalize", json!({})), Reply::text("Ready.")];
    let world = World::with("plain", replies, |setup| {
        setup.rules.clear();
        setup.servers = vec![server("files", FILESYSTEM, &[root.to_str().unwrap()], &root)];
    })
    .await;
    world.accept("files").await;
    world.send("/plan on collect").await;
    world.send("Write the note").await;
    assert!(!path.exists());
    world.send("/plan approve").await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "milk");
    let plan = world.agent.engine().plans().find(&world.session, Some(&"1".parse().unwrap())).await.unwrap();
    assert_eq!(plan.status, PlanStatus::Completed);
    // What was done is not done again, not even by another process.
    std::fs::remove_file(&path).unwrap();
    world.another([]).await.send("/plan resume 1").await;
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_gives_text_images_structure_and_progress() {
    let folder = tempfile::tempdir().unwrap();
    let replies = [
        Reply::call("all__echo", json!({ "message": "hello" }))
            .and_call("all__get-tiny-image", json!({}))
            .and_call("all__get-structured-content", json!({ "location": "New York" }))
            .and_call("all__trigger-long-running-operation", json!({ "duration": 1, "steps": 2 })),
        Reply::text("Seen."),
    ];
    let world = World::with("plain", replies, |setup| {
        setup.servers = vec![server("all", EVERYTHING, &["stdio"], folder.path())];
    })
    .await;
    world.accept("all").await;
    let (_, progress) = world.watch("Show me").await;
    let results = world.results();
    assert!(results.contains("Echo: hello") && results.contains("@commands/1.png"), "{results}");
    assert!(results.contains("structured") && results.contains("temperature"), "{results}");
    let shown = format!("{progress:?}");
    assert!(shown.contains("of 2"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_that_is_killed_in_the_middle_leaves_an_uncertain_step() {
    let folder = tempfile::tempdir().unwrap();
    let long = json!({ "duration": 600, "steps": 600 });
    let replies = [
        Reply::call("all__trigger-long-running-operation", long),
        Reply::call("plan_finalize", json!({})),
        Reply::text("Ready."),
    ];
    let world = World::with("plain", replies, |setup| {
        setup.servers = vec![server("all", EVERYTHING, &["stdio"], folder.path())];
        setup.servers[0].call_time = std::time::Duration::from_secs(600);
    })
    .await;
    world.accept("all").await;
    world.send("/plan on collect").await;
    world.send("Do it").await;
    let (approved, ()) = world.when_shown("/plan approve", "of 600", async || kill_servers(folder.path())).await;
    let plan = world.agent.engine().plans().find(&world.session, Some(&"1".parse().unwrap())).await.unwrap();
    let step = &plan.execution.as_ref().unwrap().steps[0];
    assert_eq!(step.status, StepStatus::Uncertain, "{}: {:?}", approved.reply, step.note);
    assert!(step.note.as_deref().unwrap().contains("ended by signal 9"), "{:?}", step.note);
}

/// Kills the processes that work in this folder.
fn kill_servers(folder: &Path) {
    let folder = folder.canonicalize().unwrap();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let works_here = std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder);
        if works_here {
            let pid = entry.file_name().into_string().unwrap();
            assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_keeps_what_a_permitted_call_writes() {
    let folder = tempfile::tempdir().unwrap();
    let entity = json!({ "entities": [{ "name": "Ada", "entityType": "person", "observations": ["likes tea"] }] });
    let replies = [
        Reply::call("memory__create_entities", entity),
        Reply::call("memory__read_graph", json!({})),
        Reply::text("Kept."),
    ];
    let world = World::with("plain", replies, |setup| {
        setup.servers = vec![server("memory", MEMORY, &[], folder.path())];
        let planwright_upstream::Reach::Program { environment, .. } = &mut setup.servers[0].reach else {
            unreachable!()
        };
        let file = folder.path().join("memory.jsonl");
        environment.push(("MEMORY_FILE_PATH".to_owned(), file.to_str().unwrap().to_owned()));
    })
    .await;
    world.accept("memory").await;
    world.send("Remember Ada").await;
    assert!(world.results().contains("likes tea"), "{}", world.results());
    assert!(std::fs::read_to_string(folder.path().join("memory.jsonl")).unwrap().contains("likes tea"));
}
