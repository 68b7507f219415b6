//! The arguments as they are typed. What they mean is decided elsewhere.
//!
//! - `operation`: those of the commands that run Planwright and look after it

mod operation;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use planwright_core::command::StuckChoice;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Digest, PlanStyle};
use planwright_core::workbook::DocumentKind;

pub(crate) use self::operation::{BackupArgs, HealthArgs, RestoreArgs, ServeArgs, TokenArgs, TokenCommand};

/// A planning runtime for LLM agents: durable, reviewable plans that a person approves.
#[derive(Debug, Parser)]
#[command(
    name = "planwright",
    version,
    after_help = "`planwright chat` begins. `planwright --help` shows examples and the exit codes.",
    after_long_help = include_str!("help/after.txt"),
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    pub(crate) fn read(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> Result<Self, clap::Error> {
        let matches = Self::command().try_get_matches_from(words)?;
        let mut cli = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut Self::command()))?;
        cli.global.typed = Typed::of(&matches);
        Ok(cli)
    }
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Global {
    /// The folder for the store and the configuration [default: the platform's data folder]
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR", env = "PLANWRIGHT_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// The store: `sqlite:FILE` or `postgres://USER@HOST/DATABASE` [default: sqlite:{data}/planwright.db]
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "URL",
        env = "PLANWRIGHT_DATABASE",
        hide_env_values = true
    )]
    pub(crate) database: Option<String>,
    /// The configuration [default: {data}/planwright.toml, if it is there]
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE", env = "PLANWRIGHT_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Answer in JSON, for programs; errors go to stderr as {"code", "message"}
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Colours; `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, hide_short_help = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,
    /// Say what happens, on stderr; twice for more (PLANWRIGHT_LOG takes a finer filter)
    #[arg(short, long, global = true, hide_short_help = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[arg(skip)]
    pub(crate) typed: Typed,
}

/// Which options that name the store were typed, and did not come from the environment.
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

const PLANS: &str = "A plan is named by its number in the session, its id, or any unique piece of its id of six \
characters or more. Without a name, the active plan is meant.";

const FILES: &str = "\
They lie in the data folder under users/SESSION/plan. Edit them there as you like: what you save is taken in before the \
agent goes on.";

const WATCH: &str = "\
It only looks: another process carries the plan out, and Ctrl+C leaves it to that. It ends when the execution ends, with \
exit code 0 if the plan is COMPLETED and 3 if it is anything else: partially completed, cancelled, rejected, superseded, or \
not begun with --no-wait. With --json every event is one object on a line of its own.";

const CHAT: &str = "\
In a terminal you are asked for one message after another; Ctrl+C stops the agent, /help lists the commands, /quit \
leaves. A line that ends in a backslash goes on in the next one, and pasted text stays one message.

With a MESSAGE, or when stdin is not a terminal, nobody is asked: the message, or each line of stdin, is sent after the \
one before is answered; what is refused or fails ends it. `planwright chat -` sends all of stdin as one message. Answers go to \
stdout and progress to stderr; with --json each answer is one object on a line of its own.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Talk to the agent
    #[command(after_help = CHAT)]
    Chat(ChatArgs),
    /// Look at plans and decide about them
    #[command(after_help = PLANS)]
    Plan(PlanArgs),
    /// List the sessions, the most recently active first, or delete one
    Sessions(SessionsArgs),
    /// Serve the plan tools to an agent, over MCP on stdin and stdout
    Mcp(McpArgs),
    /// Serve the engine over HTTP, to programs and browsers
    #[command(after_help = operation::SERVE)]
    Serve(ServeArgs),
    /// Show the server's access token, or replace it
    #[command(after_help = operation::TOKEN)]
    Token(TokenArgs),
    /// Take over plans from an older `plans.json`
    Import(ImportArgs),
    /// Write everything into one archive, while others go on working
    #[command(after_help = operation::BACKUP)]
    Backup(BackupArgs),
    /// Bring back what is in an archive
    #[command(after_help = operation::RESTORE)]
    Restore(RestoreArgs),
    /// Check every journal, and name the first damaged entry of each
    Verify,
    /// Look whether everything is as it should be, and say what to do where it is not
    #[command(after_help = operation::DOCTOR)]
    Doctor,
    /// Ask the server whether it can work now; exit code 0 if it can
    Health(HealthArgs),
    /// Show the life of a plan, step by step, on a store that is thrown away
    Tour(TourArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// The session: its key, or channel:key; it begins if it is not there [default: the one you were in last]
    #[arg(long, value_name = "KEY", env = "PLANWRIGHT_SESSION")]
    pub(crate) session: Option<String>,
    /// Who answers: openai:NAME, anthropic:NAME, gemini:NAME, ollama:NAME or rehearsal [default: the setting `model`,
    /// else rehearsal]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The kind of plan to work on; `off` turns plan work off [default: as it was in the session]
    #[arg(long, value_name = "STYLE", value_parser = plan_work())]
    pub(crate) plan: Option<PlanWork>,
    /// What to say, or a command such as `/plan show`; `-` reads it from stdin
    #[arg(value_name = "MESSAGE")]
    pub(crate) message: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The session: its key, or channel:key [default: the only one there is]
    #[arg(long, global = true, value_name = "KEY", env = "PLANWRIGHT_SESSION")]
    pub(crate) session: Option<String>,
    #[command(subcommand)]
    pub(crate) command: PlanCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Turn plan work on: the agent drafts, you decide
    On {
        /// What kind of plan: one Markdown document, recorded tool calls, or steps built for specialists
        #[arg(value_parser = style(), default_value = "document")]
        style: PlanStyle,
    },
    /// Turn plan work off; the plan is parked as it is
    Off,
    /// End plan work: an empty plan is cancelled, a running one is closed by what was done
    Done,
    /// Say whether plan work is on, what is being carried out, since when, and what is next
    Status,
    /// Follow a plan while it is carried out, whoever does it
    #[command(after_help = WATCH)]
    Watch(WatchArgs),
    /// List the plans of the session, the newest first
    List {
        /// Only plans with a smaller number, for the next page
        #[arg(long, value_name = "NUMBER")]
        before: Option<u64>,
    },
    /// Show a plan
    Show {
        /// Its number, its id, or six or more characters of its id [default: the active plan]
        plan: Option<PlanReference>,
        /// The text as it was written, not rendered
        #[arg(long)]
        raw: bool,
    },
    /// Approve a plan, after showing it and asking, and carry it out
    #[command(after_help = "A plan that another program's agent drafted over MCP is left to that agent.")]
    Approve(ApproveArgs),
    /// Reject a plan
    #[command(after_help = "Words after `--` are the reason: planwright plan reject 3 -- too risky on a Friday")]
    Reject(ReasonArgs),
    /// Ask for changes
    #[command(after_help = "Words after `--` are the feedback: planwright plan revise 3 -- keep the old table")]
    Revise(ReviseArgs),
    /// Cancel a plan; if it is running, it stops
    #[command(after_help = "Words after `--` are the reason: planwright plan cancel 3 -- no longer needed")]
    Cancel(ReasonArgs),
    /// Go on with an approved or partially completed plan, from the first step not done
    Resume(ResumeArgs),
    /// Show what changed between two versions of a plan, or between two plans
    Diff(DiffArgs),
    /// Write a plan as Markdown
    Export(ExportArgs),
    /// Planning files: task plan, findings and progress, kept by the agent beside the conversation
    #[command(after_help = FILES)]
    Files {
        #[command(subcommand)]
        command: FilesCommand,
    },
    /// Show everything that happened to a plan: every version, decision and execution
    History {
        /// Its number, its id, or six or more characters of its id [default: the active plan]
        plan: Option<PlanReference>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum FilesCommand {
    /// Give the agent its tools for planning files
    On,
    /// Take them away; what was written stays
    Off,
    /// List the workbook that is being worked with, and those that were archived
    List,
    /// Show one document
    Show {
        /// Which one
        #[arg(value_parser = which(), default_value = "task_plan")]
        document: DocumentKind,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Its number, its id, or six or more characters of its id [default: the active plan, else the one that is being
    /// carried out]
    pub(crate) plan: Option<PlanReference>,
    /// Do not wait for a plan that has not begun
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// Its number, its id, or six or more characters of its id [default: the active plan]
    pub(crate) plan: Option<PlanReference>,
    /// Approve only these steps
    #[arg(long, value_name = "STEPS", value_delimiter = ',', conflicts_with = "skip")]
    pub(crate) only: Vec<usize>,
    /// Approve all but these steps; what needs a skipped step is skipped with it
    #[arg(long, value_name = "STEPS", value_delimiter = ',')]
    pub(crate) skip: Vec<usize>,
    /// Something to say to the agent with the approval
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Approve exactly this text, without being asked: all 64 digits, as `plan show` shows them
    #[arg(long, value_name = "HEX")]
    pub(crate) digest: Option<Digest>,
    /// Only approve it; `plan resume` or the chat carries it out
    #[arg(long)]
    pub(crate) later: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Its number, its id, or six or more characters of its id [default: the active plan]
    pub(crate) plan: Option<PlanReference>,
    /// Do the step it stopped at again
    #[arg(long, conflicts_with_all = ["skip", "stop"])]
    pub(crate) retry: bool,
    /// Go on without the step it stopped at, and without those that need it
    #[arg(long, conflicts_with = "stop")]
    pub(crate) skip: bool,
    /// End the execution at the step it stopped at
    #[arg(long)]
    pub(crate) stop: bool,
}

impl ResumeArgs {
    pub(crate) fn choice(&self) -> Option<StuckChoice> {
        let given = [(self.retry, StuckChoice::Retry), (self.skip, StuckChoice::Skip), (self.stop, StuckChoice::Stop)];
        given.into_iter().find_map(|(given, choice)| given.then_some(choice))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReasonArgs {
    /// Its number, its id, or six or more characters of its id [default: the active plan]
    pub(crate) plan: Option<PlanReference>,
    /// Why
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// WriteOrigin, in words after `--`
    #[arg(last = true, value_name = "REASON", conflicts_with = "reason")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReviseArgs {
    /// Its number, its id, or six or more characters of its id [default: the active plan]
    pub(crate) plan: Option<PlanReference>,
    /// What to change; `-` reads it from stdin
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true, required_unless_present = "words")]
    pub(crate) feedback: Option<String>,
    /// What to change, in words after `--`
    #[arg(last = true, value_name = "FEEDBACK", conflicts_with = "feedback")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// A plan, by its number or id; without a second one: what changed in it [default: the active plan]
    pub(crate) plan: Option<PlanReference>,
    /// What changed from the first plan to this one
    pub(crate) other: Option<PlanReference>,
    /// The version to compare with [default: the one before]
    #[arg(long, value_name = "N", conflicts_with = "other", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) from: Option<u32>,
    /// The version that is compared [default: the last]
    #[arg(long, value_name = "N", conflicts_with = "other", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) to: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Its number, its id, or six or more characters of its id [default: the active plan]
    pub(crate) plan: Option<PlanReference>,
    /// The file to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SessionsArgs {
    /// Where the next page begins, as the page before says
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
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The session to come back to: its key (of channel mcp), or channel:key [default: a new one]
    #[arg(long, value_name = "KEY", env = "PLANWRIGHT_SESSION")]
    pub(crate) session: Option<String>,
    /// The kind of plan to work on; `off` turns plan work off [default: on, with the style and the plan the session had,
    /// else document]
    #[arg(long, value_name = "STYLE", value_parser = plan_work())]
    pub(crate) plan: Option<PlanWork>,
}

/// How plan work stands at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanWork {
    On(PlanStyle),
    Off,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file; `-` reads stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct TourArgs {
    /// Do not wait for Enter between chapters
    #[arg(long)]
    pub(crate) no_pause: bool,
}

fn style() -> impl TypedValueParser<Value = PlanStyle> {
    PossibleValuesParser::new(PlanStyle::ALL.map(PlanStyle::as_str)).try_map(|name| name.parse::<PlanStyle>())
}

fn which() -> impl TypedValueParser<Value = DocumentKind> {
    PossibleValuesParser::new(DocumentKind::ALL.map(DocumentKind::as_str)).try_map(|name| name.parse::<DocumentKind>())
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
