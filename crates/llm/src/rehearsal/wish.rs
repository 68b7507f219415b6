//! What the person seems to want, told from a few plain words.

use crate::rehearsal::opening::Opening;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Something about the plan is to be different.
    Change,
    /// A yes: to a proposal, or to going on.
    GoOn,
    /// An answer, not a plan.
    Ask,
    /// Anything else is something to be planned.
    Task,
}

const CHANGE: [&str; 4] = ["revise", "instead", "change the plan", "the plan should"];

const GO_ON: [&str; 14] = [
    "yes",
    "ok",
    "okay",
    "y",
    "go",
    "go on",
    "go ahead",
    "continue",
    "proceed",
    "start",
    "do it",
    "approve",
    "approved",
    "carry it out",
];

const ASK: [&str; 6] = ["thanks", "thank you", "hi", "hello", "help", "status"];

impl Wish {
    pub(super) fn of(words: &str) -> Self {
        if Opening::of(words) == Some(Opening::Plan) {
            return Self::GoOn;
        }
        let words = words.trim().to_lowercase();
        let bare = words.trim_matches(|c: char| !c.is_alphanumeric());
        if CHANGE.iter().any(|sign| bare.contains(sign)) {
            Self::Change
        } else if GO_ON.contains(&bare) || bare.starts_with("go on") || bare.contains("carry it out") {
            Self::GoOn
        } else if words.ends_with('?') || ASK.contains(&bare) {
            Self::Ask
        } else {
            Self::Task
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_words_are_understood() {
        for (words, wish) in [
            ("Revise: fewer steps", Wish::Change),
            ("use SQLite instead", Wish::Change),
            ("Yes!", Wish::GoOn),
            ("go on with the next step", Wish::GoOn),
            ("The plan is approved. Carry it out.", Wish::GoOn),
            ("[Plan 2 was approved, with the note \"use a view instead\". Ready?", Wish::GoOn),
            ("[Go on with plan 2, revised", Wish::GoOn),
            ("How far are you?", Wish::Ask),
            ("thanks", Wish::Ask),
            ("Add a health endpoint", Wish::Task),
            ("", Wish::Task),
        ] {
            assert_eq!(Wish::of(words), wish, "{words}");
        }
    }
}
