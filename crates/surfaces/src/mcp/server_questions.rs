//! Questions of an upstream server to the client: for its model, or for input of the person. They are asked within the request that
//! made the call, so that a client over HTTP gets them on the stream of that request.

#![allow(deprecated, reason = "clients of the older life cycle answer for a model by a request of their own")]

use planwright_core::upstream::ServerName;
use planwright_engine::upstream::{InputRequired, InputResponses, QuestionError, QuestionKind, ServerQuestion};
use rmcp::model::{ClientCapabilities, CreateMessageRequestParams, ElicitRequestParams, ErrorCode};
use rmcp::service::{Peer, RoleServer, ServiceError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::pending_calls::QUESTION;
use super::shown_questions;

/// Asks the client. One that cannot be asked means an error for the server.
pub(super) async fn ask(
    server: &ServerName,
    question: &ServerQuestion,
    peer: &Peer<RoleServer>,
) -> Result<Value, QuestionError> {
    let answer = match question.kind {
        QuestionKind::Sampling => sample(question.params.clone(), peer).await,
        QuestionKind::Elicitation => elicit(server, question.params.clone(), peer).await,
        QuestionKind::Roots => list_roots(peer).await,
    };
    if let Err(error) = &answer {
        tracing::debug!(%server, code = error.code, message = error.message, "a question of an upstream server");
    }
    answer
}

/// The answer to a single question as the journal has it.
pub(super) fn by_name(answer: &Result<Value, QuestionError>) -> InputResponses {
    let written = match answer {
        Ok(answer) => answer.clone(),
        Err(QuestionError { code, message }) => json!({ "error": { "code": code, "message": message } }),
    };
    InputResponses::from_iter([(QUESTION.to_owned(), written)])
}

/// Asks the client what a server of the newest protocol wants to know, one question after another. `None` without an answer to each
/// of them.
pub(super) async fn ask_all(
    server: &ServerName,
    input: &InputRequired,
    peer: &Peer<RoleServer>,
) -> Option<InputResponses> {
    let mut answers = InputResponses::new();
    for (name, request) in &input.requests {
        let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
        let answer = match request.get("method").and_then(Value::as_str) {
            Some("sampling/createMessage") => sample(params, peer).await,
            Some("elicitation/create") => elicit(server, params, peer).await,
            Some("roots/list") => list_roots(peer).await,
            Some(_) | None => Err(cannot("This cannot be asked.")),
        };
        match answer {
            Ok(answer) => drop(answers.insert(name.clone(), answer)),
            Err(error) => {
                tracing::debug!(%server, code = error.code, message = error.message, "a question of an upstream server");
                return None;
            }
        }
    }
    Some(answers)
}

async fn list_roots(peer: &Peer<RoleServer>) -> Result<Value, QuestionError> {
    if capabilities(peer).roots.is_none() {
        return Err(cannot("The client names no folders."));
    }
    answered(peer.list_roots().await)
}

async fn sample(params: Value, peer: &Peer<RoleServer>) -> Result<Value, QuestionError> {
    if capabilities(peer).sampling.is_none() {
        return Err(cannot("The client has no model for servers."));
    }
    let params: CreateMessageRequestParams = read(params)?;
    answered(peer.create_message(params).await)
}

async fn elicit(server: &ServerName, params: Value, peer: &Peer<RoleServer>) -> Result<Value, QuestionError> {
    let can = capabilities(peer).elicitation;
    let mut params: ElicitRequestParams = read(params)?;
    let can_ask = can.is_some_and(|can| match &params {
        ElicitRequestParams::FormElicitationParams { .. } => can.form.is_some() || can.url.is_none(),
        ElicitRequestParams::UrlElicitationParams { .. } => can.url.is_some(),
        // The enum may grow.
        _ => false,
    });
    if !can_ask {
        return Err(cannot("The client cannot ask the person for this kind of input."));
    }
    shown_questions::show(server, &mut params);
    answered(peer.create_elicitation(params).await)
}

fn capabilities(peer: &Peer<RoleServer>) -> ClientCapabilities {
    peer.peer_info().map(|info| info.capabilities.clone()).unwrap_or_default()
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, QuestionError> {
    serde_json::from_value(params)
        .map_err(|error| QuestionError { code: ErrorCode::INVALID_PARAMS.0, message: error.to_string() })
}

fn answered<T: Serialize>(answer: Result<T, ServiceError>) -> Result<Value, QuestionError> {
    match answer {
        Ok(answer) => serde_json::to_value(answer).map_err(|error| cannot(&error.to_string())),
        Err(ServiceError::McpError(error)) => {
            Err(QuestionError { code: error.code.0, message: error.message.into_owned() })
        }
        Err(error) => Err(cannot(&format!("The client did not answer: {error}."))),
    }
}

pub(super) fn cannot(message: &str) -> QuestionError {
    QuestionError { code: ErrorCode::INVALID_REQUEST.0, message: format!("Refused by Planwright. {message}") }
}
