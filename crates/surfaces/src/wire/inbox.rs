//! Decisions that wait for a person.

use jiff::Timestamp;
use planwright_core::ask::{Ask, AskSubject, CallToPermit, Question};
use planwright_core::auto::{RunPause, RunState};
use planwright_core::choices::{
    Choice, Choices, ask_choices, cannot_run_choices, choices, refused_choices, run_choices,
};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;
use planwright_core::session::{Channel, SessionIdentity};
use planwright_engine::inbox::{Waiting, WaitingAsk, WaitingFor, WaitingRun};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::{RunView, ToolChangeView};

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingView {
    /// The id of the plan, of what the agent asks, of the run, or of the MCP server whose tools changed. For a step to look at, the
    /// position of the step follows a colon.
    pub id: String,
    pub kind: WaitingKind,
    /// Empty for a change of tools, which concerns all sessions.
    pub session_id: String,
    pub channel: Channel,
    pub title: String,
    pub since: Timestamp,
    /// What an approval or an answer has to name.
    pub digest: String,
    /// What it waits for, in a sentence.
    pub situation: String,
    /// What a person can decide.
    pub choices: Vec<String>,
    /// The choices with their labels and commands.
    pub actions: Vec<ChoiceView>,
    /// What a yes needs: `any`, `separate` or `verified`. Absent where nothing is permitted by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub require: Option<&'static str>,
    /// An approval of the plan that waits for more people, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub approved_by_some: Option<String>,
    /// The plan that is decided about, or that the agent works for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub plan_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub number: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<PlanStatus>,
    /// Whether the session works on the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub active: Option<bool>,
    /// The step whose result is unknown, or that a person looks at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub step: Option<WaitingStepView>,
    /// The call that the agent asks to make.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub call: Option<CallToPermitView>,
    /// What the agent wants to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub questions: Option<Vec<QuestionView>>,
    /// The tools that a person is to accept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tool_change: Option<ToolChangeView>,
    /// The run of the agent by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub run: Option<RunView>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingKind {
    /// A plan to approve, revise or reject.
    Plan,
    /// A call that no rule and no approved plan covers.
    Permission,
    /// Questions of the agent.
    Question,
    /// A step that ended, of a plan that is approved step by step: go on, change the rest, or stop.
    Step,
    /// A step whose result is unknown.
    Uncertain,
    /// A plan whose execution ended because a step failed: do the step again, skip it or change the plan.
    Failed,
    /// An execution on which no process works any more, an approved plan whose next call cannot be made, or a run of the agent by
    /// itself that is paused or interrupted:
    /// resume or stop it.
    Run,
    /// Calls of the agent that were refused in numbers while its plan is carried out.
    Refused,
    /// Tools of an MCP server that no person has accepted.
    ToolChange,
    /// A run of the agent by itself that has spent its budget: let it continue or stop it.
    Budget,
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingStepView {
    /// From 1.
    pub position: usize,
    pub description: String,
    /// What is known about it.
    #[schema(required = true)]
    pub note: Option<String>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<StepStatus>,
}

/// A call exactly as it runs once a person permits it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = CallToPermit)]
#[serde(rename_all = "camelCase")]
pub struct CallToPermitView {
    pub tool: String,
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Why it is asked about.
    pub reason: String,
    /// What the answer `always` permits, as a sentence. Absent if it is not offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub always: Option<String>,
    /// What a person types in a chat to permit it: `/allow CODE`.
    pub code: String,
}

impl CallToPermitView {
    fn of(ask: &Ask, call: &CallToPermit) -> Self {
        let CallToPermit { tool, arguments, reason, paths: _, always: _ } = call.clone();
        Self { tool, arguments, reason, always: call.describe_always(), code: ask.code() }
    }
}

#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Question)]
#[serde(rename_all = "camelCase")]
pub struct QuestionView {
    pub text: String,
    /// Answers to choose from; a person may answer in other words.
    pub choices: Vec<String>,
    /// Whether several choices may be taken.
    pub many: bool,
}

impl From<&Question> for QuestionView {
    fn from(question: &Question) -> Self {
        let Question { text, choices, many } = question.clone();
        Self { text, choices, many }
    }
}

/// What a person can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Choice)]
pub struct ChoiceView {
    pub name: String,
    /// What it does, on a button or in a list.
    pub label: String,
    /// What a person types in a chat. Words in capitals stand for the person's own.
    pub command: String,
}

impl From<&Choice> for ChoiceView {
    fn from(choice: &Choice) -> Self {
        let (name, Choice { label, command, .. }) = (choice.name().to_owned(), choice.clone());
        Self { name, label, command }
    }
}

impl WaitingView {
    /// Concerns all sessions.
    pub(super) fn new(kind: WaitingKind, id: String, since: Timestamp, choices: Choices) -> Self {
        Self {
            id,
            kind,
            session_id: String::new(),
            channel: Channel::Web,
            title: String::new(),
            since,
            digest: String::new(),
            situation: choices.situation,
            choices: choices.list.iter().map(|choice| choice.name().to_owned()).collect(),
            actions: choices.list.iter().map(ChoiceView::from).collect(),
            require: None,
            approved_by_some: None,
            plan_id: None,
            number: None,
            status: None,
            active: None,
            step: None,
            call: None,
            questions: None,
            tool_change: None,
            run: None,
        }
    }

    fn in_session(self, session: &SessionIdentity) -> Self {
        Self { session_id: session.conversation.to_string(), channel: session.channel, ..self }
    }
}

impl From<&Waiting> for WaitingView {
    fn from(waiting: &Waiting) -> Self {
        let plan = &waiting.plan;
        let (kind, id) = match &waiting.wants {
            WaitingFor::Approval => (WaitingKind::Plan, plan.id.to_string()),
            WaitingFor::Paused | WaitingFor::CannotRun { .. } => (WaitingKind::Run, plan.id.to_string()),
            WaitingFor::UncertainStep { .. } => (WaitingKind::Uncertain, plan.id.to_string()),
            WaitingFor::StepFailed { .. } => (WaitingKind::Failed, plan.id.to_string()),
            WaitingFor::RefusedCalls { .. } => (WaitingKind::Refused, plan.id.to_string()),
            // A go is for the step that was shown, and not for a later one.
            WaitingFor::StepEnded { position, .. } => (WaitingKind::Step, format!("{}:{position}", plan.id)),
        };
        let step = match waiting.wants.clone() {
            WaitingFor::Approval
            | WaitingFor::Paused
            | WaitingFor::RefusedCalls { .. }
            | WaitingFor::CannotRun { .. } => None,
            WaitingFor::UncertainStep { position, description, note } => {
                Some(WaitingStepView { position, description, note, status: None })
            }
            WaitingFor::StepFailed { position, description, note } => {
                Some(WaitingStepView { position, description, note, status: Some(StepStatus::Failed) })
            }
            WaitingFor::StepEnded { position, description, status, note } => {
                Some(WaitingStepView { position, description, note, status: Some(status) })
            }
        };
        let choices = match waiting.wants {
            WaitingFor::RefusedCalls { count } => refused_choices(plan, count),
            WaitingFor::CannotRun { ref why } => cannot_run_choices(plan, why),
            WaitingFor::Approval
            | WaitingFor::UncertainStep { .. }
            | WaitingFor::StepEnded { .. }
            | WaitingFor::StepFailed { .. }
            | WaitingFor::Paused => choices(plan, None),
        };
        Self {
            title: plan.display_title(),
            digest: waiting.digest.to_string(),
            approved_by_some: plan.incomplete_approval.as_ref().map(|approval| approval.to_string()),
            plan_id: Some(plan.id.to_string()),
            number: Some(plan.number),
            status: Some(plan.status),
            active: Some(waiting.active),
            step,
            ..Self::new(kind, id, waiting.since, choices).in_session(&waiting.session)
        }
    }
}

impl From<&WaitingAsk> for WaitingView {
    fn from(waiting: &WaitingAsk) -> Self {
        let WaitingAsk { session, ask, plan } = waiting;
        let kind = match &ask.subject {
            AskSubject::Permission(_) => WaitingKind::Permission,
            AskSubject::Questions { .. } => WaitingKind::Question,
        };
        let AskView { id, digest, call, questions } = AskView::from(ask);
        Self {
            title: ask.subject.title(),
            digest,
            plan_id: plan.as_ref().map(ToString::to_string),
            call,
            questions,
            ..Self::new(kind, id, ask.asked_at, ask_choices(waiting)).in_session(session)
        }
    }
}

impl From<&WaitingRun> for WaitingView {
    fn from(waiting: &WaitingRun) -> Self {
        let WaitingRun { session, run, task, since, digest } = waiting;
        let (kind, why) = match &run.state {
            RunState::Paused { reason: reason @ RunPause::Budget { .. }, .. } => {
                (WaitingKind::Budget, reason.to_string())
            }
            RunState::Paused { reason, .. } => (WaitingKind::Run, reason.to_string()),
            RunState::Interrupted { .. } => (WaitingKind::Run, "its process ended".to_owned()),
            RunState::Running | RunState::Ended { .. } => (WaitingKind::Run, String::new()),
        };
        Self {
            title: format!("Run {} is {}, {why}: {task}", run.number, run.state.name()),
            run: Some(RunView { digest: Some(digest.clone()), ..RunView::from(run) }),
            ..Self::new(kind, run.id().to_string(), *since, run_choices(run)).in_session(session)
        }
    }
}

/// What a turn asks, in the answer to an input.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Ask)]
#[serde(rename_all = "camelCase")]
pub struct AskView {
    pub id: String,
    /// What an answer has to name.
    pub digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub call: Option<CallToPermitView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub questions: Option<Vec<QuestionView>>,
}

impl From<&Ask> for AskView {
    fn from(ask: &Ask) -> Self {
        let (call, questions) = match &ask.subject {
            AskSubject::Permission(call) => (Some(CallToPermitView::of(ask, call)), None),
            AskSubject::Questions { questions } => (None, Some(questions.iter().map(QuestionView::from).collect())),
        };
        Self { id: ask.id.to_string(), digest: ask.digest.to_string(), call, questions }
    }
}
