use planwright_core::plan::PlanStyle;
use serde_json::json;

use crate::world::{SESSION, World};

#[test]
fn rejecting_with_a_reason_in_either_form() {
    for line in ["plan reject 1 -- too risky", "plan reject 1 --reason risky", "plan reject -- too risky"] {
        let world = World::with_plan();
        world.run(line).done().says("REJECTED");
        let reason = world.json("plan show 1")["endedBecause"].as_str().unwrap().to_owned();
        assert!(reason.ends_with("risky"), "{reason}");
    }
}

#[test]
fn words_without_dashes_are_never_taken_for_a_plan() {
    let world = World::with_plan();
    world.run("plan reject 1 too risky").exits(2).complains("[-- <REASON>...]");
    world.run("plan reject risky").exits(2).complains("does not name a plan");
    assert_eq!(world.status(), "READY");
}

#[test]
fn feedback_comes_as_words_as_text_or_from_stdin() {
    let world = World::with_plan();
    world.run("plan revise 1 -- keep the table").done().says("has your feedback");
    assert_eq!(world.json("plan show 1")["feedback"], "keep the table");
    world.run("plan revise 1 --feedback again").done();
    assert_eq!(world.json("plan show 1")["feedback"], "keep the table\n\nagain");
    world.run_with_input("plan revise 1 --feedback -", "two\nlines\n").done();
    assert_eq!(world.json("plan show 1")["feedback"], "keep the table\n\nagain\n\ntwo\nlines");
    world.run("plan revise 1").exits(2).complains("--feedback");
    world.run_with_input("plan revise 1 --feedback -", "  \n").exits(2).complains("blank");
}

#[test]
fn revising_an_approved_plan_answers_with_the_one_that_takes_its_place() {
    let world = World::with_plan();
    world.run(&format!("plan approve 1 --digest {}", world.digest())).done();
    let revised = world.json("plan revise 1 --feedback more");
    assert_eq!(revised["number"], 2);
    assert_eq!(world.status(), "SUPERSEDED");
}

#[test]
fn cancelling_and_then_nothing_more() {
    let world = World::with_plan();
    world.run("plan cancel -- not needed").done().says("CANCELLED");
    world.run("plan cancel 1").exits(3).complains("CANCELLED").complains("planwright plan show 1");
    let error = world.run("plan reject 1 --json").exits(3).error_json();
    assert_eq!(error["code"], "WRONG_STATUS");
}

#[test]
fn resuming_a_document_makes_it_active_again() {
    let world = World::with_plan();
    world.run(&format!("plan approve 1 --digest {}", world.digest())).done();
    world.run("plan off").done().says("parked");
    world.run("plan resume 1").done().says("EXECUTING");
    world.agent_calls(SESSION, "plan_progress", json!({ "status": "done" })).unwrap();
    world.run("plan done").done().says("PARTIALLY_COMPLETED");
    world.run("plan resume 1").done().says("1 of 2 done");
}

#[test]
fn calls_of_tools_that_are_not_here_stay_approved() {
    let world = World::new();
    world.turn_on(SESSION, PlanStyle::Collect);
    world.agent_calls(SESSION, "send_mail", json!({ "to": "a" })).unwrap();
    world.agent_calls(SESSION, "plan_finalize", json!({})).unwrap();
    world.run(&format!("plan approve --digest {}", world.digest())).done().says("makes its calls");
    world.run("plan resume 1").exits(6).complains("calls `send_mail`, and there is no such tool here");
    let error = world.run("plan resume 1 --json").exits(6).error_json();
    assert_eq!(error["code"], "UNAVAILABLE");
    assert_eq!(world.status(), "APPROVED");
}

#[test]
fn approved_calls_are_carried_out_step_by_step() {
    let world = World::new();
    world.turn_on(SESSION, PlanStyle::Collect);
    world.agent_calls(SESSION, "write_file", json!({ "path": "a.txt", "content": "one" })).unwrap();
    world.agent_calls(SESSION, "read_file", json!({ "path": "missing.txt" })).unwrap();
    world.agent_calls(SESSION, "plan_finalize", json!({})).unwrap();
    world.run(&format!("plan approve --digest {}", world.digest())).done();
    let ran = world.run("plan resume 1").exits(3);
    let ran = ran.says("PARTIALLY_COMPLETED").says("1 of 2 done").complains("1/2").complains("2/2");
    ran.complains("failed: ");
    let folder = only_folder(&world.path("users")).join("files");
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "one");
    std::fs::write(folder.join("missing.txt"), "here").unwrap();
    world.run("plan resume 1").done().says("COMPLETED").says("2 of 2 done");
    world.run("plan resume 1").exits(3);
    world.run("verify").done();
}

fn only_folder(parent: &std::path::Path) -> std::path::PathBuf {
    let mut found = std::fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    let only = found.next().unwrap();
    assert!(found.next().is_none());
    only
}

#[test]
fn plan_done_says_that_what_is_not_finished_is_parked() {
    let world = World::with_plan();
    world.run("plan done").done().says("Plan 1  READY").says("It is parked").says("planwright plan approve 1\n");
    let world = World::with_plan();
    world.run(&format!("plan approve --digest {}", world.digest())).done().says("The agent may begin.");
    world.run("plan done").done().says("Plan 1  APPROVED").says("It is parked").says("planwright plan resume 1\n");
}

#[test]
fn a_parked_plan_names_the_command_that_brings_it_back() {
    let world = World::with_built_plan();
    world.run("plan on build").done();
    let draft = json!({ "goal": "Drop the columns" });
    world.agent_calls(SESSION, "plan_create_draft", draft).unwrap();
    world.run("plan off").done().says("It is parked").says("planwright plan revise 2 -- WORDS\n");
    world.run("plan revise 2 -- go on").done().says("The agent has your feedback");
    assert_eq!(world.json("plan status")["activePlan"]["number"], 2);

    let world = World::with_plan();
    world.run(&format!("plan approve --digest {}", world.digest())).done();
    world.agent_calls(SESSION, "plan_progress", json!({ "status": "in_progress" })).unwrap();
    world.run("plan off").done().says("Plan 1  EXECUTING").says("planwright plan resume 1\n");
    world.run("plan resume 1").done().says("It is left to ");
}
