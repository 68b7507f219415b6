//! Following a plan while somebody carries it out, here or elsewhere: every entry about it once, in order.

use std::sync::Arc;
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

use super::history::Replay;
use super::{Engine, no_plan};
use crate::clock::between;
use crate::ledger::{LedgerError, LedgerResult};
use crate::step_counts::StepCounts;

/// How many entries and plans are read at once.
const PAGE: u32 = 200;

/// A plan, and how far its journal was read.
#[derive(Debug)]
pub struct Following {
    engine: Engine,
    plan: PlanId,
    /// A session that was deleted and begun again under the same key is another one.
    opened_at: Timestamp,
    head: Head,
    snapshot: Snapshot,
    began: Option<Actor>,
}

/// One thing that happened to the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happened {
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    pub plan: PlanId,
    /// The plan's status after it.
    pub status: PlanStatus,
    /// The event's name in the journal.
    pub name: &'static str,
    pub what: Happening,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// What it says, or whether it is worked on.
    Changed,
    Approved {
        note: Option<String>,
    },
    Rejected {
        reason: Option<String>,
    },
    ExecutionBegan(ExecutionSum),
    /// It waits for a person.
    ExecutionPaused(ExecutionSum),
    /// A person asked for it to continue.
    ExecutionResumed(ExecutionSum),
    StepBegan {
        execution: u32,
        step: StepAt,
        note: Option<String>,
    },
    StepEnded {
        execution: u32,
        step: StepAt,
        status: StepStatus,
        /// Not known of a step that was never begun.
        took: Option<Duration>,
        note: Option<String>,
        evidence: Option<String>,
    },
    ExecutionEnded(ExecutionSum),
    Cancelled {
        reason: Option<String>,
        /// What it came to, if it was carried out.
        execution: Option<ExecutionSum>,
    },
    Superseded {
        by: PlanId,
        execution: Option<ExecutionSum>,
    },
}

/// An execution as it stood at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutionSum {
    /// Its number among the executions of the plan, from 1.
    pub number: u32,
    pub counts: StepCounts,
    pub took: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepAt {
    pub id: StepId,
    /// From 1.
    pub position: usize,
    pub total: usize,
    pub description: String,
}

impl Engine {
    /// Follows the plan from now on.
    pub async fn follow(&self, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<Following> {
        let stored = self.ledger.session(session).await?.ok_or_else(|| gone(session))?;
        let mut replay = Replay::new(session, plan);
        // Entries that were written since are read again, and told, at the first look.
        for entry in self.ledger.plan_journal(session, plan).await? {
            let entry = entry.map_err(|row| LedgerError::damaged(row.what, row.reason))?;
            if entry.seq <= stored.head.seq {
                replay.take_in(entry);
            }
        }
        if replay.snapshot.plan(plan).is_none() {
            return Err(no_plan(session, plan).into());
        }
        let began = replay.execution_began_by().cloned();
        Ok(Following {
            engine: self.clone(),
            plan: plan.clone(),
            opened_at: stored.session.opened_at,
            head: stored.head,
            snapshot: replay.snapshot,
            began,
        })
    }

    /// The plan a person means who names none: the active one, else the one that is being carried out.
    pub async fn plan_to_follow(&self, session: &SessionIdentity) -> LedgerResult<Arc<Plan>> {
        let snapshot = self.snapshot(session).await?;
        let opened = snapshot.opened()?;
        if let Some(active) = opened.plan_mode.active_plan.as_ref().and_then(|id| snapshot.plans.get(id)) {
            return Ok(Arc::clone(active));
        }
        let under_way = self.under_way(session).await?;
        match under_way.as_slice() {
            [plan] => Ok(Arc::clone(plan)),
            [] => {
                let hint = if opened.plans_made == 0 { "there are none yet" } else { "name one by its number" };
                Err(Refusal::not_found(format!(
                    "No plan is active in session {session} and none is being carried out; {hint}."
                ))
                .into())
            }
            several => {
                let numbers: Vec<_> = several.iter().rev().map(|plan| plan.number.to_string()).collect();
                Err(Refusal::invalid(format!(
                    "Several plans are being carried out in session {session}: {}. Name one by its number.",
                    numbers.join(", ")
                ))
                .into())
            }
        }
    }

    /// The plans of the session that are being carried out, the newest first.
    pub async fn under_way(&self, session: &SessionIdentity) -> LedgerResult<Vec<Arc<Plan>>> {
        let mut found = Vec::new();
        let mut before = None;
        loop {
            let page = self.plans(session, before, PAGE).await?;
            for summary in page.items.iter().filter(|plan| plan.status == PlanStatus::Executing) {
                found.push(self.plan(session, &summary.id).await?);
            }
            before = page.next;
            if before.is_none() {
                return Ok(found);
            }
        }
    }
}

impl Following {
    /// The plan after everything that was told.
    pub fn plan(&self) -> &Plan {
        match self.snapshot.plan(&self.plan) {
            Some(plan) => plan,
            None => unreachable!("the plan is on the snapshot from the beginning, and no event takes one away"),
        }
    }

    /// Who began the latest execution, if that is known.
    pub fn began(&self) -> Option<&Actor> {
        self.began.as_ref()
    }

    pub fn now(&self) -> Timestamp {
        self.engine.now()
    }

    /// What happened since the last look. Where nothing did, only the session's row is read.
    pub async fn look(&mut self) -> LedgerResult<Vec<Happened>> {
        let session = self.snapshot.identity.clone();
        let stored = self.engine.ledger.session(&session).await?;
        let stored =
            stored.filter(|stored| stored.session.opened_at == self.opened_at).ok_or_else(|| gone(&session))?;
        let mut told = Vec::new();
        while self.head.seq < stored.head.seq {
            let entries = self.engine.ledger.journal(&session, self.head.seq, PAGE).await?;
            if entries.is_empty() {
                return Err(damaged(&session, self.head.check_end(&stored.head).err()));
            }
            for sealed in entries {
                let entry = self.head.check(&session, &sealed).map_err(|damage| damaged(&session, Some(damage)))?;
                told.extend(self.take_in(entry));
            }
        }
        Ok(told)
    }

    fn take_in(&mut self, entry: Entry) -> Option<Happened> {
        if entry.event.plan() != Some(&self.plan) {
            return None;
        }
        let begun = self.started_at(&entry.event);
        self.snapshot.apply(&entry.event, &entry.context(), entry.seq);
        if matches!(entry.event.plan_event(), Some(PlanEvent::ExecutionStarted { .. })) {
            self.began = Some(entry.by.clone());
        }
        let what = happening(self.plan(), &entry, begun)?;
        let (name, status) = (entry.event.name(), self.plan().status);
        Some(Happened { seq: entry.seq, at: entry.at, by: entry.by, plan: self.plan.clone(), status, name, what })
    }

    /// When the step that an event ends was begun.
    fn started_at(&self, event: &Event) -> Option<Timestamp> {
        let Some(PlanEvent::StepEnded { step, .. }) = event.plan_event() else { return None };
        let run = self.plan().execution.as_ref()?.run(step)?;
        run.started_at.filter(|_| run.status == StepStatus::InProgress)
    }
}

fn happening(plan: &Plan, entry: &Entry, begun: Option<Timestamp>) -> Option<Happening> {
    let sum = || execution_sum(plan, entry.at);
    match &entry.event {
        Event::Session(event) => match event {
            SessionEvent::PlanModeEnabled { .. }
            | SessionEvent::PlanCreated { .. }
            | SessionEvent::PlanImported { .. } => Some(Happening::Changed),
            SessionEvent::Opened
            | SessionEvent::ConversationReset { .. }
            | SessionEvent::PlanModeDisabled { .. }
            | SessionEvent::Compacted { .. }
            | SessionEvent::PlanShown { .. } => None,
        },
        Event::Turn { .. } | Event::Workbook(_) => None,
        Event::Plan { event, .. } => match event {
            PlanEvent::ContentSet { .. }
            | PlanEvent::StepRecorded { .. }
            | PlanEvent::MetadataSet { .. }
            | PlanEvent::StepAdded { .. }
            | PlanEvent::StepUpdated { .. }
            | PlanEvent::StepRemoved { .. }
            | PlanEvent::Finalized { .. }
            | PlanEvent::RevisionRequested { .. } => Some(Happening::Changed),
            PlanEvent::Approved { approval } => Some(Happening::Approved { note: approval.note.clone() }),
            PlanEvent::Rejected { reason } => Some(Happening::Rejected { reason: reason.clone() }),
            PlanEvent::Cancelled { reason } => Some(Happening::Cancelled { reason: reason.clone(), execution: sum() }),
            PlanEvent::Superseded { by } => Some(Happening::Superseded { by: by.clone(), execution: sum() }),
            PlanEvent::ExecutionStarted { .. } => sum().map(Happening::ExecutionBegan),
            PlanEvent::ExecutionPaused { .. } => sum().map(Happening::ExecutionPaused),
            PlanEvent::ExecutionResumed { .. } => sum().map(Happening::ExecutionResumed),
            PlanEvent::StepBegun { step, note, .. } => {
                Some(Happening::StepBegan { execution: sum()?.number, step: step_at(plan, step)?, note: note.clone() })
            }
            PlanEvent::StepEnded { step, outcome, .. } => Some(Happening::StepEnded {
                execution: sum()?.number,
                step: step_at(plan, step)?,
                status: outcome.status,
                took: begun.map(|begun| between(begun, entry.at)),
                note: outcome.note.clone(),
                evidence: outcome.evidence.clone(),
            }),
            PlanEvent::ExecutionFinished { .. } => sum().map(Happening::ExecutionEnded),
        },
    }
}

/// The latest execution, as it stands now or stood when it ended.
pub fn execution_sum(plan: &Plan, now: Timestamp) -> Option<ExecutionSum> {
    let execution = plan.execution.as_ref()?;
    let took = between(execution.started_at, execution.finished_at.unwrap_or(now));
    Some(ExecutionSum { number: execution.number, counts: StepCounts::of(execution), took })
}

fn step_at(plan: &Plan, step: &StepId) -> Option<StepAt> {
    let steps = &plan.execution.as_ref()?.steps;
    let index = steps.iter().position(|run| run.step == *step)?;
    let description = steps[index].description.clone();
    Some(StepAt { id: step.clone(), position: index + 1, total: steps.len(), description })
}

fn gone(session: &SessionIdentity) -> LedgerError {
    Refusal::not_found(format!("There is no session {session} any more.")).into()
}

fn damaged(session: &SessionIdentity, damage: Option<planwright_core::journal::Damage>) -> LedgerError {
    let reason = damage.map_or_else(|| "it ends too early".to_owned(), |damage| damage.to_string());
    LedgerError::damaged(format!("the journal of session {session}"), reason)
}
