//! Style document: one Markdown text, and after its approval the reports on its steps.

use serde_json::json;

use crate::rehearsal::draft::{DRAFTED_HERE, Draft, revised};
use crate::rehearsal::intent::Intent;
use crate::rehearsal::plan::{RehearsedPhase, RehearsedPlan};
use crate::rehearsal::turn_view::TurnView;
use crate::rehearsal::{Next, messages, progress, sample};

pub(super) fn next(turn: &TurnView<'_>, plan: &RehearsedPlan) -> Next {
    let intent = Intent::of(turn.text);
    match plan.phase {
        RehearsedPhase::Drafting => write(turn, plan, plan.feedback.as_deref()),
        RehearsedPhase::Waiting => match (&plan.feedback, intent) {
            (Some(feedback), _) => write(turn, plan, Some(feedback)),
            (None, Intent::Change | Intent::Task) => write(turn, plan, Some(turn.text)),
            (None, Intent::GoAhead | Intent::Ask) => Next::Say(messages::waiting()),
        },
        RehearsedPhase::Approved => match intent {
            Intent::Change => write(turn, plan, Some(turn.text)),
            Intent::Ask => Next::Say(messages::approved()),
            Intent::GoAhead | Intent::Task if plan.markdown.contains(DRAFTED_HERE) => progress::next(turn, plan),
            Intent::GoAhead | Intent::Task => Next::Say(messages::not_drafted_here()),
        },
        RehearsedPhase::LeftOpen => Next::Say(messages::left_open()),
        RehearsedPhase::Over(status) => Next::Say(messages::over(status)),
    }
}

fn write(turn: &TurnView<'_>, plan: &RehearsedPlan, feedback: Option<&str>) -> Next {
    let drafted = || sample::markdown(turn.text).unwrap_or_else(|| Draft::from_text(turn.text).markdown());
    let markdown = match feedback {
        Some(feedback) if plan.markdown.is_empty() => revised(&drafted(), feedback),
        Some(feedback) => revised(&plan.markdown, feedback),
        None => drafted(),
    };
    Next::Call("plan_set_content", json!({ "plan_markdown": markdown }))
}
