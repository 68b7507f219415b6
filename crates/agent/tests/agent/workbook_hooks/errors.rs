//! What fails is noted in the progress, and the same failure three times raises a hint. The notes themselves never fail a
//! turn.

use planwright_core::gate::ToolEffect;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::turn::TurnEnd;
use planwright_core::workbook::DocumentKind;
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::*;
use crate::test_tools::{Act, Prop};

#[tokio::test]
async fn the_same_failure_counts_up_in_one_row_and_the_third_time_raises_a_hint() {
    let world = working([read("a.txt"), read("a.txt"), read("b.txt"), read("a.txt"), done()]).await;
    world.say("Read it").await;
    let progress = world.reads(DocumentKind::Progress).await;
    let rows: Vec<_> = progress.lines().filter(|line| line.contains("`read_file {")).collect();
    assert_eq!(rows.len(), 2, "{progress}");
    assert!(rows[0].contains("a.txt") && rows[0].ends_with("| 3 |") && rows[0].contains("NOT_FOUND: "), "{progress}");
    assert!(rows[1].contains("b.txt") && rows[1].ends_with("| 1 |"), "{progress}");
    let hinted: Vec<_> = crate::world::script(&world.model.last_request())
        .iter()
        .filter(|message| message.starts_with("failed read_file"))
        .map(|message| parsed(message).get("hint").is_some())
        .collect();
    assert_eq!(hinted, [false, false, false, true]);
    let hint = parsed(&newest_result(&world))["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("failed 3 times") && hint.contains("Do not repeat it"), "{hint}");
    world.has_a_valid_history();
}

#[tokio::test]
async fn attempts_are_counted_over_turns_and_restarts_and_whatever_the_arguments_look_like() {
    let world = working([
        Reply::raw_call("read_file", r#"{"path":"a.txt"}"#),
        done(),
        Reply::raw_call("read_file", "{ \"path\" : \"a.txt\" }"),
        done(),
        Reply::raw_call("read_file", "{\"path\":\n\"a.txt\"}"),
        done(),
    ])
    .await;
    world.say("One").await;
    let world = world.restart().await;
    world.say("Two").await;
    assert!(parsed(&crate::world::script(&world.model.last_request())[6]).get("hint").is_none());
    world.say("Three").await;
    assert!(newest_result(&world).contains("failed 3 times"));
}

#[tokio::test]
async fn the_setting_says_after_how_many_attempts() {
    for (most, expected) in [(0, 0), (1, 3), (2, 2), (4, 0)] {
        let model = ScriptedModel::new([read("a"), read("a"), read("a"), done()]);
        let world = working_with(model, |setup| settings(setup).error_attempts = most).await;
        world.say("Read").await;
        let sent = crate::world::script(&world.model.last_request());
        assert_eq!(sent.iter().filter(|message| message.contains("Do not repeat it")).count(), expected, "{most}");
    }
}

#[tokio::test]
async fn every_kind_of_failure_is_noted() {
    let refuses = Prop::new(
        "push",
        ToolEffect::Changes,
        Act::Refuse(Refusal::new(RefusalCode::Unavailable, "The | net\nis down.")),
    );
    let breaks = Prop::new("smash", ToolEffect::Changes, Act::Panic);
    let hangs = Prop::new("sleep", ToolEffect::ReadsOnly, Act::Hang);
    let model = ScriptedModel::new([
        Reply::call("push", json!({})),
        Reply::call("smash", json!({})),
        Reply::call("sleep", json!({})),
        Reply::call("no_such_tool", json!({})),
        Reply::raw_call("read_file", "{not json"),
        done(),
    ]);
    let world = working_with(model, |setup| {
        setup.tool(&refuses);
        setup.tool(&breaks);
        setup.tool(&hangs);
        setup.policy.turn.tool_time = std::time::Duration::from_millis(1);
    })
    .await;
    world.say("Try").await;
    let progress = world.reads(DocumentKind::Progress).await;
    for expected in [
        "`push {}` | `UNAVAILABLE: The ¦ net is down.` | 1 |",
        "`smash {}` | `INTERNAL: ",
        "`sleep {}` | `It did not end within ",
        "`no_such_tool {}` | `NOT_FOUND: ",
        "`read_file {not json` | `INVALID_ARGUMENT: ",
    ] {
        assert!(progress.contains(expected), "{expected}: {progress}");
    }
}

#[tokio::test]
async fn plan_and_workbook_tools_are_not_noted() {
    let world = working([
        Reply::call("update_plan", json!({"which": "task_plan", "section": "None", "content": "x"})),
        Reply::call("read_plan", json!({"which": "../secret"})),
        Reply::call("plan_submit", json!({})),
        Reply::call("plan_progress", json!({"status": "done"})),
        Reply::call("ask_agent", json!({"agent": "coder", "question": "?"})),
        Reply::call("write_plan", json!({"which": "findings", "content": "# Mine\n"})),
        done(),
    ])
    .await;
    world.send("/plan on").await;
    world.say("Try").await;
    assert_eq!(world.notes().await, 0);
    assert_eq!(world.reads(DocumentKind::Findings).await, "# Mine\n");
}

#[tokio::test]
async fn a_note_that_is_refused_fails_nothing() {
    let model = ScriptedModel::new([list(), read("a.txt"), read("none"), done()]);
    let world = working_with(model, |setup| {
        // Room for the templates, and for nothing more.
        setup.policy.limits.document_bytes = 1_200;
        settings(setup).findings_chars = 5_000;
    })
    .await;
    world.has_file("a.txt", &"much ".repeat(1_000));
    let before = world.reads(DocumentKind::Findings).await;
    let outcome = world.say("Look").await;
    assert_eq!((outcome.end, outcome.reply.as_str()), (Some(TurnEnd::Answered), "Done."));
    assert_eq!(world.reads(DocumentKind::Findings).await, before);
    assert!(world.reads(DocumentKind::Progress).await.contains("`read_file {"));
}

#[cfg(unix)]
#[tokio::test]
async fn files_that_cannot_be_written_fail_nothing() {
    let world = working([list(), list(), read("none"), done()]).await;
    let plan = world.files().with_file_name("plan");
    std::fs::remove_dir_all(&plan).unwrap();
    std::os::unix::fs::symlink("/nowhere", &plan).unwrap();
    let outcome = world.say("Look").await;
    assert_eq!(outcome.end, Some(TurnEnd::Answered));
    assert_eq!(world.notes().await, 2);
}
