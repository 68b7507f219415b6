//! The journal of enrolments and of the policy, read and written.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::approval::PasskeyAssertion;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState, RecordDamage, RecordSignature};
use planwright_core::plan::Digest;
use planwright_core::presence::Presence;
use planwright_core::refusal::Refusal;
use planwright_core::upstream::{ServerCommand, ServerName};

use crate::ledger::{ApprovalStore, Ledger, LedgerError, LedgerResult};
use crate::lookup;

/// How often a record is sealed anew because another process was faster.
const ATTEMPTS: u32 = 20;

/// What the records of a store say, checked.
pub(crate) async fn state(ledger: &dyn ApprovalStore) -> LedgerResult<ApprovalState> {
    lookup::approval_state(&ledger.approval_records().await?)
}

/// Appends the record that `next` returns, after those of all other processes.
pub(crate) async fn append(
    ledger: &dyn ApprovalStore,
    by: &Actor,
    now: impl Fn() -> Timestamp,
    next: impl Fn(&ApprovalState) -> Result<Option<(ApprovalEvent, Option<RecordSignature>)>, Refusal>,
) -> LedgerResult<ApprovalState> {
    for _ in 0..ATTEMPTS {
        let before = state(ledger).await?;
        let Some((event, signed)) = next(&before)? else { return Ok(before) };
        let sealed = before.seal(now(), by.clone(), event, signed).map_err(refused)?;
        if ledger.add_approval_record(&sealed).await? {
            return state(ledger).await;
        }
    }
    Err(LedgerError::Unavailable("other processes change the approvers all the time".to_owned()))
}

/// Keeps what the authenticator counted, if a passkey signed the act. Call it after the signature was accepted.
pub(crate) async fn record_act_passkey(ledger: &dyn Ledger, by: &Actor, now: impl Fn() -> Timestamp) {
    let Some(Presence::Verified { approver, signed: Some(signed), .. }) = &by.presence else { return };
    record_passkey_use(ledger, by, approver, signed.passkey.as_ref(), now).await;
}

/// Keeps what the authenticator counted, if a passkey made the signature. Call it after the signature was accepted.
pub(crate) async fn record_passkey_use(
    ledger: &dyn Ledger,
    by: &Actor,
    approver: &str,
    passkey: Option<&PasskeyAssertion>,
    now: impl Fn() -> Timestamp,
) {
    let Some(assertion) = passkey else { return };
    let used = ApprovalEvent::PasskeyUsed {
        name: approver.to_owned(),
        id: assertion.credential.clone(),
        counter: assertion.counter(),
        user_verified: assertion.user_verified(),
    };
    if let Err(error) = append(ledger, by, now, |_| Ok(Some((used.clone(), None)))).await {
        tracing::error!(event = "passkey_use_not_recorded", %error);
    }
}

/// Records that the tools of a server were accepted. A signature that was recorded before is refused.
pub async fn record_acceptance(
    records: &dyn ApprovalStore,
    by: &Actor,
    server: &ServerName,
    digest: Digest,
    command: &ServerCommand,
    at: Timestamp,
) -> LedgerResult<()> {
    let (server, digest) = (server.to_string(), digest.to_string());
    let (command, program) = (command.digest.to_string(), command.program.clone());
    let accepted = ApprovalEvent::ToolsAccepted { server, digest, command, program };
    let next = |state: &ApprovalState| {
        state.check_signature_unused(by)?;
        Ok(Some((accepted.clone(), None)))
    };
    append(records, by, || at, next).await.map(drop)
}

fn refused(damage: RecordDamage) -> LedgerError {
    match damage {
        RecordDamage::Unsigned { .. } => {
            Refusal::policy_denied("This key does not belong to an enrolled approver any more.").into()
        }
        damage => LedgerError::Internal(damage.to_string()),
    }
}
