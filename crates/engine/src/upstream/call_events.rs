//! What an upstream server says and asks while it works on a call, for the client of the gateway that made the call.

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

/// Events that wait for a slow client. More are dropped; a question that is dropped is refused.
const CAPACITY: usize = 256;

#[derive(Debug)]
pub enum CallEvent {
    Progress(CallProgress),
    Log(LogMessage),
    Question(ServerQuestion),
}

/// How far a call is, as the server counts it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallProgress {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

impl CallProgress {
    /// One line for people.
    pub fn describe(&self) -> String {
        let done = match self.total {
            Some(total) => format!("{} of {total}", self.progress),
            None => self.progress.to_string(),
        };
        match self.message.as_deref().map(str::trim).filter(|message| !message.is_empty()) {
            Some(message) => format!("{message} ({done})"),
            None => done,
        }
    }
}

/// A line of the server's log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogMessage {
    /// As the protocol names it, such as `info`.
    pub level: String,
    pub logger: Option<String>,
    pub data: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionKind {
    /// The server asks the client's model.
    Sampling,
    /// The server asks the person for input.
    Elicitation,
}

/// A request of a server to the client. Dropping it refuses it.
#[derive(Debug)]
pub struct ServerQuestion {
    pub kind: QuestionKind,
    /// The parameters as the server sent them.
    pub params: Value,
    answer: oneshot::Sender<Result<Value, QuestionError>>,
}

/// Why a question is not answered, as an error of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionError {
    pub code: i32,
    pub message: String,
}

impl ServerQuestion {
    /// The receiver gets the answer, or an error if the question was dropped.
    pub fn new(kind: QuestionKind, params: Value) -> (Self, oneshot::Receiver<Result<Value, QuestionError>>) {
        let (answer, receiver) = oneshot::channel();
        (Self { kind, params, answer }, receiver)
    }

    pub fn answer(self, answer: Result<Value, QuestionError>) {
        // A server that has left waits for no answer.
        let _ = self.answer.send(answer);
    }
}

/// Told what happens during a call.
pub trait CallObserver: Send + Sync {
    fn on_event(&self, event: CallEvent);

    /// The client that made the call. Calls of the same client have the same key; a call of this program's agent has none.
    fn client(&self) -> Option<ClientKey>;
}

/// Names a client of the gateway as long as it is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientKey(pub usize);

/// Brings the events of a call to the client that made it.
#[derive(Debug)]
pub struct CallEventSender {
    client: ClientKey,
    events: mpsc::Sender<CallEvent>,
}

impl CallEventSender {
    pub fn new(client: ClientKey) -> (Self, mpsc::Receiver<CallEvent>) {
        let (events, receiver) = mpsc::channel(CAPACITY);
        (Self { client, events }, receiver)
    }

    pub fn client(&self) -> ClientKey {
        self.client
    }

    pub fn send(&self, event: CallEvent) {
        let _ = self.events.try_send(event);
    }
}
