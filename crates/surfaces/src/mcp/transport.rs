//! One JSON-RPC message per line, in and out.
//!
//! rmcp has a transport like this. It passes over lines that are not JSON and lines that are too long without a word,
//! so that a client waits for an answer that never comes; this one answers.

use std::io;
use std::time::Duration;

use planwright_engine::line_writer::LineWriter;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::line::{Line, LineReader};
use super::message::{self, Incoming};
use super::request_order::RequestQueue;

/// How long a client that does not listen is waited for at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct ClientTransport<R> {
    lines: LineReader<R>,
    turns: RequestQueue,
    output: LineWriter,
    /// Cancelled when nothing more will be read.
    closing: CancellationToken,
}

impl<R: AsyncRead + Send + Unpin> ClientTransport<R> {
    /// Must be called within a runtime.
    pub(super) fn new<W>(input: R, output: W, closing: CancellationToken) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (lines, output) = (LineReader::new(input), LineWriter::start(output));
        Self { lines, turns: RequestQueue::new(), output, closing }
    }

    async fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Room for the request and for what may have to be said about the line comes first: this future may be
            // dropped wherever it waits, and a line that was read must not be lost with it. A client that does not read
            // cannot fill the memory: while there is no room, nothing more is read.
            let room = self.turns.room().await?;
            let slot = self.output.reserve().await?;
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
                Incoming::Refused(answer) => slot.send(&answer).ok()?,
                Incoming::Nothing => {}
            }
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for ClientTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.output.send(message)
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
        if !self.output.close(SHUTDOWN_TIMEOUT).await {
            tracing::warn!("the client did not take the last messages");
        }
        Ok(())
    }
}
