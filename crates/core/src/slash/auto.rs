//! `/auto`, `/goal`, `/task`, `/schedule` and `/diary`: what may follow them.

use super::arguments::{
    ArgumentProblem, MARKS, Read, at_most_one_word, first_word, is_plainly_a_reference, needed_text, nothing,
    some_text, split_at_mark,
};
use super::command::{AutoSubcommand, GoalSubcommand, ScheduleSubcommand, SlashCommand, TaskSubcommand};
use crate::auto::{GoalStatus, TaskStatus};
use crate::visible::quoted;

pub(super) fn auto(rest: &str) -> Read {
    let (word, more) = first_word(rest);
    let command = match word.to_lowercase().as_str() {
        "on" => AutoSubcommand::On { goal: some_text(more) },
        "off" => AutoSubcommand::Off { run: at_most_one_word(more)? },
        "resume" => AutoSubcommand::Resume { run: at_most_one_word(more)? },
        "" | "status" => return nothing(more, SlashCommand::Auto(AutoSubcommand::Status)),
        _ => return Err(format!("{} is none of `on`, `off`, `resume` and `status`.", quoted(word)).into()),
    };
    Ok(SlashCommand::Auto(command))
}

pub(super) fn goal(rest: &str) -> Read {
    let (word, more) = first_word(rest);
    let change = |status: GoalStatus| -> Result<GoalSubcommand, ArgumentProblem> {
        let (goal, note) = reference_and_note(more, "which goal; `/goals` lists them")?;
        Ok(GoalSubcommand::Change { goal, status, note })
    };
    let command = match word.to_lowercase().as_str() {
        "add" => GoalSubcommand::Add { title: needed_text(more, "what the goal is")? },
        "" | "list" => return nothing(more, SlashCommand::Goal(GoalSubcommand::List)),
        "show" => GoalSubcommand::Show { goal: needed_text(more, "which goal; `/goals` lists them")? },
        "pause" => change(GoalStatus::Paused)?,
        "resume" => change(GoalStatus::Active)?,
        "done" => change(GoalStatus::Done)?,
        "cancel" => change(GoalStatus::Cancelled)?,
        _ => {
            let known = "`add`, `list`, `show`, `pause`, `resume`, `done` and `cancel`";
            return Err(format!("{} is none of {known}.", quoted(word)).into());
        }
    };
    Ok(SlashCommand::Goal(command))
}

pub(super) fn task(rest: &str) -> Read {
    let (word, more) = first_word(rest);
    let change = |status: TaskStatus| -> Result<TaskSubcommand, ArgumentProblem> {
        let (task, note) = reference_and_note(more, "which task; `/tasks` lists them")?;
        Ok(TaskSubcommand::Change { task, status, note })
    };
    let command = match word.to_lowercase().as_str() {
        "add" => {
            let (goal, title) = goal_and_text(more);
            TaskSubcommand::Add { goal, title: needed_text(title, "what the task is")? }
        }
        "" | "list" => return nothing(more, SlashCommand::Task(TaskSubcommand::List)),
        "done" => change(TaskStatus::Done)?,
        "fail" => change(TaskStatus::Failed)?,
        "skip" => change(TaskStatus::Skipped)?,
        "open" => change(TaskStatus::Open)?,
        _ => {
            let known = "`add`, `list`, `done`, `fail`, `skip` and `open`";
            return Err(format!("{} is none of {known}.", quoted(word)).into());
        }
    };
    Ok(SlashCommand::Task(command))
}

/// `#2 text` names a goal by its number, and an id before the text by its id.
fn goal_and_text(rest: &str) -> (Option<String>, &str) {
    let (word, text) = first_word(rest);
    if MARKS.contains(&word) {
        return (None, text);
    }
    if text.is_empty() || !is_plainly_a_reference(word) {
        return (None, rest);
    }
    let (mark, after_mark) = first_word(text);
    let title = if MARKS.contains(&mark) { after_mark } else { text };
    (Some(word.strip_prefix('#').unwrap_or(word).to_owned()), title)
}

/// A reference of one word, then words about it.
fn reference_and_note(rest: &str, what: &str) -> Result<(String, Option<String>), ArgumentProblem> {
    let (before, after) = split_at_mark(rest);
    let text = needed_text(before, what)?;
    let (word, more) = first_word(&text);
    let note = after.and_then(some_text).or_else(|| some_text(more));
    Ok((word.strip_prefix('#').unwrap_or(word).to_owned(), note))
}

pub(super) fn schedule(rest: &str) -> Read {
    let (word, more) = first_word(rest);
    let named = |more: &str| -> Result<String, ArgumentProblem> {
        at_most_one_word(more)?
            .ok_or_else(|| ArgumentProblem::from("Say which schedule; `/schedule list` shows them.".to_owned()))
    };
    let command = match word.to_lowercase().as_str() {
        "" | "list" => return nothing(more, SlashCommand::Schedule(ScheduleSubcommand::List)),
        "add" => add_schedule(more)?,
        "pause" => ScheduleSubcommand::Pause { schedule: named(more)? },
        "resume" => ScheduleSubcommand::Resume { schedule: named(more)? },
        "delete" => ScheduleSubcommand::Delete { schedule: named(more)? },
        _ if word.starts_with(|letter: char| letter.is_ascii_digit() || letter == '*') => add_schedule(rest)?,
        _ => {
            let known = "`add`, `list`, `pause`, `resume` and `delete`";
            return Err(format!("{} is none of {known}.", quoted(word)).into());
        }
    };
    Ok(SlashCommand::Schedule(command))
}

/// Five fields, then any of `tz=`, `max=` and `goal=`, then what to do.
fn add_schedule(rest: &str) -> Result<ScheduleSubcommand, ArgumentProblem> {
    let (mut fields, mut rest) = (Vec::new(), rest);
    while fields.len() < 5 {
        let (field, more) = first_word(rest);
        if field.is_empty() {
            return Err("Say when: five fields, minute, hour, day of the month, month, day of the week."
                .to_owned()
                .into());
        }
        fields.push(field);
        rest = more;
    }
    let (mut zone, mut max_executions, mut goal) = (None, None, None);
    loop {
        let (word, more) = first_word(rest);
        if MARKS.contains(&word) {
            rest = more;
            break;
        }
        match word.split_once('=') {
            Some(("tz", value)) => zone = some_text(value),
            Some(("goal", value)) => goal = some_text(value.strip_prefix('#').unwrap_or(value)),
            Some(("max", value)) => match value.parse() {
                Ok(number) => max_executions = Some(number),
                Err(_) => return Err(format!("{} is not a number of executions.", quoted(value)).into()),
            },
            Some(_) | None => break,
        }
        rest = more;
    }
    let title = needed_text(rest, "what to do")?;
    Ok(ScheduleSubcommand::Add { expression: fields.join(" "), zone, max_executions, goal, title })
}

pub(super) fn diary(rest: &str) -> Read {
    let (word, more) = first_word(rest);
    match word.to_lowercase().as_str() {
        "" => Ok(SlashCommand::Diary { text: None }),
        "add" => Ok(SlashCommand::Diary { text: Some(needed_text(more, "what to write")?) }),
        _ => Err(format!("Only `add` and a text can follow, and {} did.", quoted(word)).into()),
    }
}
