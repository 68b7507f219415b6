//! Runs stay in their session and work on its tasks, one that is over never ticks, and only a person's promotion is global.

use planwright_core::auto::{AutoEvent, AutoExecutionContext, AutoState, RunTrigger};
use planwright_core::event::{Event, MemoryEvent, TurnEvent};
use planwright_core::ids::RunId;
use planwright_core::memory::{MemoryItem, MemoryScope};
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::Purpose;

use super::{Kept, Written};

pub(super) fn apply(written: &Written<'_>) -> Kept {
    match &written.entry.event {
        Event::Memory(event) => remembered(written, event),
        Event::Auto(AutoEvent::RunStarted { context, trigger, .. }) => {
            let by_a_person = match trigger {
                RunTrigger::Person => true,
                RunTrigger::Schedule { .. } => false,
            };
            if by_a_person != written.is_by_a_person() {
                return Err(format!("{:?} started it", written.entry.by));
            }
            belongs(context, written.after)
        }
        Event::Auto(AutoEvent::RunTicked { run, .. } | AutoEvent::RunPaused { run, .. }) => runs(run, written.before),
        // A run that was interrupted in the last turn of its task stands at the next one.
        Event::Auto(AutoEvent::RunMoved { run, .. }) => is_open(run, written.before),
        Event::Turn { event: TurnEvent::Begun { purpose: Purpose::Run(context), .. }, .. } => {
            belongs(context, written.before)?;
            runs(&context.run_id, written.before)
        }
        Event::Auto(_) | Event::Session(_) | Event::Turn { .. } | Event::Workbook(_) | Event::Plan { .. } => Ok(()),
    }
}

fn state(snapshot: &Snapshot) -> Result<&AutoState, String> {
    let session = snapshot.session.as_ref().ok_or("there is no session")?;
    session.auto.as_deref().ok_or_else(|| "the session has no runs".to_owned())
}

/// The goal and the task of a run are those of the session, and the task is one of the goal.
fn belongs(context: &AutoExecutionContext, snapshot: &Snapshot) -> Kept {
    if context.session != snapshot.identity {
        return Err(format!("it is a run of {}", context.session));
    }
    let state = state(snapshot)?;
    let task = state.task(context.task_id()).ok_or("the session has no such task")?;
    match context.goal_id() {
        Some(goal) if state.goal(goal).is_none() => Err("the session has no such goal".to_owned()),
        goal if task.goal.as_ref() != goal => Err(format!("task {} belongs to {:?}", task.number, task.goal)),
        Some(_) | None => Ok(()),
    }
}

fn runs(run: &RunId, before: &Snapshot) -> Kept {
    let run = state(before)?.run(run).ok_or("there is no such run")?;
    if run.is_running() { Ok(()) } else { Err(format!("run {} is {}", run.number, run.state.name())) }
}

fn is_open(run: &RunId, before: &Snapshot) -> Kept {
    let run = state(before)?.run(run).ok_or("there is no such run")?;
    if run.is_open() { Ok(()) } else { Err(format!("run {} is {}", run.number, run.state.name())) }
}

fn remembered(written: &Written<'_>, event: &MemoryEvent) -> Kept {
    match event {
        MemoryEvent::Saved { item } => is_own(written, item),
        MemoryEvent::Promoted { copy, .. } => match (&copy.scope, written.is_by_a_person()) {
            (MemoryScope::Global, true) => Ok(()),
            (scope, _) => Err(format!("{:?} promoted to {scope}", written.entry.by)),
        },
        MemoryEvent::Forgotten { .. } | MemoryEvent::Restored { .. } | MemoryEvent::OfferDeclined { .. } => Ok(()),
    }
}

fn is_own(written: &Written<'_>, item: &MemoryItem) -> Kept {
    let session = &written.after.identity;
    let own = match &item.scope {
        MemoryScope::Global => false,
        MemoryScope::Session(owner) => owner == session,
        MemoryScope::Goal { session: owner, goal } => owner == session && state(written.after)?.goal(goal).is_some(),
        MemoryScope::Task(task) => state(written.after)?.task(task).is_some(),
    };
    if own { Ok(()) } else { Err(format!("it is saved in {}", item.scope)) }
}
