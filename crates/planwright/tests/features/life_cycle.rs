//! The table of the life cycle, walked through: a plan is brought to a status the way people and agents really do it, and
//! then everything is tried on it.

use cucumber::{given, then, when};
use planwright_agent::tools::PlanTools;
use planwright_core::command::{AfterApproval, Command, Decision};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::gate::ToolEffect;
use planwright_core::plan::approval::Selection;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::refusal::Refusal;
use planwright_engine::ledger::LedgerError;
use planwright_llm::scripted::Reply;
use serde_json::{Value, json};

use crate::conversation::{says, types};
use crate::process::{ends, until_asked, until_called};
use crate::steps::approve;
use crate::test_tools::Act;
use crate::world::{World, person};

/// One thing that was tried, and the code it was refused with.
pub(crate) type Tried = (String, Option<String>);

#[given(regex = r"^a plan in style (\w+) that is (\w+)$")]
async fn a_plan(world: &mut World, style: String, status: String) {
    let style: PlanStyle = style.parse().expect("a style");
    let status = PlanStatus::ALL.into_iter().find(|known| known.as_str() == status).expect("a status");
    let stage = &mut world.talk.stage;
    stage.add("work", ToolEffect::Changes, Act::Answers);
    stage.add("fragile", ToolEffect::Changes, Act::FailsFirst);
    stage.add("patient", ToolEffect::Changes, Act::Waits);
    world.talk.model = world.talk.model.clone().otherwise(Reply::text("That is all."));
    types(world, format!("/plan on {style}")).await;
    draft(world, style, status).await;
    match status {
        PlanStatus::Collecting | PlanStatus::Ready => {}
        PlanStatus::Approved => approve(world, 1).await,
        PlanStatus::Executing | PlanStatus::Completed | PlanStatus::PartiallyCompleted => {
            carried_out(world, style, status).await;
        }
        PlanStatus::Rejected => types(world, "/plan reject #1 too much".to_owned()).await,
        PlanStatus::Cancelled => types(world, "/plan cancel 1".to_owned()).await,
        PlanStatus::Superseded => {
            approve(world, 1).await;
            types(world, "/plan revise #1 differently".to_owned()).await;
        }
    }
    assert_eq!(world.plan(1).await.status, status);
    world.note_journal().await;
}

/// Two steps; the second one is such that the plan comes to the status when it is carried out.
async fn draft(world: &mut World, style: PlanStyle, status: PlanStatus) {
    let ready = status != PlanStatus::Collecting;
    let script = match style {
        PlanStyle::Document => {
            let text = json!({ "plan_markdown": "- [ ] one\n- [ ] two" });
            ready.then(|| Reply::call("plan_set_content", text)).into_iter().collect()
        }
        PlanStyle::Collect => {
            let second = match status {
                PlanStatus::Executing => "patient",
                PlanStatus::PartiallyCompleted => "fragile",
                PlanStatus::Collecting
                | PlanStatus::Ready
                | PlanStatus::Approved
                | PlanStatus::Completed
                | PlanStatus::Rejected
                | PlanStatus::Cancelled
                | PlanStatus::Superseded => "work",
            };
            let calls = Reply::call("work", json!({ "n": 1 })).and_call(second, json!({ "n": 2 }));
            let finalize = ready.then(|| Reply::call("plan_finalize", json!({})));
            Vec::from_iter([calls].into_iter().chain(finalize))
        }
        PlanStyle::Build => {
            let some = json!(["something"]);
            let all =
                json!({ "goal": "A goal", "assumptions": some, "risks": some, "verification": some, "files": some });
            let step = |agent: &str| json!({ "description": "Do it", "agent": agent });
            let calls = Reply::call("plan_set_metadata", all)
                .and_call("plan_add_step", step("coder"))
                .and_call("plan_add_step", step("tester"));
            let submit = ready.then(|| Reply::call("plan_submit", json!({})));
            Vec::from_iter([calls].into_iter().chain(submit))
        }
    };
    world.talk.script = script;
    says(world, "Plan it".to_owned()).await;
}

async fn carried_out(world: &mut World, style: PlanStyle, status: PlanStatus) {
    let approve = "/plan approve 1".to_owned();
    match style {
        PlanStyle::Document | PlanStyle::Build => {
            let second = match status {
                PlanStatus::Executing => None,
                PlanStatus::PartiallyCompleted => Some(report("failed")),
                _ => Some(report("done")),
            };
            world.talk.script = Vec::from_iter([report("done")].into_iter().chain(second));
            // The specialist of the second step takes its time.
            if (style, status) == (PlanStyle::Build, PlanStatus::Executing) {
                world.talk.script.push(report("done").behind(&world.talk.stage.gate));
                return until_asked(world, approve, 2).await;
            }
            types(world, approve).await;
        }
        PlanStyle::Collect if status == PlanStatus::Executing => {
            until_called(world, approve, "patient".to_owned()).await;
        }
        PlanStyle::Collect => types(world, approve).await,
    }
}

fn report(status: &str) -> Reply {
    Reply::call("plan_progress", json!({ "status": status }))
}

#[when(regex = r"^an actor tries to (.+)$")]
async fn tries(world: &mut World, actions: String) {
    for action in actions.split(", ") {
        match action {
            "set content" => calls(world, "plan_set_content", json!({ "plan_markdown": "# Another way" })).await,
            "record a step" => calls(world, "work", json!({ "n": 3 })).await,
            "finalize" => calls(world, "plan_finalize", json!({})).await,
            "submit" => calls(world, "plan_submit", json!({})).await,
            "edit the draft" => {
                calls(world, "plan_set_metadata", json!({ "goal": "Another goal" })).await;
                calls(world, "plan_add_step", json!({ "description": "More", "agent": "coder" })).await;
                calls(world, "plan_update_step", json!({ "step_id": "s2", "description": "Other" })).await;
                calls(world, "plan_remove_step", json!({ "step_id": "s2" })).await;
            }
            "approve" | "reject" | "execute" | "cancel" => decides(world, action).await,
            other => panic!("there is no action {other}"),
        }
    }
}

/// The model calls a tool in a turn. While a plan is carried out the conversation waits, and only an agent outside of it
/// can call something.
async fn calls(world: &mut World, tool: &str, arguments: Value) {
    if world.under_way.is_empty() {
        let before = world.written().await.len();
        world.talk.script = vec![Reply::call(tool, arguments)];
        says(world, "Try it".to_owned()).await;
        let written = world.written().await.split_off(before);
        let answer = written.iter().find_map(|event| match event {
            Event::Turn { event: TurnEvent::ToolEnded { outcome, .. }, .. } => Some(outcome.text.clone()),
            _ => None,
        });
        let answer: Value = serde_json::from_str(&answer.expect("it was called")).expect("JSON");
        let refused = answer.get("code").and_then(Value::as_str).map(str::to_owned);
        world.tried.push((tool.to_owned(), refused));
    } else {
        let arguments = arguments.as_object().cloned().expect("an object");
        let by = crate::world::agent();
        let answer = PlanTools::new(&world.engine).call(&world.session(), &by, tool, arguments).await;
        note(world, tool, answer.err());
    }
}

/// The person types a command. Where that is refused, so is the decision behind it, in its own words.
async fn decides(world: &mut World, action: &str) {
    let plan = world.plan(1).await;
    let (status, id, digest) = (plan.status, plan.id.clone(), plan.digest());
    let then = AfterApproval::Wait;
    let (command, decision) = match action {
        "approve" => (
            "approve",
            Decision::Approve { plan: id, digest, selection: Selection::All, note: None, step_by_step: false, then },
        ),
        "reject" => ("reject", Decision::Reject { plan: id, reason: None }),
        "execute" => ("resume", Decision::Resume { plan: id, after_step: None }),
        _ => ("cancel", Decision::Cancel { plan: id, reason: None }),
    };
    // To approve is one thing and to carry out another; what is typed does both. While the plan is carried out, what is
    // typed waits for its end, and only a decision of another process comes in between.
    if (action, status) != ("approve", PlanStatus::Ready) && world.under_way.is_empty() {
        types(world, format!("/plan {command} 1")).await;
        let answer = world.talk.answer();
        if !answer.refused() {
            return note(world, action, None);
        }
        assert!(answer.reply.contains(&format!("Plan 1 is {status}")), "{}", answer.reply);
    }
    let outcome = world.engine.submit(&world.session(), &person(), Command::Decide(decision)).await;
    note(world, action, outcome.map_err(LedgerError::into_refusal).err());
}

fn note(world: &mut World, what: &str, refusal: Option<Refusal>) {
    let refused = refusal.map(|refusal| refusal.code.as_str().to_owned());
    world.tried.push((what.to_owned(), refused));
}

#[when("it is carried out to its end")]
async fn to_its_end(world: &mut World) {
    if !world.under_way.is_empty() {
        world.talk.stage.release();
        return ends(world).await;
    }
    let plan = world.plan(1).await;
    let done = |run: &&planwright_core::plan::execution::StepState| run.status == StepStatus::Completed;
    let done = plan.execution.as_ref().map_or(0, |execution| execution.steps.iter().filter(done).count());
    if plan.style() != PlanStyle::Collect {
        world.talk.script = (done..2).map(|_| report("done")).collect();
    }
    types(world, "/plan resume 1".to_owned()).await;
}

#[then(expr = "each is refused with {word}")]
fn each_refused(world: &mut World, code: String) {
    let all = world.tried.iter().all(|(_, refused)| refused.as_deref() == Some(&code));
    assert!(all && !world.tried.is_empty(), "{:#?}", world.tried);
}

#[then("nothing is refused")]
fn none_refused(world: &mut World) {
    let none = world.tried.iter().all(|(_, refused)| refused.is_none());
    assert!(none && !world.tried.is_empty(), "{:#?}", world.tried);
}

/// A turn is written down whatever comes of it.
#[then("nothing is written but what was said")]
async fn only_talked(world: &mut World) {
    let written = world.written().await;
    let told = |event: &Event| {
        matches!(
            event,
            Event::Turn { event: TurnEvent::Begun { .. }, .. }
                | Event::Turn { event: TurnEvent::ModelReplied { .. }, .. }
                | Event::Turn { event: TurnEvent::ToolEnded { .. }, .. }
                | Event::Turn { event: TurnEvent::Ended { .. }, .. }
        )
    };
    let others: Vec<_> = written.iter().filter(|event| !told(event)).collect();
    assert!(others.is_empty(), "{others:#?}");
}
