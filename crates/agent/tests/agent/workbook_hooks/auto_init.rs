//! A workbook that begins by itself, for messages that are worth it, where that is wanted.

use crate::talk::{Talk as _, Watcher};
use planwright_agent::session::progress::Progress;
use planwright_core::actor::ActorKind;
use planwright_core::event::{Event, WorkbookEvent};
use planwright_core::journal::Entry;
use planwright_core::workbook::{AssessmentRecord, DocumentKind};
use planwright_llm::scripted::{Reply, ScriptedModel};
use serde_json::json;

use super::*;
use crate::world::tool_names;

const REAL: &str =
    "Research the three best vector databases, compare their prices and write a report about them.\n\nThanks!";
const TRIVIAL: &str = "What time is it in Lisbon now?";

async fn auto(replies: impl IntoIterator<Item = Reply>) -> World {
    World::with(ScriptedModel::new(replies), |setup| settings(setup).auto_init = true).await
}

async fn judged(world: &World) -> Vec<AssessmentRecord> {
    let events = world.events().await.into_iter();
    events
        .filter_map(
            |event| if let Event::Workbook(WorkbookEvent::Assessed { record }) = event { Some(record) } else { None },
        )
        .collect()
}

#[tokio::test]
async fn a_real_message_begins_a_workbook_before_the_model_is_asked() {
    let world = auto([Reply::call("read_plan", json!({})), done()]).await;
    let (_, progress) = world.watch(REAL).await;
    let first = world.sent(1);
    assert!(tool_names(&first).contains(&"update_plan"), "{:?}", tool_names(&first));
    let title = "Research the three best vector databases, compare their prices and write a repor…";
    assert!(first.system.contains("# Workbook `Research the three best vector databases"), "{}", first.system);
    assert!(first.system.contains("phase 1 of 5"), "{}", first.system);
    assert!(newest_result(&world).starts_with("result read_plan:"));
    let workbook = world.engine().workbooks().current(&world.session).await.unwrap().unwrap();
    assert_eq!(workbook.title, title);
    assert!(world.files().with_file_name("plan").join("task_plan.md").exists());
    assert!(progress.iter().any(|told| matches!(told, Progress::Said(text) if text.contains("/plan files off"))));
    world.is_sound().await;
}

#[tokio::test]
async fn the_verdict_and_its_reasons_are_in_the_journal_whatever_they_are() {
    let world = auto([done(), done(), done()]).await;
    world.say(TRIVIAL).await;
    assert_eq!(
        judged(&world).await,
        [AssessmentRecord { begin: false, score: 0, reasons: vec!["only 7 words".to_owned()] }]
    );
    assert!(world.engine().workbooks().current(&world.session).await.unwrap().is_none());
    world.say(REAL).await;
    let all = judged(&world).await;
    assert_eq!(all.len(), 2);
    assert!(all[1].begin && all[1].score >= 3 && all[1].reasons[0].contains("compare, research, write"), "{all:?}");
    // While it is being worked with there is nothing to judge.
    world.say(REAL).await;
    assert_eq!(judged(&world).await.len(), 2);
    let entries = world.engine().ledger().journal(&world.session, 0, 1_000).await.unwrap();
    let by: Vec<_> = entries
        .iter()
        .map(|entry| serde_json::from_str::<Entry>(&entry.body).unwrap())
        .filter(|entry| entry.event.name().starts_with("workbook"))
        .map(|entry| (entry.event.name(), entry.by.kind, entry.by.name))
        .collect();
    let rule = || "planning_files.auto_init".to_owned();
    assert_eq!(
        by,
        [
            ("workbook_judged", ActorKind::Policy, rule()),
            ("workbook_judged", ActorKind::Policy, rule()),
            ("workbook_begun", ActorKind::Policy, rule()),
        ]
    );
}

#[tokio::test]
async fn without_the_setting_nothing_begins_by_itself() {
    for enabled in [false, true] {
        let world = World::with(ScriptedModel::new([done()]), |setup| settings(setup).enabled = enabled).await;
        world.say(REAL).await;
        assert!(!world.event_names().await.iter().any(|name| name.starts_with("workbook")));
        let told = world.sent(1).system.contains("# Workbook\n\nThere is none yet.");
        assert_eq!((told, tool_names(&world.sent(1)).contains(&"init_plan")), (enabled, enabled));
    }
}

#[tokio::test]
async fn a_person_who_said_no_is_not_asked_again() {
    let world = auto([done(), done()]).await;
    world.send("/plan files off").await;
    world.say(REAL).await;
    assert!(judged(&world).await.is_empty());
    assert!(world.engine().workbooks().current(&world.session).await.unwrap().is_none());
    assert!(!world.sent(1).system.contains("# Workbook"));
    world.send("/plan files on").await;
    world.say(REAL).await;
    assert!(world.engine().workbooks().current(&world.session).await.unwrap().is_some());
}

#[tokio::test]
async fn a_complete_one_makes_room_for_the_next() {
    let complete = json!({"which": "task_plan", "content": "# Old\n\nStatus: complete\n"});
    let world = auto([Reply::call("write_plan", complete), done(), done(), done()]).await;
    world.say(REAL).await;
    world.say(TRIVIAL).await;
    assert_eq!(world.reads(DocumentKind::TaskPlan).await, "# Old\n\nStatus: complete\n");
    assert!(world.model.last_request().system.contains("the plan says that it is complete"));
    world.say(&REAL.replace("vector", "graph")).await;
    let session = world.engine().sessions().get(&world.session).await.unwrap();
    assert!(session.current_workbook().unwrap().title.contains("graph"));
    assert_eq!(session.workbook.unwrap().archives.len(), 1);
}

#[tokio::test]
async fn plan_with_words_begins_one_in_every_setting() {
    let world = World::new([done()]).await;
    world.send("/plan tidy up").await;
    assert!(world.sent(1).system.contains("# Workbook `tidy up`"), "{}", world.sent(1).system);
    assert!(tool_names(&world.sent(1)).contains(&"read_plan"));
}

/// What a library does and what a surface does are the same.
#[tokio::test]
async fn a_message_that_is_sent_and_one_that_is_typed_are_judged_alike() {
    let sent = auto([done()]).await;
    sent.say(REAL).await;
    let typed = auto([done()]).await;
    typed.send(REAL).await;
    assert_eq!(judged(&sent).await, judged(&typed).await);
    assert_eq!(sent.event_names().await, typed.event_names().await);
}

/// The process ends before the model says anything. The process that takes over does not assess it again.
#[tokio::test]
async fn a_turn_that_is_taken_up_again_is_judged_once() {
    for (message, expected) in [(REAL, 1), (TRIVIAL, 0)] {
        let world = auto([Reply::hang()]).await;
        let waiting = world.say_in_background(message);
        world.model.asked(1).await;
        world.agent.drain(std::time::Duration::ZERO).await;
        assert!(waiting.await.unwrap().is_err());
        let other = world.another(&ScriptedModel::new([done()]), "another").await;
        let outcome = other.resume(&world.session, &Watcher::none()).await.unwrap();
        assert_eq!(outcome.unwrap().reply, "Done.");
        assert_eq!(judged(&world).await.len(), 1, "{message}");
        let begun = world.event_names().await.into_iter().filter(|name| *name == "workbook_begun").count();
        assert_eq!(begun, expected, "{message}");
    }
}
