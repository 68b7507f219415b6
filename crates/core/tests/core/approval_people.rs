//! Approvals that need two people: the first signature leaves the plan waiting, and execution checks both.

use jiff::{SignedDuration, Timestamp};
use planwright_core::approval::{ApprovalPolicy, ApprovalRule, Approvers, Require, Risk};
use planwright_core::command::{AfterApproval, Command, Decision};
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::Channel;

use crate::approvers::{approve_signed, approver, signature, verified};
use crate::world::*;

fn rule(risk: Risk, people: u8) -> ApprovalRule {
    ApprovalRule { channel: None, risk: Some(risk), require: Require::Any, people: Some(people) }
}

fn world() -> World {
    let mut world = World::ready_document(TWO_STEPS);
    world.policy.approval.rules = vec![rule(Risk::ChangesFiles, 2)];
    world.policy.approvers = Approvers(vec![approver("ada", 1), approver("bob", 2), approver("cleo", 3)]);
    world
}

fn sign(world: &mut World, name: &str, n: u8) -> Decided {
    let signature = signature(world.active(), name, n, None);
    approve_signed(world, verified(name), signature)
}

#[test]
fn the_first_signature_leaves_the_plan_waiting() {
    let mut world = world();
    let events = sign(&mut world, "ada", 1).unwrap();
    assert_eq!(names(&events), ["approval_signed"]);
    let plan = world.active();
    assert_eq!((plan.status, plan.approval.as_ref()), (PlanStatus::Ready, None));
    let waiting = plan.incomplete_approval.as_ref().unwrap();
    let text = "ada approved it, 1 of 2; it waits for one more approver: bob or cleo";
    assert_eq!(waiting.to_string(), text);
    refused(world.start(), RefusalCode::WrongStatus, "READY");
    refused(sign(&mut world, "ada", 1), RefusalCode::PolicyDenied, "another approver has to approve it, too");
    assert_eq!(names(&sign(&mut world, "cleo", 3).unwrap()), ["plan_approved"]);
    let plan = world.active();
    assert_eq!((plan.status, plan.incomplete_approval.as_ref()), (PlanStatus::Approved, None));
    let signed: Vec<_> = plan.approval.as_ref().unwrap().signatures.iter().map(|one| one.approver.as_str()).collect();
    assert_eq!(signed, ["ada", "cleo"]);
    world.start().unwrap();
    assert_eq!(world.active().status, PlanStatus::Executing);
}

/// Carrying it out at once waits for the second person, too.
#[test]
fn nothing_begins_with_the_first_of_two() {
    let mut world = world();
    for (name, n, status) in [("ada", 1, PlanStatus::Ready), ("bob", 2, PlanStatus::Executing)] {
        let signature = signature(world.active(), name, n, None);
        let Command::Decide(mut decision) = approve(world.active(), Selection::All) else { unreachable!() };
        if let Decision::Approve { then, .. } = &mut decision {
            *then = AfterApproval::CarryOut;
        }
        let signed = Decision::Signed { decision: Box::new(decision), signature };
        world.send(verified(name), Command::Decide(signed)).unwrap();
        assert_eq!(world.active().status, status);
    }
}

/// What is stored is checked again before the first step and after every take-over.
#[test]
fn execution_checks_both_signatures() {
    let mut world = world();
    sign(&mut world, "ada", 1).unwrap();
    sign(&mut world, "bob", 2).unwrap();
    let check = |plan: &Plan, approvers: &Approvers| {
        plan.check_approved(&world.policy.approval, approvers, Timestamp::UNIX_EPOCH).map_err(|refusal| refusal.message)
    };
    let plan = world.active();
    assert_eq!(check(plan, &world.policy.approvers), Ok(()));
    let with = |change: fn(&mut planwright_core::plan::Approval)| {
        let mut approval = plan.approval.as_deref().unwrap().clone();
        change(&mut approval);
        Plan { approval: Some(approval.into()), ..plan.clone() }
    };
    for (altered, text) in [
        (with(|approval| drop(approval.signatures.pop())), "needs the approval of 2 people, and 1 signed it"),
        (with(|approval| approval.signatures[1] = approval.signatures[0].clone()), "and 1 signed it"),
        (with(|approval| approval.signatures[1].approver = "cleo".to_owned()), "does not fit"),
    ] {
        let message = check(&altered, &world.policy.approvers).unwrap_err();
        assert!(message.contains(text), "{message}");
    }
    let without_bob = Approvers(vec![approver("ada", 1), approver("cleo", 3)]);
    assert!(check(plan, &without_bob).unwrap_err().contains("`bob` is not an approver"));
}

#[test]
fn a_new_text_needs_both_again() {
    let mut world = world();
    sign(&mut world, "ada", 1).unwrap();
    world.agent(set("# Something else\n\n1. more\n")).unwrap();
    assert_eq!(world.active().incomplete_approval, None);
    assert_eq!(names(&sign(&mut world, "bob", 2).unwrap()), ["approval_signed"]);
    assert_eq!(names(&sign(&mut world, "ada", 1).unwrap()), ["plan_approved"]);
}

#[test]
fn a_first_signature_that_has_ended_does_not_count() {
    let mut world = world();
    world.policy.approval.valid_for = Some(1000);
    let now = world.stamp(verified("ada")).at;
    let soon = Some(now + SignedDuration::from_secs(2));
    let first = signature(world.active(), "ada", 1, soon);
    approve_signed(&mut world, verified("ada"), first).unwrap();
    world.send(verified("ada"), off()).unwrap();
    world.send(verified("ada"), off()).unwrap();
    let plan = world.snapshot.plans.values().next().unwrap().id.clone();
    let later = Some(now + SignedDuration::from_secs(500));
    let second = signature(world.plan(&plan), "bob", 2, later);
    let Command::Decide(decision) = approve(world.plan(&plan), Selection::All) else { unreachable!() };
    let signed = Decision::Signed { decision: Box::new(decision), signature: second };
    let events = world.send(verified("bob"), Command::Decide(signed)).unwrap();
    assert_eq!(names(&events), ["approval_signed"], "bob is the first now");
    assert!(world.plan(&plan).incomplete_approval.as_ref().unwrap().to_string().starts_with("bob approved it, 1 of 2"));
}

/// Everyone approves the same.
#[test]
fn the_second_person_approves_what_the_first_approved() {
    let mut world = World::draft(&["one", "two"]);
    world.agent(submit()).unwrap();
    world.policy.approval.rules = vec![rule(Risk::ChangesFiles, 2)];
    world.policy.approvers = Approvers(vec![approver("ada", 1), approver("bob", 2)]);
    sign(&mut world, "ada", 1).unwrap();
    let signature = signature(world.active(), "bob", 2, None);
    for change in [
        |decision: &mut Decision| {
            if let Decision::Approve { selection, .. } = decision {
                *selection = Selection::Only([1].into());
            }
        },
        |decision: &mut Decision| {
            if let Decision::Approve { note, .. } = decision {
                *note = Some("quickly".to_owned());
            }
        },
        |decision: &mut Decision| {
            if let Decision::Approve { step_by_step, .. } = decision {
                *step_by_step = true;
            }
        },
    ] {
        let Command::Decide(mut decision) = approve(world.active(), Selection::All) else { unreachable!() };
        change(&mut decision);
        let signed = Decision::Signed { decision: Box::new(decision), signature: signature.clone() };
        refused(world.send(verified("bob"), Command::Decide(signed)), RefusalCode::Conflict, "Approve the same");
    }
    approve_signed(&mut world, verified("bob"), signature).unwrap();
    assert_eq!(world.active().status, PlanStatus::Approved);
}

#[test]
fn two_people_take_signatures_and_the_most_that_any_risk_needs() {
    let policy = ApprovalPolicy { rules: vec![rule(Risk::Commands, 2)], ..ApprovalPolicy::requiring(Require::Any) };
    let plain = [Risk::ChangesFiles].into();
    let both = [Risk::ChangesFiles, Risk::Commands].into();
    assert_eq!((policy.people(Channel::Web, &plain), policy.requirement(Channel::Web, &plain)), (1, Require::Any));
    assert_eq!((policy.people(Channel::Web, &both), policy.requirement(Channel::Web, &both)), (2, Require::Verified));
    let one = ApprovalPolicy::requiring(Require::Verified);
    assert!(one.is_weaker_than(&policy) && policy.is_weaker_than(&one));
    let strict = one.stricter(&policy);
    assert!(!strict.is_weaker_than(&one) && !strict.is_weaker_than(&policy));
    assert_eq!(strict.people(Channel::Web, &both), 2);
    assert_eq!(strict.people(Channel::Web, &plain), 1);
}
