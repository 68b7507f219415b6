//! `planwright health`

use serde_json::json;

use crate::asking::{Asked, ask};
use crate::cli::{Global, HealthArgs};
use crate::config::Settings;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::screen::Screen;

pub(crate) async fn run(global: &Global, arguments: &HealthArgs) -> Outcome {
    let listen = match arguments.listen {
        Some(listen) => listen,
        None => Settings::read(global)?.server.listen,
    };
    match ask(listen, "/readyz").await {
        Asked::Answered { status: 200, .. } => {
            let answer = || json!({ "ready": true, "address": format!("http://{listen}") });
            Screen::new(global.json).answer(answer, || format!("The server at http://{listen} can work.\n"))?;
            Ok(Exit::Done)
        }
        Asked::Answered { status, .. } => {
            Err(Failure::unavailable(format!("the server at http://{listen} cannot work now (status {status})")))
        }
        Asked::Nobody => Err(Failure::unavailable(format!("nothing listens at {listen}"))),
        Asked::Strange(why) => {
            Err(Failure::unavailable(format!("what listens at {listen} is no server of ours: {why}")))
        }
    }
}
