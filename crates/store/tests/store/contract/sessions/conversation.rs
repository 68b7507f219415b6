//! What was said and done in turns.

use planwright_core::command::{Command, TurnCommand};
use planwright_core::event::Event;
use planwright_core::journal::Entry;
use planwright_core::model::{ModelReply, ToolCall, Usage};
use planwright_core::plan::PlanStyle;
use planwright_core::turn::{ShownPlan, ToolOutcome, ToolStatus, TurnEnd, TurnInput};
use planwright_engine::Engine;
use planwright_engine::ledger::Ledger;

use crate::commands::*;
use crate::contract::damage::here;
use crate::stores::Store;
use crate::turns::*;
use crate::verification::{assert_no_gaps, assert_whole, findings, verify};

/// A conversation with plan work in the middle of it, as it is carried out one after the other.
fn turns() -> Vec<Command> {
    vec![
        open(),
        begin("Hello"),
        note("turn-1", vec![replied("Let me plan.", 2)]),
        on(PlanStyle::Collect),
        record(1),
        note("turn-1", vec![tool_ended(1, "[Planned]")]),
        record(2),
        finalize(),
        finish("turn-1", vec![tool_ended(2, "[Planned]")], ending(TurnEnd::Answered, "Done.")),
        off(),
        begin("And now?"),
        resume_turn("turn-10"),
        stop(),
        compact(3, "They said hello."),
        reset(),
    ]
}

/// Carries out the first of them. A turn is named after its command's place.
async fn carry_out(ledger: &dyn Ledger, commands: impl IntoIterator<Item = Command>) -> Vec<Event> {
    let mut events = Vec::new();
    for (n, command) in commands.into_iter().enumerate() {
        events.extend(ledger.submit(submission(&here(), &format!("turn-{n}"), command)).await.unwrap().events);
    }
    events
}

async fn page(engine: &Engine, from: u64, limit: u32) -> Vec<Entry> {
    engine.ledger().conversation(&here(), from, limit).await.unwrap()
}

pub(crate) async fn a_conversation_is_read_in_pages_without_its_plans(store: &Store) {
    let engine = store.engine().await;
    let events = carry_out(engine.ledger().as_ref(), turns()).await;
    engine.sessions().open(&session("web:k3yk3y8x"), &person()).await.unwrap();
    let expected: Vec<_> = (1..).zip(&events).filter(|(_, event)| event.plan().is_none()).collect();
    assert!(expected.len() < events.len() && expected.len() == 12, "{}", expected.len());
    for limit in [1, 2, 3, 12, 1000] {
        let (mut read, mut from) = (Vec::new(), 0);
        loop {
            let entries = page(&engine, from, limit).await;
            assert!(entries.len() <= limit as usize);
            let Some(last) = entries.last() else { break };
            from = last.seq + 1;
            read.extend(entries);
        }
        let read: Vec<_> = read.iter().map(|entry| (entry.seq, &entry.event)).collect();
        assert_eq!(read, expected, "{limit} a page");
    }
    // It begins with the very entry that was named, if that is one.
    let (seventh, _) = expected[7];
    assert_eq!(page(&engine, seventh, 1).await[0].seq, seventh);
    assert_eq!(page(&engine, seventh + 1, 1).await[0].seq, expected[8].0);
    for from in [events.len() as u64 + 1, u64::MAX] {
        assert!(page(&engine, from, 10).await.is_empty());
    }
    assert!(page(&engine, 0, 0).await.is_empty());
    assert_whole(&engine).await;
}

pub(crate) async fn damage_to_a_plan_does_not_hide_the_conversation(store: &Store) {
    let engine = store.engine().await;
    carry_out(engine.ledger().as_ref(), turns()).await;
    let before = page(&engine, 0, 100).await;
    assert!(store.tamper("UPDATE journal SET body = 'rubbish' WHERE plan_id IS NOT NULL").await > 0);
    assert_eq!(page(&engine, 0, 100).await, before);
    assert_eq!(store.tamper("UPDATE journal SET body = 'rubbish' WHERE seq = 2").await, 1);
    damaged(engine.ledger().conversation(&here(), 0, 100).await, "journal entry 2");
    // What comes after it is still there.
    assert_eq!(page(&engine, 3, 100).await, before[2..]);
}

pub(crate) async fn every_character_of_a_turn_comes_back(store: &Store) {
    let engine = store.engine().await;
    let every_control: String = (0..0xa0).filter_map(char::from_u32).collect();
    let large = "\0\u{1}ż🧑‍🚀'\"".repeat(1024 * 1024 / 20);
    let texts = [
        every_control.as_str(),
        "NUL \0 first\nthen 漢字 🧑‍🚀 \u{202e}rtl\u{202c} \u{feff} \u{fffe}\u{ffff} \u{10ffff}",
        "'",
        "\"",
        "`'; DROP TABLE journal; -- \\ $1 $$ %s {} \\u0000 \\ud800",
        &"x".repeat(1024 * 1024),
        &large,
    ];
    let mut commands = vec![open()];
    for text in texts {
        let turn = format!("turn-{}", commands.len());
        // What a person says is limited; what a tool says is not.
        let told: String = text.chars().take(10_000).collect();
        let call = ToolCall { name: text.to_owned(), arguments: text.to_owned(), signatures: vec![text.to_owned(); 2] };
        let usage = Usage { input_tokens: 1 << 40, output_tokens: 0 };
        let reply = ModelReply { text: text.to_owned(), calls: vec![call], usage, cut_off: true };
        let outcome = ToolOutcome { status: ToolStatus::Uncertain, text: text.to_owned() };
        commands.push(begin(&told));
        commands.push(note(&turn, vec![TurnInput::Replied { reply, tokens: u32::MAX }]));
        let ended = TurnInput::ToolEnded {
            call: 1,
            outcome,
            tokens: 0,
            changes: planwright_core::workspace::CallChanges::default(),
            permissions: planwright_core::plan::execution::PermissionCounts::default(),
        };
        let end = TurnEnd::ModelFailed { message: text.to_owned() };
        commands.push(finish(&turn, vec![ended], ending(end, text)));
        let kept_from = commands.len() as u64;
        commands.push(compact(kept_from, text));
    }
    let written = carry_out(engine.ledger().as_ref(), commands).await;
    assert_eq!(names(&written[1..6]), ["turn_begun", "model_replied", "tool_ended", "turn_ended", "compacted"]);
    let reader = store.engine().await;
    let read: Vec<_> = page(&reader, 0, 1000).await.into_iter().map(|entry| entry.event).collect();
    assert!(read == written, "something came back as something else");
    assert_whole(&reader).await;
}

pub(crate) async fn what_was_shown_is_remembered(store: &Store) {
    let engine = store.engine().await;
    let plan = ready(&engine, &here(), "# Look").await;
    let shown = ShownPlan { plan: plan.id.clone(), digest: plan.digest() };
    let show = || Command::Turn(TurnCommand::Show(shown.clone()));
    let committed = engine.submit(&here(), &person(), show()).await.unwrap();
    assert_eq!(names(&committed.events), ["plan_shown"]);
    assert!(engine.submit(&here(), &person(), show()).await.unwrap().events.is_empty());
    let other = store.engine().await;
    assert_eq!(other.ledger().session(&here()).await.unwrap().unwrap().session.shown, Some(shown));
    assert_whole(&other).await;
}

pub(crate) async fn a_repeated_request_has_all_its_events_however_many(store: &Store) {
    let (ledger, other) = (store.ledger().await, store.ledger().await);
    carry_out(ledger.as_ref(), [open(), begin("Hello"), note("turn-1", vec![replied("", 40)])]).await;
    let inputs = (1..=40).map(|call| tool_ended(call, "fine")).collect();
    let ended = submission(&here(), "all-of-them", finish("turn-1", inputs, ending(TurnEnd::Answered, "")));
    let first = ledger.submit(ended.clone()).await.unwrap();
    assert_eq!((first.events.len(), first.seq), (41, 44));
    carry_out_after(ledger.as_ref()).await;
    for ledger in [&ledger, &other] {
        assert_eq!(ledger.submit(ended.clone()).await.unwrap().events, first.events);
    }
    assert_eq!(assert_no_gaps(&store.engine().await, &here()).await, 45);
}

/// Something that does not belong to the request before it.
async fn carry_out_after(ledger: &dyn Ledger) {
    ledger.submit(submission(&here(), "afterwards", begin("Next"))).await.unwrap();
}

/// Whatever the last entry was, the rows beside the journal know of it.
pub(crate) async fn a_conversation_cut_off_at_its_end_is_found(store: &Store) {
    for count in 2..=turns().len() {
        let store = &store.another().await;
        let engine = store.engine().await;
        carry_out(engine.ledger().as_ref(), turns().into_iter().take(count)).await;
        let last = assert_no_gaps(&engine, &here()).await;
        assert_eq!(store.tamper(&format!("DELETE FROM journal WHERE seq = {last}")).await, 1);
        damaged(engine.ledger().session(&here()).await, "session cli:k3yk3y8x");
        for command in [begin("Over it"), stop(), open()] {
            damaged(engine.submit(&here(), &person(), command).await, "session cli:k3yk3y8x");
        }
        let found = findings(&verify(&engine).await);
        assert!(found.len() == 1 && found[0].contains("cli:k3yk3y8x"), "{count}: {found:?}");
    }
}
