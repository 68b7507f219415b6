use planwright_core::plan::PlanStyle;
use serde_json::json;

use crate::world::{PLAN, SESSION, World};

#[test]
fn a_plan_is_found_by_number_id_piece_and_short_id() {
    let world = World::with_plan();
    let plan = world.active_plan(SESSION);
    let id = plan.id.as_str();
    for reference in ["1", id, plan.id.short(), &id[id.len() - 20..id.len() - 4]] {
        world.run(&format!("plan show {reference}")).done().says("Move the tables");
    }
    world.run("plan list").done().says(plan.id.short());
    world.run("plan show 2").exits(4).complains("There is no plan `2`");
    world.run("plan show 0").exits(2).complains("does not name a plan");
    world.run("plan show abc").exits(2).complains("at least 6 characters");
}

#[test]
fn a_piece_that_fits_two_plans_is_not_guessed() {
    let world = World::with_plan();
    world.run("plan off").done();
    world.agent_drafts(SESSION, PLAN);
    let first = world.json("plan show 1")["id"].as_str().unwrap()[..6].to_owned();
    world.run(&format!("plan show {first}")).exits(5).complains("could be plan");
}

#[test]
fn a_plan_of_another_session_is_not_there() {
    let world = World::with_plan();
    world.agent_drafts("web:session-two", PLAN);
    let id = world.active_plan("web:session-two").id.to_string();
    world.run(&format!("plan show {id} --session {SESSION}")).exits(4);
    world.run(&format!("plan cancel {id} --session {SESSION}")).exits(4);
}

#[test]
fn a_card_shows_everything_and_json_is_the_contract() {
    let world = World::with_plan();
    world
        .run("plan show")
        .done()
        .says("Plan 1  READY  document")
        .says(SESSION)
        .says(&world.digest())
        .says("by claude (agent) through mcp, just now (")
        .says("☐ copy the rows")
        .says("planwright plan approve 1");
    world.run("plan show --raw").done().says("- [ ] drop the `old` table");
    let plan = world.json("plan show");
    assert_eq!(plan["markdown"], PLAN);
    assert_eq!(plan["sessionId"], "session-one");
    assert_eq!(plan["steps"][1]["description"], "drop the old table");
}

#[test]
fn lists_are_the_newest_first_and_paged() {
    let world = World::with_plan();
    world.run("plan off").done();
    world.agent_drafts(SESSION, "# Another one\n");
    let list = world.json("plan list");
    assert_eq!(list["plans"][0]["title"], "Another one");
    assert_eq!((&list["sessionId"], &list["channel"]), (&json!("session-one"), &json!("mcp")));
    assert_eq!(list["planMode"]["activePlanId"], list["plans"][0]["id"]);
    assert_eq!(list["damaged"], json!([]));
    assert!(list["next"].is_null());
    let older = world.json("plan list --before 2");
    assert_eq!(older["plans"].as_array().unwrap().len(), 1);
    world.run("plan list").done().says("▸  2");
}

#[test]
fn a_difference_says_what_it_means_and_then_the_lines() {
    let world = World::with_plan();
    world.agent_drafts(SESSION, "# Move the tables\n\n- [ ] copy the rows\n- [ ] compare the sums\n- [ ] tell ada\n");
    let diff = world.run("plan diff").done().says("version 1 → version 2").says("step 3: tell ada");
    assert!(diff.stdout.contains("4 - - [ ] drop the `old` table"), "{}", diff.stdout);
    assert!(diff.stdout.contains("5 + - [ ] tell ada"), "{}", diff.stdout);
    world.run("plan diff --from 2 --to 2").done().says("Nothing changed");
    world.run("plan diff --from 7").exits(4).complains("versions 1 to 2");
    world.run("plan diff 1 1 --from 1").exits(2);
    world.run("plan diff --from 0").exits(2).complains("0 is not in 1..");
    world.run("plan diff --to 0").exits(2).complains("0 is not in 1..");
    let diff = world.json("plan diff");
    assert!(diff["changes"].as_array().unwrap().len() >= 2);
    let id = world.active_plan(SESSION).id.to_string();
    assert_eq!(diff["from"], json!({ "id": id, "number": 1, "version": 1 }));
    assert_eq!(diff["to"], json!({ "id": id, "number": 1, "version": 2 }));
    assert_eq!(world.json("plan diff --to 1")["from"], json!(null));

    world.run("plan off").done();
    world.agent_drafts(SESSION, PLAN);
    world.run("plan diff 1 2").done().says("plan 1 → plan 2").says("- step 3: tell ada");
    world.turn_on(SESSION, PlanStyle::Collect);
    world.run("plan diff 1 3").exits(2).complains("cannot be compared");
    world.run("plan diff 3").exits(4).complains("Plan 3 is still being drafted");
}

#[test]
fn a_draft_without_a_version_is_compared_with_the_plan_it_took_the_place_of() {
    let world = World::with_built_plan();
    world.run(&format!("plan approve 1 --digest {}", world.digest())).done();
    world.run("plan revise 1 -- one step more").done();
    let step = json!({ "description": "Watch it", "agent": "tester" });
    world.agent_calls(SESSION, "plan_add_step", step).unwrap();
    world.run("plan diff").done().says("plan 1 → plan 2 as it is drafted").says("step 4: Watch it");
    let diff = world.json("plan diff 2");
    assert_eq!((&diff["from"]["number"], &diff["from"]["version"]), (&json!(1), &json!(1)));
    assert_eq!((&diff["to"]["number"], &diff["to"]["version"]), (&json!(2), &json!(null)));

    world.agent_calls(SESSION, "plan_submit", json!({})).unwrap();
    world.run("plan diff").done().says("plan 1 → plan 2, version 1").says("step 4: Watch it");
    assert_eq!(world.json("plan diff")["to"]["version"], 1);
}

#[test]
fn history_tells_who_did_what_and_when() {
    let world = World::with_plan();
    world.run("plan revise -- smaller steps").done();
    world.agent_drafts(SESSION, "# Smaller\n");
    world.run(&format!("plan approve --digest {} --note good", world.digest())).done();
    world
        .run("plan history")
        .done()
        .says("just now: claude (agent) through mcp")
        .says("changes asked for: smaller steps")
        .says("approved: good")
        .says("the text was set: 1 line;")
        .says("the text was set: 4 lines;")
        .says("2 versions; `planwright plan diff 1 --from N --to N` compares two");
    let history = world.json("plan history 1");
    assert_eq!(history["versions"].as_array().unwrap().len(), 2);
    let kinds: Vec<_> =
        history["items"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"plan_approved") && kinds.contains(&"revision_requested"), "{kinds:?}");
}

#[test]
fn progress_is_shown_with_notes_and_evidence() {
    let world = World::with_plan();
    world.run(&format!("plan approve --digest {}", world.digest())).done();
    let report = json!({ "status": "failed", "note": "no room", "evidence": "df -h" });
    world.agent_calls(SESSION, "plan_progress", report).unwrap();
    world
        .run("plan status")
        .done()
        .says("0 of 2 done")
        .says("✘ 1. copy the rows")
        .says("no room")
        .says("evidence: df -h");
    world.run("plan show").done().says("✘ 1. copy the rows");
}

#[test]
fn an_export_is_the_text_byte_for_byte_and_overwrites_nothing() {
    let world = World::with_plan();
    assert_eq!(world.run("plan export").done().stdout, PLAN);
    world.run("plan export 1 --output plan.md").done().says("plan.md");
    assert_eq!(std::fs::read_to_string(world.path("plan.md")).unwrap(), PLAN);
    world.write("plan.md", "mine");
    world.run("plan export 1 --output plan.md").exits(2).complains("exists already").complains("--force");
    assert_eq!(std::fs::read_to_string(world.path("plan.md")).unwrap(), "mine");
    world.run("plan export 1 --output plan.md --force").done();
    assert_eq!(std::fs::read_to_string(world.path("plan.md")).unwrap(), PLAN);
    world.run("plan export 1 --output no/such/folder/plan.md").exits(6).complains("cannot be written");
    assert_eq!(world.json("plan export")["markdown"], PLAN);
    let names = std::fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    let exported: Vec<_> = names.filter(|name| name.to_string_lossy().contains("plan.md")).collect();
    assert_eq!(exported, ["plan.md"], "no temporary file is left");
}

#[test]
fn help_and_version() {
    let world = World::new();
    let help = world
        .run("--help")
        .done()
        .says("Exit codes:")
        .says("planwright plan approve 3")
        .says("PLANWRIGHT_LIMITS_STEPS");
    assert_eq!(help.stderr, "");
    // A development build names no commit.
    world.run("--version").done().says(concat!("planwright ", env!("CARGO_PKG_VERSION"), " ("));
    world.run("plan approve --help").done().says("--digest");
    world.run("plan frobnicate").exits(2).complains("frobnicate");
    let error = world.run("plan frobnicate --json").exits(2).error_json();
    assert_eq!(error["code"], "INVALID_ARGUMENT");
    assert!(error["message"].as_str().unwrap().contains("frobnicate"));
    let error = world.run("plan on sideways --json").exits(2).error_json();
    assert!(error["message"].as_str().unwrap().contains("[possible values: document, collect, build]"), "{error}");
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    let world = World::with_plan();
    let mut child = world.command().args(["plan", "show"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
