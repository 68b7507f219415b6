//! Two processes on one session: a lease makes their queues one.

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::outcome::TurnOutcome;
use planwright_agent::session::progress::Progress;
use planwright_core::command::Command;
use planwright_core::gate::ToolEffect;
use planwright_core::plan::PlanStatus;
use planwright_core::turn::TurnEnd;
use planwright_engine::ledger::Submission;
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::json;

use super::echo;
use crate::planning::set;
use crate::process::{Process, records_an_outcome};
use crate::test_tools::{Act, Prop};
use crate::world::{World, person, script, turns};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_never_work_on_one_session_at_once() {
    let prop = Prop::changing("prop");
    let world = World::with(echo(), |setup| setup.tool(&prop)).await;
    let model = echo();
    let other = world.another(&model, "the other").await;
    let mut sent = Vec::new();
    for n in 0..6 {
        sent.push(world.say_in_background(&format!("here {n}")));
        let (agent, session) = (other.clone(), world.session.clone());
        sent.push(tokio::spawn(async move {
            agent.send(&session, &person(), &format!("there {n}"), &Watcher::none()).await
        }));
    }
    for turn in sent {
        assert_eq!(turn.await.unwrap().unwrap().end, Some(TurnEnd::Answered));
    }
    assert_eq!(turns(&world.events().await).len(), 12);
    assert_eq!(prop.calls().len(), 12);
    world.has_a_valid_history();
    model.requests().iter().for_each(crate::world::is_valid);
    world.is_sound().await;
}

#[tokio::test]
async fn who_waits_for_another_process_is_told_and_then_reads_all_of_it() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("First.").behind(&gate), Reply::text("Third.")]).await;
    let first = world.say_in_background("One");
    world.model.asked(1).await;
    let model = ScriptedModel::new([Reply::text("Second.")]);
    let other = world.another(&model, "the other").await;
    let (watcher, mut told) = Watcher::new();
    let (agent, session) = (other.clone(), world.session.clone());
    let second = tokio::spawn(async move { agent.send(&session, &person(), "Two", &watcher).await });
    assert_eq!(told.recv().await, Some(Progress::WaitingForOthers));
    gate.open();
    assert_eq!(first.await.unwrap().unwrap().reply, "First.");
    assert_eq!(second.await.unwrap().unwrap().reply, "Second.");
    assert_eq!(script(&model.last_request()), ["user: One", "model: First.", "user: Two"]);
    // What the other process said is read as well, although this one remembers the conversation.
    world.say("Three").await;
    assert_eq!(script(&world.sent(2)), ["user: One", "model: First.", "user: Two", "model: Second.", "user: Three"]);
    world.is_sound().await;
}

#[tokio::test]
async fn who_slept_while_another_process_took_over_writes_nothing_any_more() {
    let prop = Prop::new("prop", ToolEffect::ReadsOnly, Act::Answer(json!("read")));
    let world = World::with(ScriptedModel::new([Reply::text("I went on.")]), |setup| setup.tool(&prop)).await;
    let model = ScriptedModel::new([Reply::call("prop", json!({}))]).otherwise(Reply::text("I am late."));
    let process = Process::hanging(&world, &model, records_an_outcome).await;
    let late = process.send(&world.session, "Read it");
    process.hangs().await;
    let outcome = world.agent.resume(&world.session, &Watcher::none()).await.unwrap().unwrap();
    assert_eq!(outcome.reply, "I went on.");
    let before = world.events().await;
    process.wake();
    late.await.unwrap();
    assert_eq!(world.events().await, before);
    assert_eq!(model.requests().len(), 1, "nothing more is asked of a model for a turn that is over");
    assert_eq!(turns(&before), [("Read it".to_owned(), TurnEnd::Answered)]);
    world.is_sound().await;
}

/// A turn that a process froze in and another one resumes: the outcome that the frozen one gives once it wakes.
async fn overtaken(replies: impl IntoIterator<Item = Reply>) -> (World, TurnOutcome) {
    let gate = Gate::closed();
    let prop = Prop::new("prop", ToolEffect::ReadsOnly, Act::Answer(json!("read")));
    let mut replies: Vec<_> = replies.into_iter().collect();
    replies[0] = replies[0].clone().behind(&gate);
    let world = World::with(ScriptedModel::new(replies), |setup| setup.tool(&prop)).await;
    let model = ScriptedModel::new([Reply::call("prop", json!({}))]).otherwise(Reply::text("I am late."));
    let process = Process::hanging(&world, &model, records_an_outcome).await;
    let (watcher, mut told) = Watcher::new();
    let (agent, session) = (process.agent.clone(), world.session.clone());
    let late = tokio::spawn(async move { agent.send(&session, &person(), "Read it", &watcher).await });
    process.hangs().await;
    let (agent, session) = (world.agent.clone(), world.session.clone());
    let resumed = tokio::spawn(async move { agent.resume(&session, &Watcher::none()).await });
    world.model.asked(1).await;
    process.wake();
    while told.recv().await.expect("the frozen process waits for the other one") != Progress::WaitingForOthers {}
    gate.open();
    let there = resumed.await.unwrap().unwrap().unwrap();
    let here = late.await.unwrap().unwrap();
    assert_eq!((&here.end, &here.ask, &here.reply), (&there.end, &there.ask, &there.reply));
    assert_eq!(model.requests().len(), 1);
    (world, here)
}

#[tokio::test]
async fn who_was_overtaken_answers_with_what_the_other_process_recorded() {
    let (world, outcome) = overtaken([Reply::text("I went on.")]).await;
    assert_eq!((outcome.end, outcome.reply.as_str()), (Some(TurnEnd::Answered), "I went on."));
    assert_eq!(turns(&world.events().await), [("Read it".to_owned(), TurnEnd::Answered)]);
    world.is_sound().await;
}

#[tokio::test]
async fn who_was_overtaken_asks_what_the_other_process_asks() {
    let ask = Reply::call("ask_person", json!({ "questions": [{ "text": "Which colour?" }] }));
    let (world, outcome) = overtaken([ask, Reply::text("Red it is.")]).await;
    assert!(outcome.end.is_none() && outcome.reply.contains("Which colour?"), "{outcome:?}");
    assert_eq!(world.send("red").await.reply, "Red it is.");
    world.is_sound().await;
}

#[tokio::test]
async fn a_plan_that_comes_after_the_turn_was_stopped_is_not_stored() {
    let world = World::new([]).await;
    world.send("/plan on").await;
    let model = ScriptedModel::new([set("- [ ] too late")]).otherwise(Reply::text("I am late."));
    let drafts = |submission: &Submission| matches!(submission.command, Command::Draft(_));
    let process = Process::hanging(&world, &model, drafts).await;
    let late = process.send(&world.session, "Plan it");
    process.hangs().await;
    assert!(world.agent.stop(&world.session, &person()).await.unwrap());
    process.wake();
    late.await.unwrap();
    assert_eq!(world.plan(1).await.status, PlanStatus::Collecting);
    assert_eq!(turns(&world.events().await), [("Plan it".to_owned(), TurnEnd::Stopped)]);
    assert_eq!(model.requests().len(), 1);
    world.is_sound().await;
}
