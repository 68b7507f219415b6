//! Sentences about the result of a planner's turn, for programs that build on it.

use cucumber::then;
use serde_json::{Value, json};

use crate::world::World;

fn planner(world: &World) -> Value {
    json!(world.talk.answer().planner)
}

#[then(expr = "the planner's answer is plan {int} as a {word}")]
async fn is_plan(world: &mut World, number: u32, status: String) {
    let plan_id = world.plan(number).await.id;
    assert_eq!(planner(world), json!({ "type": "plan", "plan_id": plan_id, "status": status }));
}

#[then(regex = r#"^the planner's answer is an? (\w+) that says "(.*)"$"#)]
fn is_text(world: &mut World, kind: String, text: String) {
    let answer = planner(world);
    let reply = answer.get("text").or_else(|| answer.get("message")).and_then(Value::as_str).unwrap_or_default();
    assert_eq!(answer["type"], json!(kind), "{answer}");
    assert!(reply.contains(&text), "{answer}");
}

#[then("there is no planner's answer")]
fn is_none(world: &mut World) {
    assert_eq!(planner(world), Value::Null);
}
