//! What may follow `/project`, `/changes` and `/undo`.

use super::arguments::{Read, first_word, optional_reference, some_text};
use super::command::{ChangeSelection, ProjectCommand, SlashCommand};
use crate::plan::reference::PlanReference;
use crate::visible::quoted;

const STEP: &str = "step";
const CHAT: &str = "chat";

/// The rest of the line is the path, spaces included.
pub(super) fn project(rest: &str) -> Read {
    Ok(SlashCommand::Project(match some_text(rest) {
        None => ProjectCommand::Show,
        Some(path) if path.eq_ignore_ascii_case("off") => ProjectCommand::Off,
        Some(path) => ProjectCommand::At(path),
    }))
}

pub(super) fn changes(rest: &str) -> Read {
    Ok(SlashCommand::Changes(selection(rest)?))
}

pub(super) fn undo(rest: &str) -> Read {
    Ok(SlashCommand::Undo(selection(rest)?))
}

/// `3`, `3.2`, `3 step 2`, `step 2` or `chat`.
fn selection(rest: &str) -> Result<ChangeSelection, String> {
    let rest = rest.trim();
    if rest.is_empty() {
        return Ok(ChangeSelection::Latest);
    }
    if rest.eq_ignore_ascii_case(CHAT) {
        return Ok(ChangeSelection::Chat);
    }
    let (plan, step) = plan_and_step(rest)?;
    Ok(ChangeSelection::Plan { plan, step })
}

fn plan_and_step(rest: &str) -> Result<(Option<PlanReference>, Option<usize>), String> {
    if let Some((plan, step)) = rest.rsplit_once('.')
        && !plan.contains(char::is_whitespace)
    {
        return Ok((optional_reference(plan)?, Some(position(step)?)));
    }
    let (first, more) = first_word(rest);
    if first.eq_ignore_ascii_case(STEP) {
        return Ok((None, Some(position(more)?)));
    }
    let (word, number) = first_word(more);
    if word.eq_ignore_ascii_case(STEP) {
        return Ok((optional_reference(first)?, Some(position(number)?)));
    }
    Ok((optional_reference(rest)?, None))
}

fn position(word: &str) -> Result<usize, String> {
    let number = word.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{} is not the number of a step.", quoted(word)))
}
