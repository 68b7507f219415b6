//! `plan history`

use planwright_core::plan::reference::PlanReference;
use planwright_core::session::SessionIdentity;
use planwright_surfaces::wire::{DecisionView, ExecutionView, HistoryView, VersionView};
use serde_json::json;

use super::damaged;
use crate::context::Context;
use crate::failure::{Exit, ExitResult};
use crate::terminal::{card, history};

pub(super) async fn run(context: &Context, session: &SessionIdentity, plan: Option<&PlanReference>) -> ExitResult {
    let plan = super::find(context, session, plan).await?;
    let found = context.engine.history().of_plan(session, &plan.id).await?;
    let view = || {
        json!({
            "id": plan.id,
            "number": plan.number,
            "items": found.items.iter().map(HistoryView::from).collect::<Vec<_>>(),
            "versions": found.versions.iter().map(VersionView::from).collect::<Vec<_>>(),
            "decisions": found.decisions.iter().map(DecisionView::from).collect::<Vec<_>>(),
            "executions": found.executions.iter().map(ExecutionView::from).collect::<Vec<_>>(),
            "damaged": damaged::view(&found.damaged),
        })
    };
    let describe = || {
        let history = history::render(&found, &plan, &context.invocation, context.screen.width);
        format!("{}\n{history}{}", card::line(&plan), damaged::describe(&found.damaged))
    };
    context.screen.answer(view, describe)?;
    Ok(if found.damaged.is_empty() { Exit::Done } else { Exit::Damaged })
}
