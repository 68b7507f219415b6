//! The log of commits for operators: actors and events, never the text of a conversation.

use planwright_core::auto::AutoExecutionContext;
use planwright_core::event::{AutoEvent, Event, PlanEvent, TurnEvent};
use planwright_core::ids::{GoalId, PlanId, TurnId};
use planwright_core::session::SessionIdentity;

use crate::ledger::Committed;

pub(super) fn log_committed(session: &SessionIdentity, committed: &Committed) {
    // A request that is sent again was logged when it was carried out.
    let is_replayed = committed.plan_mode_before.is_none();
    if is_replayed || !tracing::enabled!(tracing::Level::INFO) {
        return;
    }
    for event in &committed.events {
        let Some(text) = event.touches().audit else { continue };
        let run = run_of(event, committed);
        tracing::info!(
            session_identity = %session,
            event = event.name(),
            turn = event.turn().map(TurnId::as_str),
            plan_id = event.plan().map(PlanId::as_str),
            run_id = run.map(|run| run.run_id.as_str()),
            run_kind = run.map(|run| run.run_kind().as_str()),
            goal_id = run.and_then(|run| run.goal_id()).map(GoalId::as_str),
            task_id = run.map(|run| run.task_id().as_str()),
            outcome = outcome(event),
            by = by(event),
            "{text}",
        );
    }
}

/// The run that an event belongs to.
fn run_of<'a>(event: &'a Event, committed: &'a Committed) -> Option<&'a AutoExecutionContext> {
    let session = committed.snapshot.session.as_ref();
    match event {
        Event::Auto(event) => {
            let run = event.touches().run?;
            session?.auto.as_deref()?.run(run).map(|run| &run.context)
        }
        Event::Turn { event: TurnEvent::Begun { purpose, .. }, .. } => purpose.run(),
        Event::Turn { id, .. } => {
            let open = session?.turn.as_ref().filter(|open| open.id == *id);
            open.and_then(|open| open.purpose.run()).or_else(|| ticked(id, committed))
        }
        Event::Session(_) | Event::Workbook(_) | Event::Memory(_) | Event::Plan { .. } => {
            session?.turn.as_ref()?.purpose.run()
        }
    }
}

/// The run whose turn ended with this commit.
fn ticked<'a>(turn: &TurnId, committed: &'a Committed) -> Option<&'a AutoExecutionContext> {
    let run = committed.events.iter().filter_map(Event::auto_event).find_map(|event| match event {
        AutoEvent::RunTicked { run, in_turn, .. } if in_turn == turn => Some(run),
        _ => None,
    })?;
    committed.snapshot.session.as_ref()?.auto.as_deref()?.run(run).map(|run| &run.context)
}

fn outcome(event: &Event) -> Option<&'static str> {
    match event {
        Event::Turn { event: TurnEvent::Ended { ending }, .. } => Some(ending.end.name()),
        Event::Auto(AutoEvent::RunEnded { end, .. }) => Some(end.as_str()),
        Event::Plan { event: PlanEvent::ExecutionFinished { status, .. }, .. } => Some(status.as_str()),
        _ => None,
    }
}

/// Whether a person approved it or a rule did.
fn by(event: &Event) -> Option<&'static str> {
    match event.plan_event()? {
        PlanEvent::Approved { approval } => Some(approval.by.kind.as_str()),
        _ => None,
    }
}
