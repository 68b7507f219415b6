//! Style build: a draft is put together call by call, with a specialist for every step, and submitted. One specialist is
//! asked before.

use planwright_core::agents::AgentRegistry;
use planwright_core::visible::visible;
use serde_json::{Value, json};

use crate::rehearsal::draft::{Draft, StepKind, change, one_line, shortened};
use crate::rehearsal::intent::Intent;
use crate::rehearsal::plan::{RehearsedPhase, RehearsedPlan};
use crate::rehearsal::turn_view::TurnView;
use crate::rehearsal::{Next, messages};

pub(super) fn next(turn: &TurnView<'_>, plan: &RehearsedPlan) -> Next {
    // Without having asked, or with, the calls that build the draft are the same ones in the same order.
    let made = turn.calls.iter().filter(|call| !["plan_get", "ask_agent"].contains(&call.name)).count();
    let calls = match (plan.phase, Intent::of(turn.text)) {
        (RehearsedPhase::Drafting, _) if plan.has_steps => changed(turn, plan),
        (RehearsedPhase::Drafting, _) | (RehearsedPhase::Waiting, Intent::Task) => match question(turn) {
            Some(question) if made == 0 => return Next::Call("ask_agent", question),
            Some(_) | None => new(turn, plan),
        },
        (RehearsedPhase::Waiting, Intent::Change) => return Next::Say(messages::frozen()),
        (RehearsedPhase::Waiting, Intent::GoAhead | Intent::Ask) => return Next::Say(messages::waiting()),
        (RehearsedPhase::Approved, _) => return Next::Say(messages::approved()),
        (RehearsedPhase::LeftOpen, _) => return Next::Say(messages::left_open()),
        (RehearsedPhase::Over(status), _) => return Next::Say(messages::over(status)),
    };
    calls
        .into_iter()
        .nth(made)
        .map_or_else(|| Next::Say(messages::enough(made)), |(tool, given)| Next::Call(tool, given))
}

const ANSWER_CHARACTERS: usize = 160;

type Calls = Vec<(&'static str, Value)>;

fn new(turn: &TurnView<'_>, plan: &RehearsedPlan) -> Calls {
    let draft = Draft::from_text(turn.text);
    let agents = agents(turn);
    let mut calls: Calls = vec![
        ("plan_create_draft", json!({ "goal": draft.title, "title": draft.title })),
        ("plan_set_metadata", metadata(answer(turn))),
    ];
    // Each step builds on the one before it, whose id is in the answer to the call that added it.
    let added: Vec<_> = turn.made("plan_add_step").map(|call| call.value()["step_id"].clone()).collect();
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
fn changed(turn: &TurnView<'_>, plan: &RehearsedPlan) -> Calls {
    let feedback = plan.feedback.as_deref().unwrap_or(turn.text);
    let mut calls: Calls = Vec::new();
    if plan.incomplete {
        calls.push(("plan_set_metadata", metadata(None)));
    }
    calls.push(asked_for(&agents(turn), feedback));
    calls.push(("plan_submit", json!({ "summary": change(feedback) })));
    calls
}

fn asked_for(agents: &[String], feedback: &str) -> (&'static str, Value) {
    ("plan_add_step", json!({ "description": change(feedback), "agent": fit(agents, StepKind::Work) }))
}

/// One question to one specialist, if there is a way to ask and it was not asked yet.
fn question(turn: &TurnView<'_>) -> Option<Value> {
    if !turn.has("ask_agent") || turn.made("ask_agent").next().is_some() {
        return None;
    }
    let title = Draft::from_text(turn.text).title;
    let question = format!("What exists already for “{title}”, and what speaks against it?");
    Some(json!({ "agent": fit(&agents(turn), StepKind::Look), "question": question }))
}

/// The specialist's answer, as an assumption. The draft continues whether the specialist could answer or not.
fn answer(turn: &TurnView<'_>) -> Option<String> {
    let asked = turn.made("ask_agent").last()?;
    let given = asked.given();
    let agent = given["agent"].as_str().unwrap_or("specialist");
    let short = |text: &str| shortened(&one_line(&visible(text)), ANSWER_CHARACTERS);
    if asked.failed {
        return Some(format!("The {agent} could not be asked: {}", short(&asked.reason())));
    }
    let value = asked.value();
    let text = short(value["answer"].as_str().unwrap_or(asked.text));
    Some(if text.is_empty() { format!("The {agent} had no answer") } else { format!("The {agent} says: “{text}”") })
}

fn metadata(answer: Option<String>) -> Value {
    let assumptions: Vec<_> = ["The request says all that is needed".to_owned()].into_iter().chain(answer).collect();
    json!({
        "assumptions": assumptions,
        "risks": ["This is a rehearsal: the steps were not thought about"],
        "verification": ["The result does what was asked for"],
        "files": ["unknown before someone has looked"],
    })
}

/// The agents a step can be given to: from the schema, else from the description of the tool, else the default ones.
fn agents(turn: &TurnView<'_>) -> Vec<String> {
    let Some(tool) = turn.tool("plan_add_step") else { return default_agents() };
    let listed = tool.input_schema["properties"]["agent"]["enum"].as_array();
    let listed: Vec<_> = listed.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    if !listed.is_empty() {
        return listed;
    }
    let described = tool.description.split_once("Agents:").map(|(_, names)| names.lines().next().unwrap_or(names));
    let names = described.unwrap_or_default().trim().trim_end_matches('.').split(',').map(str::trim);
    let names: Vec<_> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if names.is_empty() { default_agents() } else { names }
}

fn default_agents() -> Vec<String> {
    AgentRegistry::default().specialists().iter().map(|each| each.name.clone()).collect()
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
