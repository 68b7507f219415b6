//! Sentences about specialists that are asked.

use cucumber::then;
use planwright_core::model::{ModelMessage, ModelRequest};

use crate::world::World;

/// What was sent to the specialist.
fn of_the_asked(world: &World) -> Vec<ModelRequest> {
    let mut requests = world.talk.model.requests();
    requests.retain(|request| request.system.contains("asks you a question"));
    assert!(!requests.is_empty(), "no specialist was asked");
    requests
}

fn offers(request: &ModelRequest, tool: &str) -> bool {
    request.tools.iter().any(|offered| offered.name == tool)
}

#[then(expr = "the specialist was offered {string}")]
fn offered(world: &mut World, tool: String) {
    assert!(of_the_asked(world).iter().all(|request| offers(request, &tool)));
}

#[then(expr = "the specialist was not offered {string}")]
fn not_offered(world: &mut World, tool: String) {
    assert!(!of_the_asked(world).iter().any(|request| offers(request, &tool)));
}

#[then(expr = "the specialist was instructed {string}")]
fn instructed(world: &mut World, text: String) {
    assert!(of_the_asked(world).iter().all(|request| request.system.contains(&text)));
}

fn was_sent(request: &ModelRequest, text: &str) -> bool {
    format!("{:?}", request.messages).contains(text)
}

#[then(expr = "the specialist was sent {string}")]
fn sent(world: &mut World, text: String) {
    assert!(of_the_asked(world).iter().all(|request| was_sent(request, &text)));
}

/// Neither as a message nor in the instructions.
#[then(expr = "the specialist was not sent {string}")]
fn not_sent(world: &mut World, text: String) {
    let requests = of_the_asked(world);
    assert!(
        !requests.iter().any(|request| was_sent(request, &text) || request.system.contains(&text)),
        "{requests:#?}"
    );
}

#[then(expr = "the model once was told {string}")]
fn once_told(world: &mut World, text: String) {
    let requests = world.talk.model.requests();
    let told = requests.iter().flat_map(|request| &request.messages).any(|message| match message {
        ModelMessage::ToolResult { text: result, .. } => result.contains(&text),
        ModelMessage::User { .. } | ModelMessage::Assistant { .. } => false,
    });
    assert!(told, "{requests:#?}");
}
