//! Limits on the size and duration of a request's body. They hold for every extractor.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use planwright_core::refusal::{Refusal, RefusalCode};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::http::problem::{ApiProblem, ApiResult};

/// Stored in the extensions of the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimits {
    pub(crate) body_bytes: usize,
    pub(crate) body_time: Duration,
    pub(crate) json_depth: usize,
}

impl Default for BodyLimits {
    fn default() -> Self {
        let limits = crate::http::ServerLimits::default();
        Self { body_bytes: limits.body_bytes, body_time: limits.body_time, json_depth: limits.json_depth }
    }
}

impl BodyLimits {
    pub(super) fn of(request: &Request) -> Self {
        request.extensions().get().copied().unwrap_or_default()
    }

    /// Limits the body of a request. A declared length over the limit is refused before the body is read.
    pub(crate) fn apply(self, request: Request) -> ApiResult<Request> {
        if request.body().size_hint().lower() > self.body_bytes as u64 {
            return Err(too_large(self.body_bytes));
        }
        let mut request = request;
        request.extensions_mut().insert(self);
        if request.body().is_end_stream() {
            return Ok(request);
        }
        let until = Instant::now() + self.body_time;
        Ok(request.map(|inner| Body::new(LimitedBody { inner, left: self.body_bytes, until, waiting: None })))
    }
}

/// Why a body was not read completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum BodyError {
    #[error("the body is too large")]
    TooLarge,
    #[error("the body did not arrive in time")]
    TooSlow,
}

/// Reads the whole body.
pub(super) async fn read(body: Body, limit: usize) -> ApiResult<Bytes> {
    match body.collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) => Err(match body_error(&error) {
            Some(BodyError::TooLarge) => too_large(limit),
            Some(BodyError::TooSlow) => {
                let refusal = Refusal::new(RefusalCode::LimitExceeded, "the body did not arrive in time");
                ApiProblem::new(refusal).with_status(StatusCode::REQUEST_TIMEOUT)
            }
            None => Refusal::invalid("the connection ended before the body was complete").into(),
        }),
    }
}

fn too_large(limit: usize) -> ApiProblem {
    Refusal::limit(format!("the body is larger than {limit} bytes")).into()
}

fn body_error(error: &(dyn std::error::Error + 'static)) -> Option<BodyError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(body_error) = error.downcast_ref() {
            return Some(*body_error);
        }
        next = error.source();
    }
    None
}

struct LimitedBody {
    inner: Body,
    left: usize,
    until: Instant,
    /// Only while waiting; most bodies arrive at once.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl HttpBody for LimitedBody {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(cx) else {
            let until = self.until;
            let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep_until(until)));
            ready!(waiting.as_mut().poll(cx));
            return Poll::Ready(Some(Err(BodyError::TooSlow.into())));
        };
        Poll::Ready(match frame {
            Some(Ok(frame)) => {
                let length = frame.data_ref().map_or(0, Bytes::len);
                match self.left.checked_sub(length) {
                    Some(left) => {
                        self.left = left;
                        Some(Ok(frame))
                    }
                    None => Some(Err(BodyError::TooLarge.into())),
                }
            }
            Some(Err(error)) => Some(Err(error.into())),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
