//! The older `plans.json`: what is taken, what is skipped and why, and what the plan looks like afterwards.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, Decision, ExecutionCommand, ImportedPlan};
use planwright_core::ids::PlanId;
use planwright_core::legacy::{self, Legacy};
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanContent, PlanStatus, PlanStyle};
use planwright_core::refusal::RefusalCode;
use planwright_core::session::TransportChat;
use serde_json::{Value, json};

use crate::world::*;

struct Taken {
    session: String,
    plan: Box<ImportedPlan>,
    notes: Vec<String>,
}

/// The newest version of the format, with `changes` laid over it.
fn element(changes: Value) -> Value {
    let mut element = json!({
        "id": "plan-0001", "title": "Move house", "description": "as we said", "markdown": "1. Pack\n2. Drive",
        "status": "READY", "steps": [], "modelTier": "smart", "channelType": "telegram", "chatId": "k3yk3y8x",
        "transportChatId": "-100200", "createdAt": "2024-05-01T10:00:00Z", "updatedAt": "2024-05-02T10:00:00Z",
        "somethingElse": { "is": "ignored" },
    });
    for (name, value) in changes.as_object().unwrap() {
        element[name] = value.clone();
    }
    element
}

fn call(changes: Value) -> Value {
    let mut step = json!({
        "id": "step-a", "planId": "plan-0001", "toolName": "write_file", "description": "Write it",
        "toolArguments": { "path": "a.txt" }, "order": 0, "status": "PENDING", "result": null,
        "createdAt": "2024-05-01T10:00:00Z", "executedAt": null,
    });
    for (name, value) in changes.as_object().unwrap() {
        step[name] = value.clone();
    }
    step
}

fn without(mut element: Value, names: &[&str]) -> Value {
    for name in names {
        element.as_object_mut().unwrap().remove(*name);
    }
    element
}

fn read(elements: Value) -> Vec<Legacy> {
    legacy::read(&elements.to_string()).unwrap()
}

#[track_caller]
fn taken(element: Value) -> Taken {
    match read(json!([element])).remove(0) {
        Legacy::Taken { session, plan, notes } => Taken { session: session.to_string(), plan, notes },
        Legacy::Skipped { reason, .. } => panic!("skipped: {reason}"),
    }
}

#[track_caller]
fn skipped(element: Value, text: &str) {
    match read(json!([element])).remove(0) {
        Legacy::Taken { plan, .. } => panic!("taken: {plan:?}"),
        Legacy::Skipped { index, id, reason } => {
            assert_eq!(index, 0);
            assert_eq!(id.as_deref(), element.get("id").and_then(Value::as_str));
            assert!(reason.contains(text), "{text:?} is not in {reason:?}");
        }
    }
}

/// Takes the plan into a session of its own.
fn import(element: Value) -> (World, Plan) {
    let taken = taken(element);
    let mut world = World::unopened(&taken.session);
    let id = taken.plan.id.clone();
    world.person(Command::Import(taken.plan)).unwrap();
    let plan = world.plan(&id).clone();
    (world, plan)
}

#[test]
fn the_newest_version_is_taken_as_it_is() {
    let taken = taken(element(json!({})));
    assert_eq!(taken.session, "telegram:k3yk3y8x");
    assert_eq!(taken.notes, Vec::<String>::new());
    let plan = taken.plan;
    assert_eq!(plan.origin.transport_chat, Some(TransportChat("-100200".to_owned())));
    assert_eq!(plan.origin.description.as_deref(), Some("as we said"));
    assert_eq!(plan.origin.model_tier.as_deref(), Some("smart"));
    assert_eq!(plan.title.as_deref(), Some("Move house"));
    assert_eq!(plan.status, PlanStatus::Ready);
    assert_eq!(plan.created_at.to_string(), "2024-05-01T10:00:00Z");
    assert_eq!(plan.execution, None);
}

#[test]
fn the_older_two_versions_have_no_channel() {
    for missing in [vec!["channelType", "transportChatId"], vec!["channelType", "transportChatId", "markdown"]] {
        let taken = taken(without(element(json!({ "chatId": "12345" })), &missing));
        assert_eq!(taken.session, "legacy:12345");
        assert_eq!(taken.plan.origin.transport_chat, Some(TransportChat("12345".to_owned())));
        assert_eq!(taken.plan.content.style(), PlanStyle::Document);
    }
    let nulls =
        taken(element(json!({ "channelType": null, "transportChatId": null, "chatId": "-1", "markdown": null })));
    assert_eq!(nulls.session, "legacy:-1");
    assert!(nulls.plan.content.is_empty());
    for chat in [
        without(element(json!({ "channelType": null })), &["chatId"]),
        element(json!({ "channelType": null, "chatId": null })),
    ] {
        let taken = taken(chat);
        assert_eq!(taken.session, "legacy:default");
        assert!(taken.notes[0].contains("legacy:default"), "{:?}", taken.notes);
    }
}

#[test]
fn channels_are_read_in_any_case() {
    for (name, session) in [("WEB", "web:k3yk3y8x"), ("Cli", "cli:k3yk3y8x"), ("acp", "acp:k3yk3y8x")] {
        assert_eq!(taken(element(json!({ "channelType": name }))).session, session);
    }
}

#[test]
fn every_status_has_its_place() {
    for (older, now) in [
        ("COLLECTING", PlanStatus::Collecting),
        ("READY", PlanStatus::Ready),
        ("APPROVED", PlanStatus::Approved),
        ("EXECUTING", PlanStatus::PartiallyCompleted),
        ("COMPLETED", PlanStatus::Completed),
        ("PARTIALLY_COMPLETED", PlanStatus::PartiallyCompleted),
        ("CANCELLED", PlanStatus::Cancelled),
    ] {
        let (world, plan) = import(element(json!({ "status": older })));
        assert_eq!(plan.status, now, "{older}");
        assert_eq!(plan.number, 1);
        assert!(!world.enabled() && world.snapshot.active().is_none(), "an import turned plan mode on");
    }
}

#[test]
fn times_may_lack_a_zone_or_be_missing() {
    for (created, updated, expected, note) in [
        (
            json!("2024-05-01T10:00:00"),
            json!("2024-05-01T12:00:00+02:00"),
            ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"),
            None,
        ),
        (
            json!("2024-05-01T10:00:00.123456789Z"),
            json!("2024-05-01T10:00:01"),
            ("2024-05-01T10:00:00.123456789Z", "2024-05-01T10:00:01Z"),
            None,
        ),
        (json!(null), json!("2024-05-01T10:00:00Z"), ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"), Some("created")),
        (json!("2024-05-01T10:00:00Z"), json!(null), ("2024-05-01T10:00:00Z", "2024-05-01T10:00:00Z"), Some("updated")),
        (json!(null), json!(null), ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"), Some("no times")),
    ] {
        let taken = taken(element(json!({ "createdAt": created, "updatedAt": updated })));
        let times = (taken.plan.created_at.to_string(), taken.plan.updated_at.to_string());
        assert_eq!((times.0.as_str(), times.1.as_str()), expected, "{created} {updated}");
        assert_eq!(taken.notes.len(), usize::from(note.is_some()));
        assert!(note.is_none_or(|note| taken.notes[0].contains(note)), "{:?}", taken.notes);
    }
}

#[test]
fn what_is_wrong_is_skipped_and_says_why() {
    for (changes, text) in [
        (json!({ "id": null }), "it has no id"),
        (json!({ "id": "" }), "is not an id"),
        (json!({ "id": "a b" }), "is not an id"),
        (json!({ "id": 7 }), "/id is a number, not text"),
        (json!({ "title": ["a"] }), "/title is a list, not text"),
        (json!({ "markdown": { "a": 1 } }), "/markdown is an object, not text"),
        (json!({ "description": true }), "/description is true or false, not text"),
        (json!({ "modelTier": 1.5 }), "/modelTier is a fraction, not text"),
        (json!({ "status": null }), "it has no status"),
        (json!({ "status": "REJECTED" }), "its status `REJECTED` is none of the older format"),
        (json!({ "status": "ready" }), "its status `ready`"),
        (json!({ "channelType": "pigeon" }), "`pigeon` is not a channel"),
        (json!({ "chatId": null }), "it came through telegram but has no chatId"),
        (json!({ "chatId": "a/b" }), "`a/b` is not a conversation key"),
        (json!({ "chatId": "" }), "is not a conversation key"),
        (json!({ "chatId": 12345 }), "/chatId is a number, not text"),
        (json!({ "channelType": null, "chatId": "x".repeat(65) }), "is not a conversation key"),
        (json!({ "createdAt": "yesterday" }), "/createdAt is `yesterday`, not a time"),
        (json!({ "updatedAt": 1_714_557_600 }), "/updatedAt is a number, not text"),
        (json!({ "steps": {} }), "/steps is an object, not a list"),
        (json!({ "steps": [null] }), "/steps/0 is null, not an object"),
        (json!({ "steps": [call(json!({ "status": "UNCERTAIN" }))] }), "/steps/0/status `UNCERTAIN`"),
        (json!({ "steps": [call(json!({ "order": "first" }))] }), "/steps/0/order is text, not a whole number"),
        (json!({ "steps": [call(json!({ "executedAt": "soon" }))] }), "/steps/0/executedAt is `soon`"),
        (json!({ "steps": [call(json!({ "result": 1 }))] }), "/steps/0/result is a number, not text"),
        (json!({ "steps": [call(json!({ "toolArguments": [] }))] }), "/steps/0/toolArguments is a list, not an object"),
        (json!({ "steps": [call(json!({ "toolArguments": "[1]" }))] }), "/steps/0/toolArguments holds a list"),
        (
            json!({ "steps": [call(json!({ "toolArguments": "{" }))] }),
            "/steps/0/toolArguments is text that is not JSON",
        ),
        (json!({ "markdown": null, "steps": [call(json!({ "toolName": null }))] }), "/steps/0/toolName is missing"),
        (
            json!({ "markdown": null, "steps": [call(json!({ "toolName": "x".repeat(129) }))] }),
            "/steps/0/toolName: The name",
        ),
    ] {
        skipped(element(changes), text);
    }
    skipped(json!(null), "it is null, not an object");
    skipped(json!([]), "it is a list, not an object");
}

#[test]
fn one_bad_element_does_not_cost_the_others() {
    let file = json!([
        element(json!({ "id": "first" })),
        element(json!({ "id": "second", "status": "LOST" })),
        element(json!({ "id": "first", "title": "again" })),
        element(json!({ "id": "second" })),
        3,
    ]);
    let outcomes: Vec<_> = read(file)
        .into_iter()
        .map(|outcome| match outcome {
            Legacy::Taken { plan, .. } => format!("{} taken", plan.id),
            Legacy::Skipped { index, reason, .. } => format!("{index} skipped: {reason}"),
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            "first taken",
            "1 skipped: its status `LOST` is none of the older format",
            "2 skipped: plan first is in the file more than once",
            "second taken",
            "4 skipped: it is a number, not an object",
        ]
    );
}

#[test]
fn only_a_file_that_is_no_array_is_refused() {
    for (file, text) in [
        ("", "line 1 column 0"),
        ("{}", "line 1 column 0"),
        ("[\n  {\"id\": }\n]", "line 2 column 10"),
        ("[] []", "trailing characters at line 1 column 4"),
        ("null", "expected a sequence at line 1"),
        ("\u{feff}\u{feff}[]", "line 1 column 1"),
    ] {
        let refusal = legacy::read(file).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArgument);
        assert!(refusal.message.contains(text), "{text:?} is not in {:?}", refusal.message);
    }
    assert_eq!(legacy::read("[]").unwrap(), []);
    assert_eq!(legacy::read("\u{feff} [] \n").unwrap(), []);
}

#[test]
fn recorded_calls_keep_their_order_ids_and_outcomes() {
    let steps = json!([
        call(json!({ "id": "c", "order": 3, "status": "IN_PROGRESS" })),
        call(
            json!({ "id": "a", "order": 1, "status": "COMPLETED", "result": "written", "executedAt": "2024-05-01T11:00:00" })
        ),
        call(
            json!({ "id": "b", "order": 2, "status": "FAILED", "result": "disk full", "toolArguments": "{\"n\": 1}" })
        ),
        call(json!({ "id": "d", "order": 4, "toolArguments": null, "description": null })),
    ]);
    let imported = taken(element(json!({ "markdown": " \n", "status": "EXECUTING", "steps": steps })));
    assert!(imported.notes.iter().any(|note| note.contains("was EXECUTING")), "{:?}", imported.notes);
    assert!(imported.notes.iter().any(|note| note.contains("step c was running")), "{:?}", imported.notes);
    let (_, plan) = import(element(json!({ "markdown": " \n", "status": "EXECUTING", "steps": steps })));
    assert_eq!(plan.status, PlanStatus::PartiallyCompleted);
    let PlanContent::Collect(collected) = &plan.content else { panic!("{:?}", plan.content) };
    let calls: Vec<_> = collected.steps.iter().map(|step| (step.id.as_str(), step.arguments.to_string())).collect();
    let path = r#"{"path":"a.txt"}"#.to_owned();
    assert_eq!(calls, [("a", path.clone()), ("b", r#"{"n":1}"#.to_owned()), ("c", path), ("d", "{}".to_owned())]);
    let execution = plan.execution.unwrap();
    let runs: Vec<_> = execution.steps.iter().map(|run| (run.step.as_str(), run.status, run.note.as_deref())).collect();
    let cut_short = "it was running when the plan was taken over, and its end was never recorded";
    assert_eq!(
        runs,
        [
            ("a", StepStatus::Completed, Some("written")),
            ("b", StepStatus::Failed, Some("disk full")),
            ("c", StepStatus::Failed, Some(cut_short)),
            ("d", StepStatus::Pending, None),
        ]
    );
    assert_eq!(execution.steps[0].finished_at.unwrap().to_string(), "2024-05-01T11:00:00Z");
    assert_eq!(execution.steps[3].description, "write_file({})");
    assert!(execution.finished_at.is_some());
    assert_eq!(execution.started_at.to_string(), "2024-05-01T11:00:00Z");
}

#[test]
fn what_was_done_is_not_done_again() {
    let steps = json!([call(json!({ "id": "a", "status": "COMPLETED" })), call(json!({ "id": "b", "order": 1 }))]);
    let (mut world, plan) =
        import(element(json!({ "markdown": null, "status": "PARTIALLY_COMPLETED", "steps": steps })));
    world.person(resume(&plan.id)).unwrap();
    let execution = world.plan(&plan.id).execution.as_ref().unwrap();
    let statuses: Vec<_> = execution.steps.iter().map(|run| run.status).collect();
    assert_eq!(statuses, [StepStatus::Completed, StepStatus::Pending]);
    assert_eq!(execution.number, 2);
}

#[test]
fn there_is_an_execution_only_if_something_was_begun() {
    for (status, step, begun) in [
        ("COLLECTING", "PENDING", false),
        ("READY", "PENDING", false),
        ("APPROVED", "PENDING", false),
        ("CANCELLED", "PENDING", false),
        ("EXECUTING", "PENDING", true),
        ("COMPLETED", "PENDING", true),
        ("PARTIALLY_COMPLETED", "PENDING", true),
        ("CANCELLED", "SKIPPED", true),
        ("APPROVED", "COMPLETED", true),
    ] {
        let changes = json!({ "markdown": null, "status": status, "steps": [call(json!({ "status": step }))] });
        let (_, plan) = import(element(changes));
        assert_eq!(plan.style(), PlanStyle::Collect);
        assert_eq!(plan.execution.is_some(), begun, "{status} with a step that is {step}");
    }
}

#[test]
fn ids_that_cannot_stay_are_made_anew() {
    let steps = json!([
        call(json!({ "id": "not an id" })),
        call(json!({ "id": "twice" })),
        call(json!({ "id": "twice" })),
        call(json!({ "id": null })),
        call(json!({ "id": "step-4" })),
    ]);
    let taken = taken(element(json!({ "markdown": null, "steps": steps })));
    let ids: Vec<_> = taken.plan.content.steps().iter().map(|step| step.id.to_string()).collect();
    assert_eq!(ids, ["step-1", "twice", "step-3", "step-4-2", "step-4"]);
    assert_eq!(taken.notes.len(), 3, "{:?}", taken.notes);
}

#[test]
fn steps_beside_a_document_are_kept_and_do_not_meet_its_own() {
    let steps = json!([
        call(json!({ "id": "s1", "status": "COMPLETED", "result": "done" })),
        call(json!({ "id": "other", "status": "PENDING", "order": 1 })),
    ]);
    let (mut world, plan) = import(element(json!({ "status": "EXECUTING", "steps": steps })));
    assert_eq!(plan.style(), PlanStyle::Document);
    let runs: Vec<_> = plan.execution.as_ref().unwrap().steps.iter().map(|run| run.step.as_str()).collect();
    assert_eq!(runs, ["older-s1", "other"]);
    let first = &plan.execution.as_ref().unwrap().steps[0];
    assert_eq!(first.description, r#"Write it: write_file({"path":"a.txt"})"#);
    assert_eq!((first.status, first.note.as_deref()), (StepStatus::Completed, Some("done")));
    // What was approved elsewhere is history: only a person begins it here.
    let start = Command::Execution(ExecutionCommand::Start { plan: plan.id.clone() });
    refused(world.send(Actor::system("executor"), start), RefusalCode::PolicyDenied, "no person approved it here");
    world.person(Command::Decide(Decision::Resume { plan: plan.id.clone(), after_step: None })).unwrap();
    let begun = world.plan(&plan.id).execution.as_ref().unwrap();
    assert!(begun.steps.iter().all(|run| run.status == StepStatus::Pending), "{begun:?}");
}

#[test]
fn a_collected_plan_can_be_collected_on_without_using_an_id_twice() {
    let steps = json!([
        call(json!({ "id": "s2" })),
        call(json!({ "id": "s4", "order": 1 })),
        call(json!({ "id": "x", "order": 2 }))
    ]);
    let (mut world, plan) = import(element(json!({ "markdown": null, "status": "COLLECTING", "steps": steps })));
    let mode = &mut world.snapshot.session.as_mut().unwrap().plan_mode;
    (mode.enabled, mode.style, mode.active_plan) = (true, PlanStyle::Collect, Some(plan.id));
    for _ in 0..3 {
        world.agent(record_one()).unwrap();
    }
    let ids: Vec<_> = world.active().content.steps().iter().map(|step| step.id.to_string()).collect();
    assert_eq!(ids, ["s2", "s4", "x", "s5", "s6", "s7"]);
}

#[test]
fn importing_twice_changes_nothing() {
    let (mut world, plan) = import(element(json!({})));
    let before = world.snapshot.clone();
    refused(world.person(Command::Import(taken(element(json!({}))).plan)), RefusalCode::Conflict, "is here already");
    assert_eq!(world.snapshot, before);
    world.person(Command::Import(taken(element(json!({ "id": "plan-0002" }))).plan)).unwrap();
    assert_eq!(world.plan(&PlanId::new("plan-0002").unwrap()).number, 2);
    assert_eq!(world.plan(&plan.id), &plan);
}

#[test]
fn what_is_too_large_is_refused_by_the_session() {
    let many: Vec<_> = (0..501).map(|n| call(json!({ "id": format!("c{n}"), "order": n }))).collect();
    for (changes, text) in [
        (json!({ "markdown": "x".repeat(1024 * 1024 + 1) }), "The plan would have 1048577 bytes"),
        (json!({ "title": "x".repeat(16 * 1024 + 1) }), "The title has"),
        (json!({ "description": "x".repeat(16 * 1024 + 1) }), "The description has"),
        (json!({ "markdown": null, "steps": many }), "501 steps"),
        (json!({ "steps": many }), "501 steps"),
        (json!({ "steps": [call(json!({ "status": "COMPLETED", "result": "x".repeat(1024 * 1024) }))] }), "bytes"),
    ] {
        let taken = taken(element(changes));
        let mut world = World::unopened(&taken.session);
        refused(world.person(Command::Import(taken.plan)), RefusalCode::LimitExceeded, text);
        assert_eq!(world.snapshot.session, None);
    }
}

#[test]
fn a_plan_taken_over_can_be_decided_on() {
    let (mut world, plan) = import(element(json!({})));
    world.person(approve(&plan, Default::default())).unwrap();
    world.person(resume(&plan.id)).unwrap();
    assert_eq!(world.active().id, plan.id);
    let (mut world, empty) = import(element(json!({ "markdown": null })));
    refused(world.person(approve(&empty, Default::default())), RefusalCode::InvalidArgument, "nothing to approve");
}
