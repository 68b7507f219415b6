//! What a person sees of an execution: how it stands at any moment, and every entry about it once.

use std::time::Duration;

use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus;
use planwright_core::refusal::Refusal;
use planwright_engine::plan_status::plan_status;
use planwright_engine::plan_watch::{PlanUpdateKind, PlanWatch};
use planwright_engine::step_counts::StepCounts;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::clock::TestClock;
use serde_json::json;

use super::approved;
use crate::talk::Talk as _;
use crate::test_tools::{Act, Prop};
use crate::world::{World, person};

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// What was told since the last look, in short.
async fn told(following: &mut PlanWatch) -> Vec<String> {
    let short = |what: &PlanUpdateKind| match what {
        PlanUpdateKind::Changed => "changed".to_owned(),
        PlanUpdateKind::Approved { .. } => "approved".to_owned(),
        PlanUpdateKind::Rejected { .. } => "rejected".to_owned(),
        PlanUpdateKind::ExecutionBegan(sum) => format!("execution {}", sum.number),
        PlanUpdateKind::ExecutionPaused(_) => "paused".to_owned(),
        PlanUpdateKind::ExecutionResumed(_) => "resumed".to_owned(),
        PlanUpdateKind::StepBegan { execution, step, .. } => {
            format!("{execution}: begun {}/{}", step.position, step.total)
        }
        PlanUpdateKind::StepEnded { execution, step, status, took, .. } => {
            let took = took.map_or_else(|| "never begun".to_owned(), |took| format!("{}s", took.as_secs()));
            format!("{execution}: {} {} {took}", step.position, status.as_str())
        }
        PlanUpdateKind::ExecutionEnded(sum) => format!("ended {}: {}", sum.number, sum.counts.describe()),
        PlanUpdateKind::Cancelled { execution, .. } => {
            format!("cancelled: {}", execution.map_or_else(|| "never".to_owned(), |sum| sum.counts.describe()))
        }
        PlanUpdateKind::Superseded { .. } => "superseded".to_owned(),
    };
    following.next_updates().await.unwrap().iter().map(|happened| short(&happened.kind)).collect()
}

#[tokio::test]
async fn every_entry_about_the_plan_is_told_once_and_executions_are_told_apart() {
    let clock = TestClock::stopped();
    let (first, bad) = (Prop::changing("first"), Prop::new("bad", ToolEffect::Repeatable, Act::HangOnce));
    let world = approved(&[("first", json!({})), ("bad", json!({}))], |setup| {
        setup.tool(&first);
        setup.tool(&bad);
        setup.clock = Some(clock.clone());
    })
    .await;
    let plan = world.plan(1).await.id;
    let mut following = world.engine().plans().watch(&world.session, &plan).await.unwrap();
    assert!(told(&mut following).await.is_empty(), "what was before is not told");
    let working = world.send_in_background("/plan resume");
    bad.called(1).await;
    clock.advance(Duration::from_secs(90));
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    // Another conversation in the same session is none of its business.
    world.model.then(Reply::text("Hello."));
    world.say("Hello").await;
    world.send("/plan resume").await;
    assert_eq!(
        told(&mut following).await,
        [
            "execution 1",
            "1: begun 1/2",
            "1: 1 COMPLETED 0s",
            "1: begun 2/2",
            "1: 2 PENDING 90s",
            "ended 1: 1 done, 1 not begun",
            "execution 2",
            "2: begun 2/2",
            "2: 2 COMPLETED 0s",
            "ended 2: 2 done",
        ]
    );
    assert!(told(&mut following).await.is_empty(), "nothing is told twice");
    assert_eq!(following.plan(), &world.plan(1).await, "it is the plan that is stored");
    assert_eq!(following.started_by(), Some(&person()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_starts_in_the_middle_misses_nothing_and_gets_nothing_twice() {
    const STEPS: usize = 120;
    let prop = Prop::changing("prop");
    let calls: Vec<_> = (0..STEPS).map(|n| ("prop", json!({ "n": n }))).collect();
    let world = approved(&calls, |setup| setup.tool(&prop)).await;
    let plan = world.plan(1).await.id;
    let mut early = world.engine().plans().watch(&world.session, &plan).await.unwrap();
    let working = world.send_in_background("/plan resume");
    let mut followed = 0;
    while !working.is_finished() {
        let mut following = world.engine().plans().watch(&world.session, &plan).await.unwrap();
        let known = following.plan().execution.as_ref().map(StepCounts::of).unwrap_or_default();
        if following.plan().status != PlanStatus::Executing {
            continue;
        }
        let told = following.next_updates().await.unwrap();
        let ended = told.iter().filter(|one| matches!(one.kind, PlanUpdateKind::StepEnded { .. })).count();
        let now = following.plan().execution.as_ref().map(StepCounts::of).unwrap_or_default();
        assert_eq!(known.done + ended, now.done, "{told:?}");
        assert!(told.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq), "{told:?}");
        followed += 1;
    }
    working.await.unwrap().unwrap();
    assert!(followed > 0, "a follower started in the middle");
    let told = early.next_updates().await.unwrap();
    assert_eq!(told.len(), 2 * STEPS + 2, "also what does not fit into one page of the journal");
    assert!(told.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq));
    assert_eq!(early.plan(), &world.plan(1).await);
}

#[tokio::test]
async fn a_cancelled_plan_is_noticed_and_counted() {
    let prop = Prop::new("prop", ToolEffect::Changes, Act::Hang);
    let world = approved(&[("prop", json!({}))], |setup| setup.tool(&prop)).await;
    let plan = world.plan(1).await.id;
    let working = world.send_in_background("/plan resume");
    prop.called(1).await;
    let mut following = world.engine().plans().watch(&world.session, &plan).await.unwrap();
    world.engine().plans().cancel(&world.session, &person(), &plan, None).await.unwrap();
    assert_eq!(told(&mut following).await, ["cancelled: 0 done, 1 in progress"]);
    assert_eq!(following.plan().status, PlanStatus::Cancelled);
    world.agent.stop_here(&world.session).await;
    working.await.unwrap().unwrap();
    assert!(told(&mut following).await.is_empty());
}

#[tokio::test]
async fn the_plan_to_follow_is_the_active_one_else_the_one_under_way() {
    let prop = Prop::new("prop", ToolEffect::Changes, Act::Hang);
    let world = approved(&[("prop", json!({}))], |setup| setup.tool(&prop)).await;
    let to_follow = async || world.engine().plans().default_to_watch(&world.session).await;
    assert_eq!(to_follow().await.unwrap().number, 1);
    let working = world.send_in_background("/plan resume");
    prop.called(1).await;
    world.engine().sessions().disable_plan_mode(&world.session, &person()).await.unwrap();
    assert_eq!(to_follow().await.unwrap().number, 1);
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    world.send("/plan cancel 1").await;
    let refusal = to_follow().await.unwrap_err().to_string();
    assert!(refusal.contains("none is being carried out; name one by its number"), "{refusal}");
}

#[tokio::test]
async fn how_it_stands_says_what_is_done_since_when_and_what_is_next() {
    let clock = TestClock::stopped();
    let bad = Prop::new("bad", ToolEffect::Repeatable, Act::Refuse(Refusal::invalid("no *room*")));
    let (slow, last) = (Prop::new("slow", ToolEffect::Changes, Act::Hang), Prop::changing("last"));
    let world = approved(&[("bad", json!({})), ("slow", json!({})), ("last", json!({}))], |setup| {
        setup.tool(&bad);
        setup.tool(&slow);
        setup.tool(&last);
        setup.policy.on_failure = planwright_core::policy::OnFailure::GoOn;
        setup.clock = Some(clock.clone());
    })
    .await;
    let before = plan_status(&world.plan(1).await, world.engine().now());
    assert!(before.starts_with("Plan 1 is **APPROVED**") && !before.contains("steps"), "{before}");
    let working = world.send_in_background("/plan resume");
    slow.called(1).await;
    clock.advance(minutes(3));
    let status = world.send("/plan status").await.reply;
    for expected in [
        "Plan work is **on**, style collect. Plan 1 is **EXECUTING**",
        "0 of 3 steps are done, 1 failed. Next: 3. last({})",
        "\n- execution 1, begun 3 minutes ago",
        "\n- step 2 is in progress for 3m 00s: slow({})",
        "\n- step 1 failed 3 minutes ago: bad({}); no \\*room\\*",
    ] {
        assert!(status.contains(expected), "{expected:?} is not in {status}");
    }
    assert!(status.contains("It is being carried out.\n\n- `/plan status`"), "{status}");
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    clock.advance(minutes(2));
    let status = world.send("/plan status").await.reply;
    assert!(
        status.contains("\n- step 2 is uncertain, begun 5 minutes ago: slow({}); stopped in the middle"),
        "{status}"
    );
    // The process that stopped it may also have ended it.
    if world.plan(1).await.status == PlanStatus::Executing {
        assert!(status.contains("The result of step 2 is unknown, and no step after it begins."), "{status}");
    } else {
        assert!(status.contains("execution 1 ended 2 minutes ago, after 3m 00s"), "{status}");
        assert!(status.contains("Next: 1. bad({})"), "{status}");
    }
}

#[tokio::test]
async fn many_steps_and_long_notes_do_not_flood_the_answer() {
    let refusal = Refusal::invalid("long ".repeat(500));
    let bad = Prop::new("bad", ToolEffect::Changes, Act::Refuse(refusal));
    let calls: Vec<_> = (0..12).map(|n| ("bad", json!({ "n": n }))).collect();
    let world = approved(&calls, |setup| {
        setup.tool(&bad);
        setup.policy.on_failure = planwright_core::policy::OnFailure::GoOn;
    })
    .await;
    world.send("/plan resume").await;
    let status = world.send("/plan status").await.reply;
    assert!(status.contains("12 failed") && status.contains("\n- and 7 more of them"), "{status}");
    assert!(status.len() < 4_000, "{}", status.len());
}

#[tokio::test]
async fn a_plan_that_is_carried_out_beside_the_active_one_is_told_too() {
    let world = World::with(ScriptedModel::new([]).otherwise(Reply::text("Yes.")), |_| {}).await;
    world.send("/plan on").await;
    world.model.then(crate::planning::set("# First\n\n- [ ] one\n- [ ] two"));
    world.say("Plan it").await;
    world.send("/plan approve").await;
    world.model.then(crate::planning::report(1));
    world.say("go on").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
    world.send("/plan on collect").await;
    let status = world.send("/plan status").await.reply;
    assert!(status.contains("style collect. Plan 2 is **COLLECTING**"), "{status}");
    assert!(status.contains("\n\nPlan 1 is **EXECUTING**: First. 1 of 2 steps are done. Next: 2. two"), "{status}");
    world.send("/plan off").await;
    let status = world.send("/plan status").await.reply;
    assert!(status.contains("**off**") && status.contains("Plan 1 is **EXECUTING**"), "{status}");
}

#[tokio::test]
async fn history_keeps_every_execution_as_it_ended() {
    let bad = Prop::new("bad", ToolEffect::Repeatable, Act::HangOnce);
    let world = approved(&[("bad", json!({}))], |setup| setup.tool(&bad)).await;
    let working = world.send_in_background("/plan resume");
    bad.called(1).await;
    world.send("/stop").await;
    working.await.unwrap().unwrap();
    world.send("/plan resume").await;
    let history = world.engine().history().of_plan(&world.session, &world.plan(1).await.id).await.unwrap();
    let ends: Vec<_> = history.executions.iter().map(|one| one.end.as_ref().unwrap().status).collect();
    assert_eq!(ends, [PlanStatus::PartiallyCompleted, PlanStatus::Completed]);
    let steps: Vec<_> = history.executions.iter().map(|one| one.execution.steps[0].status).collect();
    assert_eq!(steps, [StepStatus::Pending, StepStatus::Completed]);
    assert!(history.executions.iter().all(|one| one.by == Some(person())));
    let decisions: Vec<_> = history.decisions.iter().map(|one| one.what.name()).collect();
    assert_eq!(decisions, ["approved"]);
}
