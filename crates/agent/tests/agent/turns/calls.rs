//! Tool calls: in which order they run, and how the model reads what was wrong with them.

use planwright_core::event::{Event, TurnEvent};
use planwright_core::turn::{ToolStatus, TurnEnd};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use crate::test_tools::Prop;
use crate::world::{World, script, statuses};

#[tokio::test]
async fn several_calls_in_one_reply_are_carried_out_in_order() {
    let world = World::new([
        Reply::call("write_file", json!({"path": "a.txt", "content": "one"}))
            .and_call("read_file", json!({"path": "a.txt"}))
            .with_text("Let me write."),
        Reply::call("write_file", json!({"path": "a.txt", "content": "two"}))
            .and_call("read_file", json!({"path": "a.txt"}))
            .and_call("list_files", json!({})),
        Reply::text("Done."),
    ])
    .await;
    let outcome = world.say("Write a file").await;
    assert_eq!((outcome.reply.as_str(), outcome.tool_calls, outcome.model_calls), ("Done.", 5, 3));
    let sent = script(&world.sent(3));
    assert_eq!(sent[1], "model: Let me write. [write_file, read_file]");
    assert!(sent[2].starts_with("result write_file:"), "{sent:?}");
    assert!(sent[3].starts_with("result read_file:") && sent[3].contains("one"), "{sent:?}");
    assert_eq!(sent[4], "model:  [write_file, read_file, list_files]");
    assert!(sent[6].starts_with("result read_file:") && sent[6].contains("two"), "{sent:?}");
    assert!(sent[7].starts_with("result list_files:") && sent[7].contains("a.txt"), "{sent:?}");
    assert_eq!(std::fs::read_to_string(world.files().join("a.txt")).unwrap(), "two");
    let calls: Vec<_> = world
        .events()
        .await
        .iter()
        .filter_map(|event| {
            if let Event::Turn { event: TurnEvent::ToolEnded { call, .. }, .. } = event { Some(*call) } else { None }
        })
        .collect();
    assert_eq!(calls, [1, 2, 3, 4, 5]);
    world.model.assert_finished();
    world.is_sound().await;
}

#[tokio::test]
async fn every_result_has_the_id_of_its_own_call() {
    let read = |path: &str| Reply::call("read_file", json!({"path": path}));
    let world = World::new([read("a.txt").and_call("read_file", json!({"path": "b.txt"})), Reply::text("None.")]).await;
    world.say("Read both").await;
    world.has_a_valid_history();
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused, ToolStatus::Refused]);
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_named_with_those_that_are() {
    let world = World::new([
        Reply::call("run_shell", json!({"command": "ls"})),
        Reply::call("list_files", json!({})),
        Reply::text("It is empty."),
    ])
    .await;
    let outcome = world.say("What is there?").await;
    assert_eq!(outcome.reply, "It is empty.");
    let sent = script(&world.sent(2));
    let answer = &sent[2];
    assert!(answer.starts_with("failed run_shell:") && answer.contains("NOT_FOUND"), "{answer}");
    for tool in ["glob_files", "grep_files", "list_files", "read_file", "write_file"] {
        assert!(answer.contains(tool), "{tool} is not named in {answer}");
    }
    assert!(!answer.contains("plan_"), "plan work is off: {answer}");
    assert_eq!(statuses(&world.events().await), [ToolStatus::Refused, ToolStatus::Done]);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_answered_so_that_the_model_can_do_better() {
    let cases = [
        ("write_file", r#"{"path": "a.txt", "content": "#, "not valid JSON"),
        ("write_file", r#"["a.txt", "one"]"#, "one JSON object"),
        ("write_file", r#""a.txt""#, "one JSON object"),
        ("write_file", r#"{"path": "a.txt"}"#, "content"),
        ("write_file", r#"{"path": "a.txt", "content": "one", "mode": "fast"}"#, "mode"),
        ("write_file", r#"{"path": 7, "content": "one"}"#, "do not fit"),
        ("write_file", "", "path"),
        ("plan_set_content", r#"{"plan_markdown": "#, "not valid JSON"),
        ("plan_set_content", r#"["- [ ] one"]"#, "one JSON object"),
        ("plan_set_content", r#"{"markdown": "- [ ] one"}"#, "markdown"),
        ("plan_set_content", r#"{"plan_markdown": ["one"]}"#, "do not fit"),
        ("plan_set_content", "null", "plan_markdown"),
        ("plan_get", r#"{"plan_id": "7"}"#, "plan_id"),
    ];
    for (tool, wrong, expected) in cases {
        let right = match tool {
            "write_file" => json!({"path": "a.txt", "content": "one"}),
            "plan_set_content" => json!({"plan_markdown": "- [ ] one"}),
            _ => json!({}),
        };
        let world = World::new([Reply::raw_call(tool, wrong), Reply::call(tool, right), Reply::text("Done.")]).await;
        world.send("/plan on").await;
        let outcome = world.say("Do it").await;
        assert_eq!(outcome.end, Some(TurnEnd::Answered), "{tool} {wrong}");
        let sent = script(&world.sent(2));
        let answer = &sent[2];
        assert!(answer.starts_with(&format!("failed {tool}:")), "{tool} {wrong}: {answer}");
        assert!(answer.contains("INVALID_ARGUMENT") && answer.contains(expected), "{tool} {wrong}: {answer}");
        assert_eq!(statuses(&world.events().await), [ToolStatus::Refused, ToolStatus::Done], "{tool} {wrong}");
        world.has_a_valid_history();
    }
}

#[tokio::test]
async fn a_call_without_arguments_is_one_with_none() {
    for nothing in ["", "  ", "null", "{}"] {
        let world = World::new([Reply::raw_call("list_files", nothing), Reply::text("Empty.")]).await;
        world.say("What is there?").await;
        assert_eq!(statuses(&world.events().await), [ToolStatus::Done], "{nothing:?}");
    }
}

#[tokio::test]
async fn the_arguments_are_kept_as_they_were_written() {
    let odd = "{\"path\" : \"a.txt\",\n  \"content\":\"\\u0041\"}";
    let world = World::new([Reply::raw_call("write_file", odd), Reply::text("Done.")]).await;
    world.say("Write").await;
    let planwright_core::model::ModelMessage::Assistant { calls, .. } = &world.sent(2).messages[1] else {
        panic!("the call is not in the history: {:?}", world.sent(2).messages)
    };
    assert_eq!(calls[0].call.arguments, odd);
}

#[tokio::test]
async fn words_beside_calls_are_kept_but_are_not_the_answer() {
    let tool = Prop::changing("ring_bell");
    let model = ScriptedModel::new([
        Reply::call("ring_bell", json!({"times": 2})).with_text("I ring the bell."),
        Reply::text("It rang."),
    ]);
    let world = World::with(model, |setup| setup.tool(&tool)).await;
    let outcome = world.say("Ring").await;
    assert_eq!(outcome.reply, "It rang.");
    assert_eq!(tool.calls(), [json!({"times": 2})]);
    assert_eq!(script(&world.sent(2))[1], "model: I ring the bell. [ring_bell]");
}
