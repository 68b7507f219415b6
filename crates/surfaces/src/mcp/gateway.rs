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
use planwright_engine::upstream::{Arguments, CallEvent, CallEventSender, CallProgress, ClientKey, ServerQuestion};
use rmcp::model::{ElicitationSchema, JsonObject, Tool, ToolAnnotations};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::time::sleep;

use super::answer::CallAnswer;
use super::decision::{answers_in_client_count, choose};
use super::server::Shared;
use super::session_changes::SessionChanges;
use super::{notifications, progress, server_questions, upstream};

pub use planwright_agent::{Gateway, NamedServers};

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

/// The client of a connection, for one call.
pub(super) struct GatewayClient<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) session: &'a SessionIdentity,
    pub(super) by: &'a Actor,
    pub(super) context: &'a RequestContext<RoleServer>,
}

impl GatewayClient<'_> {
    /// Carries out a call to an upstream tool.
    pub(super) async fn call(
        &self,
        gateway: &EngineGateway,
        name: &str,
        arguments: Arguments,
    ) -> Result<CallAnswer, Refusal> {
        let server = gateway.server_of(name);
        let mut permitted = Permitted::NotAsked;
        loop {
            let outcome = self.call_once(gateway, server.as_ref(), name, arguments.clone(), permitted).await?;
            return match outcome {
                GatewayOutcome::Answered(answer) => match (answer.failure, answer.passthrough, &server) {
                    // The tool ran and says that it failed; the model reads what it says.
                    (Some(failure), _, _) => Err(Refusal::new(RefusalCode::Unavailable, failure)),
                    (None, Some(result), Some(server)) => {
                        Ok(CallAnswer::PassedOn(Box::new(upstream::call_result(server, result))))
                    }
                    (None, _, _) => Ok(CallAnswer::Own(answer.value)),
                },
                GatewayOutcome::Planned(value) | GatewayOutcome::Recorded(value) => Ok(CallAnswer::Own(value)),
                GatewayOutcome::Ask if permitted == Permitted::NotAsked => {
                    self.ask(gateway, name, &arguments).await?;
                    permitted = Permitted::ByPerson;
                    continue;
                }
                GatewayOutcome::Ask => Err(not_permitted(name)),
            };
        }
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
        arguments: Arguments,
        permitted: Permitted,
    ) -> Result<GatewayOutcome, Refusal> {
        // Calls of one connection share the server.
        let client = ClientKey(Arc::as_ptr(self.shared).addr());
        let (sender, mut events) = CallEventSender::new(client);
        let mut calling = std::pin::pin!(gateway.call(self.session, self.by, name, arguments, permitted, &sender));
        let mut questions = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                outcome = &mut calling => {
                    // What the server said before its answer is told before it.
                    while let Ok(event) = events.try_recv() {
                        self.tell(server, event).await;
                    }
                    return outcome;
                }
                () = self.context.ct.cancelled() => return Err(Refusal::invalid("The call was cancelled.")),
                Some(event) = events.recv() => {
                    if let (Some(question), Some(server)) = (self.tell(server, event).await, server) {
                        questions.push(server_questions::pass_on(server, question, &self.context.peer));
                    }
                }
                Some(()) = questions.next() => {}
            }
        }
    }

    /// Tells the client what the server says, and gives back what it asks.
    async fn tell(&self, server: Option<&ServerName>, event: CallEvent) -> Option<ServerQuestion> {
        match event {
            CallEvent::Progress(CallProgress { progress, total, message }) => {
                progress::send(self.context, progress, total, message.as_deref()).await;
                None
            }
            CallEvent::Log(message) => {
                if let Some(server) = server {
                    notifications::pass_on_log(self.shared, &self.context.peer, server, message).await;
                }
                None
            }
            CallEvent::Question(question) => Some(question),
        }
    }
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
