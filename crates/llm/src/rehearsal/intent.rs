//! What a message asks for, read from a few plain words.

use crate::rehearsal::opening::Opening;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Intent {
    /// A change of the plan.
    Change,
    /// A yes: to a proposal, or to going on.
    GoAhead,
    /// An answer, not a plan.
    Ask,
    /// Everything else is a task to be planned.
    Task,
}

const CHANGE: [&str; 4] = ["revise", "instead", "change the plan", "the plan should"];

/// A message says yes if it has one of these words …
const YES: [&str; 17] = [
    "yes", "yeah", "yep", "y", "ok", "okay", "sure", "go", "continue", "proceed", "start", "do", "approve", "approved",
    "carry", "lgtm", "agreed",
];

/// … and no others than those and these.
const BESIDE_YES: [&str; 22] = [
    "it", "on", "out", "ahead", "please", "now", "then", "that", "this", "the", "plan", "all", "right", "fine", "good",
    "great", "thanks", "thank", "you", "with", "and", "looks",
];

const ASK: [&str; 6] = ["thanks", "thank you", "hi", "hello", "help", "status"];

impl Intent {
    pub(super) fn of(text: &str) -> Self {
        if Opening::of(text) == Some(Opening::Plan) {
            return Self::GoAhead;
        }
        let text = text.trim().to_lowercase();
        let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
        if CHANGE.iter().any(|sign| bare.contains(sign)) {
            Self::Change
        } else if is_yes(bare) || bare.starts_with("go on") || bare.contains("carry it out") {
            Self::GoAhead
        } else if text.ends_with('?') || ASK.contains(&bare) {
            Self::Ask
        } else {
            Self::Task
        }
    }
}

fn is_yes(text: &str) -> bool {
    let words: Vec<_> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.iter().any(|word| YES.contains(word))
        && words.iter().all(|word| YES.contains(word) || BESIDE_YES.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_words_are_understood() {
        for (text, intent) in [
            ("Revise: fewer steps", Intent::Change),
            ("use SQLite instead", Intent::Change),
            ("Yes!", Intent::GoAhead),
            ("yes, go ahead", Intent::GoAhead),
            ("Yes, please do it.", Intent::GoAhead),
            ("ok, looks good, proceed", Intent::GoAhead),
            ("okay then, carry out the plan", Intent::GoAhead),
            ("LGTM", Intent::GoAhead),
            ("go on with the next step", Intent::GoAhead),
            ("The plan is approved. Carry it out.", Intent::GoAhead),
            ("[Plan 2 was approved, with the note \"use a view instead\". Ready?", Intent::GoAhead),
            ("[Go on with plan 2, revised", Intent::GoAhead),
            ("How far are you?", Intent::Ask),
            ("thanks", Intent::Ask),
            ("Add a health endpoint", Intent::Task),
            ("Yes, and add a health endpoint", Intent::Task),
            ("start the server", Intent::Task),
            ("the plan", Intent::Task),
            ("", Intent::Task),
        ] {
            assert_eq!(Intent::of(text), intent, "{text}");
        }
    }
}
