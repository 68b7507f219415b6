//! Whatever others send: nothing panics, the same text is always read the same way, and what is taken can be kept.
//!
//! An ordinary test run tries the same cases each time; `make fuzz` looks for new ones.

use std::time::Duration;

use planwright_core::command::Command;
use planwright_core::ids::PlanId;
use planwright_core::legacy::{self, Legacy};
use planwright_core::plan::reference::{PlanCandidate, PlanReference};
use planwright_core::plan::{Digest, markdown};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::{quoted, visible};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::journal::replay;
use crate::slash::check_line;
use crate::world::World;

/// How long `make fuzz` looks for new cases with each target; `None` in an ordinary test run.
#[allow(clippy::disallowed_methods)]
fn fuzz_time() -> Option<Duration> {
    std::env::var("PLANWRIGHT_FUZZ_SECONDS").ok()?.parse().ok().map(Duration::from_secs)
}

/// How many cases an ordinary test run tries, always the same ones.
const CASES: usize = 2_000;

fn same_cases<T: Arbitrary>(check: impl Fn(&T)) {
    let mut runner = TestRunner::deterministic();
    for _ in 0..CASES {
        check(&any::<T>().new_tree(&mut runner).unwrap().current());
    }
}

/// Runs a check on the same cases each time, or on new ones for as long as `make fuzz` says.
macro_rules! target {
    ($type:ty, $check:expr) => {
        match fuzz_time() {
            None => same_cases::<$type>($check),
            Some(time) => bolero::check!().with_test_time(time).with_type::<$type>().for_each($check),
        }
    };
}

mod shell_lines;

type Changes = Vec<(u16, u8, u8)>;

/// Replaces, inserts or removes a piece at a place, as often as there are changes.
fn mutated(seed: &str, changes: &[(u16, u8, u8)]) -> String {
    const PIECES: [&str; 24] = [
        "null",
        "\"",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "1",
        "-1.5e300",
        "true",
        "\\u0000",
        "s1",
        "\n",
        "- [ ] ",
        "1. ",
        "```",
        "\u{202e}",
        "é",
        "EXECUTING",
        "2024-02-30T25:00",
        "{}",
        "# ",
        "> ",
    ];
    let mut text: Vec<char> = seed.chars().collect();
    for (place, length, piece) in changes {
        let start = usize::from(*place) % (text.len() + 1);
        let end = (start + usize::from(*length) % 8).min(text.len());
        text.splice(start..end, PIECES[usize::from(*piece) % PIECES.len()].chars());
    }
    text.into_iter().collect()
}

#[test]
fn markdown_bytes() {
    target!(Vec<u8>, |input| check_markdown(&String::from_utf8_lossy(input)));
}

#[test]
fn markdown_mutated() {
    let seed = "# Title\n\n1. one\n   - [ ] nested\n2. **two** `code`\n\n> - [x] quoted\n\n```\n- [ ] code\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[^1]: note\n";
    target!(Changes, |changes| check_markdown(&mutated(seed, changes)));
}

fn check_markdown(text: &str) {
    let steps = markdown::steps(text);
    assert_eq!(steps, markdown::steps(text));
    assert_eq!(steps.is_empty(), text.trim().is_empty());
    assert!(steps.iter().all(|step| !step.description.trim().is_empty()));
    assert!(markdown::title(text).is_none_or(|title| !title.trim().is_empty()));
    assert!(markdown::headings(text).iter().all(|heading| (1..=6).contains(&heading.level)));
}

#[test]
fn older_plans_bytes() {
    target!(Vec<u8>, |input| check_older_plans(&String::from_utf8_lossy(input)));
}

#[test]
fn older_plans_mutated() {
    let seed = r#"[{"id":"p1","title":"T","description":null,"markdown":"1. a","status":"READY","steps":[],"modelTier":"smart",
        "channelType":"web","chatId":"k3yk3y8x","transportChatId":"7","createdAt":"2024-05-01T10:00:00Z","updatedAt":null},
        {"id":"p2","status":"EXECUTING","chatId":"12","steps":[{"id":"s1","toolName":"send","toolArguments":"{\"n\":1}","order":2,
        "status":"IN_PROGRESS","result":"r","executedAt":"2024-05-01T10:00:00"},{"toolName":"stop","order":1}]}]"#;
    target!(Changes, |changes| check_older_plans(&mutated(seed, changes)));
}

fn check_older_plans(json: &str) {
    let read = legacy::read(json);
    assert_eq!(read, legacy::read(json));
    let elements = match read {
        Ok(elements) => elements,
        Err(refusal) => return assert_eq!(refusal.code, RefusalCode::InvalidArgument),
    };
    let mut ids = std::collections::BTreeSet::new();
    for element in elements {
        match element {
            Legacy::Skipped { reason, .. } => assert!(!reason.is_empty()),
            Legacy::Taken { session, plan, .. } => {
                assert!(ids.insert(plan.id.clone()));
                let mut world = World::unopened(&session.to_string());
                world.person(Command::Import(plan)).unwrap();
                let (snapshot, _) = replay(&session, &world.journal).unwrap();
                assert_eq!(snapshot, world.snapshot);
            }
        }
    }
}

#[test]
fn hidden_characters() {
    target!(Vec<char>, |input| {
        let text: String = input.iter().collect();
        let shown = visible(&text);
        assert!(shown.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
        assert!(quoted(&text).chars().count() <= 83);
        let twice = visible(&shown);
        assert_eq!(twice.matches('⟦').count(), shown.matches('⟦').count(), "showing it again only shows the brackets");
    });
}

#[test]
fn names_of_sessions_plans_and_digests() {
    target!((u8, Changes), |(which, changes)| {
        let seeds =
            ["web:k3yk3y8x", "legacy:-1", "17", "#17", "0190-aaaa-111111", "sha256:0123456789abcdef0123456789abcdef"];
        check_names(&mutated(seeds[usize::from(*which) % seeds.len()], &changes[..changes.len().min(3)]));
    });
}

#[test]
fn names_bytes() {
    target!(Vec<u8>, |input| check_names(&String::from_utf8_lossy(input)));
}

fn check_names(text: &str) {
    if let Ok(session) = text.parse::<SessionIdentity>() {
        assert_eq!(session.to_string(), text);
    }
    if let Ok(reference) = text.parse::<PlanReference>() {
        assert_eq!(reference.to_string(), text.strip_prefix('#').unwrap_or(text));
        let plan = PlanCandidate { id: PlanId::new("0190-aaaa-111111").unwrap(), number: 17 };
        let _ = reference.choose(&[plan]);
    }
    if let Ok(digest) = text.parse::<Digest>() {
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
    }
    if let Ok(id) = PlanId::new(text) {
        assert!(!id.short().is_empty());
    }
}

#[test]
fn typed_bytes() {
    target!(Vec<u8>, |input| check_line(&String::from_utf8_lossy(input)));
}

#[test]
fn typed_commands_mutated() {
    target!((u8, Changes), |(which, changes)| {
        let seeds = [
            "/plan approve 3 only 1,3-5 -- looks fine",
            "/plan reject 0190-aaaa too risky",
            "/plan revise #1 more tests please",
            "/plan on collect",
            "/plan diff 2 3",
            "/switch k3yk3y8x",
            "//etc/passwd",
        ];
        check_line(&mutated(seeds[usize::from(*which) % seeds.len()], &changes[..changes.len().min(4)]));
    });
}
