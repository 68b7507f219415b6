//! The outcome of an input. The plan in it is made from the stored plan, never from the model's text.

use planwright_core::choices::{Activity, Choices, WaitingAsk, choices};
use planwright_core::ids::{PlanId, RunId, TurnId};
use planwright_core::mode::PlanModeState;
use planwright_core::model::Usage;
use planwright_core::plan::execution::ExecutionProgress;
use planwright_core::plan::{Approval, Digest, Execution, IncompleteApproval, Plan, PlanStatus, PlanStyle};
use planwright_core::planner::PlannerAnswer;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::TurnEnd;
use planwright_core::workspace::Undo;

use super::ask_prompt::ask_prompt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnOutcome {
    pub session: SessionIdentity,
    pub turn: TurnId,
    /// `None` while it is open and waits for a person's answer.
    pub end: Option<TurnEnd>,
    /// What it asks a person before it continues.
    pub ask: Option<WaitingAsk>,
    /// What the person reads, in Markdown.
    pub reply: String,
    /// A plan whose current version the person has not seen.
    pub plan: Option<PlanCard>,
    /// The answer as data, while a plan is built.
    pub planner: Option<PlannerAnswer>,
    pub usage: Usage,
    pub model_calls: usize,
    pub tool_calls: u32,
}

/// What a turn cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnStats {
    pub turn: TurnId,
    pub usage: Usage,
    pub model_calls: usize,
    pub tool_calls: u32,
}

/// The last item of a progress stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Answer(Box<Answer>),
    /// There was nothing to resume or to stop.
    NothingToDo,
}

impl Outcome {
    /// The answer, if there was something to do.
    pub fn answer(self) -> Option<Answer> {
        match self {
            Self::Answer(answer) => Some(*answer),
            Self::NothingToDo => None,
        }
    }
}

impl From<Answer> for Outcome {
    fn from(answer: Answer) -> Self {
        Self::Answer(Box::new(answer))
    }
}

impl From<Option<Answer>> for Outcome {
    fn from(answer: Option<Answer>) -> Self {
        answer.map_or(Self::NothingToDo, Self::from)
    }
}

/// The answer to an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The session the person is in afterwards.
    pub session: SessionIdentity,
    /// How the turn ended; `None` if no turn was needed, or if it waits for a person's answer.
    pub end: Option<TurnEnd>,
    /// What the turn asks a person before it continues.
    pub ask: Option<WaitingAsk>,
    /// The decision that led to the work; it was sent as progress at once.
    pub decided: Option<String>,
    /// What the person reads, in Markdown.
    pub reply: String,
    pub plan: Option<PlanCard>,
    /// What the planner says, if a plan was being built.
    pub planner: Option<PlannerAnswer>,
    /// What the turn cost, if there was one.
    pub turn: Option<TurnStats>,
    /// Why it was refused, if it was; then nothing changed.
    pub refusal: Option<RefusalCode>,
    /// What an undo did to files.
    pub undone: Option<Box<Undo>>,
    /// The run that was started or continues.
    pub run: Option<RunId>,
    /// The session's plan mode after a command that left it.
    pub plan_mode: Option<Box<PlanModeState>>,
}

impl Answer {
    pub(crate) fn text(session: &SessionIdentity, reply: impl Into<String>) -> Self {
        Self {
            session: session.clone(),
            end: None,
            ask: None,
            decided: None,
            reply: reply.into(),
            plan: None,
            planner: None,
            turn: None,
            refusal: None,
            undone: None,
            run: None,
            plan_mode: None,
        }
    }

    /// What the agent asks, shown again.
    pub fn asking(session: &SessionIdentity, ask: WaitingAsk) -> Self {
        Self::text(session, "").with_ask(ask)
    }

    pub(crate) fn with_plan_mode(self, after: &Snapshot) -> Self {
        let plan_mode = after.session.as_ref().map(|session| Box::new(session.plan_mode.clone()));
        Self { plan_mode, ..self }
    }

    pub(crate) fn refusal(session: &SessionIdentity, code: RefusalCode, reply: impl Into<String>) -> Self {
        Self { refusal: Some(code), ..Self::text(session, reply) }
    }

    pub fn refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// The answer while the work waits for a person.
    pub(crate) fn with_ask(mut self, ask: WaitingAsk) -> Self {
        let gap = if self.reply.is_empty() { "" } else { "\n\n" };
        self.reply.push_str(&format!("{gap}{}", ask_prompt(&ask)));
        self.ask = Some(ask);
        self
    }

    pub(crate) fn with_plan(mut self, plan: PlanCard) -> Self {
        self.plan = Some(plan);
        self
    }
}

impl From<TurnOutcome> for Answer {
    fn from(outcome: TurnOutcome) -> Self {
        let TurnOutcome { session, turn, end, ask, reply, plan, planner, usage, model_calls, tool_calls } = outcome;
        let turn = Some(TurnStats { turn, usage, model_calls, tool_calls });
        Self { end, ask, plan, planner, turn, ..Self::text(&session, reply) }
    }
}

/// A plan as it is put before a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanCard {
    pub plan_id: PlanId,
    pub number: u32,
    pub title: String,
    pub status: PlanStatus,
    pub style: PlanStyle,
    pub version: u32,
    pub digest: Digest,
    pub markdown: String,
    /// The person or the standing policy that approved it.
    pub approval: Option<Approval>,
    /// An approval that waits for more people.
    pub incomplete_approval: Option<IncompleteApproval>,
    /// How far it has come, once it is carried out.
    pub progress: Option<ExecutionProgress>,
    pub choices: Choices,
}

impl PlanCard {
    pub(crate) fn of(plan: &Plan, activity: Option<&Activity>) -> Self {
        Self {
            plan_id: plan.id.clone(),
            number: plan.number,
            title: plan.display_title(),
            status: plan.status,
            style: plan.style(),
            version: plan.version,
            digest: plan.digest(),
            markdown: plan.markdown(),
            approval: plan.approval.as_deref().cloned(),
            incomplete_approval: plan.incomplete_approval.as_deref().cloned(),
            progress: plan.execution.as_ref().map(Execution::progress),
            choices: choices(plan, activity),
        }
    }
}
