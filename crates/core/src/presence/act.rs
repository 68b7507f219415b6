//! What an approver signs to let something happen that is no approval of a plan: exactly one act, once and soon.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::PasskeyAssertion;
use crate::identity::SessionIdentity;
use crate::wire::text_enum;

/// A signature counts for an hour: an act may wait for the work of its session.
const VALID_FOR: SignedDuration = SignedDuration::from_hours(1);
/// How far the clocks of two machines may differ.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(1);

text_enum! {
    pub enum ActKind {
        Resume = "resume",
        /// The next step of a plan that is approved step by step.
        Release = "release",
        Retry = "retry",
        Skip = "skip",
        /// A call of a tool.
        Permit = "permit",
        /// A memory, for every session.
        Promote = "promote",
        StartRun = "start_run",
        ResumeRun = "resume_run",
        AddSchedule = "add_schedule",
        ResumeSchedule = "resume_schedule",
        /// The tools of an MCP server.
        AcceptTools = "accept_tools",
    }
}

/// What is done, to what, and the digest of what the person was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    pub kind: ActKind,
    pub subject: String,
    /// In hexadecimal digits.
    pub digest: String,
}

impl Act {
    /// Whether it is the same act about what looked otherwise.
    pub fn is_stale(&self, now: &Self) -> bool {
        self.kind == now.kind && self.subject == now.subject && self.digest != now.digest
    }
}

/// An approver's signature on one act. It is recorded with how the person was recognised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActSignature {
    pub act: Act,
    pub at: Timestamp,
    /// Random, so that no signature is used twice.
    pub nonce: String,
    /// Ed25519 over [`ActSignature::message`], or what the passkey signed, in hexadecimal digits.
    pub signature: String,
    /// Set if a passkey signed the hash of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passkey: Option<PasskeyAssertion>,
}

impl ActSignature {
    /// What the approver signs. `session` is absent for what concerns the whole store.
    pub fn message(&self, session: Option<&SessionIdentity>, approver: &str) -> Vec<u8> {
        let Self { act, at, nonce, .. } = self;
        let value = json!({ "session": session, "act": act, "approver": approver, "at": at, "nonce": nonce });
        format!("planwright-act-v1\n{value}").into_bytes()
    }

    /// Whether it counts now for this act, besides that the approver made it.
    pub fn check_fits(&self, act: &Act, now: Timestamp) -> Result<(), String> {
        if self.act != *act {
            return Err(format!("the signature is for another act: {} {}", self.act.kind, self.act.subject));
        }
        let age = now.duration_since(self.at);
        if age > VALID_FOR || age < -CLOCK_SKEW {
            return Err("the signature is too old, or the clocks of two machines differ".to_owned());
        }
        Ok(())
    }
}

/// A signature that was used. It is remembered as long as it could be used again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedSignature {
    pub nonce: String,
    pub at: Timestamp,
}

impl UsedSignature {
    /// Adds the signature of an act, and forgets those that count no more.
    pub(crate) fn note(used: &mut Vec<Self>, nonce: &str, at: Timestamp) {
        if used.iter().any(|one| one.nonce == nonce) {
            return;
        }
        used.retain(|one| at.duration_since(one.at) <= VALID_FOR + CLOCK_SKEW);
        used.push(Self { nonce: nonce.to_owned(), at });
    }
}
