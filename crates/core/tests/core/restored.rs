//! A session that was written back from an archive: its approvals and permissions are history.

use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Approvers, Require};
use planwright_core::event::{Event, SessionEvent};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_core::presence::Act;
use planwright_core::refusal::RefusalCode;

use crate::approvers::approver;
use crate::signed_acts::signing;
use crate::world::*;

/// What `planwright restore` adds to the journal.
pub(crate) fn restore(world: &mut World) {
    let stamp = world.stamp(Actor::system("cli"));
    let event = Event::Session(SessionEvent::Restored);
    world.journal.push(world.head.seal(&world.snapshot.identity, &stamp, &event).unwrap());
    world.snapshot.apply(&event, &stamp, world.head.seq);
}

#[test]
fn an_approved_plan_begins_only_when_a_person_says_so_again() {
    let mut world = World::ready_document(TWO_STEPS);
    world.approve(Selection::All).unwrap();
    restore(&mut world);
    refused(world.start(), RefusalCode::PolicyDenied, "restored from an archive");
    refused(
        world.agent(report(Some(1), StepStatus::InProgress)),
        RefusalCode::PolicyDenied,
        "restored from an archive",
    );
    let plan = world.active().id.clone();
    let events = world.person(resume(&plan)).unwrap();
    assert_eq!(names(&events)[..2], ["plan_approved", "execution_started"]);
    assert_eq!(world.active().status, PlanStatus::Executing);
    world.begin("s1").unwrap();
}

#[test]
fn an_execution_continues_only_when_a_person_says_so_again() {
    let mut world = World::ready_document(TWO_STEPS);
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    restore(&mut world);
    refused(world.begin("s1"), RefusalCode::PolicyDenied, "restored from an archive");
    refused(world.agent(report(Some(1), StepStatus::Completed)), RefusalCode::PolicyDenied, "restored from an archive");
    let (plan, execution) = (world.active().id.clone(), world.execution());
    let pause = planwright_core::command::ExecutionCommand::Pause { plan: plan.clone(), execution };
    world.send(Actor::system("executor"), planwright_core::command::Command::Execution(pause)).unwrap();
    let events = world.person(resume(&plan)).unwrap();
    assert_eq!(names(&events), ["plan_approved", "execution_resumed"]);
    world.begin("s1").unwrap();
}

/// A signature of before is no permission either.
#[test]
fn under_verified_a_new_version_is_approved() {
    let mut world = World::ready_document(TWO_STEPS);
    world.approve(Selection::All).unwrap();
    restore(&mut world);
    world.policy.approval = ApprovalPolicy::requiring(Require::Verified);
    let plan = world.active().id.clone();
    world.policy.approvers = Approvers(vec![approver("ada", 1)]);
    let by = signing(&world, "ada", 1, Act::resume(world.active(), None));
    refused(world.send(by, resume(&plan)), RefusalCode::PolicyDenied, "its approval is history");
    assert_eq!(world.active().status, PlanStatus::Approved);
}

#[test]
fn what_is_approved_afterwards_runs() {
    let mut world = World::ready_document(TWO_STEPS);
    restore(&mut world);
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    assert_eq!(world.active().status, PlanStatus::Executing);
}
