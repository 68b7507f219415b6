//! Notes are taken wherever calls are made: in steps of specialists, in their answers, and in recorded calls that were
//! approved.

use planwright_core::plan::PlanStatus;
use planwright_core::workbook::DocumentKind;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::*;
use crate::specialist_scripts::{proposed, reported, scripted, step};

#[tokio::test]
async fn recorded_calls_that_are_carried_out_are_noted() {
    let model = ScriptedModel::new([
        Reply::call("list_files", json!({}))
            .and_call("read_file", json!({"path": "a.txt"}))
            .and_call("read_file", json!({"path": "none"})),
        Reply::call("plan_finalize", json!({})),
    ]);
    let world = working_with(model, |_| {}).await;
    world.has_file("a.txt", "What A says.");
    world.send("/plan on collect").await;
    world.say("Look around").await;
    assert_eq!(world.notes().await, 0);
    world.send("/plan approve").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    let (findings, progress) = (world.reads(DocumentKind::Findings).await, world.reads(DocumentKind::Progress).await);
    assert!(findings.contains("from `read_file {\"path\":\"a.txt\"}`."), "{findings}");
    assert_eq!(findings.matches("### Entry").count(), 1);
    assert!(progress.contains("`read_file {\"path\":\"none\"}` | `") && progress.contains("| 1 |"), "{progress}");
    world.is_sound().await;
}

/// The end of the execution gives the session up, and a note needs it.
#[tokio::test]
async fn the_last_recorded_call_is_noted_too() {
    let calls = Reply::call("list_files", json!({})).and_call("read_file", json!({"path": "a.txt"}));
    let model = ScriptedModel::new([calls, Reply::call("plan_finalize", json!({}))]);
    let world = working_with(model, |_| {}).await;
    world.has_file("a.txt", "What A says.");
    world.send("/plan on collect").await;
    world.say("Look around").await;
    world.send("/plan approve").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    let findings = world.reads(DocumentKind::Findings).await;
    assert!(findings.contains("from `read_file {\"path\":\"a.txt\"}`."), "{findings}");
    world.is_sound().await;
}

#[tokio::test]
async fn what_a_specialist_finds_and_fails_at_is_noted_and_its_step_goes_on() {
    let world = proposed(&[step("Look", "researcher", &[])], |_| {}).await;
    let beginning = NewWorkbook { title: "Open the shop".to_owned(), force_new: false };
    world.engine().workbooks().init(&world.session, &person(), &beginning).await.unwrap();
    world.has_file("a.txt", "What A says.");
    scripted(&world, "researcher", [list(), read("a.txt"), read("none"), reported("done", "Looked.")]);
    world.send("/plan approve").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    let (findings, progress) = (world.reads(DocumentKind::Findings).await, world.reads(DocumentKind::Progress).await);
    assert!(findings.contains("> What A says.\n"), "{findings}");
    assert!(progress.contains("`read_file {\"path\":\"none\"}`"), "{progress}");
    // The one that steps are given to is told what to do, and nothing about the conversation's workbook.
    let told = world.model.requests_of("researcher");
    assert!(told.iter().all(|request| !request.system.contains("# Workbook")));
    world.is_sound().await;
}
