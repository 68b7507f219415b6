//! The program ends in the middle: a step continues from the journal, and a call that was begun is not made again unseen.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::progress::Progress;
use planwright_core::command::{Command, ExecutionCommand, TurnCommand};
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus::{Completed, Pending, Uncertain};
use planwright_engine::ledger::Submission;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::TWO;
use crate::process::Process;
use crate::specialist_scripts::{proposed, reported, run_statuses, runs, scripted, staffed, step};
use crate::test_tools::{Act, Prop};
use crate::world::{World, person, script, statuses};

/// What the one that dies is answered: the coder makes this call first.
fn dying(call: &str) -> ScriptedModel {
    staffed().script("coder", [Reply::call(call, json!({"n": 1})).with_text("First this.")]).script("tester", [])
}

async fn approved(prop: &Prop) -> World {
    let world = proposed(&TWO, |setup| setup.tool(prop)).await;
    world.approve(1, Selection::All).await;
    world
}

async fn go_on(world: &World) -> String {
    let answer = world.agent.resume_plan(&world.place(), &person(), &Watcher::none()).await.unwrap();
    answer.map_or_else(String::new, |answer| answer.reply)
}

#[tokio::test]
async fn a_step_goes_on_where_it_stood_and_makes_again_what_may_be_made_again() {
    for effect in [ToolEffect::ReadsOnly, ToolEffect::Repeatable] {
        let prop = Prop::new("prop", effect, Act::HangOnce);
        let world = approved(&prop).await;
        let process = Process::start(&world, &dying("prop")).await;
        process.carry_out(&world.session, &world.plan(1).await.id);
        prop.called(1).await;
        process.die().await;
        scripted(&world, "coder", [reported("done", "1")]);
        scripted(&world, "tester", [reported("done", "2")]);
        let reply = go_on(&world).await;
        assert!(reply.contains("2 done"), "{effect:?}: {reply}");
        let sent = script(&world.model.requests_of("coder")[0]);
        assert_eq!(sent[1], "model: First this. [prop]", "it is not asked again: {sent:?}");
        assert_eq!(prop.calls().len(), 2);
        world.has_a_valid_history();
        world.is_sound().await;
    }
}

#[tokio::test]
async fn a_change_that_was_only_begun_makes_the_step_uncertain() {
    let prop = Prop::new("prop", ToolEffect::Changes, Act::HangOnce);
    let world = approved(&prop).await;
    let process = Process::start(&world, &dying("prop")).await;
    process.carry_out(&world.session, &world.plan(1).await.id);
    prop.called(1).await;
    process.die().await;
    let reply = go_on(&world).await;
    assert!(reply.contains("step 1 is uncertain") && reply.contains("prop"), "{reply}");
    assert_eq!(run_statuses(&world, 1).await, [Uncertain, Pending]);
    let note = runs(&world, 1).await[0].note.clone().unwrap();
    assert!(note.contains("it is not known") && note.contains("prop({\"n\":1})"), "what is known is kept: {note}");
    assert_eq!((prop.calls().len(), world.model.requests_of("coder").len()), (1, 0), "the specialist decides nothing");
    assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
    assert_eq!(go_on(&world).await, "", "it waits for a person");
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none());
    let answer = world.send("/plan resume").await;
    assert!(answer.refused() && answer.reply.contains("retry") && answer.reply.contains("prop"), "{}", answer.reply);
    scripted(&world, "coder", [reported("done", "It was not; now it is.")]);
    scripted(&world, "tester", [reported("done", "2")]);
    let answer = world.send("/plan resume retry").await;
    assert!(answer.reply.contains("2 done"), "{}", answer.reply);
    let told = script(&world.model.requests_of("coder")[0]).remove(0);
    assert!(told.contains("its result is unknown") && told.contains("prop({\"n\":1})"), "{told}");
    world.is_sound().await;
}

#[tokio::test]
async fn a_message_after_a_crash_waits_until_the_step_is_finished() {
    let prop = Prop::new("prop", ToolEffect::ReadsOnly, Act::HangOnce);
    let world = approved(&prop).await;
    let process = Process::start(&world, &dying("prop")).await;
    process.carry_out(&world.session, &world.plan(1).await.id);
    prop.called(1).await;
    process.die().await;
    scripted(&world, "coder", [reported("done", "1")]);
    scripted(&world, "tester", [reported("done", "2")]);
    world.model.then(Reply::text("Hello."));
    let outcome = world.say("Hello").await;
    assert_eq!(outcome.reply, "Hello.");
    assert_eq!(run_statuses(&world, 1).await, [Completed, Completed]);
    let heard = script(&world.model.last_request());
    assert!(heard.iter().all(|line| !line.contains("[Step ") && !line.contains("First this")), "{heard:#?}");
    world.is_sound().await;
}

#[tokio::test]
async fn a_step_that_is_interrupted_too_often_is_given_up_and_waits_for_a_person() {
    let world = proposed(&TWO, |setup| setup.policy.turn.resumptions = 1).await;
    world.approve(1, Selection::All).await;
    let plan = world.plan(1).await.id;
    for _ in 0..2 {
        let model = staffed().script("coder", [Reply::hang()]);
        let process = Process::start(&world, &model).await;
        process.carry_out(&world.session, &plan);
        model.asked(1).await;
        process.die().await;
    }
    let reply = go_on(&world).await;
    assert!(reply.contains("step 1 is uncertain"), "{reply}");
    let note = runs(&world, 1).await[0].note.clone().unwrap();
    assert!(note.contains("interrupted too often"), "{note}");
    assert!(world.model.requests_of("coder").is_empty());
    world.is_sound().await;
}

#[tokio::test]
async fn one_that_is_interrupted_too_often_in_the_middle_of_a_call_says_so() {
    let prop = Prop::new("prop", ToolEffect::ReadsOnly, Act::Hang);
    let world = proposed(&TWO, |setup| {
        setup.tool(&prop);
        setup.policy.turn.resumptions = 1;
    })
    .await;
    world.approve(1, Selection::All).await;
    let plan = world.plan(1).await.id;
    for times in 1..=2 {
        let process = Process::start(&world, &dying("prop")).await;
        process.carry_out(&world.session, &plan);
        prop.called(times).await;
        process.die().await;
    }
    let reply = go_on(&world).await;
    assert!(reply.contains("step 1 is uncertain"), "{reply}");
    let note = runs(&world, 1).await[0].note.clone().unwrap();
    assert!(note.contains("interrupted too often") && note.contains("prop({\"n\":1})"), "{note}");
    world.is_sound().await;
}

#[tokio::test]
async fn a_step_whose_plan_cannot_continue_here_does_not_block_the_session() {
    let world = proposed(&TWO, |_| {}).await;
    world.approve(1, Selection::All).await;
    let model = staffed().script("coder", [Reply::hang()]);
    let process = Process::start(&world, &model).await;
    process.carry_out(&world.session, &world.plan(1).await.id);
    model.asked(1).await;
    process.die().await;
    let world = world.restart_with(|setup| setup.policy = super::failures::without("tester")).await;
    assert_eq!(go_on(&world).await, "", "it is not taken up");
    world.model.then(Reply::text("Hello."));
    let (outcome, told) = world.watch("Hello").await;
    assert_eq!(outcome.reply, "Hello.");
    let stated = |one: &Progress| matches!(one, Progress::Said(expected) if expected.contains("`tester`"));
    assert!(told.iter().any(stated), "{told:?}");
    assert_eq!(run_statuses(&world, 1).await, [Pending, Pending]);
    assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
    world.is_sound().await;
}

#[tokio::test]
async fn a_failure_that_was_seen_before_a_crash_still_ends_it() {
    let two = [step("Build", "coder", &[]), step("Write", "writer", &[])];
    let world = proposed(&two, |_| {}).await;
    world.approve(1, Selection::All).await;
    let finishes =
        |submission: &Submission| matches!(submission.command, Command::Execution(ExecutionCommand::Finish { .. }));
    let model = staffed().script("coder", [reported("failed", "No wood.")]);
    let process = Process::hanging(&world, &model, finishes).await;
    process.carry_out(&world.session, &world.plan(1).await.id);
    process.hangs().await;
    process.die().await;
    let reply = go_on(&world).await;
    assert!(reply.contains("1 failed, 1 not begun"), "{reply}");
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    assert!(world.model.requests_of("writer").is_empty());
    world.is_sound().await;
}

/// Everything that carrying out a step writes.
fn writes(submission: &Submission) -> bool {
    matches!(
        submission.command,
        Command::Execution(
            ExecutionCommand::Advance { .. } | ExecutionCommand::Finish { .. } | ExecutionCommand::ReportOnStep { .. }
        ) | Command::Turn(TurnCommand::Begin { .. } | TurnCommand::Record { .. })
    )
}

#[tokio::test]
async fn every_point_of_a_crash_leaves_each_step_done_once() {
    // For each of two steps: begin, turn, reply, tool, reply, report, end; then the finish.
    for point in 1..=15 {
        let prop = Prop::new("prop", ToolEffect::Repeatable, Act::Answer(json!({"ok": true})));
        let world = approved(&prop).await;
        let seen = AtomicUsize::new(0);
        let hangs =
            move |submission: &Submission| writes(submission) && seen.fetch_add(1, Ordering::SeqCst) + 1 == point;
        let doing = |name: &str, n: u32| {
            (name.to_owned(), [Reply::call("prop", json!({"n": n})), reported("done", &format!("did {n}"))])
        };
        let (coder, tester) = (doing("coder", 1), doing("tester", 2));
        let model = staffed().script(&coder.0, coder.1).script(&tester.0, tester.1);
        let process = Process::hanging(&world, &model, hangs).await;
        process.carry_out(&world.session, &world.plan(1).await.id);
        process.hangs().await;
        process.die().await;
        // The process that takes over has the same specialists, which answer by what they were sent.
        for (label, n) in [("coder", 1), ("tester", 2)] {
            let answer = move |request: &planwright_core::model::ModelRequest| match script(request).len() {
                1 => Reply::call("prop", json!({"n": n})),
                _ => reported("done", &format!("did {n}")),
            };
            scripted(&world, label, vec![Reply::made_from(answer); 2]);
        }
        go_on(&world).await;
        assert_eq!(world.plan(1).await.status, PlanStatus::Completed, "point {point}");
        let notes: Vec<_> = runs(&world, 1).await.iter().map(|run| run.note.clone().unwrap_or_default()).collect();
        assert_eq!(notes, ["did 1", "did 2"], "point {point}");
        for n in [1, 2] {
            let made = prop.calls().iter().filter(|call| **call == json!({"n": n})).count();
            assert!((1..=2).contains(&made), "point {point}: call {n} was made {made} times");
        }
        let settled = statuses(&world.events().await);
        let reports = settled.iter().filter(|status| **status == planwright_core::turn::ToolStatus::Settled).count();
        assert_eq!(reports, 3, "point {point}: the plan was submitted, and each step reported once");
        assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none(), "point {point}");
        world.is_sound().await;
    }
}
