//! How the calls of a client's own tools were permitted, counted with the plan that is carried out.

use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::command::{Command, ExternalCommand};
use planwright_core::permission::Permission;
use planwright_core::plan::execution::PermissionCounts;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_engine::engine::Engine;
use tokio::time::timeout;

use super::wire;
use crate::cli::ClientName;

/// How long the store may take. A count that is missing holds nothing up.
const COUNT_TIMEOUT: Duration = Duration::from_secs(2);

/// A call that a plan decided about.
#[derive(Debug)]
pub(super) struct CountedCall {
    engine: Engine,
    session: SessionIdentity,
    permission: Permission,
    is_under_way: bool,
}

impl CountedCall {
    pub(super) fn new(engine: Engine, plan: &Plan, permission: Permission) -> Self {
        let is_under_way = plan.status == PlanStatus::Executing;
        Self { engine, session: plan.session.clone(), permission, is_under_way }
    }
}

/// Counts the calls. A client that cannot ask its person has refused what it would ask about.
pub(super) async fn record(calls: Vec<CountedCall>, client: ClientName) {
    for CountedCall { engine, session, permission, .. } in calls.into_iter().filter(|call| call.is_under_way) {
        let permissions = match permission {
            Permission::Allow => PermissionCounts::COVERED,
            Permission::Ask if wire::can_ask(client) => PermissionCounts::ASKED,
            Permission::Ask | Permission::Deny => PermissionCounts::REFUSED,
        };
        let by = Actor::system(session.channel.as_str());
        let command = Command::External(ExternalCommand::CountCall { permissions });
        match timeout(COUNT_TIMEOUT, engine.submitter().submit(&session, &by, command)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!(event = "call_not_counted", %error),
            Err(_) => tracing::debug!(event = "call_not_counted", "the store took too long"),
        }
    }
}
