//! The encryption of a push: RFC 8291, with the content encoding `aes128gcm` of RFC 8188 in one record.

use aes_gcm::aead::Aead as _;
use aes_gcm::{Aes128Gcm, KeyInit as _, Nonce};
use hkdf::Hkdf;
use p256::ecdh::diffie_hellman;
use p256::{PublicKey, SecretKey};
use sha2::Sha256;

/// The largest push that every service takes, and so the length of the one record.
const RECORD: u32 = 4_096;
/// The salt, the length of a record, and the sender's key with its length.
const HEADER: usize = 16 + 4 + 1 + 65;
/// What the cipher adds, and the mark of the last record.
const ADDED: usize = 16 + 1;

/// A browser's public key and the secret that goes with it.
#[derive(Debug)]
pub(super) struct Receiver {
    public: PublicKey,
    auth: Vec<u8>,
}

impl Receiver {
    pub(super) fn new(public: &[u8], auth: &[u8]) -> Result<Self, String> {
        let public =
            PublicKey::from_sec1_bytes(public).map_err(|_| "the key of the browser cannot be read".to_owned())?;
        Ok(Self { public, auth: auth.to_owned() })
    }
}

/// With a key pair and a salt that are made for this push.
pub(super) fn encrypt(text: &[u8], receiver: &Receiver) -> Result<Vec<u8>, String> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|error| error.to_string())?;
    encrypt_with(text, receiver, &new_secret()?, &salt)
}

fn encrypt_with(text: &[u8], receiver: &Receiver, sender: &SecretKey, salt: &[u8; 16]) -> Result<Vec<u8>, String> {
    if HEADER + text.len() + ADDED > RECORD as usize {
        return Err("the push is too long".to_owned());
    }
    let (from, to) = (sender.public_key().to_sec1_bytes(), receiver.public.to_sec1_bytes());
    let shared = diffie_hellman(sender.to_nonzero_scalar(), receiver.public.as_affine());
    let info = [b"WebPush: info\0", to.as_ref(), from.as_ref()].concat();
    let key: [u8; 32] = derive(&receiver.auth, shared.raw_secret_bytes(), &info)?;
    let content_key: [u8; 16] = derive(salt, &key, b"Content-Encoding: aes128gcm\0")?;
    let nonce: [u8; 12] = derive(salt, &key, b"Content-Encoding: nonce\0")?;
    let cipher = Aes128Gcm::new_from_slice(&content_key).map_err(|error| error.to_string())?;
    // The byte 2 ends the last record.
    let record = cipher.encrypt(&Nonce::from(nonce), [text, &[2]].concat().as_slice());
    let record = record.map_err(|_| "the push could not be encrypted".to_owned())?;
    let length = u8::try_from(from.len()).map_err(|error| error.to_string())?;
    Ok([salt.as_slice(), &RECORD.to_be_bytes(), &[length], from.as_ref(), record.as_slice()].concat())
}

fn derive<const N: usize>(salt: &[u8], secret: &[u8], info: &[u8]) -> Result<[u8; N], String> {
    let mut derived = [0; N];
    Hkdf::<Sha256>::new(Some(salt), secret).expand(info, &mut derived).map_err(|error| error.to_string())?;
    Ok(derived)
}

fn new_secret() -> Result<SecretKey, String> {
    let mut bytes = [0; 32];
    loop {
        getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
        // Nearly every number is a key.
        if let Ok(secret) = SecretKey::from_slice(&bytes) {
            return Ok(secret);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that meets the unexpected should stop")]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(text).unwrap()
    }

    /// The example of RFC 8291, appendix A.
    #[test]
    fn the_example_of_the_standard_is_encrypted_as_it_says() {
        let public = bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
        let receiver = Receiver::new(&public, &bytes("BTBZMqHH6r4Tts7J_aSIgg")).unwrap();
        let sender = SecretKey::from_slice(&bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")).unwrap();
        let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw").try_into().unwrap();
        let pushed = encrypt_with(b"When I grow up, I want to be a watermelon", &receiver, &sender, &salt).unwrap();
        let expected = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6\
                        TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
        assert_eq!(URL_SAFE_NO_PAD.encode(pushed), expected);
    }

    #[test]
    fn a_push_that_no_service_takes_is_not_encrypted() {
        let public = bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
        let receiver = Receiver::new(&public, &[1; 16]).unwrap();
        let longest = RECORD as usize - HEADER - ADDED;
        assert_eq!(encrypt(&vec![b'x'; longest], &receiver).unwrap().len(), RECORD as usize);
        assert!(encrypt(&vec![b'x'; longest + 1], &receiver).is_err());
    }
}
