//! `only 1,3` and `skip 2-4`: which steps an approval is for; `step by step`: whether it pauses after each of them.
//!
//! A yes is never guessed at. Whatever is not understood to the last character is a mistake, not all steps.

use std::collections::BTreeSet;

use super::arguments::{first_word, without_dashes};
use crate::plan::approval::Selection;
use crate::visible::quoted;

const STEP_BY_STEP: [&str; 3] = ["step", "by", "step"];
/// Above every limit on steps, and small enough to write a range out.
const LAST_POSITION: usize = 10_000;

pub(super) fn selection(text: &str) -> Result<Selection, String> {
    let (word, steps) = first_word(text);
    match without_dashes(word).to_lowercase().as_str() {
        "" if steps.is_empty() => Ok(Selection::All),
        "only" => positions(steps).map(Selection::Only),
        "skip" => positions(steps).map(Selection::Skip),
        _ => Err(format!(
            "{} is neither `only` nor `skip` with steps; `step by step` comes last, and a note follows `--`.",
            quoted(text)
        )),
    }
}

/// The words before `step by step`, and whether it stood at the end.
pub(super) fn without_step_by_step(text: &str) -> (&str, bool) {
    let mut rest = text.trim_end();
    let dashed = rest.rsplit(char::is_whitespace).next().unwrap_or_default();
    if without_dashes(dashed).eq_ignore_ascii_case("step-by-step") {
        return (rest[..rest.len() - dashed.len()].trim_end(), true);
    }
    for word in STEP_BY_STEP.iter().rev() {
        let last = rest.rsplit(char::is_whitespace).next().unwrap_or_default();
        if !last.eq_ignore_ascii_case(word) {
            return (text, false);
        }
        rest = rest[..rest.len() - last.len()].trim_end();
    }
    (rest, true)
}

fn positions(text: &str) -> Result<BTreeSet<usize>, String> {
    let mut chosen = BTreeSet::new();
    for piece in text.split(',') {
        let (first, last) = piece.split_once(['-', '–']).unwrap_or((piece, piece));
        match (position(first), position(last)) {
            (Some(first), Some(last)) if first <= last => chosen.extend(first..=last),
            _ => return Err(format!("{} does not name steps: write them as `1,3` or `2-4`.", quoted(text))),
        }
    }
    Ok(chosen)
}

fn position(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|position| digits && (1..=LAST_POSITION).contains(position))
}
