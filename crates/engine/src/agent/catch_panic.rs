//! A tool or a model that panics has failed. It takes nothing else down with it.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// What the work comes to; `None` if it panicked.
pub(super) async fn catch_panic<T>(what: &str, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|context| {
        // Nothing of the work is looked at any more after a panic, so nothing half-done is ever seen.
        catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))).map_or_else(
            |_| {
                tracing::error!(event = "panicked", what);
                Poll::Ready(None)
            },
            |polled| polled.map(Some),
        )
    })
    .await
}
