//! Which plan a decision without a name is about: the only one that waits for approval, in whichever session it is.

use planwright_core::plan::reference::PlanReference;
use planwright_core::session::SessionIdentity;
use planwright_engine::inbox::{Waiting, WaitingFor};
use planwright_surfaces::wire::WaitingView;
use serde_json::json;

use crate::cli::PlanSubcommand;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::inbox as view;

/// How many plans that wait are looked at.
const PAGE: u32 = 64;

/// The session of the plan that a decision is about where neither is named. The plan is named in the command from then on. `None`
/// where the session says which plan is meant.
pub(super) async fn session(
    context: &Context,
    command: &mut PlanSubcommand,
) -> Result<Option<SessionIdentity>, Failure> {
    let Some(named) = of_decision(command).filter(|plan| plan.is_none()) else { return Ok(None) };
    if context.folder_session().await?.is_some() || !has_several_sessions(context).await? {
        return Ok(None);
    }
    let page = context.engine.inbox().list(None, PAGE).await?;
    let waiting: Vec<_> = page.items.into_iter().filter(|waiting| waiting.wants == WaitingFor::Approval).collect();
    let chosen = match waiting.as_slice() {
        [] => return Ok(None),
        [only] if page.next.is_none() => only,
        several => choose(context, several)?,
    };
    *named = chosen.plan.id.as_str().parse().ok();
    Ok(Some(chosen.session.clone()))
}

/// Whether a command without a session does not say which one it means.
async fn has_several_sessions(context: &Context) -> Result<bool, Failure> {
    let first = context.engine.sessions().list(None, 2).await?;
    Ok(first.items.len() + first.damaged.len() > 1)
}

/// Where the command names its plan, if it decides about one that waits for approval.
fn of_decision(command: &mut PlanSubcommand) -> Option<&mut Option<PlanReference>> {
    match command {
        PlanSubcommand::Approve(arguments) => Some(&mut arguments.plan),
        PlanSubcommand::Reject(arguments) => Some(&mut arguments.plan),
        PlanSubcommand::Revise(arguments) => Some(&mut arguments.plan),
        _ => None,
    }
}

/// Asks until the person gives a number of the list. An empty line chooses nothing.
fn choose<'w>(context: &Context, waiting: &'w [Waiting]) -> Result<&'w Waiting, Failure> {
    let views: Vec<_> = waiting.iter().map(WaitingView::from).collect();
    if !context.screen.interactive {
        let list: Vec<_> = views.iter().map(view::one_line).collect();
        let message = format!("{} plans wait for approval, and it is not clear which one is meant", views.len());
        return Err(Failure::usage(format!("{message}: {}", list.join("; ")))
            .hint(format!("say which: `--session {}` and the number of the plan", waiting[0].session))
            .with("items", json!(views)));
    }
    context.screen.print(&view::numbered(&views, context.screen.width))?;
    let number = context.screen.number(&format!("Which plan? [1-{}] ", views.len()), views.len())?;
    let chosen = number.and_then(|number| waiting.get(number - 1));
    chosen.ok_or_else(|| Failure::declined("No plan was chosen; nothing was done."))
}
