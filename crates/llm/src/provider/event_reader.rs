//! Splits the body of an answer into events: server-sent events, or lines of JSON.
//!
//! Every byte is looked at once, and no event grows beyond its limit, so the cost is linear and the memory bounded
//! whatever a server sends.

use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use crate::options::{ReplyLimits, Timeouts};
use crate::provider::attempt_error::AttemptError;
use crate::provider::provider_info::ProviderInfo;
use crate::provider::reply_builder::TooLarge;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    ServerSentEvents,
    /// One JSON value on each line.
    JsonLines,
}

#[derive(Debug)]
pub(super) struct EventReader<'a> {
    info: &'a ProviderInfo,
    limits: &'a ReplyLimits,
    timeouts: &'a Timeouts,
    response: Response,
    splitter: Splitter,
    received: u64,
    /// When the first byte has to have arrived.
    first_byte_due: Instant,
}

impl<'a> EventReader<'a> {
    pub(super) fn new(
        info: &'a ProviderInfo,
        limits: &'a ReplyLimits,
        timeouts: &'a Timeouts,
        first_byte_due: Instant,
        framing: Framing,
        response: Response,
    ) -> Self {
        Self { info, limits, timeouts, response, splitter: Splitter::new(framing), received: 0, first_byte_due }
    }

    /// The data of the next event; `None` at the end of the body.
    pub(super) async fn next(&mut self) -> Result<Option<String>, AttemptError> {
        loop {
            if let Some(data) = self
                .splitter
                .pop(self.limits.event_bytes)
                .map_err(|limit| AttemptError::too_large(self.info, &limit))?
            {
                return Ok(Some(data));
            }
            // Every byte is a sign of life, also a comment that only keeps the connection open.
            let (due, waited) = if self.received == 0 {
                (self.first_byte_due, self.timeouts.first_byte)
            } else {
                (Instant::now() + self.timeouts.between_reads, self.timeouts.between_reads)
            };
            match timeout_at(due, self.response.chunk()).await {
                Err(_) => return Err(AttemptError::stalled(self.info, waited)),
                Ok(Err(_)) if self.received > 0 => return Err(self.ended_early()),
                Ok(Err(error)) => return Err(AttemptError::unreachable(self.info, &error)),
                Ok(Ok(None)) => return Ok(self.splitter.rest()),
                Ok(Ok(Some(bytes))) => {
                    self.received += bytes.len() as u64;
                    if self.received > self.limits.stream_bytes {
                        let limit = TooLarge::Stream(self.limits.stream_bytes);
                        return Err(AttemptError::too_large(self.info, &limit));
                    }
                    self.splitter.push(&bytes);
                }
            }
        }
    }

    /// The body ended before the reply did.
    pub(super) fn ended_early(&self) -> AttemptError {
        let foreign = self.received > 0 && !self.splitter.found_data;
        if foreign { AttemptError::not_a_model(self.info) } else { AttemptError::ended_early(self.info) }
    }
}

#[derive(Debug)]
struct Splitter {
    framing: Framing,
    /// Bytes that were received and not read yet.
    input: Vec<u8>,
    at: usize,
    /// The line that is being read, without its end.
    line: Vec<u8>,
    /// The data of the event that is being read.
    data: Option<String>,
    /// The last line ended in a carriage return, whose line feed may follow.
    after_carriage_return: bool,
    /// Whether anything had the form of an event.
    found_data: bool,
}

impl Splitter {
    fn new(framing: Framing) -> Self {
        Self {
            framing,
            input: Vec::new(),
            at: 0,
            line: Vec::new(),
            data: None,
            after_carriage_return: false,
            found_data: false,
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.input.drain(..self.at);
        self.at = 0;
        self.input.extend_from_slice(bytes);
    }

    /// The next whole event among what was received; an error if it has more than `limit` bytes.
    fn pop(&mut self, limit: usize) -> Result<Option<String>, TooLarge> {
        while self.at < self.input.len() {
            if std::mem::take(&mut self.after_carriage_return) && self.input[self.at] == b'\n' {
                self.at += 1;
                continue;
            }
            let rest = &self.input[self.at..];
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let taken = &rest[..end.unwrap_or(rest.len())];
            if self.line.len() + self.data.as_ref().map_or(0, String::len) + taken.len() > limit {
                return Err(TooLarge::Event(limit));
            }
            self.line.extend_from_slice(taken);
            self.at += taken.len();
            let Some(end) = end else { break };
            self.after_carriage_return = rest[end] == b'\r';
            self.at += 1;
            if let Some(data) = self.end_line() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// Takes in the line that ended, and gives the event if that was its last line.
    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        match self.framing {
            Framing::JsonLines => {
                let line = line.trim();
                self.found_data |= !line.is_empty();
                (!line.is_empty()).then(|| line.to_owned())
            }
            Framing::ServerSentEvents if line.is_empty() => self.data.take(),
            Framing::ServerSentEvents => {
                // Comments and the names of events are not needed: every provider names the type in the data.
                if let Some(more) = line.strip_prefix("data:") {
                    self.found_data = true;
                    let more = more.strip_prefix(' ').unwrap_or(more);
                    match &mut self.data {
                        Some(data) => {
                            data.push('\n');
                            data.push_str(more);
                        }
                        None => self.data = Some(more.to_owned()),
                    }
                }
                None
            }
        }
    }

    /// What is left at the end of the body: some servers end without the last empty line.
    fn rest(&mut self) -> Option<String> {
        if !self.line.is_empty()
            && let Some(data) = self.end_line()
        {
            return Some(data);
        }
        self.data.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(framing: Framing, body: &[u8], chunk: usize, limit: usize) -> Result<Vec<String>, TooLarge> {
        let mut splitter = Splitter::new(framing);
        let mut found = Vec::new();
        for piece in body.chunks(chunk) {
            splitter.push(piece);
            while let Some(data) = splitter.pop(limit)? {
                found.push(data);
            }
        }
        found.extend(splitter.rest());
        Ok(found)
    }

    #[test]
    fn events_do_not_depend_on_how_the_body_is_cut() {
        let body = "event: a\ndata: one ü\n\n: comment\n\ndata: two\ndata: lines\n\nid: 7\ndata:three\n\n";
        for line_end in ["\n", "\r\n", "\r"] {
            let body = body.replace('\n', line_end);
            for chunk in 1..body.len() {
                let found = events(Framing::ServerSentEvents, body.as_bytes(), chunk, 100).unwrap();
                assert_eq!(found, ["one ü", "two\nlines", "three"], "{line_end:?} in pieces of {chunk}");
            }
        }
        assert_eq!(events(Framing::ServerSentEvents, b"data: last", 3, 100).unwrap(), ["last"]);
        assert_eq!(events(Framing::JsonLines, b"{1}\r\n\n{2}\n{3}", 2, 100).unwrap(), ["{1}", "{2}", "{3}"]);
    }

    #[test]
    fn an_event_over_the_limit_is_refused_before_it_ends() {
        for (framing, body) in [
            (Framing::ServerSentEvents, format!("data: {}", "x".repeat(200))),
            (Framing::ServerSentEvents, format!(":{}", "x".repeat(200))),
            (Framing::ServerSentEvents, "data: 123456789\n".repeat(20)),
            (Framing::JsonLines, "x".repeat(200)),
        ] {
            for chunk in [1, 7, 1000] {
                assert_eq!(
                    events(framing, body.as_bytes(), chunk, 100),
                    Err(TooLarge::Event(100)),
                    "{framing:?} {body}"
                );
            }
        }
        let many = "data: 123456789\n\n".repeat(100);
        assert_eq!(events(Framing::ServerSentEvents, many.as_bytes(), 5, 20).unwrap().len(), 100);
    }

    /// The parts of the buffer that were read are given back.
    #[test]
    fn what_was_read_is_not_kept() {
        let mut splitter = Splitter::new(Framing::ServerSentEvents);
        for _ in 0..1000 {
            splitter.push(&b"data: 1234567890\n\n".repeat(10));
            while splitter.pop(100).unwrap().is_some() {}
        }
        assert!(splitter.input.capacity() < 4096, "{}", splitter.input.capacity());
    }
}
