//! `planwright serve`
//!
//! - `announcement`: what it prints when it is ready and when it stops
//! - `service_manager`: the same for systemd
//! - `telegram_updates`: updates that Telegram sends to the server

mod announcement;
mod service_manager;
mod telegram_updates;

use std::io::ErrorKind;
use std::sync::Arc;

use planwright_agent::{Agent, AgentOptions};
use planwright_core::refusal::Refusal;
use planwright_engine::approvals::OpenedFor;
use planwright_notify::{Notifier, NotifyOptions};
use planwright_surfaces::http::{Server, ServerError, ServerOptions, UpdateReceiver};
use planwright_surfaces::mcp::PersonCommands;
use planwright_telegram::{TelegramBot, TelegramOptions, UpdateMode};
use tokio_util::sync::CancellationToken;

use self::announcement::Announcement;
use self::service_manager::notify;
use self::telegram_updates::TelegramUpdates;
use super::chat::{agent, choice};
use super::mcp::HttpAgents;
use crate::cli::{Global, ServeArgs};
use crate::config::Settings;
use crate::context::{Context, make_folder};
use crate::failure::{Exit, ExitResult, Failure};
use crate::file_sharing::Upkeep;
use crate::file_system::{NETWORK_HINT, network_warning};
use crate::invocation::Invocation;
use crate::logging::{self, LogFormat};
use crate::signals::Signals;
use crate::token;

pub(crate) async fn run(global: &Global, arguments: ServeArgs) -> ExitResult {
    let settings = Settings::read(global)?;
    let format = arguments.log_format.or(settings.server.log_format).unwrap_or_else(LogFormat::detect);
    logging::start_server(global.verbose, format);
    // The greeting comes first on a terminal.
    logging::hold();
    // From here on a signal ends the program, however long the store takes to open.
    let mut signals =
        Signals::new().map_err(|error| Failure::unexpected(format!("signal handlers cannot be installed: {error}")))?;
    tokio::select! {
        biased;
        ready = bind(global, settings, arguments) => {
            let Ready { server, announcement, agent, beside } = ready?;
            // Servers that no person has accepted are looked at in the background, so that the inbox can show them.
            if let Some(upstream) = agent.upstream() {
                upstream.refresh().await?;
            }
            let outcome = serve(server, announcement, beside, &mut signals).await;
            if let Some(upstream) = agent.upstream() {
                upstream.stop().await;
            }
            outcome
        }
        () = signals.stop() => Ok(Exit::Done),
    }
}

/// Everything that `serve` runs.
struct Ready {
    server: Server,
    announcement: Announcement,
    agent: Agent,
    beside: BackgroundServices,
}

/// What runs beside the server.
struct BackgroundServices {
    bot: Option<TelegramBot>,
    notifier: Notifier,
    /// For files that servers share.
    upkeep: Option<Upkeep>,
}

async fn bind(global: &Global, settings: Settings, arguments: ServeArgs) -> Result<Ready, Failure> {
    let token = token::of(&settings);
    make_folder(&settings.data)?;
    let (location, store) = (settings.location.clone(), settings.location.to_string());
    let revoked_cookies = settings.data.join("revoked-cookies");
    let mut context = Context::opened_for(OpenedFor::Server, global, settings).await?;
    let (server, gateway_options) = (context.served.server.clone(), context.served.gateway_options);
    let (telegram, notify) = (context.served.telegram.take(), context.served.notify.clone());
    if let Some(warning) = network_warning(&location) {
        tracing::warn!(event = "store_on_network_file_system", "{warning}; {NETWORK_HINT}");
    }
    for difference in &context.served.differences {
        tracing::warn!(event = "guarded_setting_differs", "{difference}");
    }
    context.allowed_projects = Some(context.served.allowed_projects.clone());
    let named = arguments.model.as_deref();
    let model = choice(&context, named)?;
    let agent = agent(&context, named)?;
    let sandbox_warning = context.sandbox_warning();
    let listen = arguments.listen.unwrap_or(server.listen);
    let bot = telegram.map(|options| telegram_bot(&context, &agent, options, server.public_url.clone())).transpose()?;
    let notifier = notifier(&context, notify, bot.as_ref(), server.public_url.clone())?;
    let updates = bot.as_ref().and_then(TelegramBot::webhook);
    let updates = updates.map(|handler| Arc::new(TelegramUpdates(handler)) as Arc<dyn UpdateReceiver>);
    let options = ServerOptions {
        agent: agent.clone(),
        ledger: context.ledger.clone(),
        listen,
        token: token.clone(),
        revoked_cookies: Some(revoked_cookies),
        hosts: server.hosts.into_iter().chain(arguments.hosts).collect(),
        origins: server.origins,
        public_url: server.public_url,
        limits: server.limits,
        health: logging::health_source().into_iter().collect(),
        grace: server.grace,
        agents: Some(Arc::new(HttpAgents { engine: agent.engine().clone(), servers: context.upstream_commands() })),
        gateway_options,
        plan_start: context.served.plan_start,
        commands: PersonCommands {
            store_options: context.invocation.store_options(),
            dashboard: Some(context.dashboard.clone()),
        },
        updates,
    };
    let server = Server::bind(options).await.map_err(|error| refused(error, &context.invocation))?;
    // A store whose records are damaged says so elsewhere.
    let is_enrolled = context.engine.approvals().state().await.map_or(true, |state| !state.approvers.is_empty());
    let upkeep = context.sharing.clone().map(|sharing| Upkeep {
        sharing,
        files: context.files(),
        ledger: context.ledger.clone(),
    });
    let Context { screen, invocation, .. } = context;
    let (address, link) = (server.address(), server.start_link());
    let announcement =
        Announcement { address, token, link, store, model, sandbox_warning, is_enrolled, screen, invocation };
    Ok(Ready { server, announcement, agent, beside: BackgroundServices { bot, notifier, upkeep } })
}

fn notifier(
    context: &Context,
    options: NotifyOptions,
    bot: Option<&TelegramBot>,
    public_url: Option<String>,
) -> Result<Notifier, Failure> {
    let owner = AgentOptions::of_this_process().owner;
    let options = NotifyOptions { public_url, owner, ..options };
    Notifier::new(context.engine.clone(), context.ledger.clone(), options, bot.map(TelegramBot::cards))
        .map_err(Failure::usage)
}

fn telegram_bot(
    context: &Context,
    agent: &Agent,
    options: TelegramOptions,
    public_url: Option<String>,
) -> Result<TelegramBot, Failure> {
    if options.allowed_users.is_empty() {
        tracing::warn!(event = "telegram_without_users", "telegram.allowed_users is empty, so the bot answers no one");
    }
    if matches!(options.mode, UpdateMode::Webhook { .. }) && public_url.is_none() {
        return Err(Failure::usage("`telegram.mode` is `webhook` and `server.public_url` is not set")
            .hint("set `server.public_url` to the https address at which Telegram reaches this server"));
    }
    let owner = AgentOptions::of_this_process().owner;
    let options = TelegramOptions { public_url, owner, lease: context.lease, ..options };
    TelegramBot::new(agent.clone(), context.ledger.clone(), options)
        .map_err(|error| Failure::unavailable(error.to_string()))
}

async fn serve(
    server: Server,
    announcement: Announcement,
    beside: BackgroundServices,
    signals: &mut Signals,
) -> ExitResult {
    let shutdown = CancellationToken::new();
    if let Some(bot) = beside.bot {
        tokio::spawn(bot.run(shutdown.clone()));
    }
    tokio::spawn(beside.notifier.run(shutdown.clone()));
    if let Some(upkeep) = beside.upkeep {
        tokio::spawn(upkeep.run(shutdown.clone()));
    }
    let running = tokio::spawn(server.run(shutdown.clone()));
    announcement.print_ready().await;
    logging::release();
    notify("READY=1");
    let mut running = running;
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = signals.stop() => {
            notify("STOPPING=1");
            shutdown.cancel();
            announcement.print_stopping().await;
            tokio::select! {
                ended = &mut running => ended,
                () = signals.stop() => {
                    tracing::warn!(event = "server_ended_at_once", "a second signal ended the server before its work reached a safe point");
                    return Ok(Exit::Unexpected);
                }
            }
        }
    };
    match ended {
        Ok(Ok(())) => Ok(Exit::Done),
        Ok(Err(error)) => Err(Failure::unexpected(error.to_string())),
        Err(error) => Err(Failure::unexpected(format!("the server failed: {error}"))),
    }
}

fn refused(error: ServerError, invocation: &Invocation) -> Failure {
    let message = error.to_string();
    match error {
        ServerError::NoToken(_) | ServerError::ShortToken(_) => {
            Failure::from(Refusal::policy_denied(message)).hint(invocation.command(["token"]))
        }
        ServerError::Host(_) => Failure::usage(message),
        ServerError::Token(_) => Failure::unavailable(message),
        ServerError::Listen { address, source } => match source.kind() {
            ErrorKind::AddrInUse => {
                Failure::unavailable(format!("another program already listens at {address}")).hint(format!(
                    "`{}` tells what it is; `--listen 127.0.0.1:0` takes any free port",
                    invocation.command(["doctor"])
                ))
            }
            ErrorKind::AddrNotAvailable => {
                Failure::unavailable(format!("this machine does not have the address {address}"))
                    .hint("`--listen 127.0.0.1:7717` listens for this machine only")
            }
            ErrorKind::PermissionDenied => Failure::unavailable(format!("this user may not listen at {address}"))
                .hint("every user may listen at ports from 1024 up"),
            _ => Failure::unavailable(message),
        },
    }
}
