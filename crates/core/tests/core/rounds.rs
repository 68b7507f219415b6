//! Rounds: what an external agent wants to change, recorded beside its plan, approved, and made before it goes on.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, ExecutionCommand, ExternalCommand};
use planwright_core::gate::ToolEffect;
use planwright_core::gateway::{GatewayCall, GatewayDecision, GatewayOptions, GatewayWork, decide_gateway};
use planwright_core::ids::PlanId;
use planwright_core::permission::{Permission, PermissionOutcome, PermissionReason};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;
use serde_json::{Value, json};

use crate::journal::replay;
use crate::world::*;

fn pay(to: &str) -> Command {
    Command::External(ExternalCommand::RecordInRound { tool: "up__pay".to_owned(), arguments: json!({ "to": to }) })
}

fn close() -> Command {
    Command::External(ExternalCommand::FinalizeRound { summary: None })
}

fn round(world: &World) -> &Plan {
    world.snapshot.round().expect("there is a round")
}

/// Approves the round and makes its calls.
fn carry_out(world: &mut World, outcomes: &[StepStatus]) {
    let command = approve(round(world), Selection::All);
    world.person(command).unwrap();
    let plan = round(world).id.clone();
    let executor = || Actor::system("executor");
    let start = ExecutionCommand::Start { plan: plan.clone() };
    world.send(executor(), Command::Execution(start)).unwrap();
    for (status, n) in outcomes.iter().zip(1..) {
        let execution = round(world).execution.as_ref().unwrap().id.clone();
        let id = format!("s{n}");
        let begin = begin_step(plan.clone(), execution.clone(), &id);
        world.send(executor(), Command::Execution(begin)).unwrap();
        let end = end_step(plan.clone(), execution, &id, *status);
        world.send(executor(), Command::Execution(end)).unwrap();
    }
    let execution = round(world).execution.as_ref().unwrap().id.clone();
    let finish = ExecutionCommand::Finish { plan, execution, ended: Vec::new() };
    world.send(executor(), Command::Execution(finish)).unwrap();
}

fn decided(world: &World, arguments: Value) -> &'static str {
    let permission = PermissionOutcome { permission: Permission::Ask, reason: PermissionReason::NotCovered };
    let call =
        GatewayCall { tool: "up__pay", arguments: &arguments, effect: ToolEffect::Changes, permission: &permission };
    match decide_gateway(GatewayOptions::default(), GatewayWork::of(&world.snapshot), &call) {
        GatewayDecision::Run(_) => "run",
        GatewayDecision::Record => "record",
        GatewayDecision::Recorded { .. } => "recorded",
        GatewayDecision::Ask => "ask",
        GatewayDecision::Deny(refusal) => {
            assert_eq!(refusal.code, RefusalCode::WrongStatus);
            "wrong status"
        }
    }
}

#[test]
fn a_round_is_a_recorded_plan_beside_the_active_one() {
    for style in [PlanStyle::Document, PlanStyle::Build] {
        let mut world = World::planning(style);
        let active = world.active().id.clone();
        world.agent(pay("ada")).unwrap();
        world.agent(pay("bob")).unwrap();
        let recorded = round(&world);
        assert_eq!(
            (recorded.style(), recorded.status, recorded.number),
            (PlanStyle::Collect, PlanStatus::Collecting, 2)
        );
        assert_eq!(recorded.content.steps().len(), 2);
        let link = recorded.round.as_deref().unwrap();
        assert_eq!((&link.of, link.plan, link.number), (&active, 1, 1));
        assert_eq!((&world.active().id, world.active().style()), (&active, style), "the plan stays active");
        world.agent(close()).unwrap();
        assert_eq!(round(&world).status, PlanStatus::Ready);
        refused(world.agent(pay("eve")), RefusalCode::WrongStatus, "READY");
        refused(world.agent(close()), RefusalCode::WrongStatus, "READY");
    }
}

#[test]
fn only_with_plan_work_on_and_outside_of_style_collect_there_are_rounds() {
    let mut world = World::new();
    refused(world.agent(pay("ada")), RefusalCode::PolicyDenied, "off");
    let mut world = World::planning(PlanStyle::Collect);
    refused(world.agent(pay("ada")), RefusalCode::PolicyDenied, "no plan beside");
    let mut world = World::planning(PlanStyle::Document);
    refused(world.agent(close()), RefusalCode::WrongStatus, "No call is recorded");
    let own = ExternalCommand::RecordInRound { tool: "plan_finalize".to_owned(), arguments: json!({}) };
    refused(world.agent(Command::External(own)), RefusalCode::PolicyDenied, "cannot be a step");
}

#[test]
fn what_an_approved_round_records_is_made_once_and_nothing_else_is_recorded_meanwhile() {
    let mut world = World::planning(PlanStyle::Document);
    let (ada, eve) = (|| json!({ "to": "ada" }), || json!({ "to": "eve" }));
    assert_eq!(decided(&world, ada()), "record");
    world.agent(pay("ada")).unwrap();
    world.agent(close()).unwrap();
    assert_eq!(decided(&world, eve()), "record", "the life cycle refuses it");
    let command = approve(round(&world), Selection::All);
    world.person(command).unwrap();
    assert_eq!((decided(&world, ada()), decided(&world, eve())), ("wrong status", "wrong status"));
    refused(world.agent(pay("eve")), RefusalCode::WrongStatus, "APPROVED");
}

#[test]
fn the_next_round_says_what_the_rounds_before_did() {
    let mut world = World::planning(PlanStyle::Document);
    world.agent(pay("ada")).unwrap();
    world.agent(pay("bob")).unwrap();
    world.agent(close()).unwrap();
    carry_out(&mut world, &[StepStatus::Completed, StepStatus::Failed]);
    assert_eq!(round(&world).status, PlanStatus::PartiallyCompleted);
    assert_eq!(decided(&world, json!({ "to": "ada" })), "record", "the round is over");
    world.agent(pay("cy")).unwrap();
    let second = round(&world);
    let link = second.round.as_deref().unwrap();
    assert_eq!((second.number, link.number, link.before.len()), (3, 2, 1));
    let text = second.markdown();
    for expected in ["Round 2 of plan 1.", "round 1, PARTIALLY_COMPLETED", "up__pay({\"to\":\"ada\"})", "FAILED"] {
        assert!(text.contains(expected), "{expected:?} is not in {text}");
    }
    // What was shown of the rounds before is a part of what is approved.
    let mut other = second.clone();
    if let Some(link) = &mut other.round {
        link.before.clear();
    }
    assert_ne!(other.digest(), second.digest());
}

#[test]
fn changes_that_a_person_asks_for_keep_the_round_beside_the_plan() {
    let mut world = World::ready_document("- [ ] one");
    let document = world.active().id.clone();
    world.agent(pay("ada")).unwrap();
    world.agent(close()).unwrap();
    let first = round(&world).id.clone();
    world.person(revise(&first, "less")).unwrap();
    assert_eq!(world.plan(&first).status, PlanStatus::Superseded);
    assert_eq!((&world.active().id, round(&world).status), (&document, PlanStatus::Collecting));
    assert_eq!(round(&world).round.as_deref().map(|link| link.number), Some(1));
    assert_eq!(world.snapshot.awaited().map(|plan| plan.id.clone()), Some(round(&world).id.clone()), "it was decided");
    refused(world.agent(close()), RefusalCode::InvalidArgument, "Nothing is recorded");
    world.agent(pay("bob")).unwrap();
    world.agent(close()).unwrap();
    assert_eq!(round(&world).status, PlanStatus::Ready);
}

/// The agent waits for whichever of the two a person has to decide about.
#[test]
fn the_awaited_plan_is_the_one_that_is_ready() {
    let awaited = |world: &World| -> PlanId { world.snapshot.awaited().unwrap().id.clone() };
    let mut world = World::planning(PlanStyle::Document);
    let document = world.active().id.clone();
    world.agent(pay("ada")).unwrap();
    assert_eq!(awaited(&world), document, "the round is still recorded");
    world.agent(set("- [ ] one")).unwrap();
    assert_eq!(awaited(&world), document);
    world.agent(close()).unwrap();
    let first = round(&world).id.clone();
    assert_eq!(awaited(&world), first);
    world.person(reject(&first)).unwrap();
    assert_eq!(awaited(&world), document, "the document was written after the round began");
    world.approve(Selection::All).unwrap();
    assert_eq!(awaited(&world), document);
    world.agent(pay("bob")).unwrap();
    world.agent(close()).unwrap();
    assert_eq!(awaited(&world), round(&world).id);

    // A decision about the round is told although the document before it waits, too.
    let mut world = World::ready_document("- [ ] one");
    world.agent(pay("ada")).unwrap();
    world.agent(close()).unwrap();
    let first = round(&world).id.clone();
    world.person(reject(&first)).unwrap();
    assert_eq!(awaited(&world), first);
}

#[test]
fn rounds_end_with_plan_work_and_are_replayed_from_the_journal() {
    let mut world = World::planning(PlanStyle::Document);
    world.agent(pay("ada")).unwrap();
    let parked = round(&world).id.clone();
    world.person(off()).unwrap();
    assert!(world.snapshot.round().is_none());
    assert_eq!(world.plan(&parked).status, PlanStatus::Collecting, "it is parked as it is");
    world.person(on(PlanStyle::Document)).unwrap();
    world.agent(pay("ada")).unwrap();
    assert_ne!(round(&world).id, parked);
    let (snapshot, _) = replay(&world.snapshot.identity, &world.journal).unwrap();
    assert_eq!(snapshot, world.snapshot);
}
