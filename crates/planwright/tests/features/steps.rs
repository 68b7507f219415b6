//! The sentences that scenarios are made of.

use std::collections::BTreeSet;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use planwright_agent::tools::PlanTools;
use planwright_core::command::{AfterApproval, Command, Decision};
use planwright_core::ids::PlanId;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::{Plan, PlanStyle};
use planwright_engine::ledger::LedgerError;
use planwright_engine::plan_steps::plan_steps;
use planwright_surfaces::wire::ApprovalView;
use serde_json::{Value, json};

use crate::world::{World, agent, person, unescaped};

const DOCUMENT: &str = "# A plan\n\n- [ ] one\n- [ ] two\n";

#[given(expr = "a session {string}")]
async fn a_session(world: &mut World, session: String) {
    world.open(&session).await;
}

/// A session whose key is shorter than a new one may be.
#[given(expr = "a session {string} that was imported from an earlier version")]
async fn an_imported_session(world: &mut World, session: String) {
    let at = "2025-01-01T00:00:00Z";
    let (channel, key) = session.split_once(':').expect("a channel and a key");
    let plan = json!([{
        "id": "d1b2c3d4-0001", "title": "From before", "markdown": "1. Old", "status": "EXECUTING", "steps": [],
        "channelType": channel, "chatId": key, "transportChatId": "socket-7", "createdAt": at, "updatedAt": at,
    }]);
    let report = world.engine.importer().import(&plan.to_string(), &person()).await.expect("imported");
    let sessions: Vec<_> = report.taken.iter().map(|item| item.session.to_string()).collect();
    assert_eq!(sessions, [session], "{report:?}");
}

#[given("plan work is on")]
#[when("the person turns plan work on")]
async fn turn_on(world: &mut World) {
    world.turn_on(PlanStyle::Document).await;
}

#[given(expr = "plan work is on in style {word}")]
async fn turn_on_in_style(world: &mut World, style: String) {
    world.turn_on(style.parse().expect("a style")).await;
}

#[when("the person turns plan work off")]
async fn turn_off(world: &mut World) {
    world.engine.sessions().disable_plan_mode(&world.session(), &person()).await.expect("turned off");
}

#[when(expr = "the person turns plan work on and off {int} times")]
async fn on_and_off(world: &mut World, times: u32) {
    for _ in 0..times {
        turn_on(world).await;
        turn_off(world).await;
    }
}

#[when("the person says plan work is done")]
async fn done(world: &mut World) {
    world.engine.sessions().finish_plan_work(&world.session(), &person()).await.expect("done");
}

#[when("the person resets the conversation")]
async fn reset(world: &mut World) {
    world.engine.sessions().reset(&world.session(), &person()).await.expect("reset");
}

#[when("Planwright is restarted")]
async fn restart(world: &mut World) {
    world.restart().await;
}

#[when(regex = r#"^the agent calls "(\w+)" with '(.*)'$"#)]
async fn call(world: &mut World, tool: String, arguments: String) {
    world.call(&tool, serde_json::from_str(&arguments).expect("arguments are JSON")).await;
}

#[when(expr = "the agent writes the plan {string}")]
#[then(expr = "the agent writes the plan {string}")]
async fn write(world: &mut World, markdown: String) {
    world.write_plan(&markdown).await;
}

#[when("the agent sets all metadata")]
async fn all_metadata(world: &mut World) {
    let list = json!(["something"]);
    let all = json!({ "assumptions": list, "risks": list, "verification": list, "files": list });
    world.call("plan_set_metadata", all).await;
}

/// Brings the first plan of the session there by what people and agents really do.
#[given(expr = "plan {int} was brought to {word}")]
async fn brought_to(world: &mut World, number: u32, status: String) {
    assert_eq!(number, 1);
    if world.plan(1).await.style() == PlanStyle::Build {
        world.call("plan_create_draft", json!({ "goal": "A goal" })).await;
        all_metadata(world).await;
        world.call("plan_add_step", json!({ "description": "Write it", "agent": "coder" })).await;
        world.call("plan_add_step", json!({ "description": "Test it", "agent": "tester", "needs": ["s1"] })).await;
        world.call("plan_submit", json!({})).await;
    } else {
        world.write_plan(DOCUMENT).await;
    }
    let report = |step: u32, status: &str| json!({ "step": step, "status": status });
    match status.as_str() {
        "READY" => {}
        "REJECTED" => reject(world, 1, String::new()).await,
        "CANCELLED" => decide(world, |plan| Decision::Cancel { plan, reason: None }, 1).await,
        "APPROVED" => approve(world, 1).await,
        "EXECUTING" => {
            approve(world, 1).await;
            world.call("plan_progress", report(1, "in_progress")).await;
        }
        "PARTIALLY_COMPLETED" | "COMPLETED" => {
            approve(world, 1).await;
            world.call("plan_progress", report(1, "done")).await;
            world.call("plan_progress", report(2, if status == "COMPLETED" { "done" } else { "failed" })).await;
        }
        other => panic!("no way to {other} is known"),
    }
    world.answer.as_ref().expect("it went well");
    is(world, 1, status).await;
}

#[then(expr = "plan {int} is {word}")]
pub(crate) async fn is(world: &mut World, number: u32, status: String) {
    assert_eq!(world.plan(number).await.status.as_str(), status);
}

#[then(expr = "the active plan is {word}")]
async fn active_is(world: &mut World, status: String) {
    assert_eq!(world.engine.plans().active(&world.session()).await.expect("active").status.as_str(), status);
}

#[then("the agent sees no plan tools")]
async fn no_tools(world: &mut World) {
    sees(world, String::new()).await;
}

#[then(expr = "the agent sees the tools {string}")]
async fn sees(world: &mut World, tools: String) {
    let advertised = PlanTools::new(&world.engine).advertised(&world.session()).await.expect("listed");
    // The tools for memory, goals, tasks and the diary are always there.
    let always = |name: &&str| ["memory_", "goal_", "task_", "diary_"].iter().any(|prefix| name.starts_with(prefix));
    let names: Vec<_> = advertised.iter().map(|tool| tool.name).filter(|name| !always(name)).collect();
    assert_eq!(names.join(", "), tools);
}

#[then(expr = "the tool {string} requires {string}")]
async fn requires(world: &mut World, name: String, argument: String) {
    let advertised = PlanTools::new(&world.engine).advertised(&world.session()).await.expect("listed");
    let tool = advertised.iter().find(|tool| tool.name == name).expect("advertised");
    assert_eq!(tool.input_schema["required"], json!([argument]));
}

#[then(expr = "the call is refused with {word}")]
#[then(expr = "the decision is refused with {word}")]
#[then(expr = "the command is refused with {word}")]
async fn refused(world: &mut World, code: String) {
    assert_eq!(world.refusal().code.as_str(), code, "{}", world.refusal());
}

#[then(expr = "the refusal names {string}")]
async fn refusal_names(world: &mut World, what: String) {
    assert!(world.refusal().message.contains(&what), "{}", world.refusal());
}

#[then("nothing was written")]
async fn nothing_written(world: &mut World) {
    assert!(!world.was_written().await);
}

#[then(expr = "the errors are at {string}")]
async fn errors_at(world: &mut World, paths: String) {
    let found: Vec<_> = world.refusal().problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(found.join(", "), paths);
}

#[then(expr = "the missing parts are {string}")]
async fn missing_parts(world: &mut World, paths: String) {
    let found: Vec<_> = world.ok()["missing"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|part| part["path"].as_str().expect("a path"))
        .collect();
    assert_eq!(found.join(", "), paths);
}

#[then(expr = "the answer says {string}")]
async fn answer_says(world: &mut World, what: String) {
    assert!(world.ok()["message"].as_str().expect("a message").contains(&what));
}

#[then(expr = "the answer has {string} {string}")]
async fn answer_has(world: &mut World, field: String, value: String) {
    assert_eq!(world.ok()[&field], json!(value), "{}", world.ok());
}

#[then(expr = "the answer has no {string}")]
async fn answer_has_no(world: &mut World, field: String) {
    assert_eq!(world.ok().get(&field), None);
}

#[then(expr = "the plan reads {string}")]
async fn reads(world: &mut World, markdown: String) {
    world.call("plan_get", json!({})).await;
    assert_eq!(world.ok()["markdown"], json!(unescaped(&markdown)));
}

#[then(expr = "the plan's text says {string}")]
async fn text_says(world: &mut World, what: String) {
    let plan = world.engine.plans().active(&world.session()).await.expect("active");
    assert!(plan.markdown().contains(&what), "{}", plan.markdown());
}

#[then(expr = "plan {int} has {int} versions")]
async fn versions(world: &mut World, number: u32, count: usize) {
    let plan = world.plan(number).await;
    let history = world.engine.history().of_plan(&world.session(), &plan.id).await.expect("a history");
    assert_eq!(history.versions.len(), count);
}

#[then(expr = "plan {int} is the active plan")]
async fn is_active(world: &mut World, number: u32) {
    assert_eq!(world.engine.plans().active(&world.session()).await.expect("active").number, number);
}

#[then("no plan is active")]
async fn none_active(world: &mut World) {
    let session = world.engine.sessions().get(&world.session()).await.expect("there");
    assert_eq!(session.plan_mode.active_plan, None);
}

#[then(expr = "plan {int} supersedes plan {int}")]
async fn supersedes(world: &mut World, newer: u32, older: u32) {
    let (newer, older) = (world.plan(newer).await, world.plan(older).await);
    assert_eq!(newer.supersedes, Some(older.id));
    assert_eq!(older.superseded_by, Some(newer.id));
}

#[then(expr = "there is {int} plan")]
async fn there_are(world: &mut World, count: usize) {
    let page = world.engine.plans().list(&world.session(), None, 100).await.expect("listed");
    assert_eq!(page.items.len(), count);
}

#[then(expr = "plan work is {word}")]
async fn mode_is(world: &mut World, on_or_off: String) {
    let session = world.engine.sessions().get(&world.session()).await.expect("there");
    let expected = match on_or_off.as_str() {
        "on" => true,
        "off" => false,
        other => panic!("plan work is on or off, not {other}"),
    };
    assert_eq!(session.plan_mode.enabled, expected);
}

#[then(expr = "plan {int} has the steps")]
async fn has_steps(world: &mut World, step: &Step, number: u32) {
    let plan = world.plan(number).await;
    let found: Vec<_> =
        plan_steps(&plan).into_iter().map(|step| (step.tool.unwrap_or_default(), step.arguments)).collect();
    let rows = &step.table.as_ref().expect("a table").rows;
    let expected: Vec<_> =
        rows.iter().map(|row| (row[0].clone(), serde_json::from_str::<Value>(&row[1]).ok())).collect();
    assert_eq!(found, expected);
}

#[then(expr = "the steps of plan {int} are {string}")]
async fn steps_are(world: &mut World, number: u32, expected: String) {
    let found: Vec<_> = world
        .plan(number)
        .await
        .content
        .steps()
        .iter()
        .map(|step| format!("{} {}", step.id, step.description))
        .collect();
    assert_eq!(found.join(", "), expected);
}

#[then(expr = "step {int} of plan {int} is {word}")]
async fn step_is(world: &mut World, position: usize, number: u32, status: String) {
    assert_eq!(plan_steps(&world.plan(number).await)[position - 1].status.as_str(), status);
}

#[then(expr = "step {int} of plan {int} is left out because {string}")]
async fn left_out(world: &mut World, position: usize, number: u32, reason: String) {
    let plan = world.plan(number).await;
    let skipped = &plan.approval.as_ref().expect("approved").skipped;
    let found = skipped.iter().find(|skipped| skipped.position == position).map(|skipped| skipped.why.to_string());
    assert_eq!(found, Some(reason), "{skipped:?}");
    assert_eq!(plan_steps(&plan)[position - 1].status.as_str(), "SKIPPED");
}

#[then(expr = "the listed plans are {string}")]
async fn listed(world: &mut World, expected: String) {
    let plans = world.ok()["plans"].as_array().expect("a list");
    let found: Vec<_> =
        plans.iter().map(|plan| format!("{} {}", plan["number"], plan["status"].as_str().unwrap_or(""))).collect();
    assert_eq!(found.join(", "), expected);
}

#[when(expr = "the person looks at plan {int}")]
async fn look(world: &mut World, number: u32) {
    world.seen = Some(world.plan(number).await.digest());
}

#[when(expr = "the person approves plan {int} as they saw it")]
async fn approve_as_seen(world: &mut World, number: u32) {
    let digest = world.seen.expect("looked at");
    let decision = |plan| Decision::Approve {
        plan,
        digest,
        selection: Selection::All,
        note: None,
        step_by_step: false,
        then: AfterApproval::Wait,
    };
    decide(world, decision, number).await;
}

#[when(expr = "the person approves plan {int}")]
pub(crate) async fn approve(world: &mut World, number: u32) {
    look(world, number).await;
    approve_as_seen(world, number).await;
}

#[when(expr = "the person approves plan {int} only {string}")]
async fn approve_only(world: &mut World, number: u32, steps: String) {
    select(world, number, Selection::Only(positions(&steps))).await;
}

#[when(expr = "the person approves plan {int} without {string}")]
async fn approve_without(world: &mut World, number: u32, steps: String) {
    select(world, number, Selection::Skip(positions(&steps))).await;
}

async fn select(world: &mut World, number: u32, selection: Selection) {
    let digest = world.plan(number).await.digest();
    decide(
        world,
        |plan| Decision::Approve {
            plan,
            digest,
            selection,
            note: None,
            step_by_step: false,
            then: AfterApproval::Wait,
        },
        number,
    )
    .await;
}

fn positions(text: &str) -> BTreeSet<usize> {
    text.split(',').map(|position| position.trim().parse().expect("a position")).collect()
}

#[when(expr = "the person rejects plan {int} because {string}")]
async fn reject(world: &mut World, number: u32, reason: String) {
    decide(world, |plan| Decision::Reject { plan, reason: Some(reason) }, number).await;
}

#[when(expr = "the person asks for changes to plan {int} with {string}")]
async fn revise(world: &mut World, number: u32, feedback: String) {
    decide(world, |plan| Decision::Revise { plan, feedback }, number).await;
}

#[when(expr = "the person resumes plan {int}")]
async fn resume(world: &mut World, number: u32) {
    decide(world, |plan| Decision::Resume { plan, after_step: None }, number).await;
}

#[when(expr = "the agent tries to {word} plan {int}")]
async fn agent_decides(world: &mut World, what: String, number: u32) {
    let Plan { id: plan, .. } = world.plan(number).await;
    let digest = world.plan(number).await.digest();
    let decision = match what.as_str() {
        "approve" => Decision::Approve {
            plan,
            digest,
            selection: Selection::All,
            note: None,
            step_by_step: false,
            then: AfterApproval::Wait,
        },
        "reject" => Decision::Reject { plan, reason: None },
        "cancel" => Decision::Cancel { plan, reason: None },
        "revise" => Decision::Revise { plan, feedback: "as I like".to_owned() },
        other => panic!("there is no action {other}"),
    };
    world.note_journal().await;
    let outcome = world.engine.submit(&world.session(), &agent(), Command::Decide(decision)).await;
    world.answer = outcome.map(|_| Value::Null).map_err(LedgerError::into_refusal);
}

async fn decide(world: &mut World, decision: impl FnOnce(PlanId) -> Decision, number: u32) {
    let plan = world.plan(number).await.id;
    submit(world, decision(plan)).await;
}

async fn submit(world: &mut World, decision: Decision) {
    world.note_journal().await;
    let outcome = world.engine.submit(&world.session(), &person(), Command::Decide(decision)).await;
    world.answer = outcome.map(|_| Value::Null).map_err(LedgerError::into_refusal);
}

#[then(expr = "the approval of plan {int} is by {string}, a person, through {string}, for the text that was shown")]
async fn approval_is(world: &mut World, number: u32, name: String, through: String) {
    let approval = world.plan(number).await.approval.expect("approved");
    let view = ApprovalView::from(&*approval);
    assert_eq!((view.by, view.given, view.through), (name, "person", through));
    assert_eq!(Some(approval.digest), world.seen);
}

#[when(expr = "in {string} the person turns plan work on")]
async fn there_turn_on(world: &mut World, session: String) {
    world.look_at(&session);
    turn_on(world).await;
}

#[then(expr = "in {string} plan work is {word}")]
async fn there_mode_is(world: &mut World, session: String, on_or_off: String) {
    world.look_at(&session);
    mode_is(world, on_or_off).await;
}

#[then(expr = "in {string} the agent sees no plan tools")]
async fn there_no_tools(world: &mut World, session: String) {
    world.look_at(&session);
    no_tools(world).await;
}

#[when(expr = "in {string} the agent has written the plan {string}")]
async fn there_written(world: &mut World, session: String, markdown: String) {
    world.look_at(&session);
    turn_on(world).await;
    world.write_plan(&markdown).await;
}

#[then(expr = "in {string} plan {int} reads {string}")]
async fn there_reads(world: &mut World, session: String, number: u32, markdown: String) {
    world.look_at(&session);
    assert_eq!(world.plan(number).await.markdown(), markdown);
}

#[then(expr = "the approval of plan {int} has only step {string}")]
async fn approved_steps(world: &mut World, number: u32, id: String) {
    let approval = world.plan(number).await.approval.expect("an approval");
    let approved: Vec<_> = approval.approved.iter().map(ToString::to_string).collect();
    assert_eq!(approved, [id]);
}

#[then(expr = "the approval of plan {int} skips {string}")]
async fn skipped_steps(world: &mut World, number: u32, expected: String) {
    let approval = world.plan(number).await.approval.expect("an approval");
    let skipped: Vec<_> = approval.skipped.iter().map(|skipped| format!("{} {}", skipped.step, skipped.why)).collect();
    assert_eq!(skipped.join(", "), expected);
}

#[when(expr = "in {string} the person approves the plan of {string}")]
async fn approve_foreign(world: &mut World, session: String, other: String) {
    world.look_at(&other);
    let plan = world.plan(1).await;
    world.look_at(&session);
    let (digest, plan) = (plan.digest(), plan.id);
    submit(
        world,
        Decision::Approve {
            plan,
            digest,
            selection: Selection::All,
            note: None,
            step_by_step: false,
            then: AfterApproval::Wait,
        },
    )
    .await;
}

#[when(expr = "in {string} the person approves a plan that does not exist")]
async fn approve_nothing(world: &mut World, session: String) {
    world.look_at(&session);
    let plan = PlanId::new("no-such-plan").expect("an id");
    let digest = "0".repeat(64).parse().expect("a digest");
    submit(
        world,
        Decision::Approve {
            plan,
            digest,
            selection: Selection::All,
            note: None,
            step_by_step: false,
            then: AfterApproval::Wait,
        },
    )
    .await;
}

#[when(expr = "a client opens the session {string}")]
async fn opens(world: &mut World, session: String) {
    let session = session.parse().expect("readable");
    let outcome = world.engine.sessions().open(&session, &person()).await;
    world.answer = outcome.map(|_| Value::Null).map_err(LedgerError::into_refusal);
}
