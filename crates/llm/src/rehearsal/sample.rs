//! The sample project: a plan that the rehearsal really carries out. Its files are written into the workspace, its test fails once and is run
//! in the sandbox, and one question goes to the person.

use serde_json::{Value, json};

use crate::rehearsal::Next;
use crate::rehearsal::draft::{Draft, Step, StepKind};
use crate::rehearsal::turn_view::{MadeCall, TurnView};

/// A request with these words is about it.
const NAME: &str = "sample project";
const PROGRAM: &str = "sample/greet.sh";
const TEST: &str = "sample/test.sh";
const RUN_TEST: &str = "sh sample/test.sh";
const FIRST_GREETING: &str = "echo \"Hello, world\"";
const SECOND_GREETING: &str = "echo \"Hello, $1\"";

/// The steps of its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SampleStep {
    Write,
    Mend,
    Ask,
}

const STEPS: [(SampleStep, &str); 3] = [
    (SampleStep::Write, "Write `sample/greet.sh`, which greets a person, and its test `sample/test.sh`"),
    (SampleStep::Mend, "Run `sh sample/test.sh`, mend what it finds, and run it again"),
    (SampleStep::Ask, "Ask which word it greets with, and use that"),
];

fn draft(text: &str) -> Option<Draft> {
    let request = Draft::from_text(text).request;
    request.to_lowercase().contains(NAME).then(|| Draft {
        title: "Mend the sample project".to_owned(),
        request,
        steps: STEPS.iter().map(|(_, text)| Step { text: (*text).to_owned(), kind: StepKind::Work }).collect(),
    })
}

/// What its approval covers, in a project: the files that are written and the command that is run.
const NEEDS: &str = "
```planwright-needs
files = [\"sample/greet.sh\", \"sample/test.sh\"]
commands = [\"sh sample/test.sh\"]
```
";

/// The text of that plan.
pub(super) fn markdown(text: &str) -> Option<String> {
    draft(text).map(|draft| draft.markdown() + NEEDS)
}

/// Whether the plan has a step that is carried out.
pub(super) fn is_in(markdown: &str) -> bool {
    STEPS.iter().any(|(_, text)| markdown.contains(text))
}

/// The step at this position of a plan, if it is one of these. A person may have had steps added.
pub(super) fn step(markdown: &str, position: u64) -> Option<SampleStep> {
    let index = usize::try_from(position.checked_sub(1)?).ok()?;
    let line = markdown.lines().filter_map(|line| line.strip_prefix("- [ ] ")).nth(index)?;
    STEPS.iter().find(|(_, text)| *text == line).map(|(step, _)| *step)
}

/// What is done next in a step, after these calls of it.
pub(super) fn next(step: SampleStep, turn: &TurnView<'_>, made: &[MadeCall<'_>]) -> StepNext {
    let script = script(step, made);
    if let Some(failed) = made.iter().find(|call| call.failed && !is_failing_test(call)) {
        return StepNext::Failed(failed.reason());
    }
    match script.into_iter().nth(made.len()) {
        Some((tool, _)) if !turn.has(tool) => StepNext::Failed(format!("There is no `{tool}` here.")),
        Some((tool, arguments)) => StepNext::Call(Next::Call(tool, arguments)),
        None => match made.last().filter(|call| call.failed) {
            Some(failed) => StepNext::Failed(failed.reason()),
            None => StepNext::Done(evidence(made)),
        },
    }
}

/// What becomes of a step.
#[derive(Debug, PartialEq)]
pub(super) enum StepNext {
    Call(Next),
    Done(String),
    Failed(String),
}

fn script(step: SampleStep, made: &[MadeCall<'_>]) -> Vec<(&'static str, Value)> {
    let test = || ("run_command", json!({ "command": RUN_TEST }));
    match step {
        SampleStep::Write => vec![
            ("write_file", json!({ "path": PROGRAM, "content": program(FIRST_GREETING) })),
            ("write_file", json!({ "path": TEST, "content": test_of("Hello") })),
        ],
        // It was mended before.
        SampleStep::Mend if made.first().is_some_and(|test| !test.failed) => vec![test()],
        SampleStep::Mend => vec![
            test(),
            ("edit_file", json!({ "path": PROGRAM, "edits": [{ "old": FIRST_GREETING, "new": SECOND_GREETING }] })),
            test(),
        ],
        SampleStep::Ask => {
            let word = word(made);
            vec![
                ("ask_person", json!({ "questions": [{ "text": QUESTION, "choices": CHOICES }] })),
                ("write_file", json!({ "path": PROGRAM, "content": program(&format!("echo \"{word}, $1\"")) })),
                ("write_file", json!({ "path": TEST, "content": test_of(&word) })),
                test(),
            ]
        }
    }
}

const QUESTION: &str = "Which word shall the sample project greet with?";
const CHOICES: [&str; 3] = ["Hello", "Good morning", "Ahoy"];
const MAX_WORD_CHARACTERS: usize = 40;

/// The person's answer, as far as it can stand in a shell script.
fn word(made: &[MadeCall<'_>]) -> String {
    let answer = made.first().map(MadeCall::value).unwrap_or_default();
    let answer = answer["answers"][0]["answer"].as_str().unwrap_or_default();
    let letters = |c: &char| c.is_alphanumeric() || " -'".contains(*c);
    let word: String = answer.chars().filter(letters).take(MAX_WORD_CHARACTERS).collect();
    if word.trim().is_empty() { CHOICES[0].to_owned() } else { word.trim().to_owned() }
}

fn program(greeting: &str) -> String {
    format!("#!/bin/sh\n# Greets the person who is named.\n{greeting}\n")
}

fn test_of(word: &str) -> String {
    format!(
        "#!/bin/sh\ngot=$(sh {PROGRAM} Ada)\nif [ \"$got\" = \"{word}, Ada\" ]; then\n    echo \"ok: $got\"\nelse\n    \
         echo \"not ok: it says '$got' and not '{word}, Ada'\"\n    exit 1\nfi\n"
    )
}

/// A test that ran and failed, which the plan mends.
fn is_failing_test(call: &MadeCall<'_>) -> bool {
    call.name == "run_command" && call.value()["exit_code"].as_i64() == Some(1)
}

/// What the last call shows about the step.
fn evidence(made: &[MadeCall<'_>]) -> String {
    let last = made.last().map(MadeCall::value).unwrap_or_default();
    match last["output"].as_str().map(str::trim).filter(|output| !output.is_empty()) {
        Some(output) => format!("the test says: {output}"),
        None => format!("{PROGRAM} and {TEST} are written"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_about_it_is_drafted_as_its_plan() {
        assert_eq!(draft("please mend the Sample Project").unwrap().steps.len(), STEPS.len());
        let draft = draft("mend the sample project").unwrap();
        let markdown = super::markdown("mend the sample project").unwrap();
        assert!(markdown.starts_with(&draft.markdown()) && markdown.ends_with("```\n"), "{markdown}");
        for (position, (expected, _)) in (1..).zip(STEPS) {
            assert_eq!(step(&markdown, position), Some(expected));
        }
        assert_eq!((step(&markdown, 0), step(&markdown, 4)), (None, None));
        assert!(is_in(&markdown));
        assert_eq!(super::draft("mend the blog"), None);
    }

    #[test]
    fn a_step_that_a_person_had_added_is_none_of_them() {
        let markdown = crate::rehearsal::draft::revised(&super::markdown(NAME).unwrap(), "say goodbye as well");
        assert_eq!(step(&markdown, 2), Some(SampleStep::Mend));
        assert_eq!((step(&markdown, 3), step(&markdown, 4)), (None, Some(SampleStep::Ask)));
    }
}
