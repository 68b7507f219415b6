//! What a plan, an ask, a run or a change of tools waits for, and what a person can do about it now. Every surface
//! renders this one answer.
//!
//! A question (a plan to approve, a step to look at, an unknown result, an ask of the agent) is offered with its answers.
//! In every other state everything is offered that the life cycle permits.

use std::borrow::Cow;

use crate::actor::Actor;
use crate::ask::{Ask, AskSubject, Grant};
use crate::auto::{AutoRun, RunState};
use crate::command::StuckChoice;
use crate::ids::PlanId;
use crate::plan::execution::{Execution, StepStatus};
use crate::plan::waiting::WaitingFor;
use crate::plan::{Plan, PlanStatus, PlanStyle};
use crate::session::{Session, SessionIdentity};
use crate::turn::OpenTurn;
use crate::visible::visible;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    /// What it waits for or does now, in a sentence.
    pub situation: String,
    /// What a person can do, the most likely first.
    pub list: Vec<Choice>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub kind: ChoiceKind,
    /// What it does, on a button or in a list.
    pub label: String,
    /// What a person types in a chat. Words in capitals stand for the person's own. Empty if no chat takes it.
    pub command: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChoiceKind {
    Plan(PlanChoice),
    Permit(Grant),
    /// Accepts what an MCP server offers.
    AcceptTools,
    /// Answers the only question with the label.
    Answer,
    ResumeRun,
    StopRun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanChoice {
    Approve,
    Revise,
    Reject,
    /// Begins or continues the execution.
    Resume,
    /// Continues after a look at the step with this position.
    Next {
        after_step: usize,
    },
    /// Settles the step that the execution stopped at, or ends the execution.
    Settle(StuckChoice),
    Cancel,
    /// Shows how far the execution is.
    Watch,
    /// Begins another plan.
    Begin,
}

impl Choice {
    fn new(kind: ChoiceKind, label: impl Into<String>, command: String) -> Self {
        Self { kind, label: label.into(), command }
    }

    /// What a person or a program names it by.
    pub fn name(&self) -> &str {
        match self.kind {
            ChoiceKind::Plan(choice) => choice.as_str(),
            ChoiceKind::Permit(grant) => grant.as_str(),
            ChoiceKind::AcceptTools => "accept",
            ChoiceKind::Answer => &self.label,
            ChoiceKind::ResumeRun => "resume",
            ChoiceKind::StopRun => "stop",
        }
    }
}

impl PlanChoice {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Revise => "revise",
            Self::Reject => "reject",
            Self::Resume => "resume",
            Self::Next { .. } => "next",
            Self::Settle(choice) => choice.as_str(),
            Self::Cancel => "cancel",
            Self::Watch => "watch",
            Self::Begin => "begin",
        }
    }
}

/// An ask that waits for a person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingAsk {
    pub session: SessionIdentity,
    pub ask: Ask,
    /// The plan that the turn works for.
    pub plan: Option<PlanId>,
}

impl WaitingAsk {
    /// What the session asks a person: its open turn, or the hook of its agent's client.
    pub fn of_session(session: &Session) -> Option<Self> {
        if let Some(waiting) = session.turn.as_ref().and_then(|turn| Self::of(&session.identity, turn)) {
            return Some(waiting);
        }
        let asked = session.waiting_client_ask()?;
        Some(Self { session: session.identity.clone(), ask: asked.ask.clone(), plan: Some(asked.plan.clone()) })
    }

    /// What the session asks a person about the work for this plan: its turn for the plan, or the hook of the client that carries
    /// it out. A message of a person continues the active plan in a turn of its own.
    pub fn about(session: &Session, plan: &Plan) -> Option<Self> {
        let is_active = session.plan_mode.active_plan.as_ref() == Some(&plan.id);
        let is_about = |turn: &&OpenTurn| match turn.purpose.plan() {
            Some(worked_on) => *worked_on == plan.id,
            None => is_active,
        };
        let turn = session.turn.as_ref().filter(is_about);
        if let Some(waiting) = turn.and_then(|turn| Self::of(&session.identity, turn)) {
            return Some(waiting);
        }
        let is_asked = session.waiting_client_ask().is_some_and(|asked| asked.plan == plan.id);
        Self::of_session(session).filter(|_| is_asked)
    }

    /// What the turn asks, if it waits for an answer.
    pub fn of(session: &SessionIdentity, turn: &OpenTurn) -> Option<Self> {
        let (ask, plan) = (turn.waiting_ask()?.clone(), turn.purpose.plan().cloned());
        Some(Self { session: session.clone(), ask, plan })
    }
}

/// Whether the open turn of the session works for the plan, or asks a person something about it. A plan that an earlier turn left
/// open is not paused then, and resuming it is refused.
pub fn is_worked_on(plan: &Plan, session: &Session) -> bool {
    let has_turn = session.turn.as_ref().is_some_and(|turn| turn.purpose.plan() == Some(&plan.id));
    has_turn || WaitingAsk::about(session, plan).is_some()
}

/// What happens with an execution at this moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    /// A process works on it.
    Running,
    /// No process works on it; it waits for a person.
    Paused,
    /// The agent that drafted it over another program carries it out and reports.
    LeftTo(Actor),
    /// Its turn waits for a person's answer.
    Asking(Box<WaitingAsk>),
}

/// What can be done with the plan. `activity` is known for a plan that is `EXECUTING`.
pub fn choices(plan: &Plan, activity: Option<&Activity>) -> Choices {
    let (situation, list): (Cow<'_, str>, &[PlanChoice]) = match plan.status {
        PlanStatus::Collecting => (drafting(plan).into(), &[PlanChoice::Revise, PlanChoice::Cancel]),
        PlanStatus::Ready => {
            let situation = if plan.feedback.is_some() { drafting(plan) } else { "It waits for your decision." };
            (situation.into(), &[PlanChoice::Approve, PlanChoice::Revise, PlanChoice::Reject])
        }
        PlanStatus::Approved => match plan.style() {
            PlanStyle::Document => ("It is approved. The agent may begin.".into(), RESUMABLE),
            PlanStyle::Collect | PlanStyle::Build => ("It is approved and not started.".into(), RESUMABLE),
        },
        PlanStatus::Executing => return executing(plan, activity),
        PlanStatus::PartiallyCompleted => match (plan.waiting_for(), uncertain(plan)) {
            (Some(WaitingFor::StepFailed { position, .. }), _) => {
                (format!("It failed: step {position} was not done.").into(), STOPPED_AT_STEP)
            }
            (Some(WaitingFor::UncertainStep { position, .. }), _) => {
                (format!("It failed. {}", unknown(position)).into(), STOPPED_AT_STEP)
            }
            (_, Some(position)) => (unknown(position).into(), STOPPED_AT_STEP),
            (_, None) => ("It ended with steps left open.".into(), RESUMABLE),
        },
        PlanStatus::Completed => ("It is finished.".into(), &[PlanChoice::Begin]),
        PlanStatus::Rejected => ("It was rejected.".into(), &[PlanChoice::Begin]),
        PlanStatus::Cancelled => ("It was cancelled.".into(), &[PlanChoice::Begin]),
        PlanStatus::Superseded => ("Another plan took its place.".into(), &[PlanChoice::Begin]),
    };
    of_plan(plan, situation, list)
}

const RETRY: PlanChoice = PlanChoice::Settle(StuckChoice::Retry);
const SKIP: PlanChoice = PlanChoice::Settle(StuckChoice::Skip);
const STOP: PlanChoice = PlanChoice::Settle(StuckChoice::Stop);
const RESUMABLE: &[PlanChoice] = &[PlanChoice::Resume, PlanChoice::Revise, PlanChoice::Cancel];
const STOPPED_AT_STEP: &[PlanChoice] = &[RETRY, SKIP, PlanChoice::Revise, PlanChoice::Cancel];
const WORKED_ON: &[PlanChoice] = &[PlanChoice::Watch, PlanChoice::Revise, PlanChoice::Cancel];

fn executing(plan: &Plan, activity: Option<&Activity>) -> Choices {
    match (activity, plan.waiting_for()) {
        (Some(Activity::Asking(waiting)), _) => ask_choices(waiting),
        (_, Some(WaitingFor::StepEnded { position, .. })) => of_plan(
            plan,
            format!("It is paused after step {position}, so that you can look at it."),
            &[PlanChoice::Next { after_step: position }, PlanChoice::Revise, STOP],
        ),
        (_, Some(WaitingFor::UncertainStep { position, .. })) => of_plan(plan, unknown(position), &[RETRY, SKIP, STOP]),
        (Some(Activity::Paused), _) | (None, Some(WaitingFor::Paused | WaitingFor::Approval)) => of_plan(
            plan,
            "It is paused: no process works on it.",
            &[PlanChoice::Resume, PlanChoice::Revise, STOP, PlanChoice::Cancel],
        ),
        (Some(Activity::LeftTo(agent)), _) => {
            of_plan(plan, format!("It is left to {agent}, which drafted it and reports."), WORKED_ON)
        }
        (Some(Activity::Running) | None, _) => of_plan(plan, "It is being carried out.", WORKED_ON),
    }
}

/// What can be done about a plan while which many calls of the agent were refused.
pub fn refused_choices(plan: &Plan, count: u32) -> Choices {
    let situation = format!(
        "{count} calls of the agent that the plan does not cover were refused while it is carried out. Its history says which."
    );
    of_plan(plan, situation, WORKED_ON)
}

/// What can be done with an approved plan of recorded calls that the gateway of this agent makes.
pub fn left_to_gateway_choices(plan: &Plan, agent: &Actor) -> Choices {
    of_plan(plan, format!("It is approved. The `planwright mcp` of {} makes its calls.", agent.name), WORKED_ON)
}

/// What can be done about an approved plan whose next call cannot be made.
pub fn cannot_run_choices(plan: &Plan, why: &str) -> Choices {
    of_plan(plan, format!("It is approved and cannot be carried out: {why}"), RESUMABLE)
}

fn drafting(plan: &Plan) -> &'static str {
    match plan.feedback {
        Some(_) => "The agent has your feedback and drafts again.",
        None => "It is a draft that the agent has not finished. A message continues it.",
    }
}

fn unknown(position: usize) -> String {
    format!("The result of step {position} is unknown, and no step after it begins.")
}

fn uncertain(plan: &Plan) -> Option<usize> {
    let stuck = plan.execution.as_ref().and_then(Execution::stuck_at);
    stuck.filter(|(_, run)| run.status == StepStatus::Uncertain).map(|(position, _)| position)
}

/// The step that a choice is about, by its position where it failed.
fn stuck_step(plan: &Plan) -> Cow<'static, str> {
    match plan.waiting_for() {
        Some(WaitingFor::StepFailed { position, .. }) => format!("step {position}").into(),
        Some(
            WaitingFor::Approval
            | WaitingFor::UncertainStep { .. }
            | WaitingFor::StepEnded { .. }
            | WaitingFor::Paused
            | WaitingFor::RefusedCalls { .. }
            | WaitingFor::CannotRun { .. },
        )
        | None => "the step".into(),
    }
}

/// The position of the step that the execution continues with.
fn next_step(plan: &Plan) -> Option<usize> {
    let is_open = |status: StepStatus| match status {
        StepStatus::Pending | StepStatus::InProgress | StepStatus::Uncertain => true,
        StepStatus::Failed => plan.status == PlanStatus::PartiallyCompleted,
        StepStatus::Completed | StepStatus::Skipped => false,
    };
    let index = plan.execution.as_ref()?.steps.iter().position(|run| is_open(run.status))?;
    Some(index + 1)
}

fn of_plan(plan: &Plan, situation: impl Into<String>, list: &[PlanChoice]) -> Choices {
    Choices { situation: situation.into(), list: list.iter().map(|choice| plan_choice(plan, *choice)).collect() }
}

pub(crate) fn plan_choice(plan: &Plan, choice: PlanChoice) -> Choice {
    let number = plan.number;
    let next = || next_step(plan).unwrap_or(1);
    let resume = |choice: StuckChoice| format!("/plan resume {number} {}", choice.as_str());
    let (label, command): (Cow<'_, str>, String) = match choice {
        PlanChoice::Approve => ("Approve".into(), format!("/plan approve {number}")),
        PlanChoice::Revise => ("Request changes".into(), format!("/plan revise #{number} WHAT TO CHANGE")),
        PlanChoice::Reject => ("Reject".into(), format!("/plan reject {number}")),
        PlanChoice::Resume => {
            let label = match plan.execution {
                Some(_) => format!("Resume from step {}", next()).into(),
                None => "Start".into(),
            };
            (label, format!("/plan resume {number}"))
        }
        PlanChoice::Next { .. } => (format!("Continue with step {}", next()).into(), format!("/plan resume {number}")),
        PlanChoice::Settle(choice @ StuckChoice::Retry) => {
            (format!("Retry {}", stuck_step(plan)).into(), resume(choice))
        }
        PlanChoice::Settle(choice @ StuckChoice::Skip) => (format!("Skip {}", stuck_step(plan)).into(), resume(choice)),
        PlanChoice::Settle(choice @ StuckChoice::Stop) => ("Stop here".into(), resume(choice)),
        PlanChoice::Cancel => ("Cancel the plan".into(), format!("/plan cancel {number}")),
        PlanChoice::Watch => ("Show how far it is".into(), "/plan status".to_owned()),
        PlanChoice::Begin => ("Begin the next plan".into(), "/plan on".to_owned()),
    };
    Choice::new(ChoiceKind::Plan(choice), label, command)
}

/// How a person can answer what a turn asks. Questions that take more than one choice are answered in words.
pub fn ask_choices(waiting: &WaitingAsk) -> Choices {
    let (ask, title) = (&waiting.ask, waiting.ask.subject.title());
    let code = ask.code();
    match &ask.subject {
        AskSubject::Permission(call) => {
            let of_grant = |grant: Grant| match grant {
                Grant::Once => permit(grant, format!("/allow {code}")),
                Grant::Plan | Grant::Always => permit(grant, format!("/allow {code} {}", grant.as_str())),
                Grant::No => permit(grant, format!("/deny {code} WHY")),
            };
            let is_offered = |grant: &Grant| match grant {
                Grant::Plan => waiting.plan.is_some(),
                Grant::Always => call.always.is_some(),
                Grant::Once | Grant::No => true,
            };
            let grants = Grant::ALL.into_iter().filter(is_offered);
            Choices {
                situation: format!("The agent asks for permission: {title}"),
                list: grants.map(of_grant).collect(),
            }
        }
        AskSubject::Questions { questions } => {
            let answers = match questions.as_slice() {
                [question] => question.choices.as_slice(),
                _ => &[],
            };
            let of_answer = |answer: &String| {
                Choice::new(ChoiceKind::Answer, answer, format!("/answer {code} {}", visible(answer)))
            };
            Choices { situation: format!("The agent asks: {title}"), list: answers.iter().map(of_answer).collect() }
        }
    }
}

fn permit(grant: Grant, command: String) -> Choice {
    Choice::new(ChoiceKind::Permit(grant), grant_label(grant), command)
}

pub(crate) const fn grant_label(grant: Grant) -> &'static str {
    match grant {
        Grant::Once => "Allow once",
        Grant::Plan => "Allow for this plan",
        Grant::Always => "Always allow",
        Grant::No => "Do not allow",
    }
}

/// How a person can answer in the program of an external agent that wants to make a call.
pub fn external_call_choices(tool: &str) -> Choices {
    let list = [Grant::Once, Grant::No].map(|grant| permit(grant, String::new())).into();
    Choices { situation: format!("The agent wants to call {}", visible(tool)), list }
}

/// What can be done about tools of an MCP server that no person has accepted.
pub fn tool_choices(server: &str) -> Choices {
    let accept = Choice::new(ChoiceKind::AcceptTools, "Accept the tools", format!("/tools accept {server}"));
    Choices { situation: "It offers tools that no person has accepted.".to_owned(), list: vec![accept] }
}

/// What can be done with a run of the agent on its own.
pub fn run_choices(run: &AutoRun) -> Choices {
    let number = run.number;
    let resume = || Choice::new(ChoiceKind::ResumeRun, "Continue", format!("/auto resume {number}"));
    let stop = || Choice::new(ChoiceKind::StopRun, "Stop it", format!("/auto off {number}"));
    let (situation, list) = match &run.state {
        RunState::Running => ("The agent works on its own.".to_owned(), vec![stop()]),
        RunState::Paused { reason, .. } => (format!("It is paused: {reason}."), vec![resume(), stop()]),
        RunState::Interrupted { .. } => ("It is interrupted: its process ended.".to_owned(), vec![resume(), stop()]),
        RunState::Ended { .. } => ("It is over.".to_owned(), Vec::new()),
    };
    Choices { situation, list }
}
