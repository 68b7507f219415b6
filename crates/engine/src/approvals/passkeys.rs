//! Passkeys of approvers: enrolled with the passphrase, and used to sign approvals in a browser.

use jiff::Timestamp;
use planwright_core::approval::record::{ApprovalEvent, ApprovalState};
use planwright_core::approval::{Passkey, PasskeyAssertion, challenge};
use planwright_core::plan::approval::ApprovalSignature;
use planwright_core::plan::{Digest, Plan};
use planwright_core::refusal::Refusal;

use super::{Approvals, UnlockedKey};
use crate::ledger::LedgerResult;
use crate::plans::Approving;
use planwright_core::actor::Actor;

/// How many passkeys an approver has at most.
const MAX_PASSKEYS: usize = 20;

/// A passkey as a browser describes it after it made one. The texts but `client_data` are in base64url.
#[derive(Debug, Clone)]
pub struct NewPasskey<'a> {
    pub label: &'a str,
    pub credential: &'a str,
    pub client_data: &'a str,
    pub authenticator_data: &'a str,
    pub public_key: &'a str,
}

/// What a browser has a passkey sign to approve a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasskeyChallenge {
    pub approver: String,
    /// The hash of the canonical approval, in base64url.
    pub challenge: String,
    pub seq: u64,
    pub valid_until: Option<Timestamp>,
    pub nonce: String,
    /// The passkeys that may sign it.
    pub passkeys: Vec<Passkey>,
}

/// The answer to a [`PasskeyChallenge`].
#[derive(Debug, Clone)]
pub struct SignedByPasskey {
    pub approver: String,
    pub seq: u64,
    pub valid_until: Option<Timestamp>,
    pub nonce: String,
    pub assertion: PasskeyAssertion,
    /// In hexadecimal digits.
    pub signature: String,
}

impl From<SignedByPasskey> for ApprovalSignature {
    fn from(signed: SignedByPasskey) -> Self {
        let SignedByPasskey { approver, seq, valid_until, nonce, assertion, signature } = signed;
        Self { approver, seq, valid_until, nonce, signature, passkey: Some(assertion) }
    }
}

impl Approvals {
    /// Enrols a passkey of the approver whose key this is.
    pub async fn add_passkey(
        &self,
        by: &Actor,
        key: &UnlockedKey,
        new: &NewPasskey<'_>,
    ) -> LedgerResult<ApprovalState> {
        let NewPasskey { label, credential, client_data, authenticator_data, public_key } = *new;
        check_label(label)?;
        let now = self.submitter.now();
        let passkey = Passkey::registered(label, credential, client_data, authenticator_data, public_key, now)?;
        let enrolled = self.named(key.approver()).await?.passkeys;
        if enrolled.iter().any(|known| known.id == passkey.id) {
            return Err(Refusal::conflict("This passkey is enrolled already.").into());
        }
        if enrolled.len() >= MAX_PASSKEYS {
            return Err(Refusal::limit(format!("An approver has at most {MAX_PASSKEYS} passkeys.")).into());
        }
        let name = key.approver().to_owned();
        let added = || ApprovalEvent::PasskeyAdded { name: name.clone(), passkey: passkey.clone() };
        self.append_signed(by, Some(key), added).await
    }

    /// Removes a passkey: what it signs counts no more.
    pub async fn remove_passkey(
        &self,
        by: &Actor,
        name: &str,
        id: &str,
        key: &UnlockedKey,
    ) -> LedgerResult<ApprovalState> {
        if !self.named(name).await?.passkeys.iter().any(|passkey| passkey.id == id) {
            return Err(Refusal::not_found(format!("`{name}` has no such passkey.")).into());
        }
        let removed = || ApprovalEvent::PasskeyRemoved { name: name.to_owned(), id: id.to_owned() };
        self.append_signed(by, Some(key), removed).await
    }

    /// What a passkey of the approver signs to approve exactly this.
    pub async fn passkey_challenge(
        &self,
        approver: &str,
        plan: &Plan,
        digest: Digest,
        approving: &Approving,
    ) -> LedgerResult<PasskeyChallenge> {
        let passkeys = self.passkeys_of(approver).await?;
        let (unsigned, message) = self.to_sign(approver, plan, digest, approving).await?;
        let ApprovalSignature { approver, seq, valid_until, nonce, .. } = unsigned;
        Ok(PasskeyChallenge { approver, challenge: challenge(&message), seq, valid_until, nonce, passkeys })
    }
}

fn check_label(label: &str) -> Result<(), Refusal> {
    if (1..=64).contains(&label.chars().count()) && !label.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Refusal::invalid("The name of a passkey has 1 to 64 characters."))
}
