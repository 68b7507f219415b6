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

/// Defines commands. The text before each is its name in the table and in logs. A command that changes nothing and waits for
/// nothing says so behind `looks`. What stands behind `=>` writes its arguments.
macro_rules! named_commands {
    (
        $(#[$meta:meta])*
        pub enum $Enum:ident {
            $(
                $(#[$variant_meta:meta])*
                $name:literal $Variant:ident
                $(($inner:ident: $inner_type:ty))?
                $({ $( $(#[$field_meta:meta])* $field:ident: $type:ty ),* $(,)? })?
                $(looks $looks:expr)?
                $(=> |$f:ident| $write:expr)?,
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $Enum {
            $( $(#[$variant_meta])* $Variant $(($inner_type))? $({ $( $(#[$field_meta])* $field: $type ),* })?, )*
        }

        #[allow(unused_variables, reason = "most commands need no field here")]
        impl $Enum {
            const fn own_name(&self) -> &'static str {
                match self { $( Self::$Variant { .. } => $name, )* }
            }

            /// Whether it only shows something: it changes nothing, and it waits for nothing.
            pub fn is_look(&self) -> bool {
                let looks: &[bool] = match self {
                    $( Self::$Variant $(($inner))? $({ $($field),* })? => &[$($looks)?], )*
                };
                looks == [true]
            }

            fn write_arguments(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(
                        Self::$Variant $(($inner))? $({ $($field),* })? => {
                            Ok(()) $(.and_then(|()| { let $f = &mut *out; $write }))?
                        }
                    )*
                }
            }
        }
    };
}

named_commands! {
    pub enum SlashCommand {
        "plan" Plan(command: PlanCommand) looks command.is_look() => |f| command.write_arguments(f),
        "plans" Plans looks true,
        "auto" Auto(command: AutoSubcommand) looks matches!(command, AutoSubcommand::Status) => |f| write_auto(f, command),
        "goal" Goal(command: GoalSubcommand)
            looks matches!(command, GoalSubcommand::List | GoalSubcommand::Show { .. })
            => |f| write_goal(f, command),
        "goals" Goals looks true,
        "task" Task(command: TaskSubcommand) looks matches!(command, TaskSubcommand::List) => |f| write_task(f, command),
        "tasks" Tasks looks true,
        "schedule" Schedule(command: ScheduleSubcommand)
            looks matches!(command, ScheduleSubcommand::List)
            => |f| write_schedule(f, command),
        /// Without a text it shows the diary.
        "diary" Diary { text: Option<String> }
            looks text.is_none()
            => |f| text.iter().try_for_each(|text| write!(f, " add {text}")),
        "new" New,
        "sessions" Sessions looks true,
        "switch" Switch { key: ConversationKey } => |f| write!(f, " {key}"),
        "reset" Reset,
        "compact" Compact,
        "stop" Stop,
        /// Without a code it shows what the agent asks.
        "allow" Allow {
            code: Option<String>,
            grant: Option<Grant>,
            note: Option<String>,
        } looks code.is_none() => |f| {
            write_after(f, code)?;
            write_after(f, &grant.map(Grant::as_str))?;
            write_note(f, note.as_deref())
        },
        /// Without a code it is about the call that the person was shown.
        "deny" Deny {
            code: Option<String>,
            note: Option<String>,
        } => |f| write_after(f, code).and_then(|()| write_note(f, note.as_deref())),
        /// Answers the question with this code.
        "answer" Answer {
            code: String,
            text: String,
        } => |f| write!(f, " {code} -- {text}"),
        "status" Status looks true,
        "memory" Memory(command: MemorySubcommand)
            looks matches!(command, MemorySubcommand::List | MemorySubcommand::Search { .. } | MemorySubcommand::Offers)
            => |f| write_memory(f, command),
        "tools" Tools(command: ToolsCommand)
            looks matches!(command, ToolsCommand::List | ToolsCommand::Accept { code: None, .. })
            => |f| match command {
                ToolsCommand::List => Ok(()),
                ToolsCommand::Accept { server, code } => {
                    write!(f, " accept {server}").and_then(|()| write_after(f, code))
                }
            },
        "help" Help { topic: Option<String> } looks true => |f| write_after(f, topic),
        "project" Project(command: ProjectCommand)
            looks matches!(command, ProjectCommand::Show)
            => |f| match command {
                ProjectCommand::Show => Ok(()),
                ProjectCommand::Off => f.write_str(" off"),
                ProjectCommand::At(path) => write!(f, " {path}"),
            },
        "changes" Changes(selection: ChangeSelection) looks true => |f| write_selected_changes(f, selection),
        "undo" Undo(selection: ChangeSelection) => |f| write_selected_changes(f, selection),
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
        "plan on" On { style: Option<PlanStyle> } => |f| write_after(f, style),
        "plan off" Off,
        "plan done" Done,
        "plan status" Status looks true,
        "plan show" Show { plan: Option<PlanReference> } looks true => |f| write_after(f, plan),
        "plan approve" Approve {
            plan: Option<PlanReference>,
            selection: Selection,
            /// Whether the execution pauses after each step.
            step_by_step: bool,
            note: Option<String>,
        } => |f| {
            write_after(f, plan)?;
            write_selection(f, selection)?;
            write_after(f, &step_by_step.then_some("step by step"))?;
            write_note(f, note.as_deref())
        },
        "plan reject" Reject {
            plan: Option<PlanReference>,
            reason: Option<String>,
        } => |f| {
            write_after(f, plan)?;
            let taken_for_a_word = plan.as_ref().is_some_and(|plan| !is_plainly_a_reference(&plan.to_string()));
            write_note(f, reason.as_deref().or(taken_for_a_word.then_some("")))
        },
        "plan revise" Revise {
            plan: Option<PlanReference>,
            feedback: String,
        } => |f| write_after(f, plan).and_then(|()| write_note(f, Some(feedback))),
        "plan cancel" Cancel {
            plan: Option<PlanReference>,
            reason: Option<String>,
        } => |f| write_after(f, plan).and_then(|()| write_note(f, reason.as_deref())),
        "plan resume" Resume {
            plan: Option<PlanReference>,
            /// What becomes of the step it stopped at.
            choice: Option<StuckChoice>,
        } => |f| write_after(f, plan).and_then(|()| write_after(f, &choice.map(StuckChoice::as_str))),
        "plan diff" Diff(comparison: Comparison) looks true => |f| match comparison {
            Comparison::Versions { plan } => write_after(f, plan),
            Comparison::Plans { first, second } => write!(f, " {first} {second}"),
        },
        "plan export" Export { plan: Option<PlanReference> } looks true => |f| write_after(f, plan),
        "plan files" Files(switch: OnOff) => |f| match switch {
            OnOff::On => f.write_str(" on"),
            OnOff::Off => f.write_str(" off"),
        },
        /// Plan work is on afterwards, and the agent is given the text.
        "plan" About(text: String) => |f| write_note(f, Some(text)),
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
    /// Whether it lets the agent work by itself, or lets every session read something. A person is recognised for it as for an
    /// approval.
    pub const fn lets_work_happen(&self) -> bool {
        matches!(
            self,
            Self::Auto(AutoSubcommand::On { .. } | AutoSubcommand::Resume { .. })
                | Self::Schedule(ScheduleSubcommand::Add { .. } | ScheduleSubcommand::Resume { .. })
                | Self::Memory(MemorySubcommand::Promote { .. })
        )
    }

    /// Its name in the table and in logs; what a person wrote is not in it.
    pub const fn name(&self) -> &'static str {
        if let Self::Plan(command) = self { command.own_name() } else { self.own_name() }
    }
}

/// The canonical form: parsing it gives the same command. Texts in plan commands follow `--`, so that none of their
/// words can be taken for anything else.
impl fmt::Display for SlashCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", self.name())?;
        self.write_arguments(f)
    }
}

fn write_auto(f: &mut fmt::Formatter<'_>, command: &AutoSubcommand) -> fmt::Result {
    match command {
        AutoSubcommand::On { goal } => f.write_str(" on").and_then(|()| write_after(f, goal)),
        AutoSubcommand::Off { run } => f.write_str(" off").and_then(|()| write_after(f, run)),
        AutoSubcommand::Resume { run } => f.write_str(" resume").and_then(|()| write_after(f, run)),
        AutoSubcommand::Status => f.write_str(" status"),
    }
}

fn write_memory(f: &mut fmt::Formatter<'_>, command: &MemorySubcommand) -> fmt::Result {
    match command {
        MemorySubcommand::List => f.write_str(" list"),
        MemorySubcommand::Search { query } => write!(f, " search {query}"),
        MemorySubcommand::Save { content } => write!(f, " save {content}"),
        MemorySubcommand::Forget { memory } => write!(f, " forget {memory}"),
        MemorySubcommand::Promote { memory } => write!(f, " promote {memory}"),
        MemorySubcommand::Undo => f.write_str(" undo"),
        MemorySubcommand::Offers => f.write_str(" offers"),
        MemorySubcommand::Accept { offer } => write!(f, " accept {offer}"),
        MemorySubcommand::Decline { offer } => write!(f, " decline {offer}"),
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
