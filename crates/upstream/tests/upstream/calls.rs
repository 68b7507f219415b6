//! Calls in a conversation: permission, results of every kind, progress, and `/stop`.

use planwright_core::turn::TurnEnd;
use planwright_core::upstream::AnnotationTrust;
use planwright_llm::scripted::Reply;
use serde_json::json;

use crate::world::{World, until};

fn call(tool: &str) -> Reply {
    Reply::call(format!("test__{tool}"), json!({}))
}

fn note(text: &str) -> Reply {
    Reply::call("test__note", json!({ "text": text }))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_tool_is_called_and_its_result_reaches_the_model() {
    let world = World::accepted([note("milk"), Reply::text("Noted.")]).await;
    assert_eq!(world.send("Note the milk").await.reply, "Noted.");
    assert!(world.results().contains("noted milk"), "{}", world.results());
    assert_eq!(world.calls(), [r#"note {"text": "milk"}"#]);
    let journal = world.journal().await;
    assert!(journal.contains("test__note") && journal.contains("noted milk"), "{journal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_rule_a_person_permits_the_call_and_it_is_made_once() {
    let world = World::with("plain", [note("milk"), Reply::text("Noted.")], |setup| setup.rules.clear()).await;
    world.accept("test").await;
    let asked = world.send("Note the milk").await;
    let code = asked.ask.expect("a question").ask.code();
    assert!(asked.reply.contains("test__note") && world.calls().is_empty(), "{}", asked.reply);
    assert_eq!(world.send(&format!("/allow {code}")).await.reply, "Noted.");
    assert_eq!(world.calls().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn annotations_count_only_if_the_person_trusts_the_server() {
    for (trust, asks) in [(AnnotationTrust::Ignored, true), (AnnotationTrust::Trusted, false)] {
        let replies = [call("read"), Reply::text("Read.")];
        let world = World::with("plain", replies, |setup| {
            setup.rules.clear();
            setup.servers[0].trust = trust;
        })
        .await;
        world.accept("test").await;
        assert_eq!(world.send("Read it").await.ask.is_some(), asks, "{trust:?}");
        assert_eq!(world.calls().is_empty(), asks, "{trust:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_a_required_argument_is_refused_here() {
    let world = World::accepted([call("note"), Reply::text("I see.")]).await;
    world.send("Note it").await;
    assert!(world.results().contains("/text: it is missing"), "{}", world.results());
    assert!(world.calls().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_every_kind_are_read_and_kept() {
    let replies = [
        call("image").and_call("test__structured", json!({})).and_call("test__resource", json!({})),
        Reply::text("Seen."),
    ];
    let world = World::accepted(replies).await;
    world.send("Look at them").await;
    let results = world.results();
    assert!(results.contains("@commands/1.png") && results.contains("image/png"), "{results}");
    assert!(results.contains("structured") && results.matches("rows").count() == 1, "{results}");
    assert!(results.contains("the text") && results.contains("file:///b"), "{results}");
    let outputs = world.setup.files().folder(&world.session).parent().unwrap().join("outputs");
    assert_eq!(std::fs::read(outputs.join("1.png")).unwrap(), b"\x89PNG not really");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_megabytes_the_model_reads_a_part_and_the_file_has_all() {
    let read = Reply::call("read_file", json!({ "path": "@commands/1.txt", "limit": 1 }));
    let world = World::accepted([call("big"), read, Reply::text("Long.")]).await;
    world.send("Get it").await;
    let request = &world.model.requests()[1];
    let results = format!("{:?}", request.messages);
    assert!(results.len() < 40 * 1024, "{} bytes were sent", results.len());
    assert!(results.contains("begin 0123456789") && results.contains("789 end"), "{results}");
    assert!(results.contains("@commands/1.txt") && results.contains("10485770"), "{results}");
    let outputs = world.setup.files().folder(&world.session).parent().unwrap().join("outputs");
    assert_eq!(std::fs::metadata(outputs.join("1.txt")).unwrap().len(), 10 * 1024 * 1024 + 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_and_an_error_of_the_protocol_have_words() {
    let world = World::accepted([call("fail").and_call("test__error", json!({})), Reply::text("Both failed.")]).await;
    world.send("Try").await;
    let results = world.results();
    assert!(results.contains("the disk is full"), "{results}");
    assert!(results.contains("that is not an argument (-32602)"), "{results}");
    assert_eq!(results.matches("failed: true").count(), 2, "{results}");
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_shown_and_stop_cancels_the_call() {
    let world = World::accepted([call("slow"), Reply::text("Never.")]).await;
    let (answer, _) = world.when_shown("Work", "part 1 (1 of 2)", async || world.send("/stop").await).await;
    assert_eq!(answer.end, Some(TurnEnd::Stopped));
    until("the cancellation", || world.calls().iter().any(|line| line.starts_with("cancelled"))).await;
    let journal = world.journal().await;
    assert!(journal.contains("uncertain"), "{journal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_gets_the_allowed_variables_and_its_own() {
    let world = World::accepted([call("environment"), Reply::text("Seen.")]).await;
    world.send("Look").await;
    let results = world.results();
    assert!(results.contains("GIVEN_API_KEY") && results.contains("PATH"), "{results}");
    // The test runner sets many more, CARGO_MANIFEST_DIR among them.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !results.contains("CARGO_MANIFEST_DIR"), "{results}");
}
