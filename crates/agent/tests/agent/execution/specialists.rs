//! Crashes in the turns of specialists: a report that is in the journal counts, and what may have been done is not lost.

use crate::talk::{Talk as _, Watcher};
use planwright_core::command::{Command, TurnCommand};
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::runs;
use crate::process::Process;
use crate::test_tools::{Act, Prop};
use crate::world::{World, person};

fn reports() -> Reply {
    Reply::call("plan_progress", json!({"status": "done", "note": "It is done."}))
}

/// Two steps for specialists, approved, while the session works on another plan. `later` is said afterwards.
async fn built(later: impl IntoIterator<Item = Reply>, prop: &Prop) -> World {
    let list = json!(["Something."]);
    let whole = json!({"goal": "Ship it", "assumptions": list, "risks": list, "verification": list, "files": list});
    let proposal = Reply::call("plan_create_draft", json!({}))
        .and_call("plan_set_metadata", whole)
        .and_call("plan_add_step", json!({"description": "Build it", "agent": "coder"}))
        .and_call("plan_add_step", json!({"description": "Test it", "agent": "tester"}))
        .and_call("plan_submit", json!({"summary": "Build, then test."}));
    let model = ScriptedModel::new([proposal].into_iter().chain(later));
    let world = World::with(model, |setup| setup.tool(prop)).await;
    world.send("/plan on build").await;
    world.say("Plan it").await;
    world.approve(1, Selection::All).await;
    world.send("/plan on").await;
    world
}

#[tokio::test]
async fn a_step_that_was_reported_before_a_crash_is_done_and_its_turn_ends() {
    let world = built([reports()], &Prop::changing("prop")).await;
    let ends = |command: &Command| matches!(command, Command::Turn(TurnCommand::Record { ending: Some(_), .. }));
    let process =
        Process::hanging(&world, &ScriptedModel::new([reports()]), move |submission| ends(&submission.command)).await;
    process.carry_out(&world.session, &world.plan(1).await.id);
    process.hangs().await;
    process.die().await;
    assert_eq!(runs(&world).await, [StepStatus::Completed, StepStatus::Pending]);
    let answer = world.agent.resume_plan(&world.place(), &person(), &Watcher::none()).await.unwrap();
    assert!(answer.unwrap().reply.contains("2 done"));
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.is_sound().await;
}

#[tokio::test]
async fn what_a_crash_interrupted_is_uncertain_even_if_it_is_stopped_before_it_goes_on() {
    let prop = Prop::new("prop", ToolEffect::Changes, Act::HangOnce);
    let world = built([], &prop).await;
    let plan = world.plan(1).await.id.clone();
    let process = Process::start(&world, &ScriptedModel::new([Reply::call("prop", json!({}))])).await;
    process.carry_out(&world.session, &plan);
    prop.called(1).await;
    process.die().await;
    let resumes = |command: &Command| matches!(command, Command::Turn(TurnCommand::Resume { .. }));
    let process =
        Process::hanging(&world, &ScriptedModel::new([]), move |submission| resumes(&submission.command)).await;
    let working = process.carry_out(&world.session, &plan);
    process.hangs().await;
    let (agent, session) = (process.agent.clone(), world.session.clone());
    let stopping = tokio::spawn(async move { agent.stop_here(&session).await });
    tokio::task::yield_now().await;
    process.wake();
    working.await.unwrap();
    stopping.await.unwrap();
    assert_eq!(runs(&world).await, [StepStatus::Uncertain, StepStatus::Pending]);
    assert_eq!(prop.calls().len(), 1);
    world.is_sound().await;
    process.die().await;
}
