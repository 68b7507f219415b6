//! `only 1,3` and `skip 2-4`: which steps an approval is for.
//!
//! A yes is never guessed at. Whatever is not understood to the last character is a mistake, not all steps.

use std::collections::BTreeSet;

use super::arguments::{first_word, without_dashes};
use crate::plan::approval::Selection;
use crate::visible::quoted;

/// Above every limit on steps, and small enough to write a range out.
const LAST_POSITION: usize = 10_000;

pub(super) fn selection(text: &str) -> Result<Selection, String> {
    let (word, steps) = first_word(text);
    match without_dashes(word).to_lowercase().as_str() {
        "" if steps.is_empty() => Ok(Selection::All),
        "only" => positions(steps).map(Selection::Only),
        "skip" => positions(steps).map(Selection::Skip),
        _ => Err(format!("{} is neither `only` nor `skip` with steps; a note follows `--`.", quoted(text))),
    }
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
