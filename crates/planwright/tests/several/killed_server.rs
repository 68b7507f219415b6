//! Three servers on one database, one of them killed in the middle of turns and of plans that are carried out.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::journal::{entries, receive, resumed, told, turns, verify};
use crate::program::{Address, Program, until_logged};
use crate::provider::Provider;
use crate::stores::Store;

/// Long enough for a machine that is busy, short enough to wait for.
const LEASE: (&str, &str) = ("PLANWRIGHT_SERVER_LEASE_SECONDS", "4");
const TALKING: usize = 9;
const PLANNING: usize = 6;

fn talking(n: usize) -> String {
    format!("talking-{n}")
}

fn planning(n: usize) -> String {
    format!("planning-{n}")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_server_was_at_goes_on_elsewhere_and_nothing_is_lost_or_done_twice() {
    let (store, provider) = (Store::postgres().await, Provider::start().await);
    let mut servers: Vec<_> = (0..3).map(|_| Program::asking(&store, &provider, &[LEASE])).collect();
    let at: Vec<Address> = servers.iter().map(Program::at).collect();
    let keys: Vec<_> = (0..TALKING).map(talking).chain((0..PLANNING).map(planning)).collect();
    for (n, key) in keys.iter().enumerate() {
        at[n % 3].open(key).await;
        // Something that is over before the trouble begins.
        at[(n + 1) % 3].say(key, "before", "before").await.unwrap().with(200);
    }
    let mut plans = Vec::new();
    for n in 0..PLANNING {
        plans.push(drafted(at[n % 3], &planning(n)).await);
    }
    // A client at every server follows every session.
    let mut followers = Vec::new();
    for (key, server) in keys.iter().flat_map(|key| at.iter().map(move |server| (key, *server))) {
        let mut client = server.client().await;
        client.subscribe(key, Some(0)).await;
        followers.push((key.clone(), server, client, Vec::<(u64, Value)>::new()));
    }

    provider.hold();
    let mut waiting = JoinSet::new();
    for n in 0..TALKING {
        let server = at[n % 3];
        waiting.spawn(async move { (n, server.say(&talking(n), &format!("look {n}"), "during").await) });
    }
    for (n, plan) in plans.iter().enumerate() {
        let approval = json!({ "digest": plan["digest"], "sessionId": planning(n) });
        let path = format!("/api/plans/{}/approve", plan["id"].as_str().unwrap());
        at[n % 3].post(&path, approval).await.with(200);
    }
    // Every session is in the middle of something.
    provider.wait_for(TALKING, |asked| asked.phrase.starts_with("look")).await;
    provider.wait_for(PLANNING, |asked| asked.phrase.starts_with("[Plan")).await;
    servers[0].kill();
    provider.release();

    let mut unheard = Vec::new();
    while let Some(answered) = waiting.join_next().await {
        match answered.unwrap() {
            (n, Some(answer)) => assert_eq!(answer.with(200)["reply"], format!("done: look {n}")),
            (n, None) => unheard.push(n),
        }
    }
    unheard.sort_unstable();
    assert_eq!(unheard, [0, 3, 6], "who talked to the killed server");
    // One asks again elsewhere, under the same name, and gets its outcome; the others are not sent again.
    let again = at[1].say(&talking(0), "look 0", "during").await.unwrap().with(200);
    assert_eq!(again["reply"], "done: look 0");

    let engine = store.engine().await;
    for (key, server, client, received) in &mut followers {
        if server.0 == at[0].0 {
            // Clients of the killed server reconnect to another one and continue from their last entry.
            while let Ok(mut frame) = client.try_next().await {
                if frame.get("event").is_some() {
                    received.push((frame["seq"].as_u64().unwrap(), frame["event"].take()));
                }
            }
            *client = at[2].client().await;
            client.subscribe(key, Some(received.last().map_or(0, |(seq, _)| *seq))).await;
        }
        until_over(key, client, received).await;
    }
    let mut taken_over = 0;
    for key in &keys {
        let entries = entries(&engine, key).await;
        let begun = turns(key, &entries);
        assert_eq!(begun[0], "before", "{key}");
        match key.strip_prefix("talking-") {
            Some(n) => assert_eq!(begun[1..], [format!("look {n}")], "{key}"),
            None => assert_eq!(begun.len(), 3, "{key}: the draft and the work, once each: {begun:?}"),
        }
        let resumed = resumed(&entries);
        taken_over += usize::from(resumed > 0);
        let number: usize = key.rsplit('-').next().unwrap().parse().unwrap();
        assert_eq!(resumed > 0, number.is_multiple_of(3), "{key} was taken up {resumed} times");
    }
    assert_eq!(taken_over, 5);
    for (n, plan) in plans.iter().enumerate() {
        let path = format!("/api/plans/{}?sessionId={}", plan["id"].as_str().unwrap(), planning(n));
        let plan = at[1 + n % 2].get(&path).await.with(200);
        assert_eq!(plan["status"], "COMPLETED", "{plan}");
    }
    until_logged(&[&servers[1], &servers[2]], "taken_over").await;
    for (key, _, client, received) in &mut followers {
        let journal = told(&engine, key).await;
        receive(client, received, journal.len() as u64).await;
        assert_eq!(*received, journal, "{key}");
    }
    verify(&store);
}

/// A document that waits for a person.
async fn drafted(server: Address, key: &str) -> Value {
    server.post("/api/plans/enable", json!({ "sessionId": key })).await.with(200);
    let answer = server.say(key, "draft it", "draft").await.unwrap().with(200);
    let plan = answer["plan"]["planId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    server.get(&format!("/api/plans/{plan}?sessionId={key}")).await.with(200)
}

/// Follows a session to the end of the turn that was interrupted.
async fn until_over(key: &str, client: &mut Client, received: &mut Vec<(u64, Value)>) {
    let turns = if key.starts_with("talking") { 2 } else { 3 };
    let ended = |received: &[(u64, Value)]| received.iter().filter(|(_, event)| event["type"] == "turn_ended").count();
    while ended(received) < turns {
        received.push(client.entry().await);
    }
}
