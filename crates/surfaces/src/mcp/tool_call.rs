//! A call of a tool: of a plan tool, or of an upstream tool through the gateway, and reading an upstream resource.

use planwright_agent::Permitted;
use planwright_agent::tools::ExternalTools;
use planwright_core::actor::Actor;
use planwright_core::gate::{OwnToolKind, PlanTool};
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use planwright_engine::ledger::LedgerError;
use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResponse, InputResponses, JsonObject, ReadResourceResponse};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use super::answer::{self, CallAnswer};
use super::client_input::caller;
use super::decision::DecisionWait;
use super::gateway::{Gateway, GatewayClient};
use super::pending_calls::{RequestTarget, RequestedCall};
use super::request_order::give_up_position;
use super::server::{OpenedSession, PlanServer, locked};
use super::upstream;

impl PlanServer {
    /// Carries out a call. The second value names the fields that were passed over.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: Value,
        responses: InputResponses,
        context: &mut RequestContext<RoleServer>,
    ) -> (Result<CallAnswer, Refusal>, Vec<String>) {
        let Value::Object(arguments) = arguments else {
            let refusal = Refusal::invalid(format!("The arguments of {} are not a JSON object.", quoted(name)));
            return (Err(refusal), Vec::new());
        };
        let opened = match self.entered(context).await {
            Ok(opened) => opened,
            Err(error) => return (Err(cannot_work(error)), Vec::new()),
        };
        let by = caller(context);
        let tool = PlanTool::named(name);
        let named = match tool {
            None => Some(name),
            Some(PlanTool::AddCall) => arguments.get("tool").and_then(Value::as_str),
            Some(_) => None,
        };
        if let Some(named) = named
            && let Some(refusal) = self.wait_for_upstream(opened, named, context).await
        {
            return (Err(refusal), Vec::new());
        }
        let upstream = self.shared.options.gateway.as_ref().filter(|gateway| tool.is_none() && gateway.has(name));
        if let Some(upstream) = upstream {
            let decided = match upstream.decide(&opened.identity, name, &arguments, Permitted::NotAsked).await {
                Ok(decided) => decided,
                Err(refusal) => return (Err(refusal), Vec::new()),
            };
            if !decided.is_recorded() {
                give_up_position(context);
            }
            let client = GatewayClient { shared: &self.shared, session: &opened.identity, by: &by, context };
            let target = RequestTarget::Tool { name: name.to_owned(), server: upstream.server_of(name) };
            let request = RequestedCall { session: opened.identity.clone(), target, arguments };
            return (client.make_decided(upstream, request, responses, decided).await, Vec::new());
        }
        if let Some(answered) = self.answer_before_tools(opened, &by, name, &arguments).await {
            return (answered, Vec::new());
        }
        let seconds = arguments.get("timeout_seconds").and_then(Value::as_u64);
        let is_upstream = |name: &str| self.shared.options.gateway.as_ref().is_some_and(|gateway| gateway.has(name));
        let tools = ExternalTools::new(self.engine());
        let mut answered = tools.call(&opened.identity, &by, name, arguments, &is_upstream).await;
        match (&mut answered.outcome, tool) {
            (Ok(decision), Some(PlanTool::AwaitDecision)) if decision["decided"] == false => {
                give_up_position(context);
                let wait = DecisionWait {
                    engine: self.engine(),
                    session: &opened.identity,
                    changes: &opened.changes,
                    commands: self.commands(),
                    context,
                    seconds,
                };
                answered.outcome = wait.run().await;
            }
            (Ok(value), Some(PlanTool::SetContent)) => {
                if let Some(written) = &answered.shown {
                    self.warn_about_overwriting(value, written).await;
                }
            }
            (Ok(_) | Err(_), _) => {}
        }
        match &answered.outcome {
            Ok(_) => {
                if let Some(shown) = answered.shown {
                    *locked(&self.shared.seen) = Some(shown);
                }
            }
            Err(refusal) => {
                tracing::debug!(session_identity = %opened.identity, tool = name, code = %refusal.code, "call refused");
            }
        }
        (answered.outcome.map(CallAnswer::Own), answered.ignored)
    }

    /// Goes on with a call of a tool that waited for the client's answers. The error says that there is none.
    pub(super) async fn call_tool_again(
        &self,
        state: &str,
        name: &str,
        arguments: JsonObject,
        responses: InputResponses,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Result<CallAnswer, Refusal>, ErrorData> {
        let opened = self.entered(context).await.map_err(answer::unanswered)?;
        let server = self.shared.options.gateway.as_ref().and_then(|gateway| gateway.server_of(name));
        let target = RequestTarget::Tool { name: name.to_owned(), server };
        let request = RequestedCall { session: opened.identity.clone(), target, arguments };
        self.call_again(state, request, responses, context).await
    }

    /// Goes on with a request that waited for the client's answers.
    async fn call_again(
        &self,
        state: &str,
        request: RequestedCall,
        responses: InputResponses,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Result<CallAnswer, Refusal>, ErrorData> {
        give_up_position(context);
        let waiting = self.shared.options.gateway.as_ref().zip(self.shared.pending.take(state, &request));
        let Some((gateway, pending)) = waiting else {
            let message = format!(
                "No call of {} with these arguments waits for input under this `requestState`. It may have ended; make the call \
                 again without it.",
                quoted(&request.target.recorded_name())
            );
            return Err(ErrorData::invalid_params(message, None));
        };
        let (session, by) = (&request.session, caller(context));
        let client = GatewayClient { shared: &self.shared, session, by: &by, context };
        Ok(client.resume(gateway, pending, responses).await)
    }

    /// Reads a resource of an upstream server, or goes on reading it with the client's answers. `None` if the address is none of such a
    /// server.
    pub(super) async fn read_upstream(
        &self,
        uri: &str,
        responses: InputResponses,
        state: Option<String>,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Option<ReadResourceResponse>, ErrorData> {
        let opened = self.entered(context).await.map_err(answer::unanswered)?;
        let Some(gateway) = self.gateway_for(context).await else { return Ok(None) };
        let found = upstream::resource_of(gateway, uri).await;
        let found = found.map_err(|error| answer::refused_resource(uri, error))?;
        let Some((server, own)) = found else { return Ok(None) };
        let arguments = JsonObject::from_iter([("uri".to_owned(), json!(uri))]);
        let target = RequestTarget::Resource { server: server.clone(), uri: own };
        let request = RequestedCall { session: opened.identity.clone(), target, arguments };
        let answered = self.make_or_resume(gateway, request, responses, state, context).await?;
        let contents = match answered {
            Ok(CallAnswer::Own(contents)) => upstream::contents(&server, contents),
            Ok(CallAnswer::InputRequired(asked)) => return Ok(Some((*asked).into())),
            Ok(CallAnswer::Error(error)) => return Err(*error),
            // It is the result of a tool.
            Ok(CallAnswer::PassedOn(_)) => return Ok(None),
            Err(refusal) => Err(refusal),
        };
        let mut contents = contents.map_err(|refusal| answer::refused_resource(uri, refusal.into()))?;
        answer::name_type(&mut contents.result_type);
        Ok(Some(contents.into()))
    }

    /// Gets a prompt of an upstream server, or goes on getting it with the client's answers. `None` if it is none of such a server.
    pub(super) async fn prompt_upstream(
        &self,
        request: GetPromptRequestParams,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Option<GetPromptResponse>, ErrorData> {
        let opened = self.entered(context).await.map_err(answer::unanswered)?;
        let Some(gateway) = self.gateway_for(context).await else { return Ok(None) };
        let GetPromptRequestParams { name, arguments, input_responses, request_state, .. } = request;
        let found = upstream::prompt_of(gateway, &name).await.map_err(answer::refused_request)?;
        let Some((server, own)) = found else { return Ok(None) };
        let given = arguments.map(|arguments| ("arguments".to_owned(), Value::Object(arguments)));
        let arguments = std::iter::once(("name".to_owned(), json!(name))).chain(given).collect();
        let target = RequestTarget::Prompt { server: server.clone(), name: own };
        let request = RequestedCall { session: opened.identity.clone(), target, arguments };
        let responses = input_responses.unwrap_or_default();
        let answered = self.make_or_resume(gateway, request, responses, request_state, context).await?;
        let prompt = match answered {
            Ok(CallAnswer::Own(prompt)) => upstream::prompt(&server, prompt),
            Ok(CallAnswer::InputRequired(asked)) => return Ok(Some((*asked).into())),
            Ok(CallAnswer::Error(error)) => return Err(*error),
            // It is the result of a tool.
            Ok(CallAnswer::PassedOn(_)) => return Ok(None),
            Err(refusal) => Err(refusal),
        };
        let prompt = prompt.map_err(|refusal| answer::refused_request(refusal.into()))?;
        Ok(Some(prompt.into()))
    }

    /// Makes a request for a resource or a prompt, or goes on with the one that waits for the client's answers.
    async fn make_or_resume(
        &self,
        gateway: &Gateway,
        request: RequestedCall,
        responses: InputResponses,
        state: Option<String>,
        context: &mut RequestContext<RoleServer>,
    ) -> Result<Result<CallAnswer, Refusal>, ErrorData> {
        if let Some(state) = state {
            return self.call_again(&state, request, responses, context).await;
        }
        let (session, by) = (request.session.clone(), caller(context));
        let client = GatewayClient { shared: &self.shared, session: &session, by: &by, context };
        Ok(client.make(gateway, request, responses).await)
    }

    /// A part of a long result, or the refusal of a name that no tool has.
    async fn answer_before_tools(
        &self,
        opened: &OpenedSession,
        by: &Actor,
        name: &str,
        arguments: &JsonObject,
    ) -> Option<Result<CallAnswer, Refusal>> {
        let gateway = self.shared.options.gateway.as_ref()?;
        if Gateway::is_result_tool(name) {
            let read = gateway.read_result(&opened.identity, arguments.clone()).await;
            return Some(read.map(CallAnswer::Own));
        }
        let refusal = self.check_name(gateway, opened, name, arguments).await.err()?;
        let planned = arguments.get("tool").and_then(Value::as_str).filter(|_| name == PlanTool::AddCall.name());
        gateway.record_refused(&opened.identity, by, planned.unwrap_or(name), arguments, &refusal).await;
        Some(Err(refusal))
    }

    /// Refuses tools that do not exist, and that only look like one.
    async fn check_name(
        &self,
        gateway: &Gateway,
        opened: &OpenedSession,
        name: &str,
        arguments: &JsonObject,
    ) -> Result<(), Refusal> {
        match PlanTool::named(name) {
            Some(PlanTool::AddCall) => match arguments.get("tool").and_then(Value::as_str) {
                Some(tool) => gateway.check_planned(tool, arguments.get("arguments").unwrap_or(&Value::Null)),
                None => Ok(()),
            },
            Some(_) => Ok(()),
            None if OwnToolKind::of(name).is_some() => Ok(()),
            None => {
                let session = self.engine().ledger().session(&opened.identity).await;
                let session = session.map_err(LedgerError::into_refusal)?.map(|stored| stored.session.into());
                let own = ExternalTools::new(self.engine()).advertised_names(&opened.identity, session);
                gateway.refuse_unknown(name, &own).map_or(Ok(()), Err)
            }
        }
    }

    /// Waits for the server of an upstream tool that is not there yet. The refusal says why it still is not.
    async fn wait_for_upstream(
        &self,
        opened: &OpenedSession,
        name: &str,
        context: &mut RequestContext<RoleServer>,
    ) -> Option<Refusal> {
        let gateway = self.shared.options.gateway.as_ref().filter(|gateway| !gateway.has(name))?;
        let server = gateway.server_of(name)?;
        if !gateway.may_record(name, self.style(opened).await) {
            give_up_position(context);
        }
        self.wait_for_start(gateway, context).await;
        gateway.refresh().await;
        if gateway.has(name) { None } else { gateway.not_offered(&server).await }
    }

    async fn style(&self, opened: &OpenedSession) -> Option<PlanStyle> {
        let mode = self.engine().sessions().get(&opened.identity).await.ok()?.plan_mode;
        mode.enabled.then_some(mode.style)
    }

    /// Says so if the text that was replaced is one that this client had not read.
    async fn warn_about_overwriting(&self, value: &mut Value, written: &Plan) {
        let seen = locked(&self.shared.seen).clone();
        let is_next = |seen: &Plan| seen.id == written.id && seen.version + 1 >= written.version;
        if written.version < 2 || seen.as_deref().is_some_and(is_next) {
            return;
        }
        let Ok(before) = self.engine().history().version(written, written.version - 1).await else { return };
        let digest = before.digest();
        if seen.is_none_or(|seen| seen.digest() != digest) {
            let by = self.engine().history().version_author(&before).await.ok().flatten();
            let by = by.map_or_else(|| "another client".to_owned(), |author| author.by.to_string());
            value["overwrote"] = json!({
                "version": before.version,
                "digest": digest,
                "by": by,
                "note": "This client had not read the version that it replaced. Compare the two with the resource \
                         planwright://plan/active/changes, and give expected_digest the next time.",
            });
        }
    }
}

/// A store or a folder that cannot be used is told in every result.
fn cannot_work(error: LedgerError) -> Refusal {
    let refusal = error.into_refusal();
    if !refusal.code.is_failure() {
        return refusal;
    }
    Refusal { message: format!("Planwright cannot work at the moment: {}", refusal.message), ..refusal }
}
