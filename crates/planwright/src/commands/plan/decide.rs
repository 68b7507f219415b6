//! `plan reject`, `revise`, `cancel` and `resume`

use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_engine::session::input::{BeginWork, Input};
use planwright_surfaces::wire::PlanView;
use serde_json::json;

use super::carry_out;
use crate::cli::{ReasonArgs, ResumeArgs, ReviseArgs};
use crate::context::{Context, read_stdin};
use crate::failure::{Exit, Outcome};
use crate::terminal::card;

pub(super) async fn reject(context: &Context, session: &SessionIdentity, arguments: ReasonArgs) -> Outcome {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let reason = one_text(arguments.reason, &arguments.words);
    let rejected = context
        .engine
        .plans()
        .reject(session, &context.person, &plan.id, reason)
        .await
        .map_err(super::refused(context, &plan))?;
    said(context, &rejected).await
}

pub(super) async fn cancel(context: &Context, session: &SessionIdentity, arguments: ReasonArgs) -> Outcome {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let reason = one_text(arguments.reason, &arguments.words);
    let cancelled = context
        .engine
        .plans()
        .cancel(session, &context.person, &plan.id, reason)
        .await
        .map_err(super::refused(context, &plan))?;
    said(context, &cancelled).await
}

pub(super) async fn revise(context: &Context, session: &SessionIdentity, arguments: ReviseArgs) -> Outcome {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let feedback = match one_text(arguments.feedback, &arguments.words).unwrap_or_default() {
        stdin if stdin == "-" => read_stdin()?,
        feedback => feedback,
    };
    let revised = context
        .engine
        .plans()
        .revise(session, &context.person, &plan.id, feedback)
        .await
        .map_err(super::refused(context, &plan))?;
    said(context, &revised).await
}

/// Continues the plan in this process, unless another program's agent works on the document.
pub(super) async fn resume(context: &Context, session: &SessionIdentity, arguments: ResumeArgs) -> Outcome {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let choice = arguments.choice();
    let elsewhere = context.engine.history().external_author(&plan).await?.is_some();
    if plan.style() == PlanStyle::Document && elsewhere && choice.is_none() {
        let resumed = context.engine.plans().resume(session, &context.person, &plan.id).await;
        let resumed = resumed.map_err(super::refused(context, &plan))?;
        return said(context, &resumed).await;
    }
    let agent = carry_out::agent(context, &plan, BeginWork::Now)?;
    carry_out::watched(context, &plan, &agent, Input::ResumePlan { plan: plan.id.clone(), choice }).await
}

/// What was given as an option, or as words after `--`.
fn one_text(option: Option<String>, words: &[String]) -> Option<String> {
    option.or_else(|| (!words.is_empty()).then(|| words.join(" ")))
}

pub(super) async fn said(context: &Context, plan: &Plan) -> Outcome {
    let next = context.next(plan).await?;
    let words = || format!("{}{}{next}", card::line(plan), card::progress(plan, context.screen.width));
    context.screen.answer(|| json!(PlanView::from(plan)), words)?;
    Ok(Exit::Done)
}
