//! An approved document: its steps are begun and reported one after another, those of the sample project once they are done, the others
//! with a note that nothing was done.

use serde_json::json;

use crate::rehearsal::plan::{RehearsedPlan, RehearsedProgress};
use crate::rehearsal::sample::{self, StepNext};
use crate::rehearsal::turn_view::TurnView;
use crate::rehearsal::{Next, messages};

const NOTE: &str = "Only rehearsed: nothing was done.";
const EVIDENCE: &str = "None: the rehearsal model changes nothing.";

pub(super) fn next(turn: &TurnView<'_>, plan: &RehearsedPlan) -> Next {
    if !turn.has("plan_progress") {
        return Next::Say(messages::approved());
    }
    let step = match &plan.progress {
        RehearsedProgress::AllDone => return Next::Say(messages::carried_out(turn, &plan.markdown)),
        RehearsedProgress::NotBegun => 1,
        RehearsedProgress::NextIs(step) => *step,
    };
    let step = match turn.made("plan_progress").last().map(|report| RehearsedProgress::read(&report.value())) {
        Some(RehearsedProgress::AllDone) => return Next::Say(messages::carried_out(turn, &plan.markdown)),
        Some(RehearsedProgress::NextIs(step)) => step,
        Some(RehearsedProgress::NotBegun) | None => step,
    };
    let begins = json!({ "step": step, "status": "in_progress" });
    let Some(begun) = turn.calls.iter().rposition(|call| call.name == "plan_progress" && call.given() == begins) else {
        return Next::Call("plan_progress", begins);
    };
    let report = match sample::step(&plan.markdown, step) {
        None => json!({ "step": step, "status": "done", "note": NOTE, "evidence": EVIDENCE }),
        Some(of_sample) => match sample::next(of_sample, turn, &turn.calls[begun + 1..]) {
            StepNext::Call(call) => return call,
            StepNext::Done(evidence) => json!({ "step": step, "status": "done", "evidence": evidence }),
            StepNext::Failed(reason) => json!({ "step": step, "status": "failed", "note": reason }),
        },
    };
    Next::Call("plan_progress", report)
}
