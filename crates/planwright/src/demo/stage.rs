//! The folder of the demonstration, a terminal for the person and one for the agent's program, and commands in them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::model::PlayedModel;
use super::observed::{Ran, SeenPlan};
use super::terminal::DemoTerminal;
use crate::failure::Failure;
use crate::terminal::palette::{COMMAND, DIM};
use crate::terminal::screen::Screen;
use crate::terminal::text::{paint, shown_line};

/// How long one command may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Start times of processes are told in hundredths of a second.
const LATER: Duration = Duration::from_millis(50);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The lines of an answer that are shown.
const MAX_LINES: usize = 4;
/// The name of the agent's program, as the system tells it.
pub(super) const AGENT: &str = "demo-agent";

/// Why a step has no good end.
#[derive(Debug)]
pub(super) enum Broken {
    /// It was tried, and something else was seen than is promised.
    DoesNotHold(String),
    /// It could not be tried, or the person stopped the demonstration.
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Broken {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

pub(super) type StepResult<T = String> = Result<T, Broken>;

/// Who types a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Person,
    Agent,
}

#[derive(Debug)]
pub(super) struct Stage {
    // Terminals end before the folder goes.
    person: DemoTerminal,
    agent: DemoTerminal,
    pub(super) model: PlayedModel,
    screen: Screen,
    stopped: Arc<AtomicBool>,
    scripts: u32,
    sandbox: String,
    folder: TempDir,
}

impl Stage {
    pub(super) fn new(screen: Screen, stopped: Arc<AtomicBool>) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("planwright-demo-")
            .tempdir()
            .map_err(|error| Failure::unavailable(format!("a temporary folder cannot be made: {error}")))?;
        let path = folder.path();
        // A work tree of its own, wherever the folder is.
        for name in ["bin", "data", "home", "project/.git"] {
            fs::create_dir_all(path.join(name)).map_err(failed)?;
        }
        std::os::unix::fs::symlink(own_program()?, path.join("bin/planwright")).map_err(failed)?;
        let shell = Path::new("/bin/sh");
        std::os::unix::fs::symlink(shell, path.join(AGENT)).map_err(failed)?;
        let model = PlayedModel::start()?;
        let variables = variables(path, &model);
        let person = open(path, shell, "person", &variables, &stopped)?;
        // A terminal counts as a person's if it was there before the agent's program.
        std::thread::sleep(LATER);
        let agent = open(path, &path.join(AGENT), "agent", &variables, &stopped)?;
        let sandbox = sandbox(path);
        Ok(Self { person, agent, model, screen, stopped, scripts: 0, sandbox, folder })
    }

    pub(super) fn introduction(&self) -> String {
        format!(
            "A person at a terminal, the program of an agent in another one, and a store in a temporary folder. Nothing of yours is touched, \
             no key is used, and nothing leaves this machine.\n\
             Lines after {} are what was run; what follows each is what this very program answered.\n\
             Sandbox for commands of an agent: {}.\n",
            paint("$", DIM),
            shown_line(&self.sandbox),
        )
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Ends the terminals and removes the folder.
    pub(super) fn remove(self) -> Result<(), Failure> {
        let Self { person, agent, folder, .. } = self;
        drop((person, agent));
        let path = folder.path().display().to_string();
        folder.close().map_err(|error| Failure::unexpected(format!("{path} could not be removed: {error}")))
    }

    /// Has a command typed, and shows it with the answer.
    pub(super) fn types(&mut self, who: Who, line: &str) -> StepResult<Ran> {
        self.tell_typed(who, line)?;
        let number = self.begin(who, line)?;
        let ran = self.end(number)?;
        self.tell_answer(&ran)?;
        Ok(ran)
    }

    /// Has a command typed that does not end yet, and gives the number of its files.
    pub(super) fn begin(&mut self, who: Who, line: &str) -> StepResult<u32> {
        self.scripts += 1;
        let number = self.scripts;
        fs::write(self.path(&format!("{number}.sh")), format!("{line}\n")).map_err(failed)?;
        let terminal = match who {
            Who::Person => &self.person,
            Who::Agent => &self.agent,
        };
        terminal.type_in(&format!("{number}\n"))?;
        Ok(number)
    }

    /// Waits for the end of a command.
    pub(super) fn end(&self, number: u32) -> StepResult<Ran> {
        let file = |kind: &str| fs::read_to_string(self.path(&format!("{number}.{kind}"))).ok();
        let code = self.until("a command did not end", || file("code"))?;
        let code = code.trim().parse().unwrap_or(-1);
        Ok(Ran { code, stdout: file("out").unwrap_or_default(), stderr: file("err").unwrap_or_default() })
    }

    /// The agent's program calls a tool of `planwright mcp`.
    pub(super) fn calls(&mut self, tool: &str, arguments: &Value) -> StepResult<Value> {
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": AGENT, "version": "1" } });
        let messages = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool, "arguments": arguments } }),
        ];
        let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
        fs::write(self.path("requests"), lines).map_err(failed)?;
        self.tell_typed(Who::Agent, &format!("planwright mcp   (calls {tool})"))?;
        let number = self.begin(Who::Agent, "cd project && exec planwright mcp < ../requests")?;
        let ran = self.end(number)?;
        if ran.code != 0 {
            return Err(Broken::DoesNotHold(format!(
                "`planwright mcp` ended with exit code {}: {}",
                ran.code,
                ran.message()
            )));
        }
        Ok(ran.called())
    }

    /// Has this very program look at the store, beside the person and the agent.
    pub(super) fn look(&self, arguments: &[&str]) -> StepResult<Ran> {
        Ok(look(self.folder.path(), arguments)?)
    }

    /// The plan as the store has it.
    pub(super) fn plan(&self, session: &str) -> StepResult<SeenPlan> {
        let ran = self.look(&["plan", "show", "1", "--session", session, "--json"])?;
        let unread = || Broken::DoesNotHold(format!("the plan cannot be read: {}", ran.message()));
        SeenPlan::read(&ran.json()).ok_or_else(unread)
    }

    pub(super) fn tell_typed(&self, who: Who, line: &str) -> Result<(), Failure> {
        let who = match who {
            Who::Person => "person",
            Who::Agent => "agent ",
        };
        self.screen.print(&format!("  {} {}\n", paint(&format!("{who} $"), DIM), paint(&shown_line(line), COMMAND)))
    }

    /// The first lines that a command printed.
    pub(super) fn tell_answer(&self, ran: &Ran) -> Result<(), Failure> {
        let lines = ran.message().lines().map(str::trim_end).filter(|line| !line.is_empty()).take(MAX_LINES);
        let text: String = lines.map(|line| format!("    {}\n", shown_line(line))).collect();
        let code = if ran.code == 0 {
            String::new()
        } else {
            format!("    {}\n", paint(&format!("(exit code {})", ran.code), DIM))
        };
        self.screen.print(&format!("{text}{code}"))
    }

    pub(super) fn tell(&self, seen: &str) -> Result<(), Failure> {
        self.screen.print(&format!("    {}\n", shown_line(seen)))
    }

    /// Waits for something that another process does.
    pub(super) fn until<T>(&self, otherwise: &str, look: impl FnMut() -> Option<T>) -> StepResult<T> {
        Ok(until(&self.stopped, otherwise, look)?)
    }
}

/// A file or a process of the demonstration cannot be made.
pub(super) fn failed(error: io::Error) -> Failure {
    Failure::unexpected(format!("the demonstration cannot go on: {error}"))
}

pub(super) fn own_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(failed)
}

fn until<T>(stopped: &AtomicBool, otherwise: &str, mut look: impl FnMut() -> Option<T>) -> Result<T, Failure> {
    let begun = Instant::now();
    while begun.elapsed() < TIMEOUT {
        if stopped.load(Ordering::Relaxed) {
            return Err(Failure::declined("The demonstration was stopped; what it made is removed."));
        }
        if let Some(found) = look() {
            return Ok(found);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Err(Failure::unavailable(format!("{otherwise} within {} seconds", TIMEOUT.as_secs())))
}

/// A terminal, once a shell works in it.
fn open(
    folder: &Path,
    program: &Path,
    name: &str,
    variables: &[(&str, String)],
    stopped: &AtomicBool,
) -> Result<DemoTerminal, Failure> {
    let mut terminal = DemoTerminal::open(folder, program, name, variables)?;
    let begun = || fs::read_to_string(folder.join(format!("{name}.pid"))).ok()?.trim().parse().ok();
    terminal.has_begun(until(stopped, "no shell began in a terminal of the demonstration", begun)?);
    Ok(terminal)
}

/// The environment of everything that is started: nothing of the person's own settings.
fn variables(folder: &Path, model: &PlayedModel) -> Vec<(&'static str, String)> {
    let text = |name: &str| folder.join(name).display().to_string();
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    vec![
        ("PATH", format!("{}:{path}", text("bin"))),
        ("HOME", text("home")),
        ("TMPDIR", folder.display().to_string()),
        ("USER", "ada".to_owned()),
        ("TERM", "dumb".to_owned()),
        ("PLANWRIGHT_DATA", text("data")),
        ("PLANWRIGHT_MODEL", "openai:demo".to_owned()),
        ("OPENAI_BASE_URL", model.address.clone()),
        ("OPENAI_API_KEY", "none".to_owned()),
    ]
}

fn look(folder: &Path, arguments: &[&str]) -> Result<Ran, Failure> {
    let mut command = Command::new(own_program()?);
    command.args(arguments).env_clear().env("PLANWRIGHT_DATA", folder.join("data")).env("HOME", folder.join("home"));
    let output = command.current_dir(folder).stdin(Stdio::null()).output().map_err(failed)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Ran { code: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) })
}

/// What `planwright doctor` says about the sandbox.
fn sandbox(folder: &Path) -> String {
    let doctor = look(folder, &["doctor", "--json"]).map(|ran| ran.json()).unwrap_or_default();
    let checks = doctor["checks"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = checks.iter().find(|check| check["name"] == "sandbox").and_then(|check| check["words"].as_str());
    found.map_or_else(
        || "`planwright doctor` says nothing about it".to_owned(),
        |words| words.trim_end_matches('.').to_owned(),
    )
}
