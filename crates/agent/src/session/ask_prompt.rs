//! What a turn asks, in words for the person.

use planwright_core::ask::{AskSubject, CallToPermit, Question};
use planwright_core::call_text::{CallBlock, call_blocks};
use planwright_core::choices::{WaitingAsk, ask_choices};
use planwright_core::visible::visible;
use planwright_engine::plan_status::choice_list;

/// What a person is asked, for surfaces that offer the answers themselves. In Markdown.
pub fn ask_text(waiting: &WaitingAsk) -> String {
    match &waiting.ask.subject {
        AskSubject::Permission(call) => {
            let always = call.describe_always().map(|always| format!("\n\n{always}")).unwrap_or_default();
            format!("{}\n\n{}{always}", call_text(call), visible(&call.reason))
        }
        AskSubject::Questions { questions } => {
            let several = questions.len() > 1;
            let text: Vec<_> = (1..).zip(questions).map(|(number, asked)| question(number, asked, several)).collect();
            let how =
                if several { "Answer each question in a line of its own, in this order." } else { "Type your answer." };
            format!("{}\n\n{how} `/stop` ends the turn without an answer.", text.join("\n\n"))
        }
    }
}

/// What the agent asks, with what to type, in Markdown.
pub fn ask_prompt(waiting: &WaitingAsk) -> String {
    match &waiting.ask.subject {
        AskSubject::Permission(_) => {
            format!("{}\n\n{}", ask_text(waiting), choice_list(&ask_choices(waiting).list))
        }
        AskSubject::Questions { .. } => {
            let (text, code) = (ask_text(waiting), waiting.ask.code());
            format!("{text} A script names the question: `/answer {code} ANSWER`.")
        }
    }
}

/// The call exactly as it runs.
fn call_text(call: &CallToPermit) -> String {
    let blocks = call_blocks(&call.tool, &call.arguments).into_iter();
    let shown = blocks.map(|block| CallBlock { text: visible(&block.text).into_owned(), ..block }.markdown(""));
    let text = shown.collect::<Vec<_>>().join("\n");
    format!("The agent asks to call `{}`:\n\n{}", visible(&call.tool), text.trim_end())
}

fn question(number: usize, question: &Question, several: bool) -> String {
    let mut text = if several { format!("**{number}.** ") } else { String::new() };
    text.push_str(&visible(&question.text));
    for (number, choice) in (1..).zip(&question.choices) {
        text.push_str(&format!("\n{number}. {}", visible(choice)));
    }
    if question.many {
        text.push_str("\n\nSeveral can be taken: `1, 3`.");
    }
    text
}

/// The answers in what a person typed, one for each question.
pub fn typed_answers(questions: &[Question], text: &str) -> Option<Vec<String>> {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match questions {
        [question] => Some(vec![typed_answer(question, text.trim())]),
        _ if lines.len() == questions.len() => {
            Some(questions.iter().zip(lines).map(|(question, line)| typed_answer(question, line)).collect())
        }
        _ => None,
    }
}

/// A number stands for the choice with this number.
fn typed_answer(question: &Question, text: &str) -> String {
    let choice = |number: &str| {
        let number: usize = number.trim().trim_end_matches('.').parse().ok()?;
        question.choices.get(number.checked_sub(1)?).cloned()
    };
    let numbers: Vec<_> = if question.many { text.split(',').collect() } else { vec![text] };
    let chosen: Option<Vec<_>> = numbers.into_iter().map(choice).collect();
    chosen.map_or_else(|| text.to_owned(), |chosen| chosen.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(choices: &[&str], many: bool) -> Question {
        Question {
            text: "Which?".to_owned(),
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            many,
        }
    }

    #[test]
    fn numbers_stand_for_choices_and_words_for_themselves() {
        let (one, several, free) = (asked(&["red", "blue"], false), asked(&["red", "blue"], true), asked(&[], false));
        for (question, typed, answer) in [
            (&one, "2", "blue"),
            (&one, " 1. ", "red"),
            (&one, "3", "3"),
            (&one, "0", "0"),
            (&one, "1, 2", "1, 2"),
            (&one, "neither", "neither"),
            (&several, "1, 2", "red, blue"),
            (&several, "2", "blue"),
            (&several, "1, 7", "1, 7"),
            (&free, "2", "2"),
            (&free, "two\nlines", "two\nlines"),
        ] {
            assert_eq!(typed_answers(std::slice::from_ref(question), typed).unwrap(), [answer], "{typed}");
        }
        let both = [one, free];
        assert_eq!(typed_answers(&both, "1\n\nbecause").unwrap(), ["red", "because"]);
        assert_eq!(typed_answers(&both, "1"), None);
        assert_eq!(typed_answers(&both, "1\n2\n3"), None);
    }
}
