//! What may follow `/plan`: one of its own commands, or a text to plan.

use super::arguments::{
    Read, first_word, needed_text, nothing, optional_reference, reference, reference_and_text, some_text,
    split_at_mark, without_dashes,
};
use super::command::{Comparison, OnOff, PlanCommand, SlashCommand};
use super::mistake::Mistake;
use super::selection::{selection, without_step_by_step};
use super::suggest::{is_abbreviation, is_misspelling, nearest};
use super::table::{self, CommandSpec, offered};
use crate::command::StuckChoice;

pub(super) const NAME: &str = "plan";

pub(super) fn command(rest: &str) -> Result<SlashCommand, Mistake> {
    let (word, arguments) = first_word(rest);
    if word.is_empty() {
        return Ok(SlashCommand::Plan(PlanCommand::Status));
    }
    let word = word.to_lowercase();
    if let Some(entry) = table::named(&format!("{NAME} {word}")) {
        return entry.read(arguments).map_err(|mistake| mistake.with_text(rest));
    }
    let meant = nearest(&word, offered().filter(|entry| is_nearly(entry, &word, arguments)));
    if !meant.is_empty() {
        return Err(Mistake::NearlyPlanCommand {
            written: format!("/{NAME} {word}"),
            suggestions: meant.iter().map(|entry| entry.line(arguments)).collect(),
        });
    }
    table::named(NAME).map_or_else(|| Err(Mistake::no_such_command(NAME, &[])), |entry| entry.read(rest))
}

/// A slip in a command must not begin a plan about that slip, and a text to plan must not need a warning for every word
/// that looks like a command. So the shorter the line, the less it takes: a line of many words is a slip only if
/// putting it right makes a whole command.
fn is_nearly(entry: &CommandSpec, word: &str, arguments: &str) -> bool {
    let Some(name) = entry.name.strip_prefix(NAME).and_then(|name| name.strip_prefix(' ')) else { return false };
    let misspelt = is_misspelling(word, name);
    match arguments.split_whitespace().count() {
        0 => misspelt || is_abbreviation(word, name),
        // `/plan an outing` is not about `on`, and `/plan file taxes` not about files that are on or off.
        1 if name.len() > 3 && entry.choices().next().is_none() => misspelt,
        _ => misspelt && entry.read(arguments).is_ok_and(|command| !takes_any_text(&command)),
    }
}

fn takes_any_text(command: &SlashCommand) -> bool {
    matches!(command, SlashCommand::Plan(PlanCommand::Reject { .. } | PlanCommand::Revise { .. }))
}

pub(super) fn bare(rest: &str, command: PlanCommand) -> Read {
    nothing(rest, SlashCommand::Plan(command))
}

pub(super) fn on(rest: &str) -> Read {
    let style = some_text(rest).map(|style| style.to_lowercase().parse()).transpose();
    let style = style.map_err(|refusal: crate::refusal::Refusal| format!("{refusal}."))?;
    Ok(SlashCommand::Plan(PlanCommand::On { style }))
}

pub(super) fn show(rest: &str) -> Read {
    Ok(SlashCommand::Plan(PlanCommand::Show { plan: optional_reference(rest)? }))
}

pub(super) fn resume(rest: &str) -> Read {
    let (before, last) = rest.rsplit_once(char::is_whitespace).unwrap_or(("", rest));
    let choice = StuckChoice::ALL.into_iter().find(|choice| choice.as_str() == without_dashes(last).to_lowercase());
    let plan = optional_reference(if choice.is_some() { before } else { rest })?;
    Ok(SlashCommand::Plan(PlanCommand::Resume { plan, choice }))
}

pub(super) fn export(rest: &str) -> Read {
    Ok(SlashCommand::Plan(PlanCommand::Export { plan: optional_reference(rest)? }))
}

pub(super) fn approve(rest: &str) -> Read {
    let (arguments, note) = split_at_mark(rest);
    let (word, after) = first_word(arguments);
    let (plan, steps) = match reference(word) {
        Ok(plan) => (Some(plan), after),
        Err(_) => (None, arguments),
    };
    let (steps, step_by_step) = without_step_by_step(steps);
    let (selection, note) = (selection(steps)?, note.and_then(some_text));
    Ok(SlashCommand::Plan(PlanCommand::Approve { plan, selection, step_by_step, note }))
}

pub(super) fn reject(rest: &str) -> Read {
    let (plan, text) = reference_and_text(rest)?;
    Ok(SlashCommand::Plan(PlanCommand::Reject { plan, reason: some_text(text) }))
}

pub(super) fn revise(rest: &str) -> Read {
    let (plan, text) = reference_and_text(rest)?;
    let feedback = needed_text(text, "what to change")?;
    Ok(SlashCommand::Plan(PlanCommand::Revise { plan, feedback }))
}

/// A reason needs `--` before it: `/plan cancel subscriptions` is more likely a text to plan than a reason to end one.
pub(super) fn cancel(rest: &str) -> Read {
    let (arguments, reason) = split_at_mark(rest);
    let (plan, reason) = (optional_reference(arguments)?, reason.and_then(some_text));
    Ok(SlashCommand::Plan(PlanCommand::Cancel { plan, reason }))
}

pub(super) fn diff(rest: &str) -> Read {
    let (first, more) = first_word(rest);
    let comparison = match optional_reference(more)? {
        None => Comparison::Versions { plan: optional_reference(first)? },
        Some(second) => Comparison::Plans { first: reference(first)?, second },
    };
    Ok(SlashCommand::Plan(PlanCommand::Diff(comparison)))
}

pub(super) fn files(rest: &str) -> Read {
    let switch = match rest.to_lowercase().as_str() {
        "on" => OnOff::On,
        "off" => OnOff::Off,
        _ => return Err("Say `on` or `off`.".into()),
    };
    Ok(SlashCommand::Plan(PlanCommand::Files(switch)))
}

pub(super) fn about(rest: &str) -> Read {
    let text = match split_at_mark(rest) {
        ("", Some(text)) => text,
        (_, Some(_) | None) => rest,
    };
    Ok(SlashCommand::Plan(PlanCommand::About(needed_text(text, "what to plan")?)))
}
