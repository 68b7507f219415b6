//! Compares what the policy asks for with how a person was recognised.

use std::collections::BTreeSet;

use super::policy::{ApprovalPolicy, Require, Risk};
use crate::identity::Channel;
use crate::presence::{AgentClient, AgentProgram, NotSeparate, Presence, TerminalEvidence};
use crate::refusal::Refusal;

/// Whether commands of Planwright's own agent are kept away from the store and the access token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AgentSandbox {
    #[default]
    Restricted,
    /// The sandbox level `open`: a command reads what the person reads.
    Open,
}

/// Whether an agent that can start processes of its own was ever seen in the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AgentsSeen {
    /// No record of one: a process that works on the store provisions it.
    #[default]
    None,
    Some,
}

/// A decision that lets work happen, and everything that says whether it counts.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalCheck<'a> {
    pub policy: &'a ApprovalPolicy,
    pub sandbox: AgentSandbox,
    pub channel: Channel,
    /// The programs that the session's agent ran in.
    pub clients: &'a [AgentClient],
    /// The programs of agents of other sessions. Where the session's agent is not in the sandbox, they are held apart, too.
    pub others: &'a [AgentClient],
    /// The signs of life of programs on other machines that have stopped.
    pub silent: &'a BTreeSet<String>,
    /// Whether the store knows any agent that could reach this process.
    pub agents_seen: AgentsSeen,
    pub risks: &'a BTreeSet<Risk>,
    /// `None` if the surface does not say.
    pub presence: Option<&'a Presence>,
}

const WHAT_TO_DO: &str = "Decide in a terminal that was open before the agent started, in a browser that you signed in with \
                          `planwright dashboard` there, in an allowed chat, or with a passphrase (`planwright approver add` sets one up)";
const UNSIGNED: &str = "This takes an approver's signature, with their passphrase or a passkey.";

impl ApprovalCheck<'_> {
    /// What the decision needs, if the person was recognised well enough.
    pub fn check(&self) -> Result<Require, Refusal> {
        let requirement = self.requirement();
        self.meets(requirement)?;
        Ok(requirement)
    }

    /// Whether an approver has to sign it and did not.
    pub fn lacks_signature(&self) -> bool {
        self.requirement() == Require::Verified && self.meets(Require::Verified).is_err()
    }

    /// Refuses what may come from the agent. It is for acts that are no approval and that only a person does.
    pub fn check_separate(&self) -> Result<(), Refusal> {
        self.meets(self.policy.strictest_in(self.channel).min(Require::Separate))
    }

    /// Refuses a process of the agent. It is for acts that only stop something, which stay easy for people.
    pub fn check_not_agent(&self) -> Result<(), Refusal> {
        let evidence = match (self.policy.strictest_in(self.channel), self.presence) {
            (Require::Any, _) => None,
            (Require::Separate | Require::Verified, presence) => presence.and_then(Presence::evidence),
        };
        match evidence {
            Some(seen) => seen.check_not_agent(self.clients).map_err(|why| refused(&why.to_string())),
            None => Ok(()),
        }
    }

    fn requirement(&self) -> Require {
        self.policy.requirement(self.channel, self.risks)
    }

    fn meets(&self, require: Require) -> Result<(), Refusal> {
        match (require, self.presence) {
            (Require::Any, _) | (_, Some(Presence::Verified { .. } | Presence::Channel { bound_by: Some(_), .. })) => {
                Ok(())
            }
            (Require::Verified, _) => Err(Refusal::policy_denied(UNSIGNED)),
            (Require::Separate, None) => Err(refused("the surface does not say how it recognised the person")),
            (Require::Separate, Some(Presence::Browser | Presence::Channel { .. } | Presence::Rule)) => Ok(()),
            (Require::Separate, Some(Presence::Token)) => match self.agent_reads_token() {
                false => Ok(()),
                true => Err(refused("the access token alone was given, and the agent of this session can read it")),
            },
            (Require::Separate, Some(Presence::Terminal { evidence } | Presence::NoTerminal { evidence })) => {
                self.check_process(evidence.get()).map_err(|why| refused(&why.to_string()))
            }
        }
    }

    /// A store without any agent's record takes every process but a command of Planwright's own agent.
    fn check_process(&self, evidence: Option<&TerminalEvidence>) -> Result<(), NotSeparate> {
        if evidence.is_some_and(|seen| seen.own_command) {
            return Err(NotSeparate::OwnCommand);
        }
        match (self.program(), self.agents_seen) {
            (AgentProgram::Planwright, AgentsSeen::None) if self.clients.is_empty() => Ok(()),
            (program, _) => {
                let seen = evidence.ok_or(NotSeparate::Unseen)?;
                seen.check_separate(program, self.clients, self.others, self.silent)
            }
        }
    }

    fn program(&self) -> AgentProgram {
        match self.channel {
            Channel::Mcp | Channel::Acp => AgentProgram::Client,
            channel if AgentClient::joined(channel, self.clients) => AgentProgram::Client,
            Channel::Web | Channel::Telegram | Channel::Cli | Channel::Legacy => AgentProgram::Planwright,
        }
    }

    /// An agent outside of the sandbox runs as the person and reads the person's files.
    fn agent_reads_token(&self) -> bool {
        match (self.program(), self.sandbox) {
            (AgentProgram::Client, _) | (_, AgentSandbox::Open) => true,
            // A client may have been in a session of any channel.
            (AgentProgram::Planwright, AgentSandbox::Restricted) => !self.clients.is_empty(),
        }
    }
}

fn refused(why: &str) -> Refusal {
    Refusal::policy_denied(format!("This decision may come from the agent itself: {why}. {WHAT_TO_DO}."))
}
