//! Whether a server listens where one would, and whether it is ours.

use super::Check;
use crate::config::Settings;
use crate::invocation::Invocation;
use crate::server_probe::{Probe, probe};

const NAME: &str = "server";

pub(super) async fn look(settings: &Settings, invocation: &Invocation) -> Check {
    let listen = settings.server.listen;
    match probe(listen, "/metrics").await {
        Probe::NotListening => {
            let start = invocation.command(["serve"]);
            Check::fine(NAME, format!("nothing listens at {listen}; `{start}` starts one"))
        }
        Probe::Answered { ours: true, .. } => match probe(listen, "/readyz").await {
            Probe::Answered { status: 200, .. } => Check::fine(NAME, format!("it answers at http://{listen}")),
            Probe::Answered { .. } | Probe::NotListening | Probe::NotAServer(_) => {
                Check::wrong(NAME, format!("the server at http://{listen} is not ready")).hint("its log says why")
            }
        },
        Probe::Answered { .. } => taken(format!("what answers at {listen} is another program")),
        Probe::NotAServer(why) => taken(format!("what listens at {listen} is another program: {why}")),
    }
}

fn taken(message: String) -> Check {
    Check::notice(NAME, message).hint(
        "`listen` in `[server]`, or PLANWRIGHT_SERVER_LISTEN, names another address for the server and for this check",
    )
}
