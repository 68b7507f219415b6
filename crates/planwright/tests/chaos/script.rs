//! What the model answers. Each text from a client carries a marker, and the answer follows from the marker and from the
//! number of tool results in the turn, so the provider needs no state.

use std::fmt;

use serde_json::{Value, json};

/// Steps of every plan.
pub(crate) const STEPS: u32 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Answers at once.
    Plain,
    /// Writes one file twice.
    Write,
    /// Drafts a plan and reports every step of it.
    Reports,
    /// Drafts a plan and reports one step in each turn.
    Half,
    /// Drafts a plan and never reports anything.
    Silent,
}

impl Kind {
    const ALL: [(Self, &str); 5] = [
        (Self::Plain, "plain"),
        (Self::Write, "write"),
        (Self::Reports, "reports"),
        (Self::Half, "half"),
        (Self::Silent, "silent"),
    ];

    pub(crate) fn has_plan(self) -> bool {
        matches!(self, Self::Reports | Self::Half | Self::Silent)
    }
}

/// `@chaos-01#7:write`: the session, the number of the input within it, and what the model does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) session: String,
    pub(crate) number: u32,
    pub(crate) kind: Kind,
}

impl Marker {
    /// The first marker in a text.
    pub(crate) fn find(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once('@')?;
        let (session, rest) = rest.split_once('#')?;
        let (number, rest) = rest.split_once(':')?;
        let word: String = rest.chars().take_while(char::is_ascii_lowercase).collect();
        let kind = Kind::ALL.iter().find(|(_, name)| *name == word)?.0;
        Some(Self { session: session.to_owned(), number: number.parse().ok()?, kind })
    }

    /// The message that a client sends.
    pub(crate) fn text(&self) -> String {
        let verb = if self.kind.has_plan() { "draft" } else { "do" };
        format!("{verb} {self}")
    }

    pub(crate) fn file(&self) -> String {
        format!("file-{}.txt", self.number % 2)
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = Kind::ALL.iter().find(|(kind, _)| *kind == self.kind).map_or("", |(_, name)| name);
        write!(f, "@{}#{}:{kind}", self.session, self.number)
    }
}

/// Whether the engine begun the turn to carry out an approved document.
pub(crate) fn is_document(text: &str) -> bool {
    text.starts_with("[Plan ") || text.starts_with("[Go on with plan ")
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    Words(String),
    Calls(Vec<(&'static str, Value)>),
}

pub(crate) fn reply(text: &str, marker: &Marker, results: u32) -> Reply {
    if is_document(text) { carry_out(first_open_step(text), marker, results) } else { answer(marker, results) }
}

/// The most model calls that one turn for this marker takes.
pub(crate) fn most_calls(kind: Kind, document: bool) -> usize {
    match (kind, document) {
        (Kind::Plain, _) => 1,
        (Kind::Write, _) => 3,
        (Kind::Reports | Kind::Half | Kind::Silent, false) => 2,
        (Kind::Reports, true) => 2 * STEPS as usize + 1,
        (Kind::Half, true) => 3,
        (Kind::Silent, true) => 2,
    }
}

fn answer(marker: &Marker, results: u32) -> Reply {
    match (marker.kind, results) {
        // Two calls in one reply, or one after the other.
        (Kind::Write, 0) if marker.number.is_multiple_of(2) => Reply::Calls(vec![write(marker, 1), write(marker, 2)]),
        (Kind::Write, 0 | 1) => Reply::Calls(vec![write(marker, results + 1)]),
        (Kind::Reports | Kind::Half | Kind::Silent, 0) => {
            let steps: String = (1..=STEPS).map(|step| format!("- [ ] {marker} step {step}\n")).collect();
            let markdown = format!("# Plan {}\n\n{steps}", marker.number);
            Reply::Calls(vec![("plan_set_content", json!({ "plan_markdown": markdown }))])
        }
        _ => Reply::Words(format!("done {}", marker.number)),
    }
}

fn carry_out(first: u32, marker: &Marker, results: u32) -> Reply {
    let step = first + results / 2;
    let report = |step: u32| Reply::Calls(vec![("plan_progress", json!({ "step": step, "status": "done" }))]);
    match (marker.kind, results) {
        (Kind::Reports, _) if step > STEPS => Reply::Words(format!("carried out {}", marker.number)),
        (Kind::Reports, _) if results.is_multiple_of(2) => Reply::Calls(vec![write(marker, 10 + step)]),
        (Kind::Reports, _) => report(step),
        (Kind::Half | Kind::Silent, 0) => Reply::Calls(vec![write(marker, 10 + step)]),
        (Kind::Half, 1) => report(first),
        _ => Reply::Words("Which colour should it have?".to_owned()),
    }
}

fn write(marker: &Marker, part: u32) -> (&'static str, Value) {
    ("write_file", json!({ "path": marker.file(), "content": format!("{}.{part}", marker.number) }))
}

/// A reminder names the open steps by their position.
fn first_open_step(text: &str) -> u32 {
    let open = text.split_once("Open steps:").map(|(_, steps)| steps.trim_start());
    open.and_then(|steps| steps.split_once('.')).and_then(|(at, _)| at.parse().ok()).unwrap_or(1)
}
