//! `plan show`

use planwright_core::plan::reference::PlanReference;
use planwright_core::session::SessionIdentity;
use planwright_surfaces::wire::PlanView;
use serde_json::json;

use crate::context::Context;
use crate::failure::{Exit, ExitResult};
use crate::terminal::card::{self, Form};

pub(super) async fn run(
    context: &Context,
    session: &SessionIdentity,
    plan: Option<&PlanReference>,
    raw: bool,
) -> ExitResult {
    let plan = super::find(context, session, plan).await?;
    if context.screen.json {
        context.screen.print_json(&json!(PlanView::of(
            &plan,
            context.engine.plans().activity(&plan.session, &plan).await?.as_ref()
        )))?;
        return Ok(Exit::Done);
    }
    let source = context.source_of(&plan).await?;
    let form = if raw { Form::Raw } else { Form::Rendered };
    let card = card::whole(&plan, source.as_ref(), form, context.screen.width);
    context.screen.print(&format!("{card}{}", context.next(&plan).await?))?;
    Ok(Exit::Done)
}
