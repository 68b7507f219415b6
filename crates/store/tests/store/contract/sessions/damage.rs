//! Damage is reported, kept as it is, and costs nothing but itself.

use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::Engine;
use planwright_engine::ledger::LedgerError;

use crate::commands::*;
use crate::stores::Store;
use crate::verification::{assert_no_gaps, assert_whole, chain, findings, verify, whats};

pub(crate) fn here() -> SessionIdentity {
    session("cli:k3yk3y8x")
}

/// Three ready plans, the third of them active, and another session that nothing happens to.
pub(crate) async fn three_plans(store: &Store) -> Engine {
    let engine = store.engine().await;
    for n in 1..=3 {
        ready(&engine, &here(), &format!("# Plan {n}")).await;
    }
    ready(&engine, &session("web:bystander"), "# Bystander").await;
    engine
}

pub(crate) const BYSTANDER: &str = "web:bystander";

pub(crate) async fn a_damaged_plan_is_reported_and_never_overwritten(store: &Store) {
    let engine = three_plans(store).await;
    let plans = engine.plans().list(&here(), None, 10).await.unwrap().items;
    let damaged_id = &plans.iter().find(|plan| plan.number == 2).unwrap().id;
    assert_eq!(store.tamper("UPDATE plan SET body = substr(body, 1, 40) WHERE number = 2").await, 1);
    let kept = store.look("SELECT body FROM plan WHERE number = 2").await;

    damaged(engine.plans().get(&here(), damaged_id).await, "plan");
    damaged(engine.plans().find(&here(), Some(&"2".parse().unwrap())).await, "plan");
    for command in [reject(damaged_id), cancel(damaged_id), revise(damaged_id)] {
        damaged(engine.submit(&here(), &person(), command).await, "plan");
    }
    // The others are listed, read and decided about.
    let page = engine.plans().list(&here(), None, 10).await.unwrap();
    let mut listed: Vec<_> = page.items.iter().map(|plan| plan.number).collect();
    listed.retain(|number| *number != 2);
    assert_eq!(listed, [3, 1]);
    for number in ["1", "3"] {
        let plan = engine.plans().find(&here(), Some(&number.parse().unwrap())).await.unwrap();
        engine.submit(&here(), &person(), approve(&plan)).await.unwrap();
    }
    let (stored, rows) = engine.ledger().stored_plans(&here()).await.unwrap();
    assert_eq!(stored.len(), 2);
    assert_eq!(whats(&rows), ["plan 2 of cli:k3yk3y8x"]);

    let report = chain(&engine, &here()).await;
    assert_eq!(report.damage, None);
    assert_eq!(whats(&report.disagreements), ["plan 2 of cli:k3yk3y8x"]);
    assert!(chain(&engine, &session(BYSTANDER)).await.is_whole());
    assert_eq!(store.look("SELECT body FROM plan WHERE number = 2").await, kept);
}

pub(crate) async fn a_damaged_active_plan_stops_only_drafting(store: &Store) {
    let engine = three_plans(store).await;
    store.tamper("UPDATE plan SET body = 'rubbish' WHERE number = 3").await;
    damaged(engine.submit(&here(), &agent(), set("# Over it")).await, "plan");
    damaged(engine.plans().active(&here()).await, "plan");
    let first = engine.plans().find(&here(), Some(&"1".parse().unwrap())).await.unwrap();
    engine.submit(&here(), &person(), approve(&first)).await.unwrap();
    engine.sessions().disable_plan_mode(&here(), &person()).await.unwrap();
    // Work continues with a new plan, and the damaged one can still be read.
    let fourth = ready(&engine, &here(), "# Plan 4").await;
    assert_eq!(fourth.number, 4);
    assert_eq!(store.look("SELECT body FROM plan WHERE number = 3").await, "rubbish");
    let report = chain(&engine, &here()).await;
    assert_eq!(whats(&report.disagreements), ["plan 3 of cli:k3yk3y8x"]);
}

pub(crate) async fn a_plan_that_says_it_is_another_is_found(store: &Store) {
    let engine = three_plans(store).await;
    let other = store.look("SELECT body FROM plan WHERE number = 1 AND title = 'Plan 1'").await;
    store.tamper(&format!("UPDATE plan SET body = '{}' WHERE number = 2", other.replace('\'', "''"))).await;
    let report = chain(&engine, &here()).await;
    assert!(report.disagreements.iter().any(|row| row.what == "plan 2 of cli:k3yk3y8x"), "{report:?}");
}

pub(crate) async fn a_damaged_status_is_listed_beside_the_others(store: &Store) {
    let engine = three_plans(store).await;
    store.tamper("UPDATE plan SET status = 'MISLAID' WHERE number = 2").await;
    let page = engine.plans().list(&here(), None, 10).await.unwrap();
    assert_eq!(page.items.iter().map(|plan| plan.number).collect::<Vec<_>>(), [3, 1]);
    assert_eq!(whats(&page.damaged), ["plan 2 of cli:k3yk3y8x"]);
    // Pages that end on it go on after it.
    let mut numbers = Vec::new();
    let mut before = None;
    loop {
        let page = engine.plans().list(&here(), before, 1).await.unwrap();
        numbers.extend(page.items.iter().map(|plan| plan.number));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(numbers, [3, 1]);
}

pub(crate) async fn a_damaged_session_is_reported_and_never_overwritten(store: &Store) {
    for tampering in ["state = 'rubbish'", "state = replace(state, 'k3yk3y8x', 'another1')"] {
        let store = &store.another().await;
        let engine = three_plans(store).await;
        let named = "WHERE conversation = 'k3yk3y8x'";
        assert_eq!(store.tamper(&format!("UPDATE session SET {tampering} {named}")).await, 1);
        let row = format!("SELECT state FROM session {named}");
        let kept = store.look(&row).await;

        damaged(engine.ledger().session(&here()).await, "session cli:k3yk3y8x");
        damaged(engine.sessions().snapshot(&here()).await, "session cli:k3yk3y8x");
        for command in [open(), set("# More"), off(), reset(), import("old-plan")] {
            damaged(engine.submit(&here(), &person(), command).await, "session cli:k3yk3y8x");
        }
        let page = engine.sessions().list(None, 10).await.unwrap();
        assert_eq!(page.items.iter().map(|s| s.session.identity.to_string()).collect::<Vec<_>>(), [BYSTANDER]);
        assert_eq!(whats(&page.damaged), ["session cli:k3yk3y8x"]);
        let report = verify(&engine).await;
        assert!(!report.is_whole() && report.damaged.len() == 1);
        assert!(!report.chains.is_empty() && report.chains.iter().all(|chain| chain.is_whole()), "{report:?}");
        assert_eq!(store.look(&row).await, kept, "{tampering}");
    }
}

pub(crate) async fn a_damaged_session_does_not_disturb_others(store: &Store) {
    let engine = three_plans(store).await;
    store.tamper("UPDATE session SET state = '{}' WHERE conversation = 'k3yk3y8x'").await;
    let callers = (0..60).map(|n| {
        let engine = engine.clone();
        tokio::spawn(async move {
            if n % 3 == 0 {
                damaged(engine.submit(&here(), &agent(), set("# More")).await, "session cli:k3yk3y8x");
            } else {
                ready(&engine, &nth_session(n), "# Fine").await;
            }
        })
    });
    futures::future::join_all(callers).await.into_iter().for_each(Result::unwrap);
    assert_eq!(verify(&engine).await.chains.len(), 41);
}

pub(crate) async fn a_damaged_entry_is_reported(store: &Store) {
    let engine = three_plans(store).await;
    let second = engine.plans().find(&here(), Some(&"2".parse().unwrap())).await.unwrap();
    let of_second = engine.ledger().plan_journal(&here(), &second.id).await.unwrap();
    let seq = of_second[1].as_ref().unwrap().seq;
    let tampering = "UPDATE journal SET body = 'rubbish' WHERE seq =";
    store.tamper(&format!("{tampering} {seq} AND plan_id = '{}'", second.id)).await;
    // The whole entries are listed, and the damaged one is named beside them.
    let history = engine.history().of_plan(&here(), &second.id).await.unwrap();
    assert_eq!(whats(&history.damaged), [format!("journal entry {seq}")]);
    assert_eq!(history.items.len(), of_second.len() - 1);
    let report = chain(&engine, &here()).await;
    assert_eq!(report.entries, seq - 1);
    assert!(report.damage.unwrap().contains(&format!("entry {seq} ")));
    // The state beside the journal still serves, and the journal continues after the damage.
    engine.submit(&here(), &person(), approve(&second)).await.unwrap();
    assert_eq!(engine.plans().get(&here(), &second.id).await.unwrap().status, PlanStatus::Approved);
    assert_eq!(chain(&engine, &here()).await.entries, seq - 1);
    assert!(chain(&engine, &session(BYSTANDER)).await.is_whole());
}

/// Changes the journal of our session and expects the check to name the first damaged entry.
async fn first_damage(store: &Store, tampering: &[&str], text: &str, whole_entries: u64) {
    let engine = three_plans(store).await;
    assert_whole(&engine).await;
    for sql in tampering {
        let ours = "session_id = (SELECT id FROM session WHERE conversation = 'k3yk3y8x')";
        assert!(store.tamper(&sql.replace("OURS", ours)).await > 0, "{sql}");
    }
    let report = chain(&engine, &here()).await;
    let damage = report.damage.expect("the damage was not found");
    assert!(damage.contains(text), "{damage:?} does not say {text:?}");
    assert_eq!(report.entries, whole_entries);
    assert!(chain(&engine, &session(BYSTANDER)).await.is_whole());
}

pub(crate) async fn a_changed_entry_is_found(store: &Store) {
    let tampering = "UPDATE journal SET body = replace(body, 'Plan 1', 'Plan I') WHERE seq = 4 AND OURS";
    first_damage(store, &[tampering], "entry 4 ", 3).await;
}

pub(crate) async fn a_deleted_entry_is_found(store: &Store) {
    first_damage(store, &["DELETE FROM journal WHERE seq = 4 AND OURS"], "entry 4 is missing", 3).await;
}

pub(crate) async fn swapped_entries_are_found(store: &Store) {
    let tampering = [
        "UPDATE journal SET seq = 1000 WHERE seq = 3 AND OURS",
        "UPDATE journal SET seq = 3 WHERE seq = 4 AND OURS",
        "UPDATE journal SET seq = 4 WHERE seq = 1000 AND OURS",
    ];
    first_damage(store, &tampering, "entry 3 ", 2).await;
}

pub(crate) async fn a_journal_cut_off_at_its_end_is_found(store: &Store) {
    let engine = three_plans(store).await;
    let ours = "session_id = (SELECT id FROM session WHERE conversation = 'k3yk3y8x')";
    store.tamper(&format!("DELETE FROM journal WHERE seq > 8 AND {ours}")).await;
    let report = verify(&engine).await;
    let found = findings(&report);
    assert!(found.len() == 1 && found[0].contains("cli:k3yk3y8x") && found[0].contains("entry 8"), "{found:?}");
    assert!(chain(&engine, &session(BYSTANDER)).await.is_whole());
}

pub(crate) async fn a_changed_plan_is_found(store: &Store) {
    let engine = three_plans(store).await;
    assert_whole(&engine).await;
    store.tamper("UPDATE plan SET body = replace(body, 'Plan 2', 'Plan II') WHERE number = 2").await;
    let report = chain(&engine, &here()).await;
    assert_eq!(report.damage, None);
    assert_eq!(whats(&report.disagreements), ["plan 2 of cli:k3yk3y8x"]);
}

pub(crate) async fn a_deleted_plan_is_found(store: &Store) {
    let engine = three_plans(store).await;
    store.tamper("DELETE FROM plan WHERE number = 2").await;
    let report = chain(&engine, &here()).await;
    assert_eq!(whats(&report.disagreements), ["plan 2 of cli:k3yk3y8x"]);
    refused(engine.plans().find(&here(), Some(&"2".parse().unwrap())).await, RefusalCode::NotFound);
}

pub(crate) async fn a_newer_schema_is_refused_and_left_alone(store: &Store) {
    let engine = store.engine().await;
    planning(&engine, &here(), PlanStyle::Document).await;
    drop(engine);
    store.set_schema_version(99).await;
    for _ in 0..2 {
        match store.open().await {
            Err(LedgerError::TooNew { found: 99, known: 17 }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(store.schema_version().await, "99");
    store.set_schema_version(17).await;
    assert_eq!(assert_no_gaps(&store.engine().await, &here()).await, 3);
}

pub(crate) async fn a_damaged_plan_hides_nothing_that_waits(store: &Store) {
    for tampering in [
        "body = 'rubbish'",
        "body = replace(body, 'READY', 'MISLAID')",
        "title = 'Another'",
        "updated_at = 9223372036854775807",
        "updated_at = -9223372036854775807",
    ] {
        let store = &store.another().await;
        let engine = three_plans(store).await;
        assert_eq!(store.tamper(&format!("UPDATE plan SET {tampering} WHERE number = 2")).await, 1);
        let (mut waiting, mut damaged, mut after) = (Vec::new(), Vec::new(), None);
        loop {
            let page = engine.inbox().list(after, 2).await.unwrap();
            waiting.extend(page.items.iter().map(|waiting| waiting.plan.display_title()));
            damaged.extend(page.damaged);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        waiting.sort();
        assert_eq!(waiting, ["Bystander", "Plan 1", "Plan 3"], "{tampering}");
        assert_eq!(whats(&damaged), ["plan 2 of cli:k3yk3y8x"], "{tampering}");
    }
}

pub(crate) async fn a_session_with_an_unreadable_name_hides_no_other(store: &Store) {
    let engine = three_plans(store).await;
    let chat = TransportChat("telegram:1".to_owned());
    for session in [here(), session("web:k3yk3y8x")] {
        engine.sessions().open(&session, &person()).await.unwrap();
        engine.ledger().point(&chat, &session).await.unwrap();
    }
    store.tamper("UPDATE session SET channel = 'smoke' WHERE conversation = 'k3yk3y8x' AND channel = 'web'").await;
    let with_key = engine.sessions().with_key(&here().conversation).await.unwrap();
    assert_eq!(with_key, [here()]);
    assert_eq!(store.ledger().await.pointers().await.unwrap(), [(chat, here())]);
    let page = engine.ledger().walk_sessions(None, 10).await.unwrap();
    assert_eq!((page.items.len(), page.damaged.len()), (2, 1));
}
