//! The status of a plan in Markdown: what it does, since when, and what is next. Conversations and the command line show
//! the same text.

use jiff::Timestamp;
use planwright_core::choices::{Choice, Choices, WaitingAsk, ask_choices, choices, is_worked_on};
use planwright_core::plan::execution::{StepState, StepStatus};
use planwright_core::plan::waiting::WaitingFor;
use planwright_core::plan::{Execution, Plan, PlanStatus};
use planwright_core::session::Session;
use planwright_core::visible::visible;

use crate::clock::{ago, between, lasted};
use crate::step_counts::StepCounts;

/// The number of steps of one kind that are listed.
const MAX_LISTED: usize = 5;
/// The characters of a step or its note that are shown.
const MAX_CHARACTERS: usize = 240;

/// The line of the plan, and a list about its execution at this moment.
pub fn plan_status(plan: &Plan, now: Timestamp) -> String {
    let Some(execution) = &plan.execution else { return plan_line(plan) };
    let counts = StepCounts::of(execution);
    let mut text = format!("{} {} of {} steps are done", plan_line(plan), counts.done, counts.total);
    let others = StepCounts { not_begun: 0, in_progress: 0, ..counts };
    text.extend(others.not_done().map(|others| format!(", {others}")));
    text.push('.');
    if let Some((position, next)) = next(plan, execution) {
        text.push_str(&format!(" Next: {position}. {}", short(&next.description)));
    }
    let begun = ago(execution.started_at, now);
    text.push_str(&match execution.finished_at {
        None => format!("\n- execution {}, begun {begun}", execution.number),
        Some(at) => {
            let took = lasted(between(execution.started_at, at));
            format!("\n- execution {} ended {}, after {took}", execution.number, ago(at, now))
        }
    });
    for (status, tell) in KINDS {
        let with = || (1..).zip(&execution.steps).filter(|(_, state)| state.status == status);
        text.extend(with().take(MAX_LISTED).map(|(position, state)| format!("\n- {}", tell(position, state, now))));
        let more = with().skip(MAX_LISTED).count();
        if more > 0 {
            text.push_str(&format!("\n- and {more} more of them"));
        }
    }
    text
}

/// The status in one line, and what an execution that waits for a person waits for, or how a draft goes on that the agent left.
pub fn short_status(plan: &Plan) -> String {
    let line = progress_line(plan);
    let is_draft = plan.status == PlanStatus::Collecting && !plan.is_empty();
    let choices = if is_draft { Some(choices_text(&choices(plan, None))) } else { execution_choices(plan) };
    match choices {
        Some(text) => format!("{line}\n\n{text}"),
        None => line,
    }
}

/// One line about the plan as its session stands: while its turn asks a person something, the plan waits for the answer.
pub fn short_status_in(plan: &Plan, session: &Session) -> String {
    let is_executing = plan.status == PlanStatus::Executing;
    match WaitingAsk::about(session, plan).filter(|_| is_executing) {
        Some(waiting) => format!("{}\n\n{}", progress_line(plan), choices_text(&ask_choices(&waiting))),
        None if plan.waiting_for() == Some(WaitingFor::Paused) && is_worked_on(plan, session) => progress_line(plan),
        None => short_status(plan),
    }
}

pub fn progress_line(plan: &Plan) -> String {
    let mut text = plan_line(plan);
    if let Some(execution) = &plan.execution {
        let progress = execution.progress();
        text.push_str(&format!(" {} of {} steps are done.", progress.done, progress.total));
        if let Some(next) = progress.next {
            text.push_str(&format!(" Next: {}. {}", next.step, one_line(&next.description)));
        }
    }
    text
}

/// The choices of a plan whose execution waits for a person.
pub fn execution_choices(plan: &Plan) -> Option<String> {
    let waits = plan.status == PlanStatus::Executing && plan.waits_for_person();
    waits.then(|| choices_text(&choices(plan, None)))
}

/// What something waits for, and what a person can type about it, in Markdown.
pub fn choices_text(choices: &Choices) -> String {
    format!("{}\n\n{}", one_line(&choices.situation), choice_list(&choices.list))
}

pub fn choice_list(list: &[Choice]) -> String {
    let line = |choice: &Choice| format!("- `{}`: {}", choice.command, one_line(&choice.label));
    list.iter().map(line).collect::<Vec<_>>().join("\n")
}

type Tell = fn(usize, &StepState, Timestamp) -> String;

/// The steps that are listed, the most urgent first.
const KINDS: [(StepStatus, Tell); 3] =
    [(StepStatus::InProgress, in_progress), (StepStatus::Uncertain, uncertain), (StepStatus::Failed, failed)];

fn in_progress(position: usize, state: &StepState, now: Timestamp) -> String {
    let since = state.started_at.map_or_else(String::new, |at| format!(" for {}", lasted(between(at, now))));
    format!("step {position} is in progress{since}: {}{}", short(&state.description), known(state))
}

fn uncertain(position: usize, state: &StepState, now: Timestamp) -> String {
    let begun = state.started_at.map_or_else(String::new, |at| format!(", begun {}", ago(at, now)));
    format!("step {position} is uncertain{begun}: {}{}", short(&state.description), known(state))
}

fn failed(position: usize, state: &StepState, now: Timestamp) -> String {
    let when = state.finished_at.map_or_else(String::new, |at| format!(" {}", ago(at, now)));
    format!("step {position} failed{when}: {}{}", short(&state.description), known(state))
}

/// The note and the evidence of a step.
fn known(state: &StepState) -> String {
    let evidence = state.evidence.as_ref().map(|evidence| format!("evidence: {}", short(evidence)));
    let texts = state.note.as_ref().map(|note| short(note)).into_iter().chain(evidence);
    texts.map(|text| format!("; {text}")).collect()
}

/// The step that begins next, or when the plan is resumed.
fn next<'a>(plan: &Plan, execution: &'a Execution) -> Option<(usize, &'a StepState)> {
    let to_do = |status: StepStatus| match plan.status {
        PlanStatus::Executing => status == StepStatus::Pending,
        PlanStatus::PartiallyCompleted => matches!(status, StepStatus::Pending | StepStatus::Failed),
        PlanStatus::Collecting
        | PlanStatus::Ready
        | PlanStatus::Approved
        | PlanStatus::Completed
        | PlanStatus::Rejected
        | PlanStatus::Cancelled
        | PlanStatus::Superseded => false,
    };
    (1..).zip(&execution.steps).find(|(_, state)| to_do(state.status))
}

pub fn plan_line(plan: &Plan) -> String {
    let line = format!("Plan {} is **{}**: {}.", plan.number, plan.status, one_line(&plan.display_title()));
    match &plan.incomplete_approval {
        Some(waiting) => format!("{line} {}.", one_line(&waiting.to_string())),
        None => line,
    }
}

/// The beginning of a text, in one line that no Markdown of its own disturbs.
fn short(text: &str) -> String {
    match text.trim().char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", one_line(text.trim()[..end].trim_end())),
        None => one_line(text.trim()),
    }
}

/// A title in one line that no Markdown of its own disturbs.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in visible(text).replace(['\n', '\t'], " ").chars() {
        if "\\`*_[]<>#|~".contains(c) {
            line.push('\\');
        }
        line.push(c);
    }
    line
}
