//! Acts that are no approval of a plan, signed with a passphrase or a passkey.

use jiff::Timestamp;
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::approval::{ActCheck, Passkey, challenge};
use planwright_core::command::Command;
use planwright_core::door::Guard;
use planwright_core::presence::{Act, ActSignature, Presence};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;

use super::{Approvals, internal, key};
use crate::ledger::{Ledger, LedgerResult};

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
    /// What a passkey of the approver signs for exactly this act.
    pub async fn act_challenge(
        &self,
        approver: &str,
        session: Option<&SessionIdentity>,
        act: Act,
    ) -> LedgerResult<ActChallenge> {
        let passkeys = self.named(approver).await?.passkeys;
        if passkeys.is_empty() {
            return Err(Refusal::not_found(format!("`{approver}` has no passkey.")).into());
        }
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

/// The person with their signature on the command, if they unlocked their key and the command takes one.
pub(crate) async fn signed(
    ledger: &dyn Ledger,
    session: &SessionIdentity,
    by: &Actor,
    command: &Command,
    now: Timestamp,
) -> LedgerResult<Actor> {
    if by.kind != ActorKind::Person || command.guard() != Guard::Approval || signer(by).is_none() {
        return Ok(by.clone());
    }
    let snapshot = ledger.snapshot(session, command.subject()).await?;
    sign(by, Some(session), || command.act(&snapshot), now)
}

/// The approver and the key of a person who unlocked it and has not signed yet.
fn signer(by: &Actor) -> Option<(&str, &dyn planwright_core::presence::ActSigner)> {
    match &by.presence {
        Some(Presence::Verified { approver, signed: None, key }) => Some((approver, key.get()?)),
        _ => None,
    }
}

fn sign(
    by: &Actor,
    session: Option<&SessionIdentity>,
    act: impl FnOnce() -> Result<Option<Act>, Refusal>,
    now: Timestamp,
) -> LedgerResult<Actor> {
    let Some((approver, key)) = signer(by) else { return Ok(by.clone()) };
    let Some(act) = act()? else { return Ok(by.clone()) };
    let unsigned = unsigned(act, now)?;
    let signature = key.sign(&unsigned.message(session, approver));
    Ok(by.clone().recognised(Presence::signed(approver, ActSignature { signature, ..unsigned })))
}

fn unsigned(act: Act, at: Timestamp) -> LedgerResult<ActSignature> {
    let nonce = key::nonce().map_err(internal)?;
    Ok(ActSignature { act, at, nonce, signature: String::new(), passkey: None })
}
