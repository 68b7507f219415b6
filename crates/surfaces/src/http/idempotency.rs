//! Requests that clients may send twice: what has an `Idempotency-Key` is carried out once, and answered the same way again.
//!
//! In this process the second of two equal requests waits for the first. A request that another process began is carried
//! out under the same name, by which the ledger finds what it wrote and the agent finds its outcome.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::ids::RequestId;
use planwright_core::presence::Presence;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_engine::ledger::{Claim, ClaimedRequest, StoredAnswer};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use super::access::client::Client;
use super::app::App;
use super::extract::read_body;
use super::problem::{ApiProblem, ApiResult};

pub(super) const KEY: &str = "idempotency-key";
pub(super) const REPLAYED: &str = "idempotent-replayed";
pub(super) const MAX_KEY: usize = 255;
/// How long an answer is known.
const RETENTION_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// What is known of a request besides what it asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestContext {
    /// The name that it is carried out under; none if its client gave no key.
    pub(crate) id: Option<RequestId>,
    /// The client that sent it.
    pub(crate) client: Client,
    /// The person, if they unlocked their key in this request.
    pub(crate) approver: Option<Actor>,
    /// How the client was recognised otherwise; by the token for `None`.
    pub(crate) presence: Option<Presence>,
}

impl RequestContext {
    /// Adds how the client is recognised.
    pub(crate) async fn of_client(self, app: &App, client: Client) -> ApiResult<Self> {
        let presence = Some(app.recognise(&client).await?);
        Ok(Self { client, presence, ..self })
    }

    /// The person who sent it.
    pub(crate) fn person(&self, app: &App) -> Actor {
        let by_client = || match &self.presence {
            Some(presence) => app.person().recognised(presence.clone()),
            None => app.person(),
        };
        self.approver.clone().unwrap_or_else(by_client)
    }

    /// The engine that carries this request out, where it is one command.
    pub(crate) fn engine(&self, app: &App) -> Engine {
        match &self.id {
            Some(id) => app.engine().as_request(id.clone()),
            None => app.engine().clone(),
        }
    }
}

impl FromRequestParts<App> for RequestContext {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let named: Self = parts.extensions.get().cloned().unwrap_or_default();
        named.of_client(app, parts.extensions.get().cloned().unwrap_or_default()).await
    }
}

/// Requests with a key, each carried out once. A cheap handle.
#[derive(Debug, Clone)]
pub(crate) struct IdempotentRequests {
    app: App,
}

/// Requests with a key that are being carried out in this process, by key.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    requests: Mutex<HashMap<String, InFlightRequest>>,
}

#[derive(Debug)]
struct InFlightRequest {
    fingerprint: String,
    answer: watch::Receiver<Option<StoredAnswer>>,
}

/// Carries out requests that change something to their end, also when the client disconnects, and once.
pub(crate) async fn once(State(once): State<IdempotentRequests>, request: Request, next: Next) -> Response {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return next.run(request).await;
    }
    let tasks = once.app.tasks().clone();
    let work = async move {
        match key(request.headers()) {
            Ok(Some(key)) if request.method() == Method::POST => once.run(&key, request, next).await,
            Ok(_) => Ok(next.run(request).await),
            Err(refusal) => Err(refusal.into()),
        }
    };
    match tasks.spawn(work).await {
        Ok(response) => response.unwrap_or_else(IntoResponse::into_response),
        Err(_) => ApiProblem::new(Refusal::new(RefusalCode::Internal, "The request was interrupted.")).into_response(),
    }
}

/// What is to be done with a request that has a key.
pub(crate) enum Claimed {
    /// To carry it out, under this name.
    New(ClaimGuard, Box<RequestContext>),
    /// To answer as the first time.
    Answered(StoredAnswer),
    /// To wait for the one that is being carried out.
    Follow(FollowedRequest),
}

/// A request that is being carried out in this process.
pub(crate) struct FollowedRequest(watch::Receiver<Option<StoredAnswer>>);

impl FollowedRequest {
    /// The answer; `None` if the request broke off, so that it may be claimed again.
    pub(crate) async fn answer(mut self) -> Option<StoredAnswer> {
        let answered = self.0.wait_for(Option::is_some).await.ok()?;
        answered.clone()
    }
}

impl IdempotentRequests {
    pub(crate) fn new(app: App) -> Self {
        Self { app }
    }

    async fn run(&self, key: &str, request: Request, next: Next) -> ApiResult<Response> {
        let (parts, body) = request.into_parts();
        let sent = read_body(Request::from_parts(parts.clone(), body)).await?;
        if has_passphrase(&sent) {
            return Err(Refusal::invalid("a request with a passphrase takes no Idempotency-Key").into());
        }
        let claimed = claimed_request(&parts, key, &sent);
        let (guard, name) = loop {
            match self.claim(&claimed).await? {
                Claimed::New(guard, name) => break (guard, name),
                Claimed::Answered(answer) => return Ok(replay(answer)),
                Claimed::Follow(followed) => {
                    if let Some(answer) = followed.answer().await {
                        return Ok(replay(answer));
                    }
                }
            }
        };
        let mut request = Request::from_parts(parts, Body::from(sent));
        request.extensions_mut().insert(*name);
        let (parts, body) = next.run(request).await.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
        let body = String::from_utf8_lossy(&bytes).into_owned();
        guard.settle(StoredAnswer { status: parts.status.as_u16(), body }).await;
        Ok(Response::from_parts(parts, Body::from(bytes)))
    }

    /// Finds out whether the request was sent before. The same key with another content is refused.
    pub(crate) async fn claim(&self, claimed: &ClaimedRequest) -> ApiResult<Claimed> {
        let guard = match self.claim_or_follow(claimed) {
            ClaimResult::New(guard) => guard,
            ClaimResult::Follow(followed) => return Ok(Claimed::Follow(followed)),
            ClaimResult::Other => return Err(used_for_something_else()),
        };
        let now = self.app.engine().now();
        let at = match self.app.ledger().claim(claimed, now, RETENTION_TIME).await? {
            Claim::New => now,
            // Another process is at it, or ended in the middle of it. Under the same name nothing is done twice.
            Claim::Begun { at } => at,
            Claim::Answered(answer) => {
                guard.tell(&answer);
                return Ok(Claimed::Answered(answer));
            }
            Claim::Other => return Err(used_for_something_else()),
        };
        let id = Some(name(&claimed.key, at)?);
        Ok(Claimed::New(guard, Box::new(RequestContext { id, ..RequestContext::default() })))
    }

    fn claim_or_follow(&self, claimed: &ClaimedRequest) -> ClaimResult {
        let mut in_flight = self.in_flight();
        if let Some(there) = in_flight.get(&claimed.key) {
            return match there.fingerprint == claimed.fingerprint {
                true => ClaimResult::Follow(FollowedRequest(there.answer.clone())),
                false => ClaimResult::Other,
            };
        }
        let (tell, answer) = watch::channel(None);
        let fingerprint = claimed.fingerprint.clone();
        in_flight.insert(claimed.key.clone(), InFlightRequest { fingerprint, answer });
        ClaimResult::New(ClaimGuard { once: self.clone(), key: claimed.key.clone(), tell })
    }

    fn in_flight(&self) -> MutexGuard<'_, HashMap<String, InFlightRequest>> {
        self.app.in_flight().requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The store keeps a hash of every request that has a key, and from a hash a passphrase can be guessed.
fn has_passphrase(body: &[u8]) -> bool {
    let fields: Option<serde_json::Map<String, serde_json::Value>> = serde_json::from_slice(body).ok();
    fields.is_some_and(|fields| fields.contains_key("passphrase"))
}

enum ClaimResult {
    New(ClaimGuard),
    Follow(FollowedRequest),
    /// The key is being used for another request.
    Other,
}

/// The right to carry a request out in this process, until it is dropped.
pub(crate) struct ClaimGuard {
    once: IdempotentRequests,
    key: String,
    tell: watch::Sender<Option<StoredAnswer>>,
}

impl ClaimGuard {
    /// Keeps or forgets the answer, before the client gets it.
    pub(crate) async fn settle(self, answer: StoredAnswer) {
        let (ledger, key) = (self.once.app.ledger(), self.key.as_str());
        let settled = match retention(answer.status) {
            Retention::Kept => ledger.keep_answer(key, &answer).await,
            Retention::Forgotten => ledger.forget_claim(key).await,
            Retention::Pending => Ok(()),
        };
        // The request is carried out. Sent again it is found under its name, and nothing is done twice.
        if let Err(error) = settled {
            tracing::warn!(event = "answer_not_kept", %error);
        }
        self.tell(&answer);
    }

    fn tell(&self, answer: &StoredAnswer) {
        self.tell.send_replace(Some(answer.clone()));
    }
}

impl Drop for ClaimGuard {
    fn drop(&mut self) {
        self.once.in_flight().remove(&self.key);
    }
}

enum Retention {
    Kept,
    /// It changed nothing, and may be sent again.
    Forgotten,
    /// Its outcome is unknown, or another process resumes it. Sent again, it is found under its name.
    Pending,
}

fn retention(status: u16) -> Retention {
    match StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR) {
        status if status.is_server_error() => Retention::Pending,
        StatusCode::BAD_REQUEST
        | StatusCode::FORBIDDEN
        | StatusCode::NOT_FOUND
        | StatusCode::CONFLICT
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNPROCESSABLE_ENTITY => Retention::Kept,
        status if status.is_success() => Retention::Kept,
        _ => Retention::Forgotten,
    }
}

fn key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let mut values = headers.get_all(KEY).into_iter();
    let (value, more) = (values.next(), values.next());
    let Some(value) = value else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| more.is_none() && (1..=MAX_KEY).contains(&text.len()));
    let text = text.filter(|text| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()));
    let wrong = || Refusal::invalid(format!("An Idempotency-Key is 1 to {MAX_KEY} printable ASCII characters."));
    text.map(|text| Some(text.to_owned())).ok_or_else(wrong)
}

fn claimed_request(parts: &Parts, key: &str, sent: &Bytes) -> ClaimedRequest {
    let (method, path) = (parts.method.as_str(), parts.uri.path());
    let query = parts.uri.query().unwrap_or_default();
    ClaimedRequest {
        key: hashed([method.as_bytes(), path.as_bytes(), key.as_bytes()]),
        fingerprint: hashed([query.as_bytes(), sent]),
    }
}

/// A text that a client of `/ws` sends with a key.
pub(crate) fn claimed_text(session: &SessionIdentity, key: &str, text: &str) -> ClaimedRequest {
    ClaimedRequest {
        key: hashed([b"ws", session.to_string().as_bytes(), key.as_bytes()]),
        fingerprint: hashed([text.as_bytes()]),
    }
}

/// SHA-256 over parts that cannot run into each other, as hexadecimal digits.
pub(crate) fn hashed<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hex::encode(hasher.finalize())
}

/// What the request is called in the ledger: the same for every process that runs it again, another one when the key is used again
/// after it was forgotten.
fn name(key: &str, at: Timestamp) -> Result<RequestId, Refusal> {
    let hash = hashed([key.as_bytes(), &at.as_millisecond().to_be_bytes()]);
    // Time comes first, so that what belongs together lies together in the store.
    RequestId::new(format!("{:012x}-{}", at.as_millisecond(), &hash[..24]))
}

fn replay(answer: StoredAnswer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = if status.is_success() { "application/json" } else { "application/problem+json" };
    let mut response = (status, answer.body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(REPLAYED, HeaderValue::from_static("true"));
    response
}

fn used_for_something_else() -> ApiProblem {
    let message = "This Idempotency-Key was used for another request; take a new one.";
    ApiProblem::new(Refusal::conflict(message)).with_status(StatusCode::UNPROCESSABLE_ENTITY)
}

#[cfg(test)]
mod tests;
