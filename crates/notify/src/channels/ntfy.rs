//! A topic of an ntfy server, which sends a push to the phones that follow it. The push has titles and nothing else, and opens the
//! page where it is decided.

use async_trait::async_trait;
use reqwest::RequestBuilder;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use super::http_target::HttpTarget;
use super::{ChannelError, Notification, NotifiedEvent, NotifyChannel};
use crate::options::NtfyOptions;

#[derive(Debug)]
pub struct Ntfy {
    /// The server; the topic is in the body, so that titles in any script are taken.
    target: HttpTarget,
    topic: String,
    token: Option<SecretString>,
}

impl Ntfy {
    /// The address is that of the topic: `https://ntfy.sh/TOPIC`.
    pub fn new(options: &NtfyOptions) -> Result<Self, String> {
        let NtfyOptions { url, token, allow_private, answer_time } = options.clone();
        let (name, private_setting) = ("the ntfy server", "notify.ntfy_private");
        let mut url = HttpTarget::parse(name, &url)?;
        let path = url.path().trim_end_matches('/').to_owned();
        let (folder, topic) = path.rsplit_once('/').unwrap_or(("", &path));
        if topic.is_empty() {
            return Err("the address of the ntfy topic ends in the topic: https://ntfy.sh/TOPIC".to_owned());
        }
        url.set_path(&format!("{folder}/"));
        let target = HttpTarget { name, private_setting, url, allow_private, answer_time };
        Ok(Self { target, topic: topic.to_owned(), token })
    }
}

#[async_trait]
impl NotifyChannel for Ntfy {
    async fn send(&self, notification: &Notification) -> Result<(), ChannelError> {
        let events = &notification.events;
        let line = |event: &NotifiedEvent| match events.as_slice() {
            [_] => event.title.clone(),
            _ => format!("{}: {}", event.what, event.title),
        };
        let mut body = json!({
            "topic": self.topic,
            "title": notification.subject(),
            "message": events.iter().map(line).collect::<Vec<_>>().join("\n"),
        });
        if let [event] = events.as_slice()
            && let Some(url) = &event.url
        {
            body["click"] = json!(url);
        }
        if events.iter().any(|event| event.escalated) {
            body["priority"] = json!(5);
        }
        let fill = |request: RequestBuilder| {
            let request = request.header("Content-Type", "application/json").body(body.to_string());
            match &self.token {
                Some(token) => request.bearer_auth(token.expose_secret()),
                None => request,
            }
        };
        self.target.post(fill).await
    }
}
