//! An approver's key: made at random, sealed with a passphrase, unlocked for signing.

use std::sync::Arc;

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::aead::{Aead as _, KeyInit as _};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use ed25519_dalek::{Signer as _, SigningKey};
use planwright_core::approval::{Approver, ApproverKey, SealedKey};
use planwright_core::presence::{ActSigner, Presence};

use crate::process::close_memory;

/// What one guess costs: 64 MiB of memory and a tenth of a second or more.
const MEMORY_KIB: u32 = 64 * 1024;
const ITERATIONS: u32 = 3;

#[derive(Debug, thiserror::Error)]
pub(super) enum KeyError {
    #[error("the system has no random numbers")]
    NoRandom,
    #[error("the passphrase could not be made into a key")]
    Derivation,
    #[error("the sealed key cannot be read")]
    Unreadable,
}

/// An approver's key in memory. It is wiped when it is dropped.
#[derive(Clone)]
pub struct UnlockedKey {
    approver: String,
    key: SigningKey,
}

impl std::fmt::Debug for UnlockedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UnlockedKey({})", self.approver)
    }
}

impl UnlockedKey {
    pub fn approver(&self) -> &str {
        &self.approver
    }

    /// How a person is recognised who unlocked this key. It signs what they do.
    pub fn presence(&self) -> Presence {
        Presence::unlocked(self.approver(), Arc::new(self.clone()))
    }

    pub(super) fn seal(&self, passphrase: &str) -> Result<SealedKey, KeyError> {
        seal(&self.key, passphrase)
    }
}

impl ActSigner for UnlockedKey {
    fn sign(&self, message: &[u8]) -> String {
        hex::encode(self.key.sign(message).to_bytes())
    }
}

/// A new key of an approver.
pub(super) fn create(approver: &str) -> Result<(ApproverKey, UnlockedKey), KeyError> {
    let key = SigningKey::from_bytes(&random()?);
    Ok((ApproverKey(key.verifying_key().to_bytes()), UnlockedKey { approver: approver.to_owned(), key }))
}

/// `None` if it is not the passphrase or recovery code that the key was sealed with.
pub(super) fn unlock(approver: &Approver, sealed: &SealedKey, secret: &str) -> Result<Option<UnlockedKey>, KeyError> {
    let SealedKey { memory_kib, iterations, salt, nonce, ciphertext } = sealed;
    let bytes = |text: &str| hex::decode(text).map_err(|_| KeyError::Unreadable);
    // A forged record must not make the program use all memory.
    if *memory_kib > 16 * MEMORY_KIB || *iterations > 16 * ITERATIONS {
        return Err(KeyError::Unreadable);
    }
    let cipher = cipher(secret, &bytes(salt)?, *memory_kib, *iterations)?;
    let nonce: [u8; 24] = bytes(nonce)?.try_into().map_err(|_| KeyError::Unreadable)?;
    let Ok(opened) = cipher.decrypt(&XNonce::from(nonce), bytes(ciphertext)?.as_slice()) else { return Ok(None) };
    let seed: [u8; 32] = opened.try_into().map_err(|_| KeyError::Unreadable)?;
    let key = SigningKey::from_bytes(&seed);
    // The public half of the record may have been replaced.
    if key.verifying_key().to_bytes() != approver.key.0 {
        return Err(KeyError::Unreadable);
    }
    Ok(Some(UnlockedKey { approver: approver.name.clone(), key }))
}

/// Random, in hexadecimal digits.
pub(super) fn nonce() -> Result<String, KeyError> {
    random::<16>().map(hex::encode)
}

/// A secret that is given out, in hexadecimal digits.
pub(super) fn secret() -> Result<String, KeyError> {
    random::<32>().map(hex::encode)
}

fn seal(key: &SigningKey, passphrase: &str) -> Result<SealedKey, KeyError> {
    let (salt, nonce) = (random::<16>()?, random::<24>()?);
    let cipher = cipher(passphrase, &salt, MEMORY_KIB, ITERATIONS)?;
    let ciphertext =
        cipher.encrypt(&XNonce::from(nonce), key.to_bytes().as_slice()).map_err(|_| KeyError::Derivation)?;
    Ok(SealedKey {
        memory_kib: MEMORY_KIB,
        iterations: ITERATIONS,
        salt: hex::encode(salt),
        nonce: hex::encode(nonce),
        ciphertext: hex::encode(ciphertext),
    })
}

fn cipher(passphrase: &str, salt: &[u8], memory_kib: u32, iterations: u32) -> Result<XChaCha20Poly1305, KeyError> {
    close_memory();
    let params = Params::new(memory_kib, iterations, 1, Some(32)).map_err(|_| KeyError::Derivation)?;
    let mut key = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.as_bytes(), salt, &mut key)
        .map_err(|_| KeyError::Derivation)?;
    Ok(XChaCha20Poly1305::new(&Key::from(key)))
}

pub(super) fn random<const N: usize>() -> Result<[u8; N], KeyError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| KeyError::NoRandom)?;
    Ok(bytes)
}
