//! Style document: one Markdown text, and after its approval the reports on its steps.

use serde_json::json;

use crate::rehearsal::draft::{Draft, revised};
use crate::rehearsal::plan::{Phase, SeenPlan};
use crate::rehearsal::scene::Scene;
use crate::rehearsal::wish::Wish;
use crate::rehearsal::{Next, carry_out, say};

pub(super) fn next(scene: &Scene<'_>, plan: &SeenPlan) -> Next {
    let wish = Wish::of(scene.words);
    match plan.phase {
        Phase::Drafting => write(scene, plan, plan.feedback.as_deref()),
        Phase::Waiting => match (&plan.feedback, wish) {
            (Some(feedback), _) => write(scene, plan, Some(feedback)),
            (None, Wish::Change | Wish::Task) => write(scene, plan, Some(scene.words)),
            (None, Wish::GoOn | Wish::Ask) => Next::Say(say::waiting()),
        },
        Phase::Approved => match wish {
            Wish::Change => write(scene, plan, Some(scene.words)),
            Wish::Ask => Next::Say(say::approved()),
            Wish::GoOn | Wish::Task => carry_out::next(scene, plan),
        },
        Phase::LeftOpen => Next::Say(say::left_open()),
        Phase::Over(status) => Next::Say(say::over(status)),
    }
}

fn write(scene: &Scene<'_>, plan: &SeenPlan, feedback: Option<&str>) -> Next {
    let markdown = match feedback {
        Some(feedback) if plan.markdown.is_empty() => revised(&Draft::from_words(scene.words).markdown(), feedback),
        Some(feedback) => revised(&plan.markdown, feedback),
        None => Draft::from_words(scene.words).markdown(),
    };
    Next::Call("plan_set_content", json!({ "plan_markdown": markdown }))
}
