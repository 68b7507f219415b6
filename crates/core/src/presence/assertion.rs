//! What a passkey says besides its signature.

use serde::{Deserialize, Serialize};

/// The authenticator knew the person, such as by a finger or a code.
const USER_VERIFIED: u8 = 0x04;

/// What a browser returns besides the signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasskeyAssertion {
    /// The credential's id, in base64url.
    pub credential: String,
    /// The JSON text that the browser made and the authenticator signed.
    pub client_data: String,
    /// In hexadecimal digits.
    pub authenticator_data: String,
}

impl PasskeyAssertion {
    /// What the authenticator counted with this signature.
    pub fn counter(&self) -> u32 {
        hex::decode(&self.authenticator_data).ok().and_then(|data| counter(&data)).unwrap_or(0)
    }

    /// Whether the authenticator knew the person, such as by a finger or a code.
    pub fn user_verified(&self) -> bool {
        hex::decode(&self.authenticator_data)
            .is_ok_and(|data| data.get(32).is_some_and(|flags| flags & USER_VERIFIED != 0))
    }
}

/// What the authenticator counted. It stands after the hash of the relying party and the flags.
pub(crate) fn counter(authenticator_data: &[u8]) -> Option<u32> {
    authenticator_data.get(33..37)?.try_into().ok().map(u32::from_be_bytes)
}
