//! A person's yes: to exactly one text, and to all of its steps or some.

use std::collections::BTreeSet;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::actor::Actor;
use crate::approval::{Approvers, PasskeyAssertion, Require};
use crate::identity::SessionIdentity;
use crate::ids::{PlanId, StepId};
use crate::plan::content::PlanStep;
use crate::plan::digest::canonical;
use crate::plan::{Digest, Plan};
use crate::presence::Presence;
use crate::refusal::Refusal;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Who gave it, and through what. Its kind tells a person from a standing policy.
    pub by: Actor,
    pub at: Timestamp,
    /// The text that was shown.
    pub digest: Digest,
    pub approved: Vec<StepId>,
    pub skipped: Vec<SkippedStep>,
    pub note: Option<String>,
    /// Whether the execution pauses after each step until a person has looked at it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub step_by_step: bool,
    /// What the policy in force asked for. Absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<Require>,
    /// When it can no longer begin or continue work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// The signatures of approvers, in the order in which they signed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<ApprovalSignature>,
    /// Whether an agent with a program of its own had come into the session, which is of another channel.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_program: bool,
}

impl Approval {
    /// Whether a user of a chat service gave it whom an enrolled approver bound. It carries no signature.
    pub fn is_by_bound_user(&self, approvers: &Approvers) -> bool {
        let bound_by = self.by.presence.as_ref().and_then(Presence::bound_by);
        bound_by.is_some_and(|approver| approvers.named(approver).is_some())
    }
}

/// An approver's signature on exactly one approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalSignature {
    pub approver: String,
    /// The last entry of the session's journal when the plan was shown.
    pub seq: u64,
    /// When the approval can no longer begin or continue work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// Random, so that no two approvals have the same signature.
    pub nonce: String,
    /// Ed25519 over [`SignedApproval::message`], or what the passkey signed, in hexadecimal digits.
    pub signature: String,
    /// Set if a passkey signed the hash of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passkey: Option<PasskeyAssertion>,
}

impl ApprovalSignature {
    /// What unlocked the key: `passkey` or `passphrase`.
    pub const fn with(&self) -> &'static str {
        match self.passkey {
            Some(_) => "passkey",
            None => "passphrase",
        }
    }
}

/// An approval that needs more people. The plan waits until they have signed it, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncompleteApproval {
    pub approval: Approval,
    /// How many different approvers have to sign it.
    pub people: u8,
    /// The other approvers who were enrolled when it was signed.
    pub others: Vec<String>,
}

impl IncompleteApproval {
    /// Who signed it, in the order in which they signed.
    pub fn signed_by(&self) -> impl Iterator<Item = &str> {
        self.approval.signatures.iter().map(|signature| signature.approver.as_str())
    }

    /// How many people are missing.
    pub fn missing(&self) -> usize {
        usize::from(self.people).saturating_sub(self.approval.signatures.len())
    }
}

/// For people: `ada approved it, 1 of 2; it waits for one more approver: bob or cleo`.
impl fmt::Display for IncompleteApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signed: Vec<_> = self.signed_by().collect();
        write!(f, "{} approved it, {} of {}; it waits for ", signed.join(" and "), signed.len(), self.people)?;
        match self.missing() {
            1 => f.write_str("one more approver")?,
            missing => write!(f, "{missing} more approvers")?,
        }
        match self.others.as_slice() {
            [] => f.write_str(", and no other is enrolled"),
            others => write!(f, ": {}", others.join(" or ")),
        }
    }
}

/// What exactly an approval covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalTerms {
    pub approved: Vec<StepId>,
    pub skipped: Vec<SkippedStep>,
    pub note: Option<String>,
    pub step_by_step: bool,
}

impl Plan {
    /// The approval of this very text that waits for more people and has not ended.
    pub fn waiting_approval(&self, now: Timestamp) -> Option<&IncompleteApproval> {
        let waiting = self.incomplete_approval.as_deref()?;
        let ended = waiting.approval.valid_until.is_some_and(|until| until < now);
        (!ended && waiting.approval.digest == self.digest()).then_some(waiting)
    }

    /// What an approval of this selection covers. Everyone approves the same: after the first person the others approve
    /// what that person approved.
    pub fn approval_terms(
        &self,
        selection: &Selection,
        note: Option<String>,
        step_by_step: bool,
        now: Timestamp,
    ) -> Result<ApprovalTerms, Refusal> {
        let SelectedSteps { approved, skipped } = selection.over(&self.content.steps())?;
        let Some(waiting) = self.waiting_approval(now) else {
            return Ok(ApprovalTerms { approved, skipped, note, step_by_step });
        };
        let first = &waiting.approval;
        let same = (*selection == Selection::All || approved == first.approved)
            && (note.is_none() || note == first.note)
            && (!step_by_step || first.step_by_step);
        if !same {
            return Err(Refusal::conflict(format!(
                "{} approved plan {} with other steps, another note or another pace. Approve the same, without a note, or ask for changes.",
                waiting.signed_by().collect::<Vec<_>>().join(" and "),
                self.number
            )));
        }
        let Approval { approved, skipped, note, step_by_step, .. } = first.clone();
        Ok(ApprovalTerms { approved, skipped, note, step_by_step })
    }
}

/// What an approver signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedApproval<'a> {
    pub session: &'a SessionIdentity,
    pub plan: &'a PlanId,
    pub digest: &'a Digest,
    pub approved: &'a [StepId],
    pub note: Option<&'a str>,
    pub step_by_step: bool,
    pub approver: &'a str,
    pub seq: u64,
    pub valid_until: Option<Timestamp>,
    pub nonce: &'a str,
}

impl SignedApproval<'_> {
    /// The canonical bytes.
    pub fn message(&self) -> Vec<u8> {
        let value = json!({
            "session": self.session,
            "plan": self.plan,
            "digest": self.digest,
            "approved": self.approved,
            "note": self.note,
            "stepByStep": self.step_by_step,
            "approver": self.approver,
            "seq": self.seq,
            "validUntil": self.valid_until,
            "nonce": self.nonce,
        });
        [b"planwright-approval-v1\n".as_slice(), canonical(&value).as_bytes()].concat()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedStep {
    pub step: StepId,
    /// Where it stands in the plan, from 1.
    pub position: usize,
    pub why: SkipReason,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum SkipReason {
    LeftOut,
    NeedsSkipped { step: StepId, position: usize },
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut => f.write_str("left out by the approval"),
            Self::NeedsSkipped { position, .. } => write!(f, "needs step {position}, which is skipped"),
        }
    }
}

/// Which steps are approved, by their positions from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    #[default]
    All,
    Only(BTreeSet<usize>),
    Skip(BTreeSet<usize>),
}

/// The steps of a selection after dependencies are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedSteps {
    pub approved: Vec<StepId>,
    pub skipped: Vec<SkippedStep>,
}

impl Selection {
    /// Follows `needs`: a step that builds on a skipped one is skipped with it.
    pub fn over(&self, steps: &[PlanStep]) -> Result<SelectedSteps, Refusal> {
        self.check_positions(steps.len())?;
        let mut selected = SelectedSteps { approved: Vec::new(), skipped: Vec::new() };
        for (index, step) in steps.iter().enumerate() {
            let position = index + 1;
            let needed = selected.skipped.iter().find(|skipped| step.needs.contains(&skipped.step));
            let why = if !self.includes(position) {
                Some(SkipReason::LeftOut)
            } else {
                needed
                    .map(|skipped| SkipReason::NeedsSkipped { step: skipped.step.clone(), position: skipped.position })
            };
            match why {
                Some(why) => selected.skipped.push(SkippedStep { step: step.id.clone(), position, why }),
                None => selected.approved.push(step.id.clone()),
            }
        }
        if selected.approved.is_empty() {
            return Err(Refusal::invalid("No step would be left to do; reject or cancel the plan instead."));
        }
        Ok(selected)
    }

    fn includes(&self, position: usize) -> bool {
        match self {
            Self::All => true,
            Self::Only(chosen) => chosen.contains(&position),
            Self::Skip(left_out) => !left_out.contains(&position),
        }
    }

    fn check_positions(&self, count: usize) -> Result<(), Refusal> {
        let positions = match self {
            Self::All => return Ok(()),
            Self::Only(positions) | Self::Skip(positions) => positions,
        };
        match positions.iter().find(|position| !(1..=count).contains(*position)) {
            Some(wrong) => Err(Refusal::invalid(format!("There is no step {wrong}; the plan has steps 1 to {count}."))),
            None => Ok(()),
        }
    }
}
