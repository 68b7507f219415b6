//! An act that lacks a signature is refused with the page of the dashboard and the command in a terminal that sign it.

use planwright_core::approval::{ApprovalPolicy, Approvers, Require};
use planwright_core::auto::{AutoCommand, NewSchedule, ScheduleChange, StartTarget};
use planwright_core::command::Command;
use planwright_core::door::{ToSign, how_to_sign};
use planwright_core::ids::ScheduleId;
use planwright_core::plan::approval::Selection;
use planwright_core::refusal::RefusalCode;
use planwright_core::upstream::ServerName;

use crate::approvers::approver;
use crate::world::*;

/// A store that asks for signatures.
fn verified(mut world: World, approvers: Approvers) -> World {
    world.policy.approval = ApprovalPolicy::requiring(Require::Verified);
    world.policy.approvers = approvers;
    world
}

fn ada() -> Approvers {
    Approvers(vec![approver("ada", 1)])
}

fn schedule(title: &str) -> NewSchedule {
    NewSchedule {
        expression: "0 9 * * 1".to_owned(),
        zone: Some("Europe/Berlin".to_owned()),
        title: title.to_owned(),
        goal: None,
        max_executions: Some(3),
    }
}

#[test]
fn a_refusal_names_the_page_and_the_command() {
    let mut world = World::ready_document(TWO_STEPS);
    world.person(Command::Auto(AutoCommand::AddGoal { title: "No warnings".to_owned() })).unwrap();
    world.person(Command::Auto(AutoCommand::AddSchedule(schedule("Read the news")))).unwrap();
    let session = world.snapshot.session.as_ref().unwrap();
    let auto = session.auto.as_deref().unwrap();
    let (goal, scheduled) = (auto.goals[0].id.clone(), auto.schedules[0].id.clone());
    let plan = world.active().clone();
    let mut world = verified(world, ada());
    let start = |target| Command::Auto(AutoCommand::Start { target, driver: "driver-1".to_owned() });
    let continues =
        |schedule: ScheduleId| Command::Auto(AutoCommand::ChangeSchedule { schedule, change: ScheduleChange::Resume });
    let of_plan = format!("/p/{}", plan.id);
    let room = format!("/s/{SESSION}/runs");
    let room = room.as_str();
    for (command, page, button, typed) in [
        (approve(&plan, Selection::All), of_plan.as_str(), "Approve", "plan approve 1"),
        (start(StartTarget::Current), room, "Start a run", "auto on"),
        (start(StartTarget::Goal(goal)), room, "Start a run", "auto on 1"),
        (
            Command::Auto(AutoCommand::AddSchedule(schedule("Ann's mail"))),
            room,
            "New schedule",
            r"schedule add '0 9 * * 1' tz=Europe/Berlin max=3 'Ann'\''s mail'",
        ),
        (continues(scheduled), room, "Resume", "schedule resume 1"),
    ] {
        let terminal = format!("`planwright {typed} --session {SESSION}`");
        let refusal = refused(world.person(command), RefusalCode::PolicyDenied, &terminal);
        for part in [format!("`{page}`"), format!("“{button}”"), "passphrase".to_owned()] {
            assert!(refusal.message.contains(&part), "{part}: {}", refusal.message);
        }
        assert!(!refusal.message.contains("planwright init"), "{}", refusal.message);
    }
}

#[test]
fn steps_that_are_left_out_are_left_out_in_the_terminal() {
    let mut world = World::draft(&["one", "two", "three"]);
    world.agent(submit()).unwrap();
    let plan = world.active().clone();
    let mut world = verified(world, ada());
    for (selection, typed) in [
        (Selection::Skip([2, 3].into()), "plan approve 1 --skip 2,3"),
        (Selection::Only([1].into()), "plan approve 1 --only 1"),
    ] {
        refused(world.person(approve(&plan, selection)), RefusalCode::PolicyDenied, typed);
    }
}

#[test]
fn where_nobody_is_enrolled_that_comes_first() {
    let world = World::ready_document(TWO_STEPS);
    let plan = world.active().clone();
    let mut world = verified(world, Approvers::default());
    let refusal =
        refused(world.person(approve(&plan, Selection::All)), RefusalCode::PolicyDenied, "no approver is enrolled");
    let steps = ["`planwright init`", "`planwright plan approve 1"].map(|step| refusal.message.find(step).unwrap());
    assert!(steps.is_sorted(), "{}", refusal.message);
}

#[test]
fn a_session_of_the_dashboard_is_named_by_its_key_in_addresses() {
    let server: ServerName = "files".parse().unwrap();
    let message = how_to_sign(&ToSign::AcceptTools(&server), None, &ada()).message;
    assert!(
        message.contains("`/?item=mcp-server-files`") && message.contains("`planwright mcp-server accept files`"),
        "{message}"
    );
    let session = "web:k3yk3y8x".parse().unwrap();
    let message = how_to_sign(&ToSign::StartRun { on: "task 2".to_owned() }, Some(&session), &ada()).message;
    assert!(
        message.contains("`/s/k3yk3y8x/runs`")
            && message.contains("`planwright auto on 'task 2' --session web:k3yk3y8x`"),
        "{message}"
    );
}
