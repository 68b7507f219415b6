//! Sentences about approved plans that are carried out.

use cucumber::{given, then, when};
use planwright_core::model::ModelMessage;
use planwright_core::plan::execution::StepState;
use planwright_llm::scripted::Reply;
use planwright_surfaces::wire::ApprovalView;
use serde_json::{Value, json};

use crate::conversation::{says, types};
use crate::world::{World, unescaped};

/// The agent in the conversation writes the document, and the person is shown it.
#[given(expr = "the document {string} is ready")]
async fn document(world: &mut World, markdown: String) {
    let script = [
        Reply::call("plan_set_content", json!({ "plan_markdown": unescaped(&markdown) })),
        Reply::text("There it is."),
    ];
    drafted(world, "document", script.into()).await;
}

/// Such as `pay {"amount": 3}; mail {}`.
#[given(regex = r"^a plan with the calls '(.+)' is ready$")]
async fn collected(world: &mut World, calls: String) {
    let mut reply = Reply::default();
    for call in calls.split("; ") {
        let (tool, arguments) = call.split_once(' ').expect("a tool and its arguments");
        reply = reply.and_call(tool, serde_json::from_str(arguments).expect("JSON"));
    }
    drafted(world, "collect", vec![reply, Reply::call("plan_finalize", json!({}))]).await;
}

/// Such as `coder: Write it; tester: Test it (needs 1)`.
#[given(regex = r#"^a plan with the goal "(.+)" and the steps "(.+)" is ready$"#)]
async fn built(world: &mut World, goal: String, steps: String) {
    drafted(world, "build", proposal(&goal, &steps)).await;
}

fn proposal(goal: &str, steps: &str) -> Vec<Reply> {
    let some = json!(["something"]);
    let all = json!({ "assumptions": some, "risks": some, "verification": some, "files": some });
    let mut reply = Reply::call("plan_create_draft", json!({ "goal": goal })).and_call("plan_set_metadata", all);
    for step in steps.split("; ") {
        let (agent, what) = step.split_once(": ").expect("an agent and what it does");
        let (what, needs) = match what.split_once(" (needs ") {
            Some((what, needs)) => {
                (what, needs.trim_end_matches(')').split(',').map(|need| format!("s{need}")).collect())
            }
            None => (what, Vec::new()),
        };
        reply = reply.and_call("plan_add_step", json!({ "description": what, "agent": agent, "needs": needs }));
    }
    vec![reply, Reply::call("plan_submit", json!({}))]
}

/// What waits in the script comes after the drafting.
async fn drafted(world: &mut World, style: &str, script: Vec<Reply>) {
    let later = std::mem::replace(&mut world.talk.script, script);
    types(world, format!("/plan on {style}")).await;
    says(world, "Plan it".to_owned()).await;
    world.talk.script = later;
}

/// The specialist or the agent in the conversation reports on a step, such as `done` or `failed: no network`.
#[given(expr = "the model reports {string}")]
fn reports(world: &mut World, report: String) {
    let (status, note) = report.split_once(": ").unwrap_or((&report, ""));
    let mut arguments = json!({ "status": status });
    if !note.is_empty() {
        arguments["note"] = Value::from(note);
    }
    world.talk.script.push(Reply::call("plan_progress", arguments));
}

#[when(expr = "the person types {string} and the id of plan {int} and {string}")]
async fn types_id(world: &mut World, before: String, number: u32, after: String) {
    let id = world.plan(number).await.id;
    types(world, format!("{before} {id} {after}")).await;
}

#[then("it is refused")]
fn is_refused(world: &mut World) {
    assert!(world.talk.answer().refused(), "{}", world.talk.answer().reply);
}

#[then(expr = "the person first reads {string}")]
fn first_reads(world: &mut World, text: String) {
    let decided = world.talk.answer().decided.as_deref().unwrap_or_default();
    assert!(decided.contains(&text), "{decided}");
}

#[then(expr = "the person does not read {string}")]
fn does_not_read(world: &mut World, text: String) {
    let reply = &world.talk.answer().reply;
    assert!(!reply.contains(&text), "{reply}");
}

#[then(expr = "the model was asked {int} time(s)")]
fn asked(world: &mut World, expected: usize) {
    assert_eq!(world.talk.asked_since(), expected);
}

#[then(expr = "the model was once sent {string}")]
fn once_sent(world: &mut World, text: String) {
    let requests = world.talk.model.requests();
    let users = requests.iter().flat_map(|request| &request.messages).filter_map(|message| match message {
        ModelMessage::User { text } => Some(text),
        ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. } => None,
    });
    let found: Vec<_> = users.collect();
    assert!(found.iter().any(|sent| sent.contains(&text)), "{found:#?}");
}

#[then(expr = "the model was never told {string}")]
fn never_told(world: &mut World, text: String) {
    let requests = world.talk.model.requests();
    assert!(!requests.is_empty(), "the model was not asked");
    assert!(!format!("{requests:?}").contains(&text));
}

async fn run(world: &World, number: u32, position: usize) -> StepState {
    world.plan(number).await.execution.expect("it was carried out").steps[position - 1].clone()
}

#[then(expr = "step {int} of plan {int} is {word} with the note {string}")]
async fn step_noted(world: &mut World, position: usize, number: u32, status: String, note: String) {
    let run = run(world, number, position).await;
    assert_eq!(run.status.as_str(), status, "{:?}", run.note);
    assert!(run.note.as_deref().is_some_and(|known| known.contains(&note)), "{:?}", run.note);
}

#[then(expr = "step {int} of plan {int} is {word} with the evidence {string}")]
async fn step_shown(world: &mut World, position: usize, number: u32, status: String, evidence: String) {
    let run = run(world, number, position).await;
    assert_eq!((run.status.as_str(), run.evidence.as_deref()), (status.as_str(), Some(evidence.as_str())));
}

#[then(expr = "plan {int} was carried out {int} time(s)")]
async fn executions(world: &mut World, number: u32, expected: u32) {
    let execution = world.plan(number).await.execution;
    assert_eq!(execution.map_or(0, |execution| execution.number), expected);
}

#[then(expr = "the approval of plan {int} was given by the {word} {string}")]
async fn given_by(world: &mut World, number: u32, kind: String, name: String) {
    let approval = world.plan(number).await.approval.expect("approved");
    let view = ApprovalView::from(&*approval);
    assert_eq!((view.given, view.by), (kind.as_str(), name));
}

#[then(expr = "plan {int} is not approved")]
async fn not_approved(world: &mut World, number: u32) {
    assert_eq!(world.plan(number).await.approval, None);
}

#[then(expr = "the journal has {string} before {string}")]
async fn in_order(world: &mut World, first: String, then: String) {
    let names: Vec<_> = world.all_events().await.iter().map(|event| event.name()).collect();
    let last = |name: &str| names.iter().rposition(|known| *known == name);
    let (first, then) = (last(&first), last(&then));
    assert!(first.is_some() && first < then, "{names:#?}");
}

#[when("the journal is noted")]
async fn noted(world: &mut World) {
    world.note_journal().await;
}

#[then(expr = "plan {int} waits after step {int}")]
async fn waits_after(world: &mut World, number: u32, position: usize) {
    let execution = world.plan(number).await.execution.expect("it was carried out");
    assert_eq!(execution.step_pause().map(|pause| pause.step), Some(position), "{execution:?}");
}
