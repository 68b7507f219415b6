//! A store of its own for every test, a person who types commands, and an agent that calls tools.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::policy::{Policy, StandingApproval};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_store::Location;
use planwright_test_support::prerequisites::{Prerequisite, skip};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const SESSION: &str = "mcp:session-one";

pub(crate) const PLAN: &str = "# Move the tables\n\n- [ ] copy the rows\n- [ ] drop the `old` table\n";

pub(crate) struct World {
    folder: TempDir,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Whether this system enforces the default level; the program says so itself. Where it does not, the test is skipped.
    pub(crate) fn has_sandbox(&self) -> bool {
        let doctor = self.json("doctor");
        let checks = doctor["checks"].as_array().unwrap();
        let sandbox = checks.iter().find(|check| check["name"] == "sandbox").unwrap();
        let message = sandbox["words"].as_str().unwrap();
        let enforced = message.starts_with("level workspace, enforced");
        if !enforced {
            skip(Prerequisite::Sandbox, message);
        }
        enforced
    }

    /// With one session and a document that waits for a decision.
    pub(crate) fn with_plan() -> Self {
        let world = Self::new();
        world.agent_drafts(SESSION, PLAN);
        world
    }

    /// With one session and a proposal of three steps that waits for a decision; the second step needs the first.
    pub(crate) fn with_built_plan() -> Self {
        let world = Self::new();
        world.turn_on(SESSION, PlanStyle::Build);
        let call = |tool: &str, arguments| world.agent_calls(SESSION, tool, arguments).unwrap();
        call("plan_create_draft", json!({ "goal": "Move the tables" }));
        call("plan_add_step", json!({ "description": "Write the migration", "agent": "coder" }));
        call("plan_add_step", json!({ "description": "Test it", "agent": "tester", "needs": ["s1"] }));
        call("plan_add_step", json!({ "description": "Tell everybody", "agent": "writer" }));
        let lists = json!({ "assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["f"] });
        call("plan_set_metadata", lists);
        call("plan_submit", json!({}));
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path("planwright.db")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The program with nothing of the tester's own environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
        command.env_clear().env("PLANWRIGHT_DATA", self.folder.path()).env("USER", "ada").env("TZ", "UTC");
        // Scripts approve here; what approvals need has tests of its own.
        command.env("PLANWRIGHT_APPROVAL_REQUIRE", "any");
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    /// Types a line; words are separated by spaces.
    pub(crate) fn run(&self, line: &str) -> Ran {
        ran(self.command().args(line.split_whitespace()))
    }

    pub(crate) fn run_with_input(&self, line: &str, input: &str) -> Ran {
        let mut command = self.command();
        command.args(line.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    /// Types a line with `--json` and reads the answer.
    pub(crate) fn json(&self, line: &str) -> Value {
        self.run(&format!("{line} --json")).done().json()
    }

    /// Does something with the engine on the same store, as another program would.
    pub(crate) fn with_engine<T>(&self, work: impl AsyncFnOnce(Engine) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let ledger = planwright_store::open(&Location::Sqlite(self.store())).await.unwrap();
            let standing_approval = StandingApproval::ReadOnly;
            work(Engine::new(ledger, Policy { standing_approval, ..Policy::default() })).await
        })
    }

    /// A new plan of this style in the session.
    pub(crate) fn turn_on(&self, session: &str, style: PlanStyle) {
        let session: SessionIdentity = session.parse().unwrap();
        self.with_engine(async |engine| {
            let by = Actor::person("ada", "test");
            engine.sessions().open(&session, &by).await.unwrap();
            engine.sessions().enable_plan_mode(&session, &by, style).await.unwrap();
        });
    }

    pub(crate) fn agent_calls(&self, session: &str, tool: &str, arguments: Value) -> Result<Value, Refusal> {
        let session: SessionIdentity = session.parse().unwrap();
        let arguments = arguments.as_object().cloned().unwrap();
        self.with_engine(async |engine| {
            PlanTools::new(&engine).call(&session, &Actor::agent("claude", "mcp"), tool, arguments).await
        })
    }

    /// Stores a document, in a new plan if none is active.
    pub(crate) fn agent_drafts(&self, session: &str, markdown: &str) {
        let parsed: SessionIdentity = session.parse().unwrap();
        self.with_engine(async |engine| {
            let by = Actor::agent("claude", "mcp");
            engine.sessions().open(&parsed, &by).await.unwrap();
            engine.sessions().ensure_plan_mode(&parsed, &by, Some(PlanStyle::Document)).await.unwrap();
        });
        self.agent_calls(session, "plan_set_content", json!({ "plan_markdown": markdown })).unwrap();
    }

    pub(crate) fn active_plan(&self, session: &str) -> Arc<Plan> {
        let session: SessionIdentity = session.parse().unwrap();
        self.with_engine(async |engine| engine.plans().active(&session).await.unwrap())
    }

    pub(crate) fn plan(&self, session: &str, number: u32) -> Arc<Plan> {
        let session: SessionIdentity = session.parse().unwrap();
        let reference = number.to_string().parse().unwrap();
        self.with_engine(async |engine| engine.plans().find(&session, Some(&reference)).await.unwrap())
    }

    pub(crate) fn digest(&self) -> String {
        self.active_plan(SESSION).digest().to_string()
    }

    pub(crate) fn status(&self) -> String {
        self.json(&format!("plan show 1 --session {SESSION}"))["status"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn ran(command: &mut Command) -> Ran {
    command.output().unwrap().into()
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

impl From<std::process::Output> for Ran {
    fn from(output: std::process::Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        self.exits(0)
    }

    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.stdout.contains(text), "{text:?} is not in: {}", self.stdout);
        self
    }

    /// Checks that the output has this text, wherever lines are broken.
    #[track_caller]
    pub(crate) fn tells(self, text: &str) -> Self {
        let flat = self.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(text), "{text:?} is not in: {flat}");
        self
    }

    #[track_caller]
    pub(crate) fn complains(self, text: &str) -> Self {
        assert!(self.stderr.contains(text), "{text:?} is not in: {}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn never_says(self, text: &str) -> Self {
        assert!(!self.stdout.contains(text), "{text:?} is in: {}", self.stdout);
        self
    }

    #[track_caller]
    pub(crate) fn never_complains(self, text: &str) -> Self {
        assert!(!self.stderr.contains(text), "{text:?} is in: {}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }

    /// The error as programs get it; nothing else may be there.
    #[track_caller]
    pub(crate) fn error_json(&self) -> Value {
        assert_eq!(self.stdout, "", "stdout stays clean");
        serde_json::from_str(&self.stderr).unwrap_or_else(|error| panic!("{error}: {}", self.stderr))
    }
}
