//! A plan's journal, read entry by entry.

use jiff::Timestamp;
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::event::{Event, PlanEvent, SessionEvent};
use planwright_core::ids::{PlanId, StepId};
use planwright_core::journal::Entry;
use planwright_core::plan::Plan;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;

use super::{DecisionMade, ExecutionEnd, History, HistoryItem, PlanDecision, PlanExecution, PlanVersion};

/// The plan as far as the journal was read, and what happened to it up to there.
#[derive(Debug)]
pub(in crate::engine) struct Replay {
    pub(in crate::engine) history: History,
    pub(in crate::engine) snapshot: Snapshot,
    plan: PlanId,
}

impl Replay {
    pub(in crate::engine) fn new(session: &SessionIdentity, plan: &PlanId) -> Self {
        Self { history: History::default(), snapshot: Snapshot::new(session.clone()), plan: plan.clone() }
    }

    pub(in crate::engine) fn take_in(&mut self, entry: Entry) {
        self.snapshot.apply(&entry.event, &entry.stamp(), entry.seq);
        if let Some(plan) = self.snapshot.plan(&self.plan) {
            self.history.note_version(plan, &entry.by, entry.at);
            self.history.note_decision(plan, &entry);
            self.history.note_execution(plan, &entry);
        }
        let Entry { seq, at, by, event, .. } = entry;
        self.history.items.push(HistoryItem { seq, at, by, event });
    }
}

impl History {
    /// A draft is not a version; a text that was ready for a person is one.
    fn note_version(&mut self, plan: &Plan, by: &Actor, at: Timestamp) {
        let known = u32::try_from(self.versions.len()).unwrap_or(u32::MAX);
        if plan.version > known {
            self.versions.push(PlanVersion {
                version: plan.version,
                at,
                by: by.clone(),
                digest: plan.digest(),
                title: plan.title.clone(),
                content: plan.content.clone(),
            });
        }
    }

    /// What an agent or Planwright itself brings about, such as the end of an empty draft, is no decision.
    fn note_decision(&mut self, plan: &Plan, entry: &Entry) {
        match entry.by.kind {
            ActorKind::Person | ActorKind::Policy => {}
            ActorKind::Agent | ActorKind::System => return,
        }
        if let Some(what) = entry.event.plan_event().and_then(|event| decision(plan, event)) {
            self.decisions.push(PlanDecision { seq: entry.seq, at: entry.at, by: entry.by.clone(), what });
        }
    }

    fn note_execution(&mut self, plan: &Plan, entry: &Entry) {
        let Some(execution) = &plan.execution else { return };
        let imported = matches!(entry.event, Event::Session(SessionEvent::PlanImported { .. }));
        let by = || Some(entry.by.clone()).filter(|_| !imported);
        if self.executions.last().is_none_or(|last| last.execution.id != execution.id) {
            self.executions.push(PlanExecution { execution: execution.clone(), by: by(), end: None });
        }
        let Some(last) = self.executions.last_mut() else { return };
        last.execution.clone_from(execution);
        if let (None, Some(at)) = (&last.end, execution.finished_at) {
            last.end = Some(ExecutionEnd { status: plan.status, at, by: by() });
        }
    }
}

fn decision(plan: &Plan, event: &PlanEvent) -> Option<DecisionMade> {
    match event {
        PlanEvent::Approved { approval } => {
            let steps = approval.approved.iter().filter_map(|step| position(plan, step)).collect();
            Some(DecisionMade::Approved { approval: approval.clone(), steps })
        }
        PlanEvent::Rejected { reason } => Some(DecisionMade::Rejected { reason: reason.clone() }),
        PlanEvent::RevisionRequested { feedback } => {
            Some(DecisionMade::RevisionRequested { feedback: feedback.clone() })
        }
        PlanEvent::Cancelled { reason } => Some(DecisionMade::Cancelled { reason: reason.clone() }),
        PlanEvent::StepEnded { step, outcome, .. } => Some(DecisionMade::Settled {
            position: position(plan, step),
            status: outcome.status,
            note: outcome.note.clone(),
        }),
        PlanEvent::ContentSet { .. }
        | PlanEvent::StepRecorded { .. }
        | PlanEvent::MetadataSet { .. }
        | PlanEvent::StepAdded { .. }
        | PlanEvent::StepUpdated { .. }
        | PlanEvent::StepRemoved { .. }
        | PlanEvent::Finalized { .. }
        | PlanEvent::Superseded { .. }
        | PlanEvent::ExecutionStarted { .. }
        | PlanEvent::ExecutionPaused { .. }
        | PlanEvent::ExecutionResumed { .. }
        | PlanEvent::StepBegun { .. }
        | PlanEvent::ExecutionFinished { .. } => None,
    }
}

/// Where a step stands in the plan, from 1.
fn position(plan: &Plan, step: &StepId) -> Option<usize> {
    plan.content.steps().iter().position(|known| known.id == *step).map(|index| index + 1)
}
