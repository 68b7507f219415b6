//! `plan reject`, `revise`, `cancel` and `resume`

use std::io::Write as _;
use std::sync::Arc;

use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_engine::agent::{Progress, Watcher};
use planwright_engine::view::PlanView;
use planwright_llm::rehearsal::RehearsalModel;
use serde_json::json;

use crate::chat::lines;
use crate::cli::{ReasonArgs, ReviseArgs};
use crate::context::{Context, read_stdin};
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::card;

pub(super) async fn reject(context: &Context, session: &SessionIdentity, arguments: ReasonArgs) -> Outcome {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let reason = one_text(arguments.reason, &arguments.words);
    let rejected = context
        .engine
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
        .revise(session, &context.person, &plan.id, feedback)
        .await
        .map_err(super::refused(context, &plan))?;
    said(context, &revised).await
}

pub(super) async fn resume(context: &Context, session: &SessionIdentity, plan: Option<&PlanReference>) -> Outcome {
    let plan = super::find(context, session, plan).await?;
    let resumed = match plan.style() {
        PlanStyle::Document => context.engine.resume(session, &context.person, &plan.id).await,
        PlanStyle::Collect => return carry_out(context, session, &plan).await,
        PlanStyle::Build => {
            return Err(Failure::unavailable(format!(
                "Plan {} is of style build, and this version of Planwright does not carry out such plans yet.",
                plan.number
            )));
        }
    };
    let resumed = resumed.map_err(super::refused(context, &plan))?;
    said(context, &resumed).await
}

/// Here and now; Ctrl+C stops it, and it can be resumed.
async fn carry_out(context: &Context, session: &SessionIdentity, plan: &Plan) -> Outcome {
    let agent = context.agent(Arc::new(RehearsalModel::default()));
    let (watcher, mut told) = Watcher::new();
    let mut work = std::pin::pin!(agent.carry_out_plan(session, &context.person, &plan.id, &watcher));
    let mut stopping = false;
    let carried_out = loop {
        tokio::select! {
            biased;
            Some(progress) = told.recv() => tell(context, &progress)?,
            carried_out = &mut work => break carried_out,
            _ = tokio::signal::ctrl_c(), if !stopping => {
                stopping = true;
                let (agent, session) = (agent.clone(), session.clone());
                tokio::spawn(async move { agent.stop_here(&session).await });
            }
        }
    };
    while let Ok(progress) = told.try_recv() {
        tell(context, &progress)?;
    }
    let carried_out = carried_out.map_err(super::refused(context, plan))?;
    said(context, &carried_out).await?;
    Ok(if carried_out.status == PlanStatus::Completed { Exit::Done } else { Exit::Refused })
}

fn tell(context: &Context, progress: &Progress) -> Result<(), Failure> {
    match lines::line(progress, "", context.screen.width) {
        Some(line) if !context.screen.json => Ok(anstream::stderr().lock().write_all(line.as_bytes())?),
        Some(_) | None => Ok(()),
    }
}

/// What was given as an option, or as words after `--`.
fn one_text(option: Option<String>, words: &[String]) -> Option<String> {
    option.or_else(|| (!words.is_empty()).then(|| words.join(" ")))
}

async fn said(context: &Context, plan: &Plan) -> Outcome {
    let next = context.next(plan).await?;
    let words = || format!("{}{}{next}", card::line(plan), card::progress(plan, context.screen.width));
    context.screen.answer(|| json!(PlanView::from(plan)), words)?;
    Ok(Exit::Done)
}
