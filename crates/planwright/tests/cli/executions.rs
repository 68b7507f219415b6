//! What `plan history`, `plan status` and the card tell of executions and decisions.

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use serde_json::json;

use crate::watch::{Carrier, approved};
use crate::world::{SESSION, World};

#[test]
fn history_shows_every_execution_with_each_step() {
    let world = approved();
    let carrier = Carrier::of(&world);
    carrier.starts();
    carrier.does_step("s1");
    carrier.begins("s2");
    carrier.ends("s2", StepStatus::Failed, "no room");
    carrier.finishes();
    carrier.starts();
    carrier.does_step("s2");
    carrier.begins("s3");
    let history = world
        .run("plan history")
        .done()
        .tells("2 executions")
        .tells("execution 1 begun just now (")
        .tells("by grace through web; PARTIALLY_COMPLETED after ")
        .tells("by planwright (system) through web: 1 done, 1 failed, 1 not begun")
        .tells("failed no room")
        .tells("it has not ended: 2 done, 1 in progress");
    let second = &history.stdout[history.stdout.find("execution 2 begun").unwrap()..];
    assert!(second.contains("✔ 2.") && !second.contains("no room"), "{second}");
    let executions = world.json("plan history")["executions"].clone();
    assert_eq!(executions[0]["status"], "PARTIALLY_COMPLETED");
    assert_eq!(executions[0]["startedBy"], json!({ "kind": "person", "name": "grace", "through": "web" }));
    assert_eq!(executions[0]["finishedBy"]["kind"], "system");
    assert!(executions[0]["tookMs"].is_u64() && executions[0]["steps"][1]["tookMs"].is_u64(), "{executions}");
    assert_eq!(executions[0]["steps"][1]["status"], "FAILED");
    assert_eq!(executions[1]["number"], 2);
    assert_eq!(executions[1]["steps"][1]["status"], "COMPLETED");
    assert_eq!((&executions[1]["status"], &executions[1]["finishedAt"]), (&json!(null), &json!(null)));
}

#[test]
fn a_decision_says_who_through_what_which_steps_and_why() {
    let world = World::with_built_plan();
    let line = format!("plan approve --digest {} --skip 1 --note careful", world.digest());
    world.run(&line).done();
    world.run("plan revise 1 -- use a view").done();
    world
        .run("plan history 1")
        .done()
        .says("1 decision\n")
        .tells("approved, only step 3, by ada through cli, just now (")
        .tells("without step 1: left out by the approval")
        .tells("without step 2: needs step 1, which is skipped")
        .tells("note: careful");
    world.run("plan history 2").done().tells("changes asked for by ada through cli").tells("use a view");
    let decision = world.json("plan history 1")["decisions"][0].clone();
    assert_eq!((&decision["decision"], &decision["given"]), (&json!("approved"), &json!("person")));
    assert_eq!((&decision["by"], &decision["through"]), (&json!("ada"), &json!("cli")));
    assert_eq!((&decision["steps"], &decision["note"]), (&json!([3]), &json!("careful")));
    assert_eq!(decision["skipped"][1]["position"], 2);
}

#[test]
fn a_standing_policy_is_never_shown_as_a_person() {
    let world = World::new();
    world.turn_on(SESSION, PlanStyle::Collect);
    for path in ["a", "b"] {
        world.agent_calls(SESSION, "read_file", json!({ "path": path })).unwrap();
    }
    world.agent_calls(SESSION, "plan_finalize", json!({})).unwrap();
    let session = SESSION.parse().unwrap();
    world.with_engine(async |engine| {
        let plan = engine.plans().active(&session).await.unwrap();
        let by = Actor::new(ActorKind::Policy, "ada", "cli");
        engine.plans().approve(&session, &by, &plan.id, plan.digest(), Selection::All, None).await.unwrap();
    });
    let text = "by a standing policy, not a person (ada through cli)";
    let history = world.run("plan history").done().tells("approved, all 2 steps,").tells(text);
    let log = history.stdout.lines().find(|line| line.contains("just now: a standing policy, not a person"));
    assert!(log.is_some(), "{}", history.stdout);
    world.run("plan show").done().tells(text);
    assert_eq!(world.json("plan history")["decisions"][0]["given"], "policy");
    assert_eq!(world.json("plan show")["approval"]["given"], "policy");

    let mut chat = world.command();
    let chat = crate::world::ran(chat.args(["chat", "--session", SESSION, "/plan show"])).done();
    chat.tells(text);
    let mut chat = world.command();
    let chat = crate::world::ran(chat.args(["chat", "--json", "--session", SESSION, "/plan show"])).done();
    assert_eq!(chat.json()["plan"]["approval"]["given"], "policy");
}

#[test]
fn status_answers_what_is_done_since_when_and_what_is_next() {
    let world = approved();
    let carrier = Carrier::of(&world);
    carrier.starts();
    carrier.does_step("s1");
    carrier.begins("s2");
    let status = world
        .run("plan status")
        .done()
        .tells("Plan 1 is EXECUTING: Three files. 1 of 3 steps are done. Next: 3. write_file")
        .tells("execution 1, begun just now")
        .tells("step 2 is in progress for 0.")
        .tells("planwright plan watch 1");
    assert_eq!(status.stderr, "");
    let status = world.json("plan status");
    assert!(status["standing"].as_str().unwrap().contains("step 2 is in progress for "), "{status}");
    assert_eq!(status["activePlan"]["execution"]["counts"]["inProgress"], 1);
    assert!(status["activePlan"]["steps"][1]["startedAt"].is_string(), "{status}");
    carrier.ends("s2", StepStatus::Uncertain, "the line broke");
    world
        .run("plan status")
        .done()
        .tells("1 uncertain")
        .tells("the line broke")
        .tells("The result of step 2 is unknown");

    world.run("plan off").done();
    world.run("plan status").done().tells("Plan work is off").tells("Plan 1 is EXECUTING");
    let status = world.json("plan status");
    assert_eq!((&status["activePlan"], &status["othersUnderWay"][0]["number"]), (&json!(null), &json!(1)));
    let mut chat = world.command();
    let chat = crate::world::ran(chat.args(["chat", "--session", SESSION, "/plan status"])).done();
    chat.tells("Plan work is off").tells("step 2 is uncertain, begun just now").tells("the line broke");
}

/// A session of our own agent, with a plan of this style that waits.
fn drafted(style: &str) -> World {
    let world = World::new();
    world.run_with_input(&format!("chat --plan {style}"), "tidy the garage\n").done();
    world
}

#[test]
fn an_approval_on_the_command_line_carries_the_plan_out() {
    for (style, told) in [("collect", "✔ 2/2  write_file"), ("build", "✔ 3/3"), ("document", "✔ plan_progress")] {
        let world = drafted(style);
        let digest = world.json("plan show 1")["digest"].as_str().unwrap().to_owned();
        let approved = world.run(&format!("plan approve 1 --digest {digest}")).done();
        approved.complains("Plan 1 is approved").complains(told).says("COMPLETED");
        assert_eq!(world.json("plan show 1")["status"], "COMPLETED", "{style}");
        world.run(&format!("plan approve 1 --digest {digest}")).exits(3);
        world.run("verify").done();
    }
}

#[test]
fn an_approval_for_later_waits_until_it_is_resumed() {
    for style in ["collect", "build", "document"] {
        let world = drafted(style);
        let digest = world.json("plan show 1")["digest"].as_str().unwrap().to_owned();
        world.run(&format!("plan approve 1 --later --digest {digest}")).done().says("APPROVED");
        assert_eq!(world.json("plan show 1")["status"], "APPROVED", "{style}");
        world.run("plan resume 1 --skip").exits(3).complains("did not stop at a step");
        world.run("plan resume 1 --retry --stop").exits(2);
        world.run("plan resume 1").done().says("COMPLETED");
    }
}

#[test]
fn a_rule_for_plans_that_only_read_does_not_approve_one_that_writes() {
    let world = World::new();
    world.write("planwright.toml", "[plan]\nstanding_approval = \"read_only\"\n");
    // The rehearsal's plan writes a file, so the rule does not fit.
    world.run_with_input("chat --plan collect", "tidy the garage\n").done().says("READY");
    assert_eq!(world.json("plan show 1")["status"], "READY");
}
