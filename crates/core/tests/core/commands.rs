//! The shell lines that a plan names: shown for approval, part of the digest, and covered by it.

use planwright_core::command::{NewStep, StepChange};
use planwright_core::plan::content::{Document, PlanContent};
use planwright_core::plan::diff::{PlanDiffItem, StepField, Version, diff};
use planwright_core::plan::markdown;
use planwright_core::refusal::RefusalCode;

use crate::drafts::update;
use crate::world::{World, add, new_step, step};

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

fn with_step(commands: &[&str]) -> World {
    let mut world = World::draft(&[]);
    world.agent(add(NewStep { commands: lines(commands), ..new_step("test it") })).unwrap();
    world
}

#[test]
fn commands_are_shown_and_part_of_the_digest() {
    let (without, with) = (with_step(&[]), with_step(&["cargo test", "a  `b`"]));
    let (without, with) = (without.active(), with.active());
    assert_ne!(with.digest(), without.digest());
    assert!(!without.markdown().contains("command"), "{}", without.markdown());
    let text = with.markdown();
    assert!(text.contains("   - command: `cargo test`\n   - command: ``` a  `b` ```\n"), "{text}");
    let json = serde_json::to_string(&without.content).unwrap();
    assert!(!json.contains("commands"), "a plan without commands is stored as it was: {json}");
    assert_ne!(with_step(&["cargo test", "b"]).active().digest(), with_step(&["b", "cargo test"]).active().digest());
}

#[test]
fn an_approval_covers_the_commands_of_its_steps() {
    let mut world = with_step(&["cargo test"]);
    world.agent(add(NewStep { commands: lines(&["make", "ls"]), ..new_step("make it") })).unwrap();
    let content = &world.active().content;
    assert_eq!(content.commands(|_| true), ["cargo test", "make", "ls"]);
    assert_eq!(content.commands(|id| *id == step("s2")), ["make", "ls"]);
    assert_eq!(content.steps()[0].commands, ["cargo test"]);
}

#[test]
fn a_change_of_commands_is_a_change_of_the_step() {
    let mut world = with_step(&["cargo test"]);
    let before = world.active().content.clone();
    world
        .agent(update("s1", StepChange { commands: Some(lines(&["cargo test", "ls"])), ..StepChange::default() }))
        .unwrap();
    let after = &world.active().content;
    let changes = diff(Version { title: None, content: &before }, Version { title: None, content: after }).changes;
    let expected = PlanDiffItem::StepChanged {
        position: 1,
        field: StepField::Commands,
        from: Some("cargo test".to_owned()),
        to: Some("cargo test\nls".to_owned()),
    };
    assert_eq!(changes, [expected]);
    world.agent(update("s1", StepChange { commands: Some(Vec::new()), ..StepChange::default() })).unwrap();
    assert_eq!(world.active().content.commands(|_| true), lines(&[]));
}

#[test]
fn a_command_is_one_visible_line() {
    for command in ["", "  ", "a\nb", "a\tb", "a\u{1b}[2J", "a\rb"] {
        let refused =
            World::draft(&[]).agent(add(NewStep { commands: lines(&[command]), ..new_step("x") })).unwrap_err();
        assert_eq!(refused.code, RefusalCode::InvalidArgument, "{command:?}");
    }
}

#[test]
fn a_document_names_commands_with_a_dollar_sign() {
    let text = "# T\n\n- [ ] build, then `$ cargo test` and `cargo doc`\n  - nested `$ ls -l`\n- [ ] other\n\n  ```console\n  \
                $ make all\n  output $ not\n  $  \n  ```\n\nAt the end: `$ git diff`. Costs 5 $ or more.\n";
    let steps = markdown::steps(text);
    assert_eq!(steps[0].commands, ["cargo test", "ls -l"]);
    assert_eq!(steps[1].commands, ["make all"]);
    let content = PlanContent::Document(Document { markdown: text.to_owned() });
    assert_eq!(content.commands(|_| false), ["cargo test", "ls -l", "make all", "git diff"]);
    let whole = markdown::steps("Run `$ make`.");
    assert_eq!(whole[0].commands, ["make"]);
}
