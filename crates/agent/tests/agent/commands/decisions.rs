//! Saying no, asking for changes, ending, going on, and looking at what changed.

use planwright_core::plan::PlanStatus;
use planwright_core::turn::TurnEnd;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::planning::{report, set};
use crate::world::{World, newest_message};

async fn waiting(more: impl IntoIterator<Item = Reply>) -> World {
    let replies = [set("- [ ] one\n- [ ] two"), Reply::text("Ready.")].into_iter().chain(more);
    let world = World::with(ScriptedModel::new(replies), |setup| setup.policy.nudges = 0).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    world
}

#[tokio::test]
async fn a_text_after_plan_turns_plan_work_on_and_is_given_to_the_agent() {
    let world = World::new([set("- [ ] one"), Reply::text("Ready."), Reply::text("Still on it.")]).await;
    let answer = world.send("/plan move the shop, and quickly").await;
    assert_eq!(answer.end, Some(TurnEnd::Answered));
    assert_eq!(newest_message(&world.sent(1)), "move the shop, and quickly");
    assert!(world.sent(1).system.contains("Plan work is on, style document"));
    assert_eq!(answer.plan.unwrap().number, 1);
    world.send("/plan -- on second thoughts, slowly").await;
    assert_eq!(newest_message(&world.model.last_request()), "on second thoughts, slowly");
    assert_eq!(
        world.engine().sessions().get(&world.session).await.unwrap().plans_made,
        1,
        "it stays on the plan it is on"
    );
}

#[tokio::test]
async fn a_text_that_is_too_long_turns_nothing_on() {
    let world = World::with(ScriptedModel::new([]), |setup| setup.options.context_tokens = Some(8_000)).await;
    let long = "word ".repeat(7_000);
    let answer = world.send(&format!("/plan {long}")).await;
    assert!(answer.refused() && answer.reply.contains("context_tokens"), "{}", answer.reply);
    assert_eq!(world.event_names().await, ["session_opened"]);
}

#[tokio::test]
async fn a_rejected_plan_is_over() {
    let world = waiting([Reply::text("I see.")]).await;
    let answer = world.send("/plan reject #1 too risky").await;
    assert!(answer.reply.contains("REJECTED"), "{}", answer.reply);
    let plan = world.plan(1).await;
    assert_eq!((plan.status, plan.ending.unwrap().reason.as_deref()), (PlanStatus::Rejected, Some("too risky")));
    world.say("And now?").await;
    let system = world.model.last_request().system;
    assert!(system.contains("rejected: \"too risky\"") && system.contains("do not take it up again"), "{system}");
    assert!(world.send("/plan approve 1").await.refused());
}

#[tokio::test]
async fn feedback_reaches_the_model_and_the_new_text_is_shown() {
    let world = waiting([set("- [ ] a view"), Reply::text("Changed."), Reply::text("Well?")]).await;
    let answer = world.send("/plan revise use a view\nand a test").await;
    let asked = world.sent(3);
    assert!(asked.system.contains("  > use a view\n  > and a test"), "{}", asked.system);
    assert_eq!(newest_message(&asked), "Revise plan 1: use a view\nand a test");
    let card = answer.plan.unwrap();
    assert_eq!((card.number, card.version, card.markdown.as_str()), (1, 2, "- [ ] a view"));
    assert_eq!(answer.end, Some(TurnEnd::Answered));
    world.say("Well?").await;
    assert!(!world.model.last_request().system.contains("use a view"), "what was answered is not asked again");
}

#[tokio::test]
async fn feedback_on_a_collected_plan_begins_a_new_one() {
    let read = || Reply::call("read_file", json!({"path": "a"}));
    let finalize = || Reply::call("plan_finalize", json!({}));
    let world = World::new([read(), finalize(), read(), read(), finalize()]).await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    let answer = world.send("/plan revise #1 read it twice").await;
    assert!(matches!(answer.end, Some(TurnEnd::PlanReady { .. })), "{answer:?}");
    assert_eq!(answer.plan.unwrap().number, 2);
    assert_eq!(world.plan(1).await.status, PlanStatus::Superseded);
    let plan = world.plan(2).await;
    assert_eq!((plan.status, plan.content.steps().len()), (PlanStatus::Ready, 2));
}

#[tokio::test]
async fn a_cancelled_plan_is_over_and_its_run_with_it() {
    let world = waiting([report(1), Reply::text("One is done."), report(2), Reply::text("It is over.")]).await;
    world.send("/plan approve").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
    let answer = world.send("/plan cancel -- no longer needed").await;
    assert!(answer.reply.contains("CANCELLED"), "{}", answer.reply);
    world.say("go on").await;
    let plan = world.plan(1).await;
    assert_eq!(plan.status, PlanStatus::Cancelled, "nothing is written over it");
    assert_eq!(plan.ending.unwrap().reason.as_deref(), Some("no longer needed"));
}

#[tokio::test]
async fn a_plan_that_was_left_goes_on_from_the_first_step_not_done() {
    let world = waiting([report(1), Reply::text("One."), report(2), Reply::text("Two.")]).await;
    world.send("/plan approve").await;
    let left = world.send("/plan done").await;
    assert!(left.reply.contains("PARTIALLY_COMPLETED"), "{}", left.reply);
    let refused = world.send("/plan resume").await;
    assert!(refused.refused(), "none is active: {}", refused.reply);
    let answer = world.send("/plan resume 1").await;
    assert!(!answer.refused() && answer.reply.starts_with("Two."), "{}", answer.reply);
    assert!(world.sent(5).system.contains("Next: step 2"), "{}", world.sent(5).system);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
}

#[tokio::test]
async fn what_changed_is_told_line_by_line() {
    let world = waiting([set("- [ ] one\n- [ ] three"), Reply::text("Changed.")]).await;
    world.say("Rather three").await;
    let diff = world.send("/plan diff").await.reply;
    assert!(diff.starts_with("```diff\n") && diff.ends_with("\n```"), "{diff}");
    assert!(diff.contains("two") && diff.contains("three"), "{diff}");
    assert!(diff.lines().any(|line| line.starts_with('-') && line.contains("two")), "{diff}");
    assert!(diff.lines().any(|line| line.starts_with('+') && line.contains("three")), "{diff}");
    world.send("/plan on").await;
    let plans = world.send("/plan diff 1 1").await.reply;
    assert_eq!(plans, "Nothing changed.");
}

#[tokio::test]
async fn an_exported_plan_is_the_text_itself_whatever_is_in_it() {
    let text = "# Plan\n\n````\n```\nnested\n```\n````\n\n- [ ] one";
    let world = World::new([set(text), Reply::text("Ready.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    let reply = world.send("/plan export 1").await.reply;
    assert_eq!(reply, format!("`````markdown\n{text}\n`````"));
}

#[tokio::test]
async fn plan_off_parks_and_plan_done_cancels_what_is_empty() {
    let world = waiting([]).await;
    let off = world.send("/plan off").await;
    assert!(off.reply.starts_with("Plan work is off.") && off.reply.contains("READY"), "{}", off.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    world.send("/plan on").await;
    assert_eq!(world.send("/plan done").await.reply, "Plan work is off.");
    assert_eq!(world.plan(2).await.status, PlanStatus::Cancelled);
    let list = world.send("/plans").await.reply;
    assert!(
        list.contains("plan 2 **CANCELLED**") && list.contains("plan 1 **READY**") && !list.contains("active"),
        "{list}"
    );
    // Five times on and off leaves nothing behind that counts.
    for _ in 0..5 {
        assert!(!world.send("/plan on").await.refused());
        assert!(!world.send("/plan off").await.refused());
    }
    assert!(!world.engine().sessions().get(&world.session).await.unwrap().plan_mode.enabled);
}
