//! Servers that die, hang, flood, lie or do not start. Each harms its own calls and nothing else.

use std::time::Duration;

use planwright_core::upstream::ServerName;
use planwright_engine::upstream::{ConnectionState, ToolSelection, UpstreamError, UpstreamServers as _};
use planwright_llm::scripted::Reply;
use planwright_upstream::{Reach, UpstreamClient};
use serde_json::json;

use crate::world::{SERVER, World, hostile, name, sandbox, until};

fn call(tool: &str) -> Reply {
    Reply::call(format!("test__{tool}"), json!({}))
}

fn note_of(server: &str) -> Reply {
    Reply::call(format!("{server}__note"), json!({ "text": "milk" }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_leaves_its_call_uncertain_and_is_started_again() {
    let world = World::accepted([call("die"), note_of("test"), Reply::text("It works again.")]).await;
    world.send("Try").await;
    let results = world.results();
    assert!(results.contains("ended with exit code 3; its last output: out of paper"), "{results}");
    assert!(results.contains("not known whether it was done") && results.contains("noted milk"), "{results}");
    assert_eq!(world.calls(), ["die {}", r#"note {"text": "milk"}"#]);
    assert!(world.journal().await.contains("uncertain"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_is_given_up_and_others_work_on() {
    let replies = [call("hang").and_call("other__note", json!({ "text": "milk" })), Reply::text("One hangs.")];
    let world = World::with("plain", replies, |setup| {
        setup.servers[0].call_time = Duration::from_secs(1);
        let folder = setup.servers[0].clone();
        let Reach::Program { folder, .. } = folder.reach else { unreachable!() };
        setup.servers.push(hostile("other", "plain", folder.parent().unwrap()));
    })
    .await;
    world.accept("test").await;
    world.accept("other").await;
    world.send("Try").await;
    let results = world.results();
    assert!(results.contains("did not answer within 1 seconds") && results.contains("noted milk"), "{results}");
    // The ping after the cancellation is not answered either, so the server is ended.
    until("the end of the server", || !matches!(world.client.connection(&name(SERVER)), ConnectionState::Connected))
        .await;
    assert_eq!(world.client.connection(&name("other")), ConnectionState::Connected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_floods_is_ended_with_words() {
    let world = World::accepted([call("flood"), note_of("test"), Reply::text("It works again.")]).await;
    world.send("Try").await;
    let results = world.results();
    assert!(results.contains("sent notifications faster than they can be read"), "{results}");
    assert!(results.contains("noted milk"), "{results}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_nonsense_fail_their_call() {
    let replies = [call("garbage").and_call("test__lie", json!({})), note_of("test"), Reply::text("It works.")];
    let world = World::accepted(replies).await;
    world.send("Try").await;
    let results = world.results();
    assert_eq!(results.matches("sent an answer that cannot be read").count(), 2, "{results}");
    assert!(results.contains("noted milk"), "{results}");
    assert_eq!(world.log(SERVER, "started.log").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_start_says_why_and_is_tried_again_later() {
    let folder = tempfile::tempdir().unwrap();
    let broken = hostile("broken", "broken", folder.path());
    let mut silent = hostile("silent", "silent", folder.path());
    silent.start_time = Duration::from_millis(300);
    let mut missing = hostile("missing", "plain", folder.path());
    let Reach::Program { command, .. } = &mut missing.reach else { unreachable!() };
    *command = "no-such-program-anywhere".to_owned();
    missing.locate();
    let client = UpstreamClient::new(vec![broken, silent, missing], &sandbox());
    for (server, expected) in [
        ("broken", "ended with exit code 7; its last output: the licence has expired"),
        ("silent", "did not start within 0 seconds"),
        ("missing", "no program \"no-such-program-anywhere\""),
    ] {
        let server: ServerName = name(server);
        let first = client.offer(&server).await.unwrap_err();
        assert!(matches!(&first, UpstreamError::NotReached { reason, .. } if reason.contains(expected)), "{first}");
        let second = client.offer(&server).await.unwrap_err();
        assert!(matches!(&second, UpstreamError::BackingOff { reason, .. } if reason.contains(expected)), "{second}");
        assert!(matches!(client.connection(&server), ConnectionState::Failed { .. }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pauses_between_starts_grow() {
    let folder = tempfile::tempdir().unwrap();
    let client = UpstreamClient::new(vec![hostile("broken", "broken", folder.path())], &sandbox());
    let server = name("broken");
    let mut pauses = Vec::new();
    for _ in 0..3 {
        client.offer(&server).await.unwrap_err();
        let ConnectionState::Failed { retry_in, .. } = client.connection(&server) else { panic!("it did not fail") };
        pauses.push(retry_in);
        tokio::time::sleep(retry_in + Duration::from_millis(10)).await;
    }
    assert!(pauses[0] < pauses[1] && pauses[1] < pauses[2], "{pauses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn words_on_standard_output_do_not_confuse() {
    let world = World::with("noise", [note_of("test"), Reply::text("Noted.")], |_| {}).await;
    world.accept(SERVER).await;
    world.send("Note the milk").await;
    assert_eq!(world.calls().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_thousand_tools_the_model_is_offered_some() {
    let replies = [Reply::text("Many."), Reply::call("test__tool_9999", json!({})), Reply::text("Called.")];
    let world = World::with("many", replies, |setup| {
        setup.servers[0].selection = ToolSelection::new(&[], 128).unwrap();
    })
    .await;
    world.accept(SERVER).await;
    world.send("How many?").await;
    assert_eq!(world.advertised().iter().filter(|tool| tool.starts_with("test__")).count(), 128);
    let tools = world.send("/tools").await.reply;
    assert!(tools.contains("128 of 10000 tools offered; `mcp.servers.test.tools` chooses others"), "{tools}");
    let mut servers = world.servers.clone();
    servers[0].selection = ToolSelection::new(&["tool_999?".to_owned()], 128).unwrap();
    let mut other = World { servers, ..world };
    other = other.another([Reply::call("test__tool_9999", json!({})), Reply::text("Called.")]).await;
    other.send("Call the last").await;
    assert_eq!(other.advertised().iter().filter(|tool| tool.starts_with("test__")).count(), 10);
    assert_eq!(other.calls(), ["tool_9999 {}"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_a_server_started_ends_with_it() {
    let world = World::accepted([call("child"), Reply::text("Started.")]).await;
    world.send("Start it").await;
    let child = world.log(SERVER, "child.pid").remove(0);
    let server = world.log(SERVER, "started.log").remove(0);
    let runs = |pid: &str| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    };
    assert!(runs(&child) && runs(&server));
    world.stop_servers().await;
    until("the end of both", || !runs(&child) && !runs(&server)).await;
}
