//! Everything that happened in a session, page by page.

use std::time::Duration;

use planwright_llm::scripted::{Reply, ScriptedModel};
use planwright_test_support::clock::TestClock;
use serde_json::{Value, json};

use crate::world::{OTHER, SESSION, World, drafting};

#[tokio::test]
async fn the_journal_is_read_in_order_and_to_its_end() {
    let (world, plan) = World::with_plan([]).await;
    let (mut seen, mut path): (Vec<Value>, _) = (Vec::new(), format!("/api/sessions/{SESSION}/journal?limit=3"));
    loop {
        let page = world.get(&path).await.with(200);
        let entries = page["entries"].as_array().unwrap();
        assert!((1..=3).contains(&entries.len()));
        seen.extend(entries.iter().cloned());
        match page["next"].as_u64() {
            Some(next) => path = format!("/api/sessions/{SESSION}/journal?limit=3&after={next}"),
            None => break,
        }
    }
    let numbers: Vec<_> = seen.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let session = world.get(&format!("/api/sessions/{SESSION}")).await.with(200);
    assert_eq!(session["seq"], json!(numbers.len()));
    let set = seen.iter().find(|entry| entry["type"] == "content_set").unwrap();
    assert_eq!((&set["planId"], &set["event"]["plan"]), (&plan["id"], &plan["id"]));
    assert_eq!(set["by"]["kind"], "agent");
    assert!(seen.iter().all(|entry| entry["hash"].as_str().unwrap().len() == 64));
    assert_eq!(seen[0]["event"], json!({ "type": "session_opened" }));

    // Behind the end there is nothing, and that is no mistake.
    let behind = world.get(&format!("/api/sessions/{SESSION}/journal?after=9007199254740991")).await.with(200);
    assert_eq!((&behind["entries"], &behind["next"]), (&json!([]), &Value::Null));
}

#[tokio::test]
async fn a_page_of_the_journal_is_about_a_megabyte() {
    let large = "x".repeat(200 * 1024);
    let world = World::new((0..8).map(|_| Reply::text(large.clone()))).await;
    for _ in 0..8 {
        world.say("say much").await.with(200);
    }
    let first = world.get(&format!("/api/sessions/{SESSION}/journal")).await;
    assert!((900_000..1_300_000).contains(&first.text.len()), "{}", first.text.len());
    let next = first.json()["next"].as_u64().unwrap();
    let last = first.json()["entries"].as_array().unwrap().last().unwrap()["seq"].as_u64().unwrap();
    assert_eq!(next, last);
    let second = world.get(&format!("/api/sessions/{SESSION}/journal?after={next}")).await.with(200);
    assert_eq!(second["entries"][0]["seq"], json!(last + 1));
}

fn numbers(page: &Value) -> Vec<u64> {
    page["entries"].as_array().unwrap().iter().map(|entry| entry["seq"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn the_journal_is_read_backwards_page_by_page() {
    let (world, _) = World::with_plan([]).await;
    let head = world.get(&format!("/api/sessions/{SESSION}")).await.with(200)["seq"].as_u64().unwrap();
    assert!(head > 4, "{head}");
    let (mut seen, mut before) = (Vec::new(), head + 1);
    loop {
        let page = world.get(&format!("/api/sessions/{SESSION}/journal?limit=3&before={before}")).await.with(200);
        seen.extend(numbers(&page));
        match page["next"].as_u64() {
            Some(next) => {
                assert_eq!(Some(&next), seen.last());
                before = next;
            }
            None => break,
        }
    }
    assert_eq!(seen, (1..=head).rev().collect::<Vec<_>>());
    // `after` bounds it, the end of the journal too, and nothing is before the first entry.
    let page = world.get(&format!("/api/sessions/{SESSION}/journal?before=5&after=2")).await.with(200);
    assert_eq!((numbers(&page), &page["next"]), (vec![4, 3], &Value::Null));
    let page = world.get(&format!("/api/sessions/{SESSION}/journal?before=9007199254740991&limit=1")).await.with(200);
    assert_eq!((numbers(&page), &page["next"]), (vec![head], &json!(head)));
    for before in [0, 1] {
        let page = world.get(&format!("/api/sessions/{SESSION}/journal?before={before}")).await.with(200);
        assert_eq!((&page["entries"], &page["next"]), (&json!([]), &Value::Null));
    }
    world.get("/api/sessions/no-such-session/journal?before=3").await.refused(404, "NOT_FOUND");
}

/// A session with something said at noon, at one and at two.
async fn three_hours() -> (World, Vec<u64>) {
    let clock = TestClock::stopped();
    let model = ScriptedModel::new(drafting().into_iter().chain(["One.", "Two."].map(Reply::text)));
    let world = World::set_up(model, |setup| setup.clock = Some(clock.clone())).await;
    let mut ends = Vec::new();
    world.post("/api/plans/enable", json!({ "sessionId": SESSION })).await.with(200);
    for text in ["move the blog", "one", "two"] {
        world.say(text).await.with(200);
        ends.push(world.get(&format!("/api/sessions/{SESSION}")).await.with(200)["seq"].as_u64().unwrap());
        clock.advance(Duration::from_secs(3600));
    }
    (world, ends)
}

#[tokio::test]
async fn a_time_leads_to_the_last_entry_that_was_written_by_then() {
    let (world, ends) = three_hours().await;
    for (at, last) in [
        ("2030-01-01T11:59:59Z", 0),
        ("2030-01-01T12:00:00Z", ends[0]),
        ("2030-01-01T12:30:00Z", ends[0]),
        ("2030-01-01T13:59:59.999Z", ends[1]),
        ("2030-01-01T15:00:00%2B01:00", ends[2]),
        ("2031-01-01T00:00:00Z", ends[2]),
    ] {
        let page = world.get(&format!("/api/sessions/{SESSION}/journal?limit=200&at={at}")).await.with(200);
        assert_eq!(numbers(&page), (1..=last).rev().collect::<Vec<_>>(), "{at}");
        let page = world.get(&format!("/api/sessions/{SESSION}/journal?before=3&at={at}")).await.with(200);
        assert_eq!(numbers(&page), (1..=last.min(2)).rev().collect::<Vec<_>>(), "{at}");
    }
    world.get(&format!("/api/sessions/{SESSION}/journal?at=yesterday")).await.refused(400, "INVALID_ARGUMENT");
    // An entry without a readable time is passed over.
    for seq in 2..=ends[1] {
        let damaged = format!(
            "UPDATE journal SET body = 'rubbish' WHERE seq = {seq} AND session_id = (SELECT min(session_id) FROM journal)"
        );
        assert_eq!(world.tamper(&damaged), 1);
    }
    let page = world.get(&format!("/api/sessions/{SESSION}/journal?at=2030-01-01T14:00:00Z&limit=1")).await.with(200);
    assert_eq!(numbers(&page), [ends[2]]);
    let page = world.get(&format!("/api/sessions/{SESSION}/journal?at=2030-01-01T12:00:00Z")).await.with(200);
    assert_eq!(numbers(&page), [1]);
}

#[tokio::test]
async fn a_session_is_shown_as_it_was_after_any_entry() {
    let (world, ends) = three_hours().await;
    let id = world.get(&format!("/api/plans?sessionId={SESSION}")).await.with(200)["plans"][0]["id"].clone();
    world.post("/api/goals", json!({ "sessionId": SESSION, "title": "a new host" })).await.with(201);
    world.patch(&format!("/api/sessions/{SESSION}"), json!({ "title": "The blog" })).await.with(200);
    world.post(&format!("/api/plans/{}/cancel", id.as_str().unwrap()), json!({})).await.with(200);
    world.post("/api/plans/disable", json!({ "sessionId": SESSION })).await.with(200);
    let path = format!("/api/sessions/{SESSION}/state");

    let first = world.get(&format!("{path}?seq=1")).await.with(200);
    assert_eq!((&first["mode"], &first["plans"], &first["topic"]), (&json!("chat"), &json!([]), &Value::Null));
    assert_eq!(
        (&first["seq"], &first["at"], &first["working"]),
        (&json!(1), &json!("2030-01-01T12:00:00Z"), &json!(false))
    );

    let drafted = world.get(&format!("{path}?seq={}", ends[0])).await.with(200);
    assert_eq!(
        (&drafted["mode"], &drafted["style"], &drafted["activePlanId"]),
        (&json!("plan"), &json!("document"), &id)
    );
    let plan = &drafted["plans"][0];
    assert_eq!(
        (&plan["planId"], &plan["number"], &plan["title"], &plan["status"], &plan["version"]),
        (&id, &json!(1), &json!("Move the blog"), &json!("READY"), &json!(1))
    );
    assert_eq!((&drafted["goals"], &drafted["title"]), (&json!([]), &Value::Null));
    assert_eq!(drafted.get("damaged"), None);

    // In the middle of the first turn the plan has no text yet.
    let enabled = world.get(&format!("{path}?seq={}", ends[0] - 4)).await.with(200);
    assert_eq!((&enabled["working"], &enabled["plans"][0]["version"]), (&json!(true), &json!(0)), "{enabled}");

    let now = world.get(&path).await.with(200);
    assert_eq!((&now["mode"], &now["activePlanId"], &now["title"]), (&json!("chat"), &Value::Null, &json!("The blog")));
    assert_eq!((&now["plans"][0]["status"], &now["goals"][0]["title"]), (&json!("CANCELLED"), &json!("a new host")));
    let head = world.get(&format!("/api/sessions/{SESSION}")).await.with(200)["seq"].as_u64().unwrap();
    assert_eq!(now["seq"], json!(head));

    world.get(&format!("{path}?seq={}", head + 1)).await.refused(404, "NOT_FOUND");
    world.get(&format!("{path}?seq=0")).await.refused(400, "INVALID_ARGUMENT");
    world.get(&format!("{path}?channel=cli")).await.refused(404, "NOT_FOUND");
    let other = world.get(&format!("/api/sessions/{OTHER}/state")).await;
    assert!(other.status == 200 && !other.text.contains("blog"), "{other:?}");
}

#[tokio::test]
async fn a_damaged_entry_is_named_and_the_rest_of_the_session_is_shown() {
    let (world, ends) = three_hours().await;
    let damage = |seq: u64| {
        let first = "(SELECT min(session_id) FROM journal)";
        world.tamper(&format!("UPDATE journal SET body = 'rubbish' WHERE seq = {seq} AND session_id = {first}"))
    };
    assert_eq!(damage(1), 1);
    let path = format!("/api/sessions/{SESSION}/state?seq={}", ends[0]);
    let shown = world.get(&path).await.with(200);
    assert_eq!((&shown["mode"], &shown["plans"][0]["status"]), (&json!("plan"), &json!("READY")));
    let damaged = shown["damaged"].as_array().unwrap();
    assert_eq!(damaged.len(), 1);
    assert_eq!(damaged[0]["what"], format!("entry 1 of the journal of web:{SESSION}"));
    assert_eq!(
        world.tamper("DELETE FROM journal WHERE seq = 2 AND session_id = (SELECT min(session_id) FROM journal)"),
        1
    );
    let shown = world.get(&path).await.with(200);
    assert_eq!(
        shown["damaged"][1],
        json!({ "what": format!("entry 2 of the journal of web:{SESSION}"), "reason": "it is missing" })
    );
}
