//! The rules that hold whatever was killed, frozen or full. Each compares what the clients were told with what is stored,
//! what the model was asked and what is on the disk.

mod answers;
mod files;
mod journal;
mod models;
mod outcomes;
mod settled;
#[cfg(test)]
mod tests;
mod tools;

use crate::evidence::Evidence;

pub(crate) use journal::is_settled;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// What was acknowledged is in the journal.
    NothingLost,
    /// What was sent once, under one key, happened once.
    NothingTwice,
    /// All answers under one key are the same, and they are what the journal says.
    SameOutcome,
    /// A tool call has one outcome, and what was recorded is not asked for again.
    ToolsOnce,
    /// A session gets no more model calls than its inputs, approvals and progress allow.
    ModelCalls,
    /// Every request is answered, every turn has ended, and nothing begins by itself.
    Settled,
    /// `planwright verify` looks at every session and finds no damage.
    Verified,
    /// Files have the content of the last recorded write.
    Files,
    /// A server answers with what was asked for or says that it is not available, and it stops when it is told to.
    Answers,
    /// A WebSocket client is told every entry once and in order.
    Frames,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) rule: Rule,
    pub(crate) what: String,
}

/// Everything that does not hold.
pub(crate) fn check(evidence: &Evidence) -> Vec<Violation> {
    let mut violations = Violations::default();
    outcomes::check(evidence, &mut violations);
    tools::check(evidence, &mut violations);
    models::check(evidence, &mut violations);
    settled::check(evidence, &mut violations);
    files::check(evidence, &mut violations);
    answers::check(evidence, &mut violations);
    violations.0
}

#[derive(Debug, Default)]
struct Violations(Vec<Violation>);

impl Violations {
    fn add(&mut self, rule: Rule, what: impl Into<String>) {
        self.0.push(Violation { rule, what: what.into() });
    }
}
