//! `plan diff`

use planwright_core::session::SessionIdentity;
use serde_json::json;

use crate::cli::DiffArgs;
use crate::context::Context;
use crate::failure::{Exit, Outcome};
use crate::terminal::diff;

pub(super) async fn run(context: &Context, session: &SessionIdentity, arguments: &DiffArgs) -> Outcome {
    let plan = super::find(context, session, arguments.plan.as_ref()).await?;
    let (title, difference) = match &arguments.other {
        Some(other) => {
            let other = super::find(context, session, Some(other)).await?;
            let title = diff::title(&format!("plan {}", plan.number), &format!("plan {}", other.number));
            (title, context.engine.diff_plans(&plan, &other)?)
        }
        None => {
            let difference = context.engine.diff_versions(&plan, arguments.from, arguments.to).await?;
            (versions(plan.number, plan.version, arguments, plan.supersedes.is_some()), difference)
        }
    };
    context
        .screen
        .answer(|| json!(difference), || format!("{title}{}", diff::render(&difference, context.screen.width)))?;
    Ok(Exit::Done)
}

fn versions(number: u32, last: u32, arguments: &DiffArgs, succeeds: bool) -> String {
    let to = arguments.to.unwrap_or(last);
    let from = match (arguments.from, to) {
        (Some(from), _) => format!("version {from}"),
        (None, 0 | 1) if succeeds => "the plan it took the place of".to_owned(),
        (None, 0 | 1) => "nothing".to_owned(),
        (None, to) => format!("version {}", to - 1),
    };
    diff::title(&format!("Plan {number}: {from}"), &format!("version {to}"))
}
