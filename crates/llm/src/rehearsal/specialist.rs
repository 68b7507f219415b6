//! The rehearsal as a specialist: one step of an approved plan, or an answer to a question.

use planwright_core::prompt::SUMMARIZE;
use planwright_core::visible::visible;
use serde_json::{Value, json};

use crate::rehearsal::draft::{one_line, shortened};
use crate::rehearsal::opening::Opening;
use crate::rehearsal::turn_view::TurnView;
use crate::rehearsal::{Next, Style, messages};

const STEP_CHARACTERS: usize = 300;

/// `None` in the conversation with the person.
pub(super) fn if_specialist(turn: &TurnView<'_>) -> Option<Next> {
    let to_be_summarised = turn.request.system == SUMMARIZE;
    if to_be_summarised || Style::advertised(turn).is_some() {
        return None;
    }
    match Opening::of(turn.opening)? {
        Opening::Plan => None,
        Opening::Question(question) => Some(Next::Say(messages::to_the_planner(question))),
        Opening::Step { step, plan, rest } => {
            // After its report, a specialist may no longer have the tool.
            let reports = turn.has("plan_progress") || turn.made("plan_progress").next().is_some();
            reports.then(|| work(turn, step, plan, rest))
        }
    }
}

/// A note in a file stands for the work; then comes the report.
fn work(turn: &TurnView<'_>, step: u64, plan: u64, text: &str) -> Next {
    if let Some(report) = turn.made("plan_progress").last() {
        return Next::Say(if report.failed { messages::refused(report) } else { messages::stepped(step, plan) });
    }
    let path = format!("rehearsal-plan-{plan}-step-{step}.md");
    match turn.made("write_file").last() {
        None if turn.has("write_file") => {
            Next::Call("write_file", json!({ "path": path, "content": note(step, plan, text) }))
        }
        None => {
            report(turn, step, "done", "Only rehearsed: nothing was done.", "None: there is no tool to write with.")
        }
        Some(written) if written.failed => {
            let reason = shortened(&one_line(&visible(&written.reason())), STEP_CHARACTERS);
            report(turn, step, "failed", "Only rehearsed, and the note about it could not be written.", &reason)
        }
        Some(_) => report(turn, step, "done", "Only rehearsed: a note stands for the work.", &path),
    }
}

fn report(turn: &TurnView<'_>, step: u64, status: &str, note: &str, evidence: &str) -> Next {
    let mut given = json!({ "status": status, "note": note, "evidence": evidence });
    let required = turn.tool("plan_progress").and_then(|tool| tool.input_schema["required"].as_array());
    // Which step it is about is known where the step was handed out, unless it has to be said.
    if required.is_some_and(|names| names.contains(&Value::from("step"))) {
        given["step"] = json!(step);
    }
    Next::Call("plan_progress", given)
}

fn note(step: u64, plan: u64, text: &str) -> String {
    let text = shortened(&one_line(&visible(text)), STEP_CHARACTERS);
    let quoted = if text.is_empty() { String::new() } else { format!("\n> {text}\n") };
    format!("# Step {step} of plan {plan}\n{quoted}\nA note by the rehearsal model, which stands for the work.\n")
}
