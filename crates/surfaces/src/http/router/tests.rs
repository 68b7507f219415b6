//! Every route is described in the OpenAPI document or is on a list here.

use std::collections::BTreeSet;
use std::sync::Arc;

use planwright_llm::rehearsal::RehearsalModel;
use planwright_test_support::agent::AgentSetup;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::http::mcp::default_session;
use crate::mcp::{McpOptions, PersonCommands, PlanStart, SessionChoice};

use super::router;
use crate::http::access::allowed_hosts::AllowedHosts;
use crate::http::access::credentials::Credentials;
use crate::http::access::{Access, OPEN_BELOW, OPEN_TO_POST, OPEN_TO_READ, OWN_SECRET};
use crate::http::app::App;
use crate::http::{ServerLimits, Token, description};

/// Routes that need the token and are not REST calls: the description, what browsers and operators use, live events.
const UNDESCRIBED: [&str; 6] = ["/api/openapi.json", "/api/logout", "/metrics", "/ws", "/mcp", "/mcp/{sessionId}"];

#[tokio::test(flavor = "multi_thread")]
async fn every_route_is_described_or_listed() {
    let described: Value = serde_json::from_str(description()).unwrap();
    let described = described["paths"].as_object().unwrap().keys().map(String::as_str);
    let listed = OPEN_TO_READ.into_iter().chain(OPEN_BELOW).chain(OPEN_TO_POST).chain(OWN_SECRET).chain(UNDESCRIBED);
    let expected: BTreeSet<_> = described.chain(listed).map(str::to_owned).collect();
    assert_eq!(routes().await, expected);
}

/// Every route of the real router, which lists them only in its debug output.
async fn routes() -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let setup = AgentSetup::new(folder.path());
    let ledger = setup.ledger().await;
    let agent = setup.agent(ledger.clone(), RehearsalModel::default());
    let app = App::new(agent, ledger, CancellationToken::new(), None);
    let mcp = McpOptions {
        engine: app.engine().clone(),
        feed: app.feed().clone(),
        session: SessionChoice::Request(default_session()),
        start: PlanStart::Ensure(None),
        commands: PersonCommands::default(),
        setup: None,
        gateway: None,
    };
    let credentials = Credentials::new(Token::Given("a-token-of-the-test".into()), None);
    let access = Access::new(credentials, AllowedHosts::new(&[], &[]).unwrap(), &ServerLimits::default());
    let text = format!("{:?}", router(app, Arc::new(access), Vec::new(), Default::default(), mcp));
    let paths = text.split('"').skip(1).step_by(2).filter(|text| text.starts_with('/'));
    // The library's own name for the fallback.
    paths.filter(|path| !path.contains("axum_fallback")).map(str::to_owned).collect()
}
