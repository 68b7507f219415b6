//! `run_command`

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::permission::RUN_COMMAND;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_sandbox::{RunningCommand, ShellCommand};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::shown::ShownOutput;
use super::{Shared, answer, command_line, refusal};
use crate::tool_schema::{self, Arguments};
use crate::toolbox::files::CommandFolder;
use crate::toolbox::{Tool, ToolAnswer, ToolContext, ToolTarget};

/// How much longer than its time limit a command may take to be ended.
const ENDING: Duration = Duration::from_secs(30);
/// The kernel takes a little more.
const MAX_COMMAND: usize = 100 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunCommand {
    /// A line for `/bin/sh`, such as `cargo test` or `grep -rn TODO src | head`.
    command: String,
    /// The folder to start in, relative to the workspace; the workspace itself if absent.
    #[serde(default)]
    cwd: Option<String>,
    /// The time after which the command is ended.
    #[serde(default)]
    timeout_seconds: Option<NonZeroU32>,
    /// Whether to return at once and let the command run on.
    #[serde(default)]
    background: bool,
}

#[derive(Debug)]
pub(super) struct RunCommandTool {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

impl RunCommandTool {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        let seconds = |time: Duration| time.as_secs().to_string();
        let description = include_str!("descriptions/run_command.md")
            .trim_end()
            .replace("{timeout}", &seconds(shared.options.timeout))
            .replace("{longest}", &seconds(shared.options.longest_timeout))
            .replace("{level}", level_text(shared.options.level));
        let spec = ToolSpec {
            name: RUN_COMMAND.to_owned(),
            description,
            input_schema: tool_schema::schema_of::<RunCommand>(),
        };
        Self { spec, shared: Arc::clone(shared) }
    }

    fn parse(&self, arguments: Arguments) -> Result<RunCommand, Refusal> {
        let call: RunCommand = tool_schema::parse(RUN_COMMAND, arguments)?;
        if call.command.trim().is_empty() {
            return Err(Refusal::invalid("The command is empty."));
        }
        if call.command.contains('\0') {
            return Err(Refusal::invalid("The command contains a NUL byte, which no shell accepts."));
        }
        if call.command.len() > MAX_COMMAND {
            return Err(Refusal::limit(format!(
                "The command has {} bytes; the longest allowed has {MAX_COMMAND}. Write a script with write_file and run \
                 that.",
                call.command.len()
            )));
        }
        let longest = self.shared.options.longest_timeout;
        if call.timeout().is_some_and(|timeout| timeout > longest) {
            return Err(Refusal::limit(format!(
                "The longest time limit of a command is {} seconds.",
                longest.as_secs()
            )));
        }
        Ok(call)
    }

    async fn start(
        &self,
        context: ToolContext<'_>,
        call: &RunCommand,
        timeout: Option<Duration>,
    ) -> Result<(u64, RunningCommand), Refusal> {
        let shared = &self.shared;
        let CommandFolder { workspace, cwd, number, output_file } =
            shared.files.command_folder(context, call.cwd.as_deref()).await?;
        let command = ShellCommand {
            line: call.command.clone(),
            workspace,
            cwd,
            level: shared.level_for(context)?,
            environment: shared.options.environment.clone(),
            output_file,
            limits: shared.limits(timeout),
        };
        let running = shared.sandbox.start(command).await.map_err(|error| refusal(&error))?;
        Ok((number, running))
    }
}

impl RunCommand {
    fn timeout(&self) -> Option<Duration> {
        self.timeout_seconds.map(|seconds| Duration::from_secs(seconds.get().into()))
    }
}

#[async_trait]
impl Tool for RunCommandTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        ToolEffect::Changes
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        self.parse(arguments.clone())?;
        self.shared.check_enforceable()
    }

    async fn target(&self, _context: ToolContext<'_>, arguments: &Arguments) -> Result<ToolTarget, Refusal> {
        Ok(command_line(arguments).map_or(ToolTarget::None, |line| ToolTarget::Command(line.to_owned())))
    }

    fn time_limit(&self, arguments: &Arguments, _usual: Duration) -> Duration {
        let named = self.parse(arguments.clone()).ok().and_then(|call| call.timeout());
        named.unwrap_or(self.shared.options.timeout) + ENDING
    }

    fn changes_untracked(&self) -> bool {
        true
    }

    fn has_background(&self, session: &SessionIdentity) -> bool {
        self.shared.background.is_any(session)
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let call = self.parse(arguments)?;
        self.shared.check_enforceable()?;
        if call.background {
            let Some(end) = context.lease_end() else {
                return Err(Refusal::policy_denied("Without a turn there is nothing that a command could run beside."));
            };
            self.shared.background.check_room(context.session)?;
            // Only the time limit that the model names ends it before the turn does.
            let (number, running) = self.start(context, &call, call.timeout()).await?;
            self.shared.background.keep(context.session, number, running, end, self.shared.files.clone());
            return Ok(json!({
                "id": number,
                "running": true,
                "output_file": CommandFolder::shown_output(number),
                "next": "command_output reads what it writes, stop_command ends it. It ends with this turn or execution.",
            })
            .into());
        }
        let timeout = call.timeout().unwrap_or(self.shared.options.timeout);
        let (number, mut running) = self.start(context, &call, Some(timeout)).await?;
        ShownOutput::new(context, RUN_COMMAND).follow(&mut running).await;
        let result = running.wait().await;
        Ok(answer::ended(number, &result, Some(timeout)))
    }
}

fn level_text(level: planwright_sandbox::SandboxLevel) -> &'static str {
    use planwright_sandbox::SandboxLevel;
    match level {
        SandboxLevel::ReadOnly => {
            "The kernel lets it read the workspace and the installed tools, write only to temporary folders that are \
             gone when it ends, and reach no network."
        }
        SandboxLevel::Workspace => {
            "The kernel lets it write below the workspace and to temporary folders that are gone when it ends, read the \
             installed tools, and reach no network."
        }
        SandboxLevel::Open => "It may do everything that the person may do on this machine.",
    }
}
