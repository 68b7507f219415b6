//! What the lists of tools cost a client's model with every request, in tokens, and what the refusals of tools say next.

use planwright_agent::tokens::Tokens;
use planwright_core::conversation::CountTokens as _;
use planwright_surfaces::mcp::PlanStart;
use serde_json::{Value, json};

use crate::world::{BUILD, COLLECT, Client, DOCUMENT, World};

/// The upper limit of each list, and of the instructions beside it: a little above the figures in `docs/mcp.md`.
const LIMITS: [(&str, PlanStart, u32, u32); 3] =
    [("document", DOCUMENT, 940, 280), ("collect", COLLECT, 930, 300), ("build", BUILD, 1_470, 280)];

const PAGE: &str = include_str!("../../../../docs/mcp.md");

/// The last figure of the list's row.
fn documented(list: &str) -> Option<u32> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.strip_prefix(list)?.strip_prefix(" | "));
    let mut figures =
        rows.filter_map(|row| row.strip_suffix(" |")?.rsplit(" | ").next()?.replace(',', "").parse().ok());
    figures.next()
}

/// A tool as a client passes it to its model.
fn shown(tool: &Value) -> String {
    json!({ "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"] }).to_string()
}

/// `cargo test -p planwright-surfaces --test surfaces tokens -- --nocapture` prints the figures.
#[tokio::test]
async fn each_list_of_tools_stays_below_its_tokens() {
    let counter = Tokens::default();
    for (style, start, most, most_instructions) in LIMITS {
        let world = World::new().await;
        let mut client = Client::connect(world.options(start));
        let hello = client.initialize().await;
        let instructions = counter.count(hello["instructions"].as_str().unwrap());
        let answer = client.ask("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        let counted: Vec<(&str, u32)> =
            tools.iter().map(|tool| (tool["name"].as_str().unwrap(), counter.count(&shown(tool)))).collect();
        let sum: u32 = counted.iter().map(|(_, tokens)| tokens).sum();
        println!("{style}: {sum} tokens in {} tools, {instructions} in the instructions: {counted:?}", tools.len());
        assert!(sum <= most, "{style}: {sum} tokens, {counted:?}");
        assert_eq!(documented(style), Some(sum), "{style} in docs/mcp.md");
        assert!(instructions <= most_instructions, "{style}: {instructions} tokens");
        client.leave().await;
    }
}

#[tokio::test]
async fn the_descriptions_and_the_instructions_name_one_order_of_work() {
    for (start, order) in [
        (DOCUMENT, &["plan_get", "plan_set_content", "plan_await_decision", "plan_progress"][..]),
        (COLLECT, &["plan_get", "plan_add_call", "plan_finalize", "plan_await_decision", "plan_progress"]),
        (
            BUILD,
            &[
                "plan_get",
                "plan_create_draft",
                "plan_set_metadata",
                "plan_add_step",
                "plan_submit",
                "plan_await_decision",
                "plan_progress",
            ],
        ),
    ] {
        let world = World::new().await;
        let mut client = Client::connect(world.options(start));
        let hello = client.initialize().await;
        let instructions = hello["instructions"].as_str().unwrap();
        let places: Vec<usize> = order.iter().map(|tool| instructions.find(tool).unwrap()).collect();
        assert!(places.is_sorted(), "{instructions}");
        let answer = client.ask("tools/list", json!({})).await;
        for tool in answer["result"]["tools"].as_array().unwrap() {
            let ends_drafting = ["plan_set_content", "plan_finalize", "plan_submit"];
            if ends_drafting.contains(&tool["name"].as_str().unwrap()) {
                assert!(tool["description"].as_str().unwrap().contains("Then call plan_await_decision."), "{tool}");
            }
        }
        client.leave().await;
    }
}

/// The example in the schema is taken as it stands.
#[tokio::test]
async fn the_example_of_a_document_is_a_plan() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    let answer = client.ask("tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == "plan_set_content").unwrap();
    let text = tool["inputSchema"]["properties"]["plan_markdown"]["description"].as_str().unwrap();
    let example = text.strip_prefix("For example: ").unwrap();
    let (example, _) = example.rsplit_once("\nThe block").unwrap();
    client.call("plan_set_content", json!({ "plan_markdown": example })).await;
    let plan = world.active_plan().await;
    assert_eq!((plan.content.steps().len(), plan.content.declared_needs(|_| true).is_some()), (1, true), "{example}");
    client.leave().await;
}

#[tokio::test]
async fn a_refused_call_names_the_next_one() {
    for (start, tool, arguments, expected) in [
        (DOCUMENT, "plan_set_content", json!({}), "call plan_set_content again"),
        (
            DOCUMENT,
            "plan_set_content",
            json!({ "plan_markdown": "# A\n\n```planwright-needs\nx = 1\n```\n" }),
            "call plan_set_content again",
        ),
        (DOCUMENT, "plan_progress", json!({ "status": "done" }), "plan_get says in `next`"),
        (DOCUMENT, "plan_progress", json!({ "status": "completed" }), "call plan_progress again"),
        (DOCUMENT, "plan_get", json!({ "plan_id": "9" }), "plan_get reads the active plan"),
        (DOCUMENT, "plan_add_step", json!({ "description": "a", "agent": "coder" }), "plan_get says in `next`"),
        (COLLECT, "plan_add_call", json!({ "tool": "t", "arguments": "[1]" }), "call plan_add_call again"),
        (BUILD, "plan_remove_step", json!({ "step_id": "s7" }), "plan_get says in `next`"),
    ] {
        let world = World::new().await;
        let mut client = world.client(start).await;
        let answer = client.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{tool}: {answer}");
        let message = result["structuredContent"]["message"].as_str().unwrap();
        assert!(message.contains(expected), "{tool} {arguments}: {message}");
        client.leave().await;
    }
}
