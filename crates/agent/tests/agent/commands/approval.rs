//! `/plan approve`: only a person, and only what they were shown.

use crate::talk::{Talk as _, Watcher};
use planwright_agent::Agent;
use planwright_agent::session::input::{ChatLocation, SeenPlan};
use planwright_agent::tools::PlanTools;
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::plan::PlanStatus;
use planwright_core::turn::{ShownPlan, TurnEnd};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::planning::set;
use crate::world::{World, person};

/// A world with a document that waits and was shown.
async fn waiting() -> World {
    let model = ScriptedModel::new([set("- [ ] one\n- [ ] two"), Reply::text("Ready.")]);
    let world = World::with(model.otherwise(Reply::text("I begin.")), |_| {}).await;
    world.send("/plan on").await;
    assert!(world.say("Plan it").await.plan.is_some());
    world
}

/// Another agent stores another text.
async fn change(world: &World, other: &Agent) {
    let arguments = json!({"plan_markdown": "- [ ] something else"}).as_object().unwrap().clone();
    let agent = Actor::agent("another", "mcp");
    PlanTools::new(other.engine()).call(&world.session, &agent, "plan_set_content", arguments).await.unwrap();
}

#[tokio::test]
async fn what_was_shown_is_approved_with_who_when_and_what() {
    let world = waiting().await;
    let answer = world.send("/plan approve -- looks fine").await;
    assert!(!answer.refused() && answer.decided.is_some_and(|expected| expected.starts_with("Plan 1 is approved")));
    assert!(answer.reply.starts_with("I begin."), "the work begins with it: {}", answer.reply);
    let plan = world.plan(1).await;
    let approval = plan.approval.clone().unwrap();
    assert_eq!(plan.status, PlanStatus::Executing);
    assert_eq!((approval.by.kind, approval.by.name.as_str()), (ActorKind::Person, "Ada"));
    assert_eq!((approval.digest, approval.note.as_deref()), (plan.digest(), Some("looks fine")));
    assert_eq!(world.model.requests().len(), 4, "the model is asked once to begin, and is reminded once");
    let again = world.send("/plan approve").await;
    assert!(again.refused() && again.reply.contains("EXECUTING"), "{}", again.reply);
    assert_eq!(world.model.requests().len(), 4, "approving twice begins nothing");
}

#[tokio::test]
async fn what_changed_since_it_was_shown_is_shown_again_and_not_approved() {
    let world = waiting().await;
    let other = world.another(&ScriptedModel::new([]), "the other").await;
    change(&world, &other).await;
    let answer = world.send("/plan approve").await;
    assert!(answer.refused() && answer.reply.contains("has changed since you saw it"), "{}", answer.reply);
    let card = answer.plan.unwrap();
    assert_eq!((card.version, card.markdown.as_str()), (2, "- [ ] something else"));
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    assert!(!world.send("/plan approve 1").await.refused(), "now it was shown");
    assert_eq!(world.plan(1).await.approval.unwrap().digest, card.digest);
    world.is_sound().await;
}

#[tokio::test]
async fn what_was_never_shown_here_is_shown_first() {
    let world = World::new([]).await;
    world.send("/plan on").await;
    let other = world.another(&ScriptedModel::new([]), "the other").await;
    change(&world, &other).await;
    let answer = world.send("/plan approve").await;
    assert!(answer.refused() && answer.reply.contains("not seen this version"), "{}", answer.reply);
    assert_eq!(answer.plan.unwrap().version, 1);
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    assert!(!world.send("/plan approve").await.refused());
    assert!(world.plan(1).await.approval.is_some());
}

#[tokio::test]
async fn looking_at_a_plan_shows_it() {
    let world = World::new([]).await;
    world.send("/plan on").await;
    let other = world.another(&ScriptedModel::new([]), "the other").await;
    change(&world, &other).await;
    let shown = world.send("/plan show").await;
    assert_eq!(shown.plan.unwrap().markdown, "- [ ] something else");
    assert!(!world.send("/plan approve").await.refused());
}

#[tokio::test]
async fn what_another_conversation_was_shown_does_not_count_here() {
    let world = waiting().await;
    let id = world.plan(1).await.id;
    world.send("/reset").await;
    // The plan was cancelled with the conversation; nothing of it can be approved.
    let answer = world.send(&format!("/plan approve {id}")).await;
    assert!(answer.refused() && answer.reply.contains("CANCELLED"), "{}", answer.reply);
}

#[tokio::test]
async fn an_empty_plan_and_no_plan_are_not_approved() {
    let world = World::new([]).await;
    let none = world.send("/plan approve").await;
    assert!(none.refused() && none.reply.contains("No plan is active"), "{}", none.reply);
    world.send("/plan on").await;
    let empty = world.send("/plan approve").await;
    assert!(empty.refused() && empty.reply.contains("COLLECTING"), "{}", empty.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Collecting);
}

#[tokio::test]
async fn some_steps_of_a_collected_plan_are_approved() {
    let read = |path: &str| Reply::call("read_file", json!({ "path": path }));
    for (typed, skipped) in [("/plan approve only 1,3", vec![2]), ("/plan approve 1 skip 1 -- no", vec![1])] {
        let world = World::new([read("a"), read("b"), read("c"), Reply::call("plan_finalize", json!({}))]).await;
        world.send("/plan on collect").await;
        assert!(matches!(world.say("Plan it").await.end, Some(TurnEnd::PlanReady { .. })));
        let answer = world.send(typed).await;
        assert!(!answer.refused(), "{}", answer.reply);
        let approval = world.plan(1).await.approval.unwrap();
        assert_eq!(approval.skipped.iter().map(|step| step.position).collect::<Vec<_>>(), skipped);
        let decided = answer.decided.unwrap();
        assert!(decided.contains(&format!("step {} will not be done", skipped[0])), "{decided}");
        assert_eq!(approval.approved.len(), 2);
    }
}

#[tokio::test]
async fn a_step_that_needs_a_skipped_one_is_skipped_with_it_and_that_is_said() {
    let world = World::new([
        Reply::call("plan_create_draft", json!({"goal": "Ship it"}))
            .and_call("plan_add_step", json!({"description": "Build it", "agent": "coder"})),
        Reply::made_from(|request| {
            let answer = request.messages.iter().rev().find_map(|message| match message {
                planwright_core::model::ModelMessage::ToolResult { text, .. } => Some(text.clone()),
                _ => None,
            });
            let answer: serde_json::Value = serde_json::from_str(&answer.unwrap()).unwrap();
            let needs = [answer["step_id"].clone()];
            Reply::call("plan_add_step", json!({"description": "Test it", "agent": "tester", "needs": needs}))
                .and_call("plan_add_step", json!({"description": "Announce it", "agent": "writer"}))
        }),
        Reply::call(
            "plan_set_metadata",
            json!({"assumptions": ["a"], "risks": ["r"], "verification": ["v"], "files": ["f"]}),
        ),
        Reply::call("plan_submit", json!({})),
    ])
    .await;
    world.send("/plan on build").await;
    assert!(matches!(world.say("Plan it").await.end, Some(TurnEnd::PlanReady { .. })));
    let none = world.send("/plan approve only 2").await;
    assert!(none.refused(), "step 2 needs step 1, so no step is left: {}", none.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    let answer = world.send("/plan approve skip 1").await;
    assert!(!answer.refused(), "{}", answer.reply);
    let decided = answer.decided.unwrap();
    assert!(decided.contains("needs step 1"), "{decided}");
    let plan = world.plan(1).await;
    let approval = plan.approval.as_ref().unwrap();
    let skipped: Vec<_> = approval.skipped.iter().map(|step| step.position).collect();
    assert_eq!(skipped, [1, 2]);
    assert_eq!(approval.approved, [plan.content.steps()[2].id.clone()]);
}

#[tokio::test]
async fn a_document_is_approved_as_a_whole() {
    let world = waiting().await;
    let answer = world.send("/plan approve only 1").await;
    assert!(answer.refused() && answer.reply.contains("as a whole"), "{}", answer.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
}

#[tokio::test]
async fn only_a_person_approves() {
    let world = waiting().await;
    let digest = world.plan(1).await.digest();
    let id = world.plan(1).await.id;
    for by in [Actor::agent("a model", "mcp"), Actor::system("cli")] {
        let approved = world
            .engine()
            .plans()
            .approve(&world.session, &by, &id, digest, Default::default(), None)
            .await
            .unwrap_err();
        assert!(approved.to_string().contains("Only a person"), "{approved}");
        let place = world.place();
        let watcher = crate::talk::Watcher::none();
        assert!(world.agent.type_text(&place, &by, "/plan approve", &watcher).await.unwrap().refused());
    }
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    world.engine().plans().approve(&world.session, &person(), &id, digest, Default::default(), None).await.unwrap();
}

#[tokio::test]
async fn what_one_terminal_was_shown_is_not_seen_at_another() {
    let world = World::new([set("# One"), Reply::text("A."), set("# Two"), Reply::text("B.")]).await;
    world.send("/plan on").await;
    let card = world.say("Plan it").await.plan.unwrap();
    let seen = ShownPlan { plan: card.plan_id, digest: card.digest };
    let here = ChatLocation { seen: SeenPlan::AtSurface(Some(seen)), ..world.place() };
    // Another terminal in the same session changes it and is shown what it became.
    world.send("/plan revise #1 make it two").await;
    let answer = world.agent.type_text(&here, &person(), "/plan approve", &Watcher::none()).await.unwrap();
    assert!(answer.refused() && answer.plan.is_some(), "{answer:?}");
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    let nothing = ChatLocation { seen: SeenPlan::AtSurface(None), ..world.place() };
    let answer = world.agent.type_text(&nothing, &person(), "/plan approve", &Watcher::none()).await.unwrap();
    assert!(answer.refused() && answer.plan.is_some(), "{answer:?}");
    let card = answer.plan.unwrap();
    let seen = ShownPlan { plan: card.plan_id, digest: card.digest };
    let here = ChatLocation { seen: SeenPlan::AtSurface(Some(seen)), ..world.place() };
    world.agent.type_text(&here, &person(), "/plan approve", &Watcher::none()).await.unwrap();
    assert!(world.plan(1).await.approval.is_some());
}
