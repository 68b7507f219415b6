//! What changed between two versions of a plan.

use planwright_core::plan::content::{AgentStep, Built, CallRunner, Collected, Document, RecordedCall};
use planwright_core::plan::diff::{DiffLine, PlanDiff, PlanDiffItem, Version, diff};
use planwright_core::plan::{PlanContent, PlanStyle};
use serde_json::{Value, json};

use crate::world::step;

fn compare(from: &PlanContent, to: &PlanContent) -> PlanDiff {
    diff(Version { title: None, content: from }, Version { title: None, content: to })
}

fn document(markdown: &str) -> PlanContent {
    PlanContent::Document(Document { markdown: markdown.to_owned() })
}

fn calls(steps: &[(&str, &str, Value)]) -> PlanContent {
    let steps = steps.iter().map(|(id, tool, arguments)| RecordedCall {
        id: step(id),
        tool: (*tool).to_owned(),
        arguments: arguments.clone(),
        description: None,
        runner: CallRunner::Planwright,
    });
    PlanContent::Collect(Collected { summary: None, steps: steps.collect() })
}

/// `id agent description`, and what it needs after `<`.
fn built(steps: &[&str]) -> PlanContent {
    PlanContent::Build(Built { steps: steps.iter().map(|text| agent_step(text)).collect(), ..Built::default() })
}

fn agent_step(text: &str) -> AgentStep {
    let (text, needs) = text.split_once('<').unwrap_or((text, ""));
    let mut words = text.trim().splitn(3, ' ').map(str::to_owned);
    let (id, agent, description) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
    AgentStep {
        id: step(&id),
        agent,
        description,
        needs: needs.split_whitespace().map(step).collect(),
        verification: None,
        commands: Vec::new(),
    }
}

/// A change as a short line, so that tables stay readable.
fn line_of(change: &PlanDiffItem) -> String {
    let value = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    match change {
        PlanDiffItem::StyleChanged { from, to } => format!("style {from} > {to}"),
        PlanDiffItem::TitleChanged { from, to } => format!("title {} > {}", value(from), value(to)),
        PlanDiffItem::GoalChanged { from, to } => format!("goal {} > {}", value(from), value(to)),
        PlanDiffItem::SummaryChanged { from, to } => format!("summary {} > {}", value(from), value(to)),
        PlanDiffItem::HeadingAdded { level, text } => format!("+h{level} {text}"),
        PlanDiffItem::HeadingRemoved { level, text } => format!("-h{level} {text}"),
        PlanDiffItem::ItemAdded { list, text } => format!("+{list:?} {text}"),
        PlanDiffItem::ItemRemoved { list, text } => format!("-{list:?} {text}"),
        PlanDiffItem::ItemsReordered { list } => format!("~{list:?}"),
        PlanDiffItem::StepRemoved { position, description } => format!("-{position} {description}"),
        PlanDiffItem::StepAdded { position, description } => format!("+{position} {description}"),
        PlanDiffItem::StepReworded { position, from, to } => format!("~{position} {from} > {to}"),
        PlanDiffItem::StepChanged { position, field, from, to } => {
            format!("~{position} {field:?} {} > {}", value(from), value(to))
        }
        PlanDiffItem::StepMoved { from, to, description } => format!("{from}>{to} {description}"),
        PlanDiffItem::StepTicked { position, description } => format!("x{position} {description}"),
        PlanDiffItem::StepUnticked { position, description } => format!("o{position} {description}"),
    }
}

#[track_caller]
fn check(from: &PlanContent, to: &PlanContent, expected: &[&str]) {
    let found: Vec<_> = compare(from, to).changes.iter().map(line_of).collect();
    assert_eq!(found, expected);
}

/// `=`, `-` or `+`, then the line with what is emphasised in brackets; `…n` for a gap.
fn line(line: &DiffLine) -> String {
    let pieces = |pieces: &[planwright_core::plan::diff::Piece]| {
        let mark = |piece: &planwright_core::plan::diff::Piece| match piece.emphasized {
            true => format!("[{}]", piece.text),
            false => piece.text.clone(),
        };
        pieces.iter().map(mark).collect::<String>()
    };
    let end = |unended: bool| if unended { "¬" } else { "" };
    match line {
        DiffLine::Same { text, .. } => format!("={text}"),
        DiffLine::Removed { pieces: given, unended, .. } => format!("-{}{}", pieces(given), end(*unended)),
        DiffLine::Added { pieces: given, unended, .. } => format!("+{}{}", pieces(given), end(*unended)),
        DiffLine::Gap { lines } => format!("…{lines}"),
    }
}

#[track_caller]
fn check_lines(from: &str, to: &str, expected: &[&str]) {
    let found: Vec<_> = compare(&document(from), &document(to)).lines.iter().map(line).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_same_is_empty() {
    let versions =
        [document("# A\n\n1. b"), calls(&[("s1", "a", json!({}))]), built(&["s1 coder x", "s2 coder y < s1"])];
    for content in versions {
        assert!(compare(&content, &content).is_empty());
    }
    assert!(compare(&document(""), &document("")).is_empty());
}

#[test]
fn titles_and_styles() {
    let (one, two) = (document("Pack"), calls(&[("s1", "send", json!({}))]));
    let titled = |title| Version { title, content: &one };
    for (from, to, expected) in
        [(None, Some("A"), "title - > A"), (Some("A"), None, "title A > -"), (Some("A"), Some("B"), "title A > B")]
    {
        let found = diff(titled(from), titled(to));
        assert_eq!(found.changes.iter().map(line_of).collect::<Vec<_>>(), [expected]);
        assert!(!found.is_empty() && found.lines.is_empty());
    }
    check(&one, &two, &["style document > collect", "-1 Pack", "+1 send({})"]);
    check(&PlanContent::empty(PlanStyle::Collect), &PlanContent::empty(PlanStyle::Build), &["style collect > build"]);
}

#[test]
fn steps_of_a_document() {
    for (from, to, expected) in [
        ("1. a\n2. b", "1. a\n2. b\n3. c", vec!["+3 c"]),
        ("1. a\n2. b", "1. b", vec!["-1 a"]),
        ("1. a\n2. b\n3. c", "1. c\n2. a\n3. b", vec!["3>1 c"]),
        ("1. a\n2. b", "1. b\n2. a", vec!["2>1 b"]),
        (
            "1. pack the big boxes\n2. b",
            "1. pack the small boxes\n2. b",
            vec!["~1 pack the big boxes > pack the small boxes"],
        ),
        ("1. pack\n2. b", "1. sail away\n2. b", vec!["-1 pack", "+1 sail away"]),
        ("- [ ] a\n- [ ] b", "- [x] a\n- [ ] b", vec!["x1 a"]),
        ("- [x] a", "- [ ] a", vec!["o1 a"]),
        (
            "- [ ] pack the big box",
            "- [x] pack the small box",
            vec!["~1 pack the big box > pack the small box", "x1 pack the small box"],
        ),
        ("1. a\n2. a", "1. a", vec!["-2 a"]),
        ("1. a", "1. *a*", vec![]),
        (
            "1. x y\n2. pack all boxes",
            "1. new thing\n2. x z\n3. pack all the boxes",
            vec!["+1 new thing", "~2 x y > x z", "~3 pack all boxes > pack all the boxes"],
        ),
        ("", "1. a", vec!["+1 a"]),
        ("# T\n\n## A\n\n1. a", "# T\n\n## B\n\n1. a", vec!["-h2 A", "+h2 B"]),
        ("## A\n\n1. a", "# A\n\n1. a", vec!["-h2 A", "+h1 A"]),
        ("## A\n## B\n\n1. a", "## B\n## A\n\n1. a", vec![]),
    ] {
        check(&document(from), &document(to), &expected);
        assert!(!compare(&document(from), &document(to)).is_empty());
    }
}

#[test]
fn lines_of_a_document() {
    check_lines("a\nb\n", "a\nc\n", &["=a", "-b", "+c"]);
    check_lines("pack the big box\n", "pack the small box\n", &["-pack the [big] box", "+pack the [small] box"]);
    check_lines("a\n", "a", &["-a", "+a¬"]);
    check_lines("a\r\n", "a\n", &["-a[\r]", "+a"]);
    check_lines("", "a\n\n", &["+a", "+"]);
    check_lines("a\n\n", "", &["-a", "-"]);
    check_lines("one\ntwo\n", "three\n", &["-one", "-two", "+three"]);
}

#[test]
fn only_what_is_around_a_change_is_shown() {
    let text = |changed: &[usize]| {
        let line = |n: usize| if changed.contains(&n) { format!("{n} new\n") } else { format!("{n}\n") };
        (1..=30).map(line).collect::<String>()
    };
    check_lines(
        &text(&[]),
        &text(&[10, 25]),
        &[
            "…6",
            "=7",
            "=8",
            "=9",
            "-10",
            "+10[ new]",
            "=11",
            "=12",
            "=13",
            "…8",
            "=22",
            "=23",
            "=24",
            "-25",
            "+25[ new]",
            "=26",
            "=27",
            "=28",
            "…2",
        ],
    );
    let lines = compare(&document(&text(&[])), &document(&text(&[10]))).lines;
    assert!(matches!(lines[4], DiffLine::Removed { from: 10, .. }), "{lines:?}");
    assert!(matches!(lines[5], DiffLine::Added { to: 10, .. }), "{lines:?}");
    assert!(matches!(lines[8], DiffLine::Same { from: 13, to: 13, .. }), "{lines:?}");
    assert_eq!(lines[5].text(), "10 new");
}

#[test]
fn recorded_calls() {
    let n = |n: i32| json!({ "n": n });
    let two = calls(&[("s1", "send", n(1)), ("s2", "send", n(2))]);
    for (to, expected) in [
        (calls(&[("s1", "send", n(1))]), vec![r#"-2 send({"n":2})"#]),
        (calls(&[("s1", "send", n(1)), ("s2", "send", n(2)), ("s3", "stop", json!({}))]), vec!["+3 stop({})"]),
        (calls(&[("s1", "send", n(3)), ("s2", "send", n(2))]), vec![r#"~1 Arguments {"n":1} > {"n":3}"#]),
        (calls(&[("s1", "post", n(1)), ("s2", "send", n(2))]), vec!["~1 Tool send > post"]),
        (calls(&[("s2", "send", n(2)), ("s1", "send", n(1))]), vec![r#"2>1 send({"n":2})"#]),
        // Collected anew: other ids, the same calls.
        (calls(&[("s3", "send", n(1)), ("s4", "send", n(2))]), vec![]),
        (calls(&[("s3", "send", n(2))]), vec![r#"-1 send({"n":1})"#]),
    ] {
        check(&two, &to, &expected);
    }
    let summed = PlanContent::Collect(Collected { summary: Some("S".to_owned()), steps: Vec::new().into() });
    check(&PlanContent::empty(PlanStyle::Collect), &summed, &["summary - > S"]);
    assert!(compare(&two, &summed).lines.is_empty());
}

#[test]
fn the_order_of_keys_is_no_change() {
    let from = calls(&[("s1", "send", serde_json::from_str(r#"{"a":1,"b":2}"#).unwrap())]);
    let to = calls(&[("s1", "send", serde_json::from_str(r#"{"b":2,"a":1}"#).unwrap())]);
    check(&from, &to, &[]);
}

#[test]
fn built_steps() {
    let three = built(&["s1 coder a", "s2 coder b < s1", "s3 tester c < s1 s2"]);
    for (to, expected) in [
        (built(&["s1 coder a", "s2 coder b < s1"]), vec!["-3 c"]),
        (built(&["s1 coder z", "s2 coder b < s1", "s3 tester c < s1 s2"]), vec!["~1 a > z"]),
        (built(&["s1 writer a", "s2 coder b < s1", "s3 tester c < s1 s2"]), vec!["~1 Agent coder > writer"]),
        (built(&["s1 coder a", "s2 coder b", "s3 tester c < s1 s2"]), vec!["~2 Needs 1 > -"]),
        (built(&["s1 coder a", "s2 coder b < s1", "s3 tester c < s2 s1"]), vec![]),
        (built(&["s4 coder n", "s1 coder a", "s2 coder b < s1", "s3 tester c < s1 s2"]), vec!["+1 n"]),
        (built(&["s1 coder a", "s3 tester c < s1", "s2 coder b < s1"]), vec!["3>2 c", "~2 Needs 1, 2 > 1"]),
        // The same plan built anew has other ids and says the same.
        (built(&["s4 coder a", "s5 coder b < s4", "s6 tester c < s4 s5"]), vec![]),
        (built(&["s4 writer a", "s5 coder b < s4", "s6 tester c < s4 s5"]), vec!["~1 Agent coder > writer"]),
    ] {
        check(&three, &to, &expected);
    }
    let mut verified = three.clone();
    let PlanContent::Build(content) = &mut verified else { unreachable!() };
    content.steps[0].verification = Some("it runs".to_owned());
    check(&three, &verified, &["~1 Verification - > it runs"]);
}

#[test]
fn goals_and_lists() {
    let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
    let from = Built {
        goal: Some("g".to_owned()),
        risks: list(&["a", "b", "b"]),
        files: list(&["x", "y"]),
        ..Built::default()
    };
    let to = Built {
        goal: Some("h".to_owned()),
        summary: Some("s".to_owned()),
        risks: list(&["b", "c"]),
        files: list(&["y", "x"]),
        assumptions: list(&["n"]),
        ..Built::default()
    };
    let expected = ["goal g > h", "summary - > s", "+Assumptions n", "-Risks a", "-Risks b", "+Risks c", "~Files"];
    check(&PlanContent::Build(from), &PlanContent::Build(to), &expected);
}

#[test]
fn it_is_written_in_camel_case() {
    let found = compare(&document("1. a b c\n"), &document("1. a b d\n"));
    assert_eq!(
        serde_json::to_value(&found).unwrap(),
        json!({
            "changes": [{ "kind": "stepReworded", "position": 1, "from": "a b c", "to": "a b d" }],
            "lines": [
                { "mark": "removed", "from": 1, "pieces": [{ "text": "1. a b " }, { "text": "c", "emphasized": true }] },
                { "mark": "added", "to": 1, "pieces": [{ "text": "1. a b " }, { "text": "d", "emphasized": true }] },
            ],
        })
    );
    let back: PlanDiff = serde_json::from_value(serde_json::to_value(&found).unwrap()).unwrap();
    assert_eq!(back, found);
}

/// A plan as large as plans may be, and another one that has nothing in common with it.
#[test]
fn large_documents_are_compared_in_time() {
    let text = |word: &str| (0..20_000).map(|n| format!("- [ ] {word} {n}\n")).collect::<String>();
    let (one, two) = (text("a"), text("b"));
    assert!(!compare(&document(&one), &document(&two)).is_empty());
    let shuffled: String = one.lines().rev().map(|line| format!("{line}\n")).collect();
    assert!(!compare(&document(&one), &document(&shuffled)).is_empty());
}
