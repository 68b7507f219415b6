//! `planwright serve`
//!
//! - `announcing`: what is said when it is ready
//! - `notifying`: the same for the service manager
//! - `stopping`: the signals that end it

mod announcing;
mod notifying;
mod stopping;

use std::io::ErrorKind;
use std::time::Duration;

use planwright_core::refusal::Refusal;
use planwright_surfaces::http::{Kept, Server, ServerError, ServerLimits, ServerOptions, Token};
use tokio_util::sync::CancellationToken;

use self::announcing::Announcement;
use self::stopping::Signals;
use super::chat::{agent, choice};
use super::token::failed;
use crate::cli::{Global, ServeArgs};
use crate::config::{LimitSettings, Settings};
use crate::context::{Context, make_folder};
use crate::failure::{Exit, Failure, Outcome};
use crate::invocation::Invocation;
use crate::logging::{self, LogFormat};
use crate::token;

pub(crate) async fn run(global: &Global, arguments: ServeArgs) -> Outcome {
    let settings = Settings::read(global)?;
    let format = arguments.log_format.or(settings.server.log_format).unwrap_or_else(LogFormat::usual);
    logging::start_server(global.verbose, format);
    // From here on a signal is heard, however long the store takes to open.
    let mut signals =
        Signals::new().map_err(|error| Failure::unexpected(format!("signals cannot be heard: {error}")))?;
    tokio::select! {
        biased;
        ready = bind(global, settings, arguments) => {
            let (server, announcement) = ready?;
            serve(server, announcement, &mut signals).await
        }
        () = signals.next() => Ok(Exit::Done),
    }
}

async fn bind(global: &Global, settings: Settings, arguments: ServeArgs) -> Result<(Server, Announcement), Failure> {
    let server = settings.server.clone();
    let token = token::of(&settings);
    make_folder(&settings.data)?;
    let store = settings.location.to_string();
    let revoked_cookies = settings.data.join("revoked-cookies");
    let context = Context::with(global, settings).await?;
    let named = arguments.model.as_deref();
    let model = choice(&context, named)?;
    let agent = agent(&context, named)?;
    let listen = arguments.listen.unwrap_or(server.listen);
    // Whoever listens for others has to have made the token before, and is refused below.
    let made = match (&token, listen.ip().to_canonical().is_loopback()) {
        (Token::File(_), true) => match token.make_if_missing().map_err(failed)? {
            Kept::Made(secret) => Some(secret),
            Kept::Found(_) => None,
        },
        (Token::File(_), false) | (Token::Given(_), _) => None,
    };
    let options = ServerOptions {
        agent,
        ledger: context.ledger.clone(),
        listen,
        token: token.clone(),
        revoked_cookies: Some(revoked_cookies),
        hosts: server.hosts.into_iter().chain(arguments.hosts).collect(),
        origins: server.origins,
        limits: limits(&server.limits),
        health: Vec::new(),
        grace: server.grace,
    };
    let server = Server::bind(options).await.map_err(|error| refused(error, &context.invocation))?;
    let announcement = Announcement { address: server.address(), made, token, store, model, screen: context.screen };
    Ok((server, announcement))
}

async fn serve(server: Server, announcement: Announcement, signals: &mut Signals) -> Outcome {
    let shutdown = CancellationToken::new();
    let running = tokio::spawn(server.run(shutdown.clone()));
    announcement.tell()?;
    notifying::notify("READY=1");
    let mut running = running;
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = signals.next() => {
            notifying::notify("STOPPING=1");
            announcement.tell_stopping();
            shutdown.cancel();
            tokio::select! {
                ended = &mut running => ended,
                () = signals.next() => {
                    tracing::warn!(event = "server_ended_at_once", "a second signal came");
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

fn limits(settings: &LimitSettings) -> ServerLimits {
    let usual = ServerLimits::default();
    let size =
        |number: Option<std::num::NonZeroU32>, usual: usize| number.map_or(usual, |number| number.get() as usize);
    let time = |number: Option<std::num::NonZeroU32>, usual: Duration| {
        number.map_or(usual, |number| Duration::from_secs(number.get().into()))
    };
    ServerLimits {
        body_bytes: size(settings.body_bytes, usual.body_bytes),
        header_bytes: size(settings.header_bytes, usual.header_bytes),
        headers: size(settings.headers, usual.headers),
        json_depth: size(settings.json_depth, usual.json_depth),
        connections: size(settings.connections, usual.connections),
        connections_per_address: size(settings.connections_per_address, usual.connections_per_address),
        header_time: time(settings.header_seconds, usual.header_time),
        body_time: time(settings.body_seconds, usual.body_time),
        write_time: time(settings.write_seconds, usual.write_time),
        requests_per_second: settings.requests_per_second.map_or(usual.requests_per_second, Into::into),
        refused_per_second: usual.refused_per_second,
        burst: settings.burst.map_or(usual.burst, Into::into),
        wrong_tokens_per_minute: settings.wrong_tokens_per_minute.map_or(usual.wrong_tokens_per_minute, Into::into),
        websocket: usual.websocket,
    }
}

fn refused(error: ServerError, invocation: &Invocation) -> Failure {
    let words = error.to_string();
    match error {
        ServerError::NoToken(_) | ServerError::ShortToken(_) => {
            Failure::from(Refusal::policy_denied(words)).hint(invocation.command(["token"]))
        }
        ServerError::Host(_) => Failure::usage(words),
        ServerError::Token(_) => Failure::unavailable(words),
        ServerError::Listen { address, source } => match source.kind() {
            ErrorKind::AddrInUse => {
                Failure::unavailable(format!("{address} is taken by another program")).hint(format!(
                    "`{}` tells by which kind; `--listen 127.0.0.1:0` takes any port that is free",
                    invocation.command(["doctor"])
                ))
            }
            ErrorKind::AddrNotAvailable => {
                Failure::unavailable(format!("this machine does not have the address {address}"))
                    .hint("`--listen 127.0.0.1:7717` is for this machine alone")
            }
            ErrorKind::PermissionDenied => Failure::unavailable(format!("this user may not listen at {address}"))
                .hint("ports from 1024 up are free to everybody"),
            _ => Failure::unavailable(words),
        },
    }
}
