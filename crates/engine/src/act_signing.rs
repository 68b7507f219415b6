//! Signs acts of a person who unlocked their key.

use jiff::Timestamp;
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::command::Command;
use planwright_core::door::Guard;
use planwright_core::memory::MemoryRecord;
use planwright_core::presence::{Act, ActSignature, ActSigner, Presence};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;

use crate::ledger::{Ledger, LedgerError, LedgerResult};

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
    let mut snapshot = ledger.snapshot(session, command.subject()).await?;
    if let Some(memory) = command.memory_subject(snapshot.session.as_deref())
        && let Some(item) = ledger.memory_of(session, memory).await?
    {
        snapshot.memories.insert(item.id.clone(), MemoryRecord { item, forgotten: false });
    }
    sign(by, Some(session), || command.act(&snapshot), now)
}

/// The approver and the key of a person who unlocked it and has not signed yet, and the digest of what they were shown.
fn signer(by: &Actor) -> Option<(&str, &dyn ActSigner, Option<&str>)> {
    match &by.presence {
        Some(Presence::Verified { approver, signed: None, key }) => Some((approver, key.get()?, key.shown())),
        _ => None,
    }
}

/// The person with their signature on this act, if they unlocked their key.
pub(crate) fn sign(
    by: &Actor,
    session: Option<&SessionIdentity>,
    act: impl FnOnce() -> Result<Option<Act>, Refusal>,
    now: Timestamp,
) -> LedgerResult<Actor> {
    let Some((approver, key, shown)) = signer(by) else { return Ok(by.clone()) };
    let Some(mut act) = act()? else { return Ok(by.clone()) };
    if let Some(shown) = shown {
        shown.clone_into(&mut act.digest);
    }
    let unsigned = unsigned(act, now)?;
    let signature = key.sign(&unsigned.message(session, approver));
    Ok(by.clone().recognised(Presence::signed(approver, ActSignature { signature, ..unsigned })))
}

/// What is signed, without a signature.
pub(crate) fn unsigned(act: Act, at: Timestamp) -> LedgerResult<ActSignature> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|_| LedgerError::Internal("the system has no random numbers".to_owned()))?;
    let nonce = hex::encode(random);
    Ok(ActSignature { act, at, nonce, signature: String::new(), passkey: None })
}
