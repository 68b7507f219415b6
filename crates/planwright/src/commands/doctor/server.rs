//! Whether a server listens where one would, and whether it is ours.

use super::Check;
use crate::asking::{Asked, ask};
use crate::config::Settings;
use crate::invocation::Invocation;

const NAME: &str = "server";

pub(super) async fn look(settings: &Settings, invocation: &Invocation) -> Check {
    let listen = settings.server.listen;
    match ask(listen, "/metrics").await {
        Asked::Nobody => {
            let start = invocation.command(["serve"]);
            Check::fine(NAME, format!("nothing listens at {listen}; `{start}` starts one"))
        }
        Asked::Answered { ours: true, .. } => match ask(listen, "/readyz").await {
            Asked::Answered { status: 200, .. } => Check::fine(NAME, format!("it answers at http://{listen}")),
            Asked::Answered { .. } | Asked::Nobody | Asked::Strange(_) => {
                Check::wrong(NAME, format!("the server at http://{listen} is not ready")).hint("its log says why")
            }
        },
        Asked::Answered { .. } => taken(format!("what answers at {listen} is another program")),
        Asked::Strange(why) => taken(format!("what listens at {listen} is another program: {why}")),
    }
}

fn taken(words: String) -> Check {
    Check::notice(NAME, words).hint("`--listen` or PLANWRIGHT_SERVER_LISTEN names another address")
}
