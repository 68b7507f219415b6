//! The scopes that a session and its run read, the nearest first, and where they write. A chain is built from the
//! session and the run only, so that the scope of another session, goal or task cannot be asked for.

use super::item::MemoryKind;
use super::scope::MemoryScope;
use crate::auto::{AutoExecutionContext, RunTarget};
use crate::identity::SessionIdentity;
use crate::refusal::Refusal;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeChain {
    session: SessionIdentity,
    run: Option<RunTarget>,
}

impl ScopeChain {
    /// The chain of an ordinary turn: session, then global.
    pub fn of_session(session: &SessionIdentity) -> Self {
        Self { session: session.clone(), run: None }
    }

    /// The chain of a run: its task, its goal if it has one, its session, then global.
    pub fn of_run(context: &AutoExecutionContext) -> Self {
        Self { session: context.session.clone(), run: Some(context.target.clone()) }
    }

    pub fn of(session: &SessionIdentity, run: Option<&AutoExecutionContext>) -> Result<Self, Refusal> {
        match run {
            None => Ok(Self::of_session(session)),
            Some(context) if context.session == *session => Ok(Self::of_run(context)),
            Some(context) => {
                Err(Refusal::not_found(format!("There is no run {} in session {session}.", context.run_id)))
            }
        }
    }

    pub const fn session(&self) -> &SessionIdentity {
        &self.session
    }

    /// The scopes that are read, the nearest first.
    pub fn scopes(&self) -> Vec<MemoryScope> {
        let mut scopes = Vec::with_capacity(4);
        match &self.run {
            Some(RunTarget::Goal { goal, task }) => {
                scopes.push(MemoryScope::of_task(task));
                scopes.push(MemoryScope::of_goal(&self.session, goal));
            }
            Some(RunTarget::Task { task }) => scopes.push(MemoryScope::of_task(task)),
            None => {}
        }
        scopes.push(MemoryScope::of_session(&self.session));
        scopes.push(MemoryScope::Global);
        scopes
    }

    /// The place of a scope in the chain, 0 for the nearest. `None` for a scope that is not read here. `owner` is the
    /// session whose journal has the item; a global item has none.
    pub fn nearness(&self, scope: &MemoryScope, owner: Option<&SessionIdentity>) -> Option<usize> {
        let owned = match scope {
            MemoryScope::Global => owner.is_none(),
            MemoryScope::Session(_) | MemoryScope::Goal { .. } | MemoryScope::Task(_) => owner == Some(&self.session),
        };
        if owned { self.scopes().iter().position(|own| own == scope) } else { None }
    }

    /// The narrowest scope that fits a kind of memory. It is never `global`.
    pub fn scope_for(&self, kind: MemoryKind) -> MemoryScope {
        let session = || MemoryScope::of_session(&self.session);
        match (kind, &self.run) {
            (MemoryKind::Fact | MemoryKind::Preference, _) | (_, None) => session(),
            (MemoryKind::Result, Some(RunTarget::Goal { task, .. })) => MemoryScope::of_task(task),
            (MemoryKind::Decision | MemoryKind::Constraint, Some(RunTarget::Goal { goal, .. })) => {
                MemoryScope::of_goal(&self.session, goal)
            }
            (MemoryKind::Result | MemoryKind::Decision | MemoryKind::Constraint, Some(RunTarget::Task { task })) => {
                MemoryScope::of_task(task)
            }
        }
    }

    /// Whether an item may be written to a scope that the caller chose.
    pub fn check_write(&self, scope: &MemoryScope) -> Result<(), Refusal> {
        match scope {
            MemoryScope::Global => Err(Refusal::policy_denied(
                "Nothing is saved as global directly. Save it in the session; a person promotes it with `/memory promote`.",
            )),
            MemoryScope::Session(_) | MemoryScope::Goal { .. } | MemoryScope::Task(_) => {
                if self.scopes().contains(scope) {
                    Ok(())
                } else {
                    Err(Refusal::not_found(format!("There is no scope {scope} here.")))
                }
            }
        }
    }
}
