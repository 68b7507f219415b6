//! Messages, who may send them, and the session they belong to.

use std::sync::Arc;

use planwright_agent::toolbox::Toolbox;
use planwright_agent::upstream::UpstreamTools;
use planwright_engine::ledger::ApprovalStore;
use planwright_llm::scripted::{Gate, Reply, ScriptedModel};
use planwright_test_support::talk::Talk as _;
use planwright_test_support::upstream::{FakeServers, not_shown, wordy_tools};
use serde_json::json;
use tokio::runtime::Handle;

use crate::world::{ADA, BOB, GROUP, STRANGER, World};

#[tokio::test]
async fn a_message_is_answered_in_its_chat() {
    let world = World::new([Reply::text("Hello **Ada**.")]).await;
    world.api.say(ADA, "Good morning");
    let answer = world.api.wait_for_text(ADA, "Hello Ada.").await;
    assert_eq!(answer.entities, [json!({ "type": "bold", "offset": 6, "length": 3 })]);
    assert_eq!(world.heard(), ["Good morning"]);
    assert_eq!(world.session_of(ADA).await.channel.as_str(), "telegram");
    assert_eq!(world.api.messages(ADA).len(), 1);
}

#[tokio::test]
async fn strangers_get_one_line_and_nothing_of_theirs_is_stored() {
    let world = World::new([Reply::text("Hello Ada.")]).await;
    for output in ["let me in", "please", "/plan on"] {
        world.api.say(STRANGER, output);
    }
    world.api.edit(STRANGER, "let me in again");
    world.api.deliver(
        json!({ "inline_query": { "id": "q", "from": { "id": STRANGER }, "query": "let me in", "offset": "" } }),
    );
    world.api.say_in_group(-200, ADA, "not listed");
    world.api.say(ADA, "hi");
    world.api.wait_for_text(ADA, "Hello Ada.").await;
    world.api.wait_for_text(STRANGER, "private").await;
    assert_eq!(world.api.messages(STRANGER).len(), 1);
    assert_eq!(world.heard(), ["hi"]);
    assert_eq!(world.ledger.count_sessions().await.unwrap(), 1);
    let stored = std::fs::read(world.setup.database()).unwrap();
    let log = std::fs::read(world.setup.database().with_extension("db-wal")).unwrap_or_default();
    for text in ["let me in", "not listed"] {
        let is_in = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(!is_in(&stored) && !is_in(&log), "{text}");
    }
}

/// Strangers who only edit or query get nothing at all: a line would answer what they did not write to the bot.
#[tokio::test]
async fn edits_and_inline_queries_of_strangers_get_no_answer() {
    let world = World::new([Reply::text("Hello Ada.")]).await;
    let query = |user: i64| json!({ "inline_query": { "id": format!("query of {user}"), "from": { "id": user }, "query": "show me", "offset": "" } });
    world.api.edit(STRANGER, "an edited secret");
    world.api.deliver(query(STRANGER));
    world.api.deliver(query(ADA));
    world.api.say(ADA, "hi");
    world.api.wait_for_text(ADA, "Hello Ada.").await;
    world.api.wait("the query of Ada is answered", |api| api.calls("answerInlineQuery").pop()).await;
    let answered: Vec<_> = world.api.calls("answerInlineQuery");
    assert_eq!(answered.len(), 1);
    assert_eq!((&answered[0]["inline_query_id"], &answered[0]["results"]), (&json!("query of 7"), &json!([])));
    assert!(world.api.messages(STRANGER).is_empty());
    assert_eq!(world.heard(), ["hi"]);
    let stored = std::fs::read(world.setup.database()).unwrap();
    let log = std::fs::read(world.setup.database().with_extension("db-wal")).unwrap_or_default();
    let is_in = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    for text in ["an edited secret", "query of 666"] {
        assert!(!is_in(&stored, text) && !is_in(&log, text), "{text}");
    }
}

#[tokio::test]
async fn a_listed_group_is_answered_in_the_group() {
    let world = World::new([Reply::text("Hello group.")]).await;
    world.api.say_in_group(GROUP, ADA, "hi all");
    world.api.wait_for_text(GROUP, "Hello group.").await;
    assert!(world.api.messages(ADA).is_empty());
    world.api.say_in_group(GROUP, STRANGER, "me too");
    world.api.wait_for_text(GROUP, "private").await;
    assert_eq!(world.heard(), ["hi all"]);
}

#[tokio::test]
async fn commands_and_messages_go_into_the_same_session() {
    let world = World::new([Reply::text("One."), Reply::text("Two.")]).await;
    world.api.say(ADA, "/plan on");
    world.api.wait("an answer to /plan on", |api| (!api.messages(ADA).is_empty()).then_some(())).await;
    let session = world.session_of(ADA).await;
    world.api.say(ADA, "/status@test_bot");
    world.api.wait_for_text(ADA, &session.to_string()).await;
    world.api.say(ADA, "hello");
    world.api.wait_for_text(ADA, "One.").await;
    assert_eq!(world.session_of(ADA).await, session);
    assert_eq!(world.ledger.count_sessions().await.unwrap(), 1);
}

#[tokio::test]
async fn new_and_switch_move_one_chat_only() {
    let world = World::with(ScriptedModel::answering(|_| Reply::text("ok")), |_| {}).await;
    world.api.say(ADA, "first");
    world.api.say(BOB, "other");
    world.api.wait_for_text(ADA, "ok").await;
    world.api.wait_for_text(BOB, "ok").await;
    let (first, bobs) = (world.session_of(ADA).await, world.session_of(BOB).await);
    assert_ne!(first, bobs);
    // The message after `/new` is in the new session, also when both come together.
    world.api.say(ADA, "/new");
    world.api.say(ADA, "second");
    let answers = |wanted: usize| {
        let api = world.api.clone();
        async move {
            api.wait("answers", |api| {
                (api.messages(ADA).iter().filter(|message| message.text == "ok").count() == wanted).then_some(())
            })
            .await;
        }
    };
    answers(2).await;
    let second = world.session_of(ADA).await;
    assert_ne!(second, first);
    assert_eq!(world.session_of(BOB).await, bobs);
    let journal = world.ledger.journal(&second, 0, 100).await.unwrap();
    assert!(journal.iter().any(|entry| entry.body.contains("second")));
    world.api.say(ADA, "/sessions");
    let list = world.api.wait_for(ADA, "a list with buttons", |message| message.buttons.len() > 1).await;
    let (_, data) =
        list.buttons.iter().find(|(label, _)| label.contains("first")).unwrap_or_else(|| panic!("{list:?}"));
    world.api.press_data(ADA, &list, data);
    world
        .api
        .wait_for(ADA, "the status of the first session", |message| {
            message.text.contains(&first.to_string()) && message.text.contains("model")
        })
        .await;
    assert_eq!(world.session_of(ADA).await, first);
}

#[tokio::test]
async fn a_chat_whose_session_is_deleted_gets_another_one() {
    let world = World::with(ScriptedModel::answering(|_| Reply::text("ok")), |_| {}).await;
    world.api.say(ADA, "first");
    world.api.wait_for_text(ADA, "ok").await;
    let first = world.session_of(ADA).await;
    let by = planwright_core::actor::Actor::person("ada", "test");
    world.agent.delete(&first, &by).await.unwrap();
    world.api.say(ADA, "second");
    world.api.wait("a second answer", |api| (api.messages(ADA).len() == 2).then_some(())).await;
    assert_ne!(world.session_of(ADA).await, first);
}

#[tokio::test]
async fn a_long_answer_comes_whole() {
    let output: Vec<_> = (0..1_500).map(|number| format!("word{number}")).collect();
    let world = World::new([Reply::text(output.join(" "))]).await;
    world.api.say(ADA, "write");
    let texts = world
        .api
        .wait("all parts", |api| {
            let texts: Vec<_> = api.messages(ADA).into_iter().map(|message| message.text).collect();
            (texts.len() > 1 && texts[0].starts_with("word0 ") && texts.concat().contains("word1499")).then_some(texts)
        })
        .await;
    assert_eq!(texts.join(" ").split_whitespace().collect::<Vec<_>>(), output);
}

#[tokio::test]
async fn a_very_long_answer_is_attached() {
    let long = "A sentence that is repeated. ".repeat(2_000);
    let world = World::new([Reply::text(long.clone())]).await;
    world.api.say(ADA, "write");
    let file = world.api.wait_for(ADA, "a file", |message| message.document.is_some()).await;
    let (name, content) = file.document.unwrap();
    assert_eq!((name.as_str(), content.trim()), ("answer.md", long.trim()));
}

/// The code in the last `/tools accept files CODE` that the bot sent.
fn offered_code(text: &str) -> Option<&str> {
    let (_, after) = text.rsplit_once("/tools accept files ")?;
    Some(after.split_whitespace().next().unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_part_of_the_tools_of_a_server_is_sent_before_they_can_be_accepted() {
    let world = World::with(ScriptedModel::new([]), |setup| {
        let pins: Arc<dyn ApprovalStore> = tokio::task::block_in_place(|| Handle::current().block_on(setup.ledger()));
        let servers = FakeServers::new(wordy_tools());
        setup.tools = Toolbox::default().with_upstream(UpstreamTools::new(servers, pins, setup.files(), 1024));
    })
    .await;
    let sent = || world.api.messages(ADA).into_iter().map(|message| message.text).collect::<Vec<_>>().concat();
    world.finished(world.api.say(ADA, "/tools accept files")).await;
    while !sent().contains("accepts all") {
        let text = world.api.wait("a code", |_| Some(sent()).filter(|text| offered_code(text).is_some())).await;
        let parts = text.matches("(part ").count();
        world.api.say(ADA, &format!("/tools accept files {}", offered_code(&text).unwrap()));
        world.api.wait("the next part", |_| (sent().matches("(part ").count() > parts).then_some(())).await;
        world.api.wait("its end", |_| (offered_code(&sent()) != offered_code(&text)).then_some(())).await;
    }
    assert_eq!(not_shown(&sent()), [""; 0]);
    assert!(world.api.messages(ADA).iter().all(|message| message.document.is_none()), "nothing is behind a file");
    world.api.say(ADA, &format!("/tools accept files {}", offered_code(&sent()).unwrap()));
    world.api.wait_for_text(ADA, "The tools of files are accepted").await;
}

#[tokio::test]
async fn a_document_becomes_a_file_of_the_session() {
    let world = World::new([Reply::text("Read.")]).await;
    world.api.send_file(ADA, "../../notes.md", b"buy milk", "read this");
    world.api.wait_for_text(ADA, "Read.").await;
    let heard = world.heard();
    assert!(heard[0].starts_with("read this") && heard[0].contains("received/"), "{heard:?}");
    let folder = world.setup.files().folder(&world.session_of(ADA).await).join("received");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(std::fs::read(&files[0]).unwrap(), b"buy milk");
}

#[tokio::test]
async fn edits_and_odd_updates_change_nothing() {
    let world = World::new([Reply::text("Hello.")]).await;
    for odd in [
        json!({}),
        json!({ "message": null }),
        json!({ "message": { "message_id": 1 } }),
        json!({ "message": { "message_id": 9_007_199_254_740_993_i64, "from": { "id": ADA }, "chat": { "id": ADA, "type": "private" }, "sticker": {} } }),
        json!({ "poll": { "id": "1" } }),
        json!({ "my_chat_member": { "chat": { "id": ADA }, "new_chat_member": { "status": "kicked" } } }),
        json!({ "callback_query": { "id": "1", "from": { "id": ADA } } }),
        json!({ "edited_message": { "message_id": 1, "from": { "id": ADA }, "chat": { "id": ADA, "type": "private" }, "text": "/plan on" } }),
    ] {
        world.api.deliver(odd);
    }
    world.api.say(ADA, "hi");
    world.api.wait_for_text(ADA, "Hello.").await;
    world.api.wait_for_text(ADA, "Edited messages are not read").await;
    assert_eq!(world.heard(), ["hi"]);
}

#[tokio::test]
async fn every_command_is_in_the_menu() {
    let world = World::new([]).await;
    let menu = world.api.wait("the menu", |api| api.calls("setMyCommands").pop()).await;
    let names: Vec<_> = menu["commands"].as_array().unwrap().iter().map(|command| command["command"].clone()).collect();
    for spec in planwright_core::slash::offered() {
        let first = spec.name.split_whitespace().next().unwrap();
        assert_eq!(names.iter().filter(|name| **name == first).count(), 1, "{first}");
    }
}

#[tokio::test]
async fn sessions_do_not_wait_for_each_other() {
    let gate = Gate::closed();
    let slow = gate.clone();
    let world = World::with(
        ScriptedModel::answering(move |request| {
            let asked = format!("{request:?}");
            if asked.contains("slowly") { Reply::text("Late.").behind(&slow) } else { Reply::text("Early.") }
        }),
        |_| {},
    )
    .await;
    world.api.say(ADA, "slowly");
    world.api.say(BOB, "hello");
    world.api.wait_for_text(BOB, "Early.").await;
    gate.open();
    world.api.wait_for_text(ADA, "Late.").await;
}
