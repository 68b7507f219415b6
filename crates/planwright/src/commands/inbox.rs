//! `planwright inbox`: what waits for a person, over all sessions, and decisions about it.
//!
//! - `items`: what waits, and how it is found
//! - `answer`: decisions
//! - `open`: the page of the dashboard
//! - `pick`: what is meant where nothing is named

mod answer;
mod items;
mod open;
mod pick;

use std::time::Duration;

use planwright_core::session::SessionIdentity;
use planwright_engine::changes::ChangeFollower;
use planwright_surfaces::wire::WaitingView;
use serde_json::json;

use crate::cli::{InboxArgs, InboxCommand};
use crate::context::{Context, SessionUse};
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::inbox as view;

use items::InboxItems;

/// Entries of the journal that come closer together are looked at once.
const DEBOUNCE: Duration = Duration::from_millis(200);

pub(crate) async fn run(mut context: Context, arguments: InboxArgs) -> ExitResult {
    let session = match arguments.session.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => Some(context.enter(Some(name), SessionUse::Use).await?),
        None => None,
    };
    match arguments.command {
        None => list(&context, session.as_ref(), arguments.wait).await,
        Some(InboxCommand::List { wait }) => list(&context, session.as_ref(), wait || arguments.wait).await,
        Some(InboxCommand::Show { id }) => {
            let named = |view: &WaitingView| id.as_deref().is_some_and(|id| view.id == id.trim());
            if let Some(view) = tool_changes(&context).await?.into_iter().find(named) {
                let text = format!(
                    "{}{}",
                    view::asked(&view, context.screen.width),
                    view::choices(&view, &context.invocation, context.screen.width)
                );
                context.screen.answer(|| json!(view), || text)?;
                return Ok(Exit::Done);
            }
            let item = pick::item(&context, session.as_ref(), id.as_deref()).await?;
            context.invocation.name_session(item.session());
            let text = item.whole(&context).await?;
            context.screen.answer(|| json!(item.view()), || text)
        }
        Some(InboxCommand::Open { id, print }) => {
            let item = items::find(&context, session.as_ref(), &id).await?;
            open::run(&context, &item, print)
        }
        Some(InboxCommand::Answer(arguments)) => {
            let (item, arguments) = pick::answered(&context, session.as_ref(), arguments).await?;
            context.invocation.name_session(item.session());
            answer::run(&context, item, arguments).await
        }
    }
}

async fn list(context: &Context, session: Option<&SessionIdentity>, wait: bool) -> ExitResult {
    let Some(inbox) = read(context, session, wait).await? else { return Ok(Exit::Refused) };
    let mut views: Vec<_> = inbox.items.iter().map(items::InboxItem::view).collect();
    if session.is_none() {
        views.extend(tool_changes(context).await?);
    }
    let damaged: Vec<_> = inbox.damaged.iter().map(|row| json!({ "what": row.what, "reason": row.reason })).collect();
    context.screen.answer(
        || json!({ "items": views, "damaged": damaged }),
        || {
            let mut text = view::list(&views, &context.invocation, context.screen.width);
            if !inbox.damaged.is_empty() {
                let verify = context.invocation.command(["verify"]);
                text.push_str(&format!("{} more cannot be read; `{verify}` names the damage\n", inbox.damaged.len()));
            }
            text
        },
    )
}

/// Tools of upstream MCP servers that no person has accepted, as far as a process looked at them. No server is started.
async fn tool_changes(context: &Context) -> Result<Vec<WaitingView>, Failure> {
    let Some(upstream) = context.upstream(context.files(), usize::MAX) else { return Ok(Vec::new()) };
    Ok(upstream.statuses().await?.iter().filter_map(WaitingView::of_server).collect())
}

/// What waits now. With `wait` it is not empty; `None` if Ctrl+C ended the wait.
async fn read(context: &Context, session: Option<&SessionIdentity>, wait: bool) -> Result<Option<InboxItems>, Failure> {
    // The changes are followed before the first look, so that none is missed in between.
    let mut changes = ChangeFollower::follow(context.ledger.as_ref(), DEBOUNCE);
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        let inbox = items::read(context, session).await?;
        if !wait || !inbox.items.is_empty() {
            return Ok(Some(inbox));
        }
        loop {
            let changed = tokio::select! {
                biased;
                _ = &mut interrupted => return Ok(None),
                changed = changes.next() => changed,
            };
            let changed = changed.ok_or_else(|| Failure::unavailable("the store cannot be followed any more"))?;
            if session.is_none_or(|session| changed.concerns(session)) {
                break;
            }
        }
    }
}
