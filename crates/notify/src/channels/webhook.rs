//! A webhook: JSON with a signature.

use async_trait::async_trait;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use reqwest::RequestBuilder;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

use super::http_target::HttpTarget;
use super::{ChannelError, Notification, NotifyChannel};
use crate::options::WebhookOptions;

#[derive(Debug)]
pub struct Webhook {
    target: HttpTarget,
    secret: Option<SecretString>,
}

impl Webhook {
    pub fn new(options: &WebhookOptions) -> Result<Self, String> {
        let WebhookOptions { url, secret, allow_private, answer_time } = options.clone();
        let (name, private_setting) = ("the webhook", "notify.webhook_private");
        let url = HttpTarget::parse(name, &url)?;
        Ok(Self { target: HttpTarget { name, private_setting, url, allow_private, answer_time }, secret })
    }

    fn signature(&self, at: &str, body: &str) -> Option<String> {
        let secret = self.secret.as_ref()?.expose_secret();
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
        mac.update(at.as_bytes());
        mac.update(b".");
        mac.update(body.as_bytes());
        Some(format!("sha256={}", hex::encode(mac.finalize().into_bytes())))
    }
}

#[async_trait]
impl NotifyChannel for Webhook {
    async fn send(&self, notification: &Notification) -> Result<(), ChannelError> {
        let body = serde_json::to_string(notification).map_err(|error| ChannelError::Permanent(error.to_string()))?;
        let at = Timestamp::now().as_second().to_string();
        let signature = self.signature(&at, &body);
        let fill = |request: RequestBuilder| {
            let request = request
                .header("Content-Type", "application/json")
                .header("Idempotency-Key", &notification.id)
                .header("X-Planwright-Timestamp", &at)
                .body(body);
            match signature {
                Some(signature) => request.header("X-Planwright-Signature", signature),
                None => request,
            }
        };
        self.target.post(fill).await
    }
}
