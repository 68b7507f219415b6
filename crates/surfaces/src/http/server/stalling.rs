//! A connection that is given up when its client takes nothing any more, and that ends when everything is cut. It stays
//! what it is when it becomes a WebSocket.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::accepting::Place;

#[derive(Debug)]
pub(super) struct Stalling {
    stream: TcpStream,
    patience: Duration,
    /// Since nothing could be written; `None` while the client takes what it is sent.
    stalled: Option<Pin<Box<Sleep>>>,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    _place: Place,
}

impl Stalling {
    pub(super) fn new(stream: TcpStream, patience: Duration, cut: CancellationToken, place: Place) -> Self {
        Self { stream, patience, stalled: None, cut: Box::pin(cut.cancelled_owned()), _place: place }
    }

    fn is_cut(&mut self, cx: &mut Context<'_>) -> bool {
        self.cut.as_mut().poll(cx).is_ready()
    }

    /// What came of writing, unless nothing came of it for too long.
    fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        if self.is_cut(cx) {
            return Poll::Ready(Err(ErrorKind::ConnectionAborted.into()));
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Stalling {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            Poll::Pending if self.is_cut(cx) => Poll::Ready(Err(ErrorKind::ConnectionAborted.into())),
            read => read,
        }
    }
}

impl AsyncWrite for Stalling {
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

    use super::super::accepting::Place;
    use super::*;

    async fn pair(patience: Duration, cut: &CancellationToken) -> (Stalling, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        (Stalling::new(stream, patience, cut.clone(), Place::for_tests()), client)
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_given_up() {
        let (mut stream, client) = pair(Duration::from_millis(50), &CancellationToken::new()).await;
        let megabyte = vec![0; 1 << 20];
        // What fits into the buffers on the way is taken by nobody.
        let error = loop {
            if let Err(error) = stream.write_all(&megabyte).await {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        drop(client);
    }

    #[tokio::test]
    async fn a_client_that_takes_something_now_and_then_is_waited_for() {
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
        assert!(is_fresh, "the time begins anew with everything that is taken");
    }

    #[tokio::test]
    async fn whoever_waits_is_woken_when_everything_is_cut() {
        let cut = CancellationToken::new();
        let (mut stream, _client) = pair(Duration::from_secs(3600), &cut).await;
        let reading = tokio::spawn(async move { stream.read_u8().await });
        tokio::task::yield_now().await;
        cut.cancel();
        assert_eq!(reading.await.unwrap().unwrap_err().kind(), ErrorKind::ConnectionAborted);
    }
}
