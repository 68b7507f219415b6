//! What the clients sent, and what they were told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    OpenSession,
    EnablePlanWork,
    Say { text: String },
    Approve { plan: String },
}

/// One request, with every attempt to have it carried out. All attempts have the same key.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) session: String,
    pub(crate) act: Act,
    pub(crate) key: String,
    pub(crate) attempts: Vec<Attempt>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attempt {
    Answered {
        status: u16,
        body: Value,
    },
    /// No answer came: the connection broke, or the client waited too long.
    Unanswered,
}

impl Request {
    /// Every answer that says the request was carried out.
    pub(crate) fn acknowledgements(&self) -> impl Iterator<Item = &Value> {
        self.attempts.iter().filter_map(|attempt| match attempt {
            Attempt::Answered { status: 200 | 201, body } => Some(body),
            Attempt::Answered { .. } | Attempt::Unanswered => None,
        })
    }

    pub(crate) fn acknowledged(&self) -> Option<&Value> {
        self.acknowledgements().next()
    }
}

/// Something that was observed about a server while a fault lasted.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    pub(crate) what: String,
    pub(crate) passed: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub(crate) requests: Vec<Request>,
    pub(crate) probes: Vec<Probe>,
    /// By session.
    pub(crate) frames: BTreeMap<String, Frames>,
}

/// The entries that a WebSocket client was told: `seq` and type.
pub(crate) type Frames = Vec<(u64, String)>;

/// Collects the history from all clients.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<History>>);

impl Recorder {
    /// Registers a request before its first attempt and returns its place.
    pub(crate) fn begin(&self, session: &str, act: Act, key: &str) -> usize {
        let mut history = self.0.lock().unwrap();
        let (session, key) = (session.to_owned(), key.to_owned());
        history.requests.push(Request { session, act, key, attempts: Vec::new() });
        history.requests.len() - 1
    }

    pub(crate) fn attempted(&self, request: usize, attempt: Attempt) {
        self.0.lock().unwrap().requests[request].attempts.push(attempt);
    }

    pub(crate) fn acknowledged(&self) -> usize {
        let history = self.0.lock().unwrap();
        history.requests.iter().filter(|request| request.acknowledged().is_some()).count()
    }

    pub(crate) fn probe(&self, what: impl Into<String>, passed: bool) {
        self.0.lock().unwrap().probes.push(Probe { what: what.into(), passed });
    }

    pub(crate) fn frame(&self, session: &str, seq: u64, kind: &str) {
        let mut history = self.0.lock().unwrap();
        history.frames.entry(session.to_owned()).or_default().push((seq, kind.to_owned()));
    }

    /// The last entry that a WebSocket client was told.
    pub(crate) fn last_frame(&self, session: &str) -> u64 {
        let history = self.0.lock().unwrap();
        history.frames.get(session).and_then(|frames| frames.last()).map_or(0, |(seq, _)| *seq)
    }

    pub(crate) fn history(&self) -> History {
        self.0.lock().unwrap().clone()
    }
}
