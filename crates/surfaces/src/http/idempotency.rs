//! Requests that clients may send twice: what has an `Idempotency-Key` is carried out once, and answered the same way again.
//!
//! In this process whoever comes second waits for the first. What was begun in another one, or before a crash, is run
//! again under the same name, by which the ledger knows what of it was written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use planwright_core::ids::RequestId;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_engine::agent::Agent;
use planwright_engine::server_ledger::{Claim, ClaimedRequest, StoredAnswer};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use super::app::App;
use super::extract::read_body;
use super::problem::{ApiResult, Problem};

pub(super) const KEY: &str = "idempotency-key";
pub(super) const REPLAYED: &str = "idempotent-replayed";
pub(super) const LONGEST_KEY: usize = 255;
/// How long an answer is known.
const KEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// Under which name a request is carried out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) name: Option<RequestId>,
    /// It was begun before, and nobody knows how far it came.
    pub(crate) again: bool,
}

impl Asked {
    /// The agent that carries this request out.
    pub(crate) fn agent(&self, app: &App) -> Agent {
        match &self.name {
            Some(name) => app.agent().as_request(name.clone()),
            None => app.agent().clone(),
        }
    }

    /// The agent for something else that the same request leads to, under a name of its own.
    pub(crate) fn followed_by(&self, app: &App, what: &str) -> Agent {
        let name = self.name.as_ref().map(|name| RequestId::new(format!("{name}-{what}")));
        match name {
            Some(Ok(name)) => app.agent().as_request(name),
            Some(Err(_)) | None => app.agent().clone(),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        Ok(parts.extensions.get().cloned().unwrap_or_default())
    }
}

/// What is under way in this process.
#[derive(Debug, Clone)]
pub(crate) struct Once {
    app: App,
    underway: Arc<Mutex<HashMap<String, Underway>>>,
}

#[derive(Debug)]
struct Underway {
    fingerprint: String,
    answer: watch::Receiver<Option<StoredAnswer>>,
}

/// Runs what changes something to its end, whoever hangs up, and once.
pub(crate) async fn once(State(once): State<Once>, request: Request, next: Next) -> Response {
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
        Err(_) => Problem::new(Refusal::new(RefusalCode::Internal, "The request broke off.")).into_response(),
    }
}

impl Once {
    pub(crate) fn new(app: App) -> Self {
        Self { app, underway: Arc::default() }
    }

    async fn run(&self, key: &str, request: Request, next: Next) -> ApiResult<Response> {
        let (parts, body) = request.into_parts();
        let sent = read_body(Request::from_parts(parts.clone(), body)).await?;
        let claimed = claimed(&parts, key, &sent);
        let led = loop {
            match self.lead_or_follow(&claimed) {
                Turn::Led(led) => break led,
                Turn::Other => return Err(used_for_something_else()),
                // If whoever was first broke off, somebody else is first.
                Turn::Followed(answer) => match finished(answer).await {
                    Some(answer) => return Ok(replay(answer)),
                    None => continue,
                },
            }
        };
        let now = self.app.engine().now();
        let (at, again) = match self.app.ledger().claim(&claimed, now, KEEP).await? {
            Claim::New => (now, false),
            Claim::Begun { at } => (at, true),
            Claim::Answered(answer) => {
                led.tell(&answer);
                return Ok(replay(answer));
            }
            Claim::Other => return Err(used_for_something_else()),
        };
        let mut request = Request::from_parts(parts, Body::from(sent));
        request.extensions_mut().insert(Asked { name: Some(name(&claimed.key, at)?), again });
        let response = next.run(request).await;
        self.settle(&claimed.key, response, &led).await
    }

    /// Keeps or forgets what came of it, before it is answered.
    async fn settle(&self, key: &str, response: Response, led: &Led) -> ApiResult<Response> {
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
        let body = String::from_utf8_lossy(&bytes).into_owned();
        let answer = StoredAnswer { status: parts.status.as_u16(), body };
        let settled = match fate(parts.status, &parts.headers) {
            Fate::Kept => self.app.ledger().keep_answer(key, &answer).await,
            Fate::Forgotten => self.app.ledger().forget_claim(key).await,
            Fate::Left => Ok(()),
        };
        // What was asked for is done. Sent again it is run under the same name, which does nothing twice.
        if let Err(error) = settled {
            tracing::warn!(event = "answer_not_kept", %error);
        }
        led.tell(&answer);
        Ok(Response::from_parts(parts, Body::from(bytes)))
    }

    fn lead_or_follow(&self, claimed: &ClaimedRequest) -> Turn {
        let mut underway = self.underway();
        if let Some(there) = underway.get(&claimed.key) {
            return match there.fingerprint == claimed.fingerprint {
                true => Turn::Followed(there.answer.clone()),
                false => Turn::Other,
            };
        }
        let (tell, answer) = watch::channel(None);
        let fingerprint = claimed.fingerprint.clone();
        underway.insert(claimed.key.clone(), Underway { fingerprint, answer });
        Turn::Led(Led { once: self.clone(), key: claimed.key.clone(), tell })
    }

    fn underway(&self) -> MutexGuard<'_, HashMap<String, Underway>> {
        self.underway.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Turn {
    Led(Led),
    Followed(watch::Receiver<Option<StoredAnswer>>),
    /// The key is being used for another request.
    Other,
}

/// The right to carry a request out in this process, until it is dropped.
struct Led {
    once: Once,
    key: String,
    tell: watch::Sender<Option<StoredAnswer>>,
}

impl Led {
    fn tell(&self, answer: &StoredAnswer) {
        self.tell.send_replace(Some(answer.clone()));
    }
}

impl Drop for Led {
    fn drop(&mut self) {
        self.once.underway().remove(&self.key);
    }
}

/// The answer of whoever was first; nothing if they broke off.
async fn finished(mut answer: watch::Receiver<Option<StoredAnswer>>) -> Option<StoredAnswer> {
    let answered = answer.wait_for(Option::is_some).await.ok()?;
    answered.clone()
}

enum Fate {
    Kept,
    /// It came to nothing, and may be sent again.
    Forgotten,
    /// Nobody knows what it came to, or it goes on in the next process. Sent again, it is run under the same name.
    Left,
}

fn fate(status: StatusCode, headers: &HeaderMap) -> Fate {
    match status {
        StatusCode::CONFLICT if headers.contains_key(header::RETRY_AFTER) => Fate::Left,
        status if status.is_server_error() => Fate::Left,
        StatusCode::BAD_REQUEST
        | StatusCode::FORBIDDEN
        | StatusCode::NOT_FOUND
        | StatusCode::CONFLICT
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNPROCESSABLE_ENTITY => Fate::Kept,
        status if status.is_success() => Fate::Kept,
        _ => Fate::Forgotten,
    }
}

fn key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let mut values = headers.get_all(KEY).into_iter();
    let (value, more) = (values.next(), values.next());
    let Some(value) = value else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| more.is_none() && (1..=LONGEST_KEY).contains(&text.len()));
    let text = text.filter(|text| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()));
    let wrong = || Refusal::invalid(format!("An Idempotency-Key is 1 to {LONGEST_KEY} printable ASCII characters."));
    text.map(|text| Some(text.to_owned())).ok_or_else(wrong)
}

fn claimed(parts: &Parts, key: &str, sent: &Bytes) -> ClaimedRequest {
    let (method, path) = (parts.method.as_str(), parts.uri.path());
    let query = parts.uri.query().unwrap_or_default();
    ClaimedRequest {
        key: hashed([method.as_bytes(), path.as_bytes(), key.as_bytes()]),
        fingerprint: hashed([query.as_bytes(), sent]),
    }
}

/// SHA-256 over parts that cannot run into each other, as hexadecimal digits.
pub(crate) fn hashed<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the request is called in the ledger: the same for whoever runs it again, another one when the key is used again
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

fn used_for_something_else() -> Problem {
    let words = "This Idempotency-Key was used for another request; take a new one.";
    Problem::new(Refusal::conflict(words)).with_status(StatusCode::UNPROCESSABLE_ENTITY)
}

#[cfg(test)]
mod tests;
