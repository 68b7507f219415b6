use planwright_core::plan::PlanStyle;
use serde_json::json;

use crate::world::{PLAN, SESSION, World, ran};

const NEWER: &str = "# Move the tables\n\n- [ ] copy the rows\n- [ ] delete the backups\n";

#[test]
fn without_a_terminal_and_without_a_digest_nothing_is_approved() {
    let world = World::with_plan();
    let digest = world.digest();
    world
        .run("plan approve 1")
        .exits(2)
        .says("drop the `old` table")
        .says(&digest)
        .says("claude (agent) through mcp")
        .complains("there is no terminal to ask on")
        .complains(&format!("planwright plan approve 1 --digest {digest}\n"));
    // A yes that no person can have typed does not count.
    world.run_with_input("plan approve 1", "y\nyes\n").exits(2);
    assert_eq!(world.status(), "READY");
}

#[test]
fn the_right_digest_approves_and_says_who_it_was() {
    let world = World::with_plan();
    let digest = world.digest();
    world.run(&format!("plan approve --digest {digest} --note careful")).done().says("APPROVED");
    let plan = world.json("plan show 1");
    assert_eq!(plan["approval"]["by"], "ada");
    assert_eq!(plan["approval"]["given"], "person");
    assert_eq!(plan["approval"]["through"], "cli");
    assert_eq!(plan["approval"]["digest"], json!(digest));
    assert_eq!(plan["approval"]["note"], "careful");
}

#[test]
fn an_old_digest_is_stale_and_the_new_text_is_shown() {
    let world = World::with_plan();
    let digest = world.digest();
    world.agent_drafts(SESSION, NEWER);
    world
        .run(&format!("plan approve 1 --digest {digest}"))
        .exits(5)
        .says("delete the backups")
        .complains("has changed since it was shown")
        .complains(&format!("planwright plan approve 1 --digest {}\n", world.digest()));
    assert_eq!(world.status(), "READY");

    let error = world.run(&format!("plan approve 1 --digest {digest} --json")).exits(5).error_json();
    assert_eq!(error["code"], "STALE_APPROVAL");
    assert_eq!(error["plan"]["markdown"], NEWER);
}

#[test]
fn programs_without_a_digest_get_the_text_and_the_digest_with_the_error() {
    let world = World::with_plan();
    let error = world.run("plan approve 1 --json").exits(2).error_json();
    assert_eq!(error["code"], "INVALID_ARGUMENT");
    assert_eq!(error["digest"], json!(world.digest()));
    assert_eq!(error["plan"]["markdown"], PLAN);
    assert_eq!(world.status(), "READY");
}

#[test]
fn a_digest_has_all_its_digits() {
    let world = World::with_plan();
    let short = &world.digest()[..12];
    world.run(&format!("plan approve 1 --digest {short}")).exits(2).complains("64 hexadecimal digits");
    assert_eq!(world.status(), "READY");
}

#[test]
fn a_document_is_approved_as_a_whole() {
    let world = World::with_plan();
    let digest = world.digest();
    world.run("plan approve 1 --only 1").exits(2).complains("approved as a whole");
    world.run(&format!("plan approve 1 --only 1 --digest {digest}")).exits(2).complains("approved as a whole");
    assert_eq!(world.status(), "READY");
}

#[test]
fn some_steps_are_approved_and_what_needs_a_skipped_one_is_skipped_with_it() {
    let world = World::with_built_plan();
    world
        .run("plan approve 1 --skip 1")
        .exits(2)
        .says("These steps will not be done")
        .says("step 1: Write the migration")
        .says("needs step 1, which is skipped");
    assert_eq!(world.status(), "READY");
    let digest = world.digest();
    world.run(&format!("plan approve 1 --skip 1 --digest {digest}")).done().says("needs step 1, which is skipped");
    let approval = &world.json("plan show 1")["approval"];
    assert_eq!(approval["skipped"].as_array().unwrap().len(), 2);
    assert_eq!(approval["steps"], json!(["s3"]));
}

#[test]
fn only_some_steps_and_steps_that_are_not_there() {
    let world = World::with_built_plan();
    let digest = world.digest();
    world.run("plan approve 1 --only 4").exits(2).complains("There is no step 4");
    world.run("plan approve 1 --only 2").exits(2).complains("No step would be left");
    world.run("plan approve 1 --only 1 --skip 2").exits(2).complains("cannot be used with");
    world.run(&format!("plan approve 1 --only 1,3 --digest {digest}")).done();
    assert_eq!(world.json("plan show 1")["approval"]["steps"], json!(["s1", "s3"]));
}

#[test]
fn what_cannot_be_approved_is_refused_before_it_is_shown() {
    let world = World::with_plan();
    world.run("plan reject 1").done();
    world.run("plan approve 1").exits(3).never_says("copy the rows").complains("REJECTED");
    world.turn_on(SESSION, PlanStyle::Document);
    world.run("plan approve 2").exits(3).complains("still being drafted");
}

#[test]
fn the_command_that_is_handed_out_names_the_same_steps_and_the_same_note() {
    let world = World::with_built_plan();
    let digest = world.digest();
    let hint = format!("planwright plan approve 1 --skip 1 --note 'it'\\''s late' --digest {digest}\n");
    let text = ["plan", "approve", "1", "--skip", "1", "--note", "it's late"];
    ran(world.command().args(text)).exits(2).complains(&hint);
    world.run("plan approve 1 --only 1,3").exits(2).complains(&format!("approve 1 --only 1,3 --digest {digest}\n"));
    // It does what was shown.
    let line = hint.trim_end().replacen("planwright", env!("CARGO_BIN_EXE_planwright"), 1);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &line]).env("PLANWRIGHT_DATA", world.path("")).env("USER", "ada");
    ran(shell.env("PLANWRIGHT_APPROVAL_REQUIRE", "any")).done();
    let approval = &world.json("plan show 1")["approval"];
    assert_eq!((&approval["steps"], &approval["note"]), (&json!(["s3"]), &json!("it's late")));
}

#[test]
fn programs_are_told_what_their_selection_comes_to() {
    let world = World::with_built_plan();
    let error = world.run("plan approve 1 --skip 1 --json").exits(2).error_json();
    assert_eq!(error["selection"], json!({ "skip": [1] }));
    let second = json!({ "step": "s2", "position": 2, "reason": "needs step 1, which is skipped" });
    assert_eq!(error["skipped"][1], second);
    assert_eq!(error["digest"], json!(world.digest()));
    assert_eq!(world.run("plan approve 1 --json").exits(2).error_json()["selection"], "all");
}

#[test]
fn after_a_change_the_whole_command_is_handed_out_again() {
    let world = World::with_built_plan();
    let old = world.digest();
    world.run("plan revise 1 -- shorter").done();
    world.agent_calls(SESSION, "plan_remove_step", json!({ "step_id": "s3" })).unwrap();
    world.agent_calls(SESSION, "plan_submit", json!({})).unwrap();
    let new = world.digest();
    assert_ne!(old, new);
    world
        .run(&format!("plan approve 2 --skip 2 --note careful --digest {old}"))
        .exits(5)
        .says("step 2: Test it")
        .complains(&format!("planwright plan approve 2 --skip 2 --note careful --digest {new}\n"));
    world.run(&format!("plan approve 2 --skip 3 --digest {old}")).exits(5).complains("do not fit any more");
    let error = world.run(&format!("plan approve 2 --skip 2 --digest {old} --json")).exits(5).error_json();
    assert_eq!(error["skipped"][0]["position"], 2);
    assert_eq!(error["digest"], json!(new));
}

#[test]
fn an_approved_plan_that_is_parked_is_not_begun() {
    let world = World::with_plan();
    let digest = world.digest();
    world.run("plan off").done();
    world
        .run(&format!("plan approve 1 --digest {digest}"))
        .done()
        .never_says("may begin")
        .says("It is parked.\nStart: planwright plan resume 1\n");
    world.run("plan show 1").done().says("It is parked.\nStart: planwright plan resume 1\n");
    world.run("plan resume 1").done().never_says("parked");
}
