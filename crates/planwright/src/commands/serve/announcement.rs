//! What the server prints to stdout when it is ready and when it stops.
//!
//! The address with a link in it is shown on a terminal only. A file or a pipe keeps what is printed, and others may
//! read it; neither the screen nor the log has the token.

use std::io::IsTerminal as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use planwright_llm::ModelChoice;
use planwright_surfaces::http::Token;
use serde_json::json;
use tokio::sync::oneshot;

use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::terminal::palette::{BOLD, DIM, LINK, WARNING};
use crate::terminal::screen::Screen;
use crate::terminal::text::paint;

/// How long the server waits for its own words to be printed.
const PRINTING_TIME: Duration = Duration::from_secs(1);

pub(super) struct Announcement {
    pub(super) address: SocketAddr,
    pub(super) token: Token,
    /// The secret of the link that signs one browser in, once.
    pub(super) link: Option<String>,
    /// Where the store is, without a password.
    pub(super) store: String,
    pub(super) model: ModelChoice,
    /// What the operator should know before the agent runs commands.
    pub(super) sandbox_warning: Option<String>,
    /// Whether an approver is enrolled.
    pub(super) is_enrolled: bool,
    pub(super) screen: Screen,
    pub(super) invocation: Invocation,
}

impl Announcement {
    pub(super) async fn print_ready(&self) {
        if beyond_this_machine(self.address) {
            tracing::warn!(
                event = "reachable_by_others",
                address = %self.address,
                "other machines can connect to this server; the connection is not encrypted"
            );
        }
        if let Some(warning) = &self.sandbox_warning {
            tracing::warn!(event = "sandbox", "{warning}");
        }
        let screen = self.screen;
        if screen.json {
            let ready = json!({ "address": self.url(), "store": self.store, "model": self.model.to_string() });
            print(move || screen.print_json_line(&ready)).await;
        } else {
            let text = self.text(std::io::stdout().is_terminal());
            print(move || screen.print(&text)).await;
        }
    }

    pub(super) async fn print_stopping(&self) {
        let screen = self.screen;
        if !screen.json {
            let text = "Stopping: running work may reach a safe point. A second Ctrl+C ends it at once.\n";
            print(move || screen.print(text)).await;
        }
    }

    fn text(&self, on_terminal: bool) -> String {
        let row = |name: &str, text: &str| format!("  {}  {text}\n", paint(&format!("{name:<5}"), DIM));
        let mut text = format!("{} {}\n", paint("Planwright listens at", BOLD), paint(&self.url(), LINK));
        text.push_str(&match self.sign_in(on_terminal) {
            SignIn::Address(address) => {
                let another = format!("it works once; `{}` makes another", self.invocation.command(["dashboard"]));
                row("open", &paint(&address, LINK)) + &row("", &paint(&another, DIM))
            }
            SignIn::Command => row("token", &format!("`{}` shows it", self.invocation.command(["token"]))),
            SignIn::Variable => row("token", "the one in the variable PLANWRIGHT_TOKEN"),
        });
        if beyond_this_machine(self.address) {
            let warning = format!(
                "other machines can connect at {}; they need the token, and the connection is not encrypted",
                self.address
            );
            text.push_str(&row("reach", &paint(&warning, WARNING)));
        }
        text.push_str(&row("store", &self.store));
        text.push_str(&match &self.model {
            ModelChoice::Rehearsal => {
                row("model", &paint("rehearsal: no model is chosen, so built-in rules answer", WARNING))
            }
            model @ ModelChoice::Provided { .. } => row("model", &model.to_string()),
        });
        if let Some(warning) = &self.sandbox_warning {
            text.push_str(&row("tools", &paint(warning, WARNING)));
        }
        if !self.is_enrolled {
            let offer = format!(
                "`{}` sets a passphrase for what an agent may do; it can wait",
                self.invocation.command(["init"])
            );
            text.push_str(&row("who", &offer));
        }
        text.push_str(&format!("  {}\n", paint("Ctrl+C stops it.", DIM)));
        text
    }

    fn sign_in(&self, on_terminal: bool) -> SignIn {
        match &self.token {
            Token::Given(_) => SignIn::Variable,
            Token::File(_) if !on_terminal => SignIn::Command,
            Token::File(_) => match &self.link {
                Some(link) => SignIn::Address(format!("{}/#link={link}", self.url())),
                None => SignIn::Command,
            },
        }
    }

    /// How the server is reached from this machine.
    fn url(&self) -> String {
        let ip: IpAddr = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("http://{}", SocketAddr::new(ip, self.address.port()))
    }
}

/// How a person gets in.
enum SignIn {
    /// The address with the link.
    Address(String),
    /// `planwright token` shows the token.
    Command,
    /// The operator set the token.
    Variable,
}

fn beyond_this_machine(address: SocketAddr) -> bool {
    !address.ip().to_canonical().is_loopback()
}

/// Prints from a thread of its own. A stdout that is closed or not read neither ends nor delays the server.
async fn print(work: impl FnOnce() -> Result<(), Failure> + Send + 'static) {
    let (done, printed) = oneshot::channel();
    let spawned = std::thread::Builder::new().name("stdout".to_owned()).spawn(move || {
        let _ = done.send(work());
    });
    if spawned.is_err() {
        return;
    }
    match tokio::time::timeout(PRINTING_TIME, printed).await {
        Ok(Ok(Ok(()))) => {}
        Ok(Ok(Err(failure))) => {
            tracing::warn!(event = "stdout_not_written", "{}", failure.message());
        }
        Ok(Err(_)) | Err(_) => tracing::warn!(event = "stdout_not_written", "stdout is not read"),
    }
}
