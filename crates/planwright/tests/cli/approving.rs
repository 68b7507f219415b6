use planwright_core::plan::PlanStyle;
use serde_json::json;

use crate::world::{PLAN, SESSION, World};

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
        .complains("nobody can be asked here")
        .complains(&format!("planwright plan approve 1 --session {SESSION} --digest {digest}"));
    // A yes that nobody could have meant is none.
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
        .complains(&world.digest());
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

fn with_built_plan() -> World {
    let world = World::new();
    world.turn_on(SESSION, PlanStyle::Build);
    let call = |tool: &str, arguments| world.agent_calls(SESSION, tool, arguments).unwrap();
    call("plan_create_draft", json!({ "goal": "Move the tables" }));
    call("plan_add_step", json!({ "description": "Write the migration", "agent": "coder" }));
    call("plan_add_step", json!({ "description": "Test it", "agent": "tester", "needs": ["s1"] }));
    call("plan_add_step", json!({ "description": "Tell everybody", "agent": "writer" }));
    let lists = json!({ "assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["f"] });
    call("plan_set_metadata", lists);
    call("plan_submit", json!({}));
    world
}

#[test]
fn some_steps_are_approved_and_what_needs_a_skipped_one_is_skipped_with_it() {
    let world = with_built_plan();
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
    let world = with_built_plan();
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
