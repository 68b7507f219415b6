//! The upstream MCP servers: whether each one starts, and whether it offers what was accepted.

use planwright_core::upstream::{ServerReach, ToolDifference};
use planwright_engine::upstream::UpstreamServers as _;
use planwright_store::Location;
use planwright_upstream::{UpstreamClient, UpstreamServerOptions};

use super::Check;
use crate::config::Settings;
use crate::invocation::Invocation;
use crate::sandbox;

const NAME: &str = "mcp server";

pub(super) async fn look(settings: &Settings, invocation: &Invocation) -> Vec<Check> {
    if settings.mcp_servers.is_empty() {
        return Vec::new();
    }
    let client = UpstreamClient::new(settings.mcp_servers.clone(), &sandbox::of(settings));
    let mut checks = Vec::new();
    for server in &settings.mcp_servers {
        checks.push(check(settings, server, &client, invocation).await);
    }
    client.stop().await;
    checks
}

async fn check(
    settings: &Settings,
    server: &UpstreamServerOptions,
    client: &UpstreamClient,
    invocation: &Invocation,
) -> Check {
    let name = &server.name;
    let access = access_of(server, client);
    let offer = match client.offer(name).await {
        Ok(offer) => offer,
        Err(error) => {
            let hint = format!("`{}` says more", invocation.command(["mcp-server", "show", name.as_str()]));
            return Check::wrong(NAME, format!("{error}{access}")).hint(hint);
        }
    };
    let count = offer.tools().len();
    let accept = format!("`{}` shows what is new", invocation.command(["mcp-server", "accept", name.as_str()]));
    let accepted = match accepted(settings, server).await {
        Ok(accepted) => accepted,
        Err(message) => return Check::notice(NAME, format!("{name} answers and offers {count} tools; {message}")),
    };
    let Some(accepted) = accepted else {
        return Check::notice(NAME, format!("{name} answers and is not yet accepted; it offers {count} tools{access}"))
            .hint(accept);
    };
    let difference = ToolDifference::between(&accepted, offer.tools());
    if !difference.is_empty() {
        return Check::notice(NAME, format!("{name} changed its tools: {}", difference.counts())).hint(accept);
    }
    match offer.problems() {
        [] if access.is_empty() => Check::fine(NAME, format!("{name} answers and offers the {count} accepted tools")),
        [] => Check::notice(NAME, format!("{name} answers and offers the {count} accepted tools{access}")),
        problems => Check::notice(NAME, format!("{name} offers {count} tools; {}{access}", problems.join("; "))),
    }
}

/// What an operator should know about what the server reaches. Empty for one in the sandbox that asks for no more.
fn access_of(server: &UpstreamServerOptions, client: &UpstreamClient) -> String {
    let ServerReach::Program(reach) = client.reach(&server.name) else { return String::new() };
    if let Some(asks) = reach.asks {
        return format!("; its settings ask {asks}, which no person has allowed");
    }
    if reach.is_open { "; it runs without a sandbox".to_owned() } else { String::new() }
}

/// What was accepted, from a store that needs no upgrade: `doctor` changes nothing.
async fn accepted(
    settings: &Settings,
    server: &UpstreamServerOptions,
) -> Result<Option<Vec<planwright_core::upstream::UpstreamTool>>, String> {
    if let Location::Sqlite(path) = &settings.location
        && std::fs::metadata(path).map_or(true, |file| file.len() == 0)
    {
        return Ok(None);
    }
    let read = async {
        if !planwright_store::inspect(&settings.location).await?.is_current() {
            return Ok(None);
        }
        let ledger = planwright_store::open(&settings.location).await?;
        let pinned = ledger.pinned_server(&server.name).await?;
        let pinned = pinned.map(|pinned| pinned.reached_by(server.command().digest));
        Ok(pinned.and_then(|pinned| pinned.accepted).map(|accepted| accepted.tools))
    };
    read.await
        .map_err(|error: planwright_engine::ledger::LedgerError| format!("what was accepted cannot be read: {error}"))
}
