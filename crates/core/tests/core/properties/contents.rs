//! Random plan contents, small enough that two of them are often nearly the same.

use std::collections::BTreeMap;

use planwright_core::ids::StepId;
use planwright_core::plan::PlanContent;
use planwright_core::plan::content::{AgentStep, Built, CallRunner, Collected, Document, RecordedCall};
use proptest::prelude::*;
use serde_json::json;

use crate::world::step;

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "a b", ""]).prop_map(str::to_owned)
}

pub(super) fn any_title() -> impl Strategy<Value = Option<String>> {
    prop::option::of(word())
}

/// Text made of what Markdown gives a meaning to.
pub(super) fn markdown_text() -> impl Strategy<Value = String> {
    let pieces = vec![
        "# ",
        "## ",
        "- ",
        "- [ ] ",
        "- [x] ",
        "1. ",
        "2. ",
        "   ",
        "    ",
        "\n",
        "\n\n",
        "```\n",
        "> ",
        "a",
        "b c",
        "*d*",
        "`e`",
        "<!-- ",
        " -->",
        "|x|y|\n|-|-|\n",
        "\t",
        "[f](g)",
        "[^1]",
        "[^1]: h",
        "\r\n",
        "***\n",
        "<b>",
        "\\",
        "&amp;",
        "\0",
        "é",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..30).prop_map(|pieces| pieces.concat())
}

fn step_id() -> impl Strategy<Value = StepId> {
    (1..4_u8).prop_map(|n| step(&format!("s{n}")))
}

/// Ids are unique in a plan, so what comes later with an id that was there is left out.
fn unique<T>(steps: Vec<T>, id: impl Fn(&T) -> StepId) -> Vec<T> {
    let mut seen = std::collections::BTreeSet::new();
    steps.into_iter().filter(|step| seen.insert(id(step))).collect()
}

fn collected() -> impl Strategy<Value = Collected> {
    let call = (step_id(), word(), 0..2_i32).prop_map(|(id, tool, n)| RecordedCall {
        id,
        tool,
        arguments: json!({ "n": n }),
        description: None,
        runner: CallRunner::Planwright,
    });
    let steps = prop::collection::vec(call, 0..4).prop_map(|steps| unique(steps, |step| step.id.clone()));
    (any_title(), steps).prop_map(|(summary, steps)| Collected { summary, steps: steps.into() })
}

fn built() -> impl Strategy<Value = Built> {
    let list = || prop::collection::vec(word(), 0..3);
    let step = (step_id(), word(), word(), any_title(), any::<bool>()).prop_map(
        |(id, description, agent, verification, needs)| {
            // What a step needs is filled in below, where the steps before it are known.
            let needs = if needs { vec![id.clone()] } else { Vec::new() };
            let commands = verification.clone().into_iter().collect();
            AgentStep { id, description, agent, needs, verification, commands }
        },
    );
    let steps = prop::collection::vec(step, 0..4).prop_map(|steps| {
        let mut steps = unique(steps, |step| step.id.clone());
        for index in 0..steps.len() {
            let before = index.checked_sub(1).map(|before| steps[before].id.clone());
            steps[index].needs = if steps[index].needs.is_empty() { Vec::new() } else { before.into_iter().collect() };
        }
        steps
    });
    (any_title(), any_title(), list(), list(), list(), list(), steps).prop_map(
        |(goal, summary, assumptions, risks, verification, files, steps)| Built {
            goal,
            summary,
            assumptions,
            risks,
            verification,
            files,
            steps: steps.into(),
        },
    )
}

pub(super) fn any_content() -> impl Strategy<Value = PlanContent> {
    prop_oneof![
        prop_oneof![word(), markdown_text()].prop_map(|markdown| PlanContent::Document(Document { markdown })),
        collected().prop_map(PlanContent::Collect),
        built().prop_map(PlanContent::Build),
    ]
}

/// Reverses every list of a content.
pub(super) fn reversed(content: &PlanContent) -> PlanContent {
    let mut content = content.clone();
    match &mut content {
        PlanContent::Document(document) => {
            document.markdown = document.markdown.lines().rev().collect::<Vec<_>>().join("\n")
        }
        PlanContent::Collect(collected) => collected.steps.reverse(),
        PlanContent::Build(built) => {
            built.steps.reverse();
            for list in [&mut built.assumptions, &mut built.risks, &mut built.verification, &mut built.files] {
                list.reverse();
            }
        }
    }
    content
}

/// Names every id after the step's position: what is left is what a person sees.
pub(super) fn position_ids(content: &PlanContent) -> PlanContent {
    let names = |ids: Vec<&StepId>| -> BTreeMap<StepId, StepId> {
        ids.into_iter().enumerate().map(|(index, id)| (id.clone(), step(&format!("p{index}")))).collect()
    };
    let mut content = content.clone();
    match &mut content {
        PlanContent::Document(_) => {}
        PlanContent::Collect(collected) => {
            let named = names(collected.steps.iter().map(|step| &step.id).collect());
            collected.steps.iter_mut().for_each(|step| step.id = named[&step.id].clone());
        }
        PlanContent::Build(built) => {
            let named = names(built.steps.iter().map(|step| &step.id).collect());
            for step in built.steps.iter_mut() {
                step.id = named[&step.id].clone();
                step.needs = step.needs.iter().map(|need| named[need].clone()).collect();
            }
        }
    }
    content
}
