//! `planwright chat`
//!
//! - `resume`: the session that a person continues with `--continue` or `--resume`

mod resume;

use std::io::Write as _;
use std::path::Path;

use planwright_agent::Agent;
use planwright_agent::session::input::ChatLocation;
use planwright_core::session::{Channel, TransportChat};
use planwright_core::visible::visible;
use planwright_llm::{ModelChoice, connect};

use super::project::{self, ChatSession};
use crate::chat::chosen_theme::ChosenTheme;
use crate::chat::conversation::ChatConversation;
use crate::chat::inline;
use crate::chat::lines;
use crate::chat::pipe::{self, Messages};
use crate::chat::session_models::SessionModels;
use crate::chat::talk::{self, ChatTerminal, LogPlace};
use crate::cli::{ChatArgs, PlanWork};
use crate::config::ChatInterface;
use crate::context::{Context, SessionUse, make_folder, read_stdin};
use crate::failure::{ExitResult, Failure};
use crate::logging;
use crate::models::{self, ConfiguredModels};

pub(crate) async fn run(mut context: Context, arguments: ChatArgs) -> ExitResult {
    let agent = agent(&context, arguments.model.as_deref())?;
    let place = arrive(&mut context, &agent, &arguments).await?;
    match &arguments.project {
        Some(folder) => project::choose(&context, &place.session, folder).await?,
        None => project::offer(&context, &place.session).await?,
    }
    begin_plan_work(&context, &place, arguments.plan).await?;
    if let Some(warning) = context.sandbox_warning().filter(|_| !context.screen.json) {
        write!(anstream::stderr().lock(), "{}", lines::note("!", &format!("{warning}."), context.screen.width))?;
    }
    let agent = agent_of_session(&context, &place, &arguments)?.unwrap_or(agent);
    let conversation = ChatConversation::new(agent, context.person.clone(), place)
        .map_err(|error| Failure::unexpected(format!("signals cannot be received: {error}")))?
        .with_approver(arguments.approver.clone());
    let messages = match arguments.message.as_slice() {
        [] if context.screen.interactive => {
            // The store may be elsewhere; what was typed and written is kept here.
            make_folder(&context.data)?;
            return talk::run(conversation, terminal(context, arguments.plain)).await;
        }
        [] => Messages::on_stdin(),
        [dash] if dash == "-" => Messages::One(read_stdin()?),
        words => Messages::One(words.join(" ")),
    };
    pipe::run(conversation, messages, context.screen.json).await
}

/// The model that the person chose for the session in an earlier chat answers, unless one is named now. Scripts name theirs.
fn agent_of_session(context: &Context, place: &ChatLocation, arguments: &ChatArgs) -> Result<Option<Agent>, Failure> {
    if arguments.model.is_some() || !arguments.message.is_empty() || !context.screen.interactive {
        return Ok(None);
    }
    let Some(name) = SessionModels::new(&context.data).of(&place.session) else { return Ok(None) };
    match agent(context, Some(&name)) {
        Ok(agent) => Ok(Some(agent)),
        // The chat can do without it.
        Err(failure) => {
            writeln!(anstream::stderr().lock(), "{}", failure.render())?;
            Ok(None)
        }
    }
}

/// The terminal of a chat. Models that the person switches to are connected as the first one was.
fn terminal(context: Context, plain: bool) -> ChatTerminal {
    let interface = match context.chat_interface {
        ChatInterface::Inline if !plain && inline::fits_terminal() => ChatInterface::Inline,
        ChatInterface::Inline | ChatInterface::Plain => ChatInterface::Plain,
    };
    let log = if logging::write_to_file(&context.data) { LogPlace::Elsewhere } else { LogPlace::Screen };
    ChatTerminal {
        screen: context.screen,
        history: context.data.join("chat_history"),
        log,
        alert: context.chat_alert,
        interface,
        models: SessionModels::new(&context.data),
        theme: ChosenTheme::new(&context.data),
        make_agent: Box::new(move |name| agent(&context, Some(name))),
    }
}

pub(super) fn agent(context: &Context, named: Option<&str>) -> Result<Agent, Failure> {
    let choice = choice(context, named)?;
    let model = connect(&choice, |name| std::env::var(name).ok(), models::options(&context.model)).map_err(wrong)?;
    let models = ConfiguredModels::connect(&context.model, context.engine.policy())?;
    Ok(context.agent(model, Some(models)))
}

/// Who answers: the model that was named, else the one in the settings.
pub(super) fn choice(context: &Context, named: Option<&str>) -> Result<ModelChoice, Failure> {
    match named {
        Some(_) => ModelChoice::from_setting(named).map_err(wrong),
        None => Ok(context.model.choice.clone()),
    }
}

fn wrong(error: planwright_llm::ChooseError) -> Failure {
    Failure::usage(error.to_string())
}

/// The session that was named, which may begin now, or the one of this folder.
async fn arrive(context: &mut Context, agent: &Agent, arguments: &ChatArgs) -> Result<ChatLocation, Failure> {
    let transport = context.terminal_chat();
    if let Some(session) = resume::session(context, arguments).await? {
        return Ok(agent.chats().enter(&transport, &session, &context.person).await?);
    }
    let named = arguments.session.as_deref();
    match named.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => {
            let session = context.enter(Some(name), SessionUse::Begin).await?;
            Ok(agent.chats().enter(&transport, &session, &context.person).await?)
        }
        // The agent of another program works on the plan of this project, so the person meets the same plan.
        None => match context.folder_session().await? {
            Some(session) => Ok(agent.chats().enter(&transport, &session, &context.person).await?),
            None => arrive_in_folder(context, agent, arguments.project.as_deref(), &transport).await,
        },
    }
}

/// The session that the person was in last, unless it works in another project than this one.
async fn arrive_in_folder(
    context: &Context,
    agent: &Agent,
    folder: Option<&Path>,
    transport: &TransportChat,
) -> Result<ChatLocation, Failure> {
    let here = match folder {
        Some(folder) => Some(project::workspace(context, folder)?),
        None => project::here(context),
    };
    match project::chat_session(context, here).await? {
        ChatSession::Known(session) => Ok(agent.chats().enter(transport, &session, &context.person).await?),
        ChatSession::First => Ok(agent.chats().arrive(transport, Channel::Cli, &context.person).await?),
        ChatSession::NewBeside { last, project } => {
            let place = agent.chats().new_session(transport, Channel::Cli, &context.person).await?;
            if !context.screen.json {
                let text = format!(
                    "This is a new session. The one before, {last}, works in {}: `planwright chat --session {}` continues it.",
                    visible(&project),
                    last.conversation
                );
                write!(anstream::stderr().lock(), "{}", lines::note("!", &text, context.screen.width))?;
            }
            Ok(place)
        }
    }
}

async fn begin_plan_work(context: &Context, place: &ChatLocation, plan: Option<PlanWork>) -> Result<(), Failure> {
    match plan {
        None => {}
        Some(PlanWork::On(style)) => {
            context.engine.sessions().ensure_plan_mode(&place.session, &context.person, Some(style)).await?;
        }
        Some(PlanWork::Off) => {
            context.engine.sessions().disable_plan_mode(&place.session, &context.person).await?;
        }
    }
    Ok(())
}
