//! Besides approvals an approver signs every act that lets work happen: what is done, to what, and the digest, once.

use ed25519_dalek::Signer as _;
use jiff::SignedDuration;
use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Approvers, Require};
use planwright_core::auto::{AutoCommand, NewSchedule, ScheduleChange, StartTarget, TaskStatus};
use planwright_core::command::{Command, Decision};
use planwright_core::plan::PlanStatus;
use planwright_core::presence::{Act, ActSignature, Presence};
use planwright_core::refusal::RefusalCode;

use crate::approvers::{approve_signed, approver, key, signature, verified};
use crate::world::*;

/// The approver with a signature on this act, made now.
pub(crate) fn signing(world: &World, name: &str, n: u8, act: Act) -> Actor {
    let nonce = format!("nonce-{}", world.journal.len());
    let at = world.stamp(verified(name)).at;
    let unsigned = ActSignature { act, at, nonce, signature: String::new(), passkey: None };
    let message = unsigned.message(Some(&world.snapshot.identity), name);
    let signature = hex::encode(key(n).sign(&message).to_bytes());
    Actor::person(name, "cli").recognised(Presence::signed(name, ActSignature { signature, ..unsigned }))
}

/// A document that `ada` approved, where the policy asks for signatures.
fn approved() -> World {
    let mut world = World::ready_document(TWO_STEPS);
    world.policy.approval = ApprovalPolicy::requiring(Require::Verified);
    world.policy.approvers = Approvers(vec![approver("ada", 1)]);
    let signature = signature(world.active(), "ada", 1, None);
    approve_signed(&mut world, verified("ada"), signature).unwrap();
    world
}

fn daily(title: &str) -> NewSchedule {
    let (expression, title) = ("0 9 * * *".to_owned(), title.to_owned());
    NewSchedule { expression, zone: None, title, goal: None, max_executions: None }
}

#[test]
fn an_approver_signs_that_a_plan_continues() {
    let mut world = approved();
    let plan = world.active().clone();
    refused(world.person(resume(&plan.id)), RefusalCode::PolicyDenied, "passphrase");
    refused(world.send(verified("ada"), resume(&plan.id)), RefusalCode::PolicyDenied, "no approver signed it");
    let by = signing(&world, "ada", 1, Act::resume(&plan, None));
    world.send(by.clone(), resume(&plan.id)).unwrap();
    assert_eq!(world.active().status, PlanStatus::Executing);
    let recorded: serde_json::Value = serde_json::from_str(&world.journal.last().unwrap().body).unwrap();
    let signed = by.presence.as_ref().and_then(Presence::signature).unwrap();
    assert_eq!(recorded["by"]["presence"]["signed"], serde_json::json!(signed), "the journal has the signature");
}

#[test]
fn the_signature_is_the_approvers_on_this_act_of_this_session() {
    let world = approved();
    let plan = world.active().clone();
    let good = || Act::resume(&plan, None);
    let mut other_text = Act::resume(&plan, None);
    other_text.digest = "00".repeat(32);
    let elsewhere = {
        let mut other = World::unopened("cli:another8x");
        other.person(open()).unwrap();
        signing(&other, "ada", 1, good())
    };
    for (by, text) in [
        (signing(&world, "ada", 2, good()), "does not fit"),
        (signing(&world, "mallory", 2, good()), "not an approver"),
        (signing(&world, "ada", 1, Act::resume(&plan, Some(1))), "another act"),
        (
            signing(&world, "ada", 1, Act::add_schedule(&daily("Empty the bin"), world.snapshot.auto()).unwrap()),
            "another act",
        ),
        (elsewhere, "does not fit"),
    ] {
        let mut world = world.clone();
        refused(world.send(by, resume(&plan.id)), RefusalCode::PolicyDenied, text);
        assert_eq!(world.active().status, PlanStatus::Approved);
    }
    let mut world = world;
    let stale = signing(&world, "ada", 1, other_text);
    refused(world.send(stale, resume(&plan.id)), RefusalCode::StaleApproval, "not what was shown");
    let by = signing(&world, "ada", 1, Act::resume(&plan, Some(1)));
    let release = Command::Decide(Decision::Resume { plan: plan.id.clone(), after_step: Some(2) });
    refused(world.send(by, release), RefusalCode::PolicyDenied, "another act");
}

/// Otherwise the journal would name an approver whose signature was never checked.
#[test]
fn a_signature_goes_with_nothing_else() {
    let world = approved();
    let plan = world.active().clone();
    for command in [cancel(&plan.id), off(), reject(&plan.id)] {
        let mut world = world.clone();
        let by = signing(&world, "mallory", 9, Act::resume(&plan, None));
        refused(world.send(by, command), RefusalCode::PolicyDenied, "another act");
        assert_eq!(world.active().status, PlanStatus::Approved);
    }
}

#[test]
fn a_signature_is_used_once_and_within_an_hour() {
    let mut world = approved();
    let new = daily("Read the news");
    let signed = |world: &World| signing(world, "ada", 1, Act::add_schedule(&new, world.snapshot.auto()).unwrap());
    let by = signed(&world);
    let add = || Command::Auto(AutoCommand::AddSchedule(new.clone()));
    world.send(by.clone(), add()).unwrap();
    refused(world.send(by, add()), RefusalCode::PolicyDenied, "used before");
    let another = daily("Water the fern");
    let by = signed(&world);
    let add_another = Command::Auto(AutoCommand::AddSchedule(another));
    refused(world.send(by.clone(), add_another), RefusalCode::StaleApproval, "not what was shown");
    let signed = by.presence.as_ref().and_then(Presence::signature).unwrap();
    for (seconds, counts) in [(3599, true), (3601, false), (-59, true), (-61, false)] {
        let now = signed.at + SignedDuration::from_secs(seconds);
        assert_eq!(signed.check_fits(&signed.act, now).is_ok(), counts, "{seconds}");
    }
}

/// What is signed is what the person read: the goal with the task that a run begins with, and the schedule with its task.
#[test]
fn a_run_and_a_schedule_are_signed_with_their_words() {
    let mut world = World::new();
    let auto = |command: AutoCommand| Command::Auto(command);
    world.person(auto(AutoCommand::AddGoal { title: "A clean kitchen".to_owned() })).unwrap();
    world.person(auto(AutoCommand::AddSchedule(daily("Wash the cups")))).unwrap();
    world.policy.approval = ApprovalPolicy::requiring(Require::Verified);
    world.policy.approvers = Approvers(vec![approver("ada", 1)]);
    let goal = world.snapshot.auto().goals[0].id.clone();
    let schedule = world.snapshot.auto().schedules[0].clone();
    let target = StartTarget::Goal(goal.clone());
    let started = |world: &World| Act::start_run(&target, world.snapshot.auto()).unwrap();
    let resumed = |world: &World| Act::resume_schedule(&schedule, world.snapshot.auto());
    let shown = (started(&world), resumed(&world));
    world.policy.approval = ApprovalPolicy::requiring(Require::Any);
    let change = |change| auto(AutoCommand::ChangeSchedule { schedule: schedule.id.clone(), change });
    world.person(change(ScheduleChange::Pause)).unwrap();
    assert_eq!(resumed(&world), shown.1, "it looks the same while it is paused");
    let title = "Throw the cups away".to_owned();
    world.person(auto(AutoCommand::AddTask { title, goal: Some(goal) })).unwrap();
    let (task, note) = (schedule.task.clone(), Some("with bleach".to_owned()));
    world.person(auto(AutoCommand::ChangeTask { task, status: TaskStatus::Open, note })).unwrap();
    world.policy.approval = ApprovalPolicy::requiring(Require::Verified);
    let start = auto(AutoCommand::Start { target: target.clone(), driver: "test".to_owned() });
    for (command, shown) in [(start, shown.0), (change(ScheduleChange::Resume), shown.1)] {
        let mut world = world.clone();
        let stale = signing(&world, "ada", 1, shown);
        refused(world.send(stale, command.clone()), RefusalCode::StaleApproval, "not what was shown");
        let act = command.act(&world.snapshot).unwrap().unwrap();
        let now = signing(&world, "ada", 1, act);
        world.send(now, command).unwrap();
    }
}
