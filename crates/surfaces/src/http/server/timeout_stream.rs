//! A TCP stream that fails when the client reads nothing for too long, or when the server cuts all connections. The same
//! stream carries a WebSocket after the upgrade.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::connection_slots::ConnectionSlot;

#[derive(Debug)]
pub(super) struct TimeoutStream {
    stream: TcpStream,
    write_timeout: Duration,
    /// Set while nothing can be written because the client does not read.
    stalled: Option<Pin<Box<Sleep>>>,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    _slot: Arc<ConnectionSlot>,
}

impl TimeoutStream {
    pub(super) fn new(
        stream: TcpStream,
        write_timeout: Duration,
        cut: CancellationToken,
        slot: Arc<ConnectionSlot>,
    ) -> Self {
        Self { stream, write_timeout, stalled: None, cut: Box::pin(cut.cancelled_owned()), _slot: slot }
    }

    fn is_cut(&mut self, cx: &mut Context<'_>) -> bool {
        self.cut.as_mut().poll(cx).is_ready()
    }

    /// The result of a write, or an error if the client has not read for too long.
    fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        if self.is_cut(cx) {
            return Poll::Ready(Err(ErrorKind::ConnectionAborted.into()));
        }
        let write_timeout = self.write_timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(write_timeout)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for TimeoutStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            Poll::Pending if self.is_cut(cx) => Poll::Ready(Err(ErrorKind::ConnectionAborted.into())),
            read => read,
        }
    }
}

impl AsyncWrite for TimeoutStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.watch(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.watch(cx, closed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::super::connection_slots::{ConnectionSlots, SlotLimits};
    use super::*;

    async fn pair(write_timeout: Duration, cut: &CancellationToken) -> (TimeoutStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let slots = ConnectionSlots::new(SlotLimits { total: 1, unauthenticated: 1, unauthenticated_per_address: 0 });
        let slot = slots.take(std::net::Ipv4Addr::LOCALHOST.into()).unwrap();
        (TimeoutStream::new(stream, write_timeout, cut.clone(), slot), client)
    }

    #[tokio::test]
    async fn a_write_fails_when_the_client_reads_nothing() {
        let (mut stream, client) = pair(Duration::from_millis(50), &CancellationToken::new()).await;
        let megabyte = vec![0; 1 << 20];
        // The buffers of the operating system take some of it.
        let error = loop {
            if let Err(error) = stream.write_all(&megabyte).await {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        drop(client);
    }

    #[tokio::test]
    async fn a_write_waits_for_a_client_that_reads_slowly() {
        let (mut stream, mut client) = pair(Duration::from_secs(3600), &CancellationToken::new()).await;
        let writing = tokio::spawn(async move {
            let written = stream.write_all(&vec![7; 16 << 20]).await;
            (written, stream.stalled.is_none())
        });
        let mut bytes = Vec::new();
        client.read_to_end(&mut bytes).await.unwrap();
        assert_eq!(bytes.len(), 16 << 20);
        let (written, is_fresh) = writing.await.unwrap();
        written.unwrap();
        assert!(is_fresh, "the timeout starts again with every write");
    }

    #[tokio::test]
    async fn a_waiting_read_fails_when_all_connections_are_cut() {
        let cut = CancellationToken::new();
        let (mut stream, _client) = pair(Duration::from_secs(3600), &cut).await;
        let reading = tokio::spawn(async move { stream.read_u8().await });
        tokio::task::yield_now().await;
        cut.cancel();
        assert_eq!(reading.await.unwrap().unwrap_err().kind(), ErrorKind::ConnectionAborted);
    }
}
