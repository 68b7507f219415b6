//! Memory: scopes and chains, what is saved and by whom, and how items are ranked.

mod changes;
mod offers;
mod ranking;
mod scopes;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::auto::{AutoExecutionContext, RunTarget};
use planwright_core::ids::{GoalId, MemoryId, RunId, TaskId};
use planwright_core::memory::{MemoryItem, MemoryKind, MemoryScope, MemorySource, MemoryTrust};
use planwright_core::session::SessionIdentity;

fn session(name: &str) -> SessionIdentity {
    name.parse().unwrap()
}

fn goal_run(name: &str, goal: &str, task: &str) -> AutoExecutionContext {
    let target = RunTarget::Goal { goal: GoalId::new(goal).unwrap(), task: TaskId::new(task).unwrap() };
    AutoExecutionContext::new(session(name), RunId::new("run").unwrap(), target)
}

fn task_run(name: &str, task: &str) -> AutoExecutionContext {
    AutoExecutionContext::new(
        session(name),
        RunId::new("run").unwrap(),
        RunTarget::Task { task: TaskId::new(task).unwrap() },
    )
}

fn item(id: &str, author: &str, at: &str, content: &str) -> MemoryItem {
    let at: Timestamp = at.parse().unwrap();
    MemoryItem {
        id: MemoryId::new(id).unwrap(),
        scope: MemoryScope::of_session(&session("cli:k3yk3y8x")),
        kind: MemoryKind::Fact,
        content: content.to_owned(),
        tags: Vec::new(),
        source: MemorySource::Person,
        author: Actor::person(author, "cli"),
        trust: MemoryTrust::Person,
        at,
        expires_at: None,
        origin: None,
    }
}
