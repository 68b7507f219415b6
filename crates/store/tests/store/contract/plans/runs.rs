//! How the steps of a plan went, in rows of their own: they come back with the plan, and damage to one is damage to it.

use jiff::Timestamp;
use planwright_core::command::{Command, EndedStep, ExecutionCommand, StepOutcome};
use planwright_core::ids::{ExecutionId, PlanId, StepId};
use planwright_core::plan::execution::{Execution, StepState, StepStatus};
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_engine::Engine;
use planwright_engine::ledger::Submission;

use crate::commands::*;
use crate::contract::damage::{BYSTANDER, here};
use crate::stores::Store;
use crate::verification::{assert_whole, chain, verify, whats};

/// An approved plan of this many recorded calls that is being carried out.
pub(crate) async fn executing(engine: &Engine, steps: usize) -> Plan {
    planning(engine, &here(), PlanStyle::Collect).await;
    for n in 1..=steps {
        draft(engine, &here(), record(n)).await;
    }
    draft(engine, &here(), finalize()).await;
    let plan = engine.plans().active(&here()).await.unwrap();
    engine.submit(&here(), &person(), approve(&plan)).await.unwrap();
    let started = engine.submit(&here(), &person(), resume(&plan.id)).await.unwrap();
    started.snapshot.plan(&plan.id).unwrap().clone()
}

fn nth(n: usize) -> StepId {
    StepId::new(format!("s{n}")).unwrap()
}

fn execution(plan: &Plan) -> ExecutionId {
    plan.execution.as_ref().unwrap().id.clone()
}

fn begin(plan: &Plan, n: usize) -> Command {
    Command::Execution(ExecutionCommand::Advance {
        plan: plan.id.clone(),
        execution: execution(plan),
        ended: Vec::new(),
        begun: vec![nth(n)],
    })
}

fn end(plan: &Plan, n: usize, note: &str) -> Command {
    let outcome = StepOutcome { status: StepStatus::Completed, note: Some(note.to_owned()), evidence: None };
    Command::Execution(ExecutionCommand::Advance {
        plan: plan.id.clone(),
        execution: execution(plan),
        ended: vec![EndedStep {
            step: nth(n),
            outcome,
            changes: planwright_core::workspace::CallChanges::default(),
            permissions: planwright_core::plan::execution::PermissionCounts::default(),
        }],
        begun: Vec::new(),
    })
}

pub(crate) async fn carry_out(engine: &Engine, plan: &Plan, n: usize, note: &str) -> Plan {
    engine.submit(&here(), &agent(), begin(plan, n)).await.unwrap();
    let ended = engine.submit(&here(), &agent(), end(plan, n, note)).await.unwrap();
    ended.snapshot.plan(&plan.id).unwrap().clone()
}

async fn count(store: &Store, what: &str) -> String {
    store.look(&format!("SELECT CAST(count(*) AS TEXT) FROM {what}")).await
}

fn when(at: Timestamp, mut submission: Submission) -> Submission {
    submission.context.at = at;
    submission
}

pub(crate) async fn every_outcome_comes_back(store: &Store) {
    let engine = store.engine().await;
    let mut plan = executing(&engine, 12).await;
    // Every other one through another handle, which has read the plan afresh.
    let engines = [&engine, &store.engine().await];
    let notes = ["", "NUL \0", "it's \"done\" \\ '; DROP TABLE step_run; --", "żółć 漢字 \u{202e}\u{ffff}"];
    for n in 1..=9 {
        plan = carry_out(engines[n % 2], &plan, n, notes[n % notes.len()]).await;
        for reader in [engines[0], engines[1], &store.engine().await] {
            assert_eq!(*reader.plans().get(&here(), &plan.id).await.unwrap(), plan);
        }
    }
    let runs = &plan.execution.as_ref().unwrap().steps;
    let done = runs.iter().filter(|run| run.status == StepStatus::Completed).map(|run| run.note.as_deref().unwrap());
    assert_eq!(done.collect::<Vec<_>>(), (1..=9).map(|n| notes[n % notes.len()]).collect::<Vec<_>>());
    assert_whole(&engine).await;
    // The list says when the plan changed, not when its own row did.
    let listed = engine.plans().list(&here(), None, 10).await.unwrap().items;
    assert_eq!(listed[0].updated_at, plan.updated_at);
    assert!(plan.updated_at > plan.execution.as_ref().unwrap().started_at);
}

pub(crate) async fn a_step_rewrites_its_own_row_and_no_other(store: &Store) {
    let engine = store.engine().await;
    let plan = executing(&engine, 5).await;
    let row = "SELECT body FROM plan WHERE number = 1";
    let mut kept = vec![store.look(row).await];
    let run = |n: usize| format!("SELECT body FROM step_run WHERE position = {n}");
    for n in [1, 2, 4, 5] {
        kept.push(store.look(&run(n)).await);
    }
    carry_out(&engine, &plan, 3, "done").await;
    let mut now = vec![store.look(row).await];
    for n in [1, 2, 4, 5] {
        now.push(store.look(&run(n)).await);
    }
    assert_eq!(now, kept);
    assert!(store.look(&run(3)).await.contains("done"));
    // The plan's row has nothing in it that would have to change with a step.
    assert!(!kept[0].contains("PENDING"), "{}", kept[0]);
    assert_whole(&engine).await;
}

pub(crate) async fn a_plan_of_many_steps_is_carried_out(store: &Store) {
    let engine = store.engine().await;
    let mut plan = executing(&engine, 120).await;
    for n in 1..=120 {
        plan = carry_out(&engine, &plan, n, &format!("outcome {n}")).await;
    }
    let (id, execution) = (plan.id.clone(), execution(&plan));
    let finish = Command::Execution(ExecutionCommand::Finish { plan: id, execution, ended: Vec::new() });
    let finished = engine.submit(&here(), &agent(), finish).await.unwrap();
    assert_eq!(active(&finished).status, PlanStatus::Completed);
    let read = store.engine().await.plans().get(&here(), &plan.id).await.unwrap();
    assert_eq!(*read, *active(&finished));
    let notes = read.execution.as_ref().unwrap().steps.iter().map(|run| run.note.clone().unwrap());
    assert!(notes.eq((1..=120).map(|n| format!("outcome {n}"))));
    assert_whole(&engine).await;
}

/// Time is what the clock said, also when it was set back.
pub(crate) async fn a_plan_changed_when_its_last_step_did(store: &Store) {
    let engine = store.engine().await;
    let plan = executing(&engine, 2).await;
    for at in ["2031-05-05T05:05:05.123456789Z", "2001-01-01T00:00:00.000000001Z"] {
        let at: Timestamp = at.parse().unwrap();
        let command = if at > plan.updated_at { begin(&plan, 1) } else { end(&plan, 1, "done") };
        engine
            .ledger()
            .submit(when(at, submission(&here(), &at.to_string().replace(['.', ':'], "-"), command)))
            .await
            .unwrap();
        let reader = store.engine().await;
        assert_eq!(reader.plans().get(&here(), &plan.id).await.unwrap().updated_at, at);
        assert_eq!(reader.plans().list(&here(), None, 1).await.unwrap().items[0].updated_at, at);
        assert_whole(&reader).await;
    }
    engine.submit(&here(), &person(), cancel(&plan.id)).await.unwrap();
    assert_whole(&store.engine().await).await;
}

pub(crate) async fn the_next_execution_takes_the_place_of_the_one_before(store: &Store) {
    let engine = store.engine().await;
    planning(&engine, &here(), PlanStyle::Document).await;
    draft(&engine, &here(), set("# Long\n\n1. a\n2. b\n3. c")).await;
    let plan = engine.plans().active(&here()).await.unwrap();
    engine.submit(&here(), &person(), approve(&plan)).await.unwrap();
    for status in [StepStatus::Completed, StepStatus::Failed, StepStatus::Skipped] {
        engine.submit(&here(), &agent(), report(status)).await.unwrap();
    }
    assert_eq!(engine.plans().active(&here()).await.unwrap().status, PlanStatus::PartiallyCompleted);
    let resumed = engine.submit(&here(), &person(), resume(&plan.id)).await.unwrap();
    let again = store.engine().await.plans().active(&here()).await.unwrap();
    assert_eq!(*again, *active(&resumed));
    let runs = again.execution.as_ref().unwrap().steps.iter().map(|run| run.status);
    assert_eq!(runs.collect::<Vec<_>>(), [StepStatus::Completed, StepStatus::Pending, StepStatus::Pending]);
    assert_eq!((count(store, "step_run").await, count(store, "execution").await), ("3".to_owned(), "1".to_owned()));
    assert_whole(&engine).await;
}

/// A plan of the older format has outcomes of steps that its text does not have.
pub(crate) async fn an_execution_may_have_fewer_steps_than_the_one_before(store: &Store) {
    let engine = store.engine().await;
    let Command::Import(mut imported) = import("older-plan") else { unreachable!() };
    let runs = ["a", "b", "c"].map(|name| StepState::pending(StepId::new(name).unwrap(), name.to_owned()));
    imported.status = PlanStatus::PartiallyCompleted;
    imported.execution = Some(Execution {
        id: ExecutionId::from(&imported.id),
        number: 1,
        steps: runs.into(),
        started_at: at(0),
        finished_at: Some(at(1)),
        pause: None,
    });
    let id = imported.id.clone();
    engine.submit(&here(), &person(), Command::Import(imported)).await.unwrap();
    assert_eq!((count(store, "step_run").await, assert_whole(&engine).await.chains.len()), ("3".to_owned(), 1));
    let resumed = engine.submit(&here(), &person(), resume(&id)).await.unwrap();
    assert_eq!(count(store, "step_run").await, "1");
    assert_eq!(*store.engine().await.plans().get(&here(), &id).await.unwrap(), *resumed.snapshot.plan(&id).unwrap());
    assert_whole(&engine).await;
}

/// A plan that is not the active one is carried out beside the work on another.
pub(crate) async fn a_parked_plan_is_carried_out_beside_another(store: &Store) {
    let engine = store.engine().await;
    let mut plan = executing(&engine, 3).await;
    let other = ready(&engine, &here(), "# Another").await;
    for n in 1..=3 {
        plan = carry_out(&engine, &plan, n, "done").await;
        draft(&engine, &here(), set(&format!("# Another {n}"))).await;
    }
    assert_eq!(*store.engine().await.plans().get(&here(), &plan.id).await.unwrap(), plan);
    engine.submit(&here(), &person(), cancel(&plan.id)).await.unwrap();
    assert_eq!(engine.plans().active(&here()).await.unwrap().id, other.id);
    assert_whole(&engine).await;
}

/// Does this to a plan that is being carried out and expects it to be found damaged, by every reader and for good.
async fn finds_damage(store: &Store, tampering: &str) -> String {
    let store = &store.another().await;
    let engine = store.engine().await;
    ready(&engine, &session(BYSTANDER), "# Bystander").await;
    let plan = executing(&engine, 4).await;
    let plan = carry_out(&engine, &plan, 1, "done").await;
    assert!(store.tamper(tampering).await > 0, "{tampering}");
    let rows = [count(store, "step_run").await, count(store, "execution").await];
    let seq = engine.ledger().journal(&here(), 0, 1_000).await.unwrap().len();

    for engine in [&engine, &store.engine().await] {
        damaged(engine.plans().get(&here(), &plan.id).await, "plan 1 of cli:k3yk3y8x");
        damaged(engine.plans().active(&here()).await, "plan 1 of cli:k3yk3y8x");
        for command in [begin(&plan, 2), cancel(&plan.id), resume(&plan.id)] {
            damaged(engine.submit(&here(), &person(), command).await, "plan 1 of cli:k3yk3y8x");
        }
    }
    let (stored, rows_damaged) = engine.ledger().stored_plans(&here()).await.unwrap();
    assert!(stored.is_empty());
    assert_eq!(whats(&rows_damaged), ["plan 1 of cli:k3yk3y8x"]);
    let report = chain(&engine, &here()).await;
    assert_eq!(report.damage, None);
    assert_eq!(whats(&report.disagreements), ["plan 1 of cli:k3yk3y8x"]);
    assert!(chain(&engine, &session(BYSTANDER)).await.is_whole());
    // Nothing was written, and nothing mended.
    assert_eq!([count(store, "step_run").await, count(store, "execution").await], rows);
    assert_eq!(engine.ledger().journal(&here(), 0, 1_000).await.unwrap().len(), seq);
    rows_damaged[0].reason.clone()
}

pub(crate) async fn a_missing_outcome_is_found(store: &Store) {
    let first = finds_damage(store, "DELETE FROM step_run WHERE position = 1").await;
    assert!(first.contains("step 2 where that of step 1"), "{first}");
    let last = finds_damage(store, "DELETE FROM step_run WHERE position = 4").await;
    assert!(last.contains("has 4 steps") && last.contains("of 3"), "{last}");
    finds_damage(store, "DELETE FROM step_run").await;
    let row = finds_damage(store, "DELETE FROM execution").await;
    assert!(row.contains("the row of its execution is missing"), "{row}");
}

pub(crate) async fn an_outcome_too_many_is_found(store: &Store) {
    let copy = "INSERT INTO step_run (plan_id, position, body) SELECT plan_id, position + 4, body FROM step_run";
    let more = finds_damage(store, &format!("{copy} WHERE position = 1")).await;
    assert!(more.contains("has 4 steps") && more.contains("of 5"), "{more}");
    finds_damage(store, "UPDATE step_run SET position = 0 WHERE position = 1").await;
    finds_damage(store, "UPDATE execution SET steps = 3").await;
}

pub(crate) async fn a_damaged_outcome_is_found(store: &Store) {
    let reason = finds_damage(store, "UPDATE step_run SET body = substr(body, 1, 20) WHERE position = 2").await;
    assert!(reason.contains("the outcome of step 2 cannot be read"), "{reason}");
    finds_damage(store, "UPDATE step_run SET body = '' WHERE position = 4").await;
    finds_damage(store, "UPDATE execution SET updated_at = 'yesterday'").await;
}

/// A plan that has no execution has no outcomes.
pub(crate) async fn outcomes_beside_a_plan_that_has_none_are_found(store: &Store) {
    for tampering in [
        "INSERT INTO step_run (plan_id, position, body) SELECT id, 1, '{}' FROM plan WHERE number = 1",
        "INSERT INTO execution (plan_id, steps, NAMES) SELECT id, 0, VALUES FROM plan WHERE number = 1",
    ] {
        let store = &store.another().await;
        let engine = store.engine().await;
        let plan = ready(&engine, &here(), "# Nothing done").await;
        let (names, values) = match store {
            Store::Sqlite { .. } => ("seq, updated_at", "seq, '2027-01-01T00:00:00Z'"),
            Store::Postgres { .. } => ("updated_at", "'2027-01-01T00:00:00Z'"),
        };
        assert_eq!(store.tamper(&tampering.replace("NAMES", names).replace("VALUES", values)).await, 1);
        damaged(store.engine().await.plans().get(&here(), &plan.id).await, "plan 1");
        damaged(engine.submit(&here(), &person(), approve(&plan)).await, "plan 1");
        assert_eq!(whats(&chain(&engine, &here()).await.disagreements), ["plan 1 of cli:k3yk3y8x"]);
    }
}

/// What can be read and is not what the journal says.
pub(crate) async fn a_changed_outcome_is_found(store: &Store) {
    for tampering in [
        "UPDATE step_run SET body = replace(body, 'done', 'undone') WHERE position = 1",
        "UPDATE step_run SET body = (SELECT body FROM step_run WHERE position = 3) WHERE position = 2",
        "UPDATE execution SET updated_at = '2027-01-01T00:00:00Z'",
    ] {
        let store = &store.another().await;
        let engine = store.engine().await;
        let plan = executing(&engine, 4).await;
        carry_out(&engine, &plan, 1, "done").await;
        assert_whole(&engine).await;
        assert_eq!(store.tamper(tampering).await, 1);
        let report = chain(&engine, &here()).await;
        assert_eq!(whats(&report.disagreements), ["plan 1 of cli:k3yk3y8x"], "{tampering}");
    }
}

/// A plan that is gone leaves its outcomes behind, and they are named.
pub(crate) async fn outcomes_of_a_lost_plan_are_reported(store: &Store) {
    let engine = store.engine().await;
    let plan: PlanId = executing(&engine, 2).await.id;
    assert_eq!(store.tamper("DELETE FROM plan").await, 1);
    let report = verify(&engine).await;
    let listed = "1 rows of plans that wait that belong to nothing".to_owned();
    assert_eq!(whats(&report.damaged), [format!("outcomes of plan {plan} that has no row"), listed]);
}

/// The last thing that happened was a step; without its entry nothing more is written.
pub(crate) async fn a_journal_cut_off_after_a_step_is_found(store: &Store) {
    let engine = store.engine().await;
    let plan = executing(&engine, 3).await;
    let plan = carry_out(&engine, &plan, 1, "done").await;
    assert_eq!(store.tamper("DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal)").await, 1);
    for engine in [&engine, &store.engine().await] {
        damaged(engine.ledger().session(&here()).await, "session cli:k3yk3y8x");
        damaged(engine.submit(&here(), &agent(), begin(&plan, 2)).await, "session cli:k3yk3y8x");
        assert!(!verify(engine).await.is_whole());
    }
}
