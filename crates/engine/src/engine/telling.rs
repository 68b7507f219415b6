//! What an operator reads about what was committed: who and what, never what was said.

use planwright_core::event::Event;
use planwright_core::ids::{PlanId, TurnId};
use planwright_core::session::SessionIdentity;

use crate::ledger::Committed;

pub(super) fn tell(session: &SessionIdentity, committed: &Committed) {
    if !tracing::enabled!(tracing::Level::INFO) {
        return;
    }
    for event in &committed.events {
        let Some(words) = words(event) else { continue };
        tracing::info!(
            session_identity = %session,
            event = event.name(),
            turn = event.turn().map(TurnId::as_str),
            plan_id = event.plan().map(PlanId::as_str),
            outcome = outcome(event),
            by = by(event),
            "{words}",
        );
    }
}

/// `None` for what happens many times in a turn, and for what a person reads elsewhere.
const fn words(event: &Event) -> Option<&'static str> {
    match event {
        Event::SessionOpened => Some("a session began"),
        Event::PlanModeEnabled { .. } => Some("plan work was turned on"),
        Event::PlanModeDisabled { .. } => Some("plan work was turned off"),
        Event::TurnBegun { .. } => Some("a turn began"),
        Event::TurnResumed { .. } => Some("an interrupted turn was taken up again"),
        Event::TurnEnded { .. } => Some("a turn ended"),
        Event::PlanApproved { .. } => Some("a plan was approved"),
        Event::PlanRejected { .. } => Some("a plan was rejected"),
        Event::PlanCancelled { .. } => Some("a plan was cancelled"),
        Event::ExecutionStarted { .. } => Some("a plan is being carried out"),
        Event::ExecutionPaused { .. } => Some("an execution is paused"),
        Event::ExecutionResumed { .. } => Some("an execution was resumed"),
        Event::ExecutionFinished { .. } => Some("a plan was carried out"),
        Event::WorkbookBegun { .. } => Some("a workbook was begun"),
        Event::WorkbookArchived { .. } => Some("a workbook was archived"),
        Event::WorkbookCleared => Some("a workbook was cleared"),
        Event::ConversationReset { .. }
        | Event::ModelReplied { .. }
        | Event::ToolEnded { .. }
        | Event::Compacted(_)
        | Event::PlanShown(_)
        | Event::PlanCreated(_)
        | Event::PlanImported { .. }
        | Event::ContentSet { .. }
        | Event::StepRecorded { .. }
        | Event::MetadataSet { .. }
        | Event::StepAdded { .. }
        | Event::StepUpdated { .. }
        | Event::StepRemoved { .. }
        | Event::PlanFinalized { .. }
        | Event::RevisionRequested { .. }
        | Event::PlanSuperseded { .. }
        | Event::StepBegun { .. }
        | Event::StepEnded { .. }
        | Event::WorkbookSwitched { .. }
        | Event::WorkbookWritten { .. }
        | Event::WorkbookJudged(_) => None,
    }
}

fn outcome(event: &Event) -> Option<&'static str> {
    match event {
        Event::TurnEnded { ending, .. } => Some(ending.end.name()),
        Event::ExecutionFinished { status, .. } => Some(status.as_str()),
        _ => None,
    }
}

/// Whether a person approved it or a rule did.
fn by(event: &Event) -> Option<&'static str> {
    match event {
        Event::PlanApproved { approval, .. } => Some(approval.by.kind.as_str()),
        _ => None,
    }
}
