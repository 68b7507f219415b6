//! Plans, their journals and their versions, found and listed.

use std::collections::BTreeSet;

use planwright_core::command::{Command, ExternalCommand};
use planwright_core::ids::PlanId;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;
use planwright_engine::version_index::VersionIndexEntry;
use serde_json::json;

use crate::commands::*;
use crate::stores::Store;
use crate::verification::{assert_whole, findings, verify};

pub(crate) async fn plans_are_paged_the_newest_first(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    for n in 1..=7 {
        planning(&engine, &here, PlanStyle::Document).await;
        draft(&engine, &here, set(&format!("# Plan {n}"))).await;
    }
    ready(&engine, &session("web:k3yk3y8x"), "# Not ours").await;
    for limit in [1, 2, 3, 7, 100] {
        let (mut numbers, mut before) = (Vec::new(), None);
        loop {
            let page = engine.plans().list(&here, before, limit).await.unwrap();
            assert!(page.items.len() <= limit as usize);
            for plan in &page.items {
                assert_eq!(plan.title, format!("Plan {}", plan.number));
                assert_eq!((plan.status, plan.style), (PlanStatus::Ready, PlanStyle::Document));
                assert_eq!(engine.plans().get(&here, &plan.id).await.unwrap().number, plan.number);
            }
            numbers.extend(page.items.iter().map(|plan| plan.number));
            match page.next {
                Some(next) => before = Some(next),
                None => break,
            }
        }
        assert_eq!(numbers, [7, 6, 5, 4, 3, 2, 1], "{limit} a page");
    }
}

pub(crate) async fn plans_are_found_by_number_and_by_pieces_of_their_id(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    for id in ["alpha-one-999999", "alpha-two-000777", "100_%_", "000777"] {
        // What some databases take for a pattern is just text here.
        let command = PlanId::new(id).map(|_| import(id));
        if let Ok(command) = command {
            engine.submit(&here, &person(), command).await.unwrap();
        }
    }
    engine.submit(&session("web:k3yk3y8x"), &person(), import("alpha-elsewhere")).await.unwrap();
    let find = async |text: &str| engine.plans().find(&here, Some(&text.parse().unwrap())).await;
    let found = async |text: &str| find(text).await.unwrap().id.to_string();
    assert_eq!(found("1").await, "alpha-one-999999");
    assert_eq!(found("2").await, "alpha-two-000777");
    assert_eq!(found("alpha-two-000777").await, "alpha-two-000777");
    assert_eq!(found("ha-one").await, "alpha-one-999999");
    // A whole id counts more than a piece of another one.
    assert_eq!(found("000777").await, "000777");
    assert_eq!(found("999999").await, "alpha-one-999999");
    refused(find("alpha-").await, RefusalCode::Conflict);
    refused(find("elsewhere").await, RefusalCode::NotFound);
    refused(find("ALPHA-").await, RefusalCode::NotFound);
    refused(find("______").await, RefusalCode::NotFound);
    refused(find("4000000000").await, RefusalCode::NotFound);
    refused(find("17").await, RefusalCode::NotFound);
}

pub(crate) async fn the_journal_of_a_plan_has_its_entries_and_no_others(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    let first = ready(&engine, &here, "# First").await;
    planning(&engine, &here, PlanStyle::Document).await;
    draft(&engine, &here, set("# Second")).await;
    engine.submit(&here, &person(), reject(&first.id)).await.unwrap();
    let entries = engine.ledger().plan_journal(&here, &first.id).await.unwrap();
    let entries: Vec<_> = entries.into_iter().map(Result::unwrap).collect();
    let events: Vec<_> = entries.iter().map(|entry| (entry.seq, entry.event.name())).collect();
    assert_eq!(events, [(2, "plan_created"), (3, "plan_mode_enabled"), (4, "content_set"), (8, "plan_rejected")]);
    assert!(entries.iter().all(|entry| entry.session == here && entry.event.plan() == Some(&first.id)));
}

pub(crate) async fn the_history_of_a_plan_has_its_versions(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    let plan = ready(&engine, &here, "# One").await;
    draft(&engine, &here, set("# Two")).await;
    let history = engine.history().of_plan(&here, &plan.id).await.unwrap();
    assert_eq!(history.versions.len(), 2);
    let (stored, damaged) = engine.ledger().stored_plans(&here).await.unwrap();
    assert!(damaged.is_empty());
    assert_eq!(stored[&plan.id].digest(), history.versions[1].digest);
}

/// The earlier versions are made unreadable, so nothing that reads them can succeed.
pub(crate) async fn the_author_and_the_last_change_are_found_without_the_earlier_versions(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    ready(&engine, &here, "# Version 1").await;
    for version in 2..=70 {
        draft(&engine, &here, set(&format!("# Version {version}"))).await;
    }
    let plan = engine.plans().active(&here).await.unwrap();
    assert_eq!(plan.version, 70);
    let all: BTreeSet<_> = (1..=70)
        .map(|version| VersionIndexEntry { plan: plan.id.clone(), version, seq: u64::from(version) + 3 })
        .collect();
    assert_eq!(engine.ledger().version_index(&here).await.unwrap(), all);
    for version in 1..=70 {
        let entry = engine.ledger().version_entry(&here, &plan.id, version).await.unwrap().unwrap();
        assert_eq!((entry.seq, entry.event.name()), (u64::from(version) + 3, "content_set"));
    }
    assert!(engine.ledger().version_entry(&here, &plan.id, 71).await.unwrap().is_none());
    assert!(engine.ledger().version_entry(&nth_session(1), &plan.id, 1).await.unwrap().is_none());

    let early = "seq < (SELECT max(seq) - 1 FROM journal) AND version IS NOT NULL";
    assert_eq!(store.tamper(&format!("UPDATE journal SET body = 'rubbish' WHERE {early}")).await, 68);
    let author = engine.history().version_author(&plan).await.unwrap().unwrap();
    assert_eq!(author.by, agent());
    assert_eq!(engine.history().external_author(&plan).await.unwrap(), Some(agent()));
    let change = engine.history().diff_versions(&plan, None, None).await.unwrap();
    let reply = serde_json::to_string(&change).unwrap();
    assert!(reply.contains("Version 69") && reply.contains("Version 70"), "{reply}");
    damaged(engine.history().diff_versions(&plan, Some(7), None).await, "entry");
    let missing = refused(engine.history().diff_versions(&plan, Some(71), None).await, RefusalCode::NotFound);
    assert!(missing.contains("has versions 1 to 70"), "{missing}");
}

/// A version of these is frozen, so nothing that led to it is read again.
pub(crate) async fn a_built_or_collected_plan_is_compared_without_the_entries_that_led_to_it(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    planning(&engine, &here, PlanStyle::Collect).await;
    draft(&engine, &here, record(1)).await;
    let first = active(&draft(&engine, &here, finalize()).await);
    engine.plans().revise(&here, &person(), &first.id, "one more".to_owned()).await.unwrap();
    draft(&engine, &here, record(1)).await;
    draft(&engine, &here, record(22)).await;
    let second = active(&draft(&engine, &here, finalize()).await);
    assert_eq!((first.version, second.version, second.supersedes.as_ref()), (1, 1, Some(&first.id)));
    let early = "plan_id IS NOT NULL AND seq < (SELECT max(seq) FROM journal)";
    assert!(store.tamper(&format!("UPDATE journal SET body = 'rubbish' WHERE {early}")).await > 5);
    for from in [None, Some(0)] {
        let change = engine.history().diff_versions(&second, from, None).await.unwrap();
        let reply = serde_json::to_string(&change).unwrap();
        assert!(reply.contains("22"), "{reply}");
    }
}

/// Turning plan work off and on leaves one empty plan, however often.
pub(crate) async fn an_empty_plan_that_was_parked_is_used_again(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    engine.sessions().open(&here, &person()).await.unwrap();
    for _ in 0..6 {
        engine.sessions().enable_plan_mode(&here, &person(), PlanStyle::Document).await.unwrap();
        engine.sessions().disable_plan_mode(&here, &person()).await.unwrap();
        engine.sessions().ensure_plan_mode(&here, &person(), None).await.unwrap();
        engine.sessions().disable_plan_mode(&here, &person()).await.unwrap();
    }
    let plans = engine.plans().list(&here, None, 100).await.unwrap().items;
    assert_eq!(plans.iter().map(|plan| (plan.number, plan.status)).collect::<Vec<_>>(), [(1, PlanStatus::Collecting)]);
    assert_whole(&engine).await;
    // One that cannot be read is left as it is, and a new one is made.
    assert_eq!(store.tamper("UPDATE plan SET body = 'rubbish'").await, 1);
    engine.sessions().enable_plan_mode(&here, &person(), PlanStyle::Document).await.unwrap();
    assert_eq!(engine.plans().active(&here).await.unwrap().number, 2);
}

/// Each command about a round finds it, also in a process that has not seen it before.
pub(crate) async fn a_round_is_at_hand_beside_the_active_plan(store: &Store) {
    let (engine, other) = (store.engine().await, store.engine().await);
    let here = session("mcp:k3yk3y8x");
    planning(&engine, &here, PlanStyle::Document).await;
    let pay = |to: &str| {
        let (tool, arguments) = ("up__pay".to_owned(), json!({ "to": to }));
        Command::External(ExternalCommand::RecordInRound { tool, arguments })
    };
    engine.submit(&here, &agent(), pay("ada")).await.unwrap();
    other.submit(&here, &agent(), pay("bob")).await.unwrap();
    let close = Command::External(ExternalCommand::FinalizeRound { summary: None });
    let closed = engine.submit(&here, &agent(), close).await.unwrap();
    let round = closed.snapshot.round().unwrap();
    assert_eq!((round.number, round.status, round.content.steps().len()), (2, PlanStatus::Ready, 2));
    for engine in [&engine, &other] {
        let snapshot = engine.sessions().snapshot(&here).await.unwrap();
        let numbers = [snapshot.active(), snapshot.round()].map(|plan| plan.map(|plan| plan.number));
        assert_eq!(numbers, [Some(1), Some(2)]);
    }
    let waiting = engine.inbox().list(None, 10).await.unwrap().items;
    assert_eq!(waiting.iter().map(|item| (item.plan.number, item.active)).collect::<Vec<_>>(), [(2, true)]);
    assert_whole(&engine).await;
    // A round whose row is gone is not taken for one that never was.
    store.tamper("DELETE FROM plan WHERE number = 2").await;
    let fresh = store.engine().await;
    damaged(fresh.submit(&here, &agent(), pay("eve")).await, "plan");
}

pub(crate) async fn a_changed_index_of_versions_is_found(store: &Store) {
    let engine = store.engine().await;
    let here = session("cli:k3yk3y8x");
    ready(&engine, &here, "# Version 1").await;
    draft(&engine, &here, set("# Version 2")).await;
    // A version that the index does not know is found by replaying the journal.
    store.tamper("UPDATE journal SET version = NULL").await;
    assert_whole(&engine).await;
    let plan = engine.plans().active(&here).await.unwrap();
    assert_eq!(engine.history().version_author(&plan).await.unwrap().unwrap().by, agent());
    let change = serde_json::to_string(&engine.history().diff_versions(&plan, None, None).await.unwrap()).unwrap();
    assert!(change.contains("Version 1") && change.contains("Version 2"), "{change}");
    store.tamper("UPDATE journal SET version = 2 WHERE seq = 4").await;
    let found = findings(&verify(&engine).await);
    assert!(found.len() == 1 && found[0].contains("the index of version 2"), "{found:?}");
}
