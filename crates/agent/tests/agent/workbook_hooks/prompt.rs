//! What the model is told about the workbook: short, true, and the same in the same bytes while nothing changes.

use planwright_core::model::{ModelMessage, ModelRequest};
use planwright_core::workbook::DocumentKind;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::*;

fn about_the_workbook(system: &str) -> &str {
    &system[system.find("# Workbook").unwrap()..]
}

#[tokio::test]
async fn the_prompt_stays_the_same_while_only_findings_and_progress_grow() {
    let world = working([list(), read("a.txt"), read("none"), read("none"), list(), done(), done()]).await;
    world.has_file("a.txt", "SECRET OF THE FILE");
    world.say("Look").await;
    world.say("And?").await;
    assert!(world.notes().await >= 3);
    let requests = world.model.requests();
    assert_eq!(requests.len(), 7);
    assert!(requests.iter().all(|request| request.system == requests[0].system));
    assert!(requests.iter().all(|request| !request.system.contains("SECRET")));
}

#[tokio::test]
async fn it_follows_the_phases() {
    let complete = "- [x] All\n\nStatus: complete";
    let world = working([
        Reply::call(
            "update_plan",
            json!({"which": "task_plan", "section": "Phase 1: Understand", "content": complete}),
        ),
        done(),
    ])
    .await;
    world.say("Go on").await;
    assert!(about_the_workbook(&world.sent(1).system).contains("phase 1 of 5, `Phase 1: Understand`"));
    assert!(about_the_workbook(&world.sent(2).system).contains("phase 2 of 5, `Phase 2: Decide`"));
    assert!(
        world.sent(1).system.find("# Plan work is off").unwrap() < world.sent(1).system.find("# Workbook").unwrap()
    );
}

#[tokio::test]
async fn an_edit_on_disk_is_taken_in_before_the_model_is_asked_and_told() {
    let world = working([
        done(),
        done(),
        Reply::call(
            "update_plan",
            json!({"which": "task_plan", "section": "Phases", "content": "### One\n\nStatus: pending"}),
        ),
        done(),
    ])
    .await;
    world.say("Hello").await;
    let file = world.files().with_file_name("plan").join("task_plan.md");
    let edited = "# Mine\n\n## Phases\n\n### My own phase\n\n- [ ] first thing\n";
    std::fs::write(&file, edited).unwrap();
    world.say("I changed it").await;
    assert_eq!(world.reads(DocumentKind::TaskPlan).await, edited);
    let told = world.sent(2).system;
    assert!(
        told.contains("phase 1 of 1, `My own phase`\n- Next: `first thing`\n- The person edited the task plan"),
        "{told}"
    );
    // Once the agent has written it, it knows it.
    world.say("Change it").await;
    assert!(!world.sent(4).system.contains("The person edited"), "{}", world.sent(4).system);
}

#[tokio::test]
async fn it_is_there_after_compaction_and_notes_are_taken_before_it() {
    let answer = |request: &ModelRequest| {
        if request.system == planwright_core::prompt::SUMMARIZE {
            return Reply::text("They looked around.");
        }
        let since = request.messages.iter().rev().take_while(|message| !matches!(message, ModelMessage::User { .. }));
        let looked = since.filter(|message| matches!(message, ModelMessage::ToolResult { .. })).count();
        if looked == 2 { Reply::text("words ".repeat(80)) } else { read("a.txt") }
    };
    let model = ScriptedModel::new([]).otherwise(Reply::made_from(answer));
    let world = working_with(model, |setup| setup.options.context_tokens = Some(9_000)).await;
    world.has_file("a.txt", &"lines of a file that matter\n".repeat(40));
    for n in 0..12 {
        world.say(&format!("number {n}")).await;
    }
    let names = world.event_names().await;
    assert!(names.contains(&"compacted"), "{names:?}");
    let first_note = names.iter().position(|name| *name == "workbook_written").unwrap();
    assert!(first_note < names.iter().position(|name| *name == "compacted").unwrap());
    assert!(world.reads(DocumentKind::Findings).await.contains("> lines of a file that matter\n"));
    let last = world.model.last_request();
    assert!(last.system.contains("# Workbook `Move the shop`") && last.system.contains("phase 1 of 5"));
}
