use planwright_core::actor::Actor;
use planwright_core::plan::PlanStyle;
use planwright_surfaces::mcp::{PlanStart, SessionChoice};
use serde_json::json;

use crate::world::{COLLECT, Client, DOCUMENT, World};

#[tokio::test]
async fn a_restart_finds_the_plan_as_it_was() {
    let world = World::new().await;
    let markdown = "# Ünïcode \u{1f680}\r\n\n```\n\tcode \\ \"quoted\" \u{202e}\n```\n- [ ] one\n\n\n";
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": markdown })).await;
    let before = client.call("plan_get", json!({})).await.to_string();
    let seq = world.seq().await;
    client.leave().await;

    for start in [DOCUMENT, PlanStart::Ensure(None)] {
        let mut options = world.options(start);
        options.engine = world.another_engine().await;
        let mut client = Client::connect(options);
        client.initialize().await;
        assert_eq!(client.call("plan_get", json!({})).await.to_string(), before);
        assert_eq!(world.seq().await, seq, "starting changed nothing");
        client.leave().await;
    }
    assert_eq!(serde_json::from_str::<serde_json::Value>(&before).unwrap()["structuredContent"]["markdown"], markdown);
}

#[tokio::test]
async fn an_empty_plan_is_used_again() {
    let world = World::new().await;
    for _ in 0..5 {
        world.client(DOCUMENT).await.leave().await;
    }
    assert_eq!(world.engine.sessions().get(&world.session).await.unwrap().plans_made, 1);
}

#[tokio::test]
async fn a_start_leaves_plan_work_as_it_is_in_a_session_that_has_plans() {
    let world = World::new().await;
    world.client(COLLECT).await.leave().await;
    let mut client = world.client(PlanStart::Ensure(None)).await;
    assert_eq!(
        client.tool_names().await,
        ["plan_get", "plan_progress", "plan_add_call", "plan_finalize", "plan_await_decision"]
    );
    client.leave().await;
    world.client(DOCUMENT).await.leave().await;
    world.client(PlanStart::Off).await.leave().await;
    let mode = world.engine.sessions().get(&world.session).await.unwrap().plan_mode;
    assert_eq!((mode.enabled, mode.style), (true, PlanStyle::Collect));
}

#[tokio::test]
async fn plan_work_that_a_person_turned_off_stays_off_over_every_start() {
    let world = World::new().await;
    // Also where there was no plan yet.
    world.client(PlanStart::Off).await.leave().await;
    world.engine.sessions().disable_plan_mode(&world.session, &Actor::person("ada", "cli")).await.unwrap();
    let seq = world.seq().await;
    for start in [DOCUMENT, PlanStart::Ensure(None), COLLECT] {
        let mut client = world.client(start).await;
        assert_eq!(client.tool_names().await, Vec::<String>::new());
        client.leave().await;
    }
    assert_eq!(world.seq().await, seq, "starting changed nothing");

    world.engine.sessions().ensure_plan_mode(&world.session, &Actor::person("ada", "cli"), None).await.unwrap();
    world.client(PlanStart::Off).await.leave().await;
    assert!(world.engine.sessions().get(&world.session).await.unwrap().plan_mode.enabled, "nor does one turn it off");
    world.engine.sessions().disable_plan_mode(&world.session, &Actor::person("ada", "cli")).await.unwrap();
    world.client(PlanStart::Ensure(None)).await.leave().await;
    assert!(!world.engine.sessions().get(&world.session).await.unwrap().plan_mode.enabled);
}

/// A server that ended between opening the session and turning plan work on.
#[tokio::test]
async fn a_session_in_which_plan_work_was_never_switched_begins_with_it() {
    let world = World::new().await;
    world.client(PlanStart::Off).await.leave().await;
    world.client(PlanStart::Ensure(None)).await.leave().await;
    assert!(world.engine.sessions().get(&world.session).await.unwrap().plan_mode.enabled);
}

/// A client that finds no server tells its person nothing, so the server answers and says what is wrong.
#[tokio::test]
async fn a_session_that_cannot_be_opened_is_told_in_the_instructions_and_in_every_result() {
    let world = World::new().await;
    let mut options = world.options(DOCUMENT);
    options.session = SessionChoice::Fixed("mcp:short".parse().unwrap());
    let mut client = Client::connect(options);
    let hello = client.initialize().await;
    assert!(hello["instructions"].as_str().unwrap().contains("8 to 64"), "{hello}");
    assert!(client.tool_names_raw().await.contains(&"plan_get".to_owned()));
    let refused = client.refuse("plan_get", json!({})).await;
    assert!(refused["message"].as_str().unwrap().contains("8 to 64"), "{refused}");
    client.leave().await;
}

#[tokio::test]
async fn a_finished_plan_stays_until_something_new_is_written() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": "# First\n\n- [ ] one" })).await;
    world.approve().await;
    client.succeed("plan_progress", json!({ "status": "done" })).await;
    client.leave().await;

    let mut client = world.client(PlanStart::Ensure(None)).await;
    let got = client.succeed("plan_get", json!({})).await;
    assert_eq!((&got["status"], &got["number"]), (&json!("COMPLETED"), &json!(1)));
    assert!(got["next"].as_str().unwrap().contains("plan_set_content begins the next plan"), "{got}");
    client.refused_with("plan_set_content", json!({ "plan_markdown": " " }), "INVALID_ARGUMENT").await;
    assert_eq!(world.engine.sessions().get(&world.session).await.unwrap().plans_made, 1);
    let next = client.succeed("plan_set_content", json!({ "plan_markdown": "# Second\n\n- [ ] two" })).await;
    assert_eq!((&next["number"], &next["status"]), (&json!(2), &json!("READY")));
    assert_eq!(world.active_plan().await.number, 2);
    client.leave().await;
}

#[tokio::test]
async fn two_servers_on_one_session_see_each_others_work() {
    let world = World::new().await;
    let mut first = world.client(DOCUMENT).await;
    let mut options = world.options(DOCUMENT);
    options.engine = world.another_engine().await;
    let mut second = Client::connect(options);
    second.initialize().await;

    let set = first.succeed("plan_set_content", json!({ "plan_markdown": "# from the first" })).await;
    let seen = second.succeed("plan_get", json!({})).await;
    assert_eq!((&seen["digest"], &seen["markdown"]), (&set["digest"], &json!("# from the first")));
    second.succeed("plan_set_content", json!({ "plan_markdown": "# from the second" })).await;
    assert_eq!(first.succeed("plan_get", json!({})).await["markdown"], "# from the second");
    first.leave().await;
    second.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_call_is_lost_when_two_servers_record_at_once() {
    let world = World::new().await;
    let mut first = world.client(COLLECT).await;
    let mut options = world.options(COLLECT);
    options.engine = world.another_engine().await;
    let mut second = Client::connect(options);
    second.initialize().await;

    let record = async |client: &mut Client, who: &str| {
        let mut ids = Vec::new();
        for n in 0..50 {
            ids.push(client.send_request("tools/call", json!({ "name": format!("{who}_{n}") })).await);
        }
        for id in ids {
            let answer = client.answer_to(&json!(id)).await;
            assert_eq!(answer["result"]["structuredContent"]["planned"], true, "{answer}");
        }
    };
    tokio::join!(record(&mut first, "first"), record(&mut second, "second"));

    let got = first.succeed("plan_get", json!({})).await;
    let mut tools: Vec<_> =
        got["steps"].as_array().unwrap().iter().map(|step| step["tool"].as_str().unwrap().to_owned()).collect();
    tools.sort_unstable();
    tools.dedup();
    assert_eq!(tools.len(), 100);
    first.leave().await;
    second.leave().await;
}

#[tokio::test]
async fn calls_that_came_before_the_end_of_input_are_answered() {
    let world = World::new().await;
    let mut client = Client::connect(world.options(DOCUMENT));
    let mut script = String::new();
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "s", "version": "1" } });
    for (id, method, params) in [
        (1, "initialize", hello),
        (2, "tools/call", json!({ "name": "plan_set_content", "arguments": { "plan_markdown": "# A" } })),
        (3, "tools/call", json!({ "name": "plan_get" })),
    ] {
        script += &format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }
    // Even the last line without its end.
    client.send_bytes(script.trim_end().as_bytes()).await;
    client.stop_writing().await;
    for id in 1..=3 {
        let answer = client.answer_to(&json!(id)).await;
        assert!(answer.get("result").is_some(), "{answer}");
        if id == 3 {
            assert_eq!(answer["result"]["structuredContent"]["markdown"], "# A");
        }
    }
    assert!(client.receive().await.is_none());
    client.ended().await;
}

#[tokio::test]
async fn a_shutdown_ends_the_server_while_the_client_still_listens() {
    let world = World::new().await;
    let mut client = world.client(DOCUMENT).await;
    client.succeed("plan_set_content", json!({ "plan_markdown": "# A" })).await;
    client.shutdown.cancel();
    assert!(client.receive().await.is_none());
    client.ended().await;
    assert_eq!(world.active_plan().await.number, 1);
}
