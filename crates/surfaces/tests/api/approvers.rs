//! What the API says about signatures before one is asked for, and what it says where one is missing.

use planwright_core::approval::{ApprovalPolicy, ApprovalRule, Require};
use planwright_core::session::Channel;
use planwright_llm::scripted::ScriptedModel;
use serde_json::json;

use crate::world::{SESSION, World, drafting};

#[tokio::test]
async fn what_an_act_needs_is_said_for_each_channel() {
    let rule = ApprovalRule { channel: Some(Channel::Mcp), risk: None, require: Require::Verified, people: None };
    let policy = ApprovalPolicy { rules: vec![rule], ..ApprovalPolicy::requiring(Require::Separate) };
    let world = World::set_up(ScriptedModel::new([]), |setup| setup.policy.approval = policy).await;
    let approvers = world.get("/api/approvers").await.with(200);
    let needs = approvers["needs"].as_array().unwrap();
    assert_eq!(needs.len(), Channel::ALL.len(), "{approvers}");
    for channel in needs {
        let expected = if channel["channel"] == "mcp" { "verified" } else { "separate" };
        assert_eq!((&channel["starts"], &channel["promotes"]), (&json!(expected), &json!(expected)), "{channel}");
    }
}

/// The browser tests of the dashboard go to the page, and the attack suite runs the command.
#[tokio::test]
async fn a_typed_command_without_a_signature_is_told_where_it_is_signed() {
    let verified = ApprovalPolicy::requiring(Require::Verified);
    let model = ScriptedModel::new(drafting());
    let world = World::set_up(model, |setup| setup.policy.approval = verified).await;
    world.say("/plan on").await.with(200);
    world.say("move the blog").await.with(200);
    let plans = world.get(&format!("/api/plans?sessionId={SESSION}")).await.with(200);
    let plan = plans["plans"][0]["id"].as_str().unwrap();
    let typed = [
        ("/plan approve 1", format!("/p/{plan}"), "plan approve 1"),
        (
            "/schedule add 0 9 * * 1 Read the news",
            format!("/s/{SESSION}/runs"),
            "schedule add '0 9 * * 1' 'Read the news'",
        ),
    ];
    for (text, page, command) in typed {
        let refused = world.say(text).await.refused(403, "POLICY_DENIED");
        let detail = refused["detail"].as_str().unwrap();
        let parts = [
            "`planwright init`".to_owned(),
            format!("`{page}`"),
            format!("`planwright {command} --session web:{SESSION}`"),
        ];
        for part in parts {
            assert!(detail.contains(&part), "{part}: {detail}");
        }
    }
}
