//! The tools of upstream servers for the client's agent, behind the gate.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use planwright_agent::{DecidedCall, Gateway as EngineGateway, GatewayOutcome, GatewayTool, Permitted};
use planwright_core::actor::Actor;
use planwright_core::ask::GatewayAsk;
use planwright_core::gate::ToolEffect;
use planwright_core::plan::risk::tool_risks;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_core::visible::visible;
use planwright_engine::upstream::{
    Arguments, CallEvent, CallEventSender, CallProgress, ClientKey, InputRequired, RpcError, ServerQuestion,
};
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, InputRequiredResult, InputResponses, JsonObject, Tool, ToolAnnotations};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::answer::CallAnswer;
use super::client_input::{is_newest, kinds_of};
use super::decision::answers_in_client_count;
use super::pending_calls::{
    AbortOnDrop, Answered, PendingCall, RequestTarget, RequestedCall, RunningCall, answers_to, question_by_name,
};
use super::server::Shared;
use super::session_changes::SessionChanges;
use super::{notifications, permission, progress, server_questions, upstream};

pub use planwright_agent::{Gateway, NamedServers};

/// The error of a server that needs a client which can be asked something.
const MISSING_CAPABILITY: i32 = ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY.0;
/// The pause before the calls of an approved plan are tried again.
const RETRY_PAUSE: Duration = Duration::from_secs(2);

/// The tools of all upstream servers as the client lists them.
pub(super) fn tools(gateway: &EngineGateway) -> Vec<Tool> {
    gateway.tools().into_iter().map(tool).collect()
}

fn tool(tool: GatewayTool) -> Tool {
    let GatewayTool { spec, effect } = tool;
    let schema = match spec.input_schema {
        Value::Object(schema) => schema,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => JsonObject::new(),
    };
    let reads = effect == ToolEffect::ReadsOnly;
    let title = spec.name.split_once("__").map(|(server, tool)| format!("{tool} ({server})"));
    let mut hints = ToolAnnotations::new()
        .read_only(reads)
        .destructive(!reads)
        .idempotent(effect != ToolEffect::Changes)
        .open_world(true);
    hints.title.clone_from(&title);
    let mut tool = Tool::new(spec.name, spec.description, Arc::new(schema)).with_annotations(hints);
    tool.title = title;
    tool
}

/// How far a call came.
enum Called {
    Ended(GatewayOutcome),
    /// The client makes the request again with its answers.
    Asks(InputRequiredResult),
    /// The server refused the client's answers, or needs a client that can be asked.
    Refused(RpcError),
}

/// What a server says during a call that is not passed on as it is.
enum Told {
    Question(ServerQuestion),
    Input(InputRequired),
    Refused(RpcError),
}

/// The client of a connection, for one call.
pub(super) struct GatewayClient<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) session: &'a SessionIdentity,
    pub(super) by: &'a Actor,
    pub(super) context: &'a RequestContext<RoleServer>,
}

impl GatewayClient<'_> {
    /// Carries out a request for something that an upstream server has besides tools; it may ask meanwhile. `responses` are what the
    /// client answers before anything was asked: they are given to the server only if it asks for them.
    pub(super) async fn make(
        &self,
        gateway: &EngineGateway,
        request: RequestedCall,
        responses: InputResponses,
    ) -> Result<CallAnswer, Refusal> {
        self.make_first(gateway, request, responses, None).await
    }

    /// Carries out a call to an upstream tool, as it was decided; it may ask meanwhile. `responses` are as for [`Self::make`].
    pub(super) async fn make_decided(
        &self,
        gateway: &EngineGateway,
        request: RequestedCall,
        responses: InputResponses,
        decided: DecidedCall,
    ) -> Result<CallAnswer, Refusal> {
        self.make_first(gateway, request, responses, Some(decided)).await
    }

    async fn make_first(
        &self,
        gateway: &EngineGateway,
        request: RequestedCall,
        responses: InputResponses,
        decided: Option<DecidedCall>,
    ) -> Result<CallAnswer, Refusal> {
        if is_newest(self.context)
            && let Some(level) = self.context.meta.log_level()
        {
            gateway.set_log_level(notifications::level_name(level)).await;
        }
        let called = match self.make_once(gateway, &request, Permitted::NotAsked, decided, responses).await? {
            Called::Ended(GatewayOutcome::Ask) => match self.ask(gateway, &request).await? {
                Some(asked) => Called::Asks(asked),
                None => self.make_permitted(gateway, &request).await?,
            },
            called => called,
        };
        call_answer(&request.target, called)
    }

    /// Gives the client's answers to the server or the person's decision that a call waits for.
    pub(super) async fn resume(
        &self,
        gateway: &EngineGateway,
        pending: PendingCall,
        responses: InputResponses,
    ) -> Result<CallAnswer, Refusal> {
        let answers = pending.answers_in(&responses);
        if !answers.is_empty() {
            // The server gets no answer that is not written down.
            let questions = pending.questions();
            self.record_questions(pending.recorded_name(), questions, Some(answers)).await?;
        }
        match pending.answer(responses) {
            Ok(Answered::Server(request, running)) => {
                let target = request.target.clone();
                call_answer(&target, self.follow(request, running).await?)
            }
            Ok(Answered::Permission(request, answer)) => {
                let name = request.target.recorded_name();
                let is_permitted = permission::permits(&name, answer);
                self.record_permission(gateway, &name, &request.arguments, is_permitted).await?;
                let called = self.make_permitted(gateway, &request).await?;
                call_answer(&request.target, called)
            }
            Err(unanswered) => {
                let asked = self.shared.pending.keep(*unanswered)?;
                Ok(CallAnswer::InputRequired(Box::new(asked)))
            }
        }
    }

    /// Asks the person in the client, if the approval policy takes an answer from there. Nothing is asked, and no call is
    /// made, before it is written down. A client of the newest protocol is asked by the result; others have answered then.
    async fn ask(
        &self,
        gateway: &EngineGateway,
        request: &RequestedCall,
    ) -> Result<Option<InputRequiredResult>, Refusal> {
        let (name, arguments) = (request.target.recorded_name(), &request.arguments);
        if !answers_in_client_count(self.shared.engine(), self.session, &tool_risks(&name)).await {
            self.record_ask(gateway, &name, arguments, GatewayAsk::NotAsked).await?;
            return Err(self.refused(gateway, &name, arguments, permission::not_asked(&name)).await);
        }
        self.record_ask(gateway, &name, arguments, GatewayAsk::Asked).await?;
        if is_newest(self.context)
            && kinds_of(self.context.client_capabilities().as_ref()).elicitation
            && let Some(question) = permission::question(&name, arguments)
        {
            return self.shared.pending.keep(PendingCall::of_permission(request.clone(), question)).map(Some);
        }
        let is_permitted = permission::ask(&name, arguments, self.context).await;
        self.record_permission(gateway, &name, arguments, is_permitted).await.map(|()| None)
    }

    /// Writes the person's answer down. The error says that they do not permit the call.
    async fn record_permission(
        &self,
        gateway: &EngineGateway,
        name: &str,
        arguments: &Arguments,
        is_permitted: bool,
    ) -> Result<(), Refusal> {
        if is_permitted {
            return self.record_ask(gateway, name, arguments, GatewayAsk::Permitted).await;
        }
        self.record_ask(gateway, name, arguments, GatewayAsk::NotPermitted).await?;
        Err(self.refused(gateway, name, arguments, permission::not_permitted(name)).await)
    }

    async fn record_ask(
        &self,
        gateway: &EngineGateway,
        name: &str,
        arguments: &Arguments,
        state: GatewayAsk,
    ) -> Result<(), Refusal> {
        gateway.record_ask(self.session, self.by, name, arguments, state).await
    }

    /// Writes down what a server asks during a call or, with answers, what it is answered.
    async fn record_questions(
        &self,
        tool: String,
        questions: JsonObject,
        answers: Option<JsonObject>,
    ) -> Result<(), Refusal> {
        let Some(gateway) = self.shared.options.gateway.as_ref().filter(|_| !questions.is_empty()) else {
            return Ok(());
        };
        let (questions, answers) = (Value::Object(questions), answers.map(Value::Object));
        gateway.record_questions(self.session, self.by, &tool, questions, answers).await
    }

    async fn refused(&self, gateway: &EngineGateway, name: &str, arguments: &Arguments, refusal: Refusal) -> Refusal {
        gateway.record_refused(self.session, self.by, name, arguments, &refusal).await;
        refusal
    }

    /// Makes a call that the person permitted.
    async fn make_permitted(&self, gateway: &EngineGateway, request: &RequestedCall) -> Result<Called, Refusal> {
        self.make_once(gateway, request, Permitted::ByPerson, None, InputResponses::new()).await
    }

    async fn make_once(
        &self,
        gateway: &EngineGateway,
        request: &RequestedCall,
        permitted: Permitted,
        decided: Option<DecidedCall>,
        responses: InputResponses,
    ) -> Result<Called, Refusal> {
        let (gateway, by, call) = (gateway.clone(), self.by.clone(), request.clone());
        let making = move |events: CallEventSender| async move {
            let RequestedCall { session, target, arguments } = call;
            match target {
                RequestTarget::Tool { name, .. } => {
                    let decided = match decided {
                        Some(decided) => decided,
                        None => gateway.decide(&session, &name, &arguments, permitted).await?,
                    };
                    gateway.call(&session, &by, &name, arguments, decided, &events).await
                }
                RequestTarget::Resource { server, uri } => {
                    gateway.read_resource(&session, &by, (&server, &uri), permitted, &events).await
                }
                RequestTarget::Prompt { server, name } => {
                    let given = arguments.get("arguments").and_then(Value::as_object);
                    gateway.get_prompt(&session, &by, (&server, &name), given, permitted, &events).await
                }
            }
        };
        self.begin(request.clone(), responses, making).await
    }

    /// Makes a request to a server. A client of the newest protocol is asked by the result of its own, others by requests.
    async fn begin<M>(
        &self,
        request: RequestedCall,
        responses: InputResponses,
        making: impl FnOnce(CallEventSender) -> M,
    ) -> Result<Called, Refusal>
    where
        M: Future<Output = Result<GatewayOutcome, Refusal>> + Send + 'static,
    {
        if is_newest(self.context) {
            // Calls of this kind have no connection in common, so each of them is a client.
            let client = Arc::new(());
            let (sender, events) = CallEventSender::new(ClientKey(Arc::as_ptr(&client).addr()));
            let kinds = kinds_of(self.context.client_capabilities().as_ref());
            let making = making(sender.with_kinds(kinds));
            let (ended, outcome) = oneshot::channel();
            let task = tokio::spawn(async move {
                let outcome = making.await;
                // Dropped last, so that no other call has its key meanwhile.
                drop(client);
                let _ = ended.send(outcome);
            });
            let task = AbortOnDrop(task.abort_handle());
            let running = RunningCall { events, outcome, task, given: responses, has_answers: false };
            return self.follow(request, running).await;
        }
        // Calls of one connection share the server.
        let (sender, events) = CallEventSender::new(ClientKey(Arc::as_ptr(self.shared).addr()));
        let kinds = kinds_of(self.context.client_capabilities().as_ref());
        let making = making(sender.with_kinds(kinds));
        self.follow_asking(&request, making, events).await
    }

    /// Waits until the call has ended or the server asks something.
    async fn follow(&self, request: RequestedCall, mut running: RunningCall) -> Result<Called, Refusal> {
        let can = kinds_of(self.context.client_capabilities().as_ref());
        let mut refused = None;
        loop {
            let told = tokio::select! {
                biased;
                outcome = &mut running.outcome => {
                    while let Ok(event) = running.events.try_recv() {
                        if let Some(Told::Refused(error)) = self.tell(request.target.server(), event).await {
                            refused = Some(error);
                        }
                    }
                    let ended = outcome.unwrap_or_else(|_| Err(crashed(&request.target.recorded_name())));
                    let passed = refused.filter(|error| running.has_answers || error.code == MISSING_CAPABILITY);
                    return passed.map_or_else(|| ended.map(Called::Ended), |error| Ok(Called::Refused(error)));
                }
                () = self.context.ct.cancelled() => return Err(Refusal::invalid("The call was cancelled.")),
                Some(event) = running.events.recv() => self.tell(request.target.server(), event).await,
            };
            let pending = match told {
                None => continue,
                Some(Told::Refused(error)) => {
                    refused = Some(error);
                    continue;
                }
                Some(Told::Question(question)) => {
                    match PendingCall::of_question(request.clone(), running, question, can) {
                        Ok(pending) => pending,
                        Err(unasked) => {
                            running = unasked;
                            continue;
                        }
                    }
                }
                Some(Told::Input(input)) => {
                    let given = answers_to(&input.requests, &running.given);
                    if given.is_empty() || given.len() < input.requests.len() {
                        PendingCall::of_input(request, running, input)
                    } else {
                        let (tool, questions) = (request.target.recorded_name(), input.requests.clone());
                        self.record_questions(tool, questions, Some(given.clone())).await?;
                        running.given.retain(|name, _| !given.contains_key(name));
                        running.has_answers = true;
                        input.answer(given);
                        continue;
                    }
                }
            };
            self.record_questions(pending.recorded_name(), pending.questions(), None).await?;
            return self.shared.pending.keep(pending).map(Called::Asks);
        }
    }

    /// Waits until the call has ended. What the server asks meanwhile the client is asked by requests.
    async fn follow_asking(
        &self,
        request: &RequestedCall,
        making: impl Future<Output = Result<GatewayOutcome, Refusal>>,
        mut events: mpsc::Receiver<CallEvent>,
    ) -> Result<Called, Refusal> {
        let mut making = std::pin::pin!(making);
        let server = request.target.server();
        let mut questions = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                outcome = &mut making => {
                    // What the server said before its answer is told before it.
                    while let Ok(event) = events.try_recv() {
                        drop(self.tell(server, event).await);
                    }
                    return outcome.map(Called::Ended);
                }
                () = self.context.ct.cancelled() => return Err(Refusal::invalid("The call was cancelled.")),
                Some(event) = events.recv() => {
                    if let (Some(question), Some(server)) = (self.tell(server, event).await, server) {
                        questions.push(self.pass_on(server, request, question));
                    }
                }
                Some(()) = questions.next() => {}
            }
        }
    }

    /// Asks the client by requests. The server is answered only what is written down.
    async fn pass_on(&self, server: &ServerName, request: &RequestedCall, told: Told) {
        let tool = request.target.recorded_name();
        let asked = match &told {
            Told::Question(question) => question_by_name(question.kind, &question.params),
            Told::Input(input) => input.requests.clone(),
            // The call says it.
            Told::Refused(_) => return,
        };
        if self.record_questions(tool.clone(), asked.clone(), None).await.is_err() {
            return;
        }
        let peer = &self.context.peer;
        match told {
            Told::Question(question) => {
                let answer = server_questions::ask(server, &question, peer).await;
                let written = self.record_questions(tool, asked, Some(server_questions::by_name(&answer))).await;
                if written.is_ok() {
                    question.answer(answer);
                }
            }
            Told::Input(input) => {
                let Some(answers) = server_questions::ask_all(server, &input, peer).await else { return };
                if self.record_questions(tool, asked, Some(answers.clone())).await.is_ok() {
                    input.answer(answers);
                }
            }
            Told::Refused(_) => {}
        }
    }

    /// Tells the client what the server says, and gives back what it asks.
    async fn tell(&self, server: Option<&ServerName>, event: CallEvent) -> Option<Told> {
        match event {
            CallEvent::Progress(CallProgress { progress, total, message }) => {
                progress::send(self.context, progress, total, message.as_deref()).await;
                None
            }
            CallEvent::Log(message) => {
                if let Some(server) = server {
                    notifications::pass_on_log(self.shared, self.context, server, message).await;
                }
                None
            }
            CallEvent::Question(question) => Some(Told::Question(question)),
            CallEvent::InputRequired(input) => Some(Told::Input(input)),
            CallEvent::Refused(error) => Some(Told::Refused(error)),
        }
    }
}

fn call_answer(target: &RequestTarget, called: Called) -> Result<CallAnswer, Refusal> {
    let outcome = match called {
        Called::Ended(outcome) => outcome,
        Called::Asks(asked) => return Ok(CallAnswer::InputRequired(Box::new(asked))),
        Called::Refused(RpcError { code, message, data }) => {
            let message = visible(&message).into_owned();
            return Ok(CallAnswer::Error(Box::new(ErrorData::new(ErrorCode(code), message, data))));
        }
    };
    match outcome {
        GatewayOutcome::Answered(answer) => match (answer.failure, answer.passthrough, target.server()) {
            // The tool ran and says that it failed; the model reads what it says.
            (Some(failure), _, _) => Err(Refusal::new(RefusalCode::Unavailable, failure)),
            (None, Some(result), Some(server)) => {
                Ok(CallAnswer::PassedOn(Box::new(upstream::call_result(server, result))))
            }
            (None, _, _) => Ok(CallAnswer::Own(answer.value)),
        },
        GatewayOutcome::Planned(value) | GatewayOutcome::Recorded(value) => Ok(CallAnswer::Own(value)),
        GatewayOutcome::Ask => Err(permission::not_permitted(&target.recorded_name())),
    }
}

fn crashed(name: &str) -> Refusal {
    Refusal::new(RefusalCode::Internal, format!("The call of `{}` crashed; see the log.", visible(name)))
}

/// Makes the calls of an approved plan, and tells the client about other upstream tools, as long as it is polled.
pub(super) async fn carry_out(
    gateway: &EngineGateway,
    session: &SessionIdentity,
    changes: &SessionChanges,
) -> super::Never {
    let (mut entries, mut tools) = (changes.entries(), gateway.tool_changes());
    loop {
        let again = gateway.carry_out(session).await.unwrap_or_else(|error| {
            tracing::warn!(event = "gateway_plan_not_run", session_identity = %session, %error);
            true
        });
        tokio::select! {
            () = notifications::changed(&mut entries) => {}
            () = notifications::changed(&mut tools) => changes.tools_changed(),
            () = sleep(RETRY_PAUSE), if again => {}
        }
    }
}
