//! Before a plan is approved nothing changes in collect and build, also not what the agent remembers and its tasks.

use planwright_core::auto::{RunEnd, RunState, TaskStatus};
use planwright_core::event::{Event, MemoryEvent};
use planwright_core::memory::MemoryScope;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::content::PlanContent;
use planwright_core::turn::ToolStatus;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::auto::{called, newest};
use crate::world::{World, statuses, tool_names};

/// Saves a memory and ends the task of a run, both as steps of a plan.
fn collecting_run() -> ScriptedModel {
    ScriptedModel::answering(|request| match newest(request) {
        tick if !tick.contains("_RUN ") => Reply::text("Fine."),
        _ if called(request, "plan_finalize") => Reply::text("Two steps."),
        _ if called(request, "task_update") => Reply::call("plan_finalize", json!({})),
        _ => Reply::call("memory_save", json!({ "content": "The till is red.", "kind": "result" }))
            .and_call("task_update", json!({ "status": "done", "note": "painted" }))
            .and_call("diary_write", json!({ "text": "I planned it." })),
    })
}

#[tokio::test]
async fn a_run_in_collect_changes_nothing_and_is_not_complete_while_its_plan_waits() {
    let world = World::with(collecting_run(), |_| {}).await;
    world.send("/task add Paint the till").await;
    world.send("/plan on collect").await;
    world.send("/auto on").await;
    world.until_run(1, |run| run.spent.turns == 1).await;
    let state = world.auto().await;
    assert_eq!((state.tasks[0].status, state.runs[0].state.name()), (TaskStatus::Open, "running"));
    assert!(world.events().await.iter().all(|event| event.memory_event().is_none()), "nothing is remembered");
    assert_eq!(state.diary.len(), 1, "the diary is free");
    let plan = world.plan(1).await;
    assert_eq!(plan.status, PlanStatus::Ready);
    let PlanContent::Collect(collected) = &plan.content else { panic!("{plan:?}") };
    let steps: Vec<_> = collected.steps.iter().map(|step| (step.tool.as_str(), step.arguments.clone())).collect();
    let expected = [
        ("memory_save", json!({ "content": "The till is red.", "kind": "result", "run": 1 })),
        ("task_update", json!({ "status": "done", "note": "painted", "run": 1 })),
    ];
    assert_eq!(steps, expected);
    // Exactly these calls are made after the approval, for the task of the run that recorded them.
    world.send("/plan approve").await;
    world.until_runs_rest().await;
    let state = world.auto().await;
    assert_eq!((state.tasks[0].status, state.tasks[0].note.as_deref()), (TaskStatus::Done, Some("painted")));
    assert!(matches!(state.runs[0].state, RunState::Ended { end: RunEnd::Completed, .. }), "{:?}", state.runs[0]);
    let saved: Vec<_> = world.events().await.iter().filter_map(Event::memory_event).cloned().collect();
    let [MemoryEvent::Saved { item }] = saved.as_slice() else { panic!("{saved:?}") };
    assert_eq!(item.scope, MemoryScope::of_task(&state.tasks[0].id));
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.is_sound().await;
}

#[tokio::test]
async fn a_model_does_not_name_the_run_that_a_step_is_for() {
    let world = World::new([
        Reply::call("memory_save", json!({ "content": "x", "run": 1 }))
            .and_call("goal_add", json!({ "title": "A goal" })),
        Reply::text("Fine."),
    ])
    .await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused, ToolStatus::Planned]);
    assert!(world.auto().await.goals.is_empty());
    world.is_sound().await;
}

#[tokio::test]
async fn while_a_plan_is_built_the_agent_only_reads_and_writes_its_own_notes() {
    let world = World::new([
        Reply::call("memory_save", json!({ "content": "x" }))
            .and_call("goal_add", json!({ "title": "A goal" }))
            .and_call("diary_write", json!({ "text": "I look around." })),
        Reply::text("Fine."),
    ])
    .await;
    world.send("/plan on build").await;
    world.say("Plan it").await;
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused, ToolStatus::Refused, ToolStatus::Done]);
    let offered = world.model.last_request();
    let names = tool_names(&offered);
    for (tool, is_offered) in
        [("memory_search", true), ("memory_save", false), ("goal_add", false), ("diary_write", true)]
    {
        assert_eq!(names.contains(&tool), is_offered, "{tool}");
    }
    let state = world.auto().await;
    assert_eq!((state.goals.len(), state.diary.len()), (0, 1));
    world.is_sound().await;
}
