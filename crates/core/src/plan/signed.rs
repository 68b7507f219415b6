//! Whether the approval of a plan still permits work on it.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::approval::{ApprovalPolicy, Approvers, Require};
use crate::plan::{Approval, ApprovalSignature, Plan, SignedApproval};
use crate::refusal::Refusal;

impl Plan {
    /// Checked before the first step and after every take-over: the approval has not ended and, where the policy asks for
    /// it, enrolled approvers signed exactly this plan.
    pub fn check_approved(
        &self,
        policy: &ApprovalPolicy,
        approvers: &Approvers,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let approval = self.approval.as_deref();
        if approval.and_then(|approval| approval.valid_until).is_some_and(|until| until < now) {
            return Err(self.nothing_runs("its approval has expired"));
        }
        let risks = self.risks();
        let needed = policy.requirement(self.session.channel, &risks);
        let verified = needed == Require::Verified
            || approval.is_some_and(|approval| approval.required == Some(Require::Verified));
        if !verified {
            return Ok(());
        }
        let people = policy.people(self.session.channel, &risks);
        let bound = |approval: &Approval| people <= 1 && approval.is_by_bound_user(approvers);
        let Some(approval) = approval.filter(|approval| !approval.signatures.is_empty() || bound(approval)) else {
            return Err(self.nothing_runs("no approver signed its approval"));
        };
        if approval.digest != self.digest() {
            return Err(self.nothing_runs("it is not the text that was approved"));
        }
        if approval.signatures.is_empty() {
            return Ok(());
        }
        for signature in &approval.signatures {
            self.check_signature(approval, signature, approvers).map_err(|why| self.nothing_runs(&why))?;
        }
        let signed: BTreeSet<_> = approval.signatures.iter().map(|signature| &signature.approver).collect();
        if signed.len() < usize::from(people) {
            let why = format!("it needs the approval of {people} people, and {} signed it", signed.len());
            return Err(self.nothing_runs(&why));
        }
        Ok(())
    }

    /// Whether an enrolled approver signed exactly this approval of this plan.
    pub fn check_signature(
        &self,
        approval: &Approval,
        signature: &ApprovalSignature,
        approvers: &Approvers,
    ) -> Result<(), String> {
        let name = &signature.approver;
        if approvers.named(name).is_none() {
            return Err(format!("`{name}` is not an approver"));
        }
        let signed = SignedApproval {
            session: &self.session,
            plan: &self.id,
            digest: &approval.digest,
            approved: &approval.approved,
            note: approval.note.as_deref(),
            step_by_step: approval.step_by_step,
            approver: name,
            seq: signature.seq,
            valid_until: signature.valid_until,
            nonce: &signature.nonce,
        };
        let message = signed.message();
        // An approver who was enrolled again has another key.
        let mut enrolled = approvers.0.iter().filter(|approver| approver.name == *name);
        let signed = enrolled.any(|approver| match &signature.passkey {
            Some(assertion) => {
                approver.passkeys.iter().any(|passkey| passkey.verifies(&message, assertion, &signature.signature))
            }
            None => approver.key.verifies(&message, &signature.signature),
        });
        // An approval of several people ends with the first of their signatures.
        let first_end = approval.signatures.iter().filter_map(|signature| signature.valid_until).min();
        match signed && approval.valid_until == first_end {
            true => Ok(()),
            false => Err(format!("the signature of `{name}` does not fit this approval")),
        }
    }

    fn nothing_runs(&self, why: &str) -> Refusal {
        Refusal::policy_denied(format!(
            "Nothing of plan {} was run: {why}. Ask for changes (`/plan revise`) to get a version that can be approved again.",
            self.number
        ))
    }
}
