//! Two processes on one session: a lease makes their queues one.

use planwright_core::turn::TurnEnd;
use planwright_engine::agent::{Progress, Watcher};
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};

use super::echo;
use crate::props::Prop;
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
            agent.send(&session, &person(), &format!("there {n}"), &Watcher::nobody()).await
        }));
    }
    for turn in sent {
        assert_eq!(turn.await.unwrap().unwrap().end, TurnEnd::Answered);
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
