//! `planwright health`

use serde_json::json;

use crate::cli::{Global, HealthArgs};
use crate::config::Settings;
use crate::failure::{ExitResult, Failure};
use crate::server_probe::{Probe, probe};
use crate::terminal::screen::Screen;

pub(crate) async fn run(global: &Global, arguments: &HealthArgs) -> ExitResult {
    let listen = match arguments.listen {
        Some(listen) => listen,
        None => Settings::read(global)?.server.listen,
    };
    match probe(listen, "/readyz").await {
        Probe::Answered { status: 200, .. } => {
            let answer = || json!({ "ready": true, "address": format!("http://{listen}") });
            Screen::new(global.json).answer(answer, || format!("The server at http://{listen} is ready.\n"))
        }
        Probe::Answered { status, .. } => {
            Err(Failure::unavailable(format!("the server at http://{listen} is not ready (status {status})")))
        }
        Probe::NotListening => Err(Failure::unavailable(format!("nothing listens at {listen}"))),
        Probe::NotAServer(why) => {
            Err(Failure::unavailable(format!("the program at {listen} is not a Planwright server: {why}")))
        }
    }
}
