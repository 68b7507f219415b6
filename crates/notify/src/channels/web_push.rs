//! Pushes to browsers in which a person switched them on (Web Push, RFC 8030). Only the browser can read them.
//!
//! - `encryption`: what is sent, encrypted for one browser
//! - `vapid`: how the push service knows the sender

mod encryption;
mod vapid;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use planwright_engine::push::{PushKey, PushSubscription};
use reqwest::RequestBuilder;
use serde_json::json;

use super::http_target::HttpTarget;
use super::{ChannelError, Notification, NotifiedEvent};
use crate::options::PushOptions;

/// How long the push service keeps a push for a browser that is not reached.
const KEEP: Duration = Duration::from_secs(24 * 3_600);
/// A push is shown in a few lines.
const MAX_EVENTS: usize = 5;
const MAX_DETAILS: usize = 600;

/// One browser.
#[derive(Debug)]
pub struct WebPush<'a> {
    pub options: &'a PushOptions,
    pub key: &'a PushKey,
    pub subscription: &'a PushSubscription,
}

impl WebPush<'_> {
    /// Sends a push. `details` is shown below the titles.
    pub async fn send(&self, notification: &Notification, details: &str, now: Timestamp) -> Result<(), ChannelError> {
        let target = self.target()?;
        let body = encryption::encrypt(&text(notification, details), &self.receiver()?).map_err(wrong)?;
        let authorization = vapid::authorization(self.key, &target.url, &self.contact(), now).map_err(wrong)?;
        let urgency = if notification.events.iter().any(|event| event.escalated) { "high" } else { "normal" };
        let fill = |request: RequestBuilder| {
            request
                .header("Authorization", authorization)
                .header("Content-Encoding", "aes128gcm")
                .header("Content-Type", "application/octet-stream")
                .header("TTL", KEEP.as_secs())
                .header("Urgency", urgency)
                .body(body)
        };
        match target.post_for_status(fill).await? {
            404 | 410 => Err(ChannelError::Gone("the browser takes no pushes any more".to_owned())),
            413 => Err(ChannelError::Permanent("the push is too long for the push service".to_owned())),
            status => target.outcome(status),
        }
    }

    fn target(&self) -> Result<HttpTarget, ChannelError> {
        let PushOptions { allow_private, answer_time, .. } = *self.options;
        let (name, private_setting) = ("the push service", "notify.push_private");
        let url = HttpTarget::parse(name, &self.subscription.endpoint).map_err(ChannelError::Permanent)?;
        if url.scheme() != "https" && !allow_private {
            return Err(ChannelError::Permanent(format!("{name} is reached with https:// only")));
        }
        Ok(HttpTarget { name, private_setting, url, allow_private, answer_time })
    }

    fn receiver(&self) -> Result<encryption::Receiver, ChannelError> {
        let read = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
        let PushSubscription { p256dh, auth, .. } = self.subscription;
        encryption::Receiver::new(&read(p256dh), &read(auth)).map_err(wrong)
    }

    /// Where the operator of a push service finds whoever sends too much: services ask for a web or mail address.
    fn contact(&self) -> String {
        let origin = &self.subscription.origin;
        if origin.starts_with("https://") { origin.clone() } else { "mailto:planwright@localhost".to_owned() }
    }
}

fn wrong(what: String) -> ChannelError {
    ChannelError::Permanent(what)
}

/// What the service worker of the dashboard shows (`dashboard/public/sw.js`).
fn text(notification: &Notification, details: &str) -> Vec<u8> {
    let events = &notification.events;
    let line = |event: &NotifiedEvent| match events.as_slice() {
        [_] => event.title.clone(),
        _ => format!("{}: {}", event.what, event.title),
    };
    let mut lines: Vec<_> = events.iter().take(MAX_EVENTS).map(line).collect();
    if events.len() > MAX_EVENTS {
        lines.push(format!("and {} more", events.len() - MAX_EVENTS));
    }
    lines.extend(Some(details.chars().take(MAX_DETAILS).collect::<String>()).filter(|details| !details.is_empty()));
    let path = match events.as_slice() {
        [event] => event.path.as_str(),
        _ => "/",
    };
    // The same thing told again replaces the push of before.
    let tag = match events.as_slice() {
        [event] => event.id.as_str(),
        _ => notification.id.as_str(),
    };
    let push = json!({ "title": notification.subject(), "body": lines.join("\n"), "path": path, "tag": tag });
    push.to_string().into_bytes()
}
