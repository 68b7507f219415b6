//! The log of commits for operators: actors and events, never the text of a conversation.

use planwright_core::auto::AutoExecutionContext;
use planwright_core::event::{AutoEvent, Event, MemoryEvent, PlanEvent, SessionEvent, TurnEvent, WorkbookEvent};
use planwright_core::ids::{GoalId, PlanId, TurnId};
use planwright_core::session::SessionIdentity;

use crate::ledger::Committed;

pub(super) fn log_committed(session: &SessionIdentity, committed: &Committed) {
    if !tracing::enabled!(tracing::Level::INFO) {
        return;
    }
    for event in &committed.events {
        let Some(action) = describe(event) else { continue };
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
            "{action}",
        );
    }
}

/// The run that an event belongs to.
fn run_of<'a>(event: &'a Event, committed: &'a Committed) -> Option<&'a AutoExecutionContext> {
    let session = committed.snapshot.session.as_ref();
    match event {
        Event::Auto(event) => {
            let run = event.run()?;
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

/// `None` for events that happen many times in a turn, and for those that a person reads elsewhere.
const fn describe(event: &Event) -> Option<&'static str> {
    match event {
        Event::Session(event) => match event {
            SessionEvent::Opened => Some("a session began"),
            SessionEvent::PlanModeEnabled { .. } => Some("plan work was turned on"),
            SessionEvent::PlanModeDisabled { .. } => Some("plan work was turned off"),
            SessionEvent::WorkspaceChosen { .. } => Some("a workspace was chosen"),
            SessionEvent::ChangesUndone { .. } => Some("changes of files were undone"),
            SessionEvent::ClientSeen { .. } => Some("a program started an agent's connection"),
            SessionEvent::GatewayAsked { .. } => Some("a call to an upstream server was asked about"),
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
            MemoryEvent::OfferDeclined { .. } => Some("an offered memory was declined"),
        },
        Event::Auto(event) => match event {
            AutoEvent::RunStarted { .. } => Some("a run was started"),
            AutoEvent::RunTicked { .. } => Some("a turn of a run ended"),
            AutoEvent::RunMoved { .. } => Some("a run continues with another task"),
            AutoEvent::RunPaused { .. } => Some("a run is paused and waits for a person"),
            AutoEvent::RunResumed { .. } => Some("a person let a run continue"),
            AutoEvent::RunInterrupted { .. } => Some("a run was interrupted"),
            AutoEvent::RunEnded { .. } => Some("a run ended"),
            AutoEvent::ScheduleAdded { .. } => Some("a schedule was made"),
            AutoEvent::ScheduleFired { .. } => Some("a schedule started a run"),
            AutoEvent::SchedulePostponed { .. } => Some("a schedule is tried again later"),
            AutoEvent::GoalAdded { .. }
            | AutoEvent::GoalChanged { .. }
            | AutoEvent::TaskAdded { .. }
            | AutoEvent::TaskChanged { .. }
            | AutoEvent::DiaryWritten { .. }
            | AutoEvent::SchedulePaused { .. }
            | AutoEvent::ScheduleResumed { .. }
            | AutoEvent::ScheduleDeleted { .. } => None,
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
        Event::Auto(AutoEvent::RunEnded { end, .. }) => Some(end.as_str()),
        Event::Plan { event: PlanEvent::ExecutionFinished { status, .. }, .. } => Some(status.as_str()),
        Event::Session(_)
        | Event::Turn { .. }
        | Event::Workbook(_)
        | Event::Memory(_)
        | Event::Auto(_)
        | Event::Plan { .. } => None,
    }
}

/// Whether a person approved it or a rule did.
fn by(event: &Event) -> Option<&'static str> {
    match event.plan_event()? {
        PlanEvent::Approved { approval } => Some(approval.by.kind.as_str()),
        _ => None,
    }
}
