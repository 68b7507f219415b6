//! Shell commands in a workspace, in the sandbox: `run_command`, and for commands in the background `command_output` and
//! `stop_command`.
//!
//! - [`run`]: a command that is waited for, or started in the background
//! - [`background`]: the commands that run beside a turn or an execution, and the tools for them
//! - [`shown`]: the output as a person sees it while the command runs
//! - [`answer`]: the result as the model reads it
//!
//! The sandbox ends everything that a command started: at its end, at its time limit, when the call is dropped, and when
//! this process dies.

mod answer;
mod background;
mod run;
mod shown;

use std::sync::Arc;
use std::time::Duration;

use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_sandbox::{CommandLimits, Sandbox, SandboxError, SandboxLevel};

use super::files::FileTools;
use super::{Tool, ToolContext};
use crate::tool_schema::Arguments;
use background::{BackgroundCommands, CommandOutputTool, StopCommandTool};
use run::RunCommandTool;

/// The tools for commands; clones share them.
#[derive(Debug, Clone)]
pub struct CommandTools {
    shared: Arc<Shared>,
}

#[derive(Debug, Clone)]
pub struct CommandOptions {
    pub level: SandboxLevel,
    /// Variables with a value that every command gets.
    pub environment: Vec<(String, String)>,
    /// The time limit of a command that names none.
    pub timeout: Duration,
    /// The longest time limit that a command may name.
    pub longest_timeout: Duration,
    /// The bytes of the output that the model reads, half of them from the beginning and half from the end.
    pub output_bytes: usize,
    /// The bytes of the output that are kept in a file.
    pub file_bytes: u64,
    /// The memory of a command, in bytes; no limit if absent.
    pub memory: Option<u64>,
}

impl Default for CommandOptions {
    fn default() -> Self {
        Self {
            level: SandboxLevel::default(),
            environment: Vec::new(),
            timeout: Duration::from_secs(120),
            longest_timeout: Duration::from_secs(600),
            output_bytes: 16 * 1024,
            file_bytes: CommandLimits::default().file_bytes,
            memory: None,
        }
    }
}

#[derive(Debug)]
struct Shared {
    sandbox: Sandbox,
    files: FileTools,
    options: CommandOptions,
    background: BackgroundCommands,
    /// Why this system cannot enforce the level.
    not_enforceable: Option<String>,
}

impl CommandTools {
    /// Tries out what the system can enforce, which takes some milliseconds.
    pub fn new(sandbox: Sandbox, files: FileTools, options: CommandOptions) -> Self {
        let not_enforceable = sandbox.support().refusal(options.level);
        let background = BackgroundCommands::default();
        Self { shared: Arc::new(Shared { sandbox, files, options, background, not_enforceable }) }
    }

    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![
            Arc::new(RunCommandTool::new(&self.shared)),
            Arc::new(CommandOutputTool::new(&self.shared)),
            Arc::new(StopCommandTool::new(&self.shared)),
        ]
    }
}

/// The shell line of a call of `run_command`.
pub fn command_line(arguments: &Arguments) -> Option<&str> {
    arguments.get("command")?.as_str()
}

impl Shared {
    /// Refuses every command where the level of the settings cannot be enforced.
    fn check_enforceable(&self) -> Result<(), Refusal> {
        let Some(reason) = &self.not_enforceable else { return Ok(()) };
        let level = self.options.level;
        let error = SandboxError::NotEnforceable { level, reason: reason.clone() };
        Err(refusal(&error))
    }

    /// The level of a call: that of the specialist who makes it, else that of the settings.
    fn level_for(&self, context: ToolContext<'_>) -> Result<SandboxLevel, Refusal> {
        let named = context.sandbox_level().map(|name| name.parse().map_err(|error| refusal(&error)));
        named.unwrap_or(Ok(self.options.level))
    }

    fn limits(&self, timeout: Option<Duration>) -> CommandLimits {
        let half = self.options.output_bytes.div_ceil(2);
        CommandLimits {
            timeout,
            head_bytes: half,
            tail_bytes: half,
            file_bytes: self.options.file_bytes,
            memory: self.options.memory,
            ..CommandLimits::default()
        }
    }
}

/// Why a command was not started, as a refusal.
fn refusal(error: &SandboxError) -> Refusal {
    let message = error.to_string();
    match error {
        SandboxError::NotEnforceable { .. } => Refusal::policy_denied(format!(
            "{message} The person chooses it with the setting `sandbox.level`; `planwright doctor` says more."
        )),
        SandboxError::WorkingFolder { .. }
        | SandboxError::NulByte
        | SandboxError::UnknownLevel(_)
        | SandboxError::NoProgram(_) => Refusal::invalid(sentence(&message)),
        SandboxError::TooLong { .. } => Refusal::limit(sentence(&message)),
        SandboxError::Workspace { .. } => Refusal::policy_denied(sentence(&message)),
        SandboxError::OutputFile { .. } | SandboxError::Scratch(_) | SandboxError::Start(_) => {
            Refusal::new(RefusalCode::Unavailable, sentence(&message))
        }
    }
}

fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
