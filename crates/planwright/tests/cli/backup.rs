//! Everything in one archive, and back again.

mod hostile;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::command::{Command, ExecutionCommand};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_core::session::SessionIdentity;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::world::{PLAN, SESSION, World, ran};

const FILE: &str = "users/mcp-session-one/files/notes/a long name, with ü.md";

/// Two sessions, one of them with a history, files, and a choice that a chat made.
fn lived_in() -> World {
    let world = World::with_plan();
    world.agent_drafts(SESSION, "# Second version\n\n- [ ] one\n");
    world.run(&format!("plan approve 1 --later --digest {}", world.digest())).done();
    world.agent_drafts("web:session-two", PLAN);
    world.run("chat --session cli:session-three hello").done();
    put(&world, FILE, "words");
    put(&world, "users/mcp-session-one/unfinished/half", "not whole");
    put(&world, "users/not a session/files/x", "not ours");
    put(&world, "token", "a-secret-token-of-many-letters");
    world.write("planwright.toml", "[limits]\nsteps = 100\n");
    world
}

fn put(world: &World, name: &str, text: &str) {
    let path = world.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn names(archive: &Path) -> Vec<String> {
    let mut tar = tar::Archive::new(std::fs::File::open(archive).unwrap());
    tar.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().to_str().unwrap().to_owned()).collect()
}

/// What people and programs see of a store.
fn seen(world: &World) -> Vec<Value> {
    let mut seen = Vec::new();
    for session in [SESSION, "web:session-two", "cli:session-three"] {
        for line in ["plan list", "plan status"] {
            seen.push(world.json(&format!("{line} --session {session}")));
        }
    }
    seen.push(world.json(&format!("plan show 1 --session {SESSION}")));
    seen.push(world.json(&format!("plan history 1 --session {SESSION}")));
    seen.push(world.json("verify"));
    seen
}

/// What is seen after a restore: the session with an approval has one entry more, which says that it was restored.
fn restored(mut seen: Vec<Value>) -> Vec<Value> {
    let sessions = seen.last_mut().unwrap()["sessions"].as_array_mut().unwrap();
    let session = sessions.iter_mut().find(|session| session["sessionId"] == "session-one").unwrap();
    session["entries"] = (session["entries"].as_u64().unwrap() + 1).into();
    seen
}

fn backup(world: &World) -> PathBuf {
    world.run("backup all.tar").done();
    world.path("all.tar")
}

#[test]
fn everything_is_in_the_archive_and_no_secret() {
    let world = lived_in();
    let message = world.run("backup all.tar").done().says("The backup is in all.tar: 3 sessions");
    assert!(!message.stdout.contains("left out"), "{}", message.stdout);
    let mut found = names(&world.path("all.tar"));
    assert_eq!(found.pop().unwrap(), "manifest.json", "the manifest is the end");
    assert_eq!(
        found,
        [
            "journals/web/session-two.jsonl",
            "journals/cli/session-three.jsonl",
            "journals/mcp/session-one.jsonl",
            "pointers.json",
            FILE
        ]
    );
    let bytes = std::fs::read(world.path("all.tar")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("a-secret-token"));
    assert!(!world.path("all.tar.partial").exists());
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(world.path("all.tar")).unwrap());
        assert_eq!(mode & 0o777, 0o600, "what people said is their own business");
    }
}

#[test]
fn a_workbook_goes_along_with_its_files() {
    let world = World::new();
    ran(world.command().args(["chat", "--session", "cli:session-one", "/plan move the blog"])).done();
    let message = world.run("backup all.tar").done();
    assert!(!message.stdout.contains("left out"), "{}", message.stdout);
    let other = World::new();
    ran(other.command().arg("restore").arg(world.path("all.tar"))).done();
    for document in ["task_plan", "findings", "progress"] {
        let shown = |world: &World| world.json(&format!("plan files show {document} --session cli:session-one"));
        assert_eq!(shown(&other), shown(&world));
        let file = format!("users/cli-session-one/plan/{document}.md");
        assert_eq!(std::fs::read(other.path(&file)).unwrap(), std::fs::read(world.path(&file)).unwrap());
    }
}

/// The file beside the session's files that names the lease under which they are written.
const LEASE: &str = "users/cli-session-one/lease";

#[test]
fn a_lease_stays_where_it_is_and_the_restored_session_is_written_to_under_a_new_one() {
    let world = World::new();
    let write = ["/plan on collect", "send the report", "/plan approve", ""].join("\n");
    world.run_with_input("chat --session cli:session-one", &write).done();
    let before = std::fs::read_to_string(world.path(LEASE)).unwrap();
    let message = world.run("backup all.tar").done();
    assert!(!message.stdout.contains("left out"), "{}", message.stdout);
    assert!(!names(&world.path("all.tar")).iter().any(|name| name.ends_with("lease")));
    let bytes = std::fs::read(world.path("all.tar")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains(&before), "the name of the lease is in the archive");

    let other = World::new();
    // Something of an earlier session of this name.
    put(&other, LEASE, "a process of long ago 7");
    ran(other.command().arg("restore").arg(world.path("all.tar"))).done();
    let again = ["/plan on collect", "send the report", "/plan approve", ""].join("\n");
    other.run_with_input("chat --session cli:session-one", &again).done().says("Plan 2");
    assert_eq!(other.json("plan show 2 --session cli:session-one")["status"], "COMPLETED");
    let now = std::fs::read_to_string(other.path(LEASE)).unwrap();
    assert!(now != before && !now.contains("long ago"), "{now}");
}

/// What a restore may allocate. Its longest line takes a small part of that.
#[cfg(target_os = "linux")]
const MEMORY: usize = 96 << 20;

#[test]
#[cfg(target_os = "linux")]
fn a_session_is_restored_with_less_memory_than_its_journal_takes() {
    let world = World::new();
    let line = "words ".repeat(150_000);
    world.agent_drafts(SESSION, "# Version 0\n");
    world.with_engine(async |engine| {
        let (session, by) = (SESSION.parse().unwrap(), Actor::agent("claude", "mcp"));
        for version in 0..150 {
            let arguments = json!({ "plan_markdown": format!("# Version {version}\n\n{line}\n") });
            let arguments = arguments.as_object().cloned().unwrap();
            PlanTools::new(&engine).call(&session, &by, "plan_set_content", arguments).await.unwrap();
        }
    });
    let archive = backup(&world);
    assert!(std::fs::metadata(&archive).unwrap().len() > MEMORY as u64 + (16 << 20));
    let other = World::new();
    let program = other.command();
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", &format!("ulimit -d {} && exec \"$0\" \"$@\"", MEMORY >> 10)]).arg(program.get_program());
    limited.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    ran(limited.arg("restore").arg(&archive)).done().says("Added: 1 session");
    other.run("verify").done().says("Every journal is whole");
}

#[test]
fn what_is_restored_elsewhere_is_the_same_and_can_be_worked_on() {
    let world = lived_in();
    let archive = backup(&world);
    let other = World::new();
    let report = ran(other.command().arg("restore").arg(&archive).arg("--json")).done().json();
    assert_eq!((&report["sessions"], &report["files"], &report["pointers"]), (&json!(3), &json!(1), &json!(1)));
    assert_eq!(seen(&other), restored(seen(&world)));
    assert_eq!(std::fs::read_to_string(other.path(FILE)).unwrap(), "words");
    // The chat is in the session it was in, and the plan can be decided about.
    assert_eq!(other.json("chat and_again")["sessionId"], "session-three");
    other.run(&format!("plan cancel 1 --session {SESSION}")).done();
    other.run("verify").done();
}

#[test]
fn an_archive_may_go_through_pipes() {
    let world = lived_in();
    let made = world.command().args(["backup", "-"]).output().unwrap();
    assert!(made.status.success());
    assert!(String::from_utf8(made.stderr).unwrap().contains("3 sessions"));
    let other = World::new();
    let mut child = other.command().args(["restore", "-"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &made.stdout).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(seen(&other), restored(seen(&world)));
}

#[test]
fn the_same_again_changes_nothing() {
    let world = lived_in();
    let archive = backup(&world);
    let other = World::new();
    let restore = |extra: &[&str]| ran(other.command().arg("restore").arg(&archive).arg("--json").args(extra));
    restore(&[]).done();
    let before = seen(&other);
    let again = restore(&[]).done().json();
    assert_eq!((&again["sessions"], &again["files"], &again["alreadyThere"]), (&json!(0), &json!(0), &json!(4)));
    assert_eq!(seen(&other), before);
    let message = ran(other.command().arg("restore").arg(&archive)).done();
    message.says("Added: 0 sessions, 0 files. Already in the store and unchanged: 3 sessions, 1 file.");
    // One that went on since is still the same one.
    other.run(&format!("plan cancel 1 --session {SESSION}")).done();
    assert_eq!(restore(&[]).done().json()["alreadyThere"], 4);
    assert_eq!(other.json(&format!("plan show 1 --session {SESSION}"))["status"], "CANCELLED");
}

#[test]
fn an_interrupted_restore_goes_on() {
    let world = lived_in();
    let archive = backup(&world);
    let other = World::new();
    // As far as a killed one may have come: the older sessions, no files, and one that was not whole.
    ran(other.command().arg("restore").arg(&archive)).done();
    other.run("sessions delete cli:session-three --yes").done();
    std::fs::remove_file(other.path(FILE)).unwrap();
    put(&other, "users/mcp-session-one/unfinished/0193e2a0", "ha");
    let report = ran(other.command().arg("restore").arg(&archive).arg("--json")).done().json();
    assert_eq!((&report["sessions"], &report["files"]), (&json!(1), &json!(1)));
    assert_eq!(seen(&other), restored(seen(&world)));
}

#[test]
fn a_store_with_other_sessions_is_refused_unless_they_are_merged() {
    let archive = lived_in();
    let archive_file = backup(&archive);
    let world = World::new();
    world.agent_drafts("web:stranger1", PLAN);
    let refused = ran(world.command().arg("restore").arg(&archive_file)).exits(3);
    refused.complains("session web:stranger1: it is in the store and not in the archive");
    assert_eq!(world.json("sessions")["sessions"].as_array().unwrap().len(), 1, "nothing was written");
    world.agent_drafts(SESSION, "# Mine, not yours\n");
    put(&world, FILE, "mine");
    let restore = |extra: &[&str]| ran(world.command().arg("restore").arg(&archive_file).args(extra));
    restore(&[]).exits(3).complains("Nothing was changed").complains("--merge");
    assert_eq!(world.json("sessions")["sessions"].as_array().unwrap().len(), 2, "nothing was written");
    let merged = restore(&["--merge"]).done().says("not restored: session mcp:session-one").says("2 sessions, 0 files");
    assert!(!merged.stdout.contains("stranger1"), "{}", merged.stdout);
    assert_eq!(world.json("sessions")["sessions"].as_array().unwrap().len(), 4);
    assert_eq!(world.active_plan(SESSION).display_title(), "Mine, not yours");
    assert_eq!(std::fs::read_to_string(world.path(FILE)).unwrap(), "mine", "files go with their session");
    world.run("verify").done();
}

#[test]
fn a_file_that_is_there_and_another_one_is_not_written_over() {
    let world = lived_in();
    let archive = backup(&world);
    let other = World::new();
    put(&other, FILE, "something else");
    let restore = |extra: &[&str]| ran(other.command().arg("restore").arg(&archive).args(extra));
    restore(&[]).exits(3).complains("a long name").complains("Nothing was changed");
    assert_eq!(other.json("sessions")["sessions"], json!([]), "nothing was written");
    restore(&["--merge"]).done().says("not restored:").says("3 sessions, 0 files");
    assert_eq!(std::fs::read_to_string(other.path(FILE)).unwrap(), "something else");
}

#[test]
fn an_archive_is_not_written_over_by_accident() {
    let world = World::with_plan();
    world.write("all.tar", "precious");
    world.run("backup all.tar").exits(2).complains("all.tar exists already").complains("--force");
    assert_eq!(std::fs::read_to_string(world.path("all.tar")).unwrap(), "precious");
    // What an interrupted backup left does not block the next one.
    world.write("all.tar.partial", "half of something");
    world.run("backup all.tar --force").done();
    assert_eq!(names(&world.path("all.tar")).last().unwrap(), "manifest.json");
    world.run("backup nowhere/all.tar").exits(6).complains("nowhere/all.tar.partial cannot be written");
    World::new().run("backup all.tar").exits(4).complains("There is no store");
}

#[test]
fn a_damaged_session_is_named_and_the_rest_is_kept() {
    let world = lived_in();
    let store = Connection::open(world.store()).unwrap();
    let changed = store
        .execute(
            "UPDATE journal SET body = replace(body, 'drop the', 'keep the') WHERE body LIKE '%session-one%drop the%'",
            [],
        )
        .unwrap();
    assert!(changed > 0);
    world.run("backup all.tar").exits(7).says("damaged: session mcp:session-one").says("2 sessions");
    let found = names(&world.path("all.tar"));
    assert!(!found.iter().any(|name| name.contains("session-one.jsonl")), "{found:?}");
    assert!(found.contains(&FILE.to_owned()), "its files are whole: {found:?}");
    let other = World::new();
    let restored = ran(other.command().arg("restore").arg(world.path("all.tar"))).done();
    restored.says("not in the archive: session mcp:session-one").says("2 sessions, 1 file");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let world = World::with_plan();
    put(&world, "secret", "do not copy");
    put(&world, "users/mcp-session-one/files/real", "copy");
    let files = world.path("users/mcp-session-one/files");
    std::os::unix::fs::symlink(world.path("secret"), files.join("link")).unwrap();
    std::os::unix::fs::symlink(world.path(""), files.join("folder")).unwrap();
    std::os::unix::fs::symlink("mcp-session-one", world.path("users/web-session-two")).unwrap();
    let ran = world.run("backup all.tar").done();
    ran.says("left out: users/mcp-session-one/files/folder: it is a link").says("1 session, 4 entries, 1 file");
    let bytes = std::fs::read(world.path("all.tar")).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("do not copy"));
}

/// Others write as fast as they can while the archive is made.
#[test]
fn every_session_is_taken_as_it_was_at_one_moment() {
    let world = World::with_plan();
    let writing = |number: u32| {
        let mut command = world.command();
        command.args(["chat", "--session", &format!("cli:writer-{number:04}")]);
        command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null());
        command.spawn().unwrap()
    };
    let mut writers: Vec<_> = (0..2).map(writing).collect();
    let mut inputs: Vec<_> = writers.iter_mut().map(|child| child.stdin.take().unwrap()).collect();
    let mut outputs: Vec<_> =
        writers.iter_mut().map(|child| std::io::BufReader::new(child.stdout.take().unwrap())).collect();
    // Both have answered once, and have many more messages waiting.
    for (input, output) in inputs.iter_mut().zip(&mut outputs) {
        use std::io::{BufRead as _, Write as _};
        input.write_all("say something\n".repeat(40).as_bytes()).unwrap();
        let mut line = String::new();
        while line.trim().is_empty() {
            line.clear();
            output.read_line(&mut line).unwrap();
        }
    }
    for round in 0..3 {
        world.run(&format!("backup {round}.tar")).done();
    }
    drop(inputs);
    drop(outputs);
    for mut writer in writers {
        let _ = writer.kill();
        writer.wait().unwrap();
    }
    for round in 0..3 {
        let other = World::new();
        ran(other.command().arg("restore").arg(world.path(&format!("{round}.tar")))).done();
        other.run("verify").done().says("Every journal is whole: 3 of 3 sessions");
    }
}

/// Ends the server with the test.
struct Server(std::process::Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A plan that was being carried out when the archive was made waits for a person after it is restored.
#[test]
fn a_restored_execution_waits_for_a_person() {
    const HERE: &str = "web:session-one";
    let world = World::new();
    world.turn_on(HERE, PlanStyle::Collect);
    let session: SessionIdentity = HERE.parse().unwrap();
    world.with_engine(async |engine| {
        let (agent, person) = (Actor::agent("rehearsal", "web"), Actor::person("ada", "web"));
        let arguments = json!({ "path": "a.txt", "content": "x" }).as_object().cloned().unwrap();
        PlanTools::new(&engine).call(&session, &agent, "write_file", arguments).await.unwrap();
        PlanTools::new(&engine).call(&session, &agent, "plan_finalize", serde_json::Map::new()).await.unwrap();
        let plan = engine.plans().active(&session).await.unwrap();
        engine.plans().approve(&session, &person, &plan.id, plan.digest(), Selection::All, None).await.unwrap();
        let start = Command::Execution(ExecutionCommand::Start { plan: plan.id.clone() });
        engine.submit(&session, &Actor::system("web"), start).await.unwrap();
    });
    let archive = backup(&world);
    let other = World::new();
    ran(other.command().arg("restore").arg(archive)).done();
    let mut serve = other.command();
    serve.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::null()).stderr(Stdio::null());
    let server = Server(serve.spawn().unwrap());
    let paused = (0..600).find_map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        let plan = other.plan(HERE, 1);
        plan.execution.as_ref()?.paused_since().map(|_| plan)
    });
    let plan = paused.expect("the execution was not paused");
    let written = other.path("users/web-session-one/files/a.txt");
    assert!(!written.exists() && plan.execution.as_ref().unwrap().steps[0].status == StepStatus::Pending, "{plan:?}");
    drop(server);
    // A person who continues it approves it again, and both are in its history.
    other.run(&format!("plan resume 1 --session {HERE}")).done();
    assert!(written.exists());
    let history = other.json(&format!("plan history 1 --session {HERE}"));
    let items = history["items"].as_array().unwrap();
    assert_eq!(items.iter().filter(|item| item["type"] == "plan_approved").count(), 2, "{history}");
    other.run("verify").done();
}
