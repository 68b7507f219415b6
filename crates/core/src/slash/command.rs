//! What a command says once it is understood, and how it is written back.
//!
//! Texts of people in here are never blank and have no space around them.

use std::fmt;

use super::arguments::{MARKS, is_plainly_a_reference};
use crate::ask::Grant;
use crate::auto::{GoalStatus, TaskStatus};
use crate::command::StuckChoice;
use crate::plan::PlanStyle;
use crate::plan::approval::Selection;
use crate::plan::reference::PlanReference;
use crate::session::ConversationKey;
use crate::upstream::ServerName;

/// Defines commands. The text before each is its name in the table and in logs.
macro_rules! named_commands {
    (
        $(#[$meta:meta])*
        pub enum $Enum:ident {
            $(
                $(#[$variant_meta:meta])*
                $name:literal $Variant:ident $(($inner:ty))? $({ $( $(#[$field_meta:meta])* $field:ident: $type:ty ),* $(,)? })?,
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $Enum {
            $( $(#[$variant_meta])* $Variant $(($inner))? $({ $( $(#[$field_meta])* $field: $type ),* })?, )*
        }

        impl $Enum {
            const fn own_name(&self) -> &'static str {
                match self { $( Self::$Variant { .. } => $name, )* }
            }
        }
    };
}

named_commands! {
    pub enum SlashCommand {
        "plan" Plan(PlanCommand),
        "plans" Plans,
        "auto" Auto(AutoSubcommand),
        "goal" Goal(GoalSubcommand),
        "goals" Goals,
        "task" Task(TaskSubcommand),
        "tasks" Tasks,
        "schedule" Schedule(ScheduleSubcommand),
        /// Without a text it shows the diary.
        "diary" Diary { text: Option<String> },
        "new" New,
        "sessions" Sessions,
        "switch" Switch { key: ConversationKey },
        "reset" Reset,
        "compact" Compact,
        "stop" Stop,
        /// Without a code it shows what the agent asks.
        "allow" Allow {
            code: Option<String>,
            grant: Option<Grant>,
            note: Option<String>,
        },
        /// Without a code it is about the call that the person was shown.
        "deny" Deny {
            code: Option<String>,
            note: Option<String>,
        },
        /// Answers the question with this code.
        "answer" Answer {
            code: String,
            text: String,
        },
        "status" Status,
        "memory" Memory(MemorySubcommand),
        "tools" Tools(ToolsCommand),
        "help" Help { topic: Option<String> },
        "project" Project(ProjectCommand),
        "changes" Changes(ChangeSelection),
        "undo" Undo(ChangeSelection),
    }
}

/// The tools of the agent, and those of MCP servers that wait for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolsCommand {
    List,
    /// Without a code it shows what is to be accepted.
    Accept {
        server: ServerName,
        code: Option<String>,
    },
}

/// The folder that the file tools work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectCommand {
    Show,
    /// Back to the session's own folder.
    Off,
    At(String),
}

/// Which changes of files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ChangeSelection {
    /// Those of the active plan, else those that were made last: by the conversation or by a plan.
    #[default]
    Latest,
    /// Those of a plan, or of one of its steps. Without a plan, the active one or else the last one is meant.
    Plan {
        plan: Option<PlanReference>,
        /// From 1.
        step: Option<usize>,
    },
    /// Those that the conversation made outside of any plan.
    Chat,
}

/// What is done with the memory. An item is named by its id or by the end of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemorySubcommand {
    List,
    Search {
        query: String,
    },
    Save {
        content: String,
    },
    Forget {
        memory: String,
    },
    Promote {
        memory: String,
    },
    Undo,
    /// What rules offer to be remembered.
    Offers,
    Accept {
        offer: String,
    },
    Decline {
        offer: String,
    },
}

named_commands! {
    /// Where no plan is named, the active one is meant.
    pub enum PlanCommand {
        "plan on" On { style: Option<PlanStyle> },
        "plan off" Off,
        "plan done" Done,
        "plan status" Status,
        "plan show" Show { plan: Option<PlanReference> },
        "plan approve" Approve {
            plan: Option<PlanReference>,
            selection: Selection,
            /// Whether the execution pauses after each step.
            step_by_step: bool,
            note: Option<String>,
        },
        "plan reject" Reject {
            plan: Option<PlanReference>,
            reason: Option<String>,
        },
        "plan revise" Revise {
            plan: Option<PlanReference>,
            feedback: String,
        },
        "plan cancel" Cancel {
            plan: Option<PlanReference>,
            reason: Option<String>,
        },
        "plan resume" Resume {
            plan: Option<PlanReference>,
            /// What becomes of the step it stopped at.
            choice: Option<StuckChoice>,
        },
        "plan diff" Diff(Comparison),
        "plan export" Export { plan: Option<PlanReference> },
        "plan files" Files(OnOff),
        /// Plan work is on afterwards, and the agent is given the text.
        "plan" About(String),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// What changed in one plan.
    Versions { plan: Option<PlanReference> },
    /// What changed from one plan to another.
    Plans { first: PlanReference, second: PlanReference },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AutoSubcommand {
    /// `task` and a reference, a reference to a goal, or the title of a new one.
    On {
        goal: Option<String>,
    },
    Off {
        run: Option<String>,
    },
    /// Lets a run continue that was paused or interrupted.
    Resume {
        run: Option<String>,
    },
    Status,
}

/// A goal is named by its number, its id or the end of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoalSubcommand {
    Add { title: String },
    List,
    Show { goal: String },
    Change { goal: String, status: GoalStatus, note: Option<String> },
}

/// A task is named by its number, its id or the end of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskSubcommand {
    Add { goal: Option<String>, title: String },
    List,
    Change { task: String, status: TaskStatus, note: Option<String> },
}

/// A schedule is named by its number, its id or the end of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScheduleSubcommand {
    Add { expression: String, zone: Option<String>, max_executions: Option<u32>, goal: Option<String>, title: String },
    List,
    Pause { schedule: String },
    Resume { schedule: String },
    Delete { schedule: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnOff {
    On,
    Off,
}

impl SlashCommand {
    /// Its name in the table and in logs; what a person wrote is not in it.
    pub const fn name(&self) -> &'static str {
        if let Self::Plan(command) = self { command.own_name() } else { self.own_name() }
    }

    /// Whether it only shows something: it changes nothing, and it waits for nothing.
    pub const fn is_look(&self) -> bool {
        matches!(
            self,
            Self::Plan(
                PlanCommand::Status | PlanCommand::Show { .. } | PlanCommand::Diff(_) | PlanCommand::Export { .. }
            ) | Self::Plans
                | Self::Sessions
                | Self::Status
                | Self::Help { .. }
                | Self::Changes(_)
                | Self::Goals
                | Self::Tasks
                | Self::Allow { code: None, .. }
                | Self::Diary { text: None }
                | Self::Tools(ToolsCommand::List | ToolsCommand::Accept { code: None, .. })
                | Self::Memory(MemorySubcommand::List | MemorySubcommand::Search { .. } | MemorySubcommand::Offers)
                | Self::Project(ProjectCommand::Show)
                | Self::Auto(AutoSubcommand::Status)
                | Self::Goal(GoalSubcommand::List | GoalSubcommand::Show { .. })
                | Self::Task(TaskSubcommand::List)
                | Self::Schedule(ScheduleSubcommand::List)
        )
    }
}

/// The canonical form: parsing it gives the same command. Texts in plan commands follow `--`, so that none of their
/// words can be taken for anything else.
impl fmt::Display for SlashCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", self.name())?;
        match self {
            Self::Plan(command) => command.write_arguments(f),
            Self::Auto(AutoSubcommand::On { goal }) => f.write_str(" on").and_then(|()| write_after(f, goal)),
            Self::Auto(AutoSubcommand::Off { run }) => f.write_str(" off").and_then(|()| write_after(f, run)),
            Self::Auto(AutoSubcommand::Resume { run }) => f.write_str(" resume").and_then(|()| write_after(f, run)),
            Self::Auto(AutoSubcommand::Status) => f.write_str(" status"),
            Self::Goal(command) => write_goal(f, command),
            Self::Task(command) => write_task(f, command),
            Self::Schedule(command) => write_schedule(f, command),
            Self::Diary { text } => text.iter().try_for_each(|text| write!(f, " add {text}")),
            Self::Memory(command) => match command {
                MemorySubcommand::List => f.write_str(" list"),
                MemorySubcommand::Search { query } => write!(f, " search {query}"),
                MemorySubcommand::Save { content } => write!(f, " save {content}"),
                MemorySubcommand::Forget { memory } => write!(f, " forget {memory}"),
                MemorySubcommand::Promote { memory } => write!(f, " promote {memory}"),
                MemorySubcommand::Undo => f.write_str(" undo"),
                MemorySubcommand::Offers => f.write_str(" offers"),
                MemorySubcommand::Accept { offer } => write!(f, " accept {offer}"),
                MemorySubcommand::Decline { offer } => write!(f, " decline {offer}"),
            },
            Self::Switch { key } => write!(f, " {key}"),
            Self::Help { topic } => write_after(f, topic),
            Self::Project(ProjectCommand::Show) => Ok(()),
            Self::Project(ProjectCommand::Off) => f.write_str(" off"),
            Self::Project(ProjectCommand::At(path)) => write!(f, " {path}"),
            Self::Changes(selection) | Self::Undo(selection) => write_selected_changes(f, selection),
            Self::Allow { code, grant, note } => {
                write_after(f, code)?;
                write_after(f, &grant.map(Grant::as_str))?;
                write_note(f, note.as_deref())
            }
            Self::Deny { code, note } => write_after(f, code).and_then(|()| write_note(f, note.as_deref())),
            Self::Answer { code, text } => write!(f, " {code} -- {text}"),
            Self::Plans | Self::Goals | Self::Tasks | Self::New | Self::Sessions => Ok(()),
            Self::Reset | Self::Compact | Self::Stop | Self::Status | Self::Tools(ToolsCommand::List) => Ok(()),
            Self::Tools(ToolsCommand::Accept { server, code }) => {
                write!(f, " accept {server}").and_then(|()| write_after(f, code))
            }
        }
    }
}

impl PlanCommand {
    fn write_arguments(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off | Self::Done | Self::Status => Ok(()),
            Self::On { style } => write_after(f, style),
            Self::Show { plan } | Self::Export { plan } => write_after(f, plan),
            Self::Resume { plan, choice } => {
                write_after(f, plan)?;
                write_after(f, &choice.map(StuckChoice::as_str))
            }
            Self::Diff(Comparison::Versions { plan }) => write_after(f, plan),
            Self::Diff(Comparison::Plans { first, second }) => write!(f, " {first} {second}"),
            Self::Approve { plan, selection, step_by_step, note } => {
                write_after(f, plan)?;
                write_selection(f, selection)?;
                write_after(f, &step_by_step.then_some("step by step"))?;
                write_note(f, note.as_deref())
            }
            Self::Cancel { plan, reason } => write_after(f, plan).and_then(|()| write_note(f, reason.as_deref())),
            Self::Reject { plan, reason } => {
                write_after(f, plan)?;
                let taken_for_a_word = plan.as_ref().is_some_and(|plan| !is_plainly_a_reference(&plan.to_string()));
                write_note(f, reason.as_deref().or(taken_for_a_word.then_some("")))
            }
            Self::Revise { plan, feedback } => write_after(f, plan).and_then(|()| write_note(f, Some(feedback))),
            Self::Files(OnOff::On) => f.write_str(" on"),
            Self::Files(OnOff::Off) => f.write_str(" off"),
            Self::About(text) => write_note(f, Some(text)),
        }
    }
}

fn write_after(f: &mut fmt::Formatter<'_>, argument: &Option<impl fmt::Display>) -> fmt::Result {
    argument.iter().try_for_each(|argument| write!(f, " {argument}"))
}

fn write_goal(f: &mut fmt::Formatter<'_>, command: &GoalSubcommand) -> fmt::Result {
    match command {
        GoalSubcommand::Add { title } => write!(f, " add {title}"),
        GoalSubcommand::List => f.write_str(" list"),
        GoalSubcommand::Show { goal } => write!(f, " show {goal}"),
        GoalSubcommand::Change { goal, status, note } => {
            let word = match status {
                GoalStatus::Active => "resume",
                GoalStatus::Paused => "pause",
                GoalStatus::Done => "done",
                GoalStatus::Cancelled => "cancel",
            };
            write!(f, " {word} {goal}").and_then(|()| write_note(f, note.as_deref()))
        }
    }
}

fn write_task(f: &mut fmt::Formatter<'_>, command: &TaskSubcommand) -> fmt::Result {
    match command {
        TaskSubcommand::Add { goal, title } => {
            f.write_str(" add")?;
            goal.iter().try_for_each(|goal| write!(f, " {}", goal_mark(goal)))?;
            write_title(f, title, is_plainly_a_reference)
        }
        TaskSubcommand::List => f.write_str(" list"),
        TaskSubcommand::Change { task, status, note } => {
            let word = match status {
                TaskStatus::Open => "open",
                TaskStatus::Done => "done",
                TaskStatus::Failed => "fail",
                TaskStatus::Skipped => "skip",
            };
            write!(f, " {word} {task}").and_then(|()| write_note(f, note.as_deref()))
        }
    }
}

/// A number needs its mark before a text.
fn goal_mark(goal: &str) -> String {
    if goal.bytes().all(|b| b.is_ascii_digit()) { format!("#{goal}") } else { goal.to_owned() }
}

/// A title whose first word could be taken for something else follows `--`.
fn write_title(f: &mut fmt::Formatter<'_>, title: &str, is_taken: impl Fn(&str) -> bool) -> fmt::Result {
    let first = title.split_whitespace().next().unwrap_or_default();
    let mark = if is_taken(first) || MARKS.contains(&first) { " --" } else { "" };
    write!(f, "{mark} {title}")
}

fn write_schedule(f: &mut fmt::Formatter<'_>, command: &ScheduleSubcommand) -> fmt::Result {
    match command {
        ScheduleSubcommand::Add { expression, zone, max_executions, goal, title } => {
            write!(f, " add {expression}")?;
            zone.iter().try_for_each(|zone| write!(f, " tz={zone}"))?;
            max_executions.iter().try_for_each(|most| write!(f, " max={most}"))?;
            goal.iter().try_for_each(|goal| write!(f, " goal={goal}"))?;
            write_title(f, title, |word| word.contains('='))
        }
        ScheduleSubcommand::List => f.write_str(" list"),
        ScheduleSubcommand::Pause { schedule } => write!(f, " pause {schedule}"),
        ScheduleSubcommand::Resume { schedule } => write!(f, " resume {schedule}"),
        ScheduleSubcommand::Delete { schedule } => write!(f, " delete {schedule}"),
    }
}

fn write_selected_changes(f: &mut fmt::Formatter<'_>, selection: &ChangeSelection) -> fmt::Result {
    match selection {
        ChangeSelection::Latest => Ok(()),
        ChangeSelection::Plan { plan, step } => {
            write_after(f, plan)?;
            step.iter().try_for_each(|step| write!(f, " step {step}"))
        }
        ChangeSelection::Chat => f.write_str(" chat"),
    }
}

fn write_note(f: &mut fmt::Formatter<'_>, note: Option<&str>) -> fmt::Result {
    note.iter().try_for_each(|note| write!(f, " -- {note}"))
}

fn write_selection(f: &mut fmt::Formatter<'_>, selection: &Selection) -> fmt::Result {
    let (word, positions) = match selection {
        Selection::All => return Ok(()),
        Selection::Only(positions) => ("only", positions),
        Selection::Skip(positions) => ("skip", positions),
    };
    let positions: Vec<_> = positions.iter().map(usize::to_string).collect();
    write!(f, " {word} {}", positions.join(","))
}
