//! `plan on`, `off`, `done` and `status`: whether plan work is on, and on which plan.

use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::agent::standing_now;
use planwright_surfaces::wire::{PlanModeView, PlanView};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::card::{self, Standing};
use crate::terminal::markdown;
use crate::terminal::palette::{BOLD, DIM, GOOD};
use crate::terminal::text::paint;

pub(super) async fn on(context: &Context, session: &SessionIdentity, style: PlanStyle) -> Outcome {
    let opened = context.engine.open(session, &context.person).await?;
    let before = opened.snapshot.active().cloned();
    let snapshot = context.engine.enable_plan_mode(session, &context.person, style).await?.snapshot;
    answer(context, &snapshot, |snapshot| {
        let mut text = String::new();
        if !opened.events.is_empty() {
            text.push_str(&format!("New session {}\n", paint(&session.to_string(), BOLD)));
        }
        let other = before.filter(|plan| snapshot.active().is_some_and(|active| active.id != plan.id));
        text.push_str(&other.as_ref().map_or_else(String::new, |plan| parked(context, plan)));
        text.push_str(&status_words(context, snapshot));
        let serve = context.invocation.command(["mcp", "--session", &session.to_string()]);
        text.push_str(&paint(&format!("An agent works on it through: {serve}"), DIM));
        text.push('\n');
        text
    })
}

/// A plan that is no longer the active one.
fn parked(context: &Context, plan: &Plan) -> String {
    // An empty plan is cancelled when another takes over; there is nothing to come back to, nor in a finished one.
    if plan.is_empty() || plan.status.is_final() {
        return String::new();
    }
    left_behind(context, plan)
}

fn left_behind(context: &Context, plan: &Plan) -> String {
    format!("{}{}", card::line(plan), card::next(plan, Standing::Parked, &context.invocation))
}

pub(super) async fn off(context: &Context, session: &SessionIdentity) -> Outcome {
    let before = context.engine.snapshot(session).await?;
    let snapshot = context.engine.disable_plan_mode(session, &context.person).await?.snapshot;
    answer(context, &snapshot, |snapshot| {
        let parked = before.active().map_or_else(String::new, |plan| parked(context, plan));
        format!("{}{parked}", status_words(context, snapshot))
    })
}

pub(super) async fn done(context: &Context, session: &SessionIdentity) -> Outcome {
    let before = context.engine.snapshot(session).await?;
    let snapshot = context.engine.finish_plan_work(session, &context.person).await?.snapshot;
    let left = match before.active() {
        Some(plan) => Some(context.engine.plan(session, &plan.id).await?),
        None => None,
    };
    answer(context, &snapshot, |snapshot| {
        let left = left.as_deref().map_or_else(String::new, |plan| left_behind(context, plan));
        format!("{}{left}", status_words(context, snapshot))
    })
}

/// What is being carried out is told also when the session works on another plan, or on none.
pub(super) async fn status(context: &Context, session: &SessionIdentity) -> Outcome {
    let snapshot = context.engine.snapshot(session).await?;
    let opened = snapshot.opened()?;
    let mut others = context.engine.under_way(session).await?;
    others.retain(|plan| snapshot.active().is_none_or(|active| active.id != plan.id));
    let now = context.engine.now();
    let mut activities = Vec::new();
    for plan in snapshot.active().into_iter().chain(others.iter().map(AsRef::as_ref)) {
        activities.push((plan.id.clone(), context.engine.activity(session, plan).await?));
    }
    let activity = |plan: &Plan| {
        let known = activities.iter().find(|(id, _)| *id == plan.id);
        known.and_then(|(_, activity)| activity.as_ref())
    };
    let value = || {
        let mut value = view(opened, &snapshot);
        value["standing"] = json!(snapshot.active().map(|plan| standing_now(plan, now, activity(plan))));
        value["othersUnderWay"] = json!(others.iter().map(|plan| PlanView::from(plan.as_ref())).collect::<Vec<_>>());
        value
    };
    let words = || {
        let width = context.screen.width;
        let tell = |plan: &Plan, standing| {
            let words = markdown::render(&standing_now(plan, now, activity(plan)), width);
            format!("{words}{}{}", card::progress(plan, width), card::next(plan, standing, &context.invocation))
        };
        let active = snapshot.active().map_or_else(String::new, |plan| tell(plan, Standing::Active));
        let others: String = others.iter().map(|plan| format!("\n{}", tell(plan, Standing::Parked))).collect();
        format!("{}{active}{others}", mode_words(&snapshot))
    };
    context.screen.answer(value, words)?;
    Ok(Exit::Done)
}

fn answer(context: &Context, snapshot: &Snapshot, words: impl FnOnce(&Snapshot) -> String) -> Outcome {
    let opened = snapshot.opened()?;
    context.screen.answer(|| view(opened, snapshot), || words(snapshot))?;
    Ok::<_, Failure>(Exit::Done)
}

fn view(session: &Session, snapshot: &Snapshot) -> Value {
    json!({
        "sessionId": session.identity.conversation,
        "channel": session.identity.channel,
        "planMode": PlanModeView::from(&session.plan_mode),
        "activePlan": snapshot.active().map(PlanView::from),
    })
}

fn status_words(context: &Context, snapshot: &Snapshot) -> String {
    let mut text = mode_words(snapshot);
    if let Some(plan) = snapshot.active() {
        text.push_str(&card::line(plan));
        text.push_str(&card::progress(plan, context.screen.width));
        text.push_str(&card::next(plan, Standing::Active, &context.invocation));
    }
    text
}

fn mode_words(snapshot: &Snapshot) -> String {
    let mode = snapshot.session.as_ref().map(|session| &session.plan_mode).filter(|mode| mode.enabled);
    match mode {
        None => format!("Plan work is {} in {}.\n", paint("off", BOLD), snapshot.identity),
        Some(mode) => {
            format!("Plan work is {} in {}, style {}.\n", paint("on", GOOD.bold()), snapshot.identity, mode.style)
        }
    }
}
