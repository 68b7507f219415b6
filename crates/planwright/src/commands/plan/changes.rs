//! `plan changes` and `plan undo`

use std::sync::Arc;

use planwright_core::plan::Plan;
use planwright_core::plan::reference::PlanReference;
use planwright_core::session::SessionIdentity;
use planwright_engine::agent::{Agent, PlanChanges};
use planwright_engine::session::input::Input;
use planwright_surfaces::wire::{PlanChangesView, UndoView};
use serde_json::json;

use super::carry_out::{agent_without_model, request};
use crate::cli::ChangesArgs;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::file_diff;
use crate::terminal::markdown;

pub(super) async fn run(context: &Context, session: &SessionIdentity, arguments: &ChangesArgs, raw: bool) -> Outcome {
    let agent = agent_without_model(context);
    let plan = find(context, &agent, session, arguments.plan.as_ref()).await?;
    let changes = agent.plan_changes().read(plan, arguments.step).await.map_err(super::not_found(context))?;
    let text = || if raw { raw_diff(&changes) } else { file_diff::render(&changes, context.screen.width) };
    context.screen.answer(|| json!(PlanChangesView::from(&changes)), text)?;
    Ok(Exit::Done)
}

fn raw_diff(changes: &PlanChanges) -> String {
    changes.files.iter().map(|file| file.text.as_str()).collect()
}

pub(super) async fn undo(context: &Context, session: &SessionIdentity, arguments: &ChangesArgs) -> Outcome {
    let agent = agent_without_model(context);
    let plan = find(context, &agent, session, arguments.plan.as_ref()).await?;
    let input = Input::Undo { plan: plan.id.clone(), step: arguments.step };
    let outcome = agent.submit(input, request(context, &plan)).outcome().await;
    let Some(answer) = outcome.map_err(super::refused(context, &plan))?.answer() else { return Ok(Exit::Done) };
    if answer.refused() {
        return Err(Failure::declined(answer.reply));
    }
    let view = || json!(answer.undone.as_deref().map(UndoView::from));
    context.screen.answer(view, || markdown::render(&answer.reply, context.screen.width))?;
    Ok(Exit::Done)
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
