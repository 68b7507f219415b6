//! `plan changes` and `plan undo`

use std::sync::Arc;

use planwright_agent::session::input::Input;
use planwright_agent::{Agent, PlanChanges};
use planwright_core::plan::Plan;
use planwright_core::plan::reference::PlanReference;
use planwright_core::session::SessionIdentity;
use planwright_surfaces::wire::{ChatChangesView, PlanChangesView, UndoView};
use serde_json::json;

use super::carry_out::{agent_without_model, request, request_in};
use crate::cli::ChangesArgs;
use crate::context::Context;
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::file_diff;
use crate::terminal::markdown;

pub(super) async fn run(
    context: &Context,
    session: &SessionIdentity,
    arguments: &ChangesArgs,
    raw: bool,
) -> ExitResult {
    let agent = agent_without_model(context);
    if arguments.chat {
        let changes = agent.chat_changes().read(session).await.map_err(super::not_found(context))?;
        let raw_text = || changes.files.iter().map(|file| file.text.as_str()).collect();
        let text = || if raw { raw_text() } else { file_diff::render_chat(&changes, context.screen.width) };
        context.screen.answer(|| json!(ChatChangesView::from(&changes)), text)?;
        return Ok(Exit::Done);
    }
    let plan = find(context, &agent, session, arguments.plan.as_ref()).await?;
    let changes = agent.plan_changes().read(plan, arguments.step).await.map_err(super::not_found(context))?;
    let text = || if raw { raw_diff(&changes) } else { file_diff::render(&changes, context.screen.width) };
    context.screen.answer(|| json!(PlanChangesView::from(&changes)), text)
}

fn raw_diff(changes: &PlanChanges) -> String {
    changes.files.iter().map(|file| file.text.as_str()).collect()
}

pub(super) async fn undo(context: &Context, session: &SessionIdentity, arguments: &ChangesArgs) -> ExitResult {
    let agent = agent_without_model(context);
    let outcome = if arguments.chat {
        let request = request_in(context, session);
        agent.submit(Input::UndoLastTurn, request).outcome().await.map_err(Failure::from)?
    } else {
        let plan = find(context, &agent, session, arguments.plan.as_ref()).await?;
        let input = Input::Undo { plan: plan.id.clone(), step: arguments.step };
        let outcome = agent.submit(input, request(context, &plan)).outcome().await;
        outcome.map_err(super::refused(context, &plan))?
    };
    let Some(answer) = outcome.answer() else { return Ok(Exit::Done) };
    if answer.refused() {
        return Err(Failure::declined(answer.reply));
    }
    let view = || json!(answer.undone.as_deref().map(UndoView::from));
    context.screen.answer(view, || markdown::render(&answer.reply, context.screen.width))
}

/// The plan that is named, else the active one or the last one that was carried out.
async fn find(
    context: &Context,
    agent: &Agent,
    session: &SessionIdentity,
    plan: Option<&PlanReference>,
) -> Result<Arc<Plan>, Failure> {
    match plan {
        Some(_) => super::find(context, session, plan).await,
        None => agent.plan_changes().default_plan(session).await.map_err(super::not_found(context)),
    }
}
