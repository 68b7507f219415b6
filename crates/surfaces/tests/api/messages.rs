//! What people say, and what was said.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, DraftCommand};
use planwright_llm::scripted::{Gate, Reply};
use serde_json::{Value, json};

use crate::world::{MARKDOWN, OTHER, SESSION, World, drafting};

#[tokio::test]
async fn a_message_waits_for_its_turn() {
    let world = World::new([Reply::text("Hello!")]).await;
    let answer = world.say("hi").await.with(200);
    assert_eq!(answer, json!({ "sessionId": SESSION, "channel": "web", "reply": "Hello!", "outcome": "answered" }));
}

#[tokio::test]
async fn a_plan_is_shown_with_the_answer() {
    let (world, plan) = World::with_plan([]).await;
    let path = format!("/api/sessions/{SESSION}/messages");
    let shown = world.post(&path, json!({ "text": "/plan show" })).await.with(200);
    assert_eq!((&shown["outcome"], &shown["planId"]), (&json!("done"), &plan["id"]));
    for field in ["number", "status", "digest", "title", "markdown"] {
        assert_eq!(shown["plan"][field], plan[field], "{field}");
    }
}

#[tokio::test]
async fn commands_go_the_same_way() {
    let world = World::new(drafting()).await;
    assert_eq!(world.say("/plan on").await.with(200)["outcome"], "done");
    assert_eq!(world.say("move the blog").await.with(200)["outcome"], "answered");
    let status = world.say("/plan status").await.with(200);
    assert!(status["reply"].as_str().unwrap().contains("**READY**"), "{status}");
    assert_eq!(world.say("/plan reject #1 too risky").await.with(200)["outcome"], "done");
    let begun = world.say("/new").await.with(200);
    assert_ne!(begun["sessionId"], SESSION);
    world.get(&format!("/api/sessions/{}", begun["sessionId"].as_str().unwrap())).await.with(200);
    assert_eq!(world.say(&format!("/switch {OTHER}")).await.with(200)["sessionId"], OTHER);
}

#[tokio::test]
async fn what_is_refused_is_a_problem_with_its_code() {
    let (world, plan) = World::with_plan([]).await;
    for (text, status, code) in [
        ("/plan show 7", 404, "NOT_FOUND"),
        ("/plan resume 1", 409, "WRONG_STATUS"),
        ("/plam on", 400, "INVALID_ARGUMENT"),
        ("/switch no-such-session", 404, "NOT_FOUND"),
        ("", 400, "INVALID_ARGUMENT"),
    ] {
        world.say(text).await.refused(status, code);
    }
    world.say(&"x".repeat(256 * 1024 + 1)).await.refused(413, "LIMIT_EXCEEDED");
    let path = "/api/sessions/no-such-session/messages";
    for text in ["hi", "/help", "/new"] {
        world.post(path, json!({ "text": text })).await.refused(404, "NOT_FOUND");
    }
    world.post(&format!("/api/sessions/{SESSION}/messages"), json!({})).await.refused(400, "INVALID_ARGUMENT");
    // The plan changed since it was shown, and the answer shows the new version.
    let other = json!({ "digest": "0".repeat(64) });
    world
        .post(&format!("/api/plans/{}/approve", plan["id"].as_str().unwrap()), other)
        .await
        .refused(409, "STALE_APPROVAL");
    world.say("/plan reject 1").await.with(200);
    world.say("/plan approve 1").await.refused(409, "WRONG_STATUS");
}

#[tokio::test]
async fn a_refusal_shows_the_plan_it_is_about() {
    let (world, plan) = World::with_plan([]).await;
    // Another agent rewrites it, and the new version was not shown here.
    let set = DraftCommand::SetContent { markdown: "- [ ] something else".to_owned(), title: None };
    let (session, other) = (format!("web:{SESSION}").parse().unwrap(), Actor::agent("another", "mcp"));
    world.agent.engine().submit(&session, &other, Command::Draft(set)).await.unwrap();
    let problem = world.say("/plan approve 1").await.refused(409, "STALE_APPROVAL");
    assert_eq!(problem["plan"]["planId"], plan["id"]);
    assert_eq!(problem["plan"]["markdown"], "- [ ] something else");
}

#[tokio::test]
async fn the_conversation_is_read_from_its_end() {
    let world = World::new((1..=7).map(|number| Reply::text(format!("answer {number}")))).await;
    for number in 1..=7 {
        world.say(&format!("question {number}")).await.with(200);
    }
    let path = format!("/api/sessions/{SESSION}/messages?limit=4");
    let (mut pages, mut next) = (Vec::new(), path.clone());
    loop {
        let page = world.get(&next).await.with(200);
        let phrase = |message: &Value| message["text"].as_str().unwrap().to_owned();
        pages.push(page["messages"].as_array().unwrap().iter().map(phrase).collect::<Vec<_>>());
        match page["next"].as_u64() {
            Some(before) => next = format!("{path}&before={before}"),
            None => break,
        }
    }
    assert_eq!(pages[0], ["question 6", "answer 6", "question 7", "answer 7"]);
    assert_eq!(pages.len(), 4);
    let all: Vec<_> = pages.into_iter().rev().flatten().collect();
    let expected: Vec<_> = (1..=7).flat_map(|n| [format!("question {n}"), format!("answer {n}")]).collect();
    assert_eq!(all, expected);
}

#[tokio::test]
async fn calls_and_their_results_are_told() {
    let (world, plan) = World::with_plan([Reply::text("You are welcome.")]).await;
    world.say("thanks").await.with(200);
    let page = world.get(&format!("/api/sessions/{SESSION}/messages")).await.with(200);
    let messages = page["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["person", "agent", "tool", "agent", "note", "person", "agent"], "{page}");
    let written = json!({ "plan_markdown": MARKDOWN }).to_string();
    assert_eq!(messages[1]["calls"], json!([{ "name": "plan_set_content", "arguments": written, "status": "done" }]));
    assert_eq!((&messages[2]["tool"], &messages[2]["status"]), (&json!("plan_set_content"), &json!("done")));
    assert_eq!((&messages[4]["planId"], &messages[4]["outcome"]), (&plan["id"], &json!("answered")));
}

#[tokio::test]
async fn closing_the_connection_does_not_stop_the_turn() {
    let gate = Gate::closed();
    let world = World::new([Reply::text("Still here.").behind(&gate)]).await;
    let saying = tokio::time::timeout(std::time::Duration::from_secs(600), world.say("take your time"));
    tokio::select! {
        answer = saying => panic!("{answer:?}"),
        () = async { world.model.asked(1).await; } => {}
    }
    let mut changes = world.ledger.changes();
    gate.open();
    loop {
        let page = world.get(&format!("/api/sessions/{SESSION}/messages")).await.with(200);
        if page["messages"].as_array().unwrap().last().unwrap()["text"] == "Still here." {
            break;
        }
        tokio::time::timeout(crate::world::TIMEOUT, changes.recv()).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn what_a_specialist_says_is_not_the_conversation() {
    let asking = Reply::call("ask_agent", json!({ "agent": "researcher", "question": "where is it?" }));
    let looking = Reply::call("list_files", json!({}));
    let found = Reply::text("It is on the old host.");
    let world = World::new([asking, looking, found, Reply::text("Then it moves.")]).await;
    world.post("/api/plans/enable", json!({ "sessionId": SESSION, "style": "build" })).await.with(200);
    world.say("move the blog").await.with(200);
    let page = world.get(&format!("/api/sessions/{SESSION}/messages")).await.with(200);
    let messages = page["messages"].as_array().unwrap();
    let told: Vec<_> = messages.iter().map(|message| (&message["role"], &message["calls"][0]["name"])).collect();
    let (person, agent, tool) = (json!("person"), json!("agent"), json!("tool"));
    let asked = json!("ask_agent");
    let none = &Value::Null;
    assert_eq!(told[..4], [(&person, none), (&agent, &asked), (&tool, none), (&agent, none)], "{page}");
    assert!(messages.iter().all(|message| message["tool"] != "list_files"), "{page}");
}

/// Pages begin anywhere: also where it takes a look further back to know what belongs to which turn.
#[tokio::test]
async fn a_long_conversation_is_whole() {
    const TURNS: usize = 120;
    let replies =
        (0..TURNS).flat_map(|turn| [Reply::call("list_files", json!({})), Reply::text(format!("answer {turn}"))]);
    let world = World::new(replies).await;
    for turn in 0..TURNS {
        world.say(&format!("question {turn}")).await.with(200);
    }
    let path = format!("/api/sessions/{SESSION}/messages?limit=7");
    let (mut all, mut next) = (Vec::new(), path.clone());
    loop {
        let page = world.get(&next).await.with(200);
        let mut messages = page["messages"].as_array().unwrap().clone();
        messages.append(&mut all);
        all = messages;
        match page["next"].as_u64() {
            Some(before) => next = format!("{path}&before={before}"),
            None => break,
        }
    }
    let roles: Vec<_> = all.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["person", "agent", "tool", "agent"].repeat(TURNS));
    assert!(all.iter().filter(|message| message["role"] == "tool").all(|message| message["tool"] == "list_files"));
    let calls = all.iter().filter_map(|message| message["calls"].as_array()).flatten();
    assert_eq!(calls.filter(|call| call["status"] == "done").count(), TURNS);
    assert!(all.is_sorted_by_key(|message| message["seq"].as_u64()));
}
