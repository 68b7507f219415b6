//! What plans changed in files, as it stands in the journal.

use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::event::{Event, SessionEvent};
use planwright_core::ids::StepId;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::workspace::{ChangedPaths, FileChange, NotUndone, Undo};
use planwright_engine::ledger::{LedgerError, LedgerResult};

use super::agent_context::AgentContext;
use crate::toolbox::files::FileDiff;

/// The number of plans in which the last one that was carried out is looked for.
const RECENT_PLANS: u32 = 50;

/// Reads what plans changed.
#[derive(Debug, Clone)]
pub struct PlanChangesReader {
    agent: Arc<AgentContext>,
}

/// What a plan changed in files and was not undone.
#[derive(Debug, Clone)]
pub struct PlanChanges {
    pub plan: Arc<Plan>,
    /// Only this step, from 1.
    pub step: Option<usize>,
    /// One diff for each file, by path.
    pub files: Vec<FileDiff>,
    /// The changes by step, in the order of the plan.
    pub steps: Vec<StepChanges>,
    /// What commands changed. It is not kept and cannot be undone.
    pub uncovered: ChangedPaths,
    /// What people had put back, in order.
    pub undone: Vec<UndoneChanges>,
}

/// What one step changed.
#[derive(Debug, Clone)]
pub struct StepChanges {
    /// From 1. `None` for changes outside of any step.
    pub position: Option<usize>,
    pub step: Option<StepId>,
    pub description: String,
    pub files: Vec<FileDiff>,
}

/// One undo.
#[derive(Debug, Clone)]
pub struct UndoneChanges {
    pub by: Actor,
    pub at: Timestamp,
    /// Only this step, from 1.
    pub step: Option<usize>,
    /// The files that were put back.
    pub paths: Vec<String>,
    pub not_undone: Vec<NotUndone>,
}

/// A change that was not undone, with its step.
#[derive(Debug, Clone)]
pub(super) struct StandingChange {
    pub(super) step: Option<StepId>,
    pub(super) change: FileChange,
}

/// The entries of one plan that are about files.
#[derive(Debug, Default)]
struct ChangeLog {
    standing: Vec<StandingChange>,
    uncovered: ChangedPaths,
    undone: Vec<UndoneChanges>,
}

impl PlanChangesReader {
    pub(super) fn new(agent: &Arc<AgentContext>) -> Self {
        Self { agent: Arc::clone(agent) }
    }

    /// The active plan if it was carried out, else the last one that was.
    pub async fn default_plan(&self, session: &SessionIdentity) -> LedgerResult<Arc<Plan>> {
        let plans = self.agent.engine().plans();
        let active = match plans.active(session).await {
            Ok(plan) if plan.execution.is_some() => return Ok(plan),
            Ok(plan) => Ok(plan),
            Err(error @ LedgerError::Refused(_)) => Err(error),
            Err(error) => return Err(error),
        };
        match self.last_carried_out(session).await? {
            Some(plan) => Ok(plan),
            None => active,
        }
    }

    /// The last plan that was carried out.
    pub(super) async fn last_carried_out(&self, session: &SessionIdentity) -> LedgerResult<Option<Arc<Plan>>> {
        let plans = self.agent.engine().plans();
        for summary in plans.list(session, None, RECENT_PLANS).await?.items {
            match summary.status {
                PlanStatus::Collecting | PlanStatus::Ready | PlanStatus::Approved | PlanStatus::Rejected => {}
                PlanStatus::Executing
                | PlanStatus::Completed
                | PlanStatus::PartiallyCompleted
                | PlanStatus::Cancelled
                | PlanStatus::Superseded => {
                    let plan = plans.get(session, &summary.id).await?;
                    if plan.execution.is_some() {
                        return Ok(Some(plan));
                    }
                }
            }
        }
        Ok(None)
    }

    /// When the plan changed a file last.
    pub(super) async fn last_change(&self, plan: &Plan) -> LedgerResult<Option<Timestamp>> {
        let mut last = None;
        for entry in self.agent.engine().ledger().plan_journal(&plan.session, &plan.id).await? {
            let entry = entry.map_err(|row| LedgerError::damaged(row.what, row.reason))?;
            if matches!(entry.event, Event::Session(SessionEvent::FilesChanged { .. })) {
                last = Some(entry.at);
            }
        }
        Ok(last)
    }

    /// What the plan or one of its steps changed.
    pub async fn read(&self, plan: Arc<Plan>, step: Option<usize>) -> LedgerResult<PlanChanges> {
        let log = self.log(&plan, step).await?;
        let mut files = self.diff(&plan.session, log.standing.iter()).await?;
        files.sort_by(|one, other| {
            (&one.workspace.project(), &one.path).cmp(&(&other.workspace.project(), &other.path))
        });
        let mut steps: Vec<StepChanges> = Vec::new();
        for step in steps_of(&log.standing) {
            let of_step = log.standing.iter().filter(|standing| standing.step == step);
            let files = self.diff(&plan.session, of_step).await?;
            if !files.is_empty() {
                let position = step.as_ref().and_then(|step| position_of(&plan, step));
                let description = position.map_or_else(String::new, |position| described(&plan, position));
                steps.push(StepChanges { position, step, description, files });
            }
        }
        steps.sort_by_key(|step| step.position.unwrap_or(usize::MAX));
        Ok(PlanChanges { plan, step, files, steps, uncovered: log.uncovered, undone: log.undone })
    }

    /// The changes of the plan or of one of its steps that were not undone, in order.
    pub(super) async fn standing(&self, plan: &Plan, step: Option<usize>) -> LedgerResult<Vec<FileChange>> {
        let log = self.log(plan, step).await?;
        Ok(log.standing.into_iter().map(|standing| standing.change).collect())
    }

    async fn diff(
        &self,
        session: &SessionIdentity,
        standing: impl Iterator<Item = &StandingChange>,
    ) -> LedgerResult<Vec<FileDiff>> {
        let changes: Vec<_> = standing.map(|standing| standing.change.clone()).collect();
        Ok(self.agent.files.diff(session, &changes).await?)
    }

    async fn log(&self, plan: &Plan, step: Option<usize>) -> LedgerResult<ChangeLog> {
        let step = step.map(|position| step_at(plan, position)).transpose()?;
        let mut log =
            ChangeLog { uncovered: ChangedPaths { complete: true, ..ChangedPaths::default() }, ..ChangeLog::default() };
        for entry in self.agent.engine().ledger().plan_journal(&plan.session, &plan.id).await? {
            let entry = entry.map_err(|row| LedgerError::damaged(row.what, row.reason))?;
            match entry.event {
                Event::Session(SessionEvent::FilesChanged { origin, call_changes }) => {
                    if step.is_some() && origin.step != step {
                        continue;
                    }
                    let changes = call_changes.changes.into_iter();
                    log.standing.extend(changes.map(|change| StandingChange { step: origin.step.clone(), change }));
                    if let Some(uncovered) = call_changes.uncovered {
                        add_paths(&mut log.uncovered, uncovered);
                    }
                }
                Event::Session(SessionEvent::ChangesUndone { undo })
                    if step.is_none() || undo.step.is_none() || undo.step == step =>
                {
                    log.undo(plan, undo, entry.by, entry.at);
                }
                _ => {}
            }
        }
        Ok(log)
    }
}

impl ChangeLog {
    fn undo(&mut self, plan: &Plan, undo: Undo, by: Actor, at: Timestamp) {
        let is_undone = |standing: &StandingChange| {
            let of_step = undo.step.is_none() || standing.step == undo.step;
            let place = |change: &FileChange| (change.workspace.clone(), change.path.clone());
            of_step && undo.changes.iter().any(|undone| place(undone) == place(&standing.change))
        };
        self.standing.retain(|standing| !is_undone(standing));
        self.undone.push(UndoneChanges {
            by,
            at,
            step: undo.step.as_ref().and_then(|step| position_of(plan, step)),
            paths: undo.changes.into_iter().map(|change| change.path).collect(),
            not_undone: undo.not_undone,
        });
    }
}

/// The step at a position, from 1.
pub(super) fn step_at(plan: &Plan, position: usize) -> Result<StepId, Refusal> {
    let runs = plan.execution.as_ref().map(|execution| execution.steps.as_slice()).unwrap_or_default();
    let found = position.checked_sub(1).and_then(|index| runs.get(index)).map(|run| run.step.clone());
    found.ok_or_else(|| match runs.len() {
        0 => {
            Refusal::not_found(format!("Plan {} was not carried out, so none of its steps changed files.", plan.number))
        }
        last => Refusal::not_found(format!("There is no step {position}; plan {} has steps 1 to {last}.", plan.number)),
    })
}

fn position_of(plan: &Plan, step: &StepId) -> Option<usize> {
    let runs = &plan.execution.as_ref()?.steps;
    runs.iter().position(|run| run.step == *step).map(|index| index + 1)
}

fn described(plan: &Plan, position: usize) -> String {
    let runs = plan.execution.as_ref().map(|execution| execution.steps.as_slice()).unwrap_or_default();
    runs.get(position - 1).map(|run| run.description.clone()).unwrap_or_default()
}

fn steps_of(standing: &[StandingChange]) -> Vec<Option<StepId>> {
    let mut steps: Vec<Option<StepId>> = Vec::new();
    for standing in standing {
        if !steps.contains(&standing.step) {
            steps.push(standing.step.clone());
        }
    }
    steps
}

pub(super) fn add_paths(all: &mut ChangedPaths, more: ChangedPaths) {
    let ChangedPaths { added, changed, removed, complete } = more;
    for (list, more) in [(&mut all.added, added), (&mut all.changed, changed), (&mut all.removed, removed)] {
        list.extend(more);
        list.sort();
        list.dedup();
    }
    all.complete &= complete;
}
