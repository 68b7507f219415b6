//! A future that panics has failed. It takes nothing else down with it.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// The output of the future; `None` if it panicked.
pub(crate) async fn catch_panic<T>(what: &str, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|context| {
        // Nothing of the future is used after a panic, so nothing half-done is ever seen.
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
