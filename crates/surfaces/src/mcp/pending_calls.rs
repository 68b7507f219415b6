//! Calls that wait for the client's answers. A client of the newest protocol is asked by the result of its request, and answers by
//! making the request again. A call to an upstream server lasts meanwhile, so that it is permitted, written down and made once.

#![allow(deprecated, reason = "servers ask for a model and for folders by requests of the older life cycle, too")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use planwright_agent::GatewayOutcome;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::{READ_PROMPT, READ_RESOURCE, ServerName};
use planwright_engine::upstream::{CallEvent, InputRequired, QuestionKind, QuestionKinds, ServerQuestion};
use rmcp::model::{
    CreateMessageRequest, ElicitRequest, ElicitRequestParams, ElicitResult, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, JsonObject, ListRootsRequest,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::server_questions::cannot;
use super::shown_questions;

/// Calls that wait at the same time. The questions of more are refused.
const MAX_PENDING: usize = 64;

/// The waiting calls by the name that the client gives back as `requestState`. Clones share them. Over HTTP requests stand alone, so
/// all of them share one.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingCalls {
    calls: Arc<Mutex<BTreeMap<String, PendingCall>>>,
}

/// A call that waits for answers.
#[derive(Debug)]
pub(super) struct PendingCall {
    /// What the client makes again has to be the same.
    request: RequestedCall,
    waits_for: WaitsFor,
}

#[derive(Debug)]
enum WaitsFor {
    /// An upstream server asks. The call to it lasts meanwhile.
    Server(RunningCall, Asked),
    /// The person is asked whether the call is made. Nothing is made before, and after this time nothing is permitted.
    Permission(ElicitRequestParams, Instant),
}

/// Who gets the client's answer.
#[derive(Debug)]
pub(super) enum Answered {
    /// It was given to the server, whose call goes on.
    Server(RequestedCall, RunningCall),
    /// The person says whether the call is made.
    Permission(RequestedCall, ElicitResult),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RequestedCall {
    pub(super) session: SessionIdentity,
    pub(super) target: RequestTarget,
    pub(super) arguments: JsonObject,
}

/// What a request to an upstream server is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RequestTarget {
    /// A tool by the name that the client knows. `server` is `None` if no server has it any more.
    Tool { name: String, server: Option<ServerName> },
    /// A resource by the server's own address.
    Resource { server: ServerName, uri: String },
    /// A prompt by the server's own name.
    Prompt { server: ServerName, name: String },
}

impl RequestTarget {
    pub(super) const fn server(&self) -> Option<&ServerName> {
        match self {
            Self::Tool { server, .. } => server.as_ref(),
            Self::Resource { server, .. } | Self::Prompt { server, .. } => Some(server),
        }
    }

    /// The name that the request has in the journal.
    pub(super) fn recorded_name(&self) -> String {
        match self {
            Self::Tool { name, .. } => name.clone(),
            Self::Resource { server, .. } => format!("{server}__{READ_RESOURCE}"),
            Self::Prompt { server, .. } => format!("{server}__{READ_PROMPT}"),
        }
    }
}

/// A call that a task of its own makes. Dropping it cancels the call.
#[derive(Debug)]
pub(super) struct RunningCall {
    pub(super) events: mpsc::Receiver<CallEvent>,
    pub(super) outcome: oneshot::Receiver<Result<GatewayOutcome, Refusal>>,
    pub(super) task: AbortOnDrop,
    /// What the client answered before anything was asked. The server gets what it asks for.
    pub(super) given: InputResponses,
    /// Whether the client gave answers: then an error of the server is about them.
    pub(super) has_answers: bool,
}

#[derive(Debug)]
pub(super) struct AbortOnDrop(pub(super) AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What the server wants to know.
#[derive(Debug)]
enum Asked {
    /// By a request of the older protocol, under a name that Planwright gave it.
    Question(Value, ServerQuestion),
    /// By a result of the newest protocol.
    Input(InputRequired),
}

/// The name of a question that is the only one.
pub(super) const QUESTION: &str = "question";
/// How long a person may take to permit a call.
const PERMISSION_TIMEOUT: Duration = Duration::from_secs(600);

impl PendingCalls {
    /// Takes the call out that waits under this name for exactly this request.
    pub(super) fn take(&self, state: &str, request: &RequestedCall) -> Option<PendingCall> {
        let mut calls = self.lock();
        if calls.get(state)?.request != *request {
            return None;
        }
        calls.remove(state).filter(|call| !call.is_too_late())
    }

    /// Keeps the call until the client has answered. An error means that too many wait.
    pub(super) fn keep(&self, call: PendingCall) -> Result<InputRequiredResult, Refusal> {
        let requests = call.requests();
        let mut calls = self.lock();
        calls.retain(|_, waiting| !waiting.is_over());
        if calls.len() >= MAX_PENDING {
            return Err(Refusal::invalid("Too many calls wait for answers of their clients."));
        }
        let state = new_state()?;
        calls.insert(state.clone(), call);
        Ok(InputRequiredResult::new((!requests.is_empty()).then_some(requests), Some(state)))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, PendingCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingCall {
    /// Gives the call back if the client cannot be asked this; the server is told so.
    pub(super) fn of_question(
        request: RequestedCall,
        running: RunningCall,
        question: ServerQuestion,
        can: QuestionKinds,
    ) -> Result<Self, RunningCall> {
        let params = question.params.clone();
        if !can.has(question.kind) || request_of(question.kind, params.clone()).is_none() {
            question.answer(Err(cannot("The client cannot be asked this.")));
            return Err(running);
        }
        Ok(Self { request, waits_for: WaitsFor::Server(running, Asked::Question(params, question)) })
    }

    pub(super) const fn of_input(request: RequestedCall, running: RunningCall, input: InputRequired) -> Self {
        Self { request, waits_for: WaitsFor::Server(running, Asked::Input(input)) }
    }

    /// Waits for the person to permit the call.
    pub(super) fn of_permission(request: RequestedCall, question: ElicitRequestParams) -> Self {
        Self { request, waits_for: WaitsFor::Permission(question, Instant::now() + PERMISSION_TIMEOUT) }
    }

    /// Gives the answers to who asked. Questions that have none are asked again.
    pub(super) fn answer(self, mut responses: InputResponses) -> Result<Answered, Box<Self>> {
        let Self { request, waits_for } = self;
        let again = |request, waits_for| Err(Box::new(Self { request, waits_for }));
        match waits_for {
            WaitsFor::Server(mut running, asked) => {
                let questions = asked.questions();
                let mut answers = answers_to(&questions, &responses);
                if answers.is_empty() && !questions.is_empty() {
                    return again(request, WaitsFor::Server(running, asked));
                }
                running.has_answers = true;
                match asked {
                    Asked::Input(input) => input.answer(answers),
                    Asked::Question(_, question) => question.answer(Ok(answers.remove(QUESTION).unwrap_or_default())),
                }
                Ok(Answered::Server(request, running))
            }
            WaitsFor::Permission(question, until) => {
                let answer = responses.remove(QUESTION).and_then(|answer| serde_json::from_value(answer).ok());
                match answer {
                    Some(answer) => Ok(Answered::Permission(request, answer)),
                    None => again(request, WaitsFor::Permission(question, until)),
                }
            }
        }
    }

    /// The name of the call in the journal.
    pub(super) fn recorded_name(&self) -> String {
        self.request.target.recorded_name()
    }

    /// What the server asks, by name.
    pub(super) fn questions(&self) -> JsonObject {
        match &self.waits_for {
            WaitsFor::Server(_, asked) => asked.questions(),
            WaitsFor::Permission(..) => JsonObject::new(),
        }
    }

    /// The answers among these to what the server asks.
    pub(super) fn answers_in(&self, responses: &InputResponses) -> JsonObject {
        answers_to(&self.questions(), responses)
    }

    /// What the client is asked, by name.
    fn requests(&self) -> InputRequests {
        match &self.waits_for {
            WaitsFor::Server(_, asked) => asked.requests(self.request.target.server()),
            WaitsFor::Permission(question, _) => {
                let request = InputRequest::Elicitation(ElicitRequest::new(question.clone()));
                InputRequests::from([(QUESTION.to_owned(), request)])
            }
        }
    }

    /// Whether no answer is of any use.
    fn is_over(&self) -> bool {
        match &self.waits_for {
            WaitsFor::Server(running, _) => running.task.0.is_finished(),
            WaitsFor::Permission(..) => self.is_too_late(),
        }
    }

    /// Whether the person took too long.
    fn is_too_late(&self) -> bool {
        matches!(&self.waits_for, WaitsFor::Permission(_, until) if Instant::now() >= *until)
    }
}

/// The answers among these to questions, by their names.
pub(super) fn answers_to(questions: &JsonObject, responses: &InputResponses) -> JsonObject {
    let asked = responses.iter().filter(|(name, answer)| questions.contains_key(*name) && answer.is_object());
    asked.map(|(name, answer)| (name.clone(), answer.clone())).collect()
}

/// A single question as a server of the newest protocol asks it.
pub(super) fn question_by_name(kind: QuestionKind, params: &Value) -> JsonObject {
    let method = match kind {
        QuestionKind::Sampling => "sampling/createMessage",
        QuestionKind::Elicitation => "elicitation/create",
        QuestionKind::Roots => "roots/list",
    };
    JsonObject::from_iter([(QUESTION.to_owned(), json!({ "method": method, "params": params }))])
}

impl Asked {
    fn questions(&self) -> JsonObject {
        match self {
            Self::Question(params, question) => question_by_name(question.kind, params),
            Self::Input(input) => input.requests.clone(),
        }
    }

    fn requests(&self, server: Option<&ServerName>) -> InputRequests {
        let mut requests: InputRequests = match self {
            Self::Question(params, question) => {
                let request = request_of(question.kind, params.clone());
                request.map(|request| (QUESTION.to_owned(), request)).into_iter().collect()
            }
            Self::Input(input) => {
                let read = |(name, value): (&String, &Value)| {
                    Some((name.clone(), serde_json::from_value(value.clone()).ok()?))
                };
                input.requests.iter().filter_map(read).collect()
            }
        };
        if let Some(server) = server {
            name_server(server, requests.values_mut());
        }
        requests
    }
}

fn request_of(kind: QuestionKind, params: Value) -> Option<InputRequest> {
    Some(match kind {
        QuestionKind::Sampling => {
            InputRequest::CreateMessage(CreateMessageRequest::new(serde_json::from_value(params).ok()?))
        }
        QuestionKind::Elicitation => {
            InputRequest::Elicitation(ElicitRequest::new(serde_json::from_value(params).ok()?))
        }
        QuestionKind::Roots => InputRequest::ListRoots(ListRootsRequest::default()),
    })
}

/// The person is told who asks, and that it is not Planwright.
pub(super) fn name_server<'a>(server: &ServerName, requests: impl IntoIterator<Item = &'a mut InputRequest>) {
    for request in requests {
        if let InputRequest::Elicitation(elicitation) = request {
            shown_questions::show(server, &mut elicitation.params);
        }
    }
}

/// Cannot be guessed: who knows it can answer for the client.
fn new_state() -> Result<String, Refusal> {
    let mut bytes = [0; 16];
    let failed = |_| Refusal::new(planwright_core::refusal::RefusalCode::Internal, "no random number can be had");
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(hex::encode(bytes))
}
