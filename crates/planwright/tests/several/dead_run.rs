//! A run whose server died on another machine, where no other process can see that it ended.

use std::time::Duration;

use planwright_agent::Agent;
use planwright_agent::session::input::ChatLocation;
use planwright_core::actor::Actor;
use planwright_core::model::ModelMessage;
use planwright_core::session::TransportChat;
use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::agent::AgentSetup;
use planwright_test_support::clock::TestClock;
use planwright_test_support::talk::{Talk as _, Watcher};
use serde_json::json;

use crate::stores::Store;
use crate::world::{TIMEOUT, session};

const DIES: &str = "dies";

async fn send(agent: &Agent, text: &str) -> String {
    let place = ChatLocation::new(TransportChat("web:test".to_owned()), session("session-one"));
    agent.type_text(&place, &Actor::person("ada", "web"), text, &Watcher::none()).await.unwrap().reply
}

/// A run whose first turn makes a plan, and whose later turns end the task.
fn planner() -> ScriptedModel {
    ScriptedModel::answering(|request| match request.messages.last() {
        Some(ModelMessage::User { text }) if text.contains("Begin with") => {
            Reply::call("plan_set_content", json!({ "plan_markdown": "# Move\n\n1. Pack\n" }))
        }
        Some(ModelMessage::User { .. }) => Reply::call("task_update", json!({ "status": "done" })),
        _ => Reply::text("There."),
    })
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let looking = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, looking).await.unwrap_or_else(|_| panic!("it did not happen: {what}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_server_lists_it_as_interrupted_after_two_minutes_and_starts_it_again() {
    for store in [Store::sqlite(), Store::postgres().await] {
        let (folder, clock) = (tempfile::tempdir().unwrap(), TestClock::stopped());
        let setup = AgentSetup { clock: Some(clock.clone()), ..AgentSetup::new(folder.path()) };
        let first = setup.clone().owned_by(DIES).agent(store.ledger().await, planner());
        let second = setup.owned_by("survives").agent(store.ledger().await, planner());
        first.engine().sessions().open(&session("session-one"), &Actor::person("ada", "web")).await.unwrap();
        send(&first, "/plan on").await;
        send(&first, "/task add Plan the move").await;
        send(&first, "/auto on").await;
        // The plan waits for a person, so the run does nothing.
        until("the plan waits", async || send(&second, "/plan status").await.contains("READY")).await;
        let ledger = store.ledger().await;
        until("a sign of life", async || ledger.alive_at(DIES).await.unwrap().is_some()).await;
        let state = async || second.engine().auto().state(&session("session-one")).await.unwrap();
        until("the turn is over", async || state().await.runs[0].spent.turns == 1).await;
        let status = async |expected: &str| {
            let status = send(&second, "/auto status").await;
            assert!(status.contains(&format!("run 1 (TASK_RUN) is {expected}")), "{status}");
        };
        status("running").await;
        // Nothing is left of the process, and nothing says so.
        drop(first);
        clock.advance(Duration::from_secs(119));
        status("running").await;
        clock.advance(Duration::from_secs(2));
        status("interrupted").await;
        // One word starts it again, in the process that is there.
        send(&second, "/plan reject").await;
        assert!(send(&second, "/auto resume").await.starts_with("Run 1 (TASK_RUN) continues"));
        until("the run is over", async || !state().await.runs[0].is_open()).await;
        assert_eq!(state().await.tasks[0].status.to_string(), "done");
    }
}
