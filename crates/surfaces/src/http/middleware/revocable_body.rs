//! A streamed response ends when the credentials of its request are revoked.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// A response with a known length is already complete and is not touched.
pub(super) fn until(response: Response, end: CancellationToken) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|inner| Body::new(RevocableBody { inner, end: Box::pin(end.cancelled_owned()) }))
}

#[derive(Debug, thiserror::Error)]
#[error("the credentials of the request were revoked")]
struct Revoked;

struct RevocableBody {
    inner: Body,
    end: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl HttpBody for RevocableBody {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.end.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err(Revoked.into())));
        }
        Pin::new(&mut self.inner).poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
