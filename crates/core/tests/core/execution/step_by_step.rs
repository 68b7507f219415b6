//! Plans that are approved step by step: after each step a person looks, and a resume releases exactly one step.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, Decision, EndedStep, ExecutionCommand, StuckChoice, TurnCommand};
use planwright_core::ids::TurnId;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::{PermissionCounts, StepPause};
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::policy::OnFailure;
use planwright_core::prompt::plan_block;
use planwright_core::refusal::RefusalCode;
use planwright_core::turn::{Purpose, TurnEnd, TurnEnding};
use planwright_core::workspace::CallChanges;

use super::{settle, steps};
use crate::world::*;

use planwright_core::plan::execution::StepStatus::{Completed, Failed, InProgress, Pending, Skipped, Uncertain};

pub(super) fn approve_step_by_step(world: &mut World) {
    let mut command = approve(world.active(), Selection::All);
    if let Command::Decide(Decision::Approve { step_by_step, .. }) = &mut command {
        *step_by_step = true;
    }
    world.person(command).unwrap();
}

/// A document of three steps that is carried out.
fn document() -> World {
    let mut world = World::ready_document("- [ ] one\n- [ ] two\n- [ ] three");
    approve_step_by_step(&mut world);
    world.start().unwrap();
    world
}

/// Three recorded calls that are carried out.
fn calls() -> World {
    let mut world = World::planning(PlanStyle::Collect);
    for _ in 0..3 {
        world.agent(record_one()).unwrap();
    }
    world.agent(finalize()).unwrap();
    approve_step_by_step(&mut world);
    world.start().unwrap();
    world
}

fn look_at(world: &World) -> Option<usize> {
    world.active().execution.as_ref().unwrap().step_pause().map(|pause| pause.step)
}

fn go_on(world: &mut World) -> Decided {
    let plan = world.active().id.clone();
    world.person(resume(&plan))
}

#[test]
fn the_pause_is_in_the_entry_of_the_outcome_and_a_resume_releases_one_step() {
    let mut world = calls();
    world.begin("s1").unwrap();
    assert_eq!(names(&world.end("s1", Completed).unwrap()), ["step_ended", "execution_paused"]);
    assert_eq!(look_at(&world), Some(1));
    refused(world.begin("s2"), RefusalCode::WrongStatus, "A person looks at step 1 first");
    assert_eq!(names(&go_on(&mut world).unwrap()), ["execution_resumed"]);
    world.begin("s2").unwrap();
    refused(world.begin("s3"), RefusalCode::WrongStatus, "step 2 has no outcome yet");
    world.end("s2", Completed).unwrap();
    assert_eq!(look_at(&world), Some(2));
    go_on(&mut world).unwrap();
    world.begin("s3").unwrap();
    // No step is left to look forward to.
    assert_eq!(names(&world.end("s3", Completed).unwrap()), ["step_ended"]);
    world.finish().unwrap();
    assert_eq!(world.only_plan().status, PlanStatus::Completed);
}

#[test]
fn an_outcome_and_the_next_intent_are_not_written_together() {
    let mut world = calls();
    world.begin("s1").unwrap();
    let before = world.snapshot.clone();
    let ended = EndedStep {
        step: step("s1"),
        outcome: outcome(Completed),
        changes: CallChanges::default(),
        permissions: PermissionCounts::default(),
    };
    let (plan, execution) = (world.active().id.clone(), world.execution());
    let advance = ExecutionCommand::Advance { plan, execution, ended: vec![ended], begun: vec![step("s2")] };
    let decided = world.send(Actor::system("executor"), Command::Execution(advance));
    refused(decided, RefusalCode::WrongStatus, "looks at step 1 first");
    assert_eq!(world.snapshot, before);
}

#[test]
fn several_steps_do_not_begin_at_once() {
    let mut world = calls();
    let (plan, execution) = (world.active().id.clone(), world.execution());
    let begun = vec![step("s1"), step("s2")];
    let advance = ExecutionCommand::Advance { plan, execution, ended: Vec::new(), begun };
    let decided = world.send(Actor::system("executor"), Command::Execution(advance));
    refused(decided, RefusalCode::WrongStatus, "step 1 has no outcome yet");
}

#[test]
fn the_digest_does_not_depend_on_the_pace_and_the_approval_says_it() {
    let mut slow = World::ready_document("- [ ] one\n- [ ] two");
    let digest = slow.active().digest();
    approve_step_by_step(&mut slow);
    assert_eq!(slow.active().digest(), digest);
    assert!(slow.active().approval.as_ref().unwrap().step_by_step);
    assert!(slow.journal.last().unwrap().body.contains(r#""step_by_step":true"#));
    let mut fast = World::ready_document("- [ ] one\n- [ ] two");
    fast.approve(Selection::All).unwrap();
    assert!(!fast.journal.last().unwrap().body.contains("step_by_step"), "as it was before there was a pace");
}

#[test]
fn a_report_on_another_step_is_refused_while_a_person_looks() {
    let mut world = document();
    world.agent(report(Some(1), InProgress)).unwrap();
    refused(world.agent(report(Some(2), Completed)), RefusalCode::WrongStatus, "step 1 has no outcome yet");
    assert_eq!(names(&world.agent(report(Some(1), Completed)).unwrap()), ["step_ended", "execution_paused"]);
    for status in [InProgress, Completed, Failed, Skipped] {
        refused(world.agent(report(Some(2), status)), RefusalCode::WrongStatus, "A person looks at step 1 first");
        refused(world.agent(report(None, status)), RefusalCode::WrongStatus, "A person looks at step 1 first");
    }
    // The step that ended is not begun again either.
    refused(world.agent(report(Some(1), InProgress)), RefusalCode::WrongStatus, "A person looks at step 1 first");
    go_on(&mut world).unwrap();
    world.agent(report(Some(2), Completed)).unwrap();
    assert_eq!(look_at(&world), Some(2));
}

#[test]
fn a_correction_keeps_the_pause_and_uses_no_release_up() {
    let mut world = document();
    world.agent(report(Some(1), Failed)).unwrap();
    assert_eq!(look_at(&world), Some(1));
    world.agent(report(Some(1), Completed)).unwrap();
    assert_eq!(look_at(&world), Some(1));
    go_on(&mut world).unwrap();
    world.agent(report(Some(1), Skipped)).unwrap();
    assert_eq!(look_at(&world), None, "the person has released a step");
    world.agent(report(Some(2), InProgress)).unwrap();
    world.agent(report(Some(1), Completed)).unwrap();
    assert_eq!(steps(&world), [Completed, InProgress, Pending]);
    world.agent(report(Some(2), Completed)).unwrap();
    assert_eq!(look_at(&world), Some(2));
}

#[test]
fn the_first_report_of_another_programs_agent_begins_and_pauses() {
    let mut world = World::ready_document("- [ ] one\n- [ ] two");
    approve_step_by_step(&mut world);
    let events = world.agent(report(Some(1), Completed)).unwrap();
    assert_eq!(names(&events), ["execution_started", "step_ended", "execution_paused"]);
    let pause = world.active().execution.as_ref().unwrap().step_pause();
    assert_eq!(pause, Some(StepPause { step: 1, external: true }));
}

#[test]
fn a_report_in_a_turn_is_of_our_own_agent_and_the_end_of_the_turn_keeps_the_pause() {
    let mut world = document();
    let plan = world.active().id.clone();
    let begin = |world: &mut World| {
        let purpose = Purpose::Document { plan: plan.clone() };
        let begin = TurnCommand::Begin { text: "Go on".to_owned(), tokens: 2, purpose };
        world.send(Actor::system("server"), Command::Turn(begin))
    };
    begin(&mut world).unwrap();
    world.agent(report(Some(1), Completed)).unwrap();
    let turn: TurnId = world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap().id.clone();
    let ending = Some(TurnEnding::from(TurnEnd::Answered));
    let record = TurnCommand::Record { turn, inputs: Vec::new(), ending };
    let ended = world.send(Actor::system("server"), Command::Turn(record)).unwrap();
    assert_eq!(names(&ended), ["turn_ended"]);
    let execution = world.active().execution.as_ref().unwrap();
    assert_eq!((execution.step_pause(), execution.idle_turns()), (Some(StepPause { step: 1, external: false }), 0));
    refused(begin(&mut world), RefusalCode::WrongStatus, "A person looks at step 1 first");
}

#[test]
fn a_go_is_for_the_step_that_was_seen() {
    let mut world = calls();
    world.run_step("s1");
    let plan = world.active().id.clone();
    let seen = |step| Command::Decide(Decision::Resume { plan: plan.clone(), after_step: Some(step) });
    refused(world.person(seen(2)), RefusalCode::StaleApproval, "waits after step 1 now");
    world.person(seen(1)).unwrap();
    refused(world.person(seen(1)), RefusalCode::StaleApproval, "does not wait after step 1 any more");
    world.run_step("s2");
    refused(world.person(seen(1)), RefusalCode::StaleApproval, "Look at step 2");
    for by in [Actor::agent("coder", "mcp"), Actor::system("server")] {
        refused(world.send(by, seen(2)), RefusalCode::PolicyDenied, "Only a person");
    }
}

#[test]
fn a_decision_about_an_uncertain_step_is_the_look_at_it() {
    for (choice, next) in [(StuckChoice::Retry, "s1"), (StuckChoice::Skip, "s2")] {
        let mut world = calls();
        world.begin("s1").unwrap();
        assert_eq!(names(&world.end("s1", Uncertain).unwrap()), ["step_ended"]);
        refused(world.begin("s2"), RefusalCode::WrongStatus, "step 1 has no outcome yet");
        settle(&mut world, "s1", choice).unwrap();
        assert_eq!(look_at(&world), None);
        world.run_step(next);
        assert!(look_at(&world).is_some());
    }
}

#[test]
fn a_failure_is_looked_at_too_whatever_it_leads_to() {
    for on_failure in [OnFailure::Stop, OnFailure::GoOn] {
        let mut world = calls();
        world.policy.on_failure = on_failure;
        world.begin("s1").unwrap();
        world.end("s1", Failed).unwrap();
        assert_eq!(look_at(&world), Some(1), "{on_failure:?}");
        refused(world.end("s2", Skipped), RefusalCode::WrongStatus, "A person looks at step 1 first");
        // A process that stops at failures ends the execution instead.
        world.finish().unwrap();
        assert_eq!(world.only_plan().status, PlanStatus::PartiallyCompleted);
    }
}

#[test]
fn the_three_choices() {
    let mut world = document();
    world.agent(report(Some(1), Completed)).unwrap();
    let plan = world.active().id.clone();
    let mut changed = world.clone();
    changed.person(revise(&plan, "leave out the third")).unwrap();
    assert_eq!(changed.statuses()[0], PlanStatus::Superseded);
    let mut cancelled = world.clone();
    cancelled.person(cancel(&plan)).unwrap();
    assert_eq!(cancelled.plan(&plan).status, PlanStatus::Cancelled);
    world.finish().unwrap();
    assert_eq!(world.plan(&plan).status, PlanStatus::PartiallyCompleted);
    // A later execution of the same approval is at the same pace.
    go_on(&mut world).unwrap();
    world.agent(report(Some(2), Completed)).unwrap();
    assert_eq!(look_at(&world), Some(2));
}

#[test]
fn the_prompt_says_that_the_person_looks_first() {
    let mut world = document();
    let block = |world: &World| plan_block(&world.snapshot, &[], &[]);
    assert!(block(&world).contains("step by step: the person looks after each step"), "{}", block(&world));
    world.agent(report(Some(1), Completed)).unwrap();
    assert!(block(&world).contains("- Next: the person looks at step 1 first"), "{}", block(&world));
}
