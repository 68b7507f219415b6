//! The chat, the inbox and REST offer the same about one plan, whatever it waits for.

use std::sync::Arc;

use planwright_core::permission::{Permission, PermissionRule, PermissionRules};
use planwright_engine::permission_rules::FixedRules;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::world::{SESSION, World, drafting};

/// The plan, once it is approved in this way and the inbox has an item of this kind.
async fn waiting(world: &World, text: &str, approve: Value, kind: &str) -> (Value, Value) {
    world.say(text).await.with(200);
    let plan = world.get(&format!("/api/plans/1?sessionId={SESSION}")).await.with(200);
    let path = format!("/api/plans/{}", plan["id"].as_str().unwrap());
    let mut body = approve;
    body["digest"] = plan["digest"].clone();
    let mut changes = world.ledger.changes();
    world.post(&format!("{path}/approve"), body).await.with(200);
    loop {
        let items = world.get("/api/inbox").await.with(200)["items"].as_array().unwrap().clone();
        if let [item] = items.as_slice()
            && item["kind"] == kind
        {
            return (world.get(&path).await.with(200), item.clone());
        }
        changes.recv().await.unwrap();
    }
}

/// What the chat, the inbox and REST offer is one list, in the same words. Returns it.
async fn offered(world: &World, plan: &Value, item: &Value) -> Vec<String> {
    for field in ["situation", "choices", "actions"] {
        assert_eq!(plan[field], item[field], "{field}");
    }
    let actions = plan["actions"].as_array().unwrap();
    let of_each = |field: &str| actions.iter().map(|action| action[field].clone()).collect::<Vec<_>>();
    assert_eq!(json!(of_each("name")), plan["choices"]);
    let card = world.say("/plan show 1").await.with(200);
    assert_eq!(card["plan"]["next"], json!(of_each("command")));
    let status = world.say("/plan status").await.with(200)["reply"].as_str().unwrap().replace('\\', "");
    assert!(status.contains(plan["situation"].as_str().unwrap()), "{status}");
    for action in actions {
        let line = format!("- `{}`: {}", action["command"].as_str().unwrap(), action["label"].as_str().unwrap());
        assert!(status.contains(&line), "{line} is not in {status}");
    }
    of_each("name").iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_step_to_look_at_has_the_same_choices_everywhere() {
    let write = |path: &str| json!({ "path": path, "content": "x" });
    let calls = Reply::call("write_file", write("a.md")).and_call("write_file", write("b.md"));
    let world = World::new([calls, Reply::call("plan_finalize", json!({}))]).await;
    world.post("/api/plans/enable", json!({ "sessionId": SESSION, "style": "collect" })).await.with(200);
    let (plan, item) = waiting(&world, "write it", json!({ "stepByStep": true }), "step").await;
    assert_eq!(plan["activity"], "paused");
    assert_eq!(offered(&world, &plan, &item).await, ["next", "revise", "stop"]);
    assert_eq!(plan["actions"][0]["label"], "Continue with step 2");
}

#[tokio::test]
async fn a_permission_that_a_plan_waits_for_has_the_same_choices_everywhere() {
    let rule = PermissionRule {
        tool: "write_file".to_owned(),
        target: None,
        server: None,
        effect: None,
        exact: false,
        decide: Permission::Ask,
    };
    let rules = Arc::new(FixedRules::new(PermissionRules::new(vec![rule]).unwrap()));
    // It asks at once, or in the turn that reminds it: the pause that the turn before left does not count meanwhile.
    for before in [vec![], vec![Reply::text("I stop here.")]] {
        let rules = Arc::clone(&rules);
        let write = Reply::call("write_file", json!({ "path": "a.md", "content": "x" }));
        let model = ScriptedModel::new(drafting().into_iter().chain(before).chain([write]));
        let world = World::set_up(model, move |setup| setup.options.permissions = rules).await;
        world.post("/api/plans/enable", json!({ "sessionId": SESSION })).await.with(200);
        let (plan, item) = waiting(&world, "move the blog", json!({}), "permission").await;
        // No process works on it, and yet it is not paused: an answer continues it, a resume does not.
        assert_eq!((&plan["activity"], &plan["askId"]), (&json!("asking"), &item["id"]));
        assert_eq!(plan["situation"], "The agent asks for permission: write_file: a.md");
        assert_eq!(plan["execution"]["pausedSince"], Value::Null);
        assert_eq!(offered(&world, &plan, &item).await, ["once", "plan", "always", "no"]);
    }
}

#[tokio::test]
async fn a_plan_that_is_paused_has_the_same_choices_everywhere() {
    let model = ScriptedModel::new(drafting()).otherwise(Reply::text("I report nothing."));
    let world = World::set_up(model, |setup| setup.policy.nudges = 0).await;
    world.post("/api/plans/enable", json!({ "sessionId": SESSION })).await.with(200);
    let (plan, item) = waiting(&world, "move the blog", json!({}), "run").await;
    assert_eq!(
        (&plan["activity"], &plan["situation"]),
        (&json!("paused"), &json!("It is paused: no process works on it."))
    );
    assert_eq!(offered(&world, &plan, &item).await, ["resume", "revise", "stop", "cancel"]);
}
