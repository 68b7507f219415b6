//! The texts of the rehearsal model. Each says what it is and how to choose a real one.

use planwright_core::plan::PlanStatus;
use planwright_core::visible::visible;

use crate::rehearsal::draft::{one_line, shortened};
use crate::rehearsal::plan::{RehearsedPlan, RehearsedProgress};
use crate::rehearsal::sample;
use crate::rehearsal::turn_view::{MadeCall, TurnView};

const REASON_CHARACTERS: usize = 600;
const QUESTION_CHARACTERS: usize = 80;

fn signed(text: &str) -> String {
    format!("{}\n\n{}", text.trim_end(), include_str!("texts/signature.md").trim_end())
}

/// The text after a call that ended the turn, successfully or not.
pub(super) fn at_the_end(turn: &TurnView<'_>) -> Option<String> {
    let last = turn.last()?;
    match last.name {
        // A plan that cannot be read may not exist yet; drafting one shows that.
        "plan_get" => None,
        _ if last.failed && last.is_about_plans() => Some(refused(last)),
        "plan_set_content" | "plan_submit" => Some(signed(include_str!("texts/ready.md"))),
        "plan_finalize" => Some(signed(include_str!("texts/collected.md"))),
        "plan_progress" if RehearsedProgress::read(&last.value()) == RehearsedProgress::AllDone => {
            Some(carried_out(turn, &RehearsedPlan::of(turn).markdown))
        }
        _ => None,
    }
}

pub(super) fn about(turn: &TurnView<'_>) -> String {
    match turn.last() {
        Some(last) if last.failed => refused(last),
        Some(_) | None => signed(include_str!("texts/about.md")),
    }
}

pub(super) fn refused(call: &MadeCall<'_>) -> String {
    let reason = call.reason();
    let reason = shortened(&visible(&reason), REASON_CHARACTERS);
    signed(&format!("I stop here, because `{}` was not carried out: {reason}", visible(call.name)))
}

pub(super) fn enough(calls: usize) -> String {
    signed(&format!("I stop here after {calls} calls. Say `go on` and I go on."))
}

pub(super) fn waiting() -> String {
    signed(include_str!("texts/waiting.md"))
}

pub(super) fn frozen() -> String {
    signed(include_str!("texts/frozen.md"))
}

pub(super) fn approved() -> String {
    signed("The plan is approved; `/plan status` tells how far it has come.")
}

/// An approved document of another agent.
pub(super) fn not_drafted_here() -> String {
    signed(include_str!("texts/not_drafted_here.md"))
}

/// What is said once every step of a document is reported.
pub(super) fn carried_out(turn: &TurnView<'_>, markdown: &str) -> String {
    let failed = turn.made("plan_progress").any(|report| report.given()["status"] == "failed");
    signed(match sample::is_in(markdown) {
        true if failed => "A step of the sample project failed; `/plan show` says why.",
        true => include_str!("texts/sample.md"),
        false => include_str!("texts/rehearsed.md"),
    })
}

/// A specialist's last words about its step.
pub(super) fn stepped(step: u64, plan: u64) -> String {
    signed(&format!("Step {step} of plan {plan} is reported. It was only rehearsed: nothing of it was carried out."))
}

/// A specialist's answer, short enough to be quoted.
pub(super) fn to_the_planner(question: &str) -> String {
    let question = shortened(&one_line(&visible(question)), QUESTION_CHARACTERS);
    let about = if question.is_empty() { String::new() } else { format!(" about “{question}”") };
    format!("Nothing is known{about} that speaks against the plan. I am the rehearsal model and looked at nothing.")
}

pub(super) fn nothing_to_call() -> String {
    signed(include_str!("texts/nothing_to_call.md"))
}

pub(super) fn left_open() -> String {
    signed("The plan ended with steps left open. `/plan resume` continues it, `/plan cancel` ends it.")
}

pub(super) fn over(status: PlanStatus) -> String {
    signed(&format!("This plan is {}. Begin the next one with `/plan on`.", status.as_str()))
}
