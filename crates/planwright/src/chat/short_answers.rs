//! One letter and Enter instead of a command: what the letters stand for while something waits on the screen.
//!
//! A letter only stands for a decision about what was on the screen when the person typed it. [`super::typeahead`] sees to that.

use planwright_core::ask::Grant;
use planwright_core::choices::{Choice, ChoiceKind, PlanChoice, WaitingAsk, ask_choices, choices};
use planwright_core::command::StuckChoice;
use planwright_core::plan::{Plan, PlanContent, PlanStatus};

use super::local;

/// What a letter stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShortAnswer {
    letter: char,
    /// What it does, in a few words.
    label: String,
    command: String,
    words: WordsAfter,
}

/// What may follow the letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordsAfter {
    Nothing,
    /// The numbers of steps, which follow `only` in the command.
    Steps,
    /// A reason.
    May,
    /// Without them the command is begun, and the person finishes it.
    Must,
    /// The same, where the command takes the words as they are: a step and a comment on it.
    Own,
}

/// What a line means while short answers are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The line is a short answer, and this is the command.
    Command(String),
    /// The letter needs words: this is how the line begins.
    Begin(String),
}

/// What a person can answer about the plan with a letter.
pub(super) fn of_plan(plan: &Plan) -> Vec<ShortAnswer> {
    let mut answers = Vec::new();
    for choice in choices(plan, None).list {
        answers.extend(of_plan_choice(&choice, plan));
        if choice.kind == ChoiceKind::Plan(PlanChoice::Approve) {
            answers.push(answer('s', "step by step", format!("{} step by step", choice.command), WordsAfter::Nothing));
        }
    }
    if plan.status == PlanStatus::Ready {
        answers.extend(of_review(plan));
    }
    answers
}

/// What a person does with a plan before they decide.
fn of_review(plan: &Plan) -> Vec<ShortAnswer> {
    let of = |letter, label: &str, command: &str| {
        answer(letter, label, format!("{command} {}", plan.number), WordsAfter::Nothing)
    };
    let mut answers = match plan.content {
        PlanContent::Document(_) => vec![of('e', "edit", local::EDIT)],
        PlanContent::Build(_) => vec![of('t', "tick steps", local::PICK)],
        PlanContent::Collect(_) => {
            vec![of('v', "changes of files", local::PREVIEW), of('t', "tick steps", local::PICK)]
        }
    };
    answers.push(answer('m', "comment on a step", local::COMMENT.to_owned(), WordsAfter::Own));
    if plan.version > 1 {
        answers.push(of('d', "what changed", "/plan diff"));
    }
    answers.push(of('p', "page", local::PAGE));
    answers
}

/// A choice that ends a plan for good has no letter.
fn of_plan_choice(choice: &Choice, plan: &Plan) -> Option<ShortAnswer> {
    let ChoiceKind::Plan(kind) = choice.kind else { return None };
    let (letter, words) = match kind {
        // A document is approved as a whole.
        PlanChoice::Approve if matches!(plan.content, PlanContent::Document(_)) => ('a', WordsAfter::Nothing),
        PlanChoice::Approve => ('a', WordsAfter::Steps),
        PlanChoice::Revise => ('c', WordsAfter::Must),
        PlanChoice::Reject => ('r', WordsAfter::Nothing),
        PlanChoice::Resume | PlanChoice::Next { .. } => ('g', WordsAfter::Nothing),
        PlanChoice::Settle(StuckChoice::Retry) => ('t', WordsAfter::Nothing),
        PlanChoice::Settle(StuckChoice::Skip) => ('k', WordsAfter::Nothing),
        PlanChoice::Settle(StuckChoice::Stop) => ('x', WordsAfter::Nothing),
        PlanChoice::Cancel | PlanChoice::Watch | PlanChoice::Begin => return None,
    };
    Some(answer(letter, &small(&choice.label), without_capitals(&choice.command), words))
}

/// What a person can answer with a letter to what the agent asks. Questions are answered in words, or with a number.
pub(super) fn of_ask(waiting: &WaitingAsk) -> Vec<ShortAnswer> {
    let of_choice = |choice: Choice| {
        let (letter, label, words) = match choice.kind {
            ChoiceKind::Permit(Grant::Once) => ('y', "yes, once", WordsAfter::Nothing),
            ChoiceKind::Permit(Grant::Plan) => ('p', "yes, for this plan", WordsAfter::Nothing),
            ChoiceKind::Permit(Grant::Always) => ('a', "yes, always, by the rule above", WordsAfter::Nothing),
            ChoiceKind::Permit(Grant::No) => ('n', "no, and why", WordsAfter::May),
            ChoiceKind::Plan(_)
            | ChoiceKind::AcceptTools
            | ChoiceKind::Answer
            | ChoiceKind::ResumeRun
            | ChoiceKind::StopRun => return None,
        };
        Some(answer(letter, label, without_capitals(&choice.command), words))
    };
    ask_choices(waiting).list.into_iter().filter_map(of_choice).collect()
}

pub(super) fn answer(letter: char, label: &str, command: String, words: WordsAfter) -> ShortAnswer {
    ShortAnswer { letter, label: label.to_owned(), command, words }
}

/// Words in capitals stand for the person's own.
fn without_capitals(command: &str) -> String {
    let is_own = |word: &&str| !word.chars().any(|c| c.is_lowercase() || c.is_ascii_digit() || c == '/');
    command.split(' ').filter(|word| !is_own(word)).collect::<Vec<_>>().join(" ")
}

fn small(label: &str) -> String {
    let mut letters = label.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// What the line means, if it is a short answer.
pub(super) fn meaning(text: &str, offered: &[ShortAnswer]) -> Option<Meaning> {
    let text = text.trim();
    let mut letters = text.chars();
    let letter = letters.next()?.to_lowercase().next()?;
    let rest = letters.as_str();
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let found = offered.iter().find(|answer| answer.letter == letter)?;
    found.with(rest.trim())
}

impl ShortAnswer {
    fn with(&self, words: &str) -> Option<Meaning> {
        let command = &self.command;
        match (self.words, words) {
            (WordsAfter::Nothing | WordsAfter::Steps | WordsAfter::May, "") => Some(Meaning::Command(command.clone())),
            (WordsAfter::Must | WordsAfter::Own, "") => Some(Meaning::Begin(format!("{command} "))),
            (WordsAfter::Own, words) => Some(Meaning::Command(format!("{command} {words}"))),
            (WordsAfter::Nothing, _) => None,
            (WordsAfter::Steps, steps) => are_steps(steps).then(|| Meaning::Command(format!("{command} only {steps}"))),
            (WordsAfter::May | WordsAfter::Must, words) => Some(Meaning::Command(format!("{command} -- {words}"))),
        }
    }

    /// What Enter does, if the line is this letter.
    fn effect(&self) -> String {
        match self.words {
            WordsAfter::Must | WordsAfter::Own => {
                format!("  {}: go on with Enter, or a space and your words", self.label)
            }
            WordsAfter::Nothing | WordsAfter::Steps | WordsAfter::May => format!("  Enter: {}", self.label),
        }
    }
}

/// `1,3` or `2-4`
fn are_steps(words: &str) -> bool {
    words.starts_with(|c: char| c.is_ascii_digit()) && words.chars().all(|c| c.is_ascii_digit() || ", -–".contains(c))
}

/// What stands behind a line that is one of the letters, before the person presses Enter.
pub(super) fn hint(line: &str, offered: &[ShortAnswer]) -> Option<String> {
    let mut letters = line.chars();
    let letter = letters.next()?;
    let found = offered.iter().find(|answer| answer.letter == letter && letters.as_str().is_empty())?;
    Some(found.effect())
}

/// What a line that is one of the letters does.
pub(super) fn label<'a>(line: &str, offered: &'a [ShortAnswer]) -> Option<&'a str> {
    let found = offered.iter().find(|answer| line.strip_prefix(answer.letter).is_some_and(str::is_empty))?;
    Some(&found.label)
}

/// The letters with what they do, as pairs.
pub(super) fn legend(offered: &[ShortAnswer]) -> Vec<(String, &str)> {
    let shown = |answer: &ShortAnswer| match answer.words {
        WordsAfter::Nothing => answer.letter.to_string(),
        WordsAfter::Steps => format!("{0} or {0} 1,3", answer.letter),
        WordsAfter::May | WordsAfter::Must => format!("{} WORDS", answer.letter),
        WordsAfter::Own => format!("{} STEP WORDS", answer.letter),
    };
    offered.iter().map(|answer| (shown(answer), answer.label.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered() -> Vec<ShortAnswer> {
        vec![
            answer('a', "approve", "/plan approve 2".to_owned(), WordsAfter::Steps),
            answer('c', "request changes", "/plan revise #2".to_owned(), WordsAfter::Must),
            answer('n', "no, and why", "/deny 3f2a91c0".to_owned(), WordsAfter::May),
            answer('r', "reject", "/plan reject 2".to_owned(), WordsAfter::Nothing),
            answer('m', "comment on a step", "/comment".to_owned(), WordsAfter::Own),
        ]
    }

    #[test]
    fn a_letter_is_a_command_and_a_sentence_is_not() {
        let command = |text: &str| Some(Meaning::Command(text.to_owned()));
        for (text, expected) in [
            ("a", command("/plan approve 2")),
            (" A ", command("/plan approve 2")),
            ("a 1,3", command("/plan approve 2 only 1,3")),
            ("a 2-4", command("/plan approve 2 only 2-4")),
            ("a better idea is a view", None),
            ("a 3rd step is missing", None),
            ("approve", None),
            ("c use a view", command("/plan revise #2 -- use a view")),
            ("c", Some(Meaning::Begin("/plan revise #2 ".to_owned()))),
            ("m 2 too vague", command("/comment 2 too vague")),
            ("m", Some(Meaning::Begin("/comment ".to_owned()))),
            ("n", command("/deny 3f2a91c0")),
            ("n only the unit tests", command("/deny 3f2a91c0 -- only the unit tests")),
            ("no", None),
            ("r", command("/plan reject 2")),
            ("r you sure?", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(meaning(text, &offered()), expected, "{text:?}");
        }
        assert_eq!(meaning("a", &[]), None);
    }

    #[test]
    fn a_letter_says_what_enter_does() {
        assert_eq!(hint("a", &offered()).unwrap(), "  Enter: approve");
        assert_eq!(hint("ab", &offered()), None);
        assert_eq!(hint("", &offered()), None);
    }

    #[test]
    fn words_of_the_person_are_left_out_of_a_command() {
        for (command, expected) in [
            ("/plan revise #2 WHAT TO CHANGE", "/plan revise #2"),
            ("/deny 3f2a91c0 WHY", "/deny 3f2a91c0"),
            ("/plan resume 2 retry", "/plan resume 2 retry"),
        ] {
            assert_eq!(without_capitals(command), expected);
        }
    }
}
