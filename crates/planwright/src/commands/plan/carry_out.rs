//! Carrying a plan out here and now: progress is told on the way, Ctrl+C stops it, and it can be resumed.

use std::io::Write as _;
use std::sync::Arc;

use planwright_core::ids::PlanId;
use planwright_core::plan::{Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_engine::agent::{Agent, Answer, Progress, Watcher};
use planwright_engine::ledger::LedgerResult;
use planwright_llm::rehearsal::RehearsalModel;

use crate::chat::lines;
use crate::commands::chat;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::markdown;

/// Recorded calls need no model to be made.
pub(super) fn agent(context: &Context, plan: &Plan) -> Result<Agent, Failure> {
    match plan.style() {
        PlanStyle::Collect => Ok(context.agent(Arc::new(RehearsalModel::default()))),
        PlanStyle::Document | PlanStyle::Build => chat::agent(context, None),
    }
}

/// Waits for the work and tells what happens. The plan is told at the end, as it is then.
pub(super) async fn watched<W>(
    context: &Context,
    session: &SessionIdentity,
    plan: &PlanId,
    agent: &Agent,
    work: impl FnOnce(Watcher) -> W,
) -> Outcome
where
    W: Future<Output = LedgerResult<Answer>>,
{
    let (watcher, mut told) = Watcher::new();
    let mut work = std::pin::pin!(work(watcher));
    let mut stopping = false;
    let answer = loop {
        tokio::select! {
            biased;
            Some(progress) = told.recv() => tell(context, &progress)?,
            answer = &mut work => break answer,
            _ = tokio::signal::ctrl_c() => {
                if std::mem::replace(&mut stopping, true) {
                    return Err(Failure::declined("Left; `plan resume` goes on with it.".to_owned()));
                }
                let (agent, session) = (agent.clone(), session.clone());
                tokio::spawn(async move { agent.stop_here(&session).await });
            }
        }
    };
    while let Ok(progress) = told.try_recv() {
        tell(context, &progress)?;
    }
    let found = context.engine.plan(session, plan).await?;
    let answer = answer.map_err(super::refused(context, &found))?;
    if answer.refused() {
        return Err(Failure::declined(answer.reply));
    }
    if !context.screen.json && found.style() == PlanStyle::Document {
        context.screen.print(&markdown::render(&answer.reply, context.screen.width))?;
    }
    super::decide::said(context, &found).await?;
    Ok(if found.status == PlanStatus::Completed { Exit::Done } else { Exit::Refused })
}

fn tell(context: &Context, progress: &Progress) -> Result<(), Failure> {
    let line = match progress {
        Progress::Said(words) => Some(markdown::render(words, context.screen.width)),
        progress => lines::line(progress, "", context.screen.width),
    };
    match line {
        Some(line) if !context.screen.json => Ok(anstream::stderr().lock().write_all(line.as_bytes())?),
        Some(_) | None => Ok(()),
    }
}
