//! A session as it was after an entry of its journal, as JSON.

use jiff::Timestamp;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::Channel;
use planwright_core::workbook::{DocumentKind, Workbook};
use planwright_engine::history::PastState;
use serde::Serialize;
use utoipa::ToSchema;

use super::pagination::{self, DamagedView};
use crate::wire::{GoalView, RunView, ScheduleView, TaskView};

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PastState)]
pub(super) struct PastStateView {
    session_id: String,
    channel: Channel,
    /// The last entry of the journal that had happened.
    seq: u64,
    /// The time of that entry; `null` if no entry up to it can be read.
    #[schema(required = true)]
    at: Option<Timestamp>,
    /// The name that a person had given it.
    #[schema(required = true)]
    title: Option<String>,
    /// The first words that were said.
    #[schema(required = true)]
    topic: Option<String>,
    mode: ModeView,
    /// The style of plan work; the one that it had last while `mode` is `chat`.
    style: PlanStyle,
    /// The plan that the session worked on.
    #[schema(required = true)]
    active_plan_id: Option<String>,
    /// Whether a turn was under way.
    working: bool,
    /// The project folder that the file tools worked in; `null` is the session's own folder.
    #[schema(required = true)]
    workspace: Option<String>,
    /// Every plan that was made by then, by number.
    plans: Vec<PastPlanView>,
    goals: Vec<GoalView>,
    tasks: Vec<TaskView>,
    schedules: Vec<ScheduleView>,
    runs: Vec<RunView>,
    /// The workbook that was current.
    #[schema(required = true)]
    workbook: Option<PastWorkbookView>,
    /// Entries that cannot be read. What they did is missing here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<DamagedView>,
}

/// Whether plan work is on.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SessionMode)]
enum ModeView {
    Plan,
    Chat,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PastPlan)]
struct PastPlanView {
    plan_id: String,
    number: u32,
    title: String,
    status: PlanStatus,
    style: PlanStyle,
    version: u32,
    updated_at: Timestamp,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PastWorkbook)]
struct PastWorkbookView {
    title: String,
    begun_at: Timestamp,
    documents: Vec<PastDocumentView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PastDocument)]
struct PastDocumentView {
    /// `task_plan`, `findings` or `progress`
    which: &'static str,
    version: u32,
}

impl From<&PastState> for PastStateView {
    fn from(past: &PastState) -> Self {
        let (identity, session) = (&past.snapshot.identity, past.snapshot.session.as_ref());
        let mode = session.map(|session| &session.plan_mode);
        let auto = session.and_then(|session| session.auto.as_deref());
        let mut plans: Vec<_> = past.snapshot.plans.values().map(|plan| PastPlanView::from(plan.as_ref())).collect();
        plans.sort_by_key(|plan| plan.number);
        Self {
            session_id: identity.conversation.to_string(),
            channel: identity.channel,
            seq: past.seq,
            at: past.at,
            title: session.and_then(|session| session.title.clone()),
            topic: session.and_then(|session| session.topic.clone()),
            mode: if mode.is_some_and(|mode| mode.enabled) { ModeView::Plan } else { ModeView::Chat },
            style: mode.map_or(PlanStyle::Document, |mode| mode.style),
            active_plan_id: mode.and_then(|mode| mode.active_plan.as_ref()).map(ToString::to_string),
            working: session.is_some_and(|session| session.turn.is_some()),
            workspace: session.and_then(|session| session.workspace.project()).map(str::to_owned),
            plans,
            goals: auto.map(|auto| auto.goals.iter().map(GoalView::from).collect()).unwrap_or_default(),
            tasks: auto.map(|auto| auto.tasks.iter().map(TaskView::from).collect()).unwrap_or_default(),
            schedules: auto
                .map(|auto| auto.schedules.iter().map(|schedule| ScheduleView::of(auto, schedule)).collect())
                .unwrap_or_default(),
            runs: auto.map(|auto| auto.runs.iter().map(RunView::from).collect()).unwrap_or_default(),
            workbook: session.and_then(|session| session.current_workbook()).map(PastWorkbookView::from),
            damaged: pagination::damaged(&past.damaged),
        }
    }
}

impl From<&Plan> for PastPlanView {
    fn from(plan: &Plan) -> Self {
        Self {
            plan_id: plan.id.to_string(),
            number: plan.number,
            title: plan.display_title(),
            status: plan.status,
            style: plan.style(),
            version: plan.version,
            updated_at: plan.updated_at,
        }
    }
}

impl From<&Workbook> for PastWorkbookView {
    fn from(workbook: &Workbook) -> Self {
        let document = |which: DocumentKind| {
            let version = workbook.document(which).version;
            PastDocumentView { which: which.as_str(), version }
        };
        let documents = DocumentKind::ALL.into_iter().map(document).collect();
        Self { title: workbook.title.clone(), begun_at: workbook.begun_at, documents }
    }
}
