//! Commands that run beside the turn or the execution that started them, and end with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_sandbox::{CommandMonitor, CommandStopper, RunningCommand};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::timeout;

use super::{Shared, answer};
use crate::session::lease::LeaseEnd;
use crate::tool_schema::{self, Arguments};
use crate::toolbox::files::{CommandFolder, FileTools};
use crate::toolbox::{Tool, ToolAnswer, ToolContext};

const COMMAND_OUTPUT: &str = "command_output";
const STOP_COMMAND: &str = "stop_command";
/// Commands of a session that run in the background at one time.
const MAX_COMMANDS: usize = 8;
const MAX_WAIT: u32 = 60;

/// The background commands of every session. A command is listed until its turn or execution is over.
#[derive(Debug, Clone, Default)]
pub(super) struct BackgroundCommands {
    listed: Arc<Mutex<HashMap<SessionIdentity, Vec<BackgroundCommand>>>>,
}

#[derive(Debug, Clone)]
struct BackgroundCommand {
    number: u64,
    monitor: CommandMonitor,
    stopper: CommandStopper,
}

impl BackgroundCommands {
    pub(super) fn check_room(&self, session: &SessionIdentity) -> Result<(), Refusal> {
        let listed = self.listed();
        let running = listed.get(session).into_iter().flatten().filter(|command| command.monitor.result().is_none());
        if running.count() < MAX_COMMANDS {
            return Ok(());
        }
        Err(Refusal::limit(format!(
            "{MAX_COMMANDS} commands run in the background; end one with {STOP_COMMAND} first."
        )))
    }

    /// Lets the command run until it ends by itself, is stopped, or its turn or execution is over.
    pub(super) fn keep(
        &self,
        session: &SessionIdentity,
        number: u64,
        running: RunningCommand,
        end: LeaseEnd,
        files: FileTools,
    ) {
        let command = BackgroundCommand { number, monitor: running.monitor(), stopper: running.stopper() };
        self.listed().entry(session.clone()).or_default().push(command);
        let (commands, session) = (self.clone(), session.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = end.wait() => {}
                _ = running.wait() => end.wait().await,
            }
            // This ends the command.
            drop(running);
            commands.forget(&session, number);
            if !commands.is_any(&session) {
                files.take_baseline(&session);
            }
        });
    }

    /// Whether the session has a command here that was started in the turn or execution that is under way.
    pub(super) fn is_any(&self, session: &SessionIdentity) -> bool {
        self.listed().contains_key(session)
    }

    fn forget(&self, session: &SessionIdentity, number: u64) {
        let mut listed = self.listed();
        if let Some(commands) = listed.get_mut(session) {
            commands.retain(|command| command.number != number);
            if commands.is_empty() {
                listed.remove(session);
            }
        }
    }

    fn find(&self, session: &SessionIdentity, number: u64) -> Result<BackgroundCommand, Refusal> {
        let listed = self.listed();
        let found = listed.get(session).into_iter().flatten().find(|command| command.number == number);
        found.cloned().ok_or_else(|| {
            Refusal::not_found(format!(
                "No command {number} runs in the background. Commands end with their turn or execution; \
                 {} has what it wrote, if there was one.",
                CommandFolder::shown_output(number)
            ))
        })
    }

    fn listed(&self) -> MutexGuard<'_, HashMap<SessionIdentity, Vec<BackgroundCommand>>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BackgroundCommand {
    fn answer(&self) -> ToolAnswer {
        let mut answered = match self.monitor.result() {
            Some(result) => answer::ended(self.number, &result, None),
            None => answer::output(self.number, &self.monitor.output()).into(),
        };
        answered.value["id"] = self.number.into();
        answered.value["running"] = self.monitor.result().is_none().into();
        answered.value["output_file"] = CommandFolder::shown_output(self.number).into();
        // Looking at a command that failed is no failure.
        answered.failure = None;
        answered
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CommandOutput {
    /// The `id` that run_command answered with.
    id: u64,
    /// How long to wait for the end of the command first.
    #[serde(default)]
    wait_seconds: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StopCommand {
    /// The `id` that run_command answered with.
    id: u64,
}

#[derive(Debug)]
pub(super) struct CommandOutputTool {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct StopCommandTool {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

impl CommandOutputTool {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        let spec = ToolSpec {
            name: COMMAND_OUTPUT.to_owned(),
            description: include_str!("descriptions/command_output.md").trim_end().to_owned(),
            input_schema: tool_schema::schema_of::<CommandOutput>(),
        };
        Self { spec, shared: Arc::clone(shared) }
    }
}

impl StopCommandTool {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        let spec = ToolSpec {
            name: STOP_COMMAND.to_owned(),
            description: include_str!("descriptions/stop_command.md").trim_end().to_owned(),
            input_schema: tool_schema::schema_of::<StopCommand>(),
        };
        Self { spec, shared: Arc::clone(shared) }
    }
}

fn parse_output(arguments: Arguments) -> Result<CommandOutput, Refusal> {
    let call: CommandOutput = tool_schema::parse(COMMAND_OUTPUT, arguments)?;
    if call.wait_seconds.is_some_and(|seconds| seconds > MAX_WAIT) {
        return Err(Refusal::limit(format!("`wait_seconds` is {MAX_WAIT} at most.")));
    }
    Ok(call)
}

#[async_trait]
impl Tool for CommandOutputTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        ToolEffect::ReadsOnly
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        parse_output(arguments.clone()).map(drop)
    }

    fn time_limit(&self, _arguments: &Arguments, default: Duration) -> Duration {
        default.max(Duration::from_secs(u64::from(MAX_WAIT) + 10))
    }

    fn has_background(&self, session: &SessionIdentity) -> bool {
        self.shared.background.is_any(session)
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let call = parse_output(arguments)?;
        let command = self.shared.background.find(context.session, call.id)?;
        let wait = Duration::from_secs(call.wait_seconds.unwrap_or(0).into());
        // Whether it has ended by then or not, the answer says.
        let _ = timeout(wait, command.monitor.wait()).await;
        Ok(command.answer())
    }
}

#[async_trait]
impl Tool for StopCommandTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// It changes nothing but a command that a permitted call of the same turn or execution started.
    fn effect(&self) -> ToolEffect {
        ToolEffect::ReadsOnly
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        tool_schema::parse::<StopCommand>(STOP_COMMAND, arguments.clone()).map(drop)
    }

    fn has_background(&self, session: &SessionIdentity) -> bool {
        self.shared.background.is_any(session)
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let StopCommand { id } = tool_schema::parse(STOP_COMMAND, arguments)?;
        let command = self.shared.background.find(context.session, id)?;
        command.stopper.stop();
        command.monitor.wait().await;
        Ok(command.answer())
    }
}
