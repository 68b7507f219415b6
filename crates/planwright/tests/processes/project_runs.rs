//! Work on small real projects, from the plan to the undo: the agent edits, runs the project's tests, sees them fail, fixes the code
//! and completes the plan. A scripted model, the real store, the real sandbox, git and the languages' own tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use planwright_agent::Agent;
use planwright_agent::session::input::ChatLocation;
use planwright_agent::session::outcome::Answer;
use planwright_agent::toolbox::Toolbox;
use planwright_agent::toolbox::command::{CommandOptions, CommandTools};
use planwright_core::actor::Actor;
use planwright_core::ask::AskSubject;
use planwright_core::model::ModelRequest;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_sandbox::{Sandbox, SandboxLevel, SandboxOptions};
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::prerequisites::{Prerequisite, skip};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stores::Store;
use crate::talk::{Talk as _, Watcher};

/// A small project whose tests fail at first.
#[derive(Debug, Clone, Copy)]
struct Project {
    files: &'static [(&'static str, &'static str)],
    /// The file with the mistake.
    broken: &'static str,
    /// What the mistake is, what the agent first makes of it, and what is right.
    lines: [&'static str; 3],
    tests: &'static str,
}

const PYTHON: Project = Project {
    files: &[
        ("calc.py", "def add(a, b):\n    return a - b\n"),
        (
            "test_calc.py",
            "import unittest\n\nimport calc\n\n\nclass Adds(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n",
        ),
        (".gitignore", "__pycache__/\n"),
    ],
    broken: "calc.py",
    lines: ["return a - b", "return a * b", "return a + b"],
    tests: "python3 -B -m unittest",
};

const RUST: Project = Project {
    files: &[
        ("Cargo.toml", "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n"),
        (
            "src/lib.rs",
            "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[test]\nfn adds() {\n    assert_eq!(add(2, 3), 5);\n}\n",
        ),
        (".gitignore", "target/\nCargo.lock\n"),
    ],
    broken: "src/lib.rs",
    lines: ["a - b", "a * b", "a + b"],
    tests: "cargo test --offline --quiet --lib",
};

struct World {
    folder: TempDir,
    agent: Agent,
    model: ScriptedModel,
    session: SessionIdentity,
    project: Project,
}

impl World {
    async fn new(store: &Store, project: Project, model: ScriptedModel) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        for (name, text) in project.files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        git(&root, &["init", "--quiet"]);
        git(&root, &["add", "."]);
        git(&root, &["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "-m", "Begin"]);
        let data = folder.path().join("data");
        std::fs::create_dir_all(data.join("scratch")).unwrap();
        let sandbox = Sandbox::new(SandboxOptions {
            home: std::env::home_dir(),
            scratch: Some(data.join("scratch")),
            hidden: vec![data.clone()],
            ..SandboxOptions::default()
        });
        if let Some(reason) = sandbox.support().refusal(SandboxLevel::Workspace) {
            skip(Prerequisite::Sandbox, &reason);
            return None;
        }
        let mut setup = AgentSetup::new(&data);
        setup.tools = Toolbox::new(CommandTools::new(sandbox, setup.files(), CommandOptions::default()).tools());
        let agent = setup.agent(store.ledger().await, model.clone());
        let session: SessionIdentity = "cli:project-runs".parse().unwrap();
        agent.engine().sessions().open(&session, &person()).await.unwrap();
        let world = Self { folder, agent, model, session, project };
        let chosen = world.send(&format!("/project {}", world.root().display())).await;
        assert!(!chosen.refused(), "{}", chosen.reply);
        Some(world)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    async fn send(&self, text: &str) -> Answer {
        let place = ChatLocation::new(TransportChat("cli:ada".to_owned()), self.session.clone());
        self.agent.type_text(&place, &person(), text, &Watcher::none()).await.unwrap()
    }

    async fn plan(&self, number: u32) -> Plan {
        let reference = number.to_string().parse().unwrap();
        self.agent.engine().plans().find(&self.session, Some(&reference)).await.unwrap().as_ref().clone()
    }

    /// No question of the agent waits for the person.
    async fn nothing_is_asked(&self) {
        let session = self.agent.engine().sessions().get(&self.session).await.unwrap();
        let asked = session.waiting_ask().map(|ask| match &ask.subject {
            AskSubject::Permission(call) => format!("{call:?}"),
            AskSubject::Questions { questions } => format!("{questions:?}"),
        });
        assert_eq!(asked, None);
    }

    /// What the plan changed is what git says, and an undo puts every byte back.
    async fn diff_is_that_of_git_and_undo_restores(&self, number: u32) {
        let plan = self.plan(number).await;
        let changes = self.agent.plan_changes().read(plan.into(), None).await.unwrap();
        let shown: String = changes.files.iter().map(|file| file.text.clone()).collect();
        let git_diff = git(&self.root(), &["diff"]);
        let git_diff: String =
            git_diff.lines().filter(|line| !line.starts_with("index ")).map(|line| format!("{line}\n")).collect();
        assert_eq!(shown, git_diff);
        assert!(!shown.is_empty());
        let undone = self.send(&format!("/undo {number}")).await;
        assert!(!undone.refused(), "{}", undone.reply);
        assert_eq!(git(&self.root(), &["status", "--porcelain"]), "", "every byte is as it was");
        let report = self.agent.engine().verifier().verify_all(|_| {}).await.unwrap();
        assert!(report.is_whole(), "{report:?}");
    }

    fn edit(&self, from: usize, to: usize) -> Reply {
        let [old, new] = [self.project.lines[from], self.project.lines[to]];
        Reply::call("edit_file", json!({"path": self.project.broken, "edits": [{"old": old, "new": new}]}))
    }

    fn run_tests(&self) -> Reply {
        Reply::call("run_command", json!({"command": self.project.tests}))
    }
}

fn person() -> Actor {
    Actor::person("Ada", "cli")
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The exit codes that the model was told, in order.
fn exit_codes(requests: &[ModelRequest]) -> Vec<i64> {
    use planwright_core::model::ModelMessage;
    let last = requests.last().expect("a request");
    let code = |message: &ModelMessage| match message {
        ModelMessage::ToolResult { text, .. } => {
            serde_json::from_str::<Value>(text).ok().and_then(|result| result.get("exit_code")?.as_i64())
        }
        ModelMessage::User { .. } | ModelMessage::Assistant { .. } => None,
    };
    last.messages.iter().filter_map(code).collect()
}

/// The agent repairs the project: wrong at first, then right. The tests run after each change.
fn repair(world: &World) -> Vec<Reply> {
    vec![world.edit(0, 1), world.run_tests(), world.edit(1, 2), world.run_tests()]
}

async fn document(store: Store, project: Project) {
    let Some(world) = World::new(&store, project, ScriptedModel::new([])).await else { return };
    let markdown = format!("# Repair the sum\n\n- [ ] Correct `add`\n- [ ] Run the tests: `$ {}`\n", project.tests);
    let done = |step: u32| Reply::call("plan_progress", json!({"step": step, "status": "done"}));
    let replies = [Reply::call("plan_set_content", json!({"plan_markdown": markdown})), Reply::text("Please look.")];
    let work = repair(&world).into_iter().chain([done(1), done(2), Reply::text("Repaired.")]);
    replies.into_iter().chain(work).for_each(|reply| world.model.then(reply));
    world.send("/plan on document").await;
    world.send("The sum is wrong. Repair it.").await;
    assert_eq!(git(&world.root(), &["status", "--porcelain"]), "", "nothing is changed before the approval");
    world.send("/plan approve").await;
    world.nothing_is_asked().await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    let codes = exit_codes(&world.model.requests());
    assert!(matches!(codes[..], [failed, 0] if failed != 0), "{codes:?}");
    world.diff_is_that_of_git_and_undo_restores(1).await;
}

async fn collect(store: Store, project: Project) {
    let Some(world) = World::new(&store, project, ScriptedModel::new([])).await else { return };
    let finalize = || Reply::call("plan_finalize", json!({}));
    let replies = [world.edit(0, 1), world.run_tests(), finalize(), world.edit(1, 2), world.run_tests(), finalize()];
    replies.into_iter().for_each(|reply| world.model.then(reply));
    world.send("/plan on collect").await;
    world.send("The sum is wrong. Repair it.").await;
    world.send("/plan approve").await;
    let first = world.plan(1).await;
    assert_eq!(first.status, PlanStatus::PartiallyCompleted);
    let statuses: Vec<_> = first.execution.unwrap().steps.iter().map(|run| run.status).collect();
    assert_eq!(statuses, [StepStatus::Completed, StepStatus::Failed]);
    world.send("/plan on collect").await;
    world.send("The tests fail. Repair it.").await;
    world.send("/plan approve").await;
    world.nothing_is_asked().await;
    assert_eq!(world.plan(2).await.status, PlanStatus::Completed);
    // The first plan is undone after the second, which stands on it.
    let undone = world.send("/undo 2").await;
    assert!(!undone.refused(), "{}", undone.reply);
    world.diff_is_that_of_git_and_undo_restores(1).await;
}

async fn build(store: Store, project: Project) {
    let label = |request: &ModelRequest| match request.system.split_once("# You are the ") {
        Some((_, rest)) => rest.lines().next().unwrap_or_default().to_owned(),
        None => String::new(),
    };
    let Some(world) = World::new(&store, project, ScriptedModel::labelled(label)).await else { return };
    let proposal = Reply::call("plan_create_draft", json!({"goal": "A sum that is right", "title": "Repair the sum"}))
        .and_call(
            "plan_set_metadata",
            json!({"assumptions": ["The tests are right."], "risks": ["None."], "verification": ["The tests pass."], "files": [project.broken]}),
        )
        .and_call("plan_add_step", json!({"description": "Repair it", "agent": "coder", "commands": [project.tests]}))
        .and_call("plan_add_step", json!({"description": "Try it", "agent": "tester", "needs": ["s1"], "commands": [project.tests]}));
    let report = |note: &str| Reply::call("plan_progress", json!({"status": "done", "note": note}));
    let _ = world.model.clone().script("", [proposal, Reply::call("plan_submit", json!({}))]);
    let _ = world.model.clone().script("coder", repair(&world).into_iter().chain([report("Repaired.")]));
    let _ = world.model.clone().script("tester", [world.run_tests(), report("The tests pass.")]);
    world.send("/plan on build").await;
    world.send("The sum is wrong. Repair it.").await;
    let plan = world.plan(1).await;
    assert_eq!((plan.style(), plan.status), (PlanStyle::Build, PlanStatus::Ready));
    assert!(plan.markdown().contains(project.tests), "the command is shown at approval");
    world.send("/plan approve").await;
    world.nothing_is_asked().await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    let codes = exit_codes(&world.model.requests_of("coder"));
    assert!(matches!(codes[..], [failed, 0] if failed != 0), "{codes:?}");
    assert_eq!(exit_codes(&world.model.requests_of("tester")), [0]);
    world.diff_is_that_of_git_and_undo_restores(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_repairs_a_python_project_on_sqlite() {
    document(Store::sqlite(), PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_repairs_a_rust_project_on_postgres() {
    document(Store::postgres().await, RUST).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_calls_repair_a_rust_project_on_sqlite() {
    collect(Store::sqlite(), RUST).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_calls_repair_a_python_project_on_postgres() {
    collect(Store::postgres().await, PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn specialists_repair_a_rust_project_on_sqlite() {
    build(Store::sqlite(), RUST).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn specialists_repair_a_python_project_on_postgres() {
    build(Store::postgres().await, PYTHON).await;
}
