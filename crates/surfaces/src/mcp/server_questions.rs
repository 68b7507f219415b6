//! Questions of an upstream server to the client: for its model, or for input of the person. They are asked within the request that
//! made the call, so that a client over HTTP gets them on the stream of that request.

#![allow(deprecated, reason = "clients of the older life cycle answer for a model by a request of their own")]

use planwright_core::upstream::ServerName;
use planwright_core::visible::visible;
use planwright_engine::upstream::{QuestionError, QuestionKind, ServerQuestion};
use rmcp::model::{ClientCapabilities, CreateMessageRequestParams, ElicitRequestParams, ErrorCode};
use rmcp::service::{Peer, RoleServer, ServiceError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Asks the client and gives its answer to the server. A client that cannot be asked means an error for the server.
pub(super) async fn pass_on(server: &ServerName, question: ServerQuestion, peer: &Peer<RoleServer>) {
    let answer = match question.kind {
        QuestionKind::Sampling => sample(question.params.clone(), peer).await,
        QuestionKind::Elicitation => elicit(server, question.params.clone(), peer).await,
    };
    if let Err(error) = &answer {
        tracing::debug!(%server, code = error.code, message = error.message, "a question of an upstream server");
    }
    question.answer(answer);
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
    let message = match &mut params {
        ElicitRequestParams::FormElicitationParams { message, .. }
            if can.as_ref().is_some_and(|can| can.form.is_some() || can.url.is_none()) =>
        {
            message
        }
        ElicitRequestParams::UrlElicitationParams { message, .. } if can.is_some_and(|can| can.url.is_some()) => {
            message
        }
        // The enum may grow.
        _ => return Err(cannot("The client cannot ask the person for this kind of input.")),
    };
    // The person is told who asks, and that it is not Planwright.
    *message = format!("The MCP server {server} asks: {}", visible(message));
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

fn cannot(message: &str) -> QuestionError {
    QuestionError { code: ErrorCode::INVALID_REQUEST.0, message: format!("Refused by Planwright. {message}") }
}
