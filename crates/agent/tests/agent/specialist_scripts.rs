//! Plans that specialists work on: a model with a script for each of them, and proposals that name them.

use planwright_core::event::Event;
use planwright_core::model::ModelRequest;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::{StepState, StepStatus};
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::json;

use crate::world::World;

/// A model with a script for the conversation and one for each specialist: `coder` while the coder does a step,
/// `asked coder` while it is asked a question.
pub(crate) fn staffed() -> ScriptedModel {
    ScriptedModel::labelled(label)
}

fn label(request: &ModelRequest) -> String {
    let name = request.system.split_once("# You are the ").and_then(|(_, rest)| rest.lines().next());
    match name {
        Some(name) if request.system.contains("asks you a question") => format!("asked {name}"),
        Some(name) => name.to_owned(),
        None => String::new(),
    }
}

/// A step of a proposal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) description: &'static str,
    pub(crate) agent: &'static str,
    /// Positions from 1.
    pub(crate) needs: &'static [usize],
    pub(crate) verification: Option<&'static str>,
}

pub(crate) const fn step(description: &'static str, agent: &'static str, needs: &'static [usize]) -> Step {
    Step { description, agent, needs, verification: None }
}

/// What the planner says to propose these steps.
fn proposal(steps: &[Step]) -> Vec<Reply> {
    let draft = Reply::call("plan_create_draft", json!({"goal": "Open the shop", "title": "Shop"})).and_call(
        "plan_set_metadata",
        json!({"assumptions": ["There is a till."], "risks": ["It may rain."], "verification": ["A sale is made."], "files": ["till.txt"]}),
    );
    let draft = steps.iter().fold(draft, |reply, step| {
        let needs: Vec<_> = step.needs.iter().map(|position| format!("s{position}")).collect();
        let verification = step.verification.map_or_else(|| json!(null), |text| json!(text));
        let mut arguments = json!({"description": step.description, "agent": step.agent, "needs": needs});
        if !verification.is_null() {
            arguments["verification"] = verification;
        }
        reply.and_call("plan_add_step", arguments)
    });
    vec![draft, Reply::call("plan_submit", json!({}))]
}

/// A conversation in which a plan of these steps waits for the person, who said a word that no specialist may read.
pub(crate) async fn proposed(steps: &[Step], change: impl FnOnce(&mut AgentSetup)) -> World {
    let world = World::with(staffed().script("", proposal(steps)), change).await;
    world.send("/plan on build").await;
    world.say("Plan the shop, my secret is xyzzy").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    world
}

/// What a specialist answers, one request after another.
pub(crate) fn scripted(world: &World, label: &str, replies: impl IntoIterator<Item = Reply>) {
    let _ = world.model.clone().script(label, replies);
}

/// A specialist's report on its step.
pub(crate) fn reported(status: &str, note: &str) -> Reply {
    Reply::call("plan_progress", json!({"status": status, "note": note}))
}

pub(crate) async fn runs(world: &World, number: u32) -> Vec<StepState> {
    world.plan(number).await.execution.map_or_else(Vec::new, |execution| execution.steps)
}

pub(crate) async fn run_statuses(world: &World, number: u32) -> Vec<StepStatus> {
    runs(world, number).await.iter().map(|run| run.status).collect()
}

/// The first message of a request: what a specialist is told.
pub(crate) fn told(request: &ModelRequest) -> String {
    crate::world::script(request).first().cloned().unwrap_or_default()
}

/// The names of what happened since an event with this name happened first.
pub(crate) fn names_since(events: &[Event], name: &str) -> Vec<&'static str> {
    let names: Vec<_> = events.iter().map(Event::name).collect();
    let from = names.iter().position(|found| *found == name).unwrap_or(names.len());
    names[from..].to_vec()
}
