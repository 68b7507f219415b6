//! Requests that rmcp could not read as one it knows: other methods, and known ones whose parameters do not fit.

use rmcp::ErrorData;
use rmcp::model::{CustomRequest, CustomResult, ErrorCode, InputResponses};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::answer;
use super::client_input::is_newest;
use super::server::{PlanServer, invalid_params};

/// Methods that the newest protocol has no more.
const REMOVED: [&str; 5] = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

impl PlanServer {
    /// Answers what can be answered all the same, and says what is wrong with the rest.
    pub(super) async fn answer_unread(
        &self,
        request: CustomRequest,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        if is_newest(&context) && REMOVED.contains(&method.as_str()) {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
        }
        let part = |name: &str| params.as_ref().and_then(|params| params.get(name));
        match method.as_str() {
            "tools/call" => match (part("name").and_then(Value::as_str), part("arguments")) {
                (Some(name), Some(arguments)) if !arguments.is_object() => {
                    let newest = is_newest(&context);
                    let (outcome, _) = self.call(name, arguments.clone(), InputResponses::new(), &mut context).await;
                    Ok(CustomResult::new(answer::plain_outcome(outcome, newest)))
                }
                _ => Err(invalid_params("tools/call takes `name`, a string, and `arguments`, an object.")),
            },
            "initialize" => Err(invalid_params(
                "initialize takes `protocolVersion`, `capabilities` and `clientInfo` with `name` and `version`.",
            )),
            "subscriptions/listen" => Err(invalid_params("subscriptions/listen takes `notifications`, an object.")),
            "prompts/get" => Err(invalid_params("prompts/get takes `name`, a string, and `arguments`, an object.")),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                Err(invalid_params(format!("{method} takes `uri`, a string.")))
            }
            "completion/complete" => Err(invalid_params("completion/complete takes `ref` and `argument`.")),
            "logging/setLevel" => Err(invalid_params("logging/setLevel takes `level`, such as \"info\".")),
            other => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, other.to_owned(), None)),
        }
    }
}
