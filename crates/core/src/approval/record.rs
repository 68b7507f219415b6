//! The journal of enrolments and of the policy in force. It belongs to the store and not to a session, and every record
//! has the hash of the one before it. A change of the enrolment is signed by an approver who is enrolled already.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::approvers::{Approver, Approvers, SealedKey};
use super::check::AgentsSeen;
use super::passkey::Passkey;
use super::policy::ApprovalPolicy;
use crate::actor::Actor;
use crate::identity::SessionIdentity;
use crate::located_program::LocatedProgram;
use crate::presence::{AgentClient, Presence, UsedSignature};
use crate::refusal::Refusal;
use crate::standing_rule::{StandingRule, StoredRule};

/// A record as it is stored: the very bytes that were hashed, and the hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedRecord {
    pub seq: u64,
    pub body: String,
    pub hash: [u8; 32],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRecord {
    /// From 1, without gaps.
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    pub event: ApprovalEvent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<RecordSignature>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordSignature {
    pub approver: String,
    /// In hexadecimal digits, over [`ApprovalState::message`].
    pub signature: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApprovalEvent {
    /// The policy in force from now on.
    PolicySet {
        policy: ApprovalPolicy,
        /// Whether [`ApprovalPolicy::with_defaults`] counts when later policies are compared with it. Earlier versions did not
        /// know these defaults.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        with_defaults: bool,
    },
    ApproverAdded {
        approver: Approver,
    },
    ApproverRemoved {
        name: String,
    },
    /// The approver's key was sealed with another passphrase and, unless an earlier version did it, another recovery code.
    PassphraseChanged {
        name: String,
        sealed: SealedKey,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recovery: Option<SealedKey>,
    },
    /// A passphrase is tried. It counts as a wrong one until it is accepted, so that no number of processes tries more at once
    /// than may be tried. Earlier versions recorded it only when it was wrong.
    #[serde(alias = "passphrase_failed")]
    PassphraseTried {
        name: String,
        /// Where it came from, such as `terminal` or `token`.
        #[serde(default)]
        source: String,
    },
    PassphraseAccepted {
        name: String,
        /// Where it came from; every source if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// The approver enrolled a passkey of their own.
    PasskeyAdded {
        name: String,
        passkey: Passkey,
    },
    PasskeyRemoved {
        name: String,
        id: String,
    },
    /// The buttons of this user of Telegram count where a verified person is asked for. The approver signs it.
    ChatUserBound {
        user: i64,
        approver: String,
    },
    ChatUserUnbound {
        user: i64,
    },
    /// A passkey signed.
    PasskeyUsed {
        name: String,
        id: String,
        counter: u32,
        /// Whether the authenticator knew the person, such as by a finger or a code.
        user_verified: bool,
    },
    /// A person made a link that signs one browser in. `link` is the hash of its secret.
    SignInLinkMade {
        link: String,
        ends: Timestamp,
    },
    /// A browser used the link. `browser` is the hash of the secret in its cookie.
    BrowserSignedIn {
        link: String,
        browser: String,
        ends: Timestamp,
    },
    BrowserSignedOut {
        browser: String,
    },
    /// The guarded settings from now on, by their key and as a variable has them. A setting that is absent has its default.
    SettingsSet {
        settings: BTreeMap<String, String>,
    },
    /// A person permitted calls from now on, when a call of this session was asked about. Its number is that of the record.
    PermissionGiven {
        rule: StandingRule,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<SessionIdentity>,
    },
    /// The rule with this number counts no more.
    PermissionRemoved {
        number: u64,
    },
    /// An agent that can start processes of its own was seen for the first time. It is never taken back.
    AgentSeen {
        name: String,
    },
    /// A person was shown what the records up to this one changed.
    RecordsSeen {
        seq: u64,
        /// When it was put together.
        until: Timestamp,
    },
    /// The programs of the agents of a session that is deleted.
    ClientsKept {
        session: SessionIdentity,
        clients: Vec<AgentClient>,
    },
    /// A person accepted what an MCP server offers, of this command or address. Both digests are in hexadecimal digits.
    ToolsAccepted {
        server: String,
        digest: String,
        command: String,
        /// The program that the command is, where it was found. Records of earlier versions do not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<LocatedProgram>,
    },
}

/// The tools of an MCP server that a person accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolsAcceptance {
    pub digest: String,
    pub command: String,
    pub program: Option<LocatedProgram>,
    pub by: Actor,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordDamage {
    #[error("record {expected} of the approvers is missing; the next one found is {found}")]
    Gap { expected: u64, found: u64 },
    #[error("record {seq} of the approvers does not match its hash: it, or one before it, was changed")]
    Changed { seq: u64 },
    #[error("record {seq} of the approvers cannot be read: {reason}")]
    Unreadable { seq: u64, reason: String },
    #[error(
        "record {seq} of the approvers changes the enrolment or weakens the policy, and no enrolled approver signed it"
    )]
    Unsigned { seq: u64 },
    #[error("record {seq} of the approvers signs a browser in, and there was no valid link for it")]
    NoLink { seq: u64 },
    #[error("record {seq} of the approvers cannot be written: {reason}")]
    Unwritable { seq: u64, reason: String },
}

/// What the records say now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalState {
    pub seq: u64,
    pub hash: [u8; 32],
    /// `None` until the first record.
    pub policy: Option<ApprovalPolicy>,
    /// Whether this version has recorded the policy.
    pub with_defaults: bool,
    pub approvers: Approvers,
    /// Every approver who was ever enrolled, also those who were removed.
    pub enrolled_ever: Approvers,
    /// The passphrases that were tried since the last right one, by approver and by where they came from. Wrong ones from one
    /// place keep nobody out elsewhere.
    tried: BTreeMap<(String, String), Tries>,
    /// The guarded settings; `None` until they are recorded.
    pub settings: Option<BTreeMap<String, String>>,
    /// What persons permitted from now on.
    pub permissions: BTreeMap<u64, StoredRule>,
    pub agents_seen: AgentsSeen,
    /// The programs of the agents of deleted sessions, by the session's name.
    pub kept_clients: BTreeMap<String, Vec<AgentClient>>,
    /// What was accepted of each MCP server since the records say so, in order.
    pub accepted_tools: BTreeMap<String, Vec<ToolsAcceptance>>,
    /// The signatures on acts that were recorded here and could be used again.
    used: Vec<UsedSignature>,
    /// The users of Telegram whom approvers bound, with the approver's name.
    pub bound_users: BTreeMap<i64, String>,
    /// When each unused link ends, by the hash of its secret.
    links: BTreeMap<String, Timestamp>,
    /// When each signed-in browser ends, by the hash of its secret.
    browsers: BTreeMap<String, Timestamp>,
}

impl ApprovalState {
    /// Reads the whole journal and checks it.
    pub fn replay<'a>(records: impl IntoIterator<Item = &'a SealedRecord>) -> Result<Self, RecordDamage> {
        let mut state = Self::default();
        for sealed in records {
            let seq = sealed.seq;
            if seq != state.seq + 1 {
                return Err(RecordDamage::Gap { expected: state.seq + 1, found: seq });
            }
            if hash(&state.hash, &sealed.body) != sealed.hash {
                return Err(RecordDamage::Changed { seq });
            }
            let record: ApprovalRecord = serde_json::from_str(&sealed.body)
                .map_err(|error| RecordDamage::Unreadable { seq, reason: error.to_string() })?;
            if record.seq != seq {
                return Err(RecordDamage::Changed { seq });
            }
            state.check(&record)?;
            state.apply(record, sealed.hash);
        }
        Ok(state)
    }

    /// The next record.
    pub fn seal(
        &self,
        at: Timestamp,
        by: Actor,
        event: ApprovalEvent,
        signed: Option<RecordSignature>,
    ) -> Result<SealedRecord, RecordDamage> {
        let seq = self.seq + 1;
        let record = ApprovalRecord { seq, at, by, event, signed };
        self.check(&record)?;
        let body = serde_json::to_string(&record)
            .map_err(|error| RecordDamage::Unwritable { seq, reason: error.to_string() })?;
        let hash = hash(&self.hash, &body);
        Ok(SealedRecord { seq, body, hash })
    }

    /// What an approver signs to make `event` the next record.
    pub fn message(&self, event: &ApprovalEvent) -> Vec<u8> {
        let text = json!({ "after": hex::encode(self.hash), "seq": self.seq + 1, "event": event }).to_string();
        [b"planwright-enrolment-v1\n".as_slice(), text.as_bytes()].concat()
    }

    /// Whether an approver has to sign `event`. The first enrolment carries no signature: it is recorded.
    pub fn needs_signature(&self, event: &ApprovalEvent) -> bool {
        match event {
            ApprovalEvent::ApproverAdded { .. } | ApprovalEvent::ApproverRemoved { .. } => !self.approvers.is_empty(),
            ApprovalEvent::PassphraseChanged { .. }
            | ApprovalEvent::PasskeyAdded { .. }
            | ApprovalEvent::ChatUserBound { .. }
            | ApprovalEvent::PasskeyRemoved { .. } => true,
            ApprovalEvent::PolicySet { policy, .. } => !self.approvers.is_empty() && self.is_weakened_by(policy),
            // Those of a new store, or of one of an earlier version, are recorded without one.
            ApprovalEvent::SettingsSet { .. } => !self.approvers.is_empty() && self.settings.is_some(),
            ApprovalEvent::PassphraseTried { .. }
            | ApprovalEvent::PassphraseAccepted { .. }
            | ApprovalEvent::ChatUserUnbound { .. }
            | ApprovalEvent::PasskeyUsed { .. }
            | ApprovalEvent::RecordsSeen { .. }
            | ApprovalEvent::SignInLinkMade { .. }
            | ApprovalEvent::BrowserSignedIn { .. }
            | ApprovalEvent::BrowserSignedOut { .. }
            | ApprovalEvent::PermissionGiven { .. }
            | ApprovalEvent::PermissionRemoved { .. }
            | ApprovalEvent::AgentSeen { .. }
            | ApprovalEvent::ClientsKept { .. }
            | ApprovalEvent::ToolsAccepted { .. } => false,
        }
    }

    /// Whether a policy asks for less than the one that is recorded.
    pub fn is_weakened_by(&self, next: &ApprovalPolicy) -> bool {
        let Some(now) = &self.policy else { return false };
        let is_enrolled = !self.approvers.is_empty();
        match self.with_defaults {
            true => next.with_defaults(is_enrolled).is_weaker_than(&now.with_defaults(is_enrolled)),
            false => next.was_weaker_than(now),
        }
    }

    /// Whether the defaults of this version ask for more than the earlier version that recorded the policy.
    pub fn is_raised_by_defaults(&self) -> bool {
        let raised = |policy: &ApprovalPolicy| policy.is_weaker_than(&policy.with_defaults(!self.approvers.is_empty()));
        !self.with_defaults && self.policy.as_ref().is_some_and(raised)
    }

    /// Whether a browser with this secret is signed in. `browser` is the hash of the secret.
    pub fn is_signed_in(&self, browser: &str, now: Timestamp) -> bool {
        self.browsers.get(browser).is_some_and(|ends| now < *ends)
    }

    /// Whether a link can still be used. `link` is the hash of its secret.
    pub fn is_open_link(&self, link: &str, now: Timestamp) -> bool {
        self.links.get(link).is_some_and(|ends| now < *ends)
    }

    fn check(&self, record: &ApprovalRecord) -> Result<(), RecordDamage> {
        if let ApprovalEvent::BrowserSignedIn { link, .. } = &record.event
            && !self.is_open_link(link, record.at)
        {
            return Err(RecordDamage::NoLink { seq: record.seq });
        }
        if !self.needs_signature(&record.event) {
            return Ok(());
        }
        let signed = record.signed.as_ref().is_some_and(|signed| {
            let approver = self.approvers.named(&signed.approver);
            // With a passkey of their own under another name one approver would be two.
            let own = match &record.event {
                ApprovalEvent::PasskeyAdded { name, .. } | ApprovalEvent::ChatUserBound { approver: name, .. } => {
                    *name == signed.approver
                }
                ApprovalEvent::PolicySet { .. }
                | ApprovalEvent::ApproverAdded { .. }
                | ApprovalEvent::ApproverRemoved { .. }
                | ApprovalEvent::PassphraseChanged { .. }
                | ApprovalEvent::PassphraseTried { .. }
                | ApprovalEvent::PassphraseAccepted { .. }
                | ApprovalEvent::PasskeyRemoved { .. }
                | ApprovalEvent::ChatUserUnbound { .. }
                | ApprovalEvent::PasskeyUsed { .. }
                | ApprovalEvent::RecordsSeen { .. }
                | ApprovalEvent::SignInLinkMade { .. }
                | ApprovalEvent::BrowserSignedIn { .. }
                | ApprovalEvent::BrowserSignedOut { .. }
                | ApprovalEvent::SettingsSet { .. }
                | ApprovalEvent::PermissionGiven { .. }
                | ApprovalEvent::PermissionRemoved { .. }
                | ApprovalEvent::AgentSeen { .. }
                | ApprovalEvent::ClientsKept { .. }
                | ApprovalEvent::ToolsAccepted { .. } => true,
            };
            own && approver
                .is_some_and(|approver| approver.key.verifies(&self.message(&record.event), &signed.signature))
        });
        if signed { Ok(()) } else { Err(RecordDamage::Unsigned { seq: record.seq }) }
    }

    fn apply(&mut self, record: ApprovalRecord, hash: [u8; 32]) {
        (self.seq, self.hash) = (record.seq, hash);
        if let Some(signed) = record.by.presence.as_ref().and_then(Presence::signature) {
            UsedSignature::note(&mut self.used, &signed.nonce, record.at);
        }
        match record.event {
            ApprovalEvent::PolicySet { policy, with_defaults } => {
                self.policy = Some(policy);
                self.with_defaults |= with_defaults;
            }
            ApprovalEvent::ApproverAdded { approver } => {
                self.approvers.remove(&approver.name);
                self.enrolled_ever.0.push(approver.clone());
                self.approvers.0.push(approver);
            }
            ApprovalEvent::ApproverRemoved { name } => {
                self.approvers.remove(&name);
                self.bound_users.retain(|_, approver| *approver != name);
            }
            ApprovalEvent::ChatUserBound { user, approver } => drop(self.bound_users.insert(user, approver)),
            ApprovalEvent::ChatUserUnbound { user } => drop(self.bound_users.remove(&user)),
            ApprovalEvent::PassphraseChanged { name, sealed, recovery } => {
                for one in self.approvers.0.iter_mut().filter(|one| one.name == name) {
                    one.sealed = sealed.clone();
                    one.recovery = recovery.clone().or_else(|| one.recovery.take());
                }
            }
            ApprovalEvent::PassphraseTried { name, source } => {
                let before = self.tried.get(&(name.clone(), source.clone())).map_or(0, |tries| tries.count);
                self.tried.insert((name, source), Tries { count: before.saturating_add(1), at: record.at });
            }
            ApprovalEvent::PassphraseAccepted { name, source } => {
                let is_it =
                    |of: &(String, String)| of.0 == name && source.as_ref().is_none_or(|source| of.1 == *source);
                self.tried.retain(|of, _| !is_it(of));
            }
            ApprovalEvent::PasskeyAdded { name, passkey } => {
                let key = self.approvers.named(&name).map(|one| one.key);
                let both = self.approvers.0.iter_mut().chain(&mut self.enrolled_ever.0);
                both.filter(|one| one.name == name && Some(one.key) == key)
                    .for_each(|one| one.passkeys.push(passkey.clone()));
            }
            ApprovalEvent::PasskeyRemoved { name, id } => {
                let named = self.approvers.0.iter_mut().filter(|one| one.name == name);
                named.for_each(|one| one.passkeys.retain(|passkey| passkey.id != id));
            }
            ApprovalEvent::PasskeyUsed { name, id, counter, .. } => {
                let named = self.approvers.0.iter_mut().filter(|one| one.name == name);
                let used = named.flat_map(|one| &mut one.passkeys).filter(|passkey| passkey.id == id);
                used.for_each(|passkey| passkey.counter = counter.max(passkey.counter));
            }
            ApprovalEvent::RecordsSeen { .. } => {}
            ApprovalEvent::SignInLinkMade { link, ends } => {
                self.links.retain(|_, ends| record.at < *ends);
                self.links.insert(link, ends);
            }
            ApprovalEvent::BrowserSignedIn { link, browser, ends } => {
                self.links.remove(&link);
                self.browsers.retain(|_, ends| record.at < *ends);
                self.browsers.insert(browser, ends);
            }
            ApprovalEvent::BrowserSignedOut { browser } => drop(self.browsers.remove(&browser)),
            ApprovalEvent::SettingsSet { settings } => self.settings = Some(settings),
            ApprovalEvent::PermissionGiven { rule, session } => {
                let stored = StoredRule { rule, by: record.by, at: record.at, session };
                self.permissions.insert(record.seq, stored);
            }
            ApprovalEvent::PermissionRemoved { number } => drop(self.permissions.remove(&number)),
            ApprovalEvent::AgentSeen { .. } => self.agents_seen = AgentsSeen::Some,
            ApprovalEvent::ClientsKept { session, clients } => {
                self.kept_clients.entry(session.to_string()).or_default().extend(clients);
            }
            ApprovalEvent::ToolsAccepted { server, digest, command, program } => {
                let accepted = ToolsAcceptance { digest, command, program, by: record.by, at: record.at };
                self.accepted_tools.entry(server).or_default().push(accepted);
            }
        }
    }

    /// Refuses a person whose signature on an act is in the records already.
    pub fn check_signature_unused(&self, by: &Actor) -> Result<(), Refusal> {
        let signed = by.presence.as_ref().and_then(Presence::signature);
        match signed.is_some_and(|signed| self.used.iter().any(|used| used.nonce == signed.nonce)) {
            true => Err(Refusal::policy_denied("Nothing was done: this signature was used before.")),
            false => Ok(()),
        }
    }

    /// Until when no passphrase of the approver from this source is tried: three are free, then each wrong one doubles the
    /// wait, up to fifteen minutes.
    pub fn locked_until(&self, name: &str, source: &str) -> Option<Timestamp> {
        const FREE: u32 = 3;
        const MAX_SECONDS: i64 = 15 * 60;
        let tries = self.tried.get(&(name.to_owned(), source.to_owned()))?;
        let over = tries.count.checked_sub(FREE)?;
        let seconds = 2_i64.checked_pow(over.saturating_add(2)).map_or(MAX_SECONDS, |seconds| seconds.min(MAX_SECONDS));
        tries.at.checked_add(jiff::SignedDuration::from_secs(seconds)).ok()
    }
}

/// Passphrases that were not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tries {
    count: u32,
    at: Timestamp,
}

fn hash(previous: &[u8; 32], body: &str) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(b"planwright-approvals-v1\n");
    hasher.update(previous);
    hasher.update(body.as_bytes());
    hasher.finalize().into()
}
