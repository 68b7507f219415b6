//! What an upstream server says and asks while it works on a call, for the client of the gateway that made the call.

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

/// Events that wait for a slow client. More are dropped; a question that is dropped is refused.
const CAPACITY: usize = 256;

#[derive(Debug)]
pub enum CallEvent {
    Progress(CallProgress),
    Log(LogMessage),
    Question(ServerQuestion),
    InputRequired(InputRequired),
    /// The call ends with an error of the protocol.
    Refused(RpcError),
}

/// An error of the protocol, as the server sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
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
    /// The server asks for the folders that the client works in.
    Roots,
}

/// Which kinds of questions are passed on, or can be answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuestionKinds {
    pub sampling: bool,
    pub elicitation: bool,
    pub roots: bool,
}

impl QuestionKinds {
    pub const fn has(self, kind: QuestionKind) -> bool {
        match kind {
            QuestionKind::Sampling => self.sampling,
            QuestionKind::Elicitation => self.elicitation,
            QuestionKind::Roots => self.roots,
        }
    }

    /// The kinds that are in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            sampling: self.sampling && other.sampling,
            elicitation: self.elicitation && other.elicitation,
            roots: self.roots && other.roots,
        }
    }
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

/// What a server of the newest protocol asks by the result of a call: several questions at once, under names of its own. The call
/// is made again with the answers. Dropping it refuses all of them.
#[derive(Debug)]
pub struct InputRequired {
    /// By name, the requests as the server sent them. They may be none: then the call is made again as it is.
    pub requests: Map<String, Value>,
    answers: oneshot::Sender<InputResponses>,
}

/// The answers to questions, by their names.
pub type InputResponses = Map<String, Value>;

impl InputRequired {
    /// The receiver gets the answers, or an error if the questions were dropped.
    pub fn new(requests: Map<String, Value>) -> (Self, oneshot::Receiver<InputResponses>) {
        let (answers, receiver) = oneshot::channel();
        (Self { requests, answers }, receiver)
    }

    pub fn answer(self, answers: InputResponses) {
        // A call that has ended waits for no answers.
        let _ = self.answers.send(answers);
    }
}

/// Told what happens during a call.
pub trait CallObserver: Send + Sync {
    fn on_event(&self, event: CallEvent);

    /// What the client can be asked by the result of a call.
    fn kinds(&self) -> QuestionKinds {
        QuestionKinds::default()
    }

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
    kinds: QuestionKinds,
}

impl CallEventSender {
    pub fn new(client: ClientKey) -> (Self, mpsc::Receiver<CallEvent>) {
        let (events, receiver) = mpsc::channel(CAPACITY);
        (Self { client, events, kinds: QuestionKinds::default() }, receiver)
    }

    #[must_use]
    pub fn with_kinds(mut self, kinds: QuestionKinds) -> Self {
        self.kinds = kinds;
        self
    }

    pub fn kinds(&self) -> QuestionKinds {
        self.kinds
    }

    pub fn client(&self) -> ClientKey {
        self.client
    }

    pub fn send(&self, event: CallEvent) {
        let _ = self.events.try_send(event);
    }
}
