//! The arguments of `install`, `uninstall` and `hook`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct InstallArgs {
    /// The client
    #[arg(value_name = "CLIENT")]
    pub(crate) client: ClientName,
    /// For every project of the user, or for the project in the current folder [default: project where the client has both]
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Option<InstallScope>,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Take the plans of the client's own plan mode in, so that they wait for you like every plan; on where the client can do it
    #[arg(long, conflicts_with = "no_native_plans")]
    pub(crate) native_plans: bool,
    /// Leave the client's own plan mode as it is
    #[arg(long)]
    pub(crate) no_native_plans: bool,
}

/// A program with an agent of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum ClientName {
    ClaudeCode,
    Codex,
    Opencode,
    Gemini,
    Goose,
    Cursor,
    Vscode,
    Zed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InstallScope {
    User,
    Project,
}

#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The client that calls
    #[arg(long, value_name = "CLIENT", default_value = "claude-code")]
    pub(crate) client: ClientName,
    /// How long the hook of the client's own plans waits for a person
    #[arg(long, value_name = "SECONDS", default_value_t = 540, hide = true)]
    pub(crate) wait_seconds: u64,
    #[command(subcommand)]
    pub(crate) event: HookEvent,
}

/// What a client is about to do. It sends the details as JSON on standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub(crate) enum HookEvent {
    /// Before a call of a tool: edits and commands are denied until the plan is approved
    PreToolUse,
    /// At the start of a conversation and after its context was shortened: brings the plan back
    SessionStart,
    /// After a call of a tool: what it found out and why it failed is noted in the workbook
    PostToolUse,
    /// Before the agent ends its turn: it is reminded once of the open steps of its plan
    Stop,
    /// When the client's own plan mode proposes a plan: it becomes a version of the session's plan and waits for a person
    NativePlan,
}

impl HookEvent {
    /// As it is typed.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "pre-tool-use",
            Self::SessionStart => "session-start",
            Self::PostToolUse => "post-tool-use",
            Self::Stop => "stop",
            Self::NativePlan => "native-plan",
        }
    }
}

impl ClientName {
    pub(crate) const ALL: [Self; 8] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Opencode,
        Self::Gemini,
        Self::Goose,
        Self::Cursor,
        Self::Vscode,
        Self::Zed,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Gemini => "gemini",
            Self::Goose => "goose",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Zed => "zed",
        }
    }
}
