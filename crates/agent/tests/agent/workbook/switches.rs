//! `/plan files on|off` and `/plan <text>`.

use planwright_core::workbook::DocumentKind;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::world::{World, tool_names};

#[tokio::test]
async fn a_text_to_plan_begins_a_workbook() {
    let world = World::new([Reply::text("I will."), Reply::text("Well.")]).await;
    let answer = world.send("/plan move the shop to the new database").await;
    assert_eq!(answer.reply, "I will.");
    assert_eq!(world.workbook().await.title, "move the shop to the new database");
    assert!(world.on_disk(DocumentKind::TaskPlan).contains("move the shop"));
    assert!(tool_names(&world.sent(1)).contains(&"update_plan"));
    world.send("/plan and something else").await;
    assert_eq!(world.workbook().await.title, "move the shop to the new database", "it is being worked with");
    world.is_sound().await;
}

#[tokio::test]
async fn a_long_text_has_a_short_title() {
    let world = World::new([Reply::text("I will.")]).await;
    world.send(&format!("/plan {}\nand more\n", "word ".repeat(60))).await;
    let title = world.workbook().await.title;
    assert!(title.chars().count() <= 81 && title.ends_with("word…"), "{title}");
}

#[tokio::test]
async fn what_was_written_stays_when_planning_files_are_switched_off_and_on() {
    let world = World::with_workbook().await;
    let answer = world.send("/plan files off").await;
    assert!(answer.reply.contains("**off**"), "{}", answer.reply);
    world.disk_agrees().await;
    let answer = world.send("/plan files on").await;
    assert!(answer.reply.contains("“Move the shop”"), "{}", answer.reply);
    let before = world.events().await.len();
    world.send("/plan files on").await;
    assert_eq!(world.events().await.len(), before, "nothing to change, nothing written");
    world.call("read_plan", json!({})).await;
}

#[tokio::test]
async fn a_text_to_plan_is_a_persons_word_against_off() {
    let world = World::with(ScriptedModel::new([Reply::text("One."), Reply::text("Two.")]), |_| {}).await;
    world.send("/plan files off").await;
    world.send("/plan move the shop").await;
    assert_eq!(world.workbook().await.title, "move the shop");
    world.send("/plan files off").await;
    world.send("/plan go on with it").await;
    assert!(tool_names(&world.sent(2)).contains(&"read_plan"));
}

#[tokio::test]
async fn an_agent_cannot_begin_what_a_person_switched_off() {
    let world = World::new([]).await;
    world.send("/plan files off").await;
    let beginning = planwright_engine::workbook::NewWorkbook { title: "T".to_owned(), force_new: false };
    let agent = super::agent();
    let refused = world.engine().workbooks().init(&world.session, &agent, &beginning).await.unwrap_err();
    assert_eq!(refused.code(), planwright_core::refusal::RefusalCode::PolicyDenied);
    assert!(!world.plan_folder().exists());
}

#[tokio::test]
async fn everything_comes_back_after_a_restart() {
    let world = World::with_workbook().await;
    world.call("write_plan", json!({ "which": "progress", "content": "half way" })).await;
    let before = world.workbook().await;
    let world = world.restart().await;
    assert_eq!(world.workbook().await, before);
    assert_eq!(world.call("read_plan", json!({ "which": "progress" })).await["text"], "half way");
}
