//! What is said when the server is ready. The token is shown once, when it was just made, and never written to a log.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use planwright_llm::ModelChoice;
use planwright_surfaces::http::Token;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use crate::failure::Failure;
use crate::terminal::palette::{BOLD, DIM, LINK, WARNING};
use crate::terminal::screen::Screen;
use crate::terminal::text::paint;

pub(super) struct Announcement {
    pub(super) address: SocketAddr,
    /// The token, if it is new.
    pub(super) made: Option<SecretString>,
    pub(super) token: Token,
    /// Without anything secret.
    pub(super) store: String,
    pub(super) model: ModelChoice,
    pub(super) screen: Screen,
}

impl Announcement {
    pub(super) fn tell(&self) -> Result<(), Failure> {
        if self.screen.json {
            let (store, model) = (&self.store, self.model.to_string());
            return self.screen.print_json_line(&json!({ "address": self.address(), "store": store, "model": model }));
        }
        self.screen.print(&self.words())
    }

    pub(super) fn tell_stopping(&self) {
        if !self.screen.json {
            // Whoever reads this may be gone, which is no reason not to stop.
            let _ =
                self.screen.print("Stopping: what is under way may reach a safe point. Once more ends it at once.\n");
        }
    }

    fn words(&self) -> String {
        let row = |name: &str, text: &str| format!("  {}  {text}\n", paint(&format!("{name:<5}"), DIM));
        let address = match &self.made {
            Some(token) => format!("{}/#token={}", self.address(), token.expose_secret()),
            None => format!("{}/", self.address()),
        };
        let mut text = format!("{} {}\n", paint("Planwright listens at", BOLD), paint(&address, LINK));
        text.push_str(&match (&self.token, &self.made) {
            (Token::File(_), Some(_)) => {
                row("token", "in that address, shown only now; `planwright token` shows it again")
            }
            (Token::File(path), None) => row("token", &format!("the token is in {}", path.display())),
            (Token::Given(_), _) => row("token", "the token is given by PLANWRIGHT_TOKEN"),
        });
        text.push_str(&row("store", &self.store));
        text.push_str(&match &self.model {
            ModelChoice::Rehearsal => {
                row("model", &paint("rehearsal: no model is chosen, so a built-in one plays along by rules", WARNING))
            }
            model @ ModelChoice::Provided { .. } => row("model", &model.to_string()),
        });
        text.push_str(&format!("  {}\n", paint("Ctrl+C stops it.", DIM)));
        text
    }

    /// Where it is reached from this machine.
    fn address(&self) -> String {
        let here: IpAddr = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!("http://{}", SocketAddr::new(here, self.address.port()))
    }
}
