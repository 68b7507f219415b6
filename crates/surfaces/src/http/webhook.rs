//! Updates that Telegram sends to this server. The sender proves itself by a secret in a header instead of the token.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use planwright_core::refusal::Refusal;

use super::app::App;
use super::extract::read_body;
use super::problem::ApiResult;

pub(super) const PATH: &str = "/telegram/webhook";
const SECRET_HEADER: &str = "X-Telegram-Bot-Api-Secret-Token";

/// The part of the process that takes updates.
#[async_trait]
pub trait UpdateReceiver: Debug + Send + Sync {
    /// Whether this is the secret, compared in constant time.
    fn is_secret(&self, presented: &[u8]) -> bool;

    /// Stores one update before it returns. After a refusal Telegram sends it again.
    async fn receive(&self, body: &[u8]) -> Result<(), Refusal>;
}

pub(super) fn router(receiver: Option<Arc<dyn UpdateReceiver>>) -> Router<App> {
    Router::new().route(PATH, post(receive).with_state(receiver))
}

/// Whether the one secret header of a request is right.
pub(super) fn is_authentic(receiver: &dyn UpdateReceiver, headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(SECRET_HEADER).into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    receiver.is_secret(value.as_bytes())
}

/// The middleware has checked the secret.
async fn receive(State(receiver): State<Option<Arc<dyn UpdateReceiver>>>, request: Request) -> ApiResult<StatusCode> {
    let receiver = receiver.ok_or_else(|| Refusal::not_found("this server takes no updates of Telegram"))?;
    receiver.receive(&read_body(request).await?).await?;
    Ok(StatusCode::OK)
}
