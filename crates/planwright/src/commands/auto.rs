//! `planwright auto`, `goal`, `task`, `schedule` and `diary`: the slash commands of the same names, in one session.

use planwright_core::session::SessionIdentity;
use planwright_core::slash::{
    self, AutoSubcommand, GoalSubcommand, Mistake, ScheduleSubcommand, SlashCommand, TaskSubcommand,
};
use planwright_engine::session::input::ChatLocation;

use super::chat;
use crate::chat::conversation::Conversation;
use crate::chat::pipe;
use crate::cli::{Global, SessionArg};
use crate::context::{Context, Purpose};
use crate::failure::{Failure, Outcome};
use crate::invocation::Invocation;

/// Carries the command out. A run that it starts is shown until it pauses or ends.
pub(crate) async fn run(global: &Global, command: &str, of: SessionArg, words: &[String]) -> Outcome {
    let text = format!("/{command} {}", words.join(" "));
    let text = text.trim_end();
    let purpose = purpose(text).map_err(|mistake| wrong(global, command, &mistake))?;
    let mut context = Context::open(global, purpose.store()).await?;
    let named = of.session.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let session = context.enter(named, purpose).await?;
    if purpose == Purpose::Add {
        context.open_first(&session).await?;
    }
    exchange(&context, &session, of.model.as_deref(), text).await
}

/// The first goal, task, schedule, entry or run begins a session, if there is none.
fn purpose(text: &str) -> Result<Purpose, Mistake> {
    let command = match slash::parse(text) {
        slash::Input::Command(command) => command,
        slash::Input::Message(_) => return Ok(Purpose::Use),
        slash::Input::Refused(mistake) => return Err(mistake),
    };
    let adds = matches!(
        command,
        SlashCommand::Auto(AutoSubcommand::On { .. })
            | SlashCommand::Goal(GoalSubcommand::Add { .. })
            | SlashCommand::Task(TaskSubcommand::Add { .. })
            | SlashCommand::Schedule(ScheduleSubcommand::Add { .. })
            | SlashCommand::Diary { text: Some(_) }
    );
    Ok(if adds { Purpose::Add } else { Purpose::Use })
}

/// A mistake in the words, with what to type in a shell instead of a chat.
fn wrong(global: &Global, command: &str, mistake: &Mistake) -> Failure {
    let typed = Invocation::new(global).command([command]);
    let list = format!("{typed} list");
    let text = mistake.to_string().replace(&format!("/{command}s"), &list);
    Failure::usage(text.replace(&format!("/{command}"), &typed))
}

/// The same for a whole slash command.
pub(super) async fn in_session(context: &Context, session: &SessionIdentity, text: &str) -> Outcome {
    exchange(context, session, None, text).await
}

async fn exchange(context: &Context, session: &SessionIdentity, model: Option<&str>, text: &str) -> Outcome {
    let agent = chat::agent(context, model)?;
    let transport = context.terminal_chat();
    let place = ChatLocation::new(transport, session.clone());
    let conversation = Conversation::new(agent, context.person.clone(), place)
        .map_err(|error| Failure::unexpected(format!("signals cannot be received: {error}")))?;
    pipe::one(conversation, text, context.screen.json).await
}
