//! Passkeys: keys of a browser, a phone or a security key (WebAuthn), and the check of what they signed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey as Ed25519Key;
use jiff::Timestamp;
use p256::ecdsa::signature::Verifier as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::presence::{PasskeyAssertion, counter};
use crate::refusal::Refusal;

/// A person touched the authenticator.
const USER_PRESENT: u8 = 0x01;
/// The authenticator data describes a new key.
const NEW_KEY: u8 = 0x40;
/// The hash of the relying party, the flags and the counter.
const HEAD_BYTES: usize = 37;

/// What comes before the point of a P-256 key in the form that browsers export (SubjectPublicKeyInfo).
const P256_PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// What stands before the 32 bytes of an Ed25519 key in its DER encoding.
const ED25519_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// A passkey of an approver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passkey {
    /// The credential's id, in base64url.
    pub id: String,
    /// What the person calls it.
    pub label: String,
    /// The host name that it was made for. Browsers use it nowhere else.
    pub relying_party: String,
    /// The page that it was made on: scheme, host and port. Absent in those of earlier versions, of which only the host is
    /// compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What the authenticator counted with its last signature; 0 if it does not count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counter: u32,
    pub key: PasskeyKey,
    pub added_at: Timestamp,
}

/// The public key, in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "algorithm", content = "key", rename_all = "lowercase")]
pub enum PasskeyKey {
    /// ECDSA on P-256 with SHA-256: the uncompressed point.
    Es256(String),
    Ed25519(String),
}

/// What a browser has the passkey sign for a message: its hash, in base64url.
pub fn challenge(message: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(message))
}

impl Passkey {
    /// A passkey that a browser just made. `public_key` and `authenticator_data` are in base64url. Which challenge it was
    /// made with says nothing about the key: an enrolled approver signs the enrolment.
    pub fn registered(
        label: &str,
        credential: &str,
        client_data: &str,
        authenticator_data: &str,
        public_key: &str,
        at: Timestamp,
    ) -> Result<Self, Refusal> {
        let unusable = |why: &str| Refusal::invalid(format!("The passkey cannot be used: {why}."));
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).map_err(|_| unusable("it is not in base64url"));
        let Page { origin, host: relying_party } =
            Page::of(client_data, "webauthn.create").ok_or_else(|| unusable("it is for another page"))?;
        let data = bytes(authenticator_data)?;
        let id = bytes(credential)?;
        let made = data.len() > HEAD_BYTES + 18
            && data[..32] == Sha256::digest(relying_party.as_bytes())[..]
            && data[32] & (USER_PRESENT | NEW_KEY) == USER_PRESENT | NEW_KEY;
        // The id of the authenticator's model (16 bytes) and the length of the credential's id (2) come before the id.
        let named = data.get(HEAD_BYTES + 18..).is_some_and(|rest| rest.starts_with(&id)) && !id.is_empty();
        if !made || !named {
            return Err(unusable("the authenticator did not make it for this page"));
        }
        let key = PasskeyKey::of_exported(&bytes(public_key)?)
            .ok_or_else(|| unusable("its key is of a kind that Planwright does not know"))?;
        Ok(Self {
            id: credential.to_owned(),
            label: label.to_owned(),
            relying_party,
            origin: Some(origin),
            counter: counter(&data).unwrap_or(0),
            key,
            added_at: at,
        })
    }

    /// Whether this passkey signed exactly this message. `signature` is in hexadecimal digits.
    pub fn verifies(&self, message: &[u8], assertion: &PasskeyAssertion, signature: &str) -> bool {
        let Ok(signature) = hex::decode(signature) else { return false };
        let Ok(mut signed) = hex::decode(&assertion.authenticator_data) else { return false };
        let for_page = Page::of(&assertion.client_data, "webauthn.get").is_some_and(|page| match &self.origin {
            Some(origin) => page.origin == *origin,
            None => page.host == self.relying_party || page.host.ends_with(&format!(".{}", self.relying_party)),
        });
        let client_data: Option<Value> = serde_json::from_str(&assertion.client_data).ok();
        let asked = client_data.is_some_and(|data| data["challenge"] == challenge(message));
        let touched = signed.len() >= HEAD_BYTES
            && signed[..32] == Sha256::digest(self.relying_party.as_bytes())[..]
            && signed[32] & USER_PRESENT != 0;
        signed.extend_from_slice(&Sha256::digest(assertion.client_data.as_bytes()));
        assertion.credential == self.id && for_page && asked && touched && self.key.verifies(&signed, &signature)
    }

    /// Refuses a signature that was not counted after the last one: a copy of the passkey made one of the two. An authenticator
    /// that does not count says 0.
    pub fn check_counter(&self, assertion: &PasskeyAssertion) -> Result<(), String> {
        let counted = assertion.counter();
        if counted > self.counter || (counted, self.counter) == (0, 0) {
            return Ok(());
        }
        Err(format!(
            "the passkey `{}` counted {counted}, and {} before: it may have been copied. Remove it and add another one",
            self.label, self.counter
        ))
    }
}

impl PasskeyKey {
    fn of_exported(bytes: &[u8]) -> Option<Self> {
        if let Some(point) = bytes.strip_prefix(&P256_PREFIX) {
            p256::ecdsa::VerifyingKey::from_sec1_bytes(point).ok()?;
            return Some(Self::Es256(hex::encode(point)));
        }
        let key: [u8; 32] = bytes.strip_prefix(&ED25519_PREFIX)?.try_into().ok()?;
        Ed25519Key::from_bytes(&key).ok()?;
        Some(Self::Ed25519(hex::encode(key)))
    }

    fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        let checked = match self {
            Self::Es256(point) => (|| {
                let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(&hex::decode(point).ok()?).ok()?;
                key.verify(signed, &p256::ecdsa::Signature::from_der(signature).ok()?).ok()
            })(),
            Self::Ed25519(key) => (|| {
                let key = Ed25519Key::from_bytes(&hex::decode(key).ok()?.try_into().ok()?).ok()?;
                let signature = ed25519_dalek::Signature::from_bytes(signature.try_into().ok()?);
                key.verify_strict(signed, &signature).ok()
            })(),
        };
        checked.is_some()
    }
}

fn is_zero(counter: &u32) -> bool {
    *counter == 0
}

/// The page that asked for something.
struct Page {
    /// Scheme, host and port.
    origin: String,
    host: String,
}

impl Page {
    /// `None` if the page was within another one, or came through a network in the clear.
    fn of(client_data: &str, kind: &str) -> Option<Self> {
        let data: Value = serde_json::from_str(client_data).ok()?;
        if data["type"] != kind || data["crossOrigin"] == true {
            return None;
        }
        let origin = data["origin"].as_str()?;
        let (encrypted, rest) = match (origin.strip_prefix("https://"), origin.strip_prefix("http://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return None,
        };
        let host = rest.split(':').next()?.to_owned();
        let is_private = encrypted || host == "localhost" || host.ends_with(".localhost");
        is_private.then(|| Self { origin: origin.to_owned(), host })
    }
}
