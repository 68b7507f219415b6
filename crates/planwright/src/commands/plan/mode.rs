//! `plan on`, `off`, `done` and `status`: whether plan work is on, and on which plan.

use planwright_core::choices::choices;
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_engine::plan_status::plan_status;
use planwright_surfaces::wire::{PlanModeView, PlanView};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{ExitResult, Failure};
use crate::terminal::card::{self, SessionPlan};
use crate::terminal::markdown;
use crate::terminal::palette::{BOLD, DIM, GOOD};
use crate::terminal::text::paint;

pub(super) async fn on(context: &Context, session: &SessionIdentity, style: PlanStyle) -> ExitResult {
    let opened = context.engine.sessions().open(session, &context.person).await?;
    let before = opened.snapshot.active().cloned();
    let snapshot = context.engine.sessions().enable_plan_mode(session, &context.person, style).await?.snapshot;
    let other = before.filter(|plan| snapshot.active().is_some_and(|active| active.id != plan.id));
    let left = parked(context, other.as_ref()).await?;
    let status = status_text(context, &snapshot).await?;
    answer(context, &snapshot, || {
        let mut text = String::new();
        if !opened.events.is_empty() {
            text.push_str(&format!("New session {}\n", paint(&session.to_string(), BOLD)));
        }
        text.push_str(&left);
        text.push_str(&status);
        let serve = context.invocation.command(["mcp", "--session", &session.to_string()]);
        text.push_str(&paint(&format!("An agent works on it through: {serve}"), DIM));
        text.push('\n');
        text
    })
}

/// A plan that is no longer the active one. An empty plan is cancelled when another takes its place, and a finished one
/// needs nothing more.
async fn parked(context: &Context, plan: Option<&Plan>) -> Result<String, Failure> {
    match plan.filter(|plan| !plan.is_empty() && !plan.status.is_final()) {
        Some(plan) => left_behind(context, plan).await,
        None => Ok(String::new()),
    }
}

async fn left_behind(context: &Context, plan: &Plan) -> Result<String, Failure> {
    let activity = context.engine.plans().activity(&plan.session, plan).await?;
    let next = card::next(plan, SessionPlan::Parked, activity.as_ref(), &context.invocation);
    Ok(format!("{}{next}", card::line(plan)))
}

pub(super) async fn off(context: &Context, session: &SessionIdentity) -> ExitResult {
    let before = context.engine.sessions().snapshot(session).await?;
    let snapshot = context.engine.sessions().disable_plan_mode(session, &context.person).await?.snapshot;
    let parked = parked(context, before.active()).await?;
    let status = status_text(context, &snapshot).await?;
    answer(context, &snapshot, || format!("{status}{parked}"))
}

pub(super) async fn done(context: &Context, session: &SessionIdentity) -> ExitResult {
    let before = context.engine.sessions().snapshot(session).await?;
    let snapshot = context.engine.sessions().finish_plan_work(session, &context.person).await?.snapshot;
    let left = match before.active() {
        Some(plan) => left_behind(context, context.engine.plans().get(session, &plan.id).await?.as_ref()).await?,
        None => String::new(),
    };
    let status = status_text(context, &snapshot).await?;
    answer(context, &snapshot, || format!("{status}{left}"))
}

/// Plans that are being carried out are shown, too, if another plan or none is active.
pub(super) async fn status(context: &Context, session: &SessionIdentity) -> ExitResult {
    let snapshot = context.engine.sessions().snapshot(session).await?;
    let opened = snapshot.opened()?;
    let mut others = context.engine.plans().executing(session).await?;
    others.retain(|plan| snapshot.active().is_none_or(|active| active.id != plan.id));
    let now = context.engine.now();
    let mut activities = Vec::new();
    for plan in snapshot.active().into_iter().chain(others.iter().map(AsRef::as_ref)) {
        activities.push((plan.id.clone(), context.engine.plans().activity(session, plan).await?));
    }
    let activity = |plan: &Plan| {
        let known = activities.iter().find(|(id, _)| *id == plan.id);
        known.and_then(|(_, activity)| activity.as_ref())
    };
    let value = || {
        let mut value = view(opened, &snapshot);
        let standing =
            |plan: &Plan| format!("{}\n\n{}", plan_status(plan, now), choices(plan, activity(plan)).situation);
        value["standing"] = json!(snapshot.active().map(standing));
        value["activePlan"] = json!(snapshot.active().map(|plan| PlanView::of(plan, activity(plan))));
        let others: Vec<_> = others.iter().map(|plan| PlanView::of(plan, activity(plan))).collect();
        value["othersUnderWay"] = json!(others);
        value
    };
    let describe = || {
        let width = context.screen.width;
        let tell = |plan: &Plan, standing| {
            let status = markdown::render(&plan_status(plan, now), width);
            format!(
                "{status}{}{}",
                card::progress(plan, width),
                card::next(plan, standing, activity(plan), &context.invocation)
            )
        };
        let active = snapshot.active().map_or_else(String::new, |plan| tell(plan, SessionPlan::Active));
        let others: String = others.iter().map(|plan| format!("\n{}", tell(plan, SessionPlan::Parked))).collect();
        format!("{}{active}{others}", mode_text(&snapshot))
    };
    context.screen.answer(value, describe)
}

fn answer(context: &Context, snapshot: &Snapshot, describe: impl FnOnce() -> String) -> ExitResult {
    let opened = snapshot.opened()?;
    context.screen.answer(|| view(opened, snapshot), describe)
}

fn view(session: &Session, snapshot: &Snapshot) -> Value {
    json!({
        "sessionId": session.identity.conversation,
        "channel": session.identity.channel,
        "planMode": PlanModeView::from(&session.plan_mode),
        "activePlan": snapshot.active().map(PlanView::from),
    })
}

async fn status_text(context: &Context, snapshot: &Snapshot) -> Result<String, Failure> {
    let mut text = mode_text(snapshot);
    if let Some(plan) = snapshot.active() {
        let activity = context.engine.plans().activity(&plan.session, plan).await?;
        text.push_str(&card::line(plan));
        text.push_str(&card::progress(plan, context.screen.width));
        text.push_str(&card::next(plan, SessionPlan::Active, activity.as_ref(), &context.invocation));
    }
    Ok(text)
}

fn mode_text(snapshot: &Snapshot) -> String {
    let mode = snapshot.session.as_ref().map(|session| &session.plan_mode).filter(|mode| mode.enabled);
    match mode {
        None => format!("Plan work is {} in {}.\n", paint("off", BOLD), snapshot.identity),
        Some(mode) => {
            format!("Plan work is {} in {}, style {}.\n", paint("on", GOOD.bold()), snapshot.identity, mode.style)
        }
    }
}
