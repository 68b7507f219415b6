//! How the steps of a plan's latest execution went is kept in rows of its own. A step that changes rewrites its row and
//! not the plan's, which is the longer the more steps there are.

use std::collections::BTreeSet;

use jiff::Timestamp;
use planwright_core::event::PlanChange;
use planwright_core::ids::StepId;
use planwright_core::plan::Plan;
use planwright_core::plan::execution::{Pause, StepState, StepStateRecord};
use planwright_engine::ledger::{LedgerError, LedgerResult};

use crate::encode;

/// What of a plan's stored form changes.
#[derive(Debug, Default)]
pub(crate) struct PlanRowChanges {
    /// Whether the plan's own row does.
    plan: bool,
    runs: Runs,
}

/// The runs that are written anew.
#[derive(Debug)]
enum Runs {
    Of(BTreeSet<StepId>),
    /// All current ones. They replace the stored ones.
    All,
}

impl Default for Runs {
    fn default() -> Self {
        Self::Of(BTreeSet::new())
    }
}

impl PlanRowChanges {
    /// As if nothing were stored.
    pub(crate) fn everything() -> Self {
        Self { plan: true, runs: Runs::All }
    }

    pub(crate) fn note(&mut self, change: PlanChange<'_>) {
        match (change, &mut self.runs) {
            (PlanChange::Plan, _) => self.plan = true,
            (PlanChange::Everything, _) => *self = Self::everything(),
            (PlanChange::Run(step), Runs::Of(steps)) => drop(steps.insert(step.clone())),
            // The row of the execution is written with every change.
            (PlanChange::Run(_), Runs::All) | (PlanChange::Pause, _) => {}
        }
    }

    /// Adds the changes of another one, which came later.
    pub(crate) fn join(&mut self, other: &Self) {
        self.plan |= other.plan;
        match (&mut self.runs, &other.runs) {
            (Runs::Of(steps), Runs::Of(others)) => steps.extend(others.iter().cloned()),
            (runs, Runs::All) => *runs = Runs::All,
            (Runs::All, Runs::Of(_)) => {}
        }
    }
}

/// What is to be written for one plan.
#[derive(Debug)]
pub(crate) struct PlanRows<'a> {
    pub(crate) plan: &'a Plan,
    /// What its own row says, if that changes.
    pub(crate) body: Option<String>,
    /// The position (from 1) and the text of each run that changes.
    pub(crate) runs: Vec<(i64, String)>,
    /// Whether its execution waits for a person, as JSON.
    pause: Option<String>,
    /// Whether all other runs are of an execution before this one.
    pub(crate) runs_anew: bool,
}

impl<'a> PlanRows<'a> {
    pub(crate) fn of(plan: &'a Plan, rewrite: &PlanRowChanges) -> LedgerResult<Self> {
        let body = rewrite.plan.then(|| encode::plan_to_text(plan)).transpose()?;
        let steps = plan.execution.iter().flat_map(|execution| &execution.steps);
        let changes = |run: &StepState| match &rewrite.runs {
            Runs::Of(steps) => steps.contains(&run.step),
            Runs::All => true,
        };
        let changed = (1..).zip(steps).filter(|(_, run)| changes(run));
        let runs =
            changed.map(|(position, run)| Ok((position, run_to_text(plan, run)?))).collect::<LedgerResult<_>>()?;
        let pause = plan.execution.as_ref().and_then(|execution| execution.pause.as_ref());
        let pause = pause.map(serde_json::to_string).transpose().map_err(|error| {
            LedgerError::Internal(format!("whether plan {} is paused cannot be written: {error}", plan.id))
        })?;
        Ok(Self { plan, body, runs, pause, runs_anew: matches!(rewrite.runs, Runs::All) })
    }

    /// Everything of a plan, as if nothing of it were stored.
    pub(crate) fn all(plan: &'a Plan) -> LedgerResult<Self> {
        Self::of(plan, &PlanRowChanges::everything())
    }

    /// What is kept beside the runs, if the plan has an execution.
    pub(crate) fn execution(&self) -> Option<ExecutionRow> {
        let execution = self.plan.execution.as_ref()?;
        Some(ExecutionRow {
            steps: execution.steps.len() as i64,
            updated_at: self.plan.updated_at.to_string(),
            pause: self.pause.clone(),
        })
    }
}

fn run_to_text(plan: &Plan, run: &StepStateRecord) -> LedgerResult<String> {
    serde_json::to_string(run).map_err(|error| {
        LedgerError::Internal(format!("step {} of plan {} cannot be written: {error}", run.step, plan.id))
    })
}

/// What every change of a plan that has an execution changes, in a row that is short.
#[derive(Debug)]
pub(crate) struct ExecutionRow {
    /// How many runs there are.
    pub(crate) steps: i64,
    /// When the plan changed last, to the nanosecond.
    pub(crate) updated_at: String,
    /// Whether it waits for a person, as JSON; `None` while nothing is said about it.
    pub(crate) pause: Option<String>,
}

impl ExecutionRow {
    fn pause(&self, what: impl FnOnce() -> String) -> LedgerResult<Option<Pause>> {
        let pause = self.pause.as_deref().map(serde_json::from_str).transpose();
        pause.map_err(|error| LedgerError::damaged(what(), format!("whether it is paused cannot be read: {error}")))
    }

    pub(crate) fn updated_at(&self, what: impl FnOnce() -> String) -> LedgerResult<Timestamp> {
        self.updated_at.parse().map_err(|error| LedgerError::damaged(what(), error))
    }
}

/// A plan put together from its rows: what its own says, how many runs there are, and the runs in order. None of them
/// may be missing, and no run may be stored that does not belong to it.
pub(crate) fn assemble_plan<T: AsRef<str>>(
    what: impl Fn() -> String,
    mut plan: Plan,
    row: Option<&ExecutionRow>,
    runs: impl IntoIterator<Item = (i64, T)>,
) -> LedgerResult<Plan> {
    let damaged = |reason: String| Err(LedgerError::damaged(what(), reason));
    let mut steps = Vec::new();
    for (position, body) in runs {
        let expected = steps.len() as i64 + 1;
        if position != expected {
            return damaged(format!("there is an outcome of step {position} where that of step {expected} should be"));
        }
        match serde_json::from_str(body.as_ref()) {
            Ok(run) => steps.push(run),
            Err(error) => return damaged(format!("the outcome of step {position} cannot be read: {error}")),
        }
    }
    let found = steps.len() as i64;
    match (&mut plan.execution, row) {
        (None, None) if found == 0 => {}
        (None, _) => return damaged("there are outcomes of steps beside it, and it has no execution".to_owned()),
        (Some(_), None) => return damaged("the row of its execution is missing".to_owned()),
        (Some(_), Some(row)) if row.steps != found => {
            return damaged(format!("its execution has {} steps, and there are outcomes of {found}", row.steps));
        }
        (Some(execution), Some(_)) if !execution.steps.is_empty() => {
            return damaged("an earlier version of the program has written to it".to_owned());
        }
        (Some(execution), Some(row)) => {
            execution.steps = steps;
            execution.pause = row.pause(&what)?;
            plan.updated_at = row.updated_at(&what)?;
        }
    }
    Ok(plan)
}

/// A plan that has an execution, from the row that an earlier version of the program wrote, with everything in one
/// text. `None` if there is nothing in it to be moved, or if it is damaged: then it stays as it is.
pub(crate) fn plan_before_version_3(id: &str, body: &str) -> Option<Plan> {
    let plan = encode::plan_from_text(String::new, body).ok()?;
    (plan.id.as_str() == id && plan.execution.is_some()).then_some(plan)
}
