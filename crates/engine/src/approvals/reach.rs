//! Whether a person is out of reach of every agent: for what concerns the whole store and not one session.

use std::collections::BTreeSet;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::record::ApprovalEvent;
use planwright_core::approval::{AgentSandbox, AgentsSeen, ApprovalCheck, ApprovalPolicy, Require};
use planwright_core::door::{ToSign, how_to_sign};
use planwright_core::plan::Digest;
use planwright_core::presence::{Act, AgentClient, Presence};
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, SessionIdentity};
use planwright_core::upstream::{ServerCommand, ServerName};
use planwright_core::visible::visible;

use super::Approvals;
use crate::approval_records;
use crate::ledger::{LedgerError, LedgerResult};
use crate::lookup::{self, agents_of_sessions, living_agent, silent_agents};

impl Approvals {
    /// Refuses a person who may be an agent. Where the policy asks for `any` everywhere, every person passes.
    pub async fn check_separate(&self, by: &Actor) -> LedgerResult<()> {
        let require = self.policy().await?.approval.strictest().min(Require::Separate);
        self.check_everywhere(by, require).await
    }

    /// Refuses a person who may be an agent and enrols the first approver. Where the system does not say which processes a terminal
    /// belongs to, any terminal passes once no agent has given a sign of life for a minute.
    pub async fn check_first_enrolment(&self, by: &Actor) -> LedgerResult<()> {
        let refusal = match self.check_separate(by).await {
            Err(LedgerError::Refused(refusal)) => refusal,
            passed => return passed,
        };
        if !by.presence.as_ref().is_some_and(Presence::is_unseen_terminal) {
            return Err(refusal.into());
        }
        let policy = self.policy().await?;
        let kept: Vec<_> = policy.kept_clients.values().flatten().cloned().collect();
        match living_agent(self.ledger(), &kept, policy.agent_sandbox, self.now()).await? {
            None => Ok(()),
            Some(name) => Err(Refusal::policy_denied(format!(
                "An agent may have started this: the system does not tell, and {} gave a sign of life within the last minute. End the \
                 agents, wait a minute, and run `planwright init`.",
                visible(&name)
            ))
            .into()),
        }
    }

    /// Refuses a person who is not recognised well enough to accept the tools of an MCP server: where the policy asks for a
    /// verified approval of plans that use such tools, it asks for a verified person here. Returns the person, with the
    /// signature of one who unlocked their key.
    pub async fn check_acceptance(&self, by: &Actor, server: &ServerName, digest: Digest) -> LedgerResult<Actor> {
        let by = self.signed_for_store(by, Act::accept_tools(server, digest)).await?;
        let require = self.acceptance_requirement().await?;
        if let Err(refused) = self.check_everywhere(&by, require).await {
            return Err(match require {
                Require::Verified => {
                    how_to_sign(&ToSign::AcceptTools(server), None, &self.policy().await?.approvers).into()
                }
                Require::Any | Require::Separate => refused,
            });
        }
        Ok(by)
    }

    /// Records that a person accepted the tools of an MCP server, once for each signature. The person passed
    /// [`check_acceptance`](Self::check_acceptance). Answers when it was.
    pub async fn record_acceptance(
        &self,
        by: &Actor,
        server: &ServerName,
        digest: Digest,
        command: impl Into<ServerCommand>,
    ) -> LedgerResult<Timestamp> {
        let (at, command) = (self.now(), command.into());
        approval_records::record_acceptance(self.ledger(), by, server, digest, &command, at).await?;
        approval_records::record_act_passkey(self.ledger(), by, || self.now()).await;
        Ok(at)
    }

    /// What accepting the tools of an MCP server needs. Sessions of every channel use them.
    pub async fn acceptance_requirement(&self) -> LedgerResult<Require> {
        Ok(self.policy().await?.approval.requirement_of_acceptance())
    }

    /// Refuses a person who may be the agent of this session. It is for what is done to a session as a whole.
    pub async fn check_separate_in(&self, by: &Actor, session: &SessionIdentity) -> LedgerResult<()> {
        let (policy, stored) = (self.policy().await?, lookup::session(self.ledger(), session).await?);
        let (policy, presence) = (policy.in_session(Some(&stored)), by.presence.as_ref());
        let silent = silent_agents(self.ledger(), &stored.clients, presence).await?;
        let check = ApprovalCheck {
            policy: &policy.approval,
            sandbox: policy.agent_sandbox,
            channel: session.channel,
            clients: &stored.clients,
            others: &agents_of_sessions(self.ledger()).await?,
            silent: &silent,
            agents_seen: policy.agents_seen,
            risks: &BTreeSet::new(),
            presence,
        };
        Ok(check.check_separate()?)
    }

    /// Records that the store has agents that can start processes of their own.
    pub(crate) async fn see_agent(&self, by: &Actor, name: &str) -> LedgerResult<()> {
        if self.policy().await?.agents_seen == AgentsSeen::Some {
            return Ok(());
        }
        let seen = ApprovalEvent::AgentSeen { name: name.to_owned() };
        self.append_if(by, |_| Some(seen.clone())).await.map(drop)
    }

    /// Keeps the programs of a session that is to be deleted: its agents still run.
    pub async fn keep_clients(
        &self,
        by: &Actor,
        session: &SessionIdentity,
        clients: Vec<AgentClient>,
    ) -> LedgerResult<()> {
        if clients.is_empty() {
            return Ok(());
        }
        let kept = ApprovalEvent::ClientsKept { session: session.clone(), clients };
        self.append_if(by, |_| Some(kept.clone())).await.map(drop)
    }

    pub(super) async fn check_everywhere(&self, by: &Actor, require: Require) -> LedgerResult<()> {
        let policy = self.policy().await?;
        let mut clients = agents_of_sessions(self.ledger()).await?;
        clients.extend(policy.kept_clients.values().flatten().filter(|client| !client.is_unknown()).cloned());
        // An agent that starts processes of its own reads the token, also where its programs are not known.
        let sandbox = match policy.agents_seen {
            AgentsSeen::Some => AgentSandbox::Open,
            AgentsSeen::None => policy.agent_sandbox,
        };
        let check = ApprovalCheck {
            policy: &ApprovalPolicy::requiring(require),
            sandbox,
            channel: Channel::Cli,
            clients: &clients,
            others: &[],
            silent: &BTreeSet::new(),
            agents_seen: policy.agents_seen,
            risks: &BTreeSet::new(),
            presence: by.presence.as_ref(),
        };
        check.check()?;
        Ok(())
    }
}
