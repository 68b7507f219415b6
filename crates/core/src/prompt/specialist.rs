//! What a specialist is told: who it is, and what it is to do now. It sees nothing of the conversation with the person.

use crate::agents::Specialist;
use crate::ids::StepId;
use crate::plan::Plan;
use crate::plan::content::{AgentStep, PlanContent};
use crate::plan::execution::{Attempt, StepState, StepStatus};
use crate::visible::visible;

/// How much of an outcome is told.
const MAX_OUTCOME_CHARACTERS: usize = 1_500;
/// How much of another step's description is told, and of how many steps around this one.
const DESCRIBED: usize = 200;
const BEFORE: usize = 20;
const BEHIND: usize = 10;
/// Of how many steps before this one, besides those it needs, the outcome is told as well.
const MAX_OUTCOMES: usize = 5;

/// The system prompt of a specialist who does a step.
pub fn doing(specialist: &Specialist) -> String {
    framed(include_str!("step.md"), specialist)
}

/// The system prompt of a specialist who is asked.
pub fn asked(specialist: &Specialist) -> String {
    framed(include_str!("question.md"), specialist)
}

fn framed(frame: &str, specialist: &Specialist) -> String {
    format!("{}\n\n# You are the {}\n\n{}\n", frame.trim_end(), specialist.name, specialist.prompt.trim())
}

/// A question of the planner's, with what this specialist was asked and answered before.
pub fn question(plan: &Plan, question: &str, earlier: &[(String, String)]) -> String {
    let mut text = format!("[Question from the planner about plan {}: {}]\n", plan.number, line(&plan.display_title()));
    for (asked, answered) in earlier {
        let (asked, answered) =
            (quote(beginning(asked, MAX_OUTCOME_CHARACTERS)), quote(beginning(answered, MAX_OUTCOME_CHARACTERS)));
        text.push_str(&format!("\nYou were asked before:\n{asked}\nYou answered:\n{answered}\n"));
    }
    text.push_str(&format!("\n{}", visible(question.trim())));
    text
}

/// A step of a plan for the specialist who does it: the goal, the step, the outcomes so far, and earlier attempts.
pub fn step(plan: &Plan, step: &AgentStep, states: &[StepState]) -> String {
    let position = states.iter().position(|state| state.step == step.id).map_or(0, |index| index + 1);
    let mut text = format!(
        "[Step {position} of {} of plan {}: {}]\n\nThe person approved this plan. Do step {position} now:\n{}\n",
        states.len(),
        plan.number,
        line(&plan.display_title()),
        quote(&step.description)
    );
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            text.push_str(&format!("\n{title}:\n{body}\n"));
        }
    };
    section("It is verified by", step.verification.as_deref().map(quote).unwrap_or_default());
    let commands = step.commands.iter().map(|command| quote(command)).collect::<Vec<_>>().join("\n");
    section("Commands that the person approved, exactly as they stand", commands);
    if let PlanContent::Build(built) = &plan.content {
        section("The goal of the whole plan", built.goal.as_deref().map(quote).unwrap_or_default());
        section("Assumptions", list(&built.assumptions));
        section("Risks", list(&built.risks));
        section("The whole is verified by", list(&built.verification));
        section("Files it is about", list(&built.files));
    }
    let note = plan.approval.as_ref().and_then(|approval| approval.note.as_deref());
    section("The person's note with the approval", note.map(quote).unwrap_or_default());
    section("The other steps and their outcomes so far", outcomes(states, position, &step.needs));
    let attempts =
        states.iter().find(|state| state.step == step.id).map(|state| state.attempts.as_slice()).unwrap_or_default();
    section("Earlier attempts at this step, the latest last", tried(attempts));
    text
}

/// What is around the step, and what it needs: a plan may have hundreds of steps.
fn outcomes(states: &[StepState], own: usize, needs: &[StepId]) -> String {
    let others = || states.iter().zip(1..).filter(|(_, position)| *position != own);
    let needed = |state: &StepState| needs.contains(&state.step);
    let near = |position: usize| position + BEFORE >= own && position <= own + BEHIND;
    let told = others().filter(|(state, position)| needed(state) || near(*position));
    let mut lines: Vec<_> = told
        .map(|(state, position)| {
            let with_outcome = needed(state) || (position < own && position + MAX_OUTCOMES >= own);
            let note = state.note.as_deref().filter(|_| state.status.is_settled() && with_outcome);
            let note =
                note.map_or_else(String::new, |note| format!("\n{}", quote(beginning(note, MAX_OUTCOME_CHARACTERS))));
            format!("{position}. {}: {}{note}", word(state.status), line(beginning(&state.description, DESCRIBED)))
        })
        .collect();
    let left_out = others().count() - lines.len();
    if left_out > 0 {
        lines.push(format!("({left_out} other steps are not told here.)"));
    }
    lines.join("\n")
}

fn tried(attempts: &[Attempt]) -> String {
    let lines = attempts.iter().map(|attempt| {
        let note = attempt
            .note
            .as_deref()
            .map_or_else(String::new, |note| format!("\n{}", quote(beginning(note, MAX_OUTCOME_CHARACTERS))));
        format!("- {}{note}", word(attempt.status))
    });
    lines.collect::<Vec<_>>().join("\n")
}

const fn word(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "to be done",
        StepStatus::InProgress => "in progress",
        StepStatus::Completed => "done",
        StepStatus::Failed => "failed",
        StepStatus::Skipped => "skipped",
        StepStatus::Uncertain => "its result is unknown",
    }
}

/// What makes the agent in the conversation carry out a document that was just approved.
pub fn approved_document(plan: &Plan) -> String {
    let note = plan.approval.as_ref().and_then(|approval| approval.note.as_deref());
    let note = note.map_or_else(String::new, |note| format!(" Their note:\n{}", quote(note)));
    format!("[Plan {} was approved.] {DOCUMENT}{note}", plan.number)
}

/// The text that continues a document whose turn ended with open steps; it names them.
pub fn open_document(plan: &Plan) -> String {
    let steps = plan.execution.as_ref().map(|execution| execution.steps.as_slice()).unwrap_or_default();
    let mut open = (1..).zip(steps).filter(|(_, state)| !state.status.is_settled());
    let named: Vec<_> =
        open.by_ref().take(MAX_OPEN_STEPS).map(|(at, state)| format!("{at}. {}", line(&state.description))).collect();
    let more = match open.count() {
        0 => String::new(),
        more => format!("\n… and {more} more"),
    };
    let open = if named.is_empty() { String::new() } else { format!(" Open steps:\n{}{more}", named.join("\n")) };
    format!("[Go on with plan {}.] {DOCUMENT}{open}", plan.number)
}

/// How many open steps a reminder names.
const MAX_OPEN_STEPS: usize = 10;

const DOCUMENT: &str = "Carry it out: read it with `plan_get`, work through its open steps in order, and report each one \
    with `plan_progress` when you begin it and when it is done, failed or skipped. When every step has its outcome, \
    tell the person in a few words how it went.";

fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {}", line(item))).collect::<Vec<_>>().join("\n")
}

fn line(text: &str) -> String {
    visible(text).replace(['\n', '\t'], " ")
}

fn quote(text: &str) -> String {
    visible(text.trim()).lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

fn beginning(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
