//! Style collect: calls are written down, and nothing is run.

use planwright_core::event::{Event, PlanEvent};
use planwright_core::plan::content::PlanContent;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::turn::{ToolStatus, TurnEnd};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::test_tools::Prop;
use crate::world::{World, script, statuses};

async fn collecting(prop: &Prop, replies: impl IntoIterator<Item = Reply>) -> World {
    let world = World::with(ScriptedModel::new(replies), |setup| setup.tool(prop)).await;
    world.send("/plan on collect").await;
    world
}

fn steps(plan: &Plan) -> Vec<(String, Value)> {
    let PlanContent::Collect(collected) = &plan.content else { panic!("{plan:?}") };
    collected.steps.iter().map(|step| (step.tool.clone(), step.arguments.clone())).collect()
}

fn finalize() -> Reply {
    Reply::call("plan_finalize", json!({}))
}

#[tokio::test]
async fn calls_are_recorded_and_not_run() {
    let prop = Prop::changing("prop");
    let odd = json!({"z": 1.50, "a": [null, {"b": "ä\n"}], "big": 12345678901234567890_u64});
    let world = collecting(
        &prop,
        [
            Reply::call("prop", odd.clone()).and_call("write_file", json!({"path": "a.txt", "content": "one"})),
            Reply::call("read_file", json!({"path": "a.txt"})).with_text("Then I would read it."),
            finalize().with_text("Three steps."),
        ],
    )
    .await;
    let outcome = world.say("Plan it").await;
    let plan = world.plan(1).await;
    assert_eq!(plan.status, PlanStatus::Ready);
    let expected = [
        ("prop".to_owned(), odd),
        ("write_file".to_owned(), json!({"path": "a.txt", "content": "one"})),
        ("read_file".to_owned(), json!({"path": "a.txt"})),
    ];
    assert_eq!(steps(&plan), expected);
    assert!(prop.calls().is_empty());
    assert!(!world.files().join("a.txt").exists());
    let sent = script(&world.sent(3));
    for (index, (tool, step)) in [(2, ("prop", 1)), (3, ("write_file", 2)), (5, ("read_file", 3))] {
        assert!(sent[index].starts_with(&format!("result {tool}:")), "{sent:?}");
        assert!(sent[index].contains(&format!("[Planned] {tool} was recorded as step {step}")), "{sent:?}");
    }
    assert_eq!(outcome.end, Some(TurnEnd::PlanReady { plan: plan.id.clone() }));
    assert_eq!(outcome.reply, "Three steps.");
    assert_eq!(outcome.plan.unwrap().digest, plan.digest());
    world.is_sound().await;
}

#[tokio::test]
async fn a_plan_is_finalised_with_words_with_a_summary_or_with_neither() {
    let look = || Reply::call("list_files", json!({}));
    let summed_up = || Reply::call("plan_finalize", json!({"summary": "Look around."}));
    for (reply, expected) in [
        (finalize().with_text("I would look."), "I would look."),
        (summed_up(), "Look around."),
        (summed_up().with_text("I would look."), "I would look."),
        (finalize(), ""),
    ] {
        let world = collecting(&Prop::changing("prop"), [look(), reply]).await;
        let outcome = world.say("Plan it").await;
        assert_eq!(outcome.reply, expected);
        assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
        assert!(outcome.plan.is_some());
        assert_eq!(statuses(&world.events().await), [ToolStatus::Planned, ToolStatus::Settled]);
        assert_eq!(world.model.requests().len(), 2, "the turn ends with the plan");
    }
}

#[tokio::test]
async fn a_plan_with_no_steps_is_cancelled_and_plan_work_ends() {
    let world = collecting(&Prop::changing("prop"), [finalize().with_text("Nothing to do."), Reply::text("Hi.")]).await;
    let outcome = world.say("Plan it").await;
    let plan = world.plan(1).await;
    assert_eq!(
        (plan.status, &outcome.end),
        (PlanStatus::Cancelled, &Some(TurnEnd::NothingPlanned { plan: plan.id.clone() }))
    );
    assert!(outcome.reply.starts_with("Nothing to do.\n\nNo step was proposed"), "{}", outcome.reply);
    assert_eq!(outcome.plan, None);
    assert!(!world.engine().sessions().get(&world.session).await.unwrap().plan_mode.enabled);
    world.say("Hello").await;
    assert!(world.model.last_request().tools.iter().all(|tool| !tool.name.starts_with("plan_")));
    world.is_sound().await;
}

#[tokio::test]
async fn what_comes_after_plan_finalize_in_the_same_reply_is_not_recorded() {
    let prop = Prop::changing("prop");
    let reply =
        Reply::call("prop", json!({"n": 1})).and_call("plan_finalize", json!({})).and_call("prop", json!({"n": 2}));
    let world = collecting(&prop, [reply, Reply::text("Hello.")]).await;
    world.say("Plan it").await;
    assert_eq!(steps(&world.plan(1).await), [("prop".to_owned(), json!({"n": 1}))]);
    assert!(prop.calls().is_empty());
    world.say("Hello").await;
    world.has_a_valid_history();
    assert!(script(&world.sent(2))[4].contains("[No outcome"), "{:?}", script(&world.sent(2)));
}

#[tokio::test]
async fn a_model_that_never_finalises_leaves_the_plan_collecting() {
    let prop = Prop::changing("prop");
    let world =
        collecting(&prop, [Reply::call("prop", json!({})), Reply::text("The plan is finalised and approved!")]).await;
    let outcome = world.say("Plan it").await;
    assert_eq!((outcome.end, outcome.plan), (Some(TurnEnd::Answered), None));
    assert_eq!(world.plan(1).await.status, PlanStatus::Collecting);
    assert!(prop.calls().is_empty());
    let answer = world.send("/plan off").await;
    assert!(answer.reply.contains("COLLECTING"), "{}", answer.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Collecting, "a parked plan stays as it is");
}

#[tokio::test]
async fn a_plan_whose_finalising_failed_says_how_it_goes_on() {
    let broken = Reply::call("plan_finalize", json!({ "summary": 5 }));
    let replies = [Reply::call("prop", json!({})), broken, Reply::text("That is my plan."), finalize()];
    let world = collecting(&Prop::changing("prop"), replies).await;
    let outcome = world.say("Plan it").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Collecting);
    let next = "It is a draft that the agent has not finished. A message continues it.";
    assert!(outcome.reply.starts_with("That is my plan.\n\nPlan 1 is **COLLECTING**"), "{}", outcome.reply);
    assert!(outcome.reply.contains(next) && outcome.reply.contains("`/plan cancel 1`"), "{}", outcome.reply);
    let status = world.send("/plan status").await.reply;
    assert!(status.contains(next), "{status}");
    let outcome = world.say("Go on").await;
    assert!(matches!(outcome.end, Some(TurnEnd::PlanReady { .. })), "{outcome:?}");
    world.is_sound().await;
}

#[tokio::test]
async fn a_finalised_plan_takes_no_more_steps_and_is_not_finalised_twice() {
    let prop = Prop::changing("prop");
    let world = collecting(
        &prop,
        [Reply::call("prop", json!({})), finalize(), Reply::call("prop", json!({})), finalize(), Reply::text("Wait.")],
    )
    .await;
    world.say("Plan it").await;
    let outcome = world.say("And another").await;
    assert_eq!(outcome.reply, "Wait.");
    assert_eq!(steps(&world.plan(1).await).len(), 1);
    assert!(prop.calls().is_empty(), "a finalised plan runs nothing either");
    let expected = [ToolStatus::Planned, ToolStatus::Settled, ToolStatus::Refused, ToolStatus::Refused];
    assert_eq!(statuses(&world.events().await), expected);
    assert!(script(&world.sent(4)).last().unwrap().contains("WRONG_STATUS"));
}

#[tokio::test]
async fn what_cannot_be_run_is_not_recorded() {
    let world = collecting(
        &Prop::changing("prop"),
        [
            Reply::call("run_shell", json!({"command": "ls"})),
            Reply::call("write_file", json!({"path": "a.txt"})),
            Reply::raw_call("prop", "[1]"),
            Reply::call("plan_finish", json!({})),
            Reply::text("I cannot."),
        ],
    )
    .await;
    world.say("Plan it").await;
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused; 4]);
    assert!(
        !world
            .events()
            .await
            .iter()
            .any(|event| matches!(event, Event::Plan { event: PlanEvent::StepRecorded { .. }, .. }))
    );
}
