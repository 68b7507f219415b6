//! The clients whose configuration names Planwright: whether it is whole, and whether a plan survives a compaction there.

use super::Check;
use super::canary::Canary;
use crate::cli::{ClientName, InstallScope};
use crate::commands::install;

const NAME: &str = "client";
const COMPACTION: &str = "compaction";

pub(super) async fn look() -> Vec<Check> {
    let found = install::found();
    let mut checks: Vec<_> = found.iter().map(configured).collect();
    let mut clients: Vec<ClientName> = found.into_iter().map(|(client, ..)| client).collect();
    clients.dedup();
    if !clients.is_empty() {
        checks.extend(survives(&clients).await);
    }
    checks
}

fn configured((client, scope, missing): &(ClientName, InstallScope, Vec<String>)) -> Check {
    let name = client.name();
    let (place, flag) = match scope {
        InstallScope::Project => ("this project", "project"),
        InstallScope::User => ("the user", "user"),
    };
    match missing.as_slice() {
        [] => Check::fine(NAME, format!("{name} has Planwright in the configuration of {place}")),
        missing => Check::notice(NAME, format!("{name}, in the configuration of {place}: {}", missing.join("; ")))
            .hint(format!("`planwright install {name} --scope {flag}` adds what is missing; what is turned off or is something else, you change")),
    }
}

/// Asks for a plan in the way of each client.
async fn survives(clients: &[ClientName]) -> Vec<Check> {
    let canary = match Canary::new().await {
        Ok(canary) => canary,
        Err(reason) => return vec![Check::notice(COMPACTION, format!("it could not be tried: {reason}"))],
    };
    let (by_hook, by_server): (Vec<&ClientName>, Vec<&ClientName>) =
        clients.iter().partition(|client| install::session_start_command(**client).is_some());
    let mut checks = Vec::new();
    if let Some(command) = by_hook.first().and_then(|client| install::session_start_command(**client)) {
        checks.push(result(&by_hook, &format!("`{command}`"), canary.comes_back_by_hook(command).await));
    }
    if !by_server.is_empty() {
        let outcome = canary.comes_back_by_server(install::SERVER_PROGRAM).await;
        checks.push(result(&by_server, "the agent calls `plan_get`", outcome));
    }
    checks
}

fn result(clients: &[&ClientName], way: &str, outcome: Result<(), String>) -> Check {
    let names: Vec<_> = clients.iter().map(|client| client.name()).collect();
    let names = names.join(", ");
    match outcome {
        Ok(()) => Check::fine(COMPACTION, format!("a plan comes back in {names}: {way}")),
        Err(reason) => Check::wrong(COMPACTION, format!("a plan does not come back in {names}: {reason}"))
            .hint("the clients start `planwright` from their PATH; put the program there"),
    }
}
