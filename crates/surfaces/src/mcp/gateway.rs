//! The tools of upstream servers for the client's agent, behind the gate.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use planwright_agent::{Gateway as EngineGateway, GatewayOutcome, GatewayTool, Permitted};
use planwright_core::actor::Actor;
use planwright_core::ask::GatewayAsk;
use planwright_core::choices::{ChoiceKind, Choices, external_call_choices};
use planwright_core::gate::ToolEffect;
use planwright_core::plan::risk::tool_risks;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_core::visible::visible;
use planwright_engine::upstream::{
    Arguments, CallEvent, CallEventSender, CallProgress, ClientInput, ClientKey, InputRequired, ServerError,
    ServerQuestion,
};
use rmcp::ErrorData;
use rmcp::model::{
    ElicitationSchema, ErrorCode, InputRequiredResult, InputResponses, JsonObject, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::answer::CallAnswer;
use super::client_input::{input_of, is_newest, kinds_of};
use super::decision::{answers_in_client_count, choose};
use super::pending_calls::{AbortOnDrop, PendingCall, RequestedCall, RunningCall};
use super::server::Shared;
use super::session_changes::SessionChanges;
use super::{notifications, progress, server_questions, upstream};

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
    Refused(ServerError),
}

/// What a server says during a call that is not passed on as it is.
enum Told {
    Question(ServerQuestion),
    Input(InputRequired),
    Refused(ServerError),
}

/// The client of a connection, for one call.
pub(super) struct GatewayClient<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) session: &'a SessionIdentity,
    pub(super) by: &'a Actor,
    pub(super) context: &'a RequestContext<RoleServer>,
}

impl GatewayClient<'_> {
    /// Carries out a call to an upstream tool. `responses` are the client's answers to questions that it expects.
    pub(super) async fn call(
        &self,
        gateway: &EngineGateway,
        name: &str,
        arguments: Arguments,
        responses: InputResponses,
    ) -> Result<CallAnswer, Refusal> {
        let server = gateway.server_of(name);
        if is_newest(self.context)
            && let Some(level) = self.context.meta.log_level()
        {
            gateway.set_log_level(notifications::level_name(level)).await;
        }
        let outcome = match self.call_once(gateway, server.as_ref(), name, &arguments, responses).await? {
            Called::Ended(GatewayOutcome::Ask) => {
                self.ask(gateway, name, &arguments).await?;
                self.call_asking(gateway, server.as_ref(), name, arguments, Permitted::ByPerson).await?
            }
            called => called,
        };
        call_answer(server.as_ref(), name, outcome)
    }

    /// Gives the client's answers to the server that waits for them.
    pub(super) async fn resume(&self, pending: PendingCall, responses: InputResponses) -> Result<CallAnswer, Refusal> {
        let (request, running) = match pending.answer(responses) {
            Ok(answered) => answered,
            Err(unanswered) => {
                let asked = self.shared.pending.keep(*unanswered)?;
                return Ok(CallAnswer::InputRequired(Box::new(asked)));
            }
        };
        let (server, name) = (running.server.clone(), request.tool.clone());
        call_answer(server.as_ref(), &name, self.follow(request, running).await?)
    }

    /// Asks the person in the client, if the approval policy takes an answer from there. Nothing is asked, and no call is
    /// made, before it is written down.
    async fn ask(&self, gateway: &EngineGateway, name: &str, arguments: &Arguments) -> Result<(), Refusal> {
        let record = |state| gateway.record_ask(self.session, self.by, name, arguments, state);
        let refusal = if answers_in_client_count(self.shared.engine(), self.session, &tool_risks(name)).await {
            record(GatewayAsk::Asked).await?;
            if ask(name, arguments, self.context).await {
                return record(GatewayAsk::Permitted).await;
            }
            record(GatewayAsk::NotPermitted).await?;
            not_permitted(name)
        } else {
            record(GatewayAsk::NotAsked).await?;
            not_asked(name)
        };
        gateway.record_refused(self.session, self.by, name, arguments, &refusal).await;
        Err(refusal)
    }

    async fn call_once(
        &self,
        gateway: &EngineGateway,
        server: Option<&ServerName>,
        name: &str,
        arguments: &Arguments,
        responses: InputResponses,
    ) -> Result<Called, Refusal> {
        if is_newest(self.context) {
            return self.begin(gateway, server, name, arguments.clone(), responses).await;
        }
        self.call_asking(gateway, server, name, arguments.clone(), Permitted::NotAsked).await
    }

    /// Makes a call that goes on when its request is answered with a question.
    async fn begin(
        &self,
        gateway: &EngineGateway,
        server: Option<&ServerName>,
        name: &str,
        arguments: Arguments,
        responses: InputResponses,
    ) -> Result<Called, Refusal> {
        let (ended, outcome) = oneshot::channel();
        // Calls of this kind have no connection in common, so each of them is a client.
        let client = Arc::new(());
        let has_answers = !responses.is_empty();
        let (sender, events) = CallEventSender::new(ClientKey(Arc::as_ptr(&client).addr()));
        let sender = sender.with_input(input_of(self.context, Some(responses)));
        let request = RequestedCall { session: self.session.clone(), tool: name.to_owned(), arguments };
        let (gateway, by, call) = (gateway.clone(), self.by.clone(), request.clone());
        let task = tokio::spawn(async move {
            let RequestedCall { session, tool, arguments } = call;
            let outcome = gateway.call(&session, &by, &tool, arguments, Permitted::NotAsked, &sender).await;
            // Dropped last, so that no other call has its key meanwhile.
            drop(client);
            let _ = ended.send(outcome);
        });
        let task = AbortOnDrop(task.abort_handle());
        self.follow(request, RunningCall { server: server.cloned(), events, outcome, task, has_answers }).await
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
                        if let Some(Told::Refused(error)) = self.tell(running.server.as_ref(), event).await {
                            refused = Some(error);
                        }
                    }
                    let ended = outcome.unwrap_or_else(|_| Err(crashed(&request.tool)));
                    let passed = refused.filter(|error| running.has_answers || error.code == MISSING_CAPABILITY);
                    return passed.map_or_else(|| ended.map(Called::Ended), |error| Ok(Called::Refused(error)));
                }
                () = self.context.ct.cancelled() => return Err(Refusal::invalid("The call was cancelled.")),
                Some(event) = running.events.recv() => self.tell(running.server.as_ref(), event).await,
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
                Some(Told::Input(input)) => PendingCall::of_input(request, running, input),
            };
            return self.shared.pending.keep(pending).map(Called::Asks);
        }
    }

    /// Makes a call for a client that is asked by requests of the server.
    async fn call_asking(
        &self,
        gateway: &EngineGateway,
        server: Option<&ServerName>,
        name: &str,
        arguments: Arguments,
        permitted: Permitted,
    ) -> Result<Called, Refusal> {
        // Calls of one connection share the server.
        let client = ClientKey(Arc::as_ptr(self.shared).addr());
        let (sender, mut events) = CallEventSender::new(client);
        let kinds = kinds_of(self.context.client_capabilities().as_ref());
        let sender = sender.with_input(ClientInput { kinds, responses: None });
        let mut calling = std::pin::pin!(gateway.call(self.session, self.by, name, arguments, permitted, &sender));
        let mut questions = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                outcome = &mut calling => {
                    // What the server said before its answer is told before it.
                    while let Ok(event) = events.try_recv() {
                        drop(self.tell(server, event).await);
                    }
                    return outcome.map(Called::Ended);
                }
                () = self.context.ct.cancelled() => return Err(Refusal::invalid("The call was cancelled.")),
                Some(event) = events.recv() => {
                    if let (Some(question), Some(server)) = (self.tell(server, event).await, server) {
                        questions.push(self.pass_on(server, question));
                    }
                }
                Some(()) = questions.next() => {}
            }
        }
    }

    async fn pass_on(&self, server: &ServerName, told: Told) {
        match told {
            Told::Question(question) => server_questions::pass_on(server, question, &self.context.peer).await,
            Told::Input(input) => server_questions::pass_on_input(server, input, &self.context.peer).await,
            // The call says it.
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

fn call_answer(server: Option<&ServerName>, name: &str, called: Called) -> Result<CallAnswer, Refusal> {
    let outcome = match called {
        Called::Ended(outcome) => outcome,
        Called::Asks(asked) => return Ok(CallAnswer::InputRequired(Box::new(asked))),
        Called::Refused(ServerError { code, message, data }) => {
            let message = visible(&message).into_owned();
            return Ok(CallAnswer::Error(Box::new(ErrorData::new(ErrorCode(code), message, data))));
        }
    };
    match outcome {
        GatewayOutcome::Answered(answer) => match (answer.failure, answer.passthrough, server) {
            // The tool ran and says that it failed; the model reads what it says.
            (Some(failure), _, _) => Err(Refusal::new(RefusalCode::Unavailable, failure)),
            (None, Some(result), Some(server)) => {
                Ok(CallAnswer::PassedOn(Box::new(upstream::call_result(server, result))))
            }
            (None, _, _) => Ok(CallAnswer::Own(answer.value)),
        },
        GatewayOutcome::Planned(value) | GatewayOutcome::Recorded(value) => Ok(CallAnswer::Own(value)),
        GatewayOutcome::Ask => Err(not_permitted(name)),
    }
}

fn crashed(name: &str) -> Refusal {
    Refusal::new(RefusalCode::Internal, format!("The call of `{}` crashed; see the log.", visible(name)))
}

fn not_asked(name: &str) -> Refusal {
    Refusal::policy_denied(format!(
        "`{}` is made only after a person permitted it, and the approval policy takes no answer from the program that the agent \
         runs in. Write the call into a plan that a person approves, or have the person permit it by a rule in `[[permissions]]`.",
        visible(name)
    ))
}

fn not_permitted(name: &str) -> Refusal {
    Refusal::policy_denied(format!(
        "`{}` is made only after a person permitted it in the client, and they did not. A rule in `[[permissions]]` permits it \
         without asking.",
        visible(name)
    ))
}

/// Asks the person in the client. A client that cannot ask means no.
async fn ask(name: &str, arguments: &Arguments, context: &RequestContext<RoleServer>) -> bool {
    let can_ask = context.peer.peer_info().is_some_and(|info| info.capabilities.elicitation.is_some());
    if !can_ask {
        return false;
    }
    let Choices { situation, list } = external_call_choices(name);
    let shown = format!("{:#}", Value::Object(arguments.clone()));
    let message = format!("{situation} with\n\n{}", visible(&shown));
    let chosen = choose(&context.peer, message, ElicitationSchema::builder(), &list, &[]).await;
    matches!(chosen, Some((ChoiceKind::Permit(grant), _)) if grant.permits())
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
