//! One JSON-RPC message per line, in and out.
//!
//! rmcp has a transport like this. It passes over lines that are not JSON and lines that are too long without a word,
//! so that a client waits for an answer that never comes; this one answers.

use std::io;
use std::time::Duration;

use rmcp::model::ClientJsonRpcMessage;
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::line::{Line, LineReader};
use super::message::{self, Incoming};
use super::request_order::RequestQueue;

/// Messages that wait to be written. While it is full nothing more is read, so a client that does not listen cannot
/// fill the memory.
const MAX_WAITING: usize = 64;

/// How long a client that does not listen is waited for at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct LineTransport<R> {
    lines: LineReader<R>,
    turns: RequestQueue,
    /// `None` once it is closed.
    outgoing: Option<mpsc::Sender<Outgoing>>,
    writer: JoinHandle<()>,
    /// Cancelled when nothing more will be read.
    closing: CancellationToken,
}

#[derive(Debug)]
struct Outgoing {
    line: Vec<u8>,
    written: Option<oneshot::Sender<()>>,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    /// Must be called within a runtime: a task of its own writes, so that no message is ever cut off half-way.
    pub(super) fn new<W>(input: R, output: W, closing: CancellationToken) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (outgoing, waiting) = mpsc::channel(MAX_WAITING);
        let writer = tokio::spawn(async move {
            if let Err(error) = write_all(output, waiting).await {
                tracing::warn!(%error, "the client does not listen any more");
            }
        });
        Self { lines: LineReader::new(input), turns: RequestQueue::new(), outgoing: Some(outgoing), writer, closing }
    }

    async fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        let outgoing = self.outgoing.clone()?;
        loop {
            // Room for the request and for what may have to be said about the line comes first: this future may be
            // dropped wherever it waits, and a line that was read must not be lost with it.
            let room = self.turns.room().await?;
            let slot = outgoing.reserve().await.ok()?;
            let incoming = match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => message::read(&line),
                Ok(Some(Line::TooLong(hint))) => message::too_long(hint),
                Ok(None) => return None,
                Err(error) => {
                    tracing::warn!(%error, "messages of the client cannot be read any more");
                    return None;
                }
            };
            match incoming {
                Incoming::Message(mut message) => {
                    self.turns.queue(&mut message, room);
                    return Some(*message);
                }
                Incoming::Refused(answer) => slot.send(Outgoing { line: with_end(answer.to_string()), written: None }),
                Incoming::Nothing => {}
            }
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let line = with_end(serde_json::to_string(&message)?);
            let (written, is_written) = oneshot::channel();
            let outgoing = outgoing.ok_or_else(not_connected)?;
            outgoing.send(Outgoing { line, written: Some(written) }).await.map_err(|_| not_connected())?;
            is_written.await.map_err(|_| not_connected())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next_message().await;
        if message.is_none() {
            self.closing.cancel();
        }
        message
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.closing.cancel();
        self.outgoing = None;
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, &mut self.writer).await.is_err() {
            tracing::warn!("the client did not take the last messages");
            self.writer.abort();
        }
        Ok(())
    }
}

async fn write_all<W: AsyncWrite + Unpin>(mut output: W, mut waiting: mpsc::Receiver<Outgoing>) -> io::Result<()> {
    let mut batch = Vec::new();
    while waiting.recv_many(&mut batch, MAX_WAITING).await > 0 {
        for message in &batch {
            output.write_all(&message.line).await?;
        }
        output.flush().await?;
        for message in batch.drain(..) {
            // The sender may have dropped its receiver.
            let _ = message.written.map(|written| written.send(()));
        }
    }
    Ok(())
}

fn with_end(message: String) -> Vec<u8> {
    let mut line = message.into_bytes();
    line.push(b'\n');
    line
}

fn not_connected() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the client does not listen any more")
}
