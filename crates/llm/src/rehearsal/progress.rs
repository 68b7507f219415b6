//! An approved document: its steps are begun and reported one after another, each with a note that nothing was really
//! done.

use serde_json::json;

use crate::rehearsal::plan::{RehearsedPlan, RehearsedProgress};
use crate::rehearsal::turn_view::TurnView;
use crate::rehearsal::{Next, messages};

const NOTE: &str = "Only rehearsed: nothing was done.";
const EVIDENCE: &str = "None: the rehearsal model changes nothing.";

pub(super) fn next(turn: &TurnView<'_>, plan: &RehearsedPlan) -> Next {
    if !turn.has("plan_progress") {
        return Next::Say(messages::approved());
    }
    let step = match &plan.progress {
        RehearsedProgress::AllDone => return Next::Say(messages::rehearsed()),
        RehearsedProgress::NotBegun => 1,
        RehearsedProgress::NextIs(step) => *step,
    };
    let step = match turn.made("plan_progress").last().map(|report| RehearsedProgress::read(&report.value())) {
        Some(RehearsedProgress::AllDone) => return Next::Say(messages::rehearsed()),
        Some(RehearsedProgress::NextIs(step)) => step,
        Some(RehearsedProgress::NotBegun) | None => step,
    };
    let begins = json!({ "step": step, "status": "in_progress" });
    if turn.made("plan_progress").any(|report| report.given() == begins) {
        Next::Call("plan_progress", json!({ "step": step, "status": "done", "note": NOTE, "evidence": EVIDENCE }))
    } else {
        Next::Call("plan_progress", begins)
    }
}
