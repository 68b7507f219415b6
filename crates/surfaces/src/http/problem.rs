//! Refusals as `application/problem+json`, with the code that programs rely on.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use planwright_core::refusal::{Problem as Detail, Refusal, RefusalCode};
use planwright_engine::ledger::LedgerError;
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, JsonRpcError};
use serde::Serialize;
use serde_json::{Map, Value};

/// The error of every handler.
#[derive(Debug)]
pub(crate) struct ApiProblem {
    /// Boxed, so that a `Result` stays small.
    parts: Box<Parts>,
}

#[derive(Debug)]
struct Parts {
    status: StatusCode,
    refusal: Refusal,
    /// Further fields, such as the current plan.
    more: Map<String, Value>,
    retry_after: Option<Duration>,
    close_connection: bool,
}

pub(crate) type ApiResult<T> = Result<T, ApiProblem>;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    title: &'static str,
    status: u16,
    code: RefusalCode,
    detail: &'a str,
    #[serde(skip_serializing_if = "<[Detail]>::is_empty")]
    errors: &'a [Detail],
    #[serde(flatten)]
    more: &'a Map<String, Value>,
}

impl ApiProblem {
    pub(crate) fn new(refusal: Refusal) -> Self {
        let (status, more) = (status(refusal.code), Map::new());
        Self { parts: Box::new(Parts { status, refusal, more, retry_after: None, close_connection: false }) }
    }

    pub(crate) fn with_status(mut self, status: StatusCode) -> Self {
        self.parts.status = status;
        self
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.parts.more.insert(name.to_owned(), value.into());
        self
    }

    /// Tells the client when to send the request again.
    pub(crate) fn retry_after(mut self, wait: Duration) -> Self {
        self.parts.retry_after = Some(wait);
        self
    }

    /// The connection is closed after this response.
    pub(crate) fn closing_connection(mut self) -> Self {
        self.parts.close_connection = true;
        self
    }

    pub(crate) fn message(&self) -> &str {
        &self.parts.refusal.message
    }

    pub(crate) fn code(&self) -> RefusalCode {
        self.parts.refusal.code
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.parts.status
    }

    /// The body, for frames and events.
    pub(crate) fn to_value(&self) -> Value {
        serde_json::to_value(self.body()).unwrap_or_default()
    }

    fn body(&self) -> Body<'_> {
        Body {
            title: title(self.parts.refusal.code),
            status: self.parts.status.as_u16(),
            code: self.parts.refusal.code,
            detail: &self.parts.refusal.message,
            errors: &self.parts.refusal.problems,
            more: &self.parts.more,
        }
    }
}

impl From<Refusal> for ApiProblem {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal)
    }
}

impl From<LedgerError> for ApiProblem {
    fn from(error: LedgerError) -> Self {
        match &error {
            LedgerError::Damaged { .. } | LedgerError::Internal(_) => {
                tracing::error!(event = "request_failed", %error);
            }
            LedgerError::Unavailable(_) | LedgerError::TooNew { .. } => {
                tracing::warn!(event = "store_unavailable", %error);
            }
            LedgerError::Refused(_) | LedgerError::Leased(_) | LedgerError::Fenced(_) => {}
        }
        Self::new(error.into_refusal())
    }
}

impl IntoResponse for ApiProblem {
    fn into_response(self) -> Response {
        let mut response = (self.parts.status, Json(self.body())).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        self.with_headers(response)
    }
}

impl ApiProblem {
    /// The problem as an error of JSON-RPC, for clients of MCP. The problem is its `data`. Which request it answers is not known
    /// before the body is read.
    pub(crate) fn into_json_rpc(self) -> Response {
        let code = match self.parts.refusal.code {
            RefusalCode::Internal | RefusalCode::Unavailable => ErrorCode::INTERNAL_ERROR,
            RefusalCode::PolicyDenied
            | RefusalCode::InvalidArgument
            | RefusalCode::NotFound
            | RefusalCode::WrongStatus
            | RefusalCode::StaleApproval
            | RefusalCode::Conflict
            | RefusalCode::LimitExceeded
            | RefusalCode::UnknownAgent
            | RefusalCode::Unauthenticated => ErrorCode::INVALID_REQUEST,
        };
        let error = ErrorData::new(code, self.parts.refusal.message.clone(), Some(self.to_value()));
        let response = (self.parts.status, Json(JsonRpcError::new(None, error))).into_response();
        self.with_headers(response)
    }

    fn with_headers(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        match self.parts.refusal.code {
            RefusalCode::Unauthenticated => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"planwright\""));
            }
            RefusalCode::Unavailable => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            RefusalCode::PolicyDenied
            | RefusalCode::InvalidArgument
            | RefusalCode::NotFound
            | RefusalCode::WrongStatus
            | RefusalCode::StaleApproval
            | RefusalCode::Conflict
            | RefusalCode::LimitExceeded
            | RefusalCode::UnknownAgent
            | RefusalCode::Internal => {}
        }
        if let Some(wait) = self.parts.retry_after {
            // In whole seconds, rounded up.
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
        }
        if self.parts.close_connection {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

pub(crate) const fn status(code: RefusalCode) -> StatusCode {
    match code {
        RefusalCode::PolicyDenied => StatusCode::FORBIDDEN,
        RefusalCode::InvalidArgument | RefusalCode::UnknownAgent => StatusCode::BAD_REQUEST,
        RefusalCode::NotFound => StatusCode::NOT_FOUND,
        RefusalCode::WrongStatus | RefusalCode::StaleApproval | RefusalCode::Conflict => StatusCode::CONFLICT,
        RefusalCode::LimitExceeded => StatusCode::PAYLOAD_TOO_LARGE,
        RefusalCode::Unauthenticated => StatusCode::UNAUTHORIZED,
        RefusalCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        RefusalCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

const fn title(code: RefusalCode) -> &'static str {
    match code {
        RefusalCode::PolicyDenied => "Not allowed",
        RefusalCode::InvalidArgument => "Invalid request",
        RefusalCode::NotFound => "Not found",
        RefusalCode::WrongStatus => "Wrong status",
        RefusalCode::StaleApproval => "The plan changed since it was shown",
        RefusalCode::Conflict => "Conflict",
        RefusalCode::LimitExceeded => "Limit exceeded",
        RefusalCode::UnknownAgent => "Unknown agent",
        RefusalCode::Unauthenticated => "Authentication required",
        RefusalCode::Unavailable => "Unavailable",
        RefusalCode::Internal => "Internal error",
    }
}
