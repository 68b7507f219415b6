//! Sends updates to the address that the bot named, one after another, each until it is answered with success.

use std::time::Duration;

use axum::response::Response;
use serde_json::{Value, json};

use super::FakeBotApi;
use super::methods::{error, ok};

/// Between two tries. Telegram takes longer.
const PAUSE: Duration = Duration::from_millis(50);
const ANSWER: Duration = Duration::from_secs(20);

#[derive(Debug, Default)]
pub(super) struct Webhook {
    /// The address and the secret.
    pub(super) named: Option<(String, String)>,
    /// Where updates are sent instead.
    pub(super) servers: Vec<String>,
    pub(super) statuses: Vec<u16>,
    sent: usize,
}

pub(super) fn set(api: &FakeBotApi, params: &Value) -> Response {
    let (url, secret) = (params["url"].as_str().unwrap_or_default(), params["secret_token"].as_str());
    if !url.starts_with("https://") {
        return error(400, "Bad Request: bad webhook: An HTTPS URL must be provided for webhook");
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if secret.is_some_and(|secret| secret.is_empty() || secret.len() > 256 || !secret.bytes().all(plain)) {
        return error(400, "Bad Request: secret token contains unallowed characters");
    }
    api.state().webhook.named = Some((url.to_owned(), secret.unwrap_or_default().to_owned()));
    ok(json!(true))
}

pub(super) fn delete(api: &FakeBotApi) -> Response {
    api.state().webhook.named = None;
    ok(json!(true))
}

pub(super) fn info(api: &FakeBotApi) -> Response {
    let state = api.state();
    let url = state.webhook.named.as_ref().map(|(url, _)| url.clone()).unwrap_or_default();
    ok(json!({ "url": url, "has_custom_certificate": false, "pending_update_count": state.updates.len() }))
}

/// Runs as long as the server.
pub(super) async fn push(api: FakeBotApi) {
    let client = reqwest::Client::builder().no_proxy().timeout(ANSWER).build().unwrap();
    let mut changed = api.shared.changed.subscribe();
    loop {
        let Some((address, secret, update)) = next(&api) else {
            if changed.changed().await.is_err() {
                return;
            }
            continue;
        };
        let request = client
            .post(&address)
            .header("Content-Type", "application/json")
            .header("X-Telegram-Bot-Api-Secret-Token", secret)
            .body(update.to_string());
        let status = request.send().await.map_or(0, |response| response.status().as_u16());
        {
            let mut state = api.state();
            state.webhook.statuses.push(status);
            if (200..300).contains(&status) && state.updates.front() == Some(&update) {
                state.updates.pop_front();
            }
        }
        api.changed();
        if !(200..300).contains(&status) {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// The address, the secret and the first update, if there is a webhook and an update.
fn next(api: &FakeBotApi) -> Option<(String, String, Value)> {
    let mut state = api.state();
    let (_, secret) = state.webhook.named.clone()?;
    let update = state.updates.front().cloned()?;
    let webhook = &mut state.webhook;
    let address = webhook.servers.get(webhook.sent % webhook.servers.len().max(1)).cloned()?;
    webhook.sent += 1;
    Some((address, secret, update))
}
