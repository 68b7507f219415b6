//! A watch on one plan while any process carries it out: every entry about it once, in order.

use std::time::Duration;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::event::{Event, PlanEvent, SessionEvent};
use planwright_core::ids::{PlanId, StepId};
use planwright_core::journal::{Entry, Head};
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;

use crate::clock::between;
use crate::history::Replay;
use crate::ledger::{LedgerError, LedgerResult};
use crate::lookup::no_plan;
use crate::step_counts::StepCounts;
use crate::submitter::Submitter;

/// The number of entries that are read at once.
const PAGE: u32 = 200;

/// A plan, and the position up to which its journal was read.
#[derive(Debug)]
pub struct PlanWatch {
    submitter: Submitter,
    plan: PlanId,
    /// Tells a session from one that was deleted and opened again under the same key.
    opened_at: Timestamp,
    head: Head,
    snapshot: Snapshot,
    started_by: Option<Actor>,
}

/// One change of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanUpdate {
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    pub plan: PlanId,
    /// The plan's status after it.
    pub status: PlanStatus,
    /// The event's name in the journal.
    pub name: &'static str,
    pub kind: PlanUpdateKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanUpdateKind {
    /// Its content changed, or it became the active plan.
    Changed,
    Approved {
        note: Option<String>,
    },
    Rejected {
        reason: Option<String>,
    },
    ExecutionBegan(ExecutionSummary),
    /// It waits for a person.
    ExecutionPaused(ExecutionSummary),
    /// A person asked for it to continue.
    ExecutionResumed(ExecutionSummary),
    StepBegan {
        execution: u32,
        step: StepPosition,
        note: Option<String>,
    },
    StepEnded {
        execution: u32,
        step: StepPosition,
        status: StepStatus,
        /// `None` for a step that never started.
        took: Option<Duration>,
        note: Option<String>,
        evidence: Option<String>,
    },
    ExecutionEnded(ExecutionSummary),
    Cancelled {
        reason: Option<String>,
        /// The execution up to there, if it had started.
        execution: Option<ExecutionSummary>,
    },
    Superseded {
        by: PlanId,
        execution: Option<ExecutionSummary>,
    },
}

/// An execution at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutionSummary {
    /// 1-based index among the executions of the plan.
    pub number: u32,
    pub counts: StepCounts,
    pub took: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepPosition {
    pub id: StepId,
    /// 1-based index within the plan.
    pub position: usize,
    pub total: usize,
    pub description: String,
}

impl PlanWatch {
    pub(crate) async fn start(submitter: Submitter, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<Self> {
        let ledger = submitter.ledger();
        let stored = ledger.session(session).await?.ok_or_else(|| gone(session))?;
        let mut replay = Replay::new(session, plan);
        // Entries that are written after this read are returned by the first call of `next_updates`.
        for entry in ledger.plan_journal(session, plan).await? {
            let entry = entry.map_err(|row| LedgerError::damaged(row.what, row.reason))?;
            if entry.seq <= stored.head.seq {
                replay.apply(entry);
            }
        }
        if replay.snapshot.plan(plan).is_none() {
            return Err(no_plan(session, plan).into());
        }
        let started_by = replay.execution_started_by().cloned();
        let (plan, opened_at, head) = (plan.clone(), stored.session.opened_at, stored.head);
        Ok(Self { submitter, plan, opened_at, head, snapshot: replay.snapshot, started_by })
    }

    /// The plan after every update that was returned.
    pub fn plan(&self) -> &Plan {
        match self.snapshot.plan(&self.plan) {
            Some(plan) => plan,
            None => unreachable!("the plan is on the snapshot from the beginning, and no event takes one away"),
        }
    }

    /// The actor that started the latest execution, if it is known.
    pub fn started_by(&self) -> Option<&Actor> {
        self.started_by.as_ref()
    }

    pub fn now(&self) -> Timestamp {
        self.submitter.now()
    }

    /// The updates since the last call. If there are none, only the session's row is read.
    pub async fn next_updates(&mut self) -> LedgerResult<Vec<PlanUpdate>> {
        let session = self.snapshot.identity.clone();
        let stored = self.submitter.ledger().session(&session).await?;
        let stored =
            stored.filter(|stored| stored.session.opened_at == self.opened_at).ok_or_else(|| gone(&session))?;
        let mut updates = Vec::new();
        while self.head.seq < stored.head.seq {
            let entries = self.submitter.ledger().journal(&session, self.head.seq, PAGE).await?;
            if entries.is_empty() {
                return Err(damaged(&session, self.head.check_end(&stored.head).err()));
            }
            for sealed in entries {
                let entry = self.head.check(&session, &sealed).map_err(|damage| damaged(&session, Some(damage)))?;
                updates.extend(self.apply(entry));
            }
        }
        Ok(updates)
    }

    fn apply(&mut self, entry: Entry) -> Option<PlanUpdate> {
        if entry.event.plan() != Some(&self.plan) {
            return None;
        }
        let begun = self.started_at(&entry.event);
        self.snapshot.apply(&entry.event, &entry.context(), entry.seq);
        if matches!(entry.event.plan_event(), Some(PlanEvent::ExecutionStarted { .. })) {
            self.started_by = Some(entry.by.clone());
        }
        let kind = update_kind(self.plan(), &entry, begun)?;
        let (name, status) = (entry.event.name(), self.plan().status);
        Some(PlanUpdate { seq: entry.seq, at: entry.at, by: entry.by, plan: self.plan.clone(), status, name, kind })
    }

    /// The start of the step that an event ends.
    fn started_at(&self, event: &Event) -> Option<Timestamp> {
        let Some(PlanEvent::StepEnded { step, .. }) = event.plan_event() else { return None };
        let run = self.plan().execution.as_ref()?.step(step)?;
        run.started_at.filter(|_| run.status == StepStatus::InProgress)
    }
}

fn update_kind(plan: &Plan, entry: &Entry, begun: Option<Timestamp>) -> Option<PlanUpdateKind> {
    let summary = || execution_summary(plan, entry.at);
    match &entry.event {
        Event::Plan { event, .. } => match event {
            PlanEvent::Approved { approval } => Some(PlanUpdateKind::Approved { note: approval.note.clone() }),
            PlanEvent::Rejected { reason } => Some(PlanUpdateKind::Rejected { reason: reason.clone() }),
            PlanEvent::Cancelled { reason } => {
                Some(PlanUpdateKind::Cancelled { reason: reason.clone(), execution: summary() })
            }
            PlanEvent::Superseded { by } => Some(PlanUpdateKind::Superseded { by: by.clone(), execution: summary() }),
            PlanEvent::ExecutionStarted { .. } => summary().map(PlanUpdateKind::ExecutionBegan),
            PlanEvent::ExecutionPaused { .. } => summary().map(PlanUpdateKind::ExecutionPaused),
            PlanEvent::ExecutionResumed { .. } => summary().map(PlanUpdateKind::ExecutionResumed),
            PlanEvent::StepBegun { step, note, .. } => Some(PlanUpdateKind::StepBegan {
                execution: summary()?.number,
                step: step_position(plan, step)?,
                note: note.clone(),
            }),
            PlanEvent::StepEnded { step, outcome, .. } => Some(PlanUpdateKind::StepEnded {
                execution: summary()?.number,
                step: step_position(plan, step)?,
                status: outcome.status,
                took: begun.map(|begun| between(begun, entry.at)),
                note: outcome.note.clone(),
                evidence: outcome.evidence.clone(),
            }),
            PlanEvent::PermissionsCounted { .. } => None,
            PlanEvent::ExecutionFinished { .. } => summary().map(PlanUpdateKind::ExecutionEnded),
            _ => Some(PlanUpdateKind::Changed),
        },
        Event::Session(SessionEvent::PlanModeEnabled { .. }) => Some(PlanUpdateKind::Changed),
        event => event.added_plan().map(|_| PlanUpdateKind::Changed),
    }
}

/// The latest execution, now or at its end.
pub fn execution_summary(plan: &Plan, now: Timestamp) -> Option<ExecutionSummary> {
    let execution = plan.execution.as_ref()?;
    let took = between(execution.started_at, execution.finished_at.unwrap_or(now));
    Some(ExecutionSummary { number: execution.number, counts: StepCounts::of(execution), took })
}

fn step_position(plan: &Plan, step: &StepId) -> Option<StepPosition> {
    let steps = &plan.execution.as_ref()?.steps;
    let index = steps.iter().position(|run| run.step == *step)?;
    let description = steps[index].description.clone();
    Some(StepPosition { id: step.clone(), position: index + 1, total: steps.len(), description })
}

fn gone(session: &SessionIdentity) -> LedgerError {
    Refusal::not_found(format!("There is no session {session} any more.")).into()
}

fn damaged(session: &SessionIdentity, damage: Option<planwright_core::journal::Damage>) -> LedgerError {
    let reason = damage.map_or_else(|| "it ends too early".to_owned(), |damage| damage.to_string());
    LedgerError::damaged(format!("the journal of session {session}"), reason)
}
