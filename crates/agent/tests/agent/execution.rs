//! An approved plan is carried out. Here: recorded calls, exactly those, once each, whatever happens in between.

mod built;
mod documents;
mod held_plan;
mod interrupted;
pub(crate) mod pauses;
mod plan_watch;
mod specialists;
mod standing_approval;
mod step_by_step;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::progress::Progress;
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_core::policy::OnFailure;
use planwright_core::refusal::Refusal;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::{Value, json};

use crate::test_tools::{Act, Prop};
use crate::world::{World, person};

/// A plan of these calls, approved in a conversation.
async fn approved(calls: &[(&str, Value)], change: impl FnOnce(&mut AgentSetup)) -> World {
    let (first, rest) = calls.split_first().unwrap();
    let reply = Reply::call(first.0, first.1.clone());
    let reply = rest.iter().fold(reply, |reply, (tool, arguments)| reply.and_call(*tool, arguments.clone()));
    let model = ScriptedModel::new([reply, Reply::call("plan_finalize", json!({}))]);
    let world = World::with(model, change).await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    world.approve(1, Selection::All).await;
    world
}

async fn runs(world: &World) -> Vec<StepStatus> {
    world
        .plan(1)
        .await
        .execution
        .map_or_else(Vec::new, |execution| execution.steps.iter().map(|run| run.status).collect())
}

#[tokio::test]
async fn the_recorded_calls_are_made_in_order_with_exactly_their_arguments() {
    let prop = Prop::changing("ring");
    let calls = [
        ("write_file", json!({"path": "a.txt", "content": "one"})),
        ("ring", json!({"times": 3, "z": [1, {"a": null}]})),
        ("write_file", json!({"path": "a.txt", "content": "two"})),
    ];
    let world = approved(&calls, |setup| setup.tool(&prop)).await;
    assert!(prop.calls().is_empty() && !world.files().exists(), "nothing runs before it is asked for");
    let answer = world.send("/plan resume").await;
    assert!(answer.reply.contains("**COMPLETED**") && answer.reply.contains("3 done"), "{}", answer.reply);
    assert_eq!(prop.calls(), [json!({"times": 3, "z": [1, {"a": null}]})]);
    assert_eq!(std::fs::read_to_string(world.files().join("a.txt")).unwrap(), "two");
    assert_eq!(runs(&world).await, [StepStatus::Completed; 3]);
    let names = world.event_names().await;
    let begun = names.iter().position(|name| *name == "execution_started").unwrap();
    let written = ["step_begun", "step_ended", "files_changed"];
    let expected = [&written[..], &["step_begun", "step_ended"], &written, &["execution_finished"]].concat();
    assert_eq!(names[begun + 1..], expected);
    assert!(world.send("/plan resume").await.refused(), "what is completed is not carried out again");
    assert_eq!(prop.calls().len(), 1);
    world.is_sound().await;
}

#[tokio::test]
async fn a_step_that_was_left_out_is_not_done() {
    let prop = Prop::changing("ring");
    let world = approved(&[("ring", json!({"n": 1}))], |setup| setup.tool(&prop)).await;
    world.send("/plan cancel").await;
    let (kept, left) = (Prop::changing("kept"), Prop::changing("left"));
    let model = ScriptedModel::new([
        Reply::call("kept", json!({})).and_call("left", json!({})),
        Reply::call("plan_finalize", json!({})),
    ]);
    let world = World::with(model, |setup| {
        setup.tool(&kept);
        setup.tool(&left);
    })
    .await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    let answer = world.send("/plan approve skip 2").await;
    assert!(answer.decided.unwrap().contains("step 2 will not be done (left out by the approval)"));
    assert!(answer.reply.contains("1 done, 1 skipped"), "{}", answer.reply);
    assert_eq!((kept.calls().len(), left.calls().len()), (1, 0));
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
}

#[tokio::test]
async fn a_step_that_fails_leaves_the_rest_and_is_tried_again_when_the_plan_is_resumed() {
    let (first, last) = (Prop::changing("first"), Prop::changing("last"));
    let calls = [("first", json!({})), ("read_file", json!({"path": "missing.txt"})), ("last", json!({}))];
    let world = approved(&calls, |setup| {
        setup.tool(&first);
        setup.tool(&last);
    })
    .await;
    let answer = world.send("/plan resume").await;
    assert!(answer.reply.contains("1 done, 1 failed, 1 not begun"), "{}", answer.reply);
    assert!(answer.reply.contains("step 2 failed"), "{}", answer.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    assert_eq!((first.calls().len(), last.calls().len()), (1, 0));
    std::fs::create_dir_all(world.files()).unwrap();
    std::fs::write(world.files().join("missing.txt"), "here").unwrap();
    world.send("/plan resume").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    assert_eq!((first.calls().len(), last.calls().len()), (1, 1), "what is done is not done again");
    assert_eq!(world.plan(1).await.execution.unwrap().number, 2);
    world.is_sound().await;
}

#[tokio::test]
async fn with_go_on_the_rest_is_done_after_a_failure() {
    let refusal = Refusal::invalid("no");
    let (bad, last) = (Prop::new("bad", ToolEffect::Changes, Act::Refuse(refusal)), Prop::changing("last"));
    let world = approved(&[("bad", json!({})), ("last", json!({}))], |setup| {
        setup.tool(&bad);
        setup.tool(&last);
        setup.policy.on_failure = OnFailure::GoOn;
    })
    .await;
    world.send("/plan resume").await;
    assert_eq!(runs(&world).await, [StepStatus::Failed, StepStatus::Completed]);
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
}

#[tokio::test]
async fn a_tool_that_panics_or_hangs_has_failed() {
    for act in [Act::Panic, Act::Hang] {
        let prop = Prop::new("prop", ToolEffect::Repeatable, act);
        let world = approved(&[("prop", json!({}))], |setup| {
            setup.tool(&prop);
            setup.policy.turn.tool_time = std::time::Duration::from_millis(20);
        })
        .await;
        world.send("/plan resume").await;
        assert_eq!(runs(&world).await, [StepStatus::Failed]);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn what_only_reads_is_done_side_by_side() {
    let reads = ["one", "two", "three"].map(|name| Prop::new(name, ToolEffect::ReadsOnly, Act::Hang));
    let calls: Vec<_> = ["one", "two", "three"].map(|name| (name, json!({}))).into();
    let world = approved(&calls, |setup| reads.iter().for_each(|prop| setup.tool(prop))).await;
    let working = world.send_in_background("/plan resume");
    for prop in &reads {
        prop.called(1).await;
    }
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    assert_eq!(runs(&world).await, [StepStatus::Pending; 3], "they can simply be done again");
}

#[tokio::test]
async fn a_plan_whose_tools_are_not_here_stays_approved() {
    let prop = Prop::changing("ring");
    let world = approved(&[("ring", json!({}))], |setup| setup.tool(&prop)).await;
    let elsewhere = world.restart_with(|setup| setup.tools = Default::default()).await;
    let answer = elsewhere.send("/plan resume").await;
    assert!(answer.refused() && answer.reply.contains("`ring`"), "{}", answer.reply);
    assert_eq!(elsewhere.plan(1).await.status, PlanStatus::Approved);
}

#[tokio::test]
async fn messages_wait_until_it_is_done_and_progress_is_told_step_by_step() {
    let prop = Prop::new("prop", ToolEffect::Repeatable, Act::HangOnce);
    let world = approved(&[("prop", json!({})), ("prop", json!({"n": 2}))], |setup| setup.tool(&prop)).await;
    world.model.then(Reply::text("Now I hear you."));
    let working = world.send_in_background("/plan resume");
    prop.called(1).await;
    let asking = world.say_in_background("Hello?");
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    assert_eq!(asking.await.unwrap().unwrap().reply, "Now I hear you.");
    let (watcher, mut told) = Watcher::new();
    let plan = world.plan(1).await;
    world.agent.carry_out(&world.session, &person(), &plan.id, &watcher).await.unwrap();
    drop(watcher);
    let mut steps = Vec::new();
    while let Ok(one) = told.try_recv() {
        if let Progress::StepEnded { position, total, status, .. } = one {
            steps.push((position, total, status));
        }
    }
    assert_eq!(steps, [(1, 2, StepStatus::Completed), (2, 2, StepStatus::Completed)]);
}
