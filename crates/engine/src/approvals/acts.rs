//! Acts that are no approval of a plan, signed with a passphrase or a passkey.

use planwright_core::actor::Actor;
use planwright_core::approval::{ActCheck, Passkey, challenge};
use planwright_core::presence::{Act, ActSignature};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;

use super::Approvals;
use crate::act_signing::{sign, unsigned};
use crate::ledger::LedgerResult;

/// What a browser has a passkey sign for an act.
#[derive(Debug, Clone)]
pub struct ActChallenge {
    pub approver: String,
    /// The hash of the canonical act, in base64url.
    pub challenge: String,
    /// What is signed, without a signature.
    pub unsigned: ActSignature,
    /// The passkeys that may sign it.
    pub passkeys: Vec<Passkey>,
}

impl Approvals {
    /// The passkeys of an approver, who has at least one.
    pub async fn passkeys_of(&self, approver: &str) -> LedgerResult<Vec<Passkey>> {
        let passkeys = self.named(approver).await?.passkeys;
        match passkeys.is_empty() {
            true => Err(Refusal::not_found(format!("`{approver}` has no passkey.")).into()),
            false => Ok(passkeys),
        }
    }

    /// What a passkey of the approver signs for exactly this act.
    pub async fn act_challenge(
        &self,
        approver: &str,
        session: Option<&SessionIdentity>,
        act: Act,
    ) -> LedgerResult<ActChallenge> {
        let passkeys = self.passkeys_of(approver).await?;
        let unsigned = unsigned(act, self.now())?;
        let challenge = challenge(&unsigned.message(session, approver));
        Ok(ActChallenge { approver: approver.to_owned(), challenge, unsigned, passkeys })
    }

    /// Signs an act that concerns the whole store for a person who unlocked their key, and checks the signature of one who counts
    /// as verified.
    pub(super) async fn signed_for_store(&self, by: &Actor, act: Act) -> LedgerResult<Actor> {
        let policy = self.policy().await?;
        let by = sign(by, None, || Ok(Some(act.clone())), self.now())?.with_binding(&policy.bound_users);
        let check = ActCheck { session: None, act: &act, approvers: &policy.approvers, used: &[], now: self.now() };
        check.check(by.presence.as_ref())?;
        Ok(by)
    }
}
