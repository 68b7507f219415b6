//! Calls that wait for the client's answers. A client of the newest protocol is asked by the result of its request, and answers by
//! making the request again. The call to the upstream server lasts meanwhile, so that it is permitted, written down and made once.

#![allow(deprecated, reason = "servers ask for a model and for folders by requests of the older life cycle, too")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planwright_agent::GatewayOutcome;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_core::visible::visible;
use planwright_engine::upstream::{CallEvent, InputRequired, QuestionKind, QuestionKinds, ServerQuestion};
use rmcp::model::{
    CreateMessageRequest, ElicitRequest, ElicitRequestParams, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, JsonObject, ListRootsRequest,
};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::server_questions::cannot;

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
    pub(super) request: RequestedCall,
    pub(super) running: RunningCall,
    asked: Asked,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct RequestedCall {
    pub(super) session: SessionIdentity,
    pub(super) tool: String,
    pub(super) arguments: JsonObject,
}

/// A call that a task of its own makes. Dropping it cancels the call.
#[derive(Debug)]
pub(super) struct RunningCall {
    pub(super) server: Option<ServerName>,
    pub(super) events: mpsc::Receiver<CallEvent>,
    pub(super) outcome: oneshot::Receiver<Result<GatewayOutcome, Refusal>>,
    pub(super) task: AbortOnDrop,
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

/// The name of the one question of a server of the older protocol.
const QUESTION: &str = "question";

impl PendingCalls {
    /// Takes the call out that waits under this name for exactly this request.
    pub(super) fn take(&self, state: &str, request: &RequestedCall) -> Option<PendingCall> {
        let mut calls = self.lock();
        if calls.get(state)?.request != *request {
            return None;
        }
        calls.remove(state)
    }

    /// Keeps the call until the client has answered. An error means that too many wait.
    pub(super) fn keep(&self, call: PendingCall) -> Result<InputRequiredResult, Refusal> {
        let requests = call.asked.requests(call.running.server.as_ref());
        let mut calls = self.lock();
        calls.retain(|_, waiting| !waiting.running.task.0.is_finished());
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
        Ok(Self { request, running, asked: Asked::Question(params, question) })
    }

    pub(super) const fn of_input(request: RequestedCall, running: RunningCall, input: InputRequired) -> Self {
        Self { request, running, asked: Asked::Input(input) }
    }

    /// Gives the answers to the server. A question of the older protocol that has none is asked again.
    pub(super) fn answer(self, mut responses: InputResponses) -> Result<(RequestedCall, RunningCall), Box<Self>> {
        let Self { request, mut running, asked } = self;
        running.has_answers = true;
        match asked {
            Asked::Input(input) => input.answer(responses.into_iter().collect()),
            Asked::Question(params, question) => match responses.remove(QUESTION).filter(Value::is_object) {
                Some(answer) => question.answer(Ok(answer)),
                None => return Err(Box::new(Self { request, running, asked: Asked::Question(params, question) })),
            },
        }
        Ok((request, running))
    }
}

impl Asked {
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
            name_server_in(server, &mut elicitation.params);
        }
    }
}

pub(super) fn name_server_in(server: &ServerName, params: &mut ElicitRequestParams) {
    match params {
        ElicitRequestParams::FormElicitationParams { message, .. }
        | ElicitRequestParams::UrlElicitationParams { message, .. } => {
            *message = format!("The MCP server {server} asks: {}", visible(message));
        }
        // The enum may grow.
        _ => {}
    }
}

/// Cannot be guessed: who knows it can answer for the client.
fn new_state() -> Result<String, Refusal> {
    let mut bytes = [0; 16];
    let failed = |_| Refusal::new(planwright_core::refusal::RefusalCode::Internal, "no random number can be had");
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(hex::encode(bytes))
}
