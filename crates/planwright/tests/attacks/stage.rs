//! A person and an agent on one machine: each has a terminal of its own, both are the same user, and the agent's program has
//! started `planwright mcp`.

use std::path::{Path, PathBuf};

use planwright_core::approval::Require;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::results::{AttackResult, expected};
use crate::shell::{Ran, Shell, until};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_planwright");
pub(crate) const SESSION: &str = "mcp:attack-one";
pub(crate) const PASSPHRASE: &str = "correct horse battery staple";
pub(crate) const PLAN: &str = "# Empty the bin\n\n- [ ] delete everything\n";

/// Types a guess at a passphrase, again and again, as slowly as a terminal takes it: `script` never ends once its terminal is full.
const GUESSES: &str = "while echo guess; do sleep 0.1; done 2> /dev/null\n";

pub(crate) struct Stage {
    pub(crate) require: Require,
    pub(crate) person: Shell,
    pub(crate) agent: Shell,
    /// A service that runs jobs and is older than the agent. It has no terminal.
    pub(crate) service: Service,
    folder: TempDir,
}

impl Stage {
    /// The agent has drafted a plan that waits for a decision.
    pub(crate) fn new(require: Require) -> Self {
        Self::prepared(require, |person| {
            if require == Require::Verified {
                enrol(person);
            }
        })
    }

    pub(crate) fn without_approver(require: Require) -> Self {
        Self::prepared(require, |_| {})
    }

    /// The person does something before the agent starts.
    fn prepared(require: Require, prepare: impl FnOnce(&mut Shell)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        configure(folder.path(), require);
        std::fs::write(folder.path().join("guess.sh"), GUESSES).unwrap();
        let mut person = Shell::start(folder.path(), "person");
        let service = Service::start(folder.path());
        done(&person.run(&format!("{PROGRAM} plan on --session cli:first-session")));
        prepare(&mut person);
        let begun = person.started().max(service.started);
        // Start times have a hundredth of a second; the agent starts in a later one.
        until(|| (uptime() > begun + 1).then_some(())).unwrap();
        let agent = Shell::start(folder.path(), "agent");
        let mut stage = Self { require, person, agent, service, folder };
        stage.agent_calls(SESSION, "plan_set_content", &json!({ "plan_markdown": PLAN }));
        assert_eq!(stage.status(), "READY");
        stage
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The agent's program starts `planwright mcp` and calls a tool.
    pub(crate) fn agent_calls(&mut self, session: &str, tool: &str, arguments: &Value) -> String {
        let requests = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18",
                "capabilities": {}, "clientInfo": { "name": "agent", "version": "1" } } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool, "arguments": arguments } }),
        ];
        let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
        std::fs::write(self.path("requests"), lines).unwrap();
        let ran = self.agent.run(&format!("{PROGRAM} mcp --session {session} < requests"));
        done(&ran);
        ran.output
    }

    /// The plan, as anyone can read it.
    pub(crate) fn plan(&mut self) -> Value {
        let ran = self.person.run(&format!("{PROGRAM} plan show 1 --session {SESSION} --json"));
        done(&ran);
        serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("{}", ran.output))
    }

    pub(crate) fn status(&mut self) -> String {
        self.plan()["status"].as_str().unwrap().to_owned()
    }

    pub(crate) fn digest(&mut self) -> String {
        self.plan()["digest"].as_str().unwrap().to_owned()
    }

    /// The command that approves exactly the plan.
    pub(crate) fn approve_command(&mut self) -> String {
        format!("{PROGRAM} plan approve 1 --session {SESSION} --digest {} --later", self.digest())
    }

    /// What the attack came to: whether the plan is approved.
    pub(crate) fn result(&mut self) -> AttackResult {
        match self.status().as_str() {
            "READY" => AttackResult::Stopped,
            "APPROVED" | "EXECUTING" => AttackResult::Succeeds,
            other => panic!("the plan is {other}"),
        }
    }

    /// The person approves, with the passphrase where that is needed.
    pub(crate) fn person_approves(&mut self) -> Ran {
        let command = self.approve_command();
        self.person.type_line(&command);
        if self.require == Require::Verified {
            self.person.answer("Passphrase of ada: ", PASSPHRASE);
        }
        self.person.end()
    }

    /// The exit code and the words of `planwright verify`.
    pub(crate) fn verify(&mut self, arguments: &str) -> Ran {
        self.person.run(&format!("{PROGRAM} verify {arguments}"))
    }
}

/// Writes the setting into the configuration.
pub(crate) fn configure(folder: &Path, require: Require) {
    let text = format!("[approval]\nrequire = \"{require}\"\n");
    std::fs::write(folder.join("planwright.toml"), text).unwrap();
}

/// Runs an attack under each policy and compares its result with the list.
#[track_caller]
pub(crate) fn attack(name: &str, mut attempt: impl FnMut(&mut Stage) -> AttackResult) {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::new(require);
        attempt(&mut stage)
    });
    assert_eq!(results, expected(name), "{name} under any, separate, verified");
}

/// The attack is one command of the agent's shell. What the agent is told is not a crash.
#[track_caller]
pub(crate) fn shell_attack(name: &str, line: impl Fn(&mut Stage) -> String) {
    attack(name, |stage| {
        let line = line(stage);
        let ran = stage.agent.run(&line);
        assert!(!ran.output.contains("panicked"), "{}", ran.output);
        stage.result()
    });
}

/// Enrols the person as the first approver.
pub(crate) fn enrol(person: &mut Shell) {
    person.type_line(&format!("{PROGRAM} approver add ada"));
    person.answer("New passphrase for ada: ", PASSPHRASE);
    person.answer("The same again: ", PASSPHRASE);
    done(&person.end());
}

#[track_caller]
pub(crate) fn done(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}", ran.output);
}

/// In hundredths of a second since the machine started.
fn uptime() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap();
    let seconds: f64 = text.split_whitespace().next().unwrap().parse().unwrap();
    (seconds * 100.0) as u64
}

/// Runs the jobs that it finds in a folder, one after another, as `cron` and `at` do.
pub(crate) struct Service {
    child: std::process::Child,
    started: u64,
    jobs: PathBuf,
}

const SERVICE: &str = r#"while [ -d "$1" ]; do
  for job in "$1"/*.job; do
    [ -e "$job" ] || { sleep 0.02; continue; }
    mv "$job" "$job.begun"
    sh "$job.begun" > "$job.out" 2>&1
    mv "$job.begun" "$job.done"
  done
done
"#;

impl Service {
    fn start(folder: &Path) -> Self {
        use std::process::{Command, Stdio};
        let (program, jobs) = (folder.join("service.sh"), folder.join("jobs"));
        std::fs::create_dir(&jobs).unwrap();
        std::fs::write(&program, SERVICE).unwrap();
        let mut command = Command::new("setsid");
        command.args(["--wait", "sh"]).arg(program).arg(&jobs).current_dir(folder);
        command.env("PLANWRIGHT_DATA", folder).env_remove("PLANWRIGHT_APPROVAL_REQUIRE");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().unwrap();
        Self { child, started: uptime(), jobs }
    }

    /// Has a job done, and waits for its end.
    pub(crate) fn run(&self, line: &str) -> String {
        let file = |kind: &str| self.jobs.join(format!("one.{kind}"));
        std::fs::write(file("new"), format!("{line}\n")).unwrap();
        std::fs::rename(file("new"), file("job")).unwrap();
        until(|| file("job.done").exists().then_some(())).expect("the job never ended");
        std::fs::read_to_string(file("job.out")).unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.jobs);
        let _ = self.child.wait();
    }
}
