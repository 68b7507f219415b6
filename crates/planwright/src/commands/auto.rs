//! `planwright auto`, `goal`, `task`, `schedule` and `diary`: the slash commands of the same names, in one session.

use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::session::input::ChatLocation;

use super::chat;
use crate::chat::conversation::Conversation;
use crate::chat::pipe;
use crate::cli::SessionArg;
use crate::context::{Context, Purpose};
use crate::failure::{Failure, Outcome};

/// Carries the command out. A run that it starts is shown until it pauses or ends.
pub(crate) async fn run(mut context: Context, command: &str, of: SessionArg, words: &[String]) -> Outcome {
    let named = of.session.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let session = context.enter(named, Purpose::Use).await?;
    let text = format!("/{command} {}", words.join(" "));
    exchange(&context, &session, of.model.as_deref(), text.trim_end()).await
}

/// The same for a whole slash command.
pub(super) async fn in_session(context: &Context, session: &SessionIdentity, text: &str) -> Outcome {
    exchange(context, session, None, text).await
}

async fn exchange(context: &Context, session: &SessionIdentity, model: Option<&str>, text: &str) -> Outcome {
    let agent = chat::agent(context, model)?;
    let transport = TransportChat(format!("cli:{}", context.person.name));
    let place = ChatLocation::new(transport, session.clone());
    let conversation = Conversation::new(agent, context.person.clone(), place)
        .map_err(|error| Failure::unexpected(format!("signals cannot be heard: {error}")))?;
    pipe::one(conversation, text, context.screen.json).await
}
