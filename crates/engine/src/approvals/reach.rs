//! Whether a person is out of reach of every agent that the store knows, for what concerns all sessions.

use std::collections::BTreeSet;

use planwright_core::actor::Actor;
use planwright_core::approval::{ApprovalCheck, ApprovalPolicy, Require, Risk};
use planwright_core::session::Channel;

use super::Approvals;
use crate::ledger::LedgerResult;

const PAGE: u32 = 256;

impl Approvals {
    /// Refuses a person who may be an agent. Under `any` every person passes.
    pub async fn check_separate(&self, by: &Actor) -> LedgerResult<()> {
        let require = self.policy().await?.approval.require.min(Require::Separate);
        self.check_everywhere(by, require).await
    }

    /// The same for accepting the tools of an MCP server: where the policy asks for a verified approval of plans that use
    /// such tools, it asks for a verified person here.
    pub async fn check_acceptance(&self, by: &Actor) -> LedgerResult<()> {
        let require = self.acceptance_requirement().await?;
        self.check_everywhere(by, require).await
    }

    /// What accepting the tools of an MCP server needs.
    pub async fn acceptance_requirement(&self) -> LedgerResult<Require> {
        let risks = BTreeSet::from([Risk::Upstream]);
        Ok(self.policy().await?.approval.requirement(Channel::Cli, &risks))
    }

    async fn check_everywhere(&self, by: &Actor, require: Require) -> LedgerResult<()> {
        let mut clients = Vec::new();
        let mut after = None;
        loop {
            let page = self.ledger().walk_sessions(after, PAGE).await?;
            clients.extend(page.items.into_iter().flat_map(|stored| stored.session.clients));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let check = ApprovalCheck {
            policy: &ApprovalPolicy::requiring(require),
            sandbox: self.policy().await?.agent_sandbox,
            channel: Channel::Cli,
            clients: &clients,
            risks: &BTreeSet::new(),
            presence: by.presence.as_ref(),
        };
        check.check()?;
        Ok(())
    }
}
