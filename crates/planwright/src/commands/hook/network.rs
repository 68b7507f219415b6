//! The hosts that a client's tool reads from, compared with those that an approved plan names. A plan that names none decides
//! nothing here, and before an approval reading passes: so nothing is denied that cannot be told.

use planwright_core::permission::Permission;
use planwright_core::plan::PlanStatus;
use planwright_core::visible::quoted;
use serde_json::Value;

use super::counts::CountedCall;
use super::wire::{HookDecision, HookPlace, ToolRequest};
use super::{Lookup, check_approved, engine_of, servers_of, session_of};
use crate::cli::{ClientName, Global};
use crate::config::Settings;
use crate::failure::Failure;

/// What the plans of the client's servers say about the call.
pub(super) async fn by_plan(
    global: &Global,
    client: ClientName,
    place: &HookPlace,
    request: &ToolRequest,
    counted: &mut Vec<CountedCall>,
) -> Result<HookDecision, Failure> {
    let hosts = hosts(&request.input);
    let mut strictest = HookDecision::Pass;
    if hosts.is_empty() {
        return Ok(strictest);
    }
    for server in servers_of(global, client, place).iter().filter(|server| !server.is_own_again) {
        let Ok(target) = &server.target else { continue };
        let Lookup::Found(snapshot, ledger) = session_of(target, &place.project).await? else { continue };
        let is_on = snapshot.session.as_ref().is_some_and(|session| session.plan_mode.enabled);
        let Some(plan) = snapshot.active().filter(|_| is_on) else { continue };
        let is_paused = plan.execution.as_ref().is_some_and(|execution| execution.paused_since().is_some());
        if !matches!(plan.status, PlanStatus::Approved | PlanStatus::Executing) || is_paused {
            continue;
        }
        let Some(needs) = plan.content.declared_needs(|_| true).filter(|needs| !needs.network.is_empty()) else {
            continue;
        };
        let engine = engine_of(&Settings::read(&target.global)?, ledger);
        if check_approved(&engine, snapshot.session.as_deref(), plan).await?.is_err() {
            continue;
        }
        let foreign = hosts.iter().find(|host| !host.as_ref().is_some_and(|host| needs.covers_host(host)));
        let (permission, decision) = match foreign {
            None => {
                let reason = format!("Plan {}: The approved plan says that it needs this.", plan.number);
                (Permission::Allow, HookDecision::Allow(reason))
            }
            Some(host) => {
                let host = host.as_deref().map_or_else(|| "an address that cannot be read".to_owned(), quoted);
                let reason = format!(
                    "Plan {}: The approved plan names the hosts that it reads from, and not {host}.",
                    plan.number
                );
                (Permission::Ask, HookDecision::Ask(reason))
            }
        };
        counted.push(CountedCall::new(engine, plan, permission));
        strictest = strictest.max(decision);
    }
    Ok(strictest)
}

/// The hosts of a call, each `None` if it cannot be read for certain. A search has none.
fn hosts(input: &Value) -> Vec<Option<String>> {
    let mut found = Vec::new();
    for field in ["url", "uri", "urls"] {
        let values = match input.get(field) {
            Some(Value::Array(values)) => values.iter().collect(),
            Some(value) => vec![value],
            None => Vec::new(),
        };
        found.extend(values.into_iter().map(|value| host(value.as_str()?)));
    }
    // Gemini CLI takes the addresses from words.
    let words = input.get("prompt").and_then(Value::as_str).filter(|_| found.is_empty()).unwrap_or_default();
    let addresses = words.split_whitespace().filter(|word| word.contains("://"));
    found.extend(addresses.map(|word| host(word.trim_end_matches(['.', ',', ';', ')', '"', '\'']))));
    found
}

/// The host of an address, if nothing in it could be read in another way.
fn host(address: &str) -> Option<String> {
    let address = address.trim();
    let scheme = address.get(..8).map(str::to_ascii_lowercase);
    let rest = match scheme.as_deref() {
        Some("https://") => &address[8..],
        Some(scheme) if scheme.starts_with("http://") => &address[7..],
        _ if address.contains("://") => return None,
        _ => address,
    };
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '.')).unwrap_or(rest.len());
    let (host, behind) = rest.split_at(end);
    let path = match behind.strip_prefix(':') {
        Some(port) => port.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => behind,
    };
    let is_plain = path.is_empty() || path.starts_with(['/', '?', '#']);
    (is_plain && !host.is_empty()).then(|| host.trim_end_matches('.').to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_host_is_read_only_where_it_is_certain() {
        for (address, expected) in [
            ("https://crates.io/crates/serde", Some("crates.io")),
            ("HTTP://Docs.RS:443?x", Some("docs.rs")),
            ("crates.io", Some("crates.io")),
            ("https://crates.io.", Some("crates.io")),
            ("https://crates.io@evil.example/", None),
            ("https://crates.io:x@evil.example/", None),
            ("https://crates.io\\@evil.example/", None),
            ("https://crates.io\t.evil.example/", None),
            ("https://crates.io%2eevil.example/", None),
            ("https://crates.io。evil.example/", None),
            ("https://[::1]/", None),
            ("ftp://crates.io/", None),
            ("file:///etc/passwd", None),
            ("https://", None),
        ] {
            assert_eq!(host(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn every_address_of_a_call_counts() {
        let read = |input: Value| hosts(&input).into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>();
        assert_eq!(read(json!({ "url": "https://a.example/x", "prompt": "see https://b.example" })), ["a.example"]);
        assert_eq!(read(json!({ "urls": ["https://a.example", "b.example", 3] })), ["a.example", "b.example", ""]);
        assert_eq!(read(json!({ "prompt": "Read https://a.example/x, then (http://b.example)." })), ["a.example", ""]);
        assert!(read(json!({ "query": "serde" })).is_empty());
    }
}
