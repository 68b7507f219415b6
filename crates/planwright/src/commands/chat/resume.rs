//! The session that a person continues with `--continue` or `--resume`.

use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use serde_json::Value;

use crate::cli::ChatArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::terminal::sessions::{self, ListedSession};

/// How many sessions a person chooses from.
const MAX_LISTED: u32 = 20;

/// `None` without either option.
pub(super) async fn session(context: &Context, arguments: &ChatArgs) -> Result<Option<SessionIdentity>, Failure> {
    if arguments.continues {
        let last = context.engine.ledger().active_session(&context.terminal_chat()).await?;
        return last.map(Some).ok_or_else(|| none_yet(context));
    }
    match arguments.resume.as_deref() {
        Some(text) => choose(context, text).await.map(Some),
        None => Ok(None),
    }
}

fn none_yet(context: &Context) -> Failure {
    let chat = context.invocation.command(["chat"]);
    Failure::not_found("There is no session to continue yet.").hint(format!("`{chat}` begins one"))
}

async fn choose(context: &Context, text: &str) -> Result<SessionIdentity, Failure> {
    let found = context.engine.sessions().search(text, None, MAX_LISTED).await?;
    match found.items.as_slice() {
        [] if text.trim().is_empty() => Err(none_yet(context)),
        [] => Err(Failure::not_found(format!("No session has {} in its key, title or topic.", quoted(text)))
            .hint(context.invocation.command(["sessions"]))),
        [only] => Ok(only.session.identity.clone()),
        several => {
            let mut listed = Vec::with_capacity(several.len());
            for stored in several {
                listed.push(context.listed(stored).await?);
            }
            ask(context, &listed)
        }
    }
}

fn ask(context: &Context, listed: &[ListedSession]) -> Result<SessionIdentity, Failure> {
    if !context.screen.interactive {
        let views: Vec<_> = listed.iter().map(ListedSession::view).collect();
        let names: Vec<_> = listed.iter().map(|session| session.identity().to_string()).collect();
        let message = format!("{} sessions can be continued: {}", names.len(), names.join(", "));
        let hint = format!("say which: `--session {}`", names[0]);
        return Err(Failure::usage(message).hint(hint).with("sessions", Value::from(views)));
    }
    context.screen.print(&sessions::numbered(listed, &context.screen))?;
    let number = context.screen.number(&format!("Continue which session? [1-{}] ", listed.len()), listed.len())?;
    let chosen = number.and_then(|number| listed.get(number - 1));
    let chosen = chosen.ok_or_else(|| Failure::declined("No session was chosen; nothing was done."))?;
    Ok(chosen.identity().clone())
}
