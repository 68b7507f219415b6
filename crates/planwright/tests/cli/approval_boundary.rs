//! What might be taken for a decision and is none, on every surface that there is. Each cell of the table drives the real
//! program; afterwards the store has exactly the approvals and statuses that it had before.
#![cfg(target_os = "linux")]

mod chats;
mod command_line;
mod mcp;

use std::panic::{AssertUnwindSafe, catch_unwind};

use planwright_core::actor::Actor;
use planwright_core::plan::approval::Selection;
use planwright_core::session::SessionIdentity;
use serde_json::json;

use self::chats::{Pipe, Screen};
use crate::world::{SESSION, World};

const OTHER_SESSION: &str = "mcp:session-two";
const NEWER: &str = "# Move the tables\n\n- [ ] delete the backups\n";

/// What happens instead of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Danger {
    Interrupt,
    TimeOut,
    Disconnect,
    Restart,
    Compaction,
    ModelSaysSo,
    OldApproval,
    ChangedText,
    OtherSession,
    OtherPlan,
    Superseded,
}

#[derive(Clone, Copy)]
enum Cell {
    Drive(fn(&World)),
    /// Why this cannot happen there.
    Never(&'static str),
}

use Cell::{Drive, Never};

const NO_CONVERSATION: Cell = Never("there is no conversation of ours that could be compacted");

/// For each danger: a chat in a pipe, a chat on a terminal, the command line, an agent over MCP.
const TABLE: [(Danger, [Cell; 4]); 11] = [
    (
        Danger::Interrupt,
        [
            Drive(chats::interrupted),
            Drive(chats::cleared_line),
            Drive(command_line::interrupted),
            Drive(mcp::interrupted),
        ],
    ),
    (
        Danger::TimeOut,
        [
            Drive(chats::out_of_time::<Pipe>),
            Drive(chats::out_of_time::<Screen>),
            Drive(command_line::question_stays_unanswered),
            Never("nothing is asked over MCP, so there is no answer that could be late"),
        ],
    ),
    (
        Danger::Disconnect,
        [Drive(chats::reader_is_gone), Drive(chats::hung_up), Drive(command_line::hung_up), Drive(mcp::cut_off)],
    ),
    (
        Danger::Restart,
        [
            Drive(chats::restarted::<Pipe>),
            Drive(chats::restarted::<Screen>),
            Drive(command_line::asked_again),
            Drive(mcp::restarted),
        ],
    ),
    (
        Danger::Compaction,
        [Drive(chats::compacted::<Pipe>), Drive(chats::compacted::<Screen>), NO_CONVERSATION, NO_CONVERSATION],
    ),
    (
        Danger::ModelSaysSo,
        [
            Drive(chats::model_says_so::<Pipe>),
            Drive(chats::model_says_so::<Screen>),
            Drive(command_line::text_says_so),
            Drive(mcp::says_so),
        ],
    ),
    (
        Danger::OldApproval,
        [
            Drive(chats::first_plan::<Pipe>),
            Drive(chats::first_plan::<Screen>),
            Drive(command_line::old_approval),
            Drive(mcp::approves_by_tool),
        ],
    ),
    (
        Danger::ChangedText,
        [
            Drive(chats::changed::<Pipe>),
            Drive(chats::changed::<Screen>),
            Drive(command_line::changed),
            Drive(mcp::changes_and_approves),
        ],
    ),
    (
        Danger::OtherSession,
        [
            Drive(chats::from_elsewhere::<Pipe>),
            Drive(chats::from_elsewhere::<Screen>),
            Drive(command_line::from_elsewhere),
            Drive(mcp::from_elsewhere),
        ],
    ),
    (
        Danger::OtherPlan,
        [
            Drive(chats::other_plan::<Pipe>),
            Drive(chats::other_plan::<Screen>),
            Drive(command_line::other_plan),
            Drive(mcp::approves_by_tool),
        ],
    ),
    (
        Danger::Superseded,
        [
            Drive(chats::first_plan::<Pipe>),
            Drive(chats::first_plan::<Screen>),
            Drive(command_line::superseded),
            Drive(mcp::approves_by_tool),
        ],
    ),
];

const SURFACES: [&str; 4] = ["chat in a pipe", "chat on a terminal", "command line", "MCP"];

/// The store before the danger.
fn world(danger: Danger) -> World {
    match danger {
        Danger::Interrupt
        | Danger::TimeOut
        | Danger::Disconnect
        | Danger::Restart
        | Danger::Compaction
        | Danger::ModelSaysSo
        | Danger::ChangedText => World::with_plan(),
        Danger::OldApproval => {
            let world = World::with_plan();
            approve(&world);
            // A plan with the same text is another plan: an approval of the first does not count for it.
            world.agent_drafts(SESSION, crate::world::PLAN);
            assert_eq!(world.active_plan(SESSION).number, 2);
            world
        }
        Danger::OtherSession => {
            let world = World::with_plan();
            world.agent_drafts(OTHER_SESSION, NEWER);
            world
        }
        Danger::OtherPlan => {
            let world = World::with_plan();
            world.turn_on(SESSION, planwright_core::plan::PlanStyle::Document);
            world.agent_drafts(SESSION, NEWER);
            world
        }
        Danger::Superseded => {
            let world = World::with_built_plan();
            world.run("plan revise 1 -- shorter").done();
            world.agent_calls(SESSION, "plan_submit", json!({})).unwrap();
            world
        }
    }
}

/// A person approves the plan of the session, and no process begins it.
fn approve(world: &World) {
    let session: SessionIdentity = SESSION.parse().unwrap();
    world.with_engine(async |engine| {
        let (plan, by) = (engine.plans().active(&session).await.unwrap(), Actor::person("ada", "test"));
        engine.plans().approve(&session, &by, &plan.id, plan.digest(), Selection::All, None).await.unwrap();
    });
}

/// Every decision in the store: what was approved of each plan, its status, and whether it was begun.
fn decisions(world: &World) -> Vec<String> {
    world.with_engine(async |engine| {
        let mut found = Vec::new();
        for stored in engine.ledger().sessions(None, 100).await.unwrap().items {
            let session = &stored.session.identity;
            let (plans, damaged) = engine.ledger().stored_plans(session).await.unwrap();
            assert!(damaged.is_empty(), "{damaged:?}");
            for plan in plans.values() {
                let approval = plan.approval.as_ref().map(|approval| (approval.at, approval.digest));
                let executions = plan.execution.as_ref().map(|execution| execution.number);
                found.push(format!("{session} {} {:?} {approval:?} {executions:?}", plan.number, plan.status));
            }
        }
        assert!(engine.verifier().verify_all(|_| {}).await.unwrap().is_whole());
        found.sort();
        found
    })
}

#[test]
fn nothing_but_a_persons_word_is_a_decision() {
    let drive = |column: usize| {
        let mut failed = Vec::new();
        for (danger, cells) in TABLE {
            let act = match cells[column] {
                Drive(act) => act,
                Never(why) => {
                    assert!(!why.is_empty());
                    continue;
                }
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let world = world(danger);
                let before = decisions(&world);
                act(&world);
                assert_eq!(decisions(&world), before);
            }));
            if outcome.is_err() {
                failed.push(format!("{danger:?}, {}", SURFACES[column]));
            }
        }
        failed
    };
    let failed: Vec<String> = std::thread::scope(|scope| {
        let columns: Vec<_> = (0..SURFACES.len()).map(|column| scope.spawn(move || drive(column))).collect();
        columns.into_iter().flat_map(|column| column.join().unwrap()).collect()
    });
    assert!(failed.is_empty(), "what each of them met is above: {failed:#?}");
}

/// Without a danger the words are a decision, or the table would prove nothing.
#[test]
fn a_persons_word_is_a_decision() {
    for act in [chats::approves::<Pipe> as fn(&World), chats::approves::<Screen>, command_line::approves] {
        let world = World::with_plan();
        let before = decisions(&world);
        act(&world);
        assert_ne!(decisions(&world), before);
        assert!(world.active_plan(SESSION).approval.is_some());
    }
}

/// What is typed in a chat about the plan of another session.
fn id_elsewhere(world: &World) -> String {
    world.active_plan(OTHER_SESSION).id.to_string()
}
