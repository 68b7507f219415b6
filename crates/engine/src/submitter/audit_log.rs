//! The log of commits for operators: actors and events, never the text of a conversation.

use planwright_core::event::{Event, MemoryEvent, PlanEvent, SessionEvent, TurnEvent, WorkbookEvent};
use planwright_core::ids::{PlanId, TurnId};
use planwright_core::session::SessionIdentity;

use crate::ledger::Committed;

pub(super) fn log_committed(session: &SessionIdentity, committed: &Committed) {
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

/// `None` for events that happen many times in a turn, and for those that a person reads elsewhere.
const fn words(event: &Event) -> Option<&'static str> {
    match event {
        Event::Session(event) => match event {
            SessionEvent::Opened => Some("a session began"),
            SessionEvent::PlanModeEnabled { .. } => Some("plan work was turned on"),
            SessionEvent::PlanModeDisabled { .. } => Some("plan work was turned off"),
            SessionEvent::WorkspaceChosen { .. } => Some("a workspace was chosen"),
            SessionEvent::ChangesUndone { .. } => Some("changes of files were undone"),
            SessionEvent::ClientSeen { .. } => Some("a program started an agent's connection"),
            SessionEvent::Restored => Some("a session was restored from an archive"),
            SessionEvent::ConversationReset { .. }
            | SessionEvent::Compacted { .. }
            | SessionEvent::PlanShown { .. }
            | SessionEvent::Renamed { .. }
            | SessionEvent::ReviewDrafted { .. }
            | SessionEvent::ReviewSent { .. }
            | SessionEvent::PlanCreated { .. }
            | SessionEvent::PlanImported { .. }
            | SessionEvent::FilesChanged { .. } => None,
        },
        Event::Turn { event, .. } => match event {
            TurnEvent::Begun { .. } => Some("a turn began"),
            TurnEvent::Resumed => Some("an interrupted turn was resumed"),
            TurnEvent::PermissionAsked { .. } => Some("a turn asks for permission"),
            TurnEvent::PermissionAnswered { .. } => Some("a person answered whether a call may run"),
            TurnEvent::QuestionsAsked { .. } => Some("a turn asks a person"),
            TurnEvent::QuestionsAnswered { .. } => Some("a person answered what a turn asks"),
            TurnEvent::Ended { .. } => Some("a turn ended"),
            TurnEvent::ModelReplied { .. } | TurnEvent::ToolEnded { .. } => None,
        },
        Event::Workbook(event) => match event {
            WorkbookEvent::Begun { .. } => Some("a workbook was begun"),
            WorkbookEvent::Archived { .. } => Some("a workbook was archived"),
            WorkbookEvent::Cleared => Some("a workbook was cleared"),
            WorkbookEvent::Switched { .. } | WorkbookEvent::Written { .. } | WorkbookEvent::Assessed { .. } => None,
        },
        Event::Memory(event) => match event {
            MemoryEvent::Saved { .. } => Some("a memory was saved"),
            MemoryEvent::Promoted { .. } => Some("a memory was promoted to global"),
            MemoryEvent::Forgotten { .. } => Some("a memory was forgotten"),
            MemoryEvent::Restored { .. } => Some("a memory was restored"),
        },
        Event::Plan { event, .. } => match event {
            PlanEvent::Approved { .. } => Some("a plan was approved"),
            PlanEvent::ApprovalSigned { .. } => Some("one of several people approved a plan"),
            PlanEvent::Rejected { .. } => Some("a plan was rejected"),
            PlanEvent::Cancelled { .. } => Some("a plan was cancelled"),
            PlanEvent::ExecutionStarted { .. } => Some("a plan is being carried out"),
            PlanEvent::ExecutionPaused { .. } => Some("an execution is paused"),
            PlanEvent::ExecutionResumed { .. } => Some("an execution was resumed"),
            PlanEvent::ExecutionFinished { .. } => Some("a plan was carried out"),
            PlanEvent::ContentSet { .. }
            | PlanEvent::StepRecorded { .. }
            | PlanEvent::MetadataSet { .. }
            | PlanEvent::StepAdded { .. }
            | PlanEvent::StepUpdated { .. }
            | PlanEvent::StepRemoved { .. }
            | PlanEvent::Finalized { .. }
            | PlanEvent::RevisionRequested { .. }
            | PlanEvent::Superseded { .. }
            | PlanEvent::StepBegun { .. }
            | PlanEvent::StepEnded { .. }
            | PlanEvent::PermissionsCounted { .. } => None,
        },
    }
}

fn outcome(event: &Event) -> Option<&'static str> {
    match event {
        Event::Turn { event: TurnEvent::Ended { ending }, .. } => Some(ending.end.name()),
        Event::Plan { event: PlanEvent::ExecutionFinished { status, .. }, .. } => Some(status.as_str()),
        Event::Session(_) | Event::Turn { .. } | Event::Workbook(_) | Event::Memory(_) | Event::Plan { .. } => None,
    }
}

/// Whether a person approved it or a rule did.
fn by(event: &Event) -> Option<&'static str> {
    match event.plan_event()? {
        PlanEvent::Approved { approval } => Some(approval.by.kind.as_str()),
        _ => None,
    }
}
