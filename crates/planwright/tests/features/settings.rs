//! Sentences about the configuration. A change of it holds from the next start on, so Planwright is started anew.

use std::time::Duration;

use cucumber::{given, when};
use planwright_core::agents::{AgentRegistry, Specialist};
use planwright_core::policy::{OnFailure, StandingApproval};

use crate::world::World;

#[given("a plan continues after a step that failed")]
async fn goes_on(world: &mut World) {
    world.policy.on_failure = OnFailure::GoOn;
    world.restart().await;
}

#[given("plans that only read are approved by a rule")]
async fn rule(world: &mut World) {
    world.policy.standing_approval = StandingApproval::ReadOnly;
    world.restart().await;
}

#[given(expr = "a tool may take {int} milliseconds")]
async fn tool_time(world: &mut World, milliseconds: u64) {
    world.policy.turn.tool_time = Duration::from_millis(milliseconds);
    world.restart().await;
}

#[given(expr = "the agents are {string}")]
#[when(expr = "the agents are changed to {string}")]
async fn agents(world: &mut World, names: String) {
    let specialists = names.split(", ").map(Specialist::named);
    world.policy.agents = AgentRegistry::new(specialists).expect("agents");
    world.restart().await;
}
