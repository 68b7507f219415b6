//! `sessions delete`: says what is deleted, asks, and deletes it.

use std::sync::Arc;

use planwright_agent::session::input::{ChatLocation, Input, Request};
use planwright_core::session::{Session, SessionIdentity};
use planwright_llm::rehearsal::RehearsalModel;
use serde_json::json;

use crate::context::{Context, SessionUse};
use crate::failure::{ExitResult, Failure};
use crate::terminal::palette::BOLD;
use crate::terminal::text::{count, paint, shown_line};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confirmation {
    Asked,
    NotNeeded,
}

pub(super) async fn run(context: &mut Context, named: &str, confirmation: Confirmation) -> ExitResult {
    let named = named.trim();
    if named.is_empty() {
        return Err(Failure::usage("the key of the session is blank").hint(context.invocation.command(["sessions"])));
    }
    let session = context.enter(Some(named), SessionUse::Use).await?;
    if confirmation == Confirmation::Asked {
        confirm(context, &session).await?;
    }
    // Deleting needs no model.
    let agent = context.agent(Arc::new(RehearsalModel::default()), None);
    let place = ChatLocation::new(context.terminal_chat(), session.clone());
    agent.submit(Input::Delete, Request::new(place, context.person.clone())).outcome().await?;
    let view = || json!({ "sessionId": session.conversation, "channel": session.channel, "deleted": true });
    context.screen.answer(view, || format!("Session {} is deleted.\n", paint(&session.to_string(), BOLD)))
}

async fn confirm(context: &Context, session: &SessionIdentity) -> Result<(), Failure> {
    let deleted = what_is_deleted(&context.engine.sessions().get(session).await?);
    if !context.screen.interactive {
        let again = context.invocation.command(["sessions", "delete", &session.to_string(), "--yes"]);
        return Err(Failure::usage(format!("there is no terminal to ask on, so session {session} was not deleted"))
            .hint(format!("to delete {deleted}: {again}")));
    }
    context.screen.print(&format!("This deletes {deleted}. It cannot be undone.\n"))?;
    if context.screen.confirm(&format!("Delete session {session}?"))? {
        return Ok(());
    }
    Err(Failure::declined(format!("Session {session} was not deleted.")))
}

fn what_is_deleted(session: &Session) -> String {
    let topic = session.topic.as_deref().map_or_else(String::new, |topic| format!(" “{}”", shown_line(topic)));
    let plans = count(session.plans_made, "plan");
    format!("the conversation{topic}, {plans} and the files of {}", session.identity)
}
