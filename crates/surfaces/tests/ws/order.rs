//! Inputs take effect in the order they were sent, messages and commands alike, and frames come in the order of `seq`.

mod rest;

use std::collections::HashMap;
use std::time::Duration;

use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::client::Client;
use crate::stores::Store;
use crate::world::{SESSION, World};

/// Pairs of a message and a command: so many in each of so many sessions.
const PAIRS: usize = 100;
const SESSIONS: usize = 10;
/// How many are sent before their answers are read.
const AT_ONCE: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_pairs_of_a_message_and_a_command_take_effect_in_the_order_they_were_sent() {
    let model = ScriptedModel::new([]).otherwise(Reply::text("Yes."));
    let world = World::with(Store::sqlite(), model, |limits| {
        (limits.messages, limits.frame_interval) = (4 * AT_ONCE * SESSIONS, Duration::ZERO);
    })
    .await;
    let mut client = world.client().await;
    let mut frames = Frames::default();
    let keys: Vec<_> = (0..SESSIONS).map(|n| format!("session-{n:04}")).collect();
    for key in &keys {
        world.open(key).await;
        frames.seen.insert(key.clone(), client.subscribe(key, None).await);
    }
    for first in (0..PAIRS).step_by(AT_ONCE) {
        for pair in first..first + AT_ONCE {
            for key in &keys {
                send(&mut client, key, &format!("message {pair}")).await;
                send(&mut client, key, command(pair)).await;
            }
        }
        for _ in 0..2 * AT_ONCE * SESSIONS {
            frames.read_to_answer(&mut client).await;
        }
    }
    for key in &keys {
        assert_eq!(effects(&world.journal(key).await), expected(), "{key}");
    }
}

/// A plan is made by every second command, and parked by the others.
fn command(pair: usize) -> &'static str {
    if pair.is_multiple_of(2) { "/plan on" } else { "/plan off" }
}

fn expected() -> Vec<String> {
    let effect = |pair: usize| if pair.is_multiple_of(2) { "plan_mode_enabled" } else { "plan_mode_disabled" };
    (0..PAIRS).flat_map(|pair| [format!("message {pair}"), "turn_ended".to_owned(), effect(pair).to_owned()]).collect()
}

/// What the inputs did, in order.
fn effects(journal: &[(u64, Value)]) -> Vec<String> {
    let effect = |event: &Value| match event["type"].as_str().unwrap() {
        "turn_begun" => Some(event["text"].as_str().unwrap().to_owned()),
        name @ ("turn_ended" | "plan_mode_enabled" | "plan_mode_disabled") => Some(name.to_owned()),
        _ => None,
    };
    journal.iter().filter_map(|(_, event)| effect(event)).collect()
}

async fn send(client: &mut Client, key: &str, text: &str) {
    client.send(json!({ "type": "message", "sessionId": key, "text": text })).await;
}

/// Every frame of a session is looked at: its `seq` never falls back, and an answer comes after the entries it knows of.
#[derive(Default)]
struct Frames {
    seen: HashMap<String, u64>,
}

impl Frames {
    async fn read_to_answer(&mut self, client: &mut Client) {
        loop {
            let frame = client.next().await;
            let seen = self.seen.get_mut(frame["sessionId"].as_str().unwrap()).unwrap();
            let seq = frame["seq"].as_u64().unwrap();
            if frame.get("event").is_some() {
                assert_eq!(seq, *seen + 1, "{frame}");
                *seen = seq;
            }
            assert_eq!(seq, *seen, "{frame}");
            assert_ne!(frame["type"], "problem", "{frame}");
            if frame["type"] == "answer" {
                return;
            }
        }
    }
}

#[tokio::test]
async fn what_only_looks_and_what_stops_does_not_wait() {
    let gate = Gate::closed();
    let world = World::answering(ScriptedModel::new([]).otherwise(Reply::text("Late.").behind(&gate))).await;
    let mut client = world.client().await;
    send(&mut client, SESSION, "hello").await;
    world.model.asked(1).await;
    for (text, message) in
        [("/status", "at work"), ("/help", "/plan on"), ("/plan status", "Plan work is"), ("/stop", "Stopped.")]
    {
        send(&mut client, SESSION, text).await;
        loop {
            let answer = client.next_of("answer").await;
            // The turn that was stopped is answered, too, in either order.
            if answer["outcome"] != "stopped" {
                assert!(answer["reply"].as_str().unwrap().contains(message), "{text}: {answer}");
                break;
            }
        }
    }
    assert_eq!(world.journal(SESSION).await.last().unwrap().1["type"], "turn_ended");
}
