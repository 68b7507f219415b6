//! After a restart everything is found again, from the first call on.

use crate::talk::{Talk as _, Watcher};
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::turn::TurnEnd;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::planning::{report, set};
use crate::world::{World, script, tool_names};

#[tokio::test]
async fn the_mode_is_what_it_was_in_the_first_request() {
    for style in PlanStyle::ALL {
        let world = World::new([Reply::text("Before."), Reply::text("After.")]).await;
        world.send(&format!("/plan on {style}")).await;
        world.say("Hello").await;
        let mode = world.engine().sessions().get(&world.session).await.unwrap().plan_mode;
        let world = world.restart().await;
        world.say("Still there?").await;
        let (before, after) = (world.sent(1), world.sent(2));
        assert_eq!(after.system, before.system, "{style}");
        assert_eq!(tool_names(&after), tool_names(&before), "{style}");
        assert_eq!(script(&after), ["user: Hello", "model: Before.", "user: Still there?"]);
        assert_eq!(world.engine().sessions().get(&world.session).await.unwrap().plan_mode, mode);
    }
}

#[tokio::test]
async fn the_first_command_finds_everything() {
    let world = World::new([set("# Move\n\n- [ ] one\n- [ ] two"), Reply::text("Ready.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    let before = [world.send("/plan").await.reply, world.send("/plans").await.reply, world.send("/tools").await.reply];
    let world = world.restart().await;
    let after = [world.send("/plan").await.reply, world.send("/plans").await.reply, world.send("/tools").await.reply];
    assert_eq!(before, after);
    let world = world.restart().await;
    assert!(!world.send("/plan approve").await.refused(), "what was shown before the restart was shown");
    assert!(world.plan(1).await.approval.is_some());
}

#[tokio::test]
async fn work_on_a_plan_goes_on_where_it_stood() {
    let world = World::new([set("- [ ] one\n- [ ] two"), Reply::text("A."), report(1), Reply::text("B.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    world.send("/plan approve").await;
    let world = world.restart().await;
    world.model.then(report(2));
    world.model.then(Reply::text("All done."));
    world.say("go on").await;
    assert!(world.sent(5).system.contains("- Done: 1 of 2"), "{}", world.sent(5).system);
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.is_sound().await;
}

#[tokio::test]
async fn a_parked_plan_stays_parked() {
    let world = World::new([set("- [ ] one"), Reply::text("Ready."), Reply::text("Yes.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    world.send("/plan off").await;
    let world = world.restart().await;
    let outcome = world.say("Hello").await;
    assert_eq!(outcome.plan, None);
    assert!(world.model.last_request().system.contains("# Plan work is off"));
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    assert!(!world.engine().sessions().get(&world.session).await.unwrap().plan_mode.enabled);
}

#[tokio::test]
async fn a_summary_is_read_instead_of_what_it_stands_for() {
    let replies = (0..10).map(|n| Reply::text(format!("Answer {n}. {}", "word ".repeat(500))));
    let model = ScriptedModel::new(replies).otherwise(Reply::text("They counted."));
    let world = World::with(model, |_| {}).await;
    for n in 0..10 {
        world.say(&format!("Count {n}")).await;
    }
    world.send("/compact").await;
    world.say("Well?").await;
    let before = script(&world.model.last_request());
    let world = world.restart().await;
    world.say("And now?").await;
    let after = script(&world.model.last_request());
    assert_eq!(after[..before.len()], before);
    assert_eq!(after[before.len()..], ["model: They counted.", "user: And now?"]);
    assert!(after[0].contains("They counted.") && !after.iter().any(|line| line.contains("Count 0")), "{after:?}");
}

#[tokio::test]
async fn a_turn_that_was_open_is_finished_by_the_same_process_started_anew() {
    let world = World::new([Reply::call("list_files", json!({})), Reply::hang()]).await;
    let turn = world.say_in_background("What is there?");
    world.model.asked(2).await;
    turn.abort();
    let world = world.restart().await;
    world.model.then(Reply::text("Nothing."));
    let outcome = world.agent.resume(&world.session, &Watcher::none()).await.unwrap().unwrap();
    assert_eq!((outcome.end, outcome.reply.as_str()), (Some(TurnEnd::Answered), "Nothing."));
    assert_eq!(world.model.requests().len(), 3);
    world.has_a_valid_history();
}
