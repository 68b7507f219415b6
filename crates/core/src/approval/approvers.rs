//! The people whose signature makes an approval a verified one.

use ed25519_dalek::{Signature, VerifyingKey};
use hex::FromHex as _;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::passkey::Passkey;
use crate::presence::PasskeyAssertion;
use crate::refusal::Refusal;
use crate::wire::hex_text;

/// The Ed25519 key that an approver's signatures are checked with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ApproverKey(pub [u8; 32]);

impl ApproverKey {
    /// Whether the owner of this key signed exactly this message. `signature` is in hexadecimal digits.
    pub fn verifies(&self, message: &[u8], signature: &str) -> bool {
        let Ok(key) = VerifyingKey::from_bytes(&self.0) else { return false };
        let Ok(signature) = <[u8; 64]>::from_hex(signature) else { return false };
        key.verify_strict(message, &Signature::from_bytes(&signature)).is_ok()
    }
}

hex_text!(ApproverKey, |text| "The key of an approver has 64 hexadecimal digits.");

/// The secret half of an approver's key, encrypted with a key that Argon2id derives from the passphrase. All texts are
/// hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedKey {
    pub memory_kib: u32,
    pub iterations: u32,
    pub salt: String,
    pub nonce: String,
    pub ciphertext: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approver {
    pub name: String,
    pub key: ApproverKey,
    pub sealed: SealedKey,
    /// The approver's key, sealed with the recovery code. Absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<SealedKey>,
    pub enrolled_at: Timestamp,
    /// Keys in browsers, phones and security keys that sign for this approver, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passkeys: Vec<Passkey>,
}

/// A list of approvers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approvers(pub Vec<Approver>);

impl Approvers {
    pub fn named(&self, name: &str) -> Option<&Approver> {
        self.0.iter().find(|approver| approver.name == name)
    }

    /// Whether a new approver of this name could be taken for another. Names are ASCII.
    pub fn is_taken(&self, name: &str) -> bool {
        self.0.iter().any(|approver| approver.name.eq_ignore_ascii_case(name))
    }

    /// Refuses the signature of a passkey that was not counted after its last one.
    pub(crate) fn check_counter(&self, approver: &str, assertion: &PasskeyAssertion) -> Result<(), String> {
        let passkeys = self.named(approver).map(|one| one.passkeys.as_slice()).unwrap_or_default();
        let used = passkeys.iter().find(|passkey| passkey.id == assertion.credential);
        used.map_or(Ok(()), |passkey| passkey.check_counter(assertion))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|approver| approver.name.as_str()).collect()
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.0.retain(|approver| approver.name != name);
    }
}
