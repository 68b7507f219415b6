//! Style build: a draft is put together call by call, with a specialist for every step, and submitted.

use planwright_core::agents::AgentRegistry;
use serde_json::{Value, json};

use crate::rehearsal::draft::{Draft, StepKind, change};
use crate::rehearsal::plan::{Phase, SeenPlan};
use crate::rehearsal::scene::Scene;
use crate::rehearsal::wish::Wish;
use crate::rehearsal::{Next, say};

pub(super) fn next(scene: &Scene<'_>, plan: &SeenPlan) -> Next {
    let calls = match (plan.phase, Wish::of(scene.words)) {
        (Phase::Drafting, _) if plan.has_steps => changed(scene, plan),
        (Phase::Drafting, _) | (Phase::Waiting, Wish::Task) => new(scene, plan),
        (Phase::Waiting, Wish::Change) => return Next::Say(say::frozen()),
        (Phase::Waiting, Wish::GoOn | Wish::Ask) => return Next::Say(say::waiting()),
        (Phase::Approved, _) => return Next::Say(say::approved()),
        (Phase::LeftOpen, _) => return Next::Say(say::left_open()),
        (Phase::Over(status), _) => return Next::Say(say::over(status)),
    };
    let made = scene.calls.iter().filter(|call| call.name != "plan_get").count();
    calls.into_iter().nth(made).map_or_else(|| Next::Say(say::enough(made)), |(tool, given)| Next::Call(tool, given))
}

type Calls = Vec<(&'static str, Value)>;

fn new(scene: &Scene<'_>, plan: &SeenPlan) -> Calls {
    let draft = Draft::from_words(scene.words);
    let agents = agents(scene);
    let mut calls: Calls = vec![
        ("plan_create_draft", json!({ "goal": draft.title, "title": draft.title })),
        ("plan_set_metadata", metadata()),
    ];
    // Each step builds on the one before it, whose id is in the answer to the call that added it.
    let added: Vec<_> = scene.made("plan_add_step").map(|call| call.value()["step_id"].clone()).collect();
    for (index, step) in draft.steps.iter().enumerate() {
        let mut given = json!({ "description": step.text, "agent": fit(&agents, step.kind) });
        if let Some(id) = index.checked_sub(1).and_then(|before| added.get(before)).filter(|id| id.is_string()) {
            given["needs"] = json!([id]);
        }
        calls.push(("plan_add_step", given));
    }
    if let Some(feedback) = &plan.feedback {
        calls.push(asked_for(&agents, feedback));
    }
    calls.push(("plan_submit", json!({ "summary": format!("Rehearsal of: {}", draft.title) })));
    calls
}

/// A draft that has steps already is one that a person wants changed, or that was left half-way.
fn changed(scene: &Scene<'_>, plan: &SeenPlan) -> Calls {
    let feedback = plan.feedback.as_deref().unwrap_or(scene.words);
    let mut calls: Calls = Vec::new();
    if plan.incomplete {
        calls.push(("plan_set_metadata", metadata()));
    }
    calls.push(asked_for(&agents(scene), feedback));
    calls.push(("plan_submit", json!({ "summary": change(feedback) })));
    calls
}

fn asked_for(agents: &[String], feedback: &str) -> (&'static str, Value) {
    ("plan_add_step", json!({ "description": change(feedback), "agent": fit(agents, StepKind::Work) }))
}

fn metadata() -> Value {
    json!({
        "assumptions": ["The request says all that is needed"],
        "risks": ["This is a rehearsal: the steps were not thought about"],
        "verification": ["The result does what was asked for"],
        "files": ["unknown before someone has looked"],
    })
}

/// The agents a step can be given to: from the schema, else from the description of the tool, else the usual ones.
fn agents(scene: &Scene<'_>) -> Vec<String> {
    let Some(tool) = scene.tool("plan_add_step") else { return usual() };
    let listed = tool.input_schema["properties"]["agent"]["enum"].as_array();
    let listed: Vec<_> = listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    if !listed.is_empty() {
        return listed;
    }
    let described = tool.description.split_once("Agents:").map(|(_, names)| names.lines().next().unwrap_or(names));
    let names = described.unwrap_or_default().trim().trim_end_matches('.').split(',').map(str::trim);
    let names: Vec<_> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if names.is_empty() { usual() } else { names }
}

fn usual() -> Vec<String> {
    AgentRegistry::default().specialists().to_vec()
}

fn fit(agents: &[String], kind: StepKind) -> String {
    let wanted: &[&str] = match kind {
        StepKind::Look => &["researcher", "architect"],
        StepKind::Work => &["coder", "writer"],
        StepKind::Check => &["tester", "reviewer"],
    };
    let fitting = wanted.iter().find_map(|name| agents.iter().find(|agent| agent == name));
    fitting.or_else(|| agents.first()).cloned().unwrap_or_default()
}
