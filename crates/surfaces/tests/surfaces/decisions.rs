//! Waiting for a person's decision, and asking for it in the client.

use planwright_core::approval::{ApprovalPolicy, Require};
use planwright_core::plan::PlanStatus;
use planwright_core::policy::Policy;
use planwright_engine::Engine;
use planwright_surfaces::mcp::PersonCommands;
use serde_json::{Value, json};

use crate::world::{Client, DOCUMENT, World};

const PLAN: &str = "# Move\n\n- [ ] pack\n";

async fn ready(world: &World) -> Client {
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": PLAN })).await;
    client
}

#[tokio::test]
async fn a_decision_made_elsewhere_ends_the_wait_and_other_calls_go_on_meanwhile() {
    let world = World::new().await;
    let mut client = ready(&world).await;
    let wait = json!({ "name": "plan_await_decision", "arguments": { "timeout_seconds": 600 } });
    let waiting = client.send_request("tools/call", wait).await;
    // The wait does not hold up what comes after it.
    assert_eq!(client.succeed("plan_get", json!({})).await["status"], "READY");
    world.approve().await;
    let answer = client.answer_to(&json!(waiting)).await;
    let decision = &answer["result"]["structuredContent"];
    assert_eq!((&decision["decided"], &decision["status"]), (&json!(true), &json!("APPROVED")), "{answer}");
    client.leave().await;
}

#[tokio::test]
async fn a_time_out_is_not_an_approval() {
    let world = World::new().await;
    let mut client = ready(&world).await;
    let decision = client.succeed("plan_await_decision", json!({ "timeout_seconds": 0 })).await;
    assert_eq!((&decision["decided"], &decision["status"]), (&json!(false), &json!("READY")));
    assert!(decision["message"].as_str().unwrap().contains("not an approval"), "{decision}");
    assert_eq!(world.active_plan().await.status, PlanStatus::Ready);
    client.leave().await;
}

#[tokio::test]
async fn a_wait_that_is_cancelled_ends() {
    let world = World::new().await;
    let mut client = ready(&world).await;
    let wait = json!({ "name": "plan_await_decision", "arguments": { "timeout_seconds": 600 } });
    let waiting = client.send_request("tools/call", wait).await;
    let cancelled = json!({ "requestId": waiting });
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled })).await;
    assert_eq!(client.succeed("plan_get", json!({})).await["status"], "READY");
    client.leave().await;
}

fn engine(world: &World, require: Require) -> Engine {
    let approval = ApprovalPolicy { require, ..ApprovalPolicy::default() };
    Engine::new(world.engine.ledger().clone(), Policy { approval, ..Policy::default() })
}

async fn asked_client(world: &World, require: Require, capabilities: Value, dashboard: Option<&str>) -> Client {
    let mut options = world.options(DOCUMENT);
    options.engine = engine(world, require);
    options.commands = PersonCommands { dashboard: dashboard.map(str::to_owned), ..PersonCommands::default() };
    let mut client = Client::connect(options);
    client.initialize_with(json!({ "elicitation": capabilities })).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": PLAN })).await;
    client
}

fn wait() -> Value {
    json!({ "name": "plan_await_decision", "arguments": { "timeout_seconds": 600 } })
}

#[tokio::test]
async fn where_the_policy_takes_any_approval_a_person_decides_in_the_client() {
    let world = World::new().await;
    let mut client = asked_client(&world, Require::Any, json!({ "form": {} }), None).await;
    let waiting = client.send_request("tools/call", wait()).await;
    let question = client.request().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let digest = world.active_plan().await.digest().to_string();
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("- [ ] pack") && message.contains(&digest), "{message}");
    let field = &question["params"]["requestedSchema"]["properties"]["decision"];
    assert_eq!(field["enum"], json!(["approve", "revise", "reject", "later"]), "{question}");
    assert_eq!(field["enumNames"], json!(["Approve", "Request changes", "Reject", "Decide later"]), "{question}");
    let content = json!({ "decision": "approve", "note": "go" });
    client.answer(&question, json!({ "action": "accept", "content": content })).await;
    let answer = client.answer_to(&json!(waiting)).await;
    assert_eq!(answer["result"]["structuredContent"]["status"], "APPROVED", "{answer}");
    let plan = world.active_plan().await;
    let approval = plan.approval.as_ref().unwrap();
    assert_eq!((approval.by.through.as_str(), approval.note.as_deref()), ("mcp", Some("go")));
    client.leave().await;
}

/// A form that shows a part of the plan would have the person approve what they have not seen.
#[tokio::test]
async fn a_plan_that_is_too_long_for_a_form_is_not_asked_about_in_one() {
    let world = World::new().await;
    let capabilities = json!({ "form": {}, "url": {} });
    let mut client = asked_client(&world, Require::Any, capabilities, Some("http://127.0.0.1:7717")).await;
    let long = format!("- [ ] pack\n\n{}\n\n- [ ] delete the backups\n", "many words ".repeat(500));
    client.succeed("plan_set_content", json!({ "plan_markdown": long })).await;
    let waiting = client.send_request("tools/call", wait()).await;
    let question = client.request().await;
    assert_eq!(question["params"]["mode"], "url", "{question}");
    client.answer(&question, json!({ "action": "accept" })).await;
    world.approve().await;
    client.answer_to(&json!(waiting)).await;
    client.leave().await;
}

#[tokio::test]
async fn a_person_asks_for_changes_in_the_client_with_words() {
    let world = World::new().await;
    for (note, decided) in [("", false), ("use a van", true)] {
        let mut client = asked_client(&world, Require::Any, json!({ "form": {} }), None).await;
        let waiting = client.send_request("tools/call", wait()).await;
        let question = client.request().await;
        let content = json!({ "decision": "revise", "note": note });
        client.answer(&question, json!({ "action": "accept", "content": content })).await;
        if decided {
            let answer = client.answer_to(&json!(waiting)).await;
            assert_eq!(answer["result"]["structuredContent"]["feedback"], note, "{answer}");
        } else {
            assert_eq!(client.succeed("plan_get", json!({})).await["status"], "READY");
        }
        client.leave().await;
    }
}

/// An answer in the client comes from the agent's own program, so it counts as the access token at most.
#[tokio::test]
async fn where_the_policy_asks_for_more_nothing_is_asked_in_the_client() {
    let world = World::new().await;
    let mut client = asked_client(&world, Require::Separate, json!({ "form": {} }), None).await;
    let waiting = client.send_request("tools/call", wait()).await;
    client.succeed("plan_get", json!({})).await;
    world.approve().await;
    let answer = client.answer_to(&json!(waiting)).await;
    assert_eq!(answer["result"]["structuredContent"]["decided"], true, "{answer}");
    client.leave().await;
}

#[tokio::test]
async fn a_client_that_opens_pages_is_sent_to_the_review_page() {
    let world = World::new().await;
    let both = json!({ "form": {}, "url": {} });
    let mut client = asked_client(&world, Require::Separate, both, Some("http://127.0.0.1:7717")).await;
    let waiting = client.send_request("tools/call", wait()).await;
    let question = client.request().await;
    let plan = world.active_plan().await;
    assert_eq!(question["params"]["mode"], "url", "{question}");
    assert_eq!(question["params"]["url"], format!("http://127.0.0.1:7717/p/{}", plan.id));
    client.answer(&question, json!({ "action": "accept" })).await;
    // Opening the page decides nothing.
    assert_eq!(client.succeed("plan_get", json!({})).await["status"], "READY");
    world.approve().await;
    let answer = client.answer_to(&json!(waiting)).await;
    assert_eq!(answer["result"]["structuredContent"]["status"], "APPROVED", "{answer}");
    client.leave().await;
}

#[tokio::test]
async fn a_person_who_says_later_or_declines_decides_nothing() {
    let world = World::new().await;
    for result in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept", "content": { "decision": "later" } }),
    ] {
        let mut client = asked_client(&world, Require::Any, json!({}), None).await;
        let waiting = client.send_request("tools/call", wait()).await;
        let question = client.request().await;
        client.answer(&question, result).await;
        assert_eq!(client.succeed("plan_get", json!({})).await["status"], "READY");
        let cancelled = json!({ "requestId": waiting });
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled })).await;
        client.leave().await;
    }
    assert_eq!(world.active_plan().await.status, PlanStatus::Ready);
}
