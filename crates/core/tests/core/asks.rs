//! What a turn asks a person: it waits, and only the first valid answer of a person lets it continue.

use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalPolicy, Approvers, Require};
use planwright_core::ask::{Ask, AskAnswer, AskState, AskSubject, CallToPermit, Grant, Question};
use planwright_core::command::{AnswerCommand, Command, TurnCommand};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::TurnId;
use planwright_core::plan::Digest;
use planwright_core::plan::approval::Selection;
use planwright_core::presence::Act;
use planwright_core::refusal::RefusalCode;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::TurnEnd;
use serde_json::json;

use crate::approvers::approver;
use crate::journal::replay;
use crate::random_conversation::*;
use crate::signed_acts::signing;
use crate::world::*;

fn permission(command: &str) -> AskSubject {
    let (arguments, reason) = (json!({ "command": command }), "commands are asked".to_owned());
    AskSubject::Permission(CallToPermit {
        tool: "run_command".to_owned(),
        arguments,
        reason,
        paths: Vec::new(),
        always: None,
    })
}

fn questions(texts: &[&str]) -> AskSubject {
    let question = |text: &&str| Question { text: (*text).to_owned(), choices: Vec::new(), many: false };
    AskSubject::Questions { questions: texts.iter().map(question).collect() }
}

fn ask(turn: &TurnId, call: u32, subject: AskSubject) -> Command {
    Command::Turn(TurnCommand::Ask { turn: turn.clone(), call, subject })
}

fn grant(grant: Grant) -> AskAnswer {
    AskAnswer::permission(grant, None)
}

/// A turn with two pending calls, of which the first asks.
fn asking(subject: AskSubject) -> (World, TurnId) {
    let mut world = World::ready_document(TWO_STEPS);
    world.person(say("hello")).unwrap();
    let turn = world.turn();
    world.agent(tell(&turn, &[calls(&["run_command", "b"])])).unwrap();
    world.agent(ask(&turn, 1, subject)).unwrap();
    (world, turn)
}

fn asked(world: &World) -> Ask {
    world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap().ask.clone().expect("an ask")
}

fn answer(world: &World, answer: AskAnswer) -> Command {
    let Ask { id, digest, .. } = asked(world);
    Command::Answer(AnswerCommand { ask: id, digest, answer })
}

fn replayed(world: &World) -> Snapshot {
    replay(&world.snapshot.identity, &world.journal).unwrap().0
}

fn code(decided: Decided) -> RefusalCode {
    decided.expect_err("a refusal").code
}

#[test]
fn while_it_waits_the_turn_neither_continues_nor_gives_way() {
    let (mut world, turn) = asking(permission("make test"));
    let before = world.snapshot.clone();
    for (by, command, expected) in [
        (Actor::agent("coder", "cli"), tell(&turn, &[done_with(1)]), RefusalCode::Conflict),
        (Actor::system("server"), resume_turn(&turn), RefusalCode::WrongStatus),
        (Actor::agent("coder", "cli"), ask(&turn, 1, permission("make")), RefusalCode::Conflict),
        (Actor::person("ada", "cli"), say("never mind"), RefusalCode::WrongStatus),
    ] {
        assert_eq!(code(world.send(by, command.clone())), expected, "{command:?}");
        assert_eq!(world.snapshot, before);
    }
    assert!(world.snapshot.session.as_ref().unwrap().waiting_ask().is_some());
    assert_eq!(replayed(&world), world.snapshot);
}

#[test]
fn only_a_person_answers() {
    let (mut world, _) = asking(permission("make test"));
    let command = answer(&world, grant(Grant::Once));
    for by in [Actor::agent("coder", "cli"), Actor::system("cli"), Actor::policy("a rule", "cli")] {
        assert_eq!(code(world.send(by, command.clone())), RefusalCode::PolicyDenied);
    }
    assert!(asked(&world).is_waiting());
    assert_eq!(names(&world.person(command).unwrap()), ["permission_answered"]);
}

#[test]
fn the_first_valid_answer_counts() {
    let (mut world, _) = asking(permission("make test"));
    world.person(answer(&world, grant(Grant::No))).unwrap();
    assert_eq!(code(world.person(answer(&world, grant(Grant::Once)))), RefusalCode::Conflict);
    assert_eq!(asked(&world).answer(), Some(&grant(Grant::No)));
}

#[test]
fn an_answer_is_bound_to_the_call_that_was_shown() {
    let (mut world, turn) = asking(permission("make test"));
    let other = permission("make clean").digest(&turn, 1);
    let elsewhere = permission("make test").digest(&turn, 2);
    for digest in [other, elsewhere] {
        let command = AnswerCommand { ask: asked(&world).id, digest, answer: grant(Grant::Once) };
        assert_eq!(code(world.person(Command::Answer(command))), RefusalCode::StaleApproval);
    }
    // The reason is not part of what runs.
    let said_otherwise = AskSubject::Permission(CallToPermit {
        tool: "run_command".to_owned(),
        arguments: json!({ "command": "make test" }),
        reason: "another rule".to_owned(),
        paths: Vec::new(),
        always: None,
    });
    assert_eq!(said_otherwise.digest(&turn, 1), asked(&world).digest);
}

#[test]
fn an_answer_fits_what_was_asked() {
    let (mut world, _) = asking(permission("make test"));
    let message = AskAnswer::Questions { answers: vec!["yes".to_owned()] };
    assert_eq!(code(world.person(answer(&world, message))), RefusalCode::InvalidArgument);
    let (mut world, _) = asking(questions(&["Which colour?", "How many?"]));
    for answers in [vec![], vec!["red"], vec!["red", " "], vec!["red", "2", "3"]] {
        let answers = AskAnswer::Questions { answers: answers.into_iter().map(str::to_owned).collect() };
        assert_eq!(code(world.person(answer(&world, answers))), RefusalCode::InvalidArgument);
    }
    assert_eq!(code(world.person(answer(&world, grant(Grant::Once)))), RefusalCode::InvalidArgument);
    let both = AskAnswer::Questions { answers: vec!["red".to_owned(), "2".to_owned()] };
    assert_eq!(names(&world.person(answer(&world, both)).unwrap()), ["questions_answered"]);
}

#[test]
fn changed_arguments_are_for_one_call_and_are_recorded_with_the_answer() {
    let (mut world, _) = asking(permission("make test"));
    let changed = |grant, arguments| AskAnswer::Permission { grant, note: None, arguments: Some(Box::new(arguments)) };
    let quick = json!({ "command": "make quick-test" });
    for (grant, arguments, expected) in [
        (Grant::Plan, quick.clone(), RefusalCode::InvalidArgument),
        (Grant::Always, quick.clone(), RefusalCode::InvalidArgument),
        (Grant::No, quick.clone(), RefusalCode::InvalidArgument),
        (Grant::Once, json!(["make"]), RefusalCode::InvalidArgument),
        (Grant::Once, json!({ "command": "x".repeat(256 * 1024) }), RefusalCode::LimitExceeded),
    ] {
        assert_eq!(code(world.person(answer(&world, changed(grant, arguments)))), expected, "{grant:?}");
    }
    let events = world.person(answer(&world, changed(Grant::Once, quick.clone()))).unwrap();
    let [Event::Turn { event: TurnEvent::PermissionAnswered { arguments, .. }, .. }] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(arguments.as_deref(), Some(&quick));
    assert_eq!(asked(&world).answer(), Some(&changed(Grant::Once, quick)));
    assert_eq!(replayed(&world), world.snapshot);
}

#[test]
fn a_signature_covers_the_arguments_that_were_changed() {
    let (mut world, _) = asking(permission("make test"));
    world.policy.approval = ApprovalPolicy::requiring(Require::Verified);
    world.policy.approvers = Approvers(vec![approver("ada", 1)]);
    let Ask { id, digest, .. } = asked(&world);
    let (quick, other) = (json!({ "command": "make quick-test" }), json!({ "command": "rm -r bin" }));
    let changed = AskAnswer::Permission { grant: Grant::Once, note: None, arguments: Some(Box::new(quick.clone())) };
    for signed in [None, Some(&other)] {
        let by = signing(&world, "ada", 1, Act::permit(&id, digest, Grant::Once, signed));
        refused(world.send(by, answer(&world, changed.clone())), RefusalCode::StaleApproval, "not what was shown");
    }
    let by = signing(&world, "ada", 1, Act::permit(&id, digest, Grant::Once, Some(&quick)));
    world.send(by, answer(&world, changed)).unwrap();
}

#[test]
fn for_the_plan_needs_a_plan_that_is_carried_out() {
    let (mut world, _) = asking(permission("make test"));
    assert_eq!(code(world.person(answer(&world, grant(Grant::Plan)))), RefusalCode::WrongStatus);
    let mut world = World::ready_document(TWO_STEPS);
    world.approve(Selection::All).unwrap();
    world.start().unwrap();
    world.person(say("hello")).unwrap();
    let turn = world.turn();
    world.agent(tell(&turn, &[calls(&["run_command"])])).unwrap();
    world.agent(ask(&turn, 1, permission("make test"))).unwrap();
    world.person(answer(&world, grant(Grant::Plan))).unwrap();
    let session = world.snapshot.session.as_ref().unwrap();
    let execution = world.active().execution.as_ref().unwrap().id.clone();
    let granted: Vec<_> = session.granted.iter().map(|call| (call.execution.clone(), call.tool.as_str())).collect();
    assert_eq!(granted, [(execution, "run_command")]);
    assert_eq!(replayed(&world), world.snapshot);
}

#[test]
fn the_process_that_continues_first_is_told_from_one_that_comes_after_a_crash() {
    let (mut world, turn) = asking(permission("make test"));
    world.person(answer(&world, grant(Grant::Once))).unwrap();
    assert!(matches!(asked(&world).state, AskState::Answered { .. }));
    world.send(Actor::system("server"), resume_turn(&turn)).unwrap();
    assert!(matches!(asked(&world).state, AskState::Begun { .. }));
    let resumed = |world: &World| world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap().resumed;
    assert_eq!(resumed(&world), 0, "it waited; no process ended in the middle of it");
    world.send(Actor::system("server"), resume_turn(&turn)).unwrap();
    assert_eq!(resumed(&world), 1);
    world.agent(tell(&turn, &[done_with(1)])).unwrap();
    assert_eq!(world.snapshot.session.as_ref().unwrap().turn.as_ref().unwrap().ask, None);
}

#[test]
fn a_stop_ends_the_turn_and_the_ask_with_it() {
    let (mut world, _) = asking(permission("make test"));
    let command = answer(&world, grant(Grant::Once));
    let events = world.person(Command::Turn(TurnCommand::Stop)).unwrap();
    assert!(events.iter().any(|event| matches!(
        event,
        Event::Turn { event: TurnEvent::Ended { ending }, .. } if ending.end == TurnEnd::Stopped
    )));
    assert_eq!(code(world.person(command)), RefusalCode::NotFound);
}

#[test]
fn what_is_asked_has_limits() {
    let mut world = World::ready_document(TWO_STEPS);
    world.person(say("hello")).unwrap();
    let turn = world.turn();
    world.agent(tell(&turn, &[calls(&["ask_person"])])).unwrap();
    let long = "x".repeat(16 * 1024 + 1);
    let many: Vec<_> = (0..11).map(|_| "why?").collect();
    for (texts, expected) in [
        (vec![], RefusalCode::InvalidArgument),
        (vec![" "], RefusalCode::InvalidArgument),
        (many, RefusalCode::InvalidArgument),
        (vec![long.as_str()], RefusalCode::LimitExceeded),
    ] {
        assert_eq!(code(world.agent(ask(&turn, 1, questions(&texts)))), expected);
    }
    assert_eq!(code(world.agent(ask(&turn, 2, questions(&["why?"])))), RefusalCode::Conflict, "not the next call");
    assert_eq!(names(&world.agent(ask(&turn, 1, questions(&["why?"]))).unwrap()), ["questions_asked"]);
    let digest: Digest = asked(&world).digest;
    assert_eq!(digest, questions(&["why?"]).digest(&turn, 1));
}
