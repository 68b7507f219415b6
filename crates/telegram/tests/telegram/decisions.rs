//! Permission, questions, and plans of which some steps are approved.

use planwright_core::permission::{PermissionRule, PermissionRules};
use planwright_core::plan::PlanStatus;
use planwright_engine::permission_rules::FixedRules;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;
use std::sync::Arc;

use crate::world::{ADA, World};

fn asking() -> Arc<FixedRules> {
    let rule: PermissionRule = serde_json::from_value(json!({ "tool": "write_file", "decide": "ask" })).unwrap();
    Arc::new(FixedRules::new(PermissionRules::new(vec![rule]).unwrap()))
}

#[tokio::test]
async fn a_call_is_permitted_by_a_button() {
    let write = Reply::call("write_file", json!({ "path": "notes.md", "content": "milk" }));
    let model = ScriptedModel::new([write, Reply::text("Written.")]);
    let world = World::with(model, |setup| setup.options.permissions = asking()).await;
    world.api.say(ADA, "write it down");
    let card = world.api.wait_for(ADA, "a question", |message| message.labels().contains(&"Allow once")).await;
    assert!(card.text.contains("write_file") && card.text.contains("notes.md"), "{}", card.text);
    assert_eq!(card.labels(), ["Allow once", "Always allow", "Do not allow", "Open"]);
    world.api.press(ADA, &card, "Allow once");
    world.api.wait_for_text(ADA, "Written.").await;
    let folder = world.setup.files().folder(&world.session_of(ADA).await);
    assert_eq!(std::fs::read_to_string(folder.join("notes.md")).unwrap(), "milk");
    world
        .api
        .wait_for(ADA, "the buttons are gone", |message| message.id == card.id && message.buttons.is_empty())
        .await;
}

#[tokio::test]
async fn a_call_that_is_not_permitted_does_not_run() {
    let write = Reply::call("write_file", json!({ "path": "notes.md", "content": "milk" }));
    let model = ScriptedModel::new([write, Reply::text("I did not.")]);
    let world = World::with(model, |setup| setup.options.permissions = asking()).await;
    world.api.say(ADA, "write it down");
    let card = world.api.wait_for(ADA, "a question", |message| message.labels().contains(&"Do not allow")).await;
    world.api.press(ADA, &card, "Do not allow");
    world.api.wait_for_text(ADA, "I did not.").await;
    assert!(!world.setup.files().folder(&world.session_of(ADA).await).join("notes.md").exists());
}

#[tokio::test]
async fn a_question_is_answered_by_a_button() {
    let ask =
        Reply::call("ask_person", json!({ "questions": [{ "text": "Which colour?", "choices": ["red", "blue"] }] }));
    let world = World::new([ask, Reply::text("Then it is blue.")]).await;
    world.api.say(ADA, "paint it");
    let card = world.api.wait_for(ADA, "a question", |message| message.labels().contains(&"blue")).await;
    assert!(card.text.contains("Which colour?"), "{}", card.text);
    world.api.press(ADA, &card, "blue");
    world.api.wait_for_text(ADA, "Then it is blue.").await;
    let sent = format!("{:?}", world.model.requests().last().unwrap());
    assert!(sent.contains("blue"));
}

#[tokio::test]
async fn some_steps_are_approved_by_buttons() {
    let step = |path: &str| Reply::call("write_file", json!({ "path": path, "content": "x" }));
    let world = World::new([
        step("one.md").and_call("write_file", json!({ "path": "two.md", "content": "x" })),
        Reply::call("plan_finalize", json!({ "summary": "two files" })),
        Reply::text("Look."),
    ])
    .await;
    world.api.say(ADA, "/plan on collect");
    world.api.say(ADA, "write two files");
    let card = world.api.wait_for(ADA, "a card", |message| message.labels().contains(&"☑ Choose steps")).await;
    world.api.press(ADA, &card, "Choose steps");
    let chosen = |label: &'static str| {
        let api = world.api.clone();
        async move {
            api.wait_for(ADA, label, |message| {
                message.id == card.id && message.labels().iter().any(|text| text.contains(label))
            })
            .await
        }
    };
    let steps = chosen("☑ 2.").await;
    world.api.press(ADA, &steps, "2.");
    let left = world
        .api
        .wait_for(ADA, "step 2 is left out", |message| message.labels().iter().any(|text| text.contains("⬜ 2.")))
        .await;
    world.api.press(ADA, &left, "Approve without 1");
    let session = world.session_of(ADA).await;
    let folder = world.setup.files().folder(&session);
    world.api.wait_for(ADA, "the card is decided", |message| message.text.contains("Approved by")).await;
    world.api.wait("the plan is carried out", |_| folder.join("one.md").exists().then_some(())).await;
    assert!(!folder.join("two.md").exists());
    let plan = world.agent.engine().plans().list(&session, None, 1).await.unwrap().items.remove(0);
    assert_ne!(plan.status, PlanStatus::Ready);
}
