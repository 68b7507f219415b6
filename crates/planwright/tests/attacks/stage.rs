//! A person and an agent on one machine: each has a terminal of its own, both are the same user, and the agent's program has
//! started `planwright mcp`.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use planwright_core::approval::Require;
use planwright_test_support::prerequisites::{Prerequisite, skip};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::place::{self, TestFile, compare};
use crate::results::AttackResult;
use crate::shell::{Ran, Shell, until};

pub(crate) const PROGRAM: TestFile = TestFile(env!("CARGO_BIN_EXE_planwright"));
pub(crate) const SESSION: &str = "mcp:attack-one";
pub(crate) const PASSPHRASE: &str = "correct horse battery staple";
pub(crate) const PLAN: &str = "# Empty the bin\n\n- [ ] delete everything\n";

/// Types a guess at a passphrase, again and again, as slowly as a terminal takes it: `script` never ends once its terminal is full.
const GUESSES: &str = "while echo guess; do sleep 0.1; done 2> /dev/null\n";

/// Opens a terminal for a program, under a process name of its choice, and answers the questions in it. With the terminal the agent
/// can do what a person can, except to know a passphrase that it did not set itself.
const TERMINAL: &str = r#"import ctypes, os, pty, sys
answers = [(b"New passphrase", b"correct horse battery staple"), (b"The same again", b"correct horse battery staple"),
    (b"Passphrase of mallory", b"correct horse battery staple"), (b"Passphrase of", b"let me in"), (b"[y/N]", b"y"), (b"[Y/n]", b"y")]
seen = b""
def read(fd):
    global seen
    data = os.read(fd, 1024)
    seen += data
    for question, answer in answers:
        if question in seen:
            seen = seen.split(question, 1)[1]
            os.write(fd, answer + b"\n")
            break
    return data
if sys.argv[1] != "-":
    ctypes.CDLL(None).prctl(15, sys.argv[1].encode())
# The number of a terminal that has ended is not used again.
spare = [os.openpty() for _ in range(4)]
status = pty.spawn(sys.argv[2:], read, lambda fd: b"")
sys.exit(os.waitstatus_to_exitcode(status))
"#;

/// An agent that speaks MCP over HTTP: one call of a tool.
const HTTP_CLIENT: &str = r#"import json, sys, urllib.request
url, token, requests = sys.argv[1:]
headers = {"authorization": "Bearer " + token, "content-type": "application/json",
    "accept": "application/json, text/event-stream"}
for line in open(requests):
    request = urllib.request.Request(url, line.encode(), headers)
    with urllib.request.urlopen(request) as answer:
        if answer.headers["mcp-session-id"]:
            headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        print(answer.read().decode())
"#;

/// Runs a program and adopts the processes that it leaves behind.
const SUBREAPER: &str = r#"import ctypes, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1)
child = os.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while os.wait()[0] != child:
    pass
"#;

pub(crate) struct Stage {
    pub(crate) require: Require,
    pub(crate) person: Shell,
    pub(crate) agent: Shell,
    /// A service that runs jobs and is older than the agent. It has no terminal.
    pub(crate) service: Service,
    folder: TempDir,
    /// Counts the detached processes.
    detached: u32,
}

impl Stage {
    /// The agent has drafted a plan that waits for a decision.
    pub(crate) fn new(require: Require) -> Self {
        Self::with_settings(require, "")
    }

    /// A stage whose store is made with more settings of the person.
    pub(crate) fn with_settings(require: Require, settings: &str) -> Self {
        Self::prepared(require, settings, &[], |person| {
            if require == Require::Verified {
                enrol(person);
            }
        })
    }

    pub(crate) fn without_approver(require: Require) -> Self {
        Self::prepared(require, "", &[], |_| {})
    }

    /// The person has a `tmux`.
    pub(crate) fn with_tmux(require: Require) -> Self {
        Self::prepared(require, "", &[], |person| {
            if require == Require::Verified {
                enrol(person);
            }
            done(&person.run("tmux -S tmux.socket -f /dev/null new-session -d sh"));
            next_instant();
        })
    }

    /// The service adopts processes whose parents have ended, as the managers of sessions and containers do.
    pub(crate) fn with_subreaper(require: Require) -> Self {
        Self::prepared(require, "", &["python3", "subreaper.py"], |person| {
            if require == Require::Verified {
                enrol(person);
            }
        })
    }

    /// No program of an agent has started `planwright mcp`.
    pub(crate) fn without_agent(require: Require, settings: &str) -> Self {
        Self::begun(require, settings, &[], |person| {
            if require == Require::Verified {
                enrol(person);
            }
        })
    }

    fn prepared(require: Require, settings: &str, service: &[&str], prepare: impl FnOnce(&mut Shell)) -> Self {
        let mut stage = Self::begun(require, settings, service, prepare);
        stage.agent_calls(SESSION, "plan_set_content", &json!({ "plan_markdown": PLAN }));
        assert_eq!(stage.status(), "READY");
        stage
    }

    /// The person does something before the agent's shell starts.
    fn begun(require: Require, settings: &str, service: &[&str], prepare: impl FnOnce(&mut Shell)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        place::make_store(folder.path());
        configure_with(folder.path(), require, settings);
        let files =
            [("guess.sh", GUESSES), ("terminal.py", TERMINAL), ("client.py", HTTP_CLIENT), ("subreaper.py", SUBREAPER)];
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let mut person = Shell::start(folder.path(), "person");
        let service = Service::start(folder.path(), service);
        done(&person.run(&format!("{PROGRAM} plan on --session cli:first-session")));
        prepare(&mut person);
        let begun = person.started().max(service.started);
        // Start times have a hundredth of a second; the agent starts in a later one.
        until(|| (uptime() > begun + 1).then_some(())).unwrap();
        let agent = Shell::start_within(folder.path(), "agent", place::around_agent());
        Self { require, person, agent, service, folder, detached: 0 }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The agent's program and all of its processes end.
    pub(crate) fn end_agent(&mut self) {
        let folder = self.folder.path().to_owned();
        self.agent.finish();
        // Another terminal takes the place, and nothing is run in it.
        self.agent = Shell::start(&folder, "unused");
        self.agent.finish();
    }

    /// Writes a file with commands that the agent's shell can run.
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The agent's program starts `planwright mcp` and calls a tool.
    pub(crate) fn agent_calls(&mut self, session: &str, tool: &str, arguments: &Value) -> String {
        self.write_requests(tool, arguments);
        let ran = self.agent.run(&format!("{PROGRAM} mcp --session {session} < requests"));
        done(&ran);
        ran.output
    }

    /// A file with what a client of MCP sends for one call of a tool.
    pub(crate) fn write_requests(&self, tool: &str, arguments: &Value) {
        let requests = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18",
                "capabilities": {}, "clientInfo": { "name": "agent", "version": "1" } } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool, "arguments": arguments } }),
        ];
        let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
        self.write("requests", &lines);
    }

    /// Begins a process of the agent whose parent ends at once, so that the system adopts it. `how` is `setsid` for one in a
    /// session of its own.
    pub(crate) fn detach(&mut self, how: &str, command: &str) -> Detached {
        self.detached += 1;
        let name = format!("orphan{}", self.detached);
        let waits = "until [ \"$(cut -d' ' -f4 /proc/$$/stat)\" != \"$1\" ]; do :; done";
        let runs = format!("{command}\n) > {name}.out 2>&1\necho $? > {name}.tmp\nmv {name}.tmp {name}.code");
        self.write(&format!("{name}.sh"), &format!("{waits}\n(\n{runs}\n"));
        // The subshell that is its parent ends at once.
        done(&self.agent.run(&format!("sh -c '{how} sh {name}.sh $$ < /dev/null &'")));
        Detached { files: self.path(&name) }
    }

    /// The plan, as anyone can read it.
    pub(crate) fn plan(&mut self) -> Value {
        self.plan_of(SESSION, 1)
    }

    pub(crate) fn plan_of(&mut self, session: &str, number: u32) -> Value {
        let ran = self.person.run(&format!("{PROGRAM} plan show {number} --session {session} --json"));
        done(&ran);
        serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("{}", ran.output))
    }

    /// What the journals say that a person did, in all sessions.
    pub(crate) fn acts_of_people(&self) -> Vec<Value> {
        self.journal().into_iter().filter(|entry| entry["by"]["kind"] == "person").collect()
    }

    /// The entries of the journals of all sessions.
    pub(crate) fn journal(&self) -> Vec<Value> {
        let bodies = place::texts(self.folder(), "SELECT body FROM journal ORDER BY session_id, seq");
        bodies.iter().map(|body| serde_json::from_str(body).unwrap()).collect()
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

    /// The result of the attack: whether the plan is approved.
    pub(crate) fn result(&mut self) -> AttackResult {
        result_of(&self.plan())
    }

    /// The person runs a command that has to work, with the passphrase if it is asked for.
    pub(crate) fn person_runs(&mut self, line: &str) -> String {
        let ran = self.person.run_answering(line, &[("Passphrase of ada", PASSPHRASE)]);
        done(&ran);
        ran.output
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

pub(crate) fn result_of(plan: &Value) -> AttackResult {
    match plan["status"].as_str().unwrap() {
        "READY" => AttackResult::Stopped,
        "APPROVED" | "EXECUTING" => AttackResult::Succeeds,
        other => panic!("the plan is {other}"),
    }
}

/// `Succeeds` if the agent got what it wanted.
pub(crate) fn result_if(succeeded: bool) -> AttackResult {
    if succeeded { AttackResult::Succeeds } else { AttackResult::Stopped }
}

/// A detached process of the agent, and its output.
pub(crate) struct Detached {
    files: PathBuf,
}

impl Detached {
    /// A file that is there once it has ended.
    pub(crate) fn ended(&self) -> PathBuf {
        self.files.with_extension("code")
    }

    /// Waits for its end.
    pub(crate) fn end(&self) -> Ran {
        let file = |kind: &str| std::fs::read_to_string(self.files.with_extension(kind));
        let code = until(|| file("code").ok());
        let output = file("out").unwrap_or_default();
        let code = code.unwrap_or_else(|| panic!("it never ended: {output}"));
        Ran { code: code.trim().parse().unwrap(), output }
    }
}

/// The command in a terminal that the agent opens for it.
pub(crate) fn in_terminal(command: &str) -> String {
    in_terminal_of("-", command)
}

/// The command in a terminal that a process of this name opens for it.
pub(crate) fn in_terminal_of(name: &str, command: &str) -> String {
    format!("python3 terminal.py {name} {command} < /dev/null")
}

/// Whether a process here can have users and processes of its own, as `unshare` makes them. If not, the test is skipped.
pub(crate) fn has_namespaces() -> bool {
    let made = std::process::Command::new("unshare").args(["-Urpf", "--mount-proc", "true"]).output();
    let why = match made {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    skip(Prerequisite::Sandbox, &format!("`unshare -Urpf --mount-proc` does not work here ({why})"));
    false
}

/// Writes the setting into the configuration.
pub(crate) fn configure(folder: &Path, require: Require) {
    configure_with(folder, require, "");
}

/// Writes the configuration with other settings after the requirement.
pub(crate) fn configure_with(folder: &Path, require: Require, settings: &str) {
    let database = place::setting(folder);
    let text = format!("{database}[approval]\nrequire = \"{require}\"\n\n{settings}");
    std::fs::write(folder.join("planwright.toml"), text).unwrap();
}

/// Runs an attack under each policy and compares its result with the list.
#[track_caller]
pub(crate) fn attack(name: &str, attempt: impl FnMut(&mut Stage) -> AttackResult) {
    attack_with("", name, attempt);
}

/// Runs an attack with more settings of the person.
#[track_caller]
pub(crate) fn attack_with(settings: &str, name: &str, mut attempt: impl FnMut(&mut Stage) -> AttackResult) {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::with_settings(require, settings);
        attempt(&mut stage)
    });
    compare(name, results);
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

/// Waits until a process that starts now is younger than all that run, as far as start times tell.
pub(crate) fn next_instant() {
    let begun = uptime();
    until(|| (uptime() > begun + 1).then_some(())).unwrap();
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
    /// The names of jobs; an empty one ends the service.
    queue: File,
}

const SERVICE: &str = r#"while read -r job < "$1/queue" && [ -n "$job" ]; do
  sh "$1/$job" > "$1/$job.out" 2>&1
  mv "$1/$job" "$1/$job.done"
done
"#;

impl Service {
    fn start(folder: &Path, runner: &[&str]) -> Self {
        use std::process::{Command, Stdio};
        let (program, jobs) = (folder.join("service.sh"), folder.join("jobs"));
        std::fs::create_dir(&jobs).unwrap();
        std::fs::write(&program, SERVICE).unwrap();
        let made = Command::new("mkfifo").arg(jobs.join("queue")).status().unwrap();
        assert!(made.success());
        // It is open for reading, too, so that a line stays in it until the service reads it.
        let queue = File::options().read(true).write(true).open(jobs.join("queue")).unwrap();
        let mut command = Command::new("setsid");
        command.arg("--wait").args(runner).arg("sh").arg(program).arg(&jobs).current_dir(folder);
        command.env("PLANWRIGHT_DATA", folder).env_remove("PLANWRIGHT_APPROVAL_REQUIRE");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn().unwrap();
        Self { child, started: uptime(), jobs, queue }
    }

    /// The process that runs the jobs, or that looks after what runs them.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has a job done, and waits for its end.
    pub(crate) fn run(&self, line: &str) -> String {
        let file = |name: &str| self.jobs.join(name);
        let _ = std::fs::remove_file(file("job.done"));
        std::fs::write(file("job"), format!("{line}\n")).unwrap();
        (&self.queue).write_all(b"job\n").unwrap();
        until(|| file("job.done").exists().then_some(())).expect("the job never ended");
        std::fs::read_to_string(file("job.out")).unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.queue.write_all(b"\n");
        let _ = self.child.wait();
    }
}
