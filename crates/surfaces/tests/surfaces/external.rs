//! What the agent of another program has that Planwright's own does not: reports in every style, recorded calls of its own
//! tools, and fields that are passed over.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, EndedStep, ExecutionCommand, StepOutcome};
use planwright_core::ids::StepId;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;
use serde_json::json;

use crate::world::{BUILD, COLLECT, Client, DOCUMENT, World};

#[tokio::test]
async fn calls_of_the_clients_own_tools_are_recorded_approved_made_by_it_and_reported() {
    let world = World::new().await;
    let mut client = world.client(COLLECT).await;
    let call = json!({ "tool": "Bash", "arguments": { "command": "make" }, "description": "builds it" });
    let first = client.succeed("plan_add_call", call).await;
    assert_eq!((&first["planned"], &first["step"]), (&json!(true), &json!(1)));
    // A client that cannot describe a free object sends its text.
    client.succeed("plan_add_call", json!({ "tool": "Edit", "arguments": "{\"path\":\"a.txt\"}" })).await;
    client.refused_with("plan_add_call", json!({ "tool": "Edit", "arguments": "[1]" }), "INVALID_ARGUMENT").await;
    client.refused_with("plan_add_call", json!({ "tool": "plan_get" }), "POLICY_DENIED").await;
    client.refused_with("plan_progress", json!({ "status": "done" }), "WRONG_STATUS").await;
    let ready = client.succeed("plan_finalize", json!({ "summary": "build" })).await;
    assert_eq!(ready["status"], "READY");

    // The person reads the call itself, not only the agent's words about it.
    let plan = world.active_plan().await;
    let shown = plan.content.steps()[0].description.clone();
    assert_eq!(shown, r#"Bash({"command":"make"}): builds it"#);
    assert!(plan.markdown().contains("the agent makes this call"), "{}", plan.markdown());

    world.approve().await;
    client.succeed("plan_progress", json!({ "step": "s1", "status": "in_progress" })).await;
    client.succeed("plan_progress", json!({ "step": "1", "status": "done", "evidence": "exit 0" })).await;
    client.refused_with("plan_progress", json!({ "step": "s9", "status": "done" }), "NOT_FOUND").await;
    // Clients that check what they send take the number that answers name a step by, and its id.
    let tools = client.ask("tools/list", json!({})).await;
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    let progress = tools.iter().find(|tool| tool["name"] == "plan_progress").unwrap();
    let step = progress["inputSchema"]["properties"]["step"]["anyOf"].as_array().unwrap();
    assert_eq!(step.iter().map(|taken| &taken["type"]).collect::<Vec<_>>(), ["integer", "string"]);
    let last = client.succeed("plan_progress", json!({ "step": 2, "status": "done" })).await;
    assert_eq!((&last["done"], &last["total"], &last["status"]), (&json!(2), &json!(2), &json!("COMPLETED")));
    let run = world.active_plan().await;
    assert_eq!(run.execution.as_ref().unwrap().steps[0].evidence.as_deref(), Some("exit 0"));

    // The next recorded call begins the next plan.
    let next = client.succeed("plan_add_call", json!({ "tool": "Bash", "arguments": {} })).await;
    assert!(next["message"].as_str().unwrap().contains("step 1 of plan 2"), "{next}");
    client.leave().await;
}

#[tokio::test]
async fn a_built_plan_is_reported_on_step_by_step_in_the_order_of_its_needs() {
    let world = World::new().await;
    let mut client = world.client(BUILD).await;
    client.succeed("plan_create_draft", json!({ "goal": "ship" })).await;
    let lists = json!({ "assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["f"] });
    client.succeed("plan_set_metadata", lists).await;
    client.succeed("plan_add_step", json!({ "description": "write", "agent": "coder" })).await;
    client.succeed("plan_add_step", json!({ "description": "test", "agent": "tester", "needs": ["s1"] })).await;
    client.succeed("plan_submit", json!({})).await;
    client.refused_with("plan_progress", json!({ "status": "done" }), "WRONG_STATUS").await;
    world.approve().await;

    let refused = client.refuse("plan_progress", json!({ "step": 2, "status": "done" })).await;
    assert!(refused["message"].as_str().unwrap().contains("needs step s1"), "{refused}");
    client.succeed("plan_progress", json!({ "status": "done" })).await;
    let end = client.succeed("plan_progress", json!({ "step": "s2", "status": "done" })).await;
    assert_eq!(end["status"], "COMPLETED");
    let plan = world.active_plan().await;
    assert_eq!(plan.status, PlanStatus::Completed);
    assert!(plan.execution.as_ref().unwrap().steps.iter().all(|run| run.status == StepStatus::Completed));
    client.leave().await;
}

#[tokio::test]
async fn unknown_fields_are_passed_over_and_named_and_wrong_types_are_refused() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let set = json!({ "plan_markdown": "# A", "wait_for_previous": true });
    let answer = client.succeed("plan_set_content", set).await;
    assert_eq!((&answer["status"], &answer["ignored"]), (&json!("READY"), &json!(["wait_for_previous"])));
    let got = client.succeed("plan_get", json!({ "wait_for_previous": false })).await;
    assert_eq!((&got["markdown"], &got["ignored"]), (&json!("# A"), &json!(["wait_for_previous"])));
    let refused = client.refuse("plan_set_content", json!({ "plan_markdown": 7, "typo": 1 })).await;
    assert_eq!((&refused["code"], &refused["ignored"]), (&json!("INVALID_ARGUMENT"), &json!(["typo"])));
    let none = client.succeed("memory_search", json!({ "query": "x", "wait_for_previous": true })).await;
    assert_eq!(none["ignored"], json!(["wait_for_previous"]));
    client.leave().await;
}

#[tokio::test]
async fn a_client_that_did_not_read_the_latest_version_is_told_and_sees_the_difference() {
    let world = World::new().await;
    let mut first = world.client(DOCUMENT).await;
    let mut second = Client::connect(world.options(DOCUMENT));
    second.initialize().await;
    let read = first.succeed("plan_set_content", json!({ "plan_markdown": "# A\n\n- [ ] one\n" })).await;
    second.succeed("plan_get", json!({})).await;
    second.succeed("plan_set_content", json!({ "plan_markdown": "# A\n\n- [ ] one\n- [ ] two\n" })).await;

    let stale = json!({ "plan_markdown": "# A\n\n- [ ] three\n", "expected_digest": read["digest"] });
    let refused = first.refuse("plan_set_content", stale).await;
    assert_eq!(refused["code"], "CONFLICT");
    assert!(refused["message"].as_str().unwrap().contains("+- [ ] two"), "{refused}");
    assert!(world.active_plan().await.markdown().contains("two"), "nothing was stored");

    // Without the digest the last writer wins, and is told what it replaced.
    let over = first.succeed("plan_set_content", json!({ "plan_markdown": "# B\n\n- [ ] three\n" })).await;
    assert_eq!(over["overwrote"]["version"], 2, "{over}");
    let digest = over["digest"].clone();
    let kept = json!({ "plan_markdown": "# C\n\n- [ ] three\n", "expected_digest": digest });
    let kept = first.succeed("plan_set_content", kept).await;
    assert!(kept.get("overwrote").is_none(), "{kept}");
    first
        .refused_with(
            "plan_set_content",
            json!({ "plan_markdown": "# D", "expected_digest": "abc" }),
            "INVALID_ARGUMENT",
        )
        .await;
    first.leave().await;
    second.leave().await;
}

#[tokio::test]
async fn an_agent_does_not_go_on_while_the_result_of_a_step_is_unknown() {
    let world = World::new().await;
    let mut client = world.client(COLLECT).await;
    client.succeed("send_mail", json!({ "to": "ada" })).await;
    client.succeed("send_mail", json!({ "to": "bob" })).await;
    client.succeed("plan_finalize", json!({})).await;
    let approved = world.approve().await;
    let (ada, engine) = (Actor::person("ada", "cli"), &world.engine);
    let running = engine.plans().resume(&world.session, &ada, &approved.id).await.unwrap();
    let execution = running.execution.as_ref().unwrap();
    let first = execution.steps[0].step.clone();
    let advance = async |ended: Vec<EndedStep>, begun: Vec<StepId>| {
        let (plan, execution) = (running.id.clone(), execution.id.clone());
        let advance = Command::Execution(ExecutionCommand::Advance { plan, execution, ended, begun });
        engine.submit(&world.session, &Actor::system("mcp"), advance).await.unwrap();
    };
    advance(Vec::new(), vec![first.clone()]).await;
    // The process of the call ended before its outcome was recorded.
    let outcome = StepOutcome { status: StepStatus::Uncertain, note: None, evidence: None };
    let ended = EndedStep { step: first, outcome, changes: Default::default(), permissions: Default::default() };
    advance(vec![ended], Vec::new()).await;
    let plan = client.succeed("plan_get", json!({})).await;
    assert_eq!(plan["status"], "EXECUTING");
    assert_eq!(world.active_plan().await.execution.as_ref().unwrap().steps[0].status, StepStatus::Uncertain);
    let next = plan["next"].as_str().unwrap();
    assert!(next.contains("Do not go on") && next.contains("A person decides"), "{next}");
    client.leave().await;
}
