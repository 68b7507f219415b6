//! What a person decides, and the work it leads to.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, DraftCommand};
use planwright_core::session::SessionIdentity;
use planwright_llm::scripted::{Gate, Reply};
use serde_json::{Value, json};

use crate::world::{MARKDOWN, SESSION, World, carrying_out};

fn path(plan: &Value, what: &str) -> String {
    format!("/api/plans/{}/{what}", plan["id"].as_str().unwrap())
}

#[tokio::test]
async fn an_approved_plan_is_carried_out_after_the_answer() {
    let gate = Gate::closed();
    let [first, rest @ ..] = carrying_out();
    let (world, plan) = World::with_plan([first.behind(&gate)].into_iter().chain(rest)).await;
    let approved =
        world.post(&path(&plan, "approve"), json!({ "digest": plan["digest"], "note": "go" })).await.with(200);
    // The work waits behind the gate, so the answer did not wait for it.
    assert_eq!((&approved["status"], &approved["approval"]["note"]), (&json!("EXECUTING"), &json!("go")));
    assert_eq!((&approved["approval"]["given"], &approved["approval"]["through"]), (&json!("person"), &json!("web")));
    gate.open();
    let done = world.wait_for(plan["id"].as_str().unwrap(), "COMPLETED").await;
    assert_eq!(done["progress"]["done"], 2);
    world.post(&path(&plan, "approve"), json!({ "digest": plan["digest"] })).await.refused(409, "WRONG_STATUS");
}

#[tokio::test]
async fn an_approval_may_leave_the_work_for_later() {
    let (world, plan) = World::with_plan(carrying_out()).await;
    let approve = json!({ "digest": plan["digest"], "later": true });
    assert_eq!(world.post(&path(&plan, "approve"), approve).await.with(200)["status"], "APPROVED");
    let resumed = world.post(&path(&plan, "resume"), json!({})).await.with(200);
    assert_eq!(resumed["status"], "EXECUTING");
    world.wait_for(plan["id"].as_str().unwrap(), "COMPLETED").await;
    world.post(&path(&plan, "resume"), json!({})).await.refused(409, "WRONG_STATUS");
}

#[tokio::test]
async fn an_approval_of_another_text_shows_the_plan_as_it_is() {
    let (world, plan) = World::with_plan([]).await;
    let before = world.event_names(SESSION).await;
    let stale = world.post(&path(&plan, "approve"), json!({ "digest": "0".repeat(64) })).await;
    assert_eq!(stale.refused(409, "STALE_APPROVAL")["plan"], plan);
    for body in [
        json!({}),
        json!({ "digest": "abc" }),
        json!({ "digest": plan["digest"], "only": [1], "skip": [2] }),
        json!({ "digest": plan["digest"], "only": [0] }),
        json!({ "digest": plan["digest"], "only": [-1] }),
        json!({ "digest": plan["digest"], "yes": true }),
        // A document is approved as a whole.
        json!({ "digest": plan["digest"], "only": [1] }),
    ] {
        world.post(&path(&plan, "approve"), body).await.refused(400, "INVALID_ARGUMENT");
    }
    let long = json!({ "digest": plan["digest"], "note": "x".repeat(16 * 1024 + 1) });
    world.post(&path(&plan, "approve"), long).await.refused(413, "LIMIT_EXCEEDED");
    assert_eq!(world.event_names(SESSION).await, before);
}

#[tokio::test]
async fn some_steps_are_approved() {
    let calls = Reply::call("list_files", json!({})).and_call("read_file", json!({ "path": "a.md" }));
    let world = World::new([calls, Reply::call("plan_finalize", json!({ "summary": "look" }))]).await;
    world.post("/api/plans/enable", json!({ "sessionId": SESSION, "style": "collect" })).await.with(200);
    let answer = world.say("look around").await.with(200);
    assert_eq!((&answer["outcome"], &answer["plan"]["status"]), (&json!("plan_ready"), &json!("READY")));
    let plan = world.get(&format!("/api/plans/1?sessionId={SESSION}")).await.with(200);
    let body = json!({ "digest": plan["digest"], "skip": [2], "sessionId": SESSION });
    let approved = world.post("/api/plans/1/approve", body).await.with(200);
    assert_eq!(approved["approval"]["skipped"][0]["position"], 2);
    let done = world.wait_for(plan["id"].as_str().unwrap(), "COMPLETED").await;
    let statuses: Vec<_> = done["steps"].as_array().unwrap().iter().map(|step| &step["status"]).collect();
    assert_eq!(statuses, ["COMPLETED", "SKIPPED"]);
}

#[tokio::test]
async fn a_plan_is_rejected_or_cancelled_once() {
    for (what, status) in [("reject", "REJECTED"), ("cancel", "CANCELLED")] {
        let (world, plan) = World::with_plan([]).await;
        let ended = world.post(&path(&plan, what), json!({ "reason": "too risky" })).await.with(200);
        assert_eq!((&ended["status"], &ended["endedBecause"]), (&json!(status), &json!("too risky")));
        world.post(&path(&plan, what), json!({})).await.refused(409, "WRONG_STATUS");
    }
}

#[tokio::test]
async fn cancelling_stops_the_work() {
    let gate = Gate::closed();
    let (world, plan) = World::with_plan([Reply::text("too late").behind(&gate)]).await;
    world.post(&path(&plan, "approve"), json!({ "digest": plan["digest"] })).await.with(200);
    world.model.asked(3).await;
    assert_eq!(world.post(&path(&plan, "cancel"), json!({})).await.with(200)["status"], "CANCELLED");
    gate.open();
    assert_eq!(world.get(&format!("/api/sessions/{SESSION}")).await.with(200)["working"], false);
}

#[tokio::test]
async fn changes_are_asked_for_and_made() {
    let again = "# Move the blog\n\n- [ ] ask first\n";
    let more = [Reply::call("plan_set_content", json!({ "plan_markdown": again })), Reply::text("Changed.")];
    let (world, plan) = World::with_plan(more).await;
    let revised = world.post(&path(&plan, "revise"), json!({ "feedback": "ask first" })).await.with(200);
    assert_eq!((&revised["id"], &revised["feedback"]), (&plan["id"], &json!("ask first")));
    let mut changes = world.ledger.changes();
    while world.get(&format!("/api/plans/1?sessionId={SESSION}")).await.with(200)["markdown"] != again {
        tokio::time::timeout(crate::world::TIMEOUT, changes.recv()).await.unwrap().unwrap();
    }
    for body in [json!({}), json!({ "feedback": "  " })] {
        world.post(&path(&plan, "revise"), body).await.refused(400, "INVALID_ARGUMENT");
    }
}

#[tokio::test]
async fn a_plan_that_did_not_stop_has_nothing_to_retry() {
    let (world, plan) = World::with_plan([]).await;
    world.post(&path(&plan, "resume"), json!({})).await.refused(409, "WRONG_STATUS");
    for choice in ["retry", "skip", "stop"] {
        world.post(&path(&plan, "resume"), json!({ "choice": choice })).await.refused(409, "WRONG_STATUS");
    }
    world.post(&path(&plan, "resume"), json!({ "choice": "perhaps" })).await.refused(400, "INVALID_ARGUMENT");
}

#[tokio::test]
async fn an_approval_that_is_not_carried_out_says_why() {
    let (world, ours) = World::with_plan(carrying_out()).await;
    let approved = world.post(&path(&ours, "approve"), json!({ "digest": ours["digest"] })).await.with(200);
    assert_eq!((&approved["status"], approved.get("notCarriedOut")), (&json!("EXECUTING"), None), "{approved}");

    // Drafted by the agent of another program, which carries it out itself.
    let world = World::new([]).await;
    world.post("/api/plans/enable", json!({ "sessionId": SESSION })).await.with(200);
    let session: SessionIdentity = format!("web:{SESSION}").parse().unwrap();
    let draft = DraftCommand::SetContent { markdown: MARKDOWN.to_owned(), title: None };
    let codex = Actor::agent("codex", "mcp");
    world.agent.engine().submit(&session, &codex, Command::Draft(draft)).await.unwrap();
    let theirs = world.get(&format!("/api/plans/1?sessionId={SESSION}")).await.with(200);
    let approved = world.post(&path(&theirs, "approve"), json!({ "digest": theirs["digest"] })).await.with(200);
    assert_eq!(approved["status"], "APPROVED");
    assert!(approved["notCarriedOut"].as_str().is_some_and(|reason| reason.contains("codex")), "{approved}");
}

#[tokio::test]
async fn a_plan_on_which_no_process_works_is_shown_as_paused() {
    let (world, plan) = World::with_plan([]).await;
    assert_eq!(plan.get("activity"), None, "{plan}");
    let approve = json!({ "digest": plan["digest"], "later": true });
    world.post(&path(&plan, "approve"), approve).await.with(200);
    // Another process began the work, and is gone.
    let session: SessionIdentity = format!("web:{SESSION}").parse().unwrap();
    let id = planwright_core::ids::PlanId::new(plan["id"].as_str().unwrap()).unwrap();
    world.agent.engine().plans().resume(&session, &Actor::person("ada", "cli"), &id).await.unwrap();
    let shown = world.get(&format!("/api/plans/{}", plan["id"].as_str().unwrap())).await.with(200);
    assert_eq!((&shown["status"], &shown["activity"]), (&json!("EXECUTING"), &json!("paused")), "{shown}");
    assert_eq!(shown["progress"]["done"], 0);
}
