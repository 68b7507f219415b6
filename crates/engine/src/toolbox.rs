//! The tools that are not about plans: what one is, and the box they are kept in.

pub mod files;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use serde_json::Value;

use crate::ledger::{Ledger, LedgerResult};
use crate::session::lease::LeaseGuard;
use crate::tools::Arguments;

#[async_trait]
pub trait Tool: Send + Sync + fmt::Debug + 'static {
    fn spec(&self) -> &ToolSpec;

    fn effect(&self) -> ToolEffect;

    /// Whether the arguments fit, without doing anything.
    fn check(&self, arguments: &Arguments) -> Result<(), Refusal>;

    /// Does it, in the session that asks and in no other. Dropping the future ends it, as far as it can be ended.
    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<Value, Refusal>;
}

/// The session that calls a tool, and the lease that it works under.
#[derive(Debug, Clone, Copy)]
pub struct ToolContext<'a> {
    pub session: &'a SessionIdentity,
    lease: Option<(&'a LeaseGuard, &'a dyn Ledger)>,
}

impl<'a> ToolContext<'a> {
    /// For calls that no lease protects: those of a program that has the session for itself.
    pub fn without_lease(session: &'a SessionIdentity) -> Self {
        Self { session, lease: None }
    }

    pub(crate) fn leased(session: &'a SessionIdentity, lease: &'a LeaseGuard, ledger: &'a dyn Ledger) -> Self {
        Self { session, lease: Some((lease, ledger)) }
    }

    /// A name for the lease that no other lease has.
    pub(crate) fn lease_name(&self) -> Option<String> {
        self.lease.map(|(lease, _)| lease.name())
    }

    /// Whether the store says that the lease still holds.
    pub(crate) async fn confirm_lease(&self) -> LedgerResult<bool> {
        match self.lease {
            Some((lease, ledger)) => lease.confirm_now(ledger).await,
            None => Ok(true),
        }
    }
}

/// The tools there are; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
}

impl Toolbox {
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into_iter().collect() }
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }
}
