//! A rule in the configuration may approve plans whose every call only reads, and no others.

use std::sync::Arc;

use crate::talk::{Talk as _, Watcher};
use planwright_agent::toolbox::{Tool, Toolbox};
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::command::{Command, ExecutionCommand};
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus::{Completed, Failed};
use planwright_core::policy::{OnFailure, StandingApproval};
use planwright_core::turn::TurnEnd;
use planwright_engine::ledger::Submission;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::{Value, json};

use super::runs;
use crate::planning::set;
use crate::process::Process;
use crate::specialist_scripts::{names_since, proposed, step};
use crate::test_tools::{Act, Prop};
use crate::world::{World, person};

fn looking() -> Prop {
    Prop::new("look", ToolEffect::ReadsOnly, Act::Answer(json!({"seen": true})))
}

fn rule(setup: &mut AgentSetup) {
    setup.policy.standing_approval = StandingApproval::ReadOnly;
}

fn finalize() -> Reply {
    Reply::call("plan_finalize", json!({"summary": "I would look."}))
}

/// A plan of these calls is proposed.
async fn proposes(
    calls: &[(&str, Value)],
    change: impl FnOnce(&mut AgentSetup),
) -> (World, planwright_agent::session::outcome::TurnOutcome) {
    let reply =
        calls.iter().fold(Reply::default(), |reply, (tool, arguments)| reply.and_call(*tool, arguments.clone()));
    let world = World::with(ScriptedModel::new([reply, finalize()]), change).await;
    world.send("/plan on collect").await;
    let outcome = world.say("Look around").await;
    (world, outcome)
}

#[tokio::test]
async fn without_the_rule_a_plan_that_only_reads_waits_like_any_other() {
    let look = looking();
    let (world, outcome) = proposes(&[("look", json!({}))], |setup| setup.tool(&look)).await;
    let plan = world.plan(1).await;
    assert_eq!((plan.status, plan.approval.as_ref()), (PlanStatus::Ready, None));
    assert_eq!(outcome.end, Some(TurnEnd::PlanReady { plan: plan.id }));
    assert!(outcome.plan.is_some() && look.calls().is_empty());
}

#[tokio::test]
async fn with_the_rule_it_is_approved_by_the_rule_and_carried_out() {
    let look = looking();
    let calls = [("look", json!({"n": 1})), ("list_files", json!({})), ("look", json!({"n": 2}))];
    let (world, outcome) = proposes(&calls, |setup| {
        rule(setup);
        setup.tool(&look);
    })
    .await;
    let plan = world.plan(1).await;
    assert_eq!(plan.status, PlanStatus::Completed);
    let approval = plan.approval.as_ref().unwrap();
    assert_eq!(approval.by.kind, ActorKind::Policy, "it is not recorded as a person's approval");
    assert_eq!(approval.by.name, "plan.standing_approval = \"read_only\"");
    assert_eq!((approval.digest, approval.skipped.len()), (plan.digest(), 0));
    assert_eq!(look.calls(), [json!({"n": 1}), json!({"n": 2})]);
    assert_eq!(runs(&world).await, [Completed; 3]);
    let names = names_since(&world.events().await, "plan_finalized");
    assert_eq!(names[..2], ["plan_finalized", "tool_ended"]);
    let decided = names.iter().position(|name| *name == "plan_approved").unwrap();
    assert_eq!(names[decided + 1], "execution_started");
    for expected in ["I would look.", "was approved by the rule `plan.standing_approval", "**COMPLETED**", "3 done"] {
        assert!(outcome.reply.contains(expected), "{expected:?} is not in {}", outcome.reply);
    }
    assert!(outcome.plan.is_none(), "there is nothing left to decide");
    assert!(approval.by.to_string().contains("(policy)"), "it is shown as what it is: {}", approval.by);
    world.is_sound().await;
}

#[tokio::test]
async fn one_call_that_changes_something_makes_it_wait() {
    for effect in [ToolEffect::Changes, ToolEffect::Repeatable] {
        let (look, ring) = (looking(), Prop::new("ring", effect, Act::Answer(json!({}))));
        let calls = [("look", json!({})), ("ring", json!({})), ("look", json!({"n": 2}))];
        let (world, outcome) = proposes(&calls, |setup| {
            rule(setup);
            setup.tool(&look);
            setup.tool(&ring);
        })
        .await;
        assert_eq!(world.plan(1).await.status, PlanStatus::Ready, "{effect:?}");
        assert!(matches!(outcome.end, Some(TurnEnd::PlanReady { .. })) && outcome.plan.is_some());
        assert!(look.calls().is_empty() && ring.calls().is_empty());
        let answer = world.send("/plan approve").await;
        assert!(answer.reply.contains("3 done"), "a person may approve it: {}", answer.reply);
        assert_eq!(world.plan(1).await.approval.as_ref().unwrap().by.kind, ActorKind::Person);
    }
}

#[tokio::test]
async fn a_call_of_a_tool_that_is_not_here_makes_it_wait() {
    let look = looking();
    let world = World::with(ScriptedModel::new([Reply::call("look", json!({})), finalize()]), |setup| {
        rule(setup);
        setup.tool(&look);
    })
    .await;
    world.send("/plan on collect").await;
    let record =
        planwright_core::command::DraftCommand::RecordStep { tool: "far_away".to_owned(), arguments: json!({}) };
    let elsewhere = Actor::agent("elsewhere", "mcp");
    world.engine().submit(&world.session, &elsewhere, Command::Draft(record)).await.unwrap();
    world.say("Look around").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    assert!(look.calls().is_empty());
}

#[tokio::test]
async fn documents_and_proposals_wait_for_a_person() {
    let world = World::with(ScriptedModel::new([set("- [ ] look"), Reply::text("Ready.")]), rule).await;
    world.send("/plan on").await;
    world.say("Plan it").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    let world = proposed(&[step("Look", "researcher", &[])], rule).await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Ready);
    assert_eq!(world.plan(1).await.approval.as_ref(), None);
}

#[tokio::test]
async fn a_plan_without_a_step_is_not_approved() {
    let world = World::with(ScriptedModel::new([finalize()]), rule).await;
    world.send("/plan on collect").await;
    let outcome = world.say("Nothing").await;
    assert!(matches!(outcome.end, Some(TurnEnd::NothingPlanned { .. })));
    assert_eq!(world.plan(1).await.status, PlanStatus::Cancelled);
}

#[tokio::test]
async fn a_tool_that_does_not_only_read_any_more_is_not_run_on_the_word_of_a_rule() {
    let look = looking();
    let world = World::with(ScriptedModel::new([]), |setup| {
        rule(setup);
        setup.policy.on_failure = OnFailure::GoOn;
        setup.tool(&look);
    })
    .await;
    world.send("/plan on collect").await;
    let reply = Reply::call("look", json!({})).and_call("list_files", json!({}));
    let model = ScriptedModel::new([reply, finalize()]);
    let begins =
        |submission: &Submission| matches!(submission.command, Command::Execution(ExecutionCommand::Advance { .. }));
    let process = Process::hanging(&world, &model, begins).await;
    process.send(&world.session, "Look around");
    process.hangs().await;
    process.die().await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
    let changed: Arc<dyn Tool> = Arc::new(Prop::changing("look"));
    let world = world.restart_with(|setup| setup.tools = Toolbox::new([changed])).await;
    world.agent.resume_plan(&world.place(), &person(), &Watcher::none()).await.unwrap();
    assert_eq!(runs(&world).await, [Failed, Completed]);
    let note = world.plan(1).await.execution.unwrap().steps[0].note.clone().unwrap();
    assert!(note.contains("only a rule approved it"), "{note}");
    assert!(look.calls().is_empty());
    world.is_sound().await;
}
