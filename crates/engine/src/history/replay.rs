//! A plan's journal, read entry by entry.

use std::collections::HashMap;

use jiff::Timestamp;
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::event::{Event, PlanEvent, SessionEvent};
use planwright_core::ids::{PlanId, StepId};
use planwright_core::journal::Entry;
use planwright_core::plan::Plan;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;

use crate::ledger::DamagedRow;

use super::{DecisionMade, ExecutionEnd, HistoryItem, HistoryReport, PlanDecision, PlanExecution, PlanVersion};

/// The plan and its history up to the last entry that was read.
#[derive(Debug)]
pub(crate) struct Replay {
    pub(crate) snapshot: Snapshot,
    history: HistoryReport,
    plan: PlanId,
    positions: StepPositions,
}

impl Replay {
    pub(crate) fn new(session: &SessionIdentity, plan: &PlanId) -> Self {
        Self {
            snapshot: Snapshot::new(session.clone()),
            history: HistoryReport::default(),
            plan: plan.clone(),
            positions: StepPositions::default(),
        }
    }

    pub(crate) fn apply(&mut self, entry: Entry) {
        if self.history.damaged.is_empty() {
            if matches!(entry.event.plan_event(), Some(PlanEvent::ExecutionStarted { .. })) {
                self.keep_execution();
            }
            if entry.event.touches().changes_steps() {
                self.positions = StepPositions { read: self.positions.read, ..StepPositions::default() };
            }
            self.snapshot.apply(&entry.event, &entry.context(), entry.seq);
            if let Some(plan) = self.snapshot.plan(&self.plan) {
                self.history.note_version(plan, &entry.by, entry.at);
                self.history.note_decision(plan, &entry, &mut self.positions);
                self.history.note_execution(plan, &entry);
            }
        }
        let Entry { seq, at, by, event, .. } = entry;
        self.history.items.push(HistoryItem { seq, at, by, event });
    }

    /// The plan after this entry is not known.
    pub(crate) fn note_damage(&mut self, damaged: DamagedRow) {
        self.history.damaged.push(damaged);
    }

    /// The actor that started the latest execution.
    pub(crate) fn execution_started_by(&self) -> Option<&Actor> {
        self.history.executions.last()?.by.as_ref()
    }

    pub(crate) fn finish(mut self) -> HistoryReport {
        self.keep_execution();
        self.history
    }

    /// Copies the latest execution. Once for each execution: copying it with every step would take time that
    /// grows with the square of the number of steps.
    fn keep_execution(&mut self) {
        let execution = self.snapshot.plan(&self.plan).and_then(|plan| plan.execution.as_ref());
        if let (Some(last), Some(execution)) = (self.history.executions.last_mut(), execution) {
            last.execution.clone_from(execution);
        }
    }
}

/// The positions of the steps of the current content, read once: the steps of a document are read from its whole text.
#[derive(Debug, Default)]
struct StepPositions {
    known: Option<HashMap<StepId, usize>>,
    /// How often the steps were read, over all contents.
    read: usize,
}

impl StepPositions {
    /// The 1-based index of a step within the plan.
    fn of(&mut self, plan: &Plan, step: &StepId) -> Option<usize> {
        let known = self.known.get_or_insert_with(|| {
            self.read += 1;
            let mut known = HashMap::new();
            for (position, step) in (1..).zip(plan.content.steps()) {
                known.entry(step.id).or_insert(position);
            }
            known
        });
        known.get(step).copied()
    }
}

impl HistoryReport {
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

    /// Events that an agent or Planwright itself causes, such as the end of an empty draft, are no decisions.
    fn note_decision(&mut self, plan: &Plan, entry: &Entry, positions: &mut StepPositions) {
        match entry.by.kind {
            ActorKind::Person | ActorKind::Policy => {}
            ActorKind::Agent | ActorKind::System => return,
        }
        if let Some(what) = entry.event.plan_event().and_then(|event| decision(plan, event, positions)) {
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
        if let (None, Some(at)) = (&last.end, execution.finished_at) {
            last.end = Some(ExecutionEnd { status: plan.status, at, by: by() });
        }
    }
}

fn decision(plan: &Plan, event: &PlanEvent, positions: &mut StepPositions) -> Option<DecisionMade> {
    match event {
        PlanEvent::Approved { approval } => {
            let steps = approval.approved.iter().filter_map(|step| positions.of(plan, step)).collect();
            Some(DecisionMade::Approved { approval: Box::new(approval.clone()), steps })
        }
        PlanEvent::ApprovalSigned { signed } => {
            let steps = signed.approval.approved.iter().filter_map(|step| positions.of(plan, step)).collect();
            Some(DecisionMade::ApprovalSigned { signed: Box::new(signed.clone()), steps })
        }
        PlanEvent::Rejected { reason } => Some(DecisionMade::Rejected { reason: reason.clone() }),
        PlanEvent::RevisionRequested { feedback } => {
            Some(DecisionMade::RevisionRequested { feedback: feedback.clone() })
        }
        PlanEvent::Cancelled { reason } => Some(DecisionMade::Cancelled { reason: reason.clone() }),
        PlanEvent::StepEnded { step, outcome, .. } => Some(DecisionMade::Settled {
            position: positions.of(plan, step),
            status: outcome.status,
            note: outcome.note.clone(),
        }),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]
mod tests {
    use planwright_core::ids::RequestId;
    use planwright_core::snapshot::CommandContext;
    use serde_json::{Value, json};

    use super::*;

    const STEPS: usize = 200;

    fn entry(seq: u64, by: Actor, event: Value) -> Entry {
        let context = CommandContext { at: Timestamp::UNIX_EPOCH, by, request: RequestId::new("request").unwrap() };
        let event = serde_json::from_value(event).unwrap();
        let CommandContext { at, by, request } = context;
        Entry { session: "cli:k3yk3y8x".parse().unwrap(), seq, at, by, request, event }
    }

    /// The steps of a document are read from its whole text, so they are read once for each text and not for each step.
    #[test]
    fn the_steps_of_an_approved_document_are_read_once() {
        let (person, agent) = (Actor::person("ada", "cli"), Actor::agent("coder", "mcp"));
        let markdown: String = (1..=STEPS).map(|step| format!("- [ ] step {step}\n")).collect();
        let plan = PlanId::new("plan-1").unwrap();
        let mut replay = Replay::new(&"cli:k3yk3y8x".parse().unwrap(), &plan);
        let created = json!({ "type": "plan_created", "plan": "plan-1", "number": 1, "style": "document" });
        replay.apply(entry(1, agent.clone(), created));
        let written = json!({ "type": "content_set", "plan": "plan-1", "markdown": markdown, "title": null });
        replay.apply(entry(2, agent, written));
        let steps: Vec<_> =
            replay.snapshot.plan(&plan).unwrap().content.steps().into_iter().map(|step| step.id).collect();
        assert_eq!(steps.len(), STEPS);
        let digest = replay.snapshot.plan(&plan).unwrap().digest();
        let approved = json!({ "type": "plan_approved", "plan": "plan-1", "approval": {
            "by": person, "at": Timestamp::UNIX_EPOCH, "digest": digest, "approved": steps, "skipped": [], "note": null,
        } });
        replay.apply(entry(3, person.clone(), approved));
        for (seq, step) in (4..).zip(&steps) {
            let ended = json!({ "type": "step_ended", "plan": "plan-1", "execution": "run-1", "step": step, "outcome": { "status": "COMPLETED" } });
            replay.apply(entry(seq, person.clone(), ended));
        }
        assert_eq!(replay.positions.read, 1);
        let history = replay.finish();
        assert_eq!(history.decisions.len(), STEPS + 1);
        match &history.decisions[0].what {
            DecisionMade::Approved { steps, .. } => assert_eq!(*steps, (1..=STEPS).collect::<Vec<_>>()),
            other => panic!("{other:?}"),
        }
    }
}
