//! What the executions of a plan cost: the turns that were made for them, their calls and their tokens.

use std::collections::HashMap;

use planwright_core::event::{Event, PlanEvent, TurnEvent};
use planwright_core::ids::{ExecutionId, PlanId, StepId, TurnId};
use planwright_core::journal::Entry;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::Purpose;

use super::{History, HistoryReport};
use crate::ledger::LedgerResult;

/// Entries are read a few at a time: one of them may be a megabyte.
const PAGE: u32 = 64;
/// Costs are looked for in so many entries after the first execution began.
const MAX_ENTRIES: usize = 20_000;

/// What a piece of work cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkCost {
    pub turns: u32,
    /// Calls of tools.
    pub calls: u32,
    /// Tokens that the model read and wrote.
    pub tokens: u64,
}

/// What one execution cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecutionCost {
    pub whole: WorkCost,
    /// The steps that turns of their own were made for.
    pub steps: HashMap<StepId, WorkCost>,
}

/// The costs of the executions of a plan, by their ids. An execution without a turn is not among them.
pub type ExecutionCosts = HashMap<ExecutionId, ExecutionCost>;

impl History {
    /// What the executions in this history of a plan cost. Entries that cannot be read count nothing.
    pub async fn execution_costs(
        &self,
        session: &SessionIdentity,
        plan: &PlanId,
        history: &HistoryReport,
    ) -> LedgerResult<ExecutionCosts> {
        let is_start = |event: &Event| matches!(event, Event::Plan { event: PlanEvent::ExecutionStarted { .. }, .. });
        let Some(first) = history.items.iter().find(|item| is_start(&item.event)) else {
            return Ok(ExecutionCosts::default());
        };
        let has_ended = history.executions.last().is_some_and(|last| last.execution.finished_at.is_some());
        let ends = history.items.iter().filter(|item| has_ended && item.event.touches().ends_work);
        let end_seq = ends.map(|item| item.seq).next_back();
        let mut costs = Costs::new(plan);
        // The turn may have begun in the same moment as the execution.
        let (mut after, mut read) = (first.seq.saturating_sub(1), 0);
        while read < MAX_ENTRIES {
            let page = self.ledger().journal(session, after, PAGE).await?;
            let Some(end) = page.last().map(|sealed| sealed.seq) else { break };
            for sealed in &page {
                let Ok(entry) = serde_json::from_str::<Entry>(&sealed.body) else { continue };
                if end_seq.is_some_and(|end| sealed.seq > end) && costs.turns.is_empty() {
                    return Ok(costs.found);
                }
                costs.apply(&entry.event);
            }
            (after, read) = (end, read + page.len());
        }
        Ok(costs.found)
    }
}

struct Costs<'a> {
    plan: &'a PlanId,
    /// The execution that is under way.
    current: Option<ExecutionId>,
    /// What each open turn is made for.
    turns: HashMap<TurnId, (ExecutionId, Option<StepId>)>,
    found: ExecutionCosts,
}

impl<'a> Costs<'a> {
    fn new(plan: &'a PlanId) -> Self {
        Self { plan, current: None, turns: HashMap::new(), found: HashMap::new() }
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::Plan { id, event: PlanEvent::ExecutionStarted { execution } } if id == self.plan => {
                self.current = Some(execution.id.clone());
            }
            Event::Turn { id, event } => self.apply_turn(id, event),
            _ => {}
        }
    }

    fn apply_turn(&mut self, id: &TurnId, event: &TurnEvent) {
        match event {
            TurnEvent::Begun { purpose, .. } => {
                if let Some(work) = self.work_of(purpose) {
                    self.turns.insert(id.clone(), work);
                    self.count(id, |cost| cost.turns += 1);
                }
            }
            TurnEvent::ModelReplied { reply, .. } => {
                let tokens = reply.usage.total();
                self.count(id, |cost| cost.tokens = cost.tokens.saturating_add(tokens));
            }
            TurnEvent::ToolEnded { .. } => self.count(id, |cost| cost.calls += 1),
            TurnEvent::Ended { .. } => drop(self.turns.remove(id)),
            _ => {}
        }
    }

    fn work_of(&self, purpose: &Purpose) -> Option<(ExecutionId, Option<StepId>)> {
        match purpose {
            Purpose::Step { plan, execution, step, .. } if plan == self.plan => {
                Some((execution.clone(), Some(step.clone())))
            }
            Purpose::Document { plan } if plan == self.plan => Some((self.current.clone()?, None)),
            Purpose::Question { asked_by, .. } => self.turns.get(asked_by).cloned(),
            Purpose::Step { .. } | Purpose::Document { .. } | Purpose::Answer | Purpose::Run(_) => None,
        }
    }

    fn count(&mut self, turn: &TurnId, count: impl Fn(&mut WorkCost)) {
        let Some((execution, step)) = self.turns.get(turn) else { return };
        let cost = self.found.entry(execution.clone()).or_default();
        count(&mut cost.whole);
        if let Some(step) = step {
            count(cost.steps.entry(step.clone()).or_default());
        }
    }
}
