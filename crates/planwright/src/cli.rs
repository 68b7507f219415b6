//! The arguments of the command line.
//!
//! - `approver`: those of `planwright approver`, `planwright init` and `planwright dashboard`
//! - `auto`: those of `planwright auto`, `goal`, `task`, `schedule` and `diary`
//! - `config`: those of `planwright config`
//! - `client`: those of `planwright install`, `planwright uninstall` and `planwright hook`
//! - `inbox`: those of `planwright inbox`
//! - `mcp_server`: those of `planwright mcp-server`
//! - `memory`: those of `planwright memory`
//! - `operation`: those of the commands that run and maintain Planwright
//! - `permissions`: those of `planwright permissions`
//! - `plan`: those of `planwright plan`
//! - `workbook`: those of `planwright workbook`

mod approver;
mod auto;
mod client;
mod config;
mod inbox;
mod mcp_server;
mod memory;
mod operation;
mod permissions;
mod plan;
mod workbook;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use planwright_core::plan::PlanStyle;
use planwright_surfaces::build_info;

use crate::config::settings_help;

pub(crate) use self::approver::{ApproverArgs, ApproverCommand, DashboardArgs, InitArgs, PolicyArgs};
pub(crate) use self::auto::{AutoArgs, DiaryArgs, GoalArgs, ScheduleArgs, SessionArg, TaskArgs};
pub(crate) use self::client::{ClientName, HookArgs, HookEvent, InstallArgs, InstallScope};
pub(crate) use self::config::{ConfigArgs, ConfigCommand};
pub(crate) use self::inbox::{InboxAnswerArgs, InboxArgs, InboxCommand};
pub(crate) use self::mcp_server::{AddServerArgs, McpServerArgs, McpServerCommand};
pub(crate) use self::memory::{MemoryAction, MemoryArgs};
pub(crate) use self::operation::{
    BackupArgs, CompletionsArgs, DoctorArgs, HealthArgs, ManArgs, ModelsArgs, RestoreArgs, ServeArgs, TelegramArgs,
    TelegramCommand, TokenArgs, TokenCommand, VerifyArgs,
};
pub(crate) use self::permissions::{PermissionsArgs, PermissionsCommand};
pub(crate) use self::plan::{
    ApproveArgs, ChangesArgs, DiffArgs, ExportArgs, FilesCommand, PlanArgs, PlanSubcommand, ReasonArgs, ResumeArgs,
    ReviseArgs, WatchArgs,
};
pub(crate) use self::workbook::{AdoptArgs, WorkbookAction, WorkbookArgs};

/// A planning runtime for LLM agents: durable, reviewable plans that a person approves.
#[derive(Debug, Parser)]
#[command(
    name = "planwright",
    version = build_info::DESCRIBED,
    after_help = "`planwright chat` begins a conversation. `planwright --help` shows examples, settings and exit codes.",
    after_long_help = after_long_help(),
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

fn after_long_help() -> String {
    include_str!("help/after.txt").replace("{settings}\n", &settings_help())
}

impl Cli {
    /// Without a command it is [`CliCommand::Overview`], or the chat where a person can be asked.
    pub(crate) fn read(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Self, clap::Error> {
        let mut arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let bare = Self::command().subcommand_required(false).arg_required_else_help(false);
        let mut matches = bare.try_get_matches_from(&arguments)?;
        if matches.subcommand_name().is_none() {
            let global = Global::from_arg_matches(&matches)?;
            if global.json || !is_interactive() {
                return Ok(Self {
                    global: Global { typed: Typed::of(&matches), ..global },
                    command: CliCommand::Overview,
                });
            }
            arguments.push(OsString::from("chat"));
            matches = Self::command().try_get_matches_from(&arguments)?;
        }
        let mut cli = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut Self::command()))?;
        cli.global.typed = Typed::of(&matches);
        Ok(cli)
    }
}

/// Whether a person can be asked.
fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Global {
    /// The folder for the store and the configuration [default: the platform's data folder]
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        hide_long_help = true,
        value_name = "DIR",
        env = "PLANWRIGHT_DATA"
    )]
    pub(crate) data: Option<PathBuf>,
    /// The store: `sqlite:FILE` or `postgres://USER@HOST/DATABASE` [default: sqlite:{data}/planwright.db]
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        hide_long_help = true,
        value_name = "URL",
        env = "PLANWRIGHT_DATABASE",
        hide_env_values = true
    )]
    pub(crate) database: Option<String>,
    /// The configuration [default: {data}/planwright.toml, if it exists]
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        hide_long_help = true,
        value_name = "FILE",
        env = "PLANWRIGHT_CONFIG"
    )]
    pub(crate) config: Option<PathBuf>,
    /// Answer in JSON, for programs; errors go to stderr as {"code", "message"}
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Colours; `auto` means on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        hide_long_help = true,
        value_name = "WHEN",
        default_value = "auto"
    )]
    pub(crate) color: ColorWhen,
    /// Log more, to stderr; twice for even more (PLANWRIGHT_LOG takes a finer filter)
    #[arg(short, long, global = true, hide_short_help = true, hide_long_help = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[arg(skip)]
    pub(crate) typed: Typed,
}

/// Which options that name the store were typed on the command line, and not taken from the environment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Typed {
    pub(crate) data: bool,
    pub(crate) database: bool,
    pub(crate) config: bool,
}

impl Typed {
    fn of(matches: &ArgMatches) -> Self {
        let typed = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        Self { data: typed("data"), database: typed("database"), config: typed("config") }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

const CHAT: &str = "\
In a terminal you are asked for one message after another; Ctrl+C stops the agent, /help lists the commands, /quit \
leaves. A line that ends in a backslash continues on the next one, and pasted text is one message.

With a MESSAGE, or when stdin is not a terminal, there are no prompts: the message, or each line of stdin, is sent after \
the one before is answered; a refusal or an error ends the command. `planwright chat -` sends all of stdin as one message. Answers go to \
stdout and progress to stderr; with --json each answer is one object on a line of its own.";

const DEMO: &str = "\
An agent drafts a plan, edits too early, approves itself and swaps the plan; a process is killed in the middle of its work; the journal is \
changed. It takes about ten seconds, no key and no network, and leaves nothing behind. The exit code is 0 only if all of it was refused, \
continued and found as Planwright promises.";

const IMPORT: &str = "\
claude-plans takes the files of Claude Code's plan mode, planning-files `task_plan.md` of planning-with-files (and begins the workbook with \
`findings.md` and `progress.md`), task-master the lists in `.taskmaster/tasks/tasks.json`, golemcore the plans, conversations, goals, tasks, \
memories and Telegram chats of a GolemCore bot. Files stay as they are. No plan is approved by it. The same again changes nothing; the exit \
code is 1 if nothing can be taken.";

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// What the program is, in a few lines
    #[command(skip)]
    Overview,
    /// Talk to the agent
    #[command(after_help = CHAT)]
    Chat(ChatArgs),
    /// Look at plans and decide about them
    #[command(after_help = plan::PLANS)]
    Plan(PlanArgs),
    /// What waits for you, over all sessions: look at it and decide
    #[command(after_help = inbox::INBOX)]
    Inbox(InboxArgs),
    /// List the sessions, the most recently active first, or delete one
    Sessions(SessionsArgs),
    /// Look at what a session remembers, and save, forget or promote it
    Memory(MemoryArgs),
    /// Let the agent's workbook begin with notes that lie in a project
    Workbook(WorkbookArgs),
    /// Let the agent work by itself: start and end runs, and look at them
    #[command(after_help = auto::AUTO)]
    Auto(AutoArgs),
    /// Set goals of a session, and change them
    Goal(GoalArgs),
    /// Add tasks to a session, and say how they ended
    Task(TaskArgs),
    /// Have something done at set times
    Schedule(ScheduleArgs),
    /// Show what the agent did by itself and when, or add an entry
    Diary(DiaryArgs),
    /// Serve the plan tools to an agent, over MCP on stdin and stdout
    Mcp(McpArgs),
    /// Put Planwright into the configuration of a client, such as Claude Code
    Install(InstallArgs),
    /// Remove Planwright from the configuration of a client
    Uninstall(InstallArgs),
    /// What the hooks of clients call
    #[command(hide = true)]
    Hook(HookArgs),
    /// Add, look at, accept and remove upstream MCP servers, whose tools the agent is given
    #[command(after_help = mcp_server::MCP_SERVER)]
    McpServer(McpServerArgs),
    /// Serve the engine over HTTP, to programs and browsers
    #[command(after_help = operation::SERVE)]
    Serve(ServeArgs),
    /// Make a link that signs your browser in to the dashboard
    #[command(after_help = approver::DASHBOARD)]
    Dashboard(DashboardArgs),
    /// Show the server's access token, or replace it
    #[command(after_help = operation::TOKEN)]
    Token(TokenArgs),
    /// Set up the Telegram bot: check its token, and show the id of the person who writes to it
    Telegram(TelegramArgs),
    /// Take over plans of other programs, everything of a GolemCore bot, or an older `plans.json`
    #[command(after_help = IMPORT)]
    Import(ImportArgs),
    /// Write everything into one archive, while other processes keep working
    #[command(after_help = operation::BACKUP)]
    Backup(BackupArgs),
    /// Add what is in an archive to the store
    #[command(after_help = operation::RESTORE)]
    Restore(RestoreArgs),
    /// Set up who approves plans: a name and a passphrase
    Init(InitArgs),
    /// Enrol the people who approve with a passphrase, and the policy in force
    #[command(after_help = approver::APPROVER)]
    Approver(ApproverArgs),
    /// Show and change the settings that live in the store: who may decide, and what an agent may reach
    #[command(after_help = config::CONFIG)]
    Config(ConfigArgs),
    /// Show what you permitted from now on with `always`, and take it back
    #[command(after_help = permissions::PERMISSIONS)]
    Permissions(PermissionsArgs),
    /// Choose the model that answers, try it, and connect the clients that are installed
    Setup,
    /// Show which model answers, and which models the providers offer
    #[command(after_help = operation::MODELS)]
    Models(ModelsArgs),
    /// Check every journal and signature, and name the first damaged entry of each
    Verify(VerifyArgs),
    /// Check the installation, and say what to do where something is wrong
    #[command(after_help = operation::DOCTOR)]
    Doctor(DoctorArgs),
    /// Ask the server whether it is ready; exit code 0 if it is
    Health(HealthArgs),
    /// Show what an agent tries and what Planwright answers, with real processes on a temporary store
    #[command(after_help = DEMO)]
    Demo(DemoArgs),
    /// Print what completes commands and options in your shell, or put it where the shell looks for it
    #[command(after_help = operation::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Write the manual pages: planwright(1) and one for each command
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// The session: its key, or channel:key, or a name of your own; it is made if it does not exist [default: the one you were in last, or the one of this project]
    #[arg(long, value_name = "KEY", env = "PLANWRIGHT_SESSION")]
    pub(crate) session: Option<String>,
    /// Continue the session you were in last, wherever it works
    #[arg(long = "continue", short = 'c', conflicts_with_all = ["session", "resume"])]
    pub(crate) continues: bool,
    /// Choose the session to continue from a list; or the one whose key, title or topic has TEXT in it
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "", conflicts_with = "session")]
    pub(crate) resume: Option<String>,
    /// Who answers: openai:NAME, anthropic:NAME, gemini:NAME, ollama:NAME or rehearsal [default: the setting `model`,
    /// else rehearsal]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The kind of plan to work on; `off` turns plan work off [default: as it was in the session]
    #[arg(long, value_name = "STYLE", value_parser = plan_work())]
    pub(crate) plan: Option<PlanWork>,
    /// The project folder to work in [default: the one the session works in; inside a git work tree you are asked once]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// The approver who you are, where the policy asks for a passphrase [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) approver: Option<String>,
    /// Type line by line, without the box at the bottom; for screen readers and simple terminals
    #[arg(long)]
    pub(crate) plain: bool,
    /// The message, or a command such as `/plan show`; `-` reads it from stdin
    #[arg(value_name = "MESSAGE")]
    pub(crate) message: Vec<String>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SessionsArgs {
    /// Where the next page begins; the page before names it
    #[arg(long, value_name = "NEXT")]
    pub(crate) after: Option<u64>,
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// Delete a session with its conversation, its plans and its files, after asking
    Delete {
        /// Its key, or channel:key
        #[arg(value_name = "KEY")]
        session: String,
        /// Delete without asking
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The session to continue: its key (of channel mcp), or channel:key [default: the session of the project folder]
    #[arg(long, value_name = "KEY", env = "PLANWRIGHT_SESSION")]
    pub(crate) session: Option<String>,
    /// The kind of plan to work on in a new session; `off` leaves plan work off. Where plan work was ever turned on or off, it
    /// stays as a person left it [default: document, unless the setting `mcp.plan` is `off`]
    #[arg(long, value_name = "STYLE", value_parser = plan_work())]
    pub(crate) plan: Option<PlanWork>,
    /// The project folder that the session works in [default: as it was]
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Give the agent the tools of this MCP server behind the gate, besides those of the settings; may be repeated. NAME:network
    /// asks for the network, and NAME:open to run without the sandbox
    #[arg(long, value_name = "NAME=COMMAND")]
    pub(crate) upstream: Vec<String>,
}

/// Whether plan work is on at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanWork {
    On(PlanStyle),
    Off,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// An older `plans.json` (`-` reads stdin), or the program: claude-plans, planning-files, task-master or golemcore
    #[arg(value_name = "FILE|PROGRAM")]
    pub(crate) source: PathBuf,
    /// Where the program's files are [default: ~/.claude/plans, ~/.golemcore/workspace or the current folder]
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
    /// List what is taken and what is not, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The session that takes what has none: its key (of channel mcp), or channel:key [default: that of the project; cli:golemcore]
    #[arg(long, value_name = "KEY")]
    pub(crate) session: Option<String>,
}

/// The options are for the processes that the demonstration starts.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The terminal that the process becomes the first one of
    #[arg(long, hide = true)]
    pub(crate) terminal: Option<PathBuf>,
    /// The shell that works in it
    #[arg(long, hide = true)]
    pub(crate) program: Option<PathBuf>,
    /// The name of its files
    #[arg(long, hide = true)]
    pub(crate) name: Option<String>,
    /// Whether the process is left to the system
    #[arg(long, hide = true)]
    pub(crate) left: bool,
}

fn plan_work() -> impl TypedValueParser<Value = PlanWork> {
    const OFF: &str = "off";
    let names = PlanStyle::ALL.into_iter().map(PlanStyle::as_str).chain([OFF]);
    PossibleValuesParser::new(names).try_map(|name| match name.as_str() {
        OFF => Ok(PlanWork::Off),
        style => style.parse().map(PlanWork::On),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }
}
