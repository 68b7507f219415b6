//! Rows that are gone, or stand where they do not belong, are found; nothing is written over what is left.

use planwright_core::command::{Command, SessionCommand};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::execution::StepStatus;
use planwright_engine::Engine;

use crate::commands::*;
use crate::contract::damage::{BYSTANDER, here, three_plans};
use crate::stores::Store;
use crate::verification::{assert_no_gaps, assert_whole, chain, findings, verify, whats};

const OURS: &str = "session_id = (SELECT id FROM session WHERE conversation = 'k3yk3y8x')";

fn ensure(style: Option<PlanStyle>) -> Command {
    Command::Session(SessionCommand::EnsurePlanMode { style, parked: None })
}

/// Everything a person or an agent could try on a session.
fn attempts() -> [Command; 9] {
    [
        open(),
        set("# More"),
        on(PlanStyle::Build),
        ensure(None),
        off(),
        done(),
        reset(),
        import("old-plan"),
        report(StepStatus::Completed),
    ]
}

/// How many rows there are altogether.
async fn rows(store: &Store) -> Vec<String> {
    let mut counts = Vec::new();
    for table in ["session", "journal", "plan"] {
        counts.push(store.look(&format!("SELECT CAST(count(*) AS TEXT) FROM {table}")).await);
    }
    counts
}

/// The session is damaged for every caller and takes no more writes; other sessions are not affected.
async fn is_damaged_and_kept(store: &Store, engine: &Engine) {
    let before = rows(store).await;
    damaged(engine.ledger().session(&here()).await, "session cli:k3yk3y8x");
    damaged(engine.sessions().snapshot(&here()).await, "session cli:k3yk3y8x");
    for command in attempts() {
        damaged(engine.submit(&here(), &agent(), command).await, "session cli:k3yk3y8x");
    }
    assert_eq!(rows(store).await, before);
    let page = engine.sessions().list(None, 10).await.unwrap();
    assert_eq!(page.items.iter().map(|s| s.session.identity.to_string()).collect::<Vec<_>>(), [BYSTANDER]);
    assert_eq!(whats(&page.damaged), ["session cli:k3yk3y8x"]);
    let report = verify(engine).await;
    assert_eq!(whats(&report.damaged), ["session cli:k3yk3y8x"]);
    assert!(report.chains.len() == 1 && report.chains[0].is_whole(), "{report:?}");
    draft(engine, &session(BYSTANDER), set("# Goes on")).await;
}

pub(crate) async fn a_session_whose_journal_is_gone_takes_nothing_more(store: &Store) {
    let engine = three_plans(store).await;
    assert!(store.tamper(&format!("DELETE FROM journal WHERE {OURS}")).await > 0);
    is_damaged_and_kept(store, &engine).await;
}

pub(crate) async fn a_journal_without_its_last_entry_takes_nothing_more(store: &Store) {
    // Whatever the last entry was about: the active plan, the mode, neither, or, at the end, a plan that is not active.
    let last =
        [Some(set("# Last")), Some(off()), Some(reset()), Some(on(PlanStyle::Collect)), Some(import("old-plan")), None];
    for last in last {
        let store = &store.another().await;
        let engine = three_plans(store).await;
        let first = engine.plans().find(&here(), Some(&"1".parse().unwrap())).await.unwrap();
        let last = last.unwrap_or_else(|| reject(&first.id));
        engine.submit(&here(), &person(), last).await.unwrap();
        let cut = format!("DELETE FROM journal WHERE {OURS} AND seq = (SELECT max(seq) FROM journal WHERE {OURS})");
        assert_eq!(store.tamper(&cut).await, 1);
        is_damaged_and_kept(store, &engine).await;
    }
}

pub(crate) async fn a_journal_with_a_forged_entry_at_its_end_is_found(store: &Store) {
    let engine = three_plans(store).await;
    let forged = format!(
        "INSERT INTO journal (session_id, seq, plan_id, hash, body) SELECT session_id, seq + 1, plan_id, hash, body
         FROM journal WHERE {OURS} AND seq = (SELECT max(seq) FROM journal WHERE {OURS})"
    );
    assert_eq!(store.tamper(&forged).await, 1);
    let report = verify(&engine).await;
    let whole: Vec<_> = report.chains.iter().filter(|chain| chain.is_whole()).collect();
    assert!(!report.is_whole() && whole.len() == 1, "{report:?}");
    assert_eq!(whole[0].session, session(BYSTANDER));
}

pub(crate) async fn what_a_deleted_session_leaves_behind_is_reported(store: &Store) {
    for (gone, kept, entries, plans) in [(here(), session(BYSTANDER), 10, 3), (session(BYSTANDER), here(), 4, 1)] {
        let store = &store.another().await;
        let engine = three_plans(store).await;
        assert_eq!(engine.ledger().orphans().await.unwrap(), []);
        let delete = format!("DELETE FROM session WHERE conversation = '{}'", gone.conversation.as_str());
        assert_eq!(store.tamper(&delete).await, 1);
        let orphans = engine.ledger().orphans().await.unwrap();
        assert_eq!(orphans[0].what, format!("{entries} journal entries of a session that has no row"));
        let left = orphans.iter().filter(|row| row.what.starts_with("plan ")).count();
        assert_eq!((left, orphans.len()), (plans, plans + 2), "{orphans:?}");
        let (found_by, rows) = orphans.split_last().unwrap();
        assert!(rows.iter().all(|row| row.what.ends_with(" of a session that has no row")), "{rows:?}");
        assert_eq!(found_by.what, "1 texts for searches that belong to nothing");

        let report = verify(&engine).await;
        assert_eq!(report.damaged, orphans);
        assert!(
            report.chains.len() == 1 && report.chains[0].session == kept && report.chains[0].is_whole(),
            "{report:?}"
        );
        // A session of the same name begins anew and takes over nothing.
        ready(&engine, &gone, "# Anew").await;
        assert_eq!(assert_no_gaps(&engine, &gone).await, 4);
        assert_eq!(engine.plans().active(&gone).await.unwrap().number, 1);
        let report = verify(&engine).await;
        assert_eq!(report.damaged, orphans);
        assert!(report.chains.len() == 2 && report.chains.iter().all(|chain| chain.is_whole()));
    }
}

pub(crate) async fn many_orphans_are_named_in_part(store: &Store) {
    let engine = store.engine().await;
    for n in 0..30 {
        ready(&engine, &nth_session(n), "# Lost").await;
    }
    store.tamper("DELETE FROM session").await;
    let orphans = engine.ledger().orphans().await.unwrap();
    assert!((10..=40).contains(&orphans.len()), "{}", orphans.len());
    assert_eq!(verify(&engine).await.damaged, orphans);
}

pub(crate) async fn a_plan_whose_row_says_something_else_is_found(store: &Store) {
    let engine = three_plans(store).await;
    let second = engine.plans().find(&here(), Some(&"2".parse().unwrap())).await.unwrap();
    for (change, back, named) in [
        ("status = 'COMPLETED'", "status = 'READY'", "status"),
        ("title = 'Plan II'", "title = 'Plan 2'", "title"),
        ("title = ''", "title = 'Plan 2'", "title"),
        ("style = 'build'", "style = 'document'", "style"),
    ] {
        assert_eq!(store.tamper(&format!("UPDATE plan SET {change} WHERE number = 2")).await, 1);
        let (stored, rows) = engine.ledger().stored_plans(&here()).await.unwrap();
        assert_eq!(stored.len(), 2);
        assert_eq!(whats(&rows), ["plan 2 of cli:k3yk3y8x"]);
        assert!(rows[0].reason.contains("its row says") && rows[0].reason.contains(named), "{rows:?}");
        let report = chain(&engine, &here()).await;
        assert_eq!(whats(&report.disagreements), ["plan 2 of cli:k3yk3y8x"]);
        damaged(engine.plans().get(&here(), &second.id).await, "plan 2 of cli:k3yk3y8x");
        damaged(engine.submit(&here(), &person(), approve(&second)).await, "plan 2 of cli:k3yk3y8x");
        assert!(chain(&engine, &session(BYSTANDER)).await.is_whole());
        store.tamper(&format!("UPDATE plan SET {back} WHERE number = 2")).await;
        assert_whole(&engine).await;
    }
}

pub(crate) async fn a_plan_that_was_moved_is_found(store: &Store) {
    let engine = three_plans(store).await;
    store.tamper("UPDATE plan SET number = 7 WHERE number = 2").await;
    let report = chain(&engine, &here()).await;
    assert!(whats(&report.disagreements).contains(&"plan 7 of cli:k3yk3y8x"), "{report:?}");
    let theirs = "(SELECT id FROM session WHERE conversation = 'bystander')";
    store.tamper(&format!("UPDATE plan SET session_id = {theirs} WHERE number = 7")).await;
    assert!(whats(&chain(&engine, &here()).await.disagreements).contains(&"plan 2 of cli:k3yk3y8x"));
    let found = findings(&verify(&engine).await);
    assert!(found.iter().any(|found| found.contains(BYSTANDER)), "{found:?}");
}

pub(crate) async fn plans_that_swapped_their_content_are_found(store: &Store) {
    let engine = three_plans(store).await;
    let first = engine.plans().find(&here(), Some(&"1".parse().unwrap())).await.unwrap();
    let second = engine.plans().find(&here(), Some(&"2".parse().unwrap())).await.unwrap();
    let body = |plan| format!("SELECT body FROM plan WHERE id = '{plan}'");
    let bodies = [store.look(&body(&first.id)).await, store.look(&body(&second.id)).await];
    for (plan, body) in [(&first, &bodies[1]), (&second, &bodies[0])] {
        let body = body.replace('\'', "''");
        assert_eq!(store.tamper(&format!("UPDATE plan SET body = '{body}' WHERE id = '{}'", plan.id)).await, 1);
    }
    let report = chain(&engine, &here()).await;
    assert_eq!(whats(&report.disagreements), ["plan 1 of cli:k3yk3y8x", "plan 2 of cli:k3yk3y8x"]);
    for plan in [&first, &second] {
        damaged(engine.plans().get(&here(), &plan.id).await, "plan");
        for command in [approve(plan), cancel(&plan.id), revise(&plan.id)] {
            damaged(engine.submit(&here(), &person(), command).await, "plan");
        }
    }
    assert_eq!([store.look(&body(&second.id)).await, store.look(&body(&first.id)).await], bodies);
}

/// Plan work cannot be ensured without knowing the active plan, and nothing new is begun in its place.
async fn nothing_is_begun_beside(store: &Store, engine: &Engine) {
    let before = rows(store).await;
    for style in [None, Some(PlanStyle::Document), Some(PlanStyle::Collect)] {
        damaged(engine.sessions().ensure_plan_mode(&here(), &person(), style).await, "plan");
    }
    damaged(engine.submit(&here(), &agent(), set("# Over it")).await, "plan");
    damaged(engine.submit(&here(), &agent(), report(StepStatus::Completed)).await, "plan");
    assert_eq!(rows(store).await, before);
    // A person can leave it behind.
    engine.sessions().disable_plan_mode(&here(), &person()).await.unwrap();
    engine.sessions().ensure_plan_mode(&here(), &person(), None).await.unwrap();
    assert_eq!(engine.plans().active(&here()).await.unwrap().number, 4);
    assert!(!chain(engine, &here()).await.is_whole());
}

pub(crate) async fn no_plan_is_begun_beside_an_unreadable_one(store: &Store) {
    let engine = three_plans(store).await;
    store.tamper("UPDATE plan SET body = 'rubbish' WHERE number = 3").await;
    nothing_is_begun_beside(store, &engine).await;
    assert_eq!(store.look("SELECT body FROM plan WHERE number = 3").await, "rubbish");
}

pub(crate) async fn no_plan_is_begun_beside_one_that_is_gone(store: &Store) {
    let engine = three_plans(store).await;
    assert_eq!(store.tamper("DELETE FROM plan WHERE number = 3").await, 1);
    nothing_is_begun_beside(store, &engine).await;
}
