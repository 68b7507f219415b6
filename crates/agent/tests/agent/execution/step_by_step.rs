//! A plan that is approved step by step: after each step it waits for the person's look, in whichever process and
//! whatever ends in between.

use std::sync::Arc;

use planwright_agent::session::input::{Approving, Input, Request, Worker};
use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::event::{Event, PlanEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::StepStatus::{Completed, Failed, Pending, Skipped};
use planwright_core::refusal::RefusalCode;
use planwright_engine::inbox::WaitingFor;
use planwright_engine::ledger::Submission;
use planwright_engine::plans::Activity;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::json;
use tokio::sync::Notify;

use super::pauses::passes;
use crate::planning::{report, set};
use crate::process::Process;
use crate::specialist_scripts::{names_since, proposed, reported, run_statuses, scripted, staffed, step};
use crate::takeover::Keeper;
use crate::talk::{Talk as _, Watcher};
use crate::test_tools::{Act, Prop};
use crate::world::{World, newest_message, person, script};

const THREE: &str = "- [ ] one\n- [ ] two\n- [ ] three";

/// A document of three steps that waits for approval.
async fn document(change: impl FnOnce(&mut AgentSetup)) -> World {
    let world = World::with(ScriptedModel::new([set(THREE), Reply::text("Ready.")]), change).await;
    world.send("/plan on").await;
    world.say("Plan the move").await;
    world
}

/// Recorded calls of these tools that wait for approval.
async fn calls(props: &[&Prop], names: &[&str]) -> World {
    let reply =
        names.iter().zip(1..).fold(Reply::default(), |reply, (name, n)| reply.and_call(*name, json!({ "n": n })));
    let model = ScriptedModel::new([reply, Reply::call("plan_finalize", json!({}))]);
    let world = World::with(model, |setup| props.iter().for_each(|prop| setup.tool(*prop))).await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    world
}

async fn look_at(world: &World) -> Option<usize> {
    world.plan(1).await.execution?.step_pause().map(|pause| pause.step)
}

fn slowly() -> Approving {
    Approving { step_by_step: true, ..Approving::default() }
}

/// A process that stays takes over whatever it may.
async fn nothing_is_taken_over(world: &World) {
    let model = ScriptedModel::new([]).otherwise(Reply::text("I was not to be asked."));
    let keeper = Keeper::start(world, &model).await;
    passes(world, &keeper, &model).await;
    keeper.end().await;
    assert_eq!(model.requests().len(), 2, "only the two sessions that tell the passes are answered");
}

async fn resume_after(world: &World, step: usize) -> Result<(), RefusalCode> {
    let (plan, after_step) = (world.plan(1).await.id, Some(step));
    let input = Input::ResumePlan { plan, choice: None, worker: Worker::ThisProcess, after_step };
    let outcome = world.agent.submit(input, Request::new(world.place(), person())).outcome().await;
    outcome.map(drop).map_err(|error| error.code())
}

#[tokio::test]
async fn recorded_calls_are_made_one_at_a_time_as_the_person_releases_them() {
    let prop = Prop::changing("ring");
    let world = calls(&[&prop], &["ring", "ring", "ring"]).await;
    let answer = world.send("/plan approve step by step").await;
    assert!(answer.decided.unwrap().contains("It pauses after each step"));
    assert!(
        answer.reply.contains("It is paused after step 1") && answer.reply.contains("`/plan resume 1`"),
        "{}",
        answer.reply
    );
    assert_eq!((prop.calls().len(), look_at(&world).await), (1, Some(1)));
    let events = world.events().await;
    let expected = ["plan_approved", "execution_started", "step_begun", "step_ended", "execution_paused"];
    assert_eq!(names_since(&events, "plan_approved"), expected);
    assert!(world.ledger().await.lease(&world.session).await.unwrap().is_none(), "the session is free");
    assert_eq!(
        world.engine().plans().activity(&world.session, &world.plan(1).await).await.unwrap(),
        Some(Activity::Paused)
    );
    let status = world.send("/plan status").await.reply;
    assert!(
        status.contains("It is paused after step 1")
            && status.contains("`/plan revise #1 WHAT TO CHANGE`: Request changes"),
        "{status}"
    );
    nothing_is_taken_over(&world).await;
    assert_eq!(prop.calls().len(), 1);
    world.send("/plan resume").await;
    assert_eq!((prop.calls().len(), look_at(&world).await), (2, Some(2)));
    let answer = world.send("/plan resume").await;
    assert!(answer.reply.contains("**COMPLETED**") && answer.reply.contains("3 done"), "{}", answer.reply);
    assert_eq!(prop.calls(), [json!({"n": 1}), json!({"n": 2}), json!({"n": 3})]);
    world.is_sound().await;
}

#[tokio::test]
async fn calls_that_only_read_are_not_made_side_by_side() {
    let prop = Prop::new("look", ToolEffect::ReadsOnly, Act::Answer(json!({ "seen": true })));
    let world = calls(&[&prop], &["look", "look"]).await;
    world.send("/plan approve step by step").await;
    assert_eq!(prop.calls().len(), 1);
    world.send("/plan resume").await;
    assert_eq!((prop.calls().len(), world.plan(1).await.status), (2, PlanStatus::Completed));
    world.is_sound().await;
}

#[tokio::test]
async fn a_document_ends_its_turn_after_each_step_and_the_model_is_told_why() {
    let world = document(|_| {}).await;
    // It wants to do two steps at once.
    let both = Reply::call("plan_progress", json!({"step": 1, "status": "done"}))
        .and_call("plan_progress", json!({"step": 2, "status": "done"}));
    world.model.then(both);
    let answer = world.send("/plan approve step by step").await;
    assert!(
        answer.reply.contains("1 of 3 steps are done") && answer.reply.contains("It is paused after step 1"),
        "{}",
        answer.reply
    );
    assert_eq!(run_statuses(&world, 1).await, [Completed, Pending, Pending]);
    assert_eq!(world.model.requests().len(), 3, "it is neither asked again nor reminded");
    let sent = world.sent(3);
    assert!(sent.system.contains("step by step: the person looks after each step"), "{}", sent.system);
    nothing_is_taken_over(&world).await;
    world.model.then(Reply::call("plan_progress", json!({"step": 2, "status": "in_progress"})));
    world.model.then(report(2));
    world.send("/plan resume").await;
    assert_eq!((run_statuses(&world, 1).await, look_at(&world).await), (vec![Completed, Completed, Pending], Some(2)));
    let result = script(&world.sent(4)).into_iter().find(|line| line.contains("looks at step 1 now")).unwrap();
    assert!(result.contains("\"paused\":true"), "{result}");
    assert!(newest_message(&world.sent(4)).contains("2. two"), "{}", newest_message(&world.sent(4)));
    world.model.then(report(3));
    world.model.then(Reply::text("All is done."));
    world.send("/plan resume").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.model.assert_finished();
    world.has_a_valid_history();
    world.is_sound().await;
}

#[tokio::test]
async fn a_message_in_between_releases_nothing() {
    let world = document(|_| {}).await;
    world.model.then(report(1));
    world.send("/plan approve step by step").await;
    // The agent answers and tries to continue.
    world.model.then(report(2));
    world.model.then(Reply::text("I wait."));
    let answer = world.say("What did you do?").await;
    assert_eq!(answer.reply, "I wait.");
    let refused = script(&world.sent(5)).pop().unwrap();
    assert!(refused.contains("A person looks at step 1 first"), "{refused}");
    assert!(world.sent(4).system.contains("- Next: the person looks at step 1 first"), "{}", world.sent(4).system);
    assert_eq!((run_statuses(&world, 1).await, look_at(&world).await), (vec![Completed, Pending, Pending], Some(1)));
    world.is_sound().await;
}

#[tokio::test]
async fn each_specialist_is_asked_after_the_person_has_looked() {
    let steps = [step("Build the till", "coder", &[]), step("Try the till", "tester", &[1])];
    let world = proposed(&steps, |_| {}).await;
    scripted(&world, "coder", [reported("done", "The till stands.")]);
    scripted(&world, "tester", [reported("done", "It rang.")]);
    let answer = world.send("/plan approve step by step").await;
    assert!(answer.reply.contains("It is paused after step 1"), "{}", answer.reply);
    assert_eq!(world.model.requests_of("tester").len(), 0);
    let events = world.events().await;
    let expected =
        ["step_begun", "turn_begun", "model_replied", "step_ended", "execution_paused", "tool_ended", "turn_ended"];
    assert_eq!(names_since(&events, "execution_started")[1..], expected);
    world.send("/plan resume").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.model.assert_finished();
    world.is_sound().await;
}

#[tokio::test]
async fn the_rest_is_changed_or_the_execution_ends() {
    let prop = Prop::changing("ring");
    for (phrase, status) in [
        ("/plan resume 1 stop", PlanStatus::PartiallyCompleted),
        ("/stop", PlanStatus::PartiallyCompleted),
        ("/plan cancel 1", PlanStatus::Cancelled),
    ] {
        let world = calls(&[&prop], &["ring", "ring"]).await;
        world.send("/plan approve step by step").await;
        assert!(!world.send(phrase).await.refused(), "{phrase}");
        assert_eq!(world.plan(1).await.status, status, "{phrase}");
        world.is_sound().await;
    }
    let world = document(|_| {}).await;
    world.model.then(Reply::call("plan_progress", json!({"step": 1, "status": "failed", "note": "no van"})));
    world.send("/plan approve step by step").await;
    assert_eq!(run_statuses(&world, 1).await, [Failed, Pending, Pending]);
    assert_eq!(world.send("/stop").await.reply, "Stopped.");
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    let world = document(|_| {}).await;
    world.model.then(report(1));
    world.send("/plan approve step by step").await;
    world.model.then(set("- [x] one\n- [ ] drive"));
    world.model.then(Reply::text("Like this?"));
    world.send("/plan revise leave out the third").await;
    assert_eq!((world.plan(1).await.status, world.plan(2).await.status), (PlanStatus::Superseded, PlanStatus::Ready));
    world.is_sound().await;
}

#[tokio::test]
async fn a_failure_ends_the_execution_as_it_does_otherwise() {
    let (bad, good) = (
        Prop::new("bad", ToolEffect::Changes, Act::Refuse(planwright_core::refusal::Refusal::invalid("no"))),
        Prop::changing("good"),
    );
    let world = calls(&[&bad, &good], &["bad", "good"]).await;
    world.send("/plan approve step by step").await;
    assert_eq!((world.plan(1).await.status, good.calls().len()), (PlanStatus::PartiallyCompleted, 0));
    assert_eq!(run_statuses(&world, 1).await, [Failed, Pending]);
    world.is_sound().await;
}

/// The person presses twice, or presses what is old.
#[tokio::test]
async fn one_go_releases_one_step() {
    let (begin, goes) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begun, go) = (Arc::clone(&begin), Arc::clone(&goes));
    let slow = Slow { begun, go };
    let model = ScriptedModel::new([
        Reply::call("slow", json!({})).and_call("slow", json!({})).and_call("slow", json!({})),
        Reply::call("plan_finalize", json!({})),
    ]);
    let tool = slow.tool();
    let world = World::with(model, |setup| setup.tool(&tool)).await;
    world.send("/plan on collect").await;
    world.say("Plan it").await;
    goes.notify_one();
    world.send("/plan approve step by step").await;
    begin.notified().await;
    assert_eq!(look_at(&world).await, Some(1));
    let first = world.send_in_background("/plan resume");
    begin.notified().await;
    // The second step is under way. Who says go on now has not seen how it ends.
    let second = world.send_in_background("/plan resume");
    let third = world.agent.submit(
        Input::ResumePlan {
            plan: world.plan(1).await.id,
            choice: None,
            worker: Worker::ThisProcess,
            after_step: Some(1),
        },
        Request::new(world.place(), person()),
    );
    goes.notify_one();
    assert!(!first.await.unwrap().unwrap().refused());
    let second = second.await.unwrap().unwrap();
    assert!(second.refused() && second.reply.contains("Step 2 of plan 1 has ended since"), "{}", second.reply);
    assert_eq!(third.outcome().await.unwrap_err().code(), RefusalCode::StaleApproval);
    assert_eq!((tool.calls().len(), look_at(&world).await), (2, Some(2)));
    assert_eq!(resume_after(&world, 1).await, Err(RefusalCode::StaleApproval));
    goes.notify_one();
    resume_after(&world, 2).await.unwrap();
    assert_eq!((tool.calls().len(), world.plan(1).await.status), (3, PlanStatus::Completed));
    world.is_sound().await;
}

/// A tool that says when it begins and ends when it is told.
#[derive(Debug, Clone)]
struct Slow {
    begun: Arc<Notify>,
    go: Arc<Notify>,
}

impl Slow {
    fn tool(&self) -> SlowTool {
        let spec = planwright_core::model::ToolSpec {
            name: "slow".to_owned(),
            description: "Takes its time.".to_owned(),
            input_schema: json!({ "type": "object", "properties": {} }),
        };
        SlowTool { slow: self.clone(), prop: Prop::changing("slow"), spec }
    }
}

#[derive(Debug, Clone)]
struct SlowTool {
    slow: Slow,
    prop: Prop,
    spec: planwright_core::model::ToolSpec,
}

impl SlowTool {
    fn calls(&self) -> Vec<serde_json::Value> {
        self.prop.calls()
    }
}

#[async_trait::async_trait]
impl planwright_agent::toolbox::Tool for SlowTool {
    fn spec(&self) -> &planwright_core::model::ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        ToolEffect::Changes
    }

    fn check(&self, _: &planwright_engine::upstream::Arguments) -> Result<(), planwright_core::refusal::Refusal> {
        Ok(())
    }

    async fn call(
        &self,
        context: planwright_agent::toolbox::ToolContext<'_>,
        arguments: planwright_engine::upstream::Arguments,
    ) -> Result<planwright_agent::toolbox::ToolAnswer, planwright_core::refusal::Refusal> {
        self.slow.begun.notify_one();
        self.slow.go.notified().await;
        self.prop.call(context, arguments).await
    }
}

fn is_paused(event: &Event) -> bool {
    matches!(event, Event::Plan { event: PlanEvent::ExecutionPaused { .. }, .. })
}

#[tokio::test]
async fn a_process_that_ends_after_the_outcome_of_a_call_leaves_a_plan_that_waits() {
    let prop = Prop::changing("ring");
    let world = calls(&[&prop], &["ring", "ring"]).await;
    let process = Process::start(&world, &ScriptedModel::new([])).await;
    let watching = Keeper::start(&world, &ScriptedModel::new([])).await;
    process.approve(&world.session, &world.plan(1).await, slowly());
    watching.sees(&world.session, is_paused).await;
    watching.end().await;
    process.die().await;
    nothing_is_taken_over(&world).await;
    assert_eq!((prop.calls().len(), look_at(&world).await), (1, Some(1)));
    world.send("/plan resume").await;
    assert_eq!((prop.calls().len(), world.plan(1).await.status), (2, PlanStatus::Completed));
    world.is_sound().await;
}

fn ends_a_turn(submission: &Submission) -> bool {
    matches!(&submission.command, Command::Turn(TurnCommand::Record { ending: Some(_), .. }))
}

#[tokio::test]
async fn a_process_that_ends_between_the_report_and_the_end_of_its_turn_runs_no_further_step() {
    // A document: the report is written, the end of the turn is not.
    let world = document(|_| {}).await;
    let process = Process::hanging(&world, &ScriptedModel::new([report(1)]), ends_a_turn).await;
    process.approve(&world.session, &world.plan(1).await, slowly());
    process.hangs().await;
    process.die().await;
    assert_eq!(look_at(&world).await, Some(1));
    let model = ScriptedModel::new([]).otherwise(Reply::text("I was not to be asked."));
    let keeper = Keeper::start(&world, &model).await;
    keeper
        .sees(&world.session, |event| {
            matches!(event, Event::Turn { event: planwright_core::event::TurnEvent::Resumed, .. })
        })
        .await;
    passes(&world, &keeper, &model).await;
    keeper.end().await;
    assert_eq!(model.requests().len(), 2);
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none(), "the turn is over");
    assert_eq!((run_statuses(&world, 1).await, look_at(&world).await), (vec![Completed, Pending, Pending], Some(1)));
    world.is_sound().await;

    // A specialist's turn does not continue by itself either.
    let steps = [step("Build the till", "coder", &[]), step("Try the till", "tester", &[1])];
    let world = proposed(&steps, |_| {}).await;
    let dying = staffed().script("coder", [reported("done", "The till stands.")]);
    let process = Process::hanging(&world, &dying, ends_a_turn).await;
    process.approve(&world.session, &world.plan(1).await, slowly());
    process.hangs().await;
    process.die().await;
    let model = ScriptedModel::new([]).otherwise(Reply::text("I was not to be asked."));
    let keeper = Keeper::start(&world, &model).await;
    keeper
        .sees(&world.session, |event| {
            matches!(event, Event::Turn { event: planwright_core::event::TurnEvent::Resumed, .. })
        })
        .await;
    passes(&world, &keeper, &model).await;
    keeper.end().await;
    assert_eq!(model.requests().len(), 2);
    assert!(world.engine().sessions().get(&world.session).await.unwrap().turn.is_none(), "the turn is over");
    assert_eq!((run_statuses(&world, 1).await, look_at(&world).await), (vec![Completed, Pending], Some(1)));
    scripted(&world, "tester", [reported("done", "It rang.")]);
    world.send("/plan resume").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.is_sound().await;
}

#[tokio::test]
async fn another_programs_agent_waits_for_the_person_and_continues_itself() {
    let world = World::new([]).await;
    let (engine, agent) = (world.engine(), Actor::agent("elsewhere", "mcp"));
    world.send("/plan on").await;
    let call = async |tool: &str, arguments: serde_json::Value| {
        let serde_json::Value::Object(arguments) = arguments else { unreachable!() };
        PlanTools::new(engine).call(&world.session, &agent, tool, arguments).await
    };
    call("plan_set_content", json!({ "plan_markdown": THREE })).await.unwrap();
    world.send("/plan show").await;
    world.send("/plan approve step by step").await;
    let done = call("plan_progress", json!({"step": 1, "status": "done"})).await.unwrap();
    assert_eq!(done["paused"], json!(true), "{done}");
    for (step, status) in [(2, "in_progress"), (2, "done"), (3, "skipped")] {
        let refusal = call("plan_progress", json!({"step": step, "status": status})).await.unwrap_err();
        assert_eq!(refusal.code, RefusalCode::WrongStatus);
        assert!(refusal.message.contains("A person looks at step 1 first"), "{}", refusal.message);
    }
    let next = call("plan_get", json!({})).await.unwrap()["next"].as_str().unwrap().to_owned();
    assert!(next.contains("A person looks at the step that ended"), "{next}");
    let answer = world.send("/plan resume").await;
    assert!(answer.reply.contains("carries it out"), "it is left to the agent that reported: {}", answer.reply);
    assert!(world.model.requests().is_empty());
    let done = call("plan_progress", json!({"step": 2, "status": "skipped"})).await.unwrap();
    assert_eq!(done["paused"], json!(true), "{done}");
    assert_eq!(run_statuses(&world, 1).await, [Completed, Skipped, Pending]);
    world.is_sound().await;
}

#[tokio::test]
async fn it_stands_in_the_inbox_with_the_step_that_ended() {
    let world = document(|_| {}).await;
    world.model.then(Reply::call("plan_progress", json!({"step": 1, "status": "done", "note": "packed"})));
    world.send("/plan approve step by step").await;
    let page = world.engine().inbox().list(None, 10).await.unwrap();
    let [waiting] = page.items.as_slice() else { panic!("{:?}", page.items) };
    let expected = WaitingFor::StepEnded {
        position: 1,
        description: "one".to_owned(),
        status: Completed,
        note: Some("packed".to_owned()),
    };
    assert_eq!(waiting.wants, expected);
    world.is_sound().await;
}

/// A request with a name that is sent again gets the outcome of the first time.
#[tokio::test]
async fn a_named_go_that_is_sent_twice_releases_one_step() {
    let prop = Prop::changing("ring");
    let world = calls(&[&prop], &["ring", "ring", "ring"]).await;
    world.send("/plan approve step by step").await;
    for _ in 0..2 {
        let id = planwright_core::ids::RequestId::new("go-on-1").unwrap();
        let plan = world.plan(1).await.id;
        let input = Input::ResumePlan { plan, choice: None, worker: Worker::ThisProcess, after_step: Some(1) };
        world.agent.submit(input, Request::new(world.place(), person()).named(Some(id))).outcome().await.unwrap();
    }
    assert_eq!((prop.calls().len(), look_at(&world).await), (2, Some(2)));
    world.agent.resume(&world.session, &Watcher::none()).await.unwrap();
    assert_eq!(prop.calls().len(), 2);
    world.is_sound().await;
}
