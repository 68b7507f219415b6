//! How a push service knows who sends a push (VAPID, RFC 8292): a token, signed with the key that the browser subscribed with.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use planwright_engine::push::PushKey;
use reqwest::Url;
use serde_json::{Value, json};

/// Services take tokens that end within a day.
const VALID_SECONDS: i64 = 12 * 3_600;

/// The header `Authorization` of a push to this address.
pub(super) fn authorization(key: &PushKey, url: &Url, contact: &str, now: Timestamp) -> Result<String, String> {
    let secret = URL_SAFE_NO_PAD.decode(&key.secret).unwrap_or_default();
    let signing = SigningKey::from_slice(&secret).map_err(|_| "the key of the store cannot be read".to_owned())?;
    let encode = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let claims = json!({
        "aud": url.origin().ascii_serialization(),
        "exp": now.as_second() + VALID_SECONDS,
        "sub": contact,
    });
    let signed = format!("{}.{}", encode(&json!({ "typ": "JWT", "alg": "ES256" })), encode(&claims));
    let signature: Signature = signing.sign(signed.as_bytes());
    Ok(format!("vapid t={signed}.{}, k={}", URL_SAFE_NO_PAD.encode(signature.to_bytes()), key.public))
}
