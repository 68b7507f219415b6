//! Whether an approver signed an act.

use jiff::Timestamp;

use super::approvers::Approvers;
use crate::identity::SessionIdentity;
use crate::presence::{Act, ActSignature, Presence, UsedSignature};
use crate::refusal::Refusal;

/// An act of a person, and what its signature is compared with.
#[derive(Debug, Clone, Copy)]
pub struct ActCheck<'a> {
    /// Absent for what concerns the whole store.
    pub session: Option<&'a SessionIdentity>,
    pub act: &'a Act,
    pub approvers: &'a Approvers,
    /// The signatures that were used in the session.
    pub used: &'a [UsedSignature],
    pub now: Timestamp,
}

impl ActCheck<'_> {
    /// A person who counts as verified signed exactly this act, once. Of others nothing is asked here.
    pub fn check(&self, presence: Option<&Presence>) -> Result<(), Refusal> {
        let Some(Presence::Verified { approver, signed, .. }) = presence else { return Ok(()) };
        let signed = signed.as_deref().ok_or_else(|| "no approver signed it".to_owned());
        if let Ok(signed) = signed
            && signed.act.is_stale(self.act)
        {
            return Err(Refusal::stale("Nothing was done: it is not what was shown any more. Look at it again."));
        }
        let checked = signed.and_then(|signed| self.check_signature(signed, approver));
        checked.map_err(|why| Refusal::policy_denied(format!("Nothing was done: {why}.")))
    }

    fn check_signature(&self, signed: &ActSignature, approver: &str) -> Result<(), String> {
        signed.check_fits(self.act, self.now)?;
        signed.check(self.session, approver, self.approvers)?;
        if self.used.iter().any(|used| used.nonce == signed.nonce) {
            return Err("this signature was used before".to_owned());
        }
        match &signed.passkey {
            Some(assertion) => self.approvers.check_counter(approver, assertion),
            None => Ok(()),
        }
    }
}

impl ActSignature {
    /// Whether this approver is enrolled and signed exactly this.
    pub fn check(
        &self,
        session: Option<&SessionIdentity>,
        approver: &str,
        approvers: &Approvers,
    ) -> Result<(), String> {
        let message = self.message(session, approver);
        // An approver who was enrolled again has another key.
        let mut enrolled = approvers.0.iter().filter(|one| one.name == approver).peekable();
        if enrolled.peek().is_none() {
            return Err(format!("`{approver}` is not an approver"));
        }
        let signed = enrolled.any(|one| match &self.passkey {
            Some(assertion) => {
                one.passkeys.iter().any(|passkey| passkey.verifies(&message, assertion, &self.signature))
            }
            None => one.key.verifies(&message, &self.signature),
        });
        if signed { Ok(()) } else { Err(format!("the signature of `{approver}` does not fit it")) }
    }
}
