//! One JSON-RPC message per line, over the pipes of a program.
//!
//! rmcp has a transport like this. It passes over a line that is not JSON without a word, so that a call whose answer is
//! broken would wait for its time limit; this one fails the call.

use std::io;
use std::time::Duration;

use planwright_engine::line_writer::LineWriter;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RoleClient, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader};

use crate::end_reason::DisconnectReason;

/// The longest message that is read.
const MAX_LINE: usize = 64 * 1024 * 1024;
/// Lines that are no messages. Programs often greet on standard output; one that sends more talks another protocol.
const MAX_FAULTS: u32 = 100;

#[derive(Debug)]
pub(crate) struct ProgramTransport<R> {
    input: BufReader<R>,
    begun: Vec<u8>,
    faults: u32,
    output: LineWriter,
    reason: DisconnectReason,
}

impl<R: AsyncRead + Send + Unpin> ProgramTransport<R> {
    /// Must be called within a runtime.
    pub(crate) fn new<W>(input: R, output: W, reason: DisconnectReason) -> Self
    where
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (input, output) = (BufReader::with_capacity(64 * 1024, input), LineWriter::start(output));
        Self { input, begun: Vec::new(), faults: 0, output, reason }
    }

    /// The next line without its end. It may be dropped at any time; the next call continues.
    async fn next_line(&mut self) -> Option<Vec<u8>> {
        loop {
            let available = match self.input.fill_buf().await {
                Ok(available) => available,
                Err(error) => {
                    self.reason.set(format!("its output cannot be read: {error}"));
                    return None;
                }
            };
            if available.is_empty() {
                return None;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = &available[..end.unwrap_or(available.len())];
            if self.begun.len() + piece.len() > MAX_LINE {
                let most = MAX_LINE / (1024 * 1024);
                self.reason.set(format!("it sent a message of more than {most} MiB, so the connection was ended"));
                return None;
            }
            self.begun.extend_from_slice(piece);
            let taken = piece.len() + usize::from(end.is_some());
            self.input.consume(taken);
            if end.is_some() {
                return Some(std::mem::take(&mut self.begun));
            }
        }
    }

    /// A line that is no message of the protocol: an answer that fails its call, or nothing.
    fn note_fault(&mut self, line: &[u8], error: &serde_json::Error) -> Fault {
        self.faults += 1;
        let shown = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        tracing::debug!(event = "upstream_line_not_read", %error, line = %shown);
        if let Some(id) = answered_request(line) {
            let message = format!("{UNREADABLE}: {error}");
            let answer = JsonRpcMessage::error(ErrorData::internal_error(message, None), Some(id));
            return Fault::Answer(Box::new(answer));
        }
        if self.faults > MAX_FAULTS {
            self.reason.set(format!("it sends lines that are not messages of the protocol, such as {shown:?}"));
            return Fault::End;
        }
        Fault::PassedOver
    }
}

/// The beginning of the message of an error that this side made up.
pub(crate) const UNREADABLE: &str = "planwright: the answer cannot be read";

enum Fault {
    Answer(Box<ServerJsonRpcMessage>),
    PassedOver,
    End,
}

/// The request that a line answers, if it is JSON and names one.
fn answered_request(line: &[u8]) -> Option<RequestId> {
    let value: Value = serde_json::from_slice(line).ok()?;
    if value.get("result").is_none() && value.get("error").is_none() {
        return None;
    }
    match value.get("id")? {
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        _ => None,
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleClient> for ProgramTransport<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.output.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let line = self.next_line().await?;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice(&line) {
                Ok(message) => return Some(message),
                Err(error) => match self.note_fault(&line, &error) {
                    Fault::Answer(answer) => return Some(*answer),
                    Fault::PassedOver => {}
                    Fault::End => return None,
                },
            }
        }
    }

    /// Closes the program's standard input, which tells it to end.
    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.close(Duration::ZERO).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_broken_answer_fails_its_call_and_other_lines_are_passed_over() {
        let reason = DisconnectReason::default();
        let text = "Server is ready\n\n{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\n{\"jsonrpc\":\"1.0\",\"id\":8,\"result\":{}}\n";
        let mut transport = ProgramTransport::new(text.as_bytes(), tokio::io::sink(), reason.clone());
        let Some(JsonRpcMessage::Error(error)) = transport.receive().await else { panic!("no answer") };
        assert_eq!(error.id, Some(RequestId::Number(8)));
        assert!(error.error.message.starts_with(UNREADABLE));
        assert!(transport.receive().await.is_none());
        assert_eq!(reason.get(), None);
    }

    #[tokio::test]
    async fn a_program_that_talks_something_else_is_ended_with_words() {
        let reason = DisconnectReason::default();
        let text = "not JSON at all\n".repeat(200);
        let mut transport = ProgramTransport::new(text.as_bytes(), tokio::io::sink(), reason.clone());
        assert!(transport.receive().await.is_none());
        assert!(reason.get().unwrap().contains("not JSON at all"), "{reason:?}");
    }

    #[tokio::test]
    async fn a_line_without_end_does_not_fill_the_memory() {
        let reason = DisconnectReason::default();
        let endless = tokio::io::repeat(b'x');
        let mut transport = ProgramTransport::new(endless, tokio::io::sink(), reason.clone());
        assert!(transport.receive().await.is_none());
        assert!(reason.get().unwrap().contains("more than 64 MiB"), "{reason:?}");
    }
}
