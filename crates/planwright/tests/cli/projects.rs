//! Work in a project folder, from the command line and in the chat.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::provider::{Provider, Reply};
use crate::world::{Ran, World, ran};

const TILL: &str = "def ring():\n    return 'ding'\n";

fn git(project: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new("git");
    command.current_dir(project).args(["-c", "user.name=ada", "-c", "user.email=ada@example.org"]).args(arguments);
    ran(command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").stdin(Stdio::null())).done()
}

/// A small Python project under git.
fn project() -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("till.py"), TILL).unwrap();
    std::fs::write(folder.path().join("AGENTS.md"), "Keep it short.\n").unwrap();
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "--all"]);
    git(folder.path(), &["commit", "--quiet", "--message", "all"]);
    folder
}

fn call(tool: &'static str, arguments: Value) -> Reply {
    Reply::Call { preface: "", tool, arguments }
}

fn edit() -> Reply {
    call("edit_file", json!({ "path": "till.py", "edits": [{ "old": "'ding'", "new": "'dong'" }] }))
}

fn script() -> [Reply; 2] {
    [edit(), call("plan_finalize", json!({}))]
}

fn real(folder: &Path) -> String {
    folder.canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn chat(world: &World, provider: &Provider, folder: &Path, arguments: &[&str], lines: &str) -> Ran {
    use std::io::Write as _;
    let mut command = world.command();
    command.envs(provider.variables()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.current_dir(folder).arg("chat").args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_plan_is_carried_out_in_the_project_shown_and_undone() {
    let (world, project) = (World::new(), project());
    let provider = Provider::start(&script());
    // A relative folder is one of the folder that the person is in.
    let answered = chat(
        &world,
        &provider,
        project.path(),
        &["--project", "."],
        "/plan on collect\nchange it\n/plan approve\n/status\n",
    )
    .done();
    answered.says("COMPLETED").says("project folder");
    let asked = provider.asked();
    let system = asked["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(system.contains(&real(project.path())) && system.contains("> Keep it short."), "{system}");

    // The diff is git's own and can be applied by git.
    let raw = world.run("plan changes --raw").done().stdout;
    let theirs = git(project.path(), &["diff", "--no-color"]).stdout;
    let theirs: Vec<_> = theirs.lines().filter(|line| !line.starts_with("index ")).collect();
    assert_eq!(raw.lines().collect::<Vec<_>>(), theirs);
    world.run("plan changes").done().says("Plan 1 changed 1 file.").says("+    return 'dong'");
    let shown = world.json("plan changes 1 --step 1");
    assert_eq!((&shown["step"], &shown["files"][0]["path"]), (&json!(1), &json!("till.py")));
    world.run("plan changes --step 2").exits(4).complains("There is no step 2");

    let undone = world.json("plan undo");
    assert_eq!(undone["paths"], json!(["till.py"]));
    assert_eq!(git(project.path(), &["status", "--porcelain"]).stdout, "");
    assert_eq!(std::fs::read_to_string(project.path().join("till.py")).unwrap(), TILL);
    world.run("plan undo").exits(3).complains("There is nothing to undo");
    world.run("plan history").done().says("1 file put back as before");
}

#[test]
fn the_chat_shows_and_undoes_what_was_changed() {
    let (world, project) = (World::new(), project());
    let provider = Provider::start(&script());
    let project_line = format!("/project {}", project.path().display());
    let lines = format!(
        "{project_line}\n/plan on collect\nchange it\n/plan approve\n/changes\n/undo\n/changes\n/project off\n"
    );
    let answered = chat(&world, &provider, &world.path(""), &[], &lines).done();
    answered
        .says("+    return 'dong'")
        .says("1 file that plan 1 changed is as it was before")
        .says("Plan 1 left no file changed.")
        .says("the session's own folder");
    assert_eq!(std::fs::read_to_string(project.path().join("till.py")).unwrap(), TILL);
}

#[test]
fn a_folder_that_is_no_project_is_refused_in_words() {
    let world = World::new();
    world.run("chat --project /no/such/folder hello").exits(4).complains("There is no folder");
    let own = world.path("");
    ran(world.command().args(["chat", "--project"]).arg(&own).arg("hello")).exits(3).complains("Planwright's own data");
    ran(world.command().args(["mcp", "--project", "/no/such/folder"])).exits(4).complains("There is no folder");
}

#[test]
fn an_mcp_session_works_in_the_project_that_it_is_started_with() {
    let (world, project) = (World::new(), project());
    ran(world.command().args(["mcp", "--session", "agents-own", "--project"]).arg(project.path())).done();
    let session = "mcp:agents-own".parse().unwrap();
    let chosen = world.with_engine(async |engine| engine.sessions().get(&session).await.unwrap().workspace);
    assert_eq!(chosen.project(), Some(real(project.path()).as_str()));
}

/// Inside a git work tree a person at a terminal is asked once; the answer is remembered for the folder.
#[cfg(target_os = "linux")]
#[test]
fn a_person_in_a_work_tree_is_asked_once() {
    use crate::terminal::Terminal;
    let (world, project) = (World::new(), project());
    let program = env!("CARGO_BIN_EXE_planwright");
    let inner = project.path().join("src");
    std::fs::create_dir(&inner).unwrap();
    let start = |session: &str| {
        let line = format!("cd {} && exec {program} chat --session {session}", inner.display());
        Terminal::start_with(&world, &line, &[])
    };
    let mut first = start("first-session");
    first.wait_for(&format!("Work in the project folder {}?", real(project.path())));
    first.type_in("y\r");
    first.wait_for("›");
    first.type_in("/quit\r");
    assert_eq!(first.end().1, 0);
    let mut second = start("second-session");
    second.wait_for("›");
    second.type_in("/quit\r");
    let (seen, code) = second.end();
    assert!(code == 0 && !seen.contains("Work in the project folder"), "{seen}");
    for session in ["cli:first-session", "cli:second-session"] {
        let session = session.parse().unwrap();
        let chosen = world.with_engine(async |engine| engine.sessions().get(&session).await.unwrap().workspace);
        assert_eq!(chosen.project(), Some(real(project.path()).as_str()));
    }
}

/// Only yes or no is an answer that is remembered.
#[cfg(target_os = "linux")]
#[test]
fn what_is_no_answer_about_a_folder_is_asked_again() {
    use crate::terminal::Terminal;
    let (world, project) = (World::new(), project());
    let program = env!("CARGO_BIN_EXE_planwright");
    let line = format!("cd {} && exec {program} chat --session first-session", project.path().display());
    let question = format!("Work in the project folder {}?", real(project.path()));
    let mut first = Terminal::start_with(&world, &line, &[]);
    first.wait_for(&question);
    first.type_in("maybe\r");
    first.wait_for(&question);
    first.type_in("\u{4}");
    first.wait_for("›");
    first.type_in("/quit\r");
    assert_eq!(first.end().1, 0);
    // In a pipe nothing is asked, and it is said where the session works.
    let mut command = world.command();
    command.current_dir(project.path()).args(["chat", "--session", "first-session", "/status"]);
    ran(&mut command).done().complains("works in its own folder");
    let mut second = Terminal::start_with(&world, &line, &[]);
    second.wait_for(&question);
    second.type_in("n\r");
    second.wait_for("›");
    second.type_in("/quit\r");
    second.end();
    ran(&mut command).done().never_complains("works in its own folder");
}

/// The edits and the test runs of an agent that is wrong at first.
fn repair() -> Vec<Reply> {
    let edit =
        |old: &str, new: &str| call("edit_file", json!({ "path": "till.py", "edits": [{ "old": old, "new": new }] }));
    let run = || call("run_command", json!({ "command": "python3 -B test_till.py" }));
    let plan = "# Repair the till\n\n- [ ] Let it say dong\n- [ ] Run `$ python3 -B test_till.py`\n";
    let done = |step: u32| call("plan_progress", json!({ "step": step, "status": "done" }));
    vec![
        call("plan_set_content", json!({ "plan_markdown": plan })),
        Reply::Text("Please look.".to_owned()),
        edit("'ding'", "'dang'"),
        run(),
        edit("'dang'", "'dong'"),
        run(),
        done(1),
        done(2),
        Reply::Text("Repaired.".to_owned()),
    ]
}

#[test]
fn in_the_chat_an_agent_runs_the_projects_tests_until_they_pass() {
    let (world, project) = (World::new(), project());
    if !world.has_sandbox() {
        return;
    }
    let test = "import till\n\nassert till.ring() == 'dong', till.ring()\n";
    std::fs::write(project.path().join("test_till.py"), test).unwrap();
    std::fs::write(project.path().join(".gitignore"), "__pycache__/\n").unwrap();
    git(project.path(), &["add", "--all"]);
    git(project.path(), &["commit", "--quiet", "--message", "test"]);
    let provider = Provider::start(&repair());
    let lines = "/plan on\nrepair it\n/plan approve\n";
    let answered = chat(&world, &provider, project.path(), &["--project", "."], lines).done();
    answered.says("COMPLETED").never_says("/allow");
    let last = std::iter::repeat_with(|| provider.asked()).take(9).last().unwrap();
    let codes: Vec<_> = last["messages"].as_array().unwrap().iter().filter_map(exit_code).collect();
    assert_eq!(codes, [1, 0], "{last}");
    let raw = world.run("plan changes --raw").done().stdout;
    let theirs = git(project.path(), &["diff", "--no-color"]).stdout;
    assert_eq!(
        raw.lines().collect::<Vec<_>>(),
        theirs.lines().filter(|line| !line.starts_with("index ")).collect::<Vec<_>>()
    );
    world.run("plan undo").done();
    assert_eq!(git(project.path(), &["status", "--porcelain"]).stdout, "");
}

fn exit_code(message: &Value) -> Option<i64> {
    let content = message["content"].as_str().filter(|_| message["role"] == "tool")?;
    serde_json::from_str::<Value>(content).ok()?.get("exit_code")?.as_i64()
}

/// Each project has its own session: the one that works elsewhere is not continued without a word.
#[test]
fn a_chat_takes_the_session_of_its_folder() {
    let (world, first, second) = (World::new(), project(), project());
    let provider = Provider::start(&[edit(), Reply::Text("Edited.".to_owned())]);
    let session = |ran: &Ran| {
        let value: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
        value["sessionId"].as_str().unwrap().to_owned()
    };
    let status = |folder: &Path, arguments: &[&str]| {
        let arguments: Vec<_> = ["--json"].iter().chain(arguments).copied().collect();
        session(&chat(&world, &provider, folder, &arguments, "/status\n").done())
    };
    let one = status(first.path(), &["--project", "."]);
    let two = status(second.path(), &["--project", "."]);
    assert_ne!(one, two);
    assert_eq!((status(first.path(), &[]), status(second.path(), &[])), (one.clone(), two));
    // Elsewhere the last one goes on, and says where it works.
    let elsewhere = TempDir::new().unwrap();
    let said = chat(&world, &provider, elsewhere.path(), &[], "/status\n").done();
    said.complains(&format!("project {}", real(second.path())));
    // A third project begins a new one, and says so.
    let third = project();
    let said = chat(&world, &provider, third.path(), &[], "/status\n").done();
    said.complains("This is a new session.").complains("works in its own folder");
    for folder in [&first, &second] {
        assert_eq!(std::fs::read_to_string(folder.path().join("till.py")).unwrap(), TILL);
    }
}
