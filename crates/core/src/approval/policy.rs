//! What the settings ask of an approval, by channel and by risk.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::identity::Channel;
use crate::wire::text_enum;

text_enum! {
    /// How a person has to be recognised, from weak to strong.
    #[derive(Default)]
    pub enum Require {
        /// Every surface made for people approves.
        Any = "any",
        /// The approval comes from outside of the agent's reach.
        #[default]
        Separate = "separate",
        /// An enrolled approver signs it.
        Verified = "verified",
    }
}

text_enum! {
    /// What a plan may do.
    pub enum Risk {
        ReadsOnly = "reads_only",
        ChangesFiles = "changes_files",
        Commands = "commands",
        Network = "network",
        Upstream = "upstream",
    }
}

/// Settings of the section `approval`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApprovalPolicy {
    pub require: Require,
    /// The first rule that fits a channel and a risk decides about both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ApprovalRule>,
    /// The seconds for which an approval can begin or continue work; no end for `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_for: Option<u64>,
    /// The seconds for which a chat or a page of the dashboard asks for no passphrase again; fifteen minutes for `None`, and
    /// asked every time for 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remember: Option<u64>,
}

/// The channels whose agents have programs of their own.
const OWN_PROGRAMS: [Channel; 2] = [Channel::Mcp, Channel::Acp];

/// The seconds for which a passphrase is remembered where nothing else is said.
const REMEMBERED: u64 = 15 * 60;

/// Asks for more or less where it fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRule {
    /// Fits every channel if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// Fits every risk if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    pub require: Require,
    /// How many different approvers have to sign; one if absent. Two or more take `verified`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<u8>,
}

impl ApprovalRule {
    fn cell(&self) -> Cell {
        let people = self.people.unwrap_or(1).max(1);
        // Only signatures tell one person from another.
        let require = if people > 1 { Require::Verified } else { self.require };
        Cell { require, people }
    }
}

/// What is asked for one channel and one risk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    require: Require,
    people: u8,
}

impl Risk {
    /// What the agent may do that works by itself: it chooses its calls.
    pub fn of_work() -> BTreeSet<Self> {
        BTreeSet::from([Self::ChangesFiles])
    }
}

impl ApprovalPolicy {
    pub fn requiring(require: Require) -> Self {
        Self { require, ..Self::default() }
    }

    /// The policy as it counts: once an approver is enrolled, `separate` that no rule asks for means `verified` in the sessions
    /// of agents with programs of their own.
    pub fn with_defaults(&self, is_enrolled: bool) -> Self {
        let mut policy = self.clone();
        if is_enrolled && self.require == Require::Separate {
            let verified =
                |channel| ApprovalRule { channel: Some(channel), risk: None, require: Require::Verified, people: None };
            policy.rules.extend(OWN_PROGRAMS.map(verified));
        }
        policy
    }

    /// Asks for this in sessions of the channel. Rules that name a risk stand before it.
    pub fn requiring_in(&self, channel: Channel, require: Require) -> Self {
        let mut policy = self.clone();
        policy.rules.retain(|rule| rule.channel != Some(channel) || rule.risk.is_some());
        let at = policy.rules.iter().position(|rule| rule.risk.is_none()).unwrap_or(policy.rules.len());
        policy.rules.insert(at, ApprovalRule { channel: Some(channel), risk: None, require, people: None });
        policy
    }

    /// The policy in a session of this channel that an agent with a program of its own works in: it asks for no less than in
    /// sessions of the channel `mcp`, where such an agent may run commands and use the network whatever its plan says.
    pub fn with_agent_program(&self, channel: Channel) -> Self {
        let rule = |risk| {
            let risks = match risk {
                Risk::ChangesFiles => vec![Risk::ChangesFiles, Risk::Commands, Risk::Network],
                Risk::ReadsOnly | Risk::Commands | Risk::Network | Risk::Upstream => vec![risk],
            };
            let cells = || {
                [channel, Channel::Mcp]
                    .into_iter()
                    .flat_map(|channel| risks.iter().map(move |risk| self.cell(channel, *risk)))
            };
            let require = cells().map(|cell| cell.require).max().unwrap_or(self.require);
            let people = cells().map(|cell| cell.people).max().filter(|people| *people > 1);
            ApprovalRule { channel: Some(channel), risk: Some(risk), require, people }
        };
        let mut policy = self.clone();
        policy.rules.splice(0..0, Risk::ALL.map(rule));
        policy
    }

    /// For how long a passphrase is not asked for again, in seconds; 0 if it is asked for every time.
    pub fn remembered(&self) -> u64 {
        self.remember.unwrap_or(REMEMBERED)
    }

    /// What a plan with these risks needs in a session of this channel: the most that any of its risks needs.
    pub fn requirement(&self, channel: Channel, risks: &BTreeSet<Risk>) -> Require {
        let of_each = risks.iter().map(|risk| self.cell(channel, *risk).require);
        of_each.max().unwrap_or_else(|| self.cell(channel, Risk::ReadsOnly).require)
    }

    /// What it takes to let the agent work by itself in sessions of this channel: to start runs, to make schedules, and to let
    /// every session read a memory.
    pub fn requirement_of_work(&self, channel: Channel) -> Require {
        self.requirement(channel, &Risk::of_work())
    }

    /// What accepting the tools of an MCP server takes. Sessions of every channel use them.
    pub fn requirement_of_acceptance(&self) -> Require {
        let risks = BTreeSet::from([Risk::Upstream]);
        Channel::ALL.into_iter().map(|channel| self.requirement(channel, &risks)).max().unwrap_or_default()
    }

    /// The most that it asks for anywhere: what concerns the whole store is not asked for less.
    pub fn strictest(&self) -> Require {
        Channel::ALL.into_iter().map(|channel| self.strictest_in(channel)).max().unwrap_or(self.require)
    }

    /// The most that it asks for in sessions of this channel.
    pub fn strictest_in(&self, channel: Channel) -> Require {
        Risk::ALL.into_iter().map(|risk| self.cell(channel, risk).require).max().unwrap_or(self.require)
    }

    /// How many different approvers a plan with these risks needs in a session of this channel.
    pub fn people(&self, channel: Channel, risks: &BTreeSet<Risk>) -> u8 {
        risks.iter().map(|risk| self.cell(channel, *risk).people).max().unwrap_or(1)
    }

    fn cell(&self, channel: Channel, risk: Risk) -> Cell {
        let fits = |rule: &&ApprovalRule| {
            rule.channel.is_none_or(|fitting| fitting == channel) && rule.risk.is_none_or(|fitting| fitting == risk)
        };
        let plain = Cell { require: self.require, people: 1 };
        self.rules.iter().find(fits).map_or(plain, ApprovalRule::cell)
    }

    fn cells() -> impl Iterator<Item = (Channel, Risk)> {
        Channel::ALL.into_iter().flat_map(|channel| Risk::ALL.into_iter().map(move |risk| (channel, risk)))
    }

    /// Whether it asks for less than `other` anywhere.
    pub fn is_weaker_than(&self, other: &Self) -> bool {
        self.asks_for_less(other) || self.remembered() > other.remembered()
    }

    /// The comparison of earlier versions, which remembered no passphrase where nothing was said.
    pub(super) fn was_weaker_than(&self, other: &Self) -> bool {
        self.asks_for_less(other) || self.remember.unwrap_or(0) > other.remember.unwrap_or(0)
    }

    fn asks_for_less(&self, other: &Self) -> bool {
        let weaker = |(channel, risk)| {
            let (own, others) = (self.cell(channel, risk), other.cell(channel, risk));
            own.require < others.require || own.people < others.people
        };
        Self::cells().any(weaker) || self.require < other.require || longer(self.valid_for, other.valid_for)
    }

    /// The policy that asks for as much as both, everywhere.
    pub fn stricter(&self, other: &Self) -> Self {
        if !self.is_weaker_than(other) {
            return self.clone();
        }
        if !other.is_weaker_than(self) {
            return other.clone();
        }
        let rule = |(channel, risk)| {
            let (own, others) = (self.cell(channel, risk), other.cell(channel, risk));
            let (require, people) = (own.require.max(others.require), own.people.max(others.people));
            let people = Some(people).filter(|people| *people > 1);
            ApprovalRule { channel: Some(channel), risk: Some(risk), require, people }
        };
        Self {
            require: self.require.max(other.require),
            rules: Self::cells().map(rule).collect(),
            valid_for: match (self.valid_for, other.valid_for) {
                (Some(own), Some(others)) => Some(own.min(others)),
                (own, others) => own.or(others),
            },
            remember: match (self.remember, other.remember) {
                (None, None) => None,
                (Some(_), _) | (_, Some(_)) => Some(self.remembered().min(other.remembered())),
            },
        }
    }
}

/// Whether an approval is valid for longer. Without a limit it is valid for ever.
fn longer(own: Option<u64>, other: Option<u64>) -> bool {
    own.unwrap_or(u64::MAX) > other.unwrap_or(u64::MAX)
}
