//! A turn that ended is ended: what it leaves open waits for a person, is reminded of a set number of times, and is
//! never begun again by itself.

use planwright_agent::session::input::{Approving, BeginWork, Input, Request};
use planwright_agent::tools::PlanTools;
use planwright_core::command::{AfterApproval, Command, Decision};
use planwright_core::event::{Event, PlanEvent, TurnEvent};
use planwright_core::ids::RequestId;
use planwright_core::plan::PlanStatus;
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::TurnEnd;
use planwright_engine::model::ModelErrorKind;
use planwright_engine::plans::Activity;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use serde_json::json;

use crate::planning::{report, set};
use crate::process::Process;
use crate::takeover::Keeper;
use crate::talk::{Talk as _, Watcher};
use crate::world::{World, newest_message, person, session};

const TWO: &str = "- [ ] one\n- [ ] two";

/// A document that waits for approval; whatever the model is asked afterwards, it answers with `otherwise`.
async fn drafted(otherwise: Reply, change: impl FnOnce(&mut AgentSetup)) -> World {
    let model = ScriptedModel::new([set(TWO), Reply::text("Ready.")]).otherwise(otherwise);
    let world = World::with(model, change).await;
    world.send("/plan on").await;
    world.say("Plan the move").await;
    world
}

/// Lets a process that takes over what it finds make several passes: it takes over two sessions, one after the other,
/// that were left after everything else.
pub(crate) async fn passes(world: &World, keeper: &Keeper, model: &ScriptedModel) {
    for key in ["passes-one", "passes-two"] {
        let left = session(key);
        keeper.agent.engine().sessions().open(&left, &person()).await.unwrap();
        let dying = ScriptedModel::new([Reply::hang()]);
        let process = Process::start(world, &dying).await;
        process.send(&left, "Hello");
        dying.asked(1).await;
        process.die().await;
        model.then(Reply::text("Taken over."));
        keeper.sees(&left, |event| matches!(event, Event::Turn { event: TurnEvent::Ended { .. }, .. })).await;
    }
}

async fn is_paused(world: &World) -> bool {
    let plan = world.plan(1).await;
    world.engine().plans().activity(&world.session, &plan).await.unwrap() == Some(Activity::Paused)
}

fn document_turns(events: &[Event]) -> usize {
    let purpose = |event: &&Event| matches!(event, Event::Turn { event: TurnEvent::Begun { purpose, .. }, .. } if purpose.plan().is_some());
    events.iter().filter(purpose).count()
}

#[tokio::test]
async fn a_model_that_never_reports_is_asked_once_and_reminded_as_often_as_the_setting_says() {
    for nudges in [0, 1, 3] {
        let world = drafted(Reply::text("Which colour?"), |setup| setup.policy.nudges = nudges).await;
        let answer = world.send("/plan approve").await;
        assert_eq!(answer.end, Some(TurnEnd::Answered));
        let turns = 1 + nudges as usize;
        assert_eq!((document_turns(&world.events().await), world.model.requests().len()), (turns, 2 + turns));
        assert!(is_paused(&world).await);
        assert_eq!(world.plan(1).await.status, PlanStatus::Executing);
        let model = ScriptedModel::new([]).otherwise(Reply::text("I was not to be asked."));
        let keeper = Keeper::start(&world, &model).await;
        passes(&world, &keeper, &model).await;
        keeper.end().await;
        assert_eq!((document_turns(&world.events().await), model.requests().len()), (turns, 2), "{nudges}");
        world.is_sound().await;
    }
}

#[tokio::test]
async fn the_reminder_names_the_open_steps_and_progress_earns_another_one() {
    let world = drafted(Reply::text("And now?"), |_| {}).await;
    world.model.then(Reply::text("I think."));
    world.model.then(report(1));
    world.model.then(Reply::text("One is done."));
    world.send("/plan approve").await;
    // Asked, reminded (and it reports), reminded because it had reported: then nothing came of it.
    assert_eq!(document_turns(&world.events().await), 3);
    let reminder = newest_message(&world.sent(4));
    assert!(reminder.contains("1. one") && reminder.contains("2. two"), "{reminder}");
    let after = newest_message(&world.sent(6));
    assert!(after.contains("2. two") && !after.contains("1. one"), "{after}");
    assert!(is_paused(&world).await);
    world.is_sound().await;
}

#[tokio::test]
async fn a_turn_that_fails_or_only_calls_a_tool_is_not_begun_again() {
    let failing = Reply::error(ModelErrorKind::Refused, "400: no");
    let calling = Reply::call("write_file", json!({"path": "a.txt", "content": "again"}));
    for (reply, written) in [(failing, false), (calling, true)] {
        let world = drafted(Reply::error(ModelErrorKind::Refused, "400: no"), |_| {}).await;
        world.model.then(reply);
        world.send("/plan approve").await;
        let asked = world.model.requests().len();
        assert!(is_paused(&world).await);
        let model = ScriptedModel::new([]).otherwise(Reply::text("I was not to be asked."));
        let keeper = Keeper::start(&world, &model).await;
        passes(&world, &keeper, &model).await;
        keeper.end().await;
        assert_eq!((document_turns(&world.events().await), world.model.requests().len()), (1, asked));
        assert_eq!(model.requests().len(), 2);
        assert_eq!(world.files().join("a.txt").exists(), written);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn what_was_stopped_stays_stopped_whatever_is_said_afterwards() {
    let world = drafted(Reply::hang(), |_| {}).await;
    let approving = world.send_in_background("/plan approve");
    world.model.asked(3).await;
    world.send("/stop").await;
    approving.await.unwrap().unwrap();
    assert!(is_paused(&world).await);
    world.model.then(Reply::text("Very well."));
    world.say("Do nothing.").await;
    assert!(is_paused(&world).await);
    let asked = world.model.requests().len();
    let model = ScriptedModel::new([]).otherwise(Reply::text("I was not to be asked."));
    let keeper = Keeper::start(&world, &model).await;
    passes(&world, &keeper, &model).await;
    keeper.end().await;
    assert_eq!((document_turns(&world.events().await), world.model.requests().len()), (1, asked));
    assert_eq!(model.requests().len(), 2);
    world.is_sound().await;
}

#[tokio::test]
async fn a_stop_between_the_approval_and_its_turn_keeps_the_turn_from_beginning() {
    let world = drafted(Reply::text("I was not to be asked."), |_| {}).await;
    let plan = world.plan(1).await;
    let approve = Decision::Approve {
        plan: plan.id.clone(),
        digest: plan.digest(),
        selection: Approving::default().selection,
        note: None,
        step_by_step: false,
        then: AfterApproval::CarryOut,
    };
    world.engine().submit(&world.session, &person(), Command::Decide(approve)).await.unwrap();
    assert!(world.agent.stop(&world.session, &person()).await.unwrap());
    assert!(is_paused(&world).await);
    let model = ScriptedModel::new([]).otherwise(Reply::text("I was not to be asked."));
    let keeper = Keeper::start(&world, &model).await;
    passes(&world, &keeper, &model).await;
    keeper.end().await;
    assert_eq!(document_turns(&world.events().await), 0);
}

#[tokio::test]
async fn a_person_who_resumes_gives_the_agent_its_turns_again() {
    let world = drafted(Reply::text("Which colour?"), |_| {}).await;
    world.send("/plan approve").await;
    assert_eq!(document_turns(&world.events().await), 2);
    let by = planwright_core::actor::Actor::system("server");
    let plan = world.plan(1).await.id;
    let refused = world.agent.carry_out(&world.session, &by, &plan, &Watcher::none()).await.unwrap_err();
    assert_eq!(refused.code(), RefusalCode::PolicyDenied, "{refused}");
    assert_eq!(document_turns(&world.events().await), 2);
    world.send("/plan resume").await;
    assert_eq!(document_turns(&world.events().await), 4);
    assert!(is_paused(&world).await);
    world.is_sound().await;
}

#[tokio::test]
async fn an_approval_that_is_sent_again_does_not_resume_what_is_paused() {
    let world = drafted(Reply::text("Which colour?"), |_| {}).await;
    let plan = world.plan(1).await;
    let approve = async || {
        let (plan, digest, approving) = (plan.id.clone(), plan.digest(), Approving::default());
        let input = Input::Approve { plan, digest, approving, begin: BeginWork::Now };
        let request = Request::new(world.place(), person()).named(Some(RequestId::new("approve-once").unwrap()));
        world.agent.submit(input, request).outcome().await.unwrap().answer().unwrap().reply
    };
    let first = approve().await;
    assert!(first.contains("It is paused"), "{first}");
    let events = world.events().await.len();
    assert_eq!(approve().await, first);
    assert_eq!(world.events().await.len(), events, "nothing is written");
    assert!(is_paused(&world).await);
}

#[tokio::test]
async fn a_resumption_that_is_on_disk_is_owed_after_a_crash() {
    let world = drafted(Reply::text("Which colour?"), |setup| setup.policy.nudges = 0).await;
    world.send("/plan approve").await;
    let plan = world.plan(1).await;
    world.engine().plans().resume(&world.session, &person(), &plan.id).await.unwrap();
    let model = ScriptedModel::new([report(1), report(2), Reply::text("Done.")]);
    let keeper = Keeper::start(&world, &model).await;
    keeper.sees(&world.session, |event| matches!(event.plan_event(), Some(PlanEvent::ExecutionFinished { .. }))).await;
    keeper.end().await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
}

#[tokio::test]
async fn a_paused_execution_can_be_ended_where_it_stands() {
    let world = drafted(Reply::text("And now?"), |_| {}).await;
    world.model.then(report(1));
    world.send("/plan approve").await;
    let answer = world.send("/plan resume 1 stop").await;
    assert!(!answer.refused(), "{}", answer.reply);
    assert_eq!(world.plan(1).await.status, PlanStatus::PartiallyCompleted);
    world.is_sound().await;
}

#[tokio::test]
async fn documents_that_wait_for_a_person_keep_no_killed_turn_from_being_taken_over() {
    let world = World::new([]).await;
    for n in 0..262 {
        let waiting = session(&format!("waiting-{n:04}"));
        let engine = world.engine();
        engine.sessions().open(&waiting, &person()).await.unwrap();
        engine
            .sessions()
            .enable_plan_mode(&waiting, &person(), planwright_core::plan::PlanStyle::Document)
            .await
            .unwrap();
        let arguments = json!({"plan_markdown": TWO}).as_object().unwrap().clone();
        let agent = planwright_core::actor::Actor::agent("scripted", "cli");
        PlanTools::new(engine).call(&waiting, &agent, "plan_set_content", arguments).await.unwrap();
        let plan = engine.plans().active(&waiting).await.unwrap();
        engine
            .plans()
            .approve(&waiting, &person(), &plan.id, plan.digest(), Approving::default().selection, None)
            .await
            .unwrap();
        // Reported on by an agent that is not ours: nothing says that it is paused, and nothing is owed to it.
        let report = json!({"step": 1, "status": "done"}).as_object().unwrap().clone();
        PlanTools::new(engine).call(&waiting, &agent, "plan_progress", report).await.unwrap();
    }
    let model = ScriptedModel::new([]).otherwise(Reply::text("I was not to be asked."));
    let keeper = Keeper::start(&world, &model).await;
    passes(&world, &keeper, &model).await;
    keeper.end().await;
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn forty_interrupted_turns_go_on_at_once() {
    let world = World::new([]).await;
    let dying = ScriptedModel::new([]).otherwise(Reply::hang());
    let process = Process::start(&world, &dying).await;
    for n in 0..40 {
        let left = session(&format!("left-{n:04}"));
        world.engine().sessions().open(&left, &person()).await.unwrap();
        process.send(&left, "Hello");
    }
    dying.asked(40).await;
    process.die().await;
    // None of them is answered before all of them are asked.
    let model = ScriptedModel::new([]).otherwise(Reply::hang());
    let keeper = Keeper::start(&world, &model).await;
    model.asked(40).await;
    keeper.agent.drain(std::time::Duration::ZERO).await;
    keeper.end().await;
}

/// The runaway that an outsider found: 1,703 model calls in 12 seconds, because every report set the brake back.
#[tokio::test]
async fn a_model_that_repeats_its_report_in_every_turn_is_paused() {
    let again = |turn: usize, status: &str, note: bool| {
        let note = if note { format!("turn {turn}") } else { "the same".to_owned() };
        Reply::call("plan_progress", json!({"step": 1, "status": status, "note": note}))
    };
    for (status, note) in [("in_progress", false), ("done", false), ("in_progress", true), ("done", true)] {
        let world = drafted(Reply::text("I was not to be asked."), |_| {}).await;
        for turn in 0..20 {
            world.model.then(again(turn, status, note));
            world.model.then(Reply::text("Which colour?"));
        }
        let answer = world.send("/plan approve").await;
        // The first turn moved the step, the second one repeated it.
        assert_eq!(document_turns(&world.events().await), 2, "{status}");
        assert_eq!(world.model.requests().len(), 2 + 2 * 2, "{status}");
        assert!(is_paused(&world).await);
        assert!(answer.reply.contains("2 turns in a row without recorded progress"), "{}", answer.reply);
        world.is_sound().await;
    }
}

#[tokio::test]
async fn an_execution_stops_at_its_hard_limit_of_turns_and_says_so() {
    let world = drafted(Reply::text("I was not to be asked."), |setup| setup.policy.plan_turns = 1).await;
    world.model.then(report(1));
    world.model.then(Reply::text("One is done."));
    let answer = world.send("/plan approve").await;
    assert_eq!(document_turns(&world.events().await), 1);
    assert!(is_paused(&world).await);
    assert!(answer.reply.contains("1 turns for it by itself, the most that `plan.turns` allows"), "{}", answer.reply);
    // A person lets it continue.
    world.model.then(report(2));
    world.model.then(Reply::text("All done."));
    world.send("/plan resume").await;
    assert_eq!(world.plan(1).await.status, PlanStatus::Completed);
    world.is_sound().await;
}

#[tokio::test]
async fn the_model_is_called_only_so_often_within_a_minute_without_a_person() {
    let world = drafted(Reply::text("I was not to be asked."), |setup| setup.policy.turn.calls_per_minute = 3).await;
    for turn in 0..10 {
        world.model.then(Reply::call("write_file", json!({"path": format!("{turn}.txt"), "content": "x"})));
    }
    let answer = world.send("/plan approve").await;
    assert_eq!(world.model.requests().len(), 2 + 3);
    assert!(answer.reply.contains("3 times within a minute"), "{}", answer.reply);
    assert!(is_paused(&world).await);
    world.is_sound().await;
}
