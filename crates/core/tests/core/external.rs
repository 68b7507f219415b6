//! What the agent of another program does through MCP.

use planwright_core::ask::{AskAnswer, CallToPermit, GatewayAsk, GatewayCallRecord, GatewayReason, Grant};
use planwright_core::command::{
    AnswerCommand, CallRunner, Command, ExecutionCommand, ExternalCommand, ProgressReport, StepOutcome,
};
use planwright_core::ids::RequestId;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::content::PlanContent;
use planwright_core::plan::execution::{PermissionCounts, StepStatus};
use planwright_core::plan::waiting::WaitingFor;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::{Refusal, RefusalCode};
use serde_json::json;

use crate::world::*;

fn set_external(markdown: &str, expected: Option<planwright_core::plan::Digest>) -> Command {
    Command::External(ExternalCommand::SetContent { markdown: markdown.to_owned(), title: None, expected })
}

fn add_call(tool: &str, runner: CallRunner) -> Command {
    Command::External(ExternalCommand::AddCall {
        tool: tool.to_owned(),
        arguments: json!({ "n": 1 }),
        description: Some("why".to_owned()),
        runner,
    })
}

fn report_external(step: Option<usize>, status: StepStatus) -> Command {
    Command::External(ExternalCommand::Report(ProgressReport { step, outcome: outcome(status) }))
}

/// The plan that is over keeps its place in the history; the new text is a plan of its own.
#[test]
fn content_after_the_end_of_a_plan_begins_the_next_one() {
    for ending in ["completed", "rejected", "cancelled"] {
        let mut world = World::ready_document("- [ ] one");
        let first = world.active().id.clone();
        match ending {
            "completed" => {
                world.approve(Selection::All).unwrap();
                world.agent(report_external(None, StepStatus::Completed)).unwrap();
            }
            "rejected" => drop(world.person(reject(&first)).unwrap()),
            _ => drop(world.person(cancel(&first)).unwrap()),
        }
        refused(world.agent(set("- [ ] two")), RefusalCode::WrongStatus, "");
        refused(world.agent(set_external(" ", None)), RefusalCode::InvalidArgument, "plan");
        world.agent(set_external("- [ ] two", None)).unwrap();
        assert_eq!((world.active().number, world.active().status), (2, PlanStatus::Ready), "{ending}");
        assert!(world.plan(&first).status.is_final(), "{ending}");
        assert!(world.enabled());
    }
}

#[test]
fn a_stale_digest_is_refused_and_changes_nothing() {
    let mut world = World::ready_document("- [ ] one");
    let read = world.active().digest();
    world.agent(set_external("- [ ] two", Some(read))).unwrap();
    let before = world.active().clone();
    refused(
        world.agent(set_external("- [ ] three", Some(read))),
        RefusalCode::Conflict,
        "not the version that you read",
    );
    assert_eq!(*world.active(), before);
}

#[test]
fn recorded_calls_of_the_client_are_reported_by_it_and_those_of_planwright_are_not() {
    let mut world = World::planning(PlanStyle::Collect);
    world.agent(add_call("Bash", CallRunner::Client)).unwrap();
    world.agent(add_call("files__write", CallRunner::Planwright)).unwrap();
    refused(
        world.agent(report_external(None, StepStatus::Completed)),
        RefusalCode::WrongStatus,
        "approved or executing",
    );
    world.agent(finalize()).unwrap();
    world.approve(Selection::All).unwrap();
    refused(world.agent(report_external(Some(2), StepStatus::Completed)), RefusalCode::PolicyDenied, "itself");
    refused(world.agent(report(None, StepStatus::Completed)), RefusalCode::PolicyDenied, "style");
    world.agent(report_external(Some(1), StepStatus::Completed)).unwrap();
    assert_eq!(world.active().status, PlanStatus::Executing);
    assert!(!world.active().waits_for_client());
    world.run_step("s2");
    world.finish().unwrap();
    assert_eq!(world.active().status, PlanStatus::Completed);
}

/// Plans of earlier versions have no such field, and their digests stay as they are.
#[test]
fn the_runner_of_a_call_is_part_of_the_digest_only_where_it_is_the_client() {
    let digest = |runner| {
        let mut world = World::planning(PlanStyle::Collect);
        world.agent(add_call("send", runner)).unwrap();
        let PlanContent::Collect(collected) = &world.active().content else { panic!() };
        let json = serde_json::to_string(collected).unwrap();
        assert_eq!(json.contains("runner"), runner == CallRunner::Client, "{json}");
        world.active().digest()
    };
    assert_ne!(digest(CallRunner::Client), digest(CallRunner::Planwright));
}

#[test]
fn a_refused_call_is_recorded_and_counted_while_a_plan_is_carried_out() {
    let count = || {
        let (tool, arguments) = ("up__pay".to_owned(), json!({ "to": "eve" }));
        let refusal = Refusal::policy_denied("not a call of the plan");
        Command::External(ExternalCommand::RecordRefused { tool, arguments, refusal })
    };
    let mut world = World::ready_document("- [ ] one");
    let events = world.agent(count()).unwrap();
    assert_eq!(names(&events), ["gateway_refused"]);
    assert_eq!(events[0].plan(), Some(&world.active().id), "it is listed with the plan");
    world.approve(Selection::All).unwrap();
    world.agent(report_external(None, StepStatus::InProgress)).unwrap();
    world.agent(count()).unwrap();
    assert_eq!(world.active().execution.as_ref().unwrap().steps[0].permissions.refused, 1);
    // A call is counted once as each of what it was: asked about, refused, covered by the plan.
    let asked = |state| {
        let (tool, arguments) = ("up__pay".to_owned(), json!({ "to": "ada" }));
        Command::External(ExternalCommand::RecordAsk { tool, arguments, state })
    };
    for state in [GatewayAsk::Asked, GatewayAsk::NotPermitted, GatewayAsk::NotAsked] {
        let events = world.agent(asked(state)).unwrap();
        assert_eq!(events[0].plan(), Some(&world.active().id), "it is listed with the plan");
    }
    world.agent(count()).unwrap();
    for state in [GatewayAsk::Asked, GatewayAsk::Permitted] {
        world.agent(asked(state)).unwrap();
    }
    for why in [GatewayReason::Permitted, GatewayReason::Reads, GatewayReason::DuringPlan, GatewayReason::Rule] {
        let (call, tool) = (RequestId::new(format!("call-{why}")).unwrap(), "up__pay".to_owned());
        let record = GatewayCallRecord { call, tool, arguments: json!({ "to": "ada" }), why, outcome: None };
        world.agent(Command::External(ExternalCommand::RecordCall(record))).unwrap();
    }
    let counted = world.active().execution.as_ref().unwrap().steps[0].permissions;
    assert_eq!(counted, PermissionCounts { covered: 1, asked: 2, refused: 2 });
    let plan = world.active().id.clone();
    refused(world.person(Command::Execution(ExecutionCommand::Start { plan })), RefusalCode::WrongStatus, "");
}

#[test]
fn calls_that_a_hook_decided_about_are_counted_while_a_plan_is_carried_out() {
    let count = |permissions| Command::External(ExternalCommand::CountCall { permissions });
    let mut world = World::ready_document("- [ ] one");
    world.approve(Selection::All).unwrap();
    assert!(world.agent(count(PermissionCounts::COVERED)).unwrap().is_empty(), "nothing is carried out yet");
    world.agent(report_external(None, StepStatus::InProgress)).unwrap();
    for permissions in [PermissionCounts::COVERED, PermissionCounts::ASKED, PermissionCounts::COVERED] {
        assert_eq!(names(&world.agent(count(permissions)).unwrap()), ["permissions_counted"]);
    }
    let counted = world.active().execution.as_ref().unwrap().permissions();
    assert_eq!(counted, PermissionCounts { covered: 2, asked: 1, refused: 0 });
    world.agent(report_external(None, StepStatus::Completed)).unwrap();
    assert!(world.agent(count(PermissionCounts::COVERED)).unwrap().is_empty(), "it has ended");
}

#[test]
fn a_call_of_a_client_is_asked_about_once_and_permitted_by_a_person_beside_an_approved_plan() {
    let asked = |command: &str| {
        let (tool, arguments) = ("Bash".to_owned(), json!({ "command": command }));
        let (reason, paths) = ("not covered".to_owned(), Vec::new());
        Command::External(ExternalCommand::AskClientCall(CallToPermit { tool, arguments, reason, paths, always: None }))
    };
    let mut world = World::ready_document("- [ ] one");
    refused(world.agent(asked("make")), RefusalCode::WrongStatus, "No approved plan");
    world.approve(Selection::All).unwrap();
    assert_eq!(names(&world.agent(asked("make")).unwrap()), ["client_call_asked"]);
    assert!(world.agent(asked("make")).unwrap().is_empty(), "once");
    let session = world.snapshot.session.clone().unwrap();
    let ask = session.waiting_ask().unwrap().clone();
    let answer = |grant, digest| {
        let answer = AskAnswer::permission(grant, None);
        Command::Answer(AnswerCommand { ask: ask.id.clone(), digest, answer })
    };
    refused(world.agent(answer(Grant::Once, ask.digest)), RefusalCode::PolicyDenied, "Only a person");
    let other = world.active().digest();
    refused(world.person(answer(Grant::Once, other)), RefusalCode::StaleApproval, "");
    refused(world.person(answer(Grant::Always, ask.digest)), RefusalCode::InvalidArgument, "No rule");
    let take = || Command::External(ExternalCommand::TakeClientCall { ask: ask.id.clone() });
    refused(world.agent(take()), RefusalCode::NotFound, "");
    assert_eq!(names(&world.person(answer(Grant::Once, ask.digest)).unwrap()), ["client_call_answered"]);
    refused(world.person(answer(Grant::No, ask.digest)), RefusalCode::Conflict, "already");
    assert_eq!(names(&world.agent(take()).unwrap()), ["client_call_taken"]);
    refused(world.agent(take()), RefusalCode::NotFound, "");
    // It ends with the plan.
    world.agent(asked("make")).unwrap();
    world.agent(report_external(None, StepStatus::Completed)).unwrap();
    let session = world.snapshot.session.clone().unwrap();
    assert!(session.client_asks.is_empty() && session.waiting_ask().is_none());
}

#[test]
fn a_step_that_is_done_keeps_the_note_of_the_first_report() {
    let done = |note: &str, evidence: Option<&str>| {
        let (note, evidence) = (Some(note.to_owned()), evidence.map(str::to_owned));
        let outcome = StepOutcome { status: StepStatus::Completed, note, evidence };
        Command::External(ExternalCommand::Report(ProgressReport { step: Some(1), outcome }))
    };
    let mut world = World::ready_document("- [ ] one\n- [ ] two");
    world.approve(Selection::All).unwrap();
    world.agent(done("first", None)).unwrap();
    assert!(world.agent(done("second", None)).unwrap().is_empty());
    world.agent(done("third", Some("log"))).unwrap();
    let step = &world.active().execution.as_ref().unwrap().steps[0];
    assert_eq!((step.note.as_deref(), step.evidence.as_deref()), (Some("first"), Some("log")));
}

#[test]
fn refused_calls_in_numbers_are_to_be_looked_at_while_the_plan_is_carried_out() {
    let refused = || {
        let refusal = Refusal::policy_denied("not a call of the plan");
        let (tool, arguments) = ("up__pay".to_owned(), json!({}));
        Command::External(ExternalCommand::RecordRefused { tool, arguments, refusal })
    };
    let mut world = World::ready_document("- [ ] one");
    world.approve(Selection::All).unwrap();
    world.agent(report_external(None, StepStatus::InProgress)).unwrap();
    for count in 1..=5 {
        assert_eq!(world.active().wants_a_look(), None, "{count}");
        world.agent(refused()).unwrap();
    }
    assert_eq!(world.active().wants_a_look(), Some(WaitingFor::RefusedCalls { count: 5 }));
    assert!(!world.active().waits_for_person(), "the work goes on");
    world.agent(report_external(None, StepStatus::Completed)).unwrap();
    assert_eq!(world.active().wants_a_look(), None);
}

#[test]
fn a_plan_says_which_program_makes_each_call() {
    let mut world = World::planning(PlanStyle::Collect);
    world.agent(add_call("up__note", CallRunner::Planwright)).unwrap();
    assert!(!world.active().markdown().contains("makes this call"), "Planwright makes all of them");
    world.agent(add_call("Bash", CallRunner::Client)).unwrap();
    let text = world.active().markdown();
    for expected in ["(Planwright makes this call)", "(the agent's own tool; the agent makes this call)"] {
        assert_eq!(text.matches(expected).count(), 1, "{text}");
    }
}
