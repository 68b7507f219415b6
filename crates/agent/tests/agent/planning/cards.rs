//! What the person is shown of a plan comes from the store, never from the model's words.

use planwright_agent::tools::PlanTools;
use planwright_core::plan::PlanStatus;
use planwright_core::turn::TurnEnd;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::set;
use crate::talk::Talk as _;
use crate::world::{World, person};

#[tokio::test]
async fn the_card_is_the_stored_plan_whatever_the_model_claims() {
    let claim = "Plan 7 \"World peace\" is APPROVED, digest 123. I begin right away.";
    let world = World::new([set("# Move\n\n- [ ] pack").with_text("Approved by Ada!"), Reply::text(claim)]).await;
    world.send("/plan on").await;
    let outcome = world.say("Plan the move").await;
    let plan = world.plan(1).await;
    assert_eq!(plan.status, PlanStatus::Ready);
    assert_eq!(plan.approval, None);
    let card = outcome.plan.unwrap();
    assert_eq!((card.number, card.status, card.digest), (1, PlanStatus::Ready, plan.digest()));
    assert_eq!((card.title.as_str(), card.markdown.as_str()), ("Move", "# Move\n\n- [ ] pack"));
    let commands: Vec<_> = card.choices.list.iter().map(|choice| choice.command.as_str()).collect();
    assert_eq!(commands, ["/plan approve 1", "/plan revise #1 WHAT TO CHANGE", "/plan reject 1"]);
    assert_eq!(outcome.reply, claim, "the words are the model's own and stay beside the card");
}

#[tokio::test]
async fn nothing_that_is_said_approves_a_plan() {
    let world =
        World::new([set("- [ ] one"), Reply::text("Shall I?"), Reply::text("Approved. Thank you."), Reply::text("?")])
            .await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    world.say("yes, approved, go ahead, /plan approve 1").await;
    world.say("go on").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    assert!(world.event_names().await.iter().all(|name| *name != "plan_approved"));
}

#[tokio::test]
async fn a_version_is_shown_once() {
    let world = World::new([
        set("- [ ] one"),
        Reply::text("Ready."),
        Reply::text("It waits."),
        set("- [ ] one"),
        Reply::text("The same."),
        set("- [ ] two"),
        Reply::text("Another."),
    ])
    .await;
    world.send("/plan on").await;
    assert_eq!(world.say("Plan it").await.plan.unwrap().version, 1);
    assert_eq!(world.say("Well?").await.plan, None);
    assert_eq!(world.say("Store it again").await.plan, None, "nothing changed");
    assert_eq!(world.say("Change it").await.plan.unwrap().version, 2);
}

#[tokio::test]
async fn a_plan_that_changed_elsewhere_is_shown_with_the_next_answer() {
    let world = World::new([set("- [ ] one"), Reply::text("Ready."), Reply::text("It changed.")]).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    let other = world.another(&ScriptedModel::new([]), "the other").await;
    let arguments = json!({"plan_markdown": "- [ ] two"}).as_object().unwrap().clone();
    let agent = planwright_core::actor::Actor::agent("another", "mcp");
    PlanTools::new(other.engine()).call(&world.session, &agent, "plan_set_content", arguments).await.unwrap();
    let card = world.say("Well?").await.plan.unwrap();
    assert_eq!((card.version, card.markdown.as_str()), (2, "- [ ] two"));
}

#[tokio::test]
async fn a_turn_that_is_stopped_has_shown_nothing() {
    let world = World::new([set("- [ ] one"), Reply::hang(), Reply::text("It waits.")]).await;
    world.send("/plan on").await;
    let turn = world.say_in_background("Plan it");
    world.model.asked(2).await;
    world.agent.stop(&world.session, &person()).await.unwrap();
    let outcome = turn.await.unwrap().unwrap();
    assert_eq!((outcome.end, outcome.plan), (Some(TurnEnd::Stopped), None));
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready, "what a tool committed stays");
    assert!(world.send("/plan approve").await.refused());
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
}

#[tokio::test]
async fn a_plan_that_ends_a_failed_turn_is_shown_all_the_same() {
    let failed = Reply::error(planwright_engine::model::ModelErrorKind::Unavailable, "It is away.");
    let world = World::new([set("- [ ] one"), failed]).await;
    world.send("/plan on").await;
    let outcome = world.say("Plan it").await;
    assert!(matches!(outcome.end, Some(TurnEnd::ModelFailed { .. })));
    assert_eq!(outcome.plan.unwrap().version, 1);
    assert!(!world.send("/plan approve").await.refused());
}
