//! What each plan tool answers: JSON, small enough for a model to read.

use std::sync::Arc;

use planwright_core::event::{Event, PlanEvent};
use planwright_core::ids::StepId;
use planwright_core::plan::content::PlanContent;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle, completeness};
use planwright_core::policy::Policy;
use planwright_core::refusal::Refusal;
use planwright_engine::ledger::{Committed, LedgerError, LedgerResult, Page, PlanSummary};
use planwright_engine::plan_steps::{StepDetail, plan_details, plan_steps};
use serde_json::{Value, json};

/// The field of an answer that says that a person looks at a step first.
const PAUSED: &str = "paused";
pub(super) const LIST_PAGE: u32 = 20;

/// The plan that the committed events left behind: the new one, if one took another's place.
pub(super) fn changed_plan(committed: &Committed) -> LedgerResult<&Arc<Plan>> {
    let superseding = committed.events.iter().find_map(|event| match event {
        Event::Plan { event: PlanEvent::Superseded { by, .. }, .. } => Some(by),
        _ => None,
    });
    let id = superseding.or_else(|| committed.events.iter().find_map(Event::plan));
    let snapshot = &committed.snapshot;
    let active = || snapshot.session.as_ref()?.plan_mode.active_plan.as_ref();
    id.and_then(|id| snapshot.plans.get(id))
        .or_else(|| snapshot.plans.get(active()?))
        .ok_or_else(|| LedgerError::Internal("the plan that was changed is not on the snapshot".to_owned()))
}

pub(super) fn named(plan: &Plan) -> Value {
    json!({ "plan_id": plan.id, "number": plan.number, "status": plan.status })
}

/// A plan that now waits for a person.
pub(super) fn proposed(plan: &Plan) -> Value {
    with(named(plan), json!({ "digest": plan.digest(), "next": next(plan) }))
}

/// Names the sections of the template that a document does not have.
pub(super) fn with_missing_sections(answer: Value, plan: &Plan, policy: &Policy) -> Value {
    let (PlanContent::Document(document), Some(template)) = (&plan.content, &policy.plan_template) else {
        return answer;
    };
    let missing = template.missing_sections(&document.markdown);
    if missing.is_empty() {
        return answer;
    }
    let note = "The plan has not all sections of the template. Add them with plan_set_content.";
    with(answer, json!({ "missing_sections": missing, "note": note }))
}

pub(super) fn finalized(plan: &Plan) -> Value {
    let steps: Vec<_> =
        plan_steps(plan).iter().map(|step| json!({ "step": step.position, "tool": step.tool })).collect();
    let answer = with(named(plan), json!({ "digest": plan.digest(), "steps": steps, "next": next(plan) }));
    match &plan.round {
        Some(round) => with(answer, json!({ "round_number": round.number })),
        None => answer,
    }
}

pub(super) fn planned(plan: &Plan) -> Value {
    let last = plan_steps(plan).pop();
    let (position, tool) = last.map(|step| (step.position, step.tool.unwrap_or_default())).unwrap_or_default();
    let number = plan.number;
    let (of, next) = match &plan.round {
        Some(round) => (
            format!("round {} (plan {number})", round.number),
            " Make the other calls that need no result of this one, then call plan_finalize; once a person approved the \
             round, Planwright makes its calls.",
        ),
        None => (format!("plan {number}"), ""),
    };
    json!({
        "planned": true,
        "step": position,
        "message": format!("[Planned] {tool} was recorded as step {position} of {of} and not run.{next}"),
    })
}

pub(super) fn progress(plan: &Plan) -> Value {
    let Some(execution) = &plan.execution else { return named(plan) };
    let progress = execution.progress();
    let answer = with(named(plan), json!({ "done": progress.done, "total": progress.total, "next": progress.next }));
    match execution.step_pause() {
        Some(pause) => with(answer, json!({ (PAUSED): true, "message": look_first(pause.step) })),
        None => answer,
    }
}

/// Whether the answer to a report says that a person looks at the step first.
pub fn is_paused(answer: &Value) -> bool {
    answer.get(PAUSED) == Some(&Value::Bool(true))
}

fn look_first(step: usize) -> String {
    format!(
        "The plan is approved step by step. The person looks at step {step} now. Stop here: do nothing of the next step \
         before they have released it."
    )
}

pub(super) fn missing(plan: &Plan, policy: &Policy) -> Value {
    with(named(plan), json!({ "missing": missing_parts(plan, policy) }))
}

pub(super) fn added_step(committed: &Committed, plan: &Plan) -> Value {
    let added = committed.events.iter().find_map(|event| match event {
        Event::Plan { event: PlanEvent::StepAdded { step, .. }, .. } => Some(&step.id),
        _ => None,
    });
    changed_step(plan, added)
}

pub(super) fn changed_step(plan: &Plan, step: Option<&StepId>) -> Value {
    let steps = plan.content.steps();
    let position = steps.iter().position(|other| Some(&other.id) == step).map(|index| index + 1);
    with(named(plan), json!({ "step_id": step, "position": position, "steps": steps.len() }))
}

pub(super) fn whole(plan: &Plan, policy: &Policy) -> Value {
    let common = with(named(plan), json!({ "title": plan.display_title(), "digest": plan.digest() }));
    let steps = || {
        let short = |step: &StepDetail| {
            let value = serde_json::to_value(step).unwrap_or_default();
            with(value, json!({ "step_id": step.id }))
        };
        plan_steps(plan).iter().map(short).collect::<Vec<_>>()
    };
    let own = match &plan.content {
        PlanContent::Document(document) => json!({ "markdown": document.markdown, "progress": overlay(plan) }),
        PlanContent::Collect(_) => json!({ "steps": steps() }),
        PlanContent::Build(_) => json!({ "steps": steps(), "missing": missing_parts(plan, policy) }),
    };
    let own = with(own, plan_details(plan).unwrap_or_default());
    let mut whole = with(common, own);
    for (name, text) in [
        ("feedback", plan.feedback.as_ref().map(|feedback| feedback.text.as_str())),
        ("approval_note", plan.approval.as_ref().and_then(|approval| approval.note.as_deref())),
        ("ended_because", plan.ending.as_ref().and_then(|ending| ending.reason.as_deref())),
        ("next", Some(next(plan))),
    ] {
        if let Some(text) = text {
            whole[name] = json!(text);
        }
    }
    whole
}

/// The lines or steps of a plan that is read.
fn pieces(plan: &Value) -> Vec<Value> {
    match plan["markdown"].as_str() {
        Some(markdown) => markdown.split_inclusive('\n').map(Value::from).collect(),
        None => plan["steps"].as_array().cloned().unwrap_or_default(),
    }
}

/// The plan with these of its lines or steps, and where they stand.
fn with_pieces(plan: &Value, pieces: &[Value], from: usize, total: usize) -> Value {
    let mut part = plan.clone();
    match plan["markdown"].is_string() {
        true => part["markdown"] = json!(pieces.iter().filter_map(Value::as_str).collect::<String>()),
        false => part["steps"] = json!(pieces),
    }
    let next = from + pieces.len();
    (part["from"], part["of"]) = (json!(from), json!(total));
    if next <= total {
        part["next_from"] = json!(next);
        part["part"] = json!(format!("This is a part of the plan. Read on with plan_get and from {next}."));
    }
    part
}

/// A plan from one of its lines or steps on, counted from 1.
pub(super) fn from_part(plan: Value, from: usize) -> Result<Value, Refusal> {
    if from == 1 {
        return Ok(plan);
    }
    let pieces = pieces(&plan);
    let total = pieces.len();
    let rest = from.checked_sub(1).filter(|before| *before < total).map(|before| &pieces[before..]);
    let rest = rest.ok_or_else(|| Refusal::invalid(format!("`from` is between 1 and {total}.")))?;
    Ok(with_pieces(&plan, rest, from, total))
}

/// As many whole lines or steps of what was read as fit, from its beginning. `None` if not even one does.
pub(crate) fn part_within(plan: &Value, fits: impl Fn(&Value) -> bool) -> Option<Value> {
    let mut plan = plan.clone();
    // What is done stands in the prompt.
    plan.as_object_mut()?.remove("progress");
    let pieces = pieces(&plan);
    let from = plan["from"].as_u64().and_then(|from| usize::try_from(from).ok()).unwrap_or(1);
    let total = from - 1 + pieces.len();
    let part = |count: usize| with_pieces(&plan, &pieces[..count], from, total);
    // More pieces never take less.
    let (mut fitting, mut beyond) = (0, pieces.len() + 1);
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(&part(middle)) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    (fitting > 0).then(|| part(fitting))
}

pub(super) fn list(page: &Page<PlanSummary>) -> Value {
    let plans: Vec<_> = page
        .items
        .iter()
        .map(|plan| json!({ "plan_id": plan.id, "number": plan.number, "status": plan.status, "title": plan.title }))
        .collect();
    let damaged: Vec<_> = page.damaged.iter().map(|row| format!("{}: {}", row.what, row.reason)).collect();
    let mut answer = json!({ "plans": plans, "next": page.next });
    if !damaged.is_empty() {
        answer["damaged"] = json!(damaged);
    }
    answer
}

/// How far the execution of a document has come, step by step; `null` before it begins.
fn overlay(plan: &Plan) -> Value {
    let Some(execution) = &plan.execution else { return Value::Null };
    let progress = execution.progress();
    let steps: Vec<_> = execution
        .steps
        .iter()
        .zip(1..)
        .map(|(run, step)| json!({ "step": step, "description": run.description, "status": run.status, "note": run.note }))
        .collect();
    json!({ "done": progress.done, "total": progress.total, "next": progress.next, "steps": steps })
}

fn missing_parts(plan: &Plan, policy: &Policy) -> Value {
    match &plan.content {
        PlanContent::Build(built) => json!(completeness::missing(built, &policy.agents)),
        PlanContent::Document(_) | PlanContent::Collect(_) => json!([]),
    }
}

/// What happens next, for a model that would otherwise guess.
fn next(plan: &Plan) -> &'static str {
    if plan.feedback.is_some() {
        return match plan.style() {
            PlanStyle::Document => {
                "A person asked for changes, see `feedback`. Answer with a new text: plan_set_content."
            }
            PlanStyle::Collect => {
                "A person asked for changes, see `feedback`. Propose the steps anew, then call plan_finalize."
            }
            PlanStyle::Build => "A person asked for changes, see `feedback`. Change the draft, then call plan_submit.",
        };
    }
    match (plan.status, plan.style()) {
        (PlanStatus::Collecting, PlanStyle::Document) => "Draft the plan and store it with plan_set_content.",
        (PlanStatus::Collecting, PlanStyle::Collect) => "Propose steps as tool calls, then call plan_finalize.",
        (PlanStatus::Collecting, PlanStyle::Build) => "Complete the draft, then call plan_submit.",
        (PlanStatus::Ready, _) => "A person decides now. Do not start before the status is APPROVED.",
        (PlanStatus::Approved, PlanStyle::Document) => {
            "It is approved. Carry it out and report each step with plan_progress."
        }
        (PlanStatus::Approved, PlanStyle::Collect | PlanStyle::Build) => "It is approved.",
        (PlanStatus::Executing, _) if plan.execution.as_ref().is_some_and(|it| it.step_pause().is_some()) => {
            "A person looks at the step that ended. Do nothing of the plan before they have released the next step."
        }
        (PlanStatus::Executing | PlanStatus::PartiallyCompleted, _) if has_unknown_result(plan) => {
            "The result of a step is unknown: it may have happened or not. Do not go on and do not do it again. A person decides."
        }
        (PlanStatus::Executing, PlanStyle::Document) => "Go on with the next step and report it with plan_progress.",
        (PlanStatus::Executing, PlanStyle::Collect | PlanStyle::Build) => "It is being carried out.",
        (PlanStatus::PartiallyCompleted, _) => "It ended with steps left open. A person decides whether to resume it.",
        (PlanStatus::Completed | PlanStatus::Rejected | PlanStatus::Cancelled, _) => {
            "It is finished: do not work on it. A person begins the next plan by turning plan work on."
        }
        (PlanStatus::Superseded, _) => "Another plan took its place.",
    }
}

/// Whether a step was begun and its outcome was never recorded.
pub(super) fn has_unknown_result(plan: &Plan) -> bool {
    let steps = plan.execution.as_ref().map(|execution| execution.steps.as_slice()).unwrap_or_default();
    steps.iter().any(|step| step.status == StepStatus::Uncertain)
}

fn with(mut value: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut value, more) {
        object.extend(more);
    }
    value
}
