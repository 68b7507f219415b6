//! The arguments of `planwright plan`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use planwright_core::command::StuckChoice;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Digest, PlanStyle};
use planwright_core::workbook::DocumentKind;

pub(super) const PLANS: &str = "A plan is named by its number in the session, its id, or any unique piece of its id of six \
characters or more. The default is the active plan.";

const FILES: &str = "\
They are in the data folder under users/SESSION/plan. You can edit them there: Planwright reads what you save before the \
agent continues.";

const WATCH: &str = "\
It changes nothing: another process carries the plan out, and Ctrl+C only ends the watch. It ends when the execution ends, \
with exit code 0 if the plan is COMPLETED and 3 otherwise. A plan that no process works on is shown as paused. With --json \
every event is one object on a line of its own.";

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// The session: its key, or channel:key [default: the only one]
    #[arg(long, global = true, value_name = "KEY", env = "PLANWRIGHT_SESSION")]
    pub(crate) session: Option<String>,
    #[command(subcommand)]
    pub(crate) command: PlanSubcommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanSubcommand {
    /// Turn plan work on: the agent drafts, you decide
    On {
        /// What kind of plan: one Markdown document, recorded tool calls, or steps built for specialists
        #[arg(value_parser = style(), default_value = "document")]
        style: PlanStyle,
    },
    /// Turn plan work off; the active plan is parked
    Off,
    /// End plan work: an empty plan is cancelled, a plan under way is closed with what was done
    Done,
    /// Show whether plan work is on, what is being carried out, since when, and what is next
    Status,
    /// Follow a plan while a process carries it out
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
    /// Continue an approved, paused or partially completed plan at its first open step
    Resume(ResumeArgs),
    /// Show what changed between two versions of a plan, or between two plans
    Diff(DiffArgs),
    /// Show what a plan changed in files, or the conversation outside of any plan, as a diff
    Changes {
        #[command(flatten)]
        of: ChangesArgs,
        /// Only the diff, as `git apply` reads it
        #[arg(long)]
        raw: bool,
    },
    /// Restore the files that a plan, or the last turn outside of any plan, changed; files that something else changed since are left as they are
    Undo(ChangesArgs),
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
    /// Give the agent the tools for planning files
    On,
    /// Take these tools away; what was written stays
    Off,
    /// List the current workbook and the archived ones
    List,
    /// Show one document
    Show {
        /// Which one
        #[arg(value_parser = document_kind(), default_value = "task_plan")]
        document: DocumentKind,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Its number, its id, or six or more characters of its id [default: the active plan, else the one that is being
    /// carried out]
    pub(crate) plan: Option<PlanReference>,
    /// Do not wait for a plan that has not begun or is paused
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Default, Args)]
pub(crate) struct ApproveArgs {
    /// Its number, its id, or six or more characters of its id [default: the active plan]
    pub(crate) plan: Option<PlanReference>,
    /// Approve only these steps
    #[arg(long, value_name = "STEPS", value_delimiter = ',', conflicts_with = "skip")]
    pub(crate) only: Vec<usize>,
    /// Approve all but these steps; steps that need a skipped step are skipped, too
    #[arg(long, value_name = "STEPS", value_delimiter = ',')]
    pub(crate) skip: Vec<usize>,
    /// A note to the agent
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Approve exactly this text, without being asked: all 64 digits, as `plan show` shows them
    #[arg(long, value_name = "HEX")]
    pub(crate) digest: Option<Digest>,
    /// Pause after each step until you have looked at it; `plan resume` releases the next one
    #[arg(long)]
    pub(crate) step_by_step: bool,
    /// Approve it without carrying it out; `plan resume` or the chat does that later
    #[arg(long)]
    pub(crate) later: bool,
    /// Approve as this approver, with their passphrase [default: only where the policy asks for it]
    #[arg(long, value_name = "NAME")]
    pub(crate) approver: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Its number, its id, or six or more characters of its id [default: the active plan]
    pub(crate) plan: Option<PlanReference>,
    /// Repeat the step it stopped at
    #[arg(long, conflicts_with_all = ["skip", "stop"])]
    pub(crate) retry: bool,
    /// Continue without the step it stopped at, and without the steps that need it
    #[arg(long, conflicts_with = "stop")]
    pub(crate) skip: bool,
    /// End the execution where it is, also after a look at a step
    #[arg(long)]
    pub(crate) stop: bool,
    /// The approver who continues it, where the policy asks for a passphrase
    #[arg(long, value_name = "NAME")]
    pub(crate) approver: Option<String>,
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
    /// The reason
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// The reason, in words after `--`
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
pub(crate) struct ChangesArgs {
    /// What the conversation changed outside of any plan; `undo` puts back what its last turn changed
    #[arg(long, conflicts_with_all = ["plan", "step"])]
    pub(crate) chat: bool,
    /// Its number, its id, or six or more characters of its id [default: the active plan, else the last one that was
    /// carried out]
    pub(crate) plan: Option<PlanReference>,
    /// Only what this step changed, from 1
    #[arg(long, value_name = "N", value_parser = step_number)]
    pub(crate) step: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Its number, its id, or six or more characters of its id [default: the active plan]
    pub(crate) plan: Option<PlanReference>,
    /// The file to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

fn step_number(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "it is not the number of a step".to_owned())
}

fn style() -> impl TypedValueParser<Value = PlanStyle> {
    PossibleValuesParser::new(PlanStyle::ALL.map(PlanStyle::as_str)).try_map(|name| name.parse::<PlanStyle>())
}

fn document_kind() -> impl TypedValueParser<Value = DocumentKind> {
    PossibleValuesParser::new(DocumentKind::ALL.map(DocumentKind::as_str)).try_map(|name| name.parse::<DocumentKind>())
}
