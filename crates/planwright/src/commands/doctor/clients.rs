//! The clients whose configuration names Planwright: whether it is whole, and whether a plan survives a compaction there.

use std::path::{Path, PathBuf};

use super::Check;
use super::canary::Canary;
use crate::cli::{ClientName, Global, InstallScope};
use crate::commands::install::{self, Installed};

const NAME: &str = "client";
const COMPACTION: &str = "compaction";

pub(super) async fn look(global: &Global) -> Vec<Check> {
    let found = install::found(global);
    let mut checks: Vec<_> = found.iter().map(configured).collect();
    if !found.is_empty() {
        checks.extend(survives(&found).await);
    }
    checks
}

fn configured(installed: &Installed) -> Check {
    let name = installed.client.name();
    let (place, flag) = match installed.scope {
        InstallScope::Project => ("this project", "project"),
        InstallScope::User => ("the user", "user"),
    };
    match installed.wrong.as_slice() {
        [] => Check::fine(NAME, format!("{name} has Planwright in the configuration of {place}")),
        wrong => Check::notice(NAME, format!("{name}, in the configuration of {place}: {}", wrong.join("; ")))
            .hint(format!("`planwright install {name} --scope {flag}` adds what is missing; what is turned off or is something else, you change")),
    }
}

/// How a plan comes back: by the client's hook, or because the agent asks the server.
#[derive(Debug, PartialEq, Eq)]
struct Way {
    program: PathBuf,
    has_hook: bool,
}

/// Asks for a plan in the way of each client, with the program that it starts.
async fn survives(found: &[Installed]) -> Vec<Check> {
    let canary = match Canary::new().await {
        Ok(canary) => canary,
        Err(reason) => return vec![Check::notice(COMPACTION, format!("it could not be tried: {reason}"))],
    };
    let mut ways: Vec<(Way, Vec<ClientName>)> = Vec::new();
    for Installed { client, program, .. } in found {
        // A configuration by hand may name the program of the PATH.
        let program = program.clone().unwrap_or_else(|| PathBuf::from("planwright"));
        let way = Way { program, has_hook: install::has_compaction_hook(*client) };
        match ways.iter_mut().find(|(known, _)| *known == way) {
            Some((_, clients)) if clients.contains(client) => {}
            Some((_, clients)) => clients.push(*client),
            None => ways.push((way, vec![*client])),
        }
    }
    let mut checks = Vec::new();
    for (Way { program, has_hook }, clients) in ways {
        let (way, outcome) = if has_hook {
            ("`planwright hook session-start`", comes_back_by_hooks(&canary, &program, &clients).await)
        } else {
            ("the agent calls `plan_get`", canary.comes_back_by_server(&program).await)
        };
        checks.push(result(&clients, way, &program, outcome));
    }
    checks
}

async fn comes_back_by_hooks(canary: &Canary, program: &Path, clients: &[ClientName]) -> Result<(), String> {
    for client in clients {
        canary.comes_back_by_hook(program, client.name()).await?;
    }
    Ok(())
}

fn result(clients: &[ClientName], way: &str, program: &Path, outcome: Result<(), String>) -> Check {
    let names: Vec<_> = clients.iter().map(|client| client.name()).collect();
    let names = names.join(", ");
    match outcome {
        Ok(()) => Check::fine(COMPACTION, format!("a plan comes back in {names}: {way}")),
        Err(reason) => Check::wrong(COMPACTION, format!("a plan does not come back in {names}: {reason}"))
            .hint(format!("the client starts `{}`; put the program there, or install it again", program.display())),
    }
}
