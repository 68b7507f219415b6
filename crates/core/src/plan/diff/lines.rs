//! The text of a document, line by line, with a little of what is around each change.

use serde::{Deserialize, Serialize};
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff, capture_diff_slices, group_diff_ops};

/// Numbers count from 1. `from` is a line of the older text, `to` one of the newer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "mark", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DiffLine {
    Same {
        from: usize,
        to: usize,
        text: String,
    },
    Removed {
        from: usize,
        pieces: Vec<Piece>,
        /// The last line of a text may lack its end.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unended: bool,
    },
    Added {
        to: usize,
        pieces: Vec<Piece>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unended: bool,
    },
    /// Lines that are the same on both sides and not shown.
    Gap {
        lines: usize,
    },
}

/// A part of a changed line; together the pieces are the line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Piece {
    pub text: String,
    /// What is different from the line it replaces or that replaces it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub emphasized: bool,
}

impl DiffLine {
    /// The line without marks and emphasis; nothing for a gap.
    pub fn text(&self) -> String {
        match self {
            Self::Same { text, .. } => text.clone(),
            Self::Removed { pieces, .. } | Self::Added { pieces, .. } => {
                pieces.iter().map(|piece| piece.text.as_str()).collect()
            }
            Self::Gap { .. } => String::new(),
        }
    }
}

/// How many unchanged lines are shown around a change.
const CONTEXT_LINES: usize = 3;

/// Words are only compared in lines that are short enough to be read and alike enough to be the same line.
const MAX_COMPARED: usize = 2000;
const MIN_SIMILARITY: f32 = 0.3;

/// Empty if the texts are the same.
pub(super) fn diff(from: &str, to: &str) -> Vec<DiffLine> {
    if from == to {
        return Vec::new();
    }
    let (from, to) = (split(from), split(to));
    let ops = capture_diff_slices(Algorithm::Myers, &from, &to);
    let mut lines = Vec::new();
    let mut shown = 0;
    for group in group_diff_ops(ops, CONTEXT_LINES) {
        let first = group.first().map_or(0, |op| op.old_range().start);
        gap(first - shown, &mut lines);
        for op in &group {
            hunk(op, &from, &to, &mut lines);
            shown = op.old_range().end;
        }
    }
    gap(from.len() - shown, &mut lines);
    lines
}

/// Every line with its end, so that a missing or different end is a difference.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn gap(lines: usize, out: &mut Vec<DiffLine>) {
    if lines > 0 {
        out.push(DiffLine::Gap { lines });
    }
}

fn hunk(op: &DiffOp, from: &[&str], to: &[&str], out: &mut Vec<DiffLine>) {
    let (old, new) = (op.old_range(), op.new_range());
    if let DiffOp::Equal { .. } = op {
        out.extend(old.zip(new).map(|(from_index, to_index)| DiffLine::Same {
            from: from_index + 1,
            to: to_index + 1,
            text: without_end(from[from_index]).to_owned(),
        }));
        return;
    }
    // The n-th removed line is compared with the n-th added one; what has no partner is changed as a whole.
    let both =
        old.clone().zip(new.clone()).map(|(old, new)| compare_words(without_end(from[old]), without_end(to[new])));
    let (mut removed, mut added): (Vec<_>, Vec<_>) = both.unzip();
    removed.extend(old.clone().skip(removed.len()).map(|index| whole(without_end(from[index]))));
    added.extend(new.clone().skip(added.len()).map(|index| whole(without_end(to[index]))));
    let unended = |line: &str| !line.ends_with('\n');
    out.extend(old.zip(removed).map(|(index, pieces)| DiffLine::Removed {
        from: index + 1,
        pieces,
        unended: unended(from[index]),
    }));
    out.extend(new.zip(added).map(|(index, pieces)| DiffLine::Added {
        to: index + 1,
        pieces,
        unended: unended(to[index]),
    }));
}

fn without_end(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

fn whole(line: &str) -> Vec<Piece> {
    if line.is_empty() { Vec::new() } else { vec![Piece { text: line.to_owned(), emphasized: false }] }
}

fn compare_words(from: &str, to: &str) -> (Vec<Piece>, Vec<Piece>) {
    let plain = || (whole(from), whole(to));
    if from.len().max(to.len()) > MAX_COMPARED {
        return plain();
    }
    let compared = TextDiff::from_words(from, to);
    if compared.ratio() < MIN_SIMILARITY {
        return plain();
    }
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for change in compared.iter_all_changes() {
        match change.tag() {
            ChangeTag::Equal => {
                push(&mut removed, change.value(), false);
                push(&mut added, change.value(), false);
            }
            ChangeTag::Delete => push(&mut removed, change.value(), true),
            ChangeTag::Insert => push(&mut added, change.value(), true),
        }
    }
    (removed, added)
}

fn push(pieces: &mut Vec<Piece>, text: &str, emphasized: bool) {
    match pieces.last_mut().filter(|last| last.emphasized == emphasized) {
        Some(last) => last.text.push_str(text),
        None => pieces.push(Piece { text: text.to_owned(), emphasized }),
    }
}
