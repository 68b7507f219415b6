//! `planwright auto`, `goal`, `task`, `schedule` and `diary`: the slash commands of the same names, in one session.

use planwright_agent::session::input::ChatLocation;
use planwright_core::actor::Actor;
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{
    self, AutoSubcommand, GoalSubcommand, Mistake, ScheduleSubcommand, SlashCommand, TaskSubcommand,
};

use super::chat;
use crate::chat::conversation::ChatConversation;
use crate::chat::pipe;
use crate::cli::{Global, SessionArg};
use crate::context::{Context, SessionUse};
use crate::failure::{ExitResult, Failure};
use crate::invocation::Invocation;

/// Carries the command out. A run that it starts is shown until it pauses or ends.
pub(crate) async fn run(
    global: &Global,
    command: &str,
    of: SessionArg,
    approver: Option<&str>,
    words: &[String],
) -> ExitResult {
    let text = format!("/{command} {}", words.join(" "));
    let text = text.trim_end();
    let purpose = purpose(text).map_err(|mistake| wrong(global, command, &mistake))?;
    let mut context = Context::open(global, purpose.store()).await?;
    let named = of.session.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let session = context.enter(named, purpose).await?;
    if purpose == SessionUse::Add {
        context.open_first(&session).await?;
    }
    let person = match slash::parse(text) {
        slash::ParsedInput::Command(command) if command.lets_work_happen() => {
            crate::approver::verified_for_act(&context, &session, &command, approver).await?
        }
        slash::ParsedInput::Command(_) | slash::ParsedInput::Message(_) | slash::ParsedInput::Refused(_) => {
            context.person.clone()
        }
    };
    exchange(&context, &session, of.model.as_deref(), text, person).await
}

/// The first goal, task, schedule, entry or run begins a session, if there is none.
fn purpose(text: &str) -> Result<SessionUse, Mistake> {
    let command = match slash::parse(text) {
        slash::ParsedInput::Command(command) => command,
        slash::ParsedInput::Message(_) => return Ok(SessionUse::Use),
        slash::ParsedInput::Refused(mistake) => return Err(mistake),
    };
    let adds = matches!(
        command,
        SlashCommand::Auto(AutoSubcommand::On { .. })
            | SlashCommand::Goal(GoalSubcommand::Add { .. })
            | SlashCommand::Task(TaskSubcommand::Add { .. })
            | SlashCommand::Schedule(ScheduleSubcommand::Add { .. })
            | SlashCommand::Diary { text: Some(_) }
    );
    Ok(if adds { SessionUse::Add } else { SessionUse::Use })
}

/// A mistake in the words, with what to type in a shell instead of a chat.
fn wrong(global: &Global, command: &str, mistake: &Mistake) -> Failure {
    let typed = Invocation::new(global).command([command]);
    let list = format!("{typed} list");
    let text = mistake.to_string().replace(&format!("/{command}s"), &list);
    Failure::usage(text.replace(&format!("/{command}"), &typed))
}

/// Carries out a whole slash command in a session.
pub(super) async fn in_session(context: &Context, session: &SessionIdentity, text: &str) -> ExitResult {
    exchange(context, session, None, text, context.person.clone()).await
}

async fn exchange(
    context: &Context,
    session: &SessionIdentity,
    model: Option<&str>,
    text: &str,
    person: Actor,
) -> ExitResult {
    let agent = chat::agent(context, model)?;
    let transport = context.terminal_chat();
    let place = ChatLocation::new(transport, session.clone());
    let conversation = ChatConversation::new(agent, person, place)
        .map_err(|error| Failure::unexpected(format!("signals cannot be received: {error}")))?;
    pipe::one(conversation, text, context.screen.json).await
}
