//! One tool of an upstream server, and reading one of its resources as a call like any other: an address that the server does not
//! list is free text, and can say or change something.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::plan::Digest;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::upstream::{READ_RESOURCE, ServerName, UpstreamTool, argument_problems};
use planwright_core::visible::{quoted, visible};
use planwright_engine::ledger::LedgerError;
use planwright_engine::upstream::{CallEvent, CallEventSender, CallObserver, ClientKey, QuestionKinds};
use planwright_engine::upstream::{UpstreamError, UpstreamServer};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::upstream_tools::Shared;
use super::{UpstreamTools, answer};
use crate::tool_schema::Arguments;
use crate::toolbox::{Tool, ToolAnswer, ToolContext};

/// The time between two lines of progress that a person is shown.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// What is known about a tool since a person accepted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolState {
    AsAccepted,
    Changed,
    /// The server does not offer it any more.
    Removed,
}

#[derive(Debug)]
pub(super) struct ServerTool {
    spec: ToolSpec,
    server: ServerName,
    /// The server's own name of the tool.
    own_name: String,
    accepted: Digest,
    effect: ToolEffect,
    state: ToolState,
    longest_call: Duration,
    shared: Arc<Shared>,
}

impl ServerTool {
    pub(super) fn new(
        shared: &Arc<Shared>,
        server: &UpstreamServer,
        tool: &UpstreamTool,
        name: String,
        state: ToolState,
    ) -> Self {
        Self {
            spec: tool.spec(name),
            server: server.name.clone(),
            own_name: tool.name.clone(),
            accepted: tool.digest(),
            effect: tool.effect(server.trust),
            state,
            longest_call: server.longest_call,
            shared: Arc::clone(shared),
        }
    }

    fn changed(&self) -> Refusal {
        Refusal::policy_denied(format!(
            "The MCP server {} describes its tool {} differently since a person accepted it, so the call is refused. A \
             person looks at the difference with `/tools accept {}` or `planwright mcp-server accept {}`.",
            self.server,
            quoted(&self.own_name),
            self.server,
            self.server
        ))
    }

    fn removed(&self) -> Refusal {
        Refusal::not_found(format!(
            "The MCP server {} does not offer {} any more.",
            self.server,
            quoted(&self.own_name)
        ))
    }

    fn check_state(&self) -> Result<(), Refusal> {
        match self.state {
            ToolState::AsAccepted => Ok(()),
            ToolState::Changed => Err(self.changed()),
            ToolState::Removed => Err(self.removed()),
        }
    }

    /// Asks the server, which is started if it has to be, whether the tool is the accepted one.
    async fn check_offer(&self) -> Result<(), Refusal> {
        let offer = self.shared.servers.offer(&self.server).await.map_err(|error| unavailable(&error))?;
        match offer.digest_of(&self.own_name) {
            Some(digest) if digest == self.accepted => Ok(()),
            found => {
                self.shared.record_or_warn(&self.server, &offer).await;
                Err(if found.is_some() { self.changed() } else { self.removed() })
            }
        }
    }
}

#[async_trait]
impl Tool for ServerTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        self.effect
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        self.check_state()?;
        let problems = argument_problems(&self.spec.input_schema, &Value::Object(arguments.clone()));
        if problems.is_empty() {
            return Ok(());
        }
        let named: Vec<_> = problems.iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect();
        let named = named.join("; ");
        let message = format!("The arguments of {} do not fit: {}.", quoted(&self.spec.name), visible(&named));
        Err(Refusal::invalid(message).with_problems(problems))
    }

    fn time_limit(&self, _arguments: &Arguments, _usual: Duration) -> Duration {
        self.longest_call
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        self.check_state()?;
        self.check_offer().await?;
        let observer = ContextObserver::new(context, &self.spec.name);
        match self.shared.servers.call(&self.server, &self.own_name, arguments, &observer).await {
            Ok(result) => Ok(answer::of(&self.shared, context, result).await),
            Err(error @ UpstreamError::Refused { .. }) => {
                let message = sentence(&error);
                Ok(ToolAnswer { failure: Some(message.clone()), ..ToolAnswer::from(json!({ "message": message })) })
            }
            Err(error) if error.may_have_run() && self.effect == ToolEffect::Changes => {
                let message =
                    "It is not known whether it was done. Find out before it is made again, or ask the person.";
                Ok(ToolAnswer::uncertain(format!("{} {message}", sentence(&error))))
            }
            Err(error) => Err(unavailable(&error)),
        }
    }
}

fn unavailable(error: &UpstreamError) -> Refusal {
    Refusal::new(RefusalCode::Unavailable, sentence(error))
}

fn sentence(error: &UpstreamError) -> String {
    let message = visible(&error.to_string()).into_owned();
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let rest = letters.as_str();
    let end = if rest.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{rest}{end}")
}

/// Brings what a server says to the client of the gateway that made the call. For a call of this program's agent it shows a person
/// how far it is, a few lines a second, and refuses what the server asks.
pub(crate) struct ContextObserver<'a> {
    context: ToolContext<'a>,
    tool: &'a str,
    next: Mutex<Instant>,
}

impl<'a> ContextObserver<'a> {
    pub(crate) fn new(context: ToolContext<'a>, tool: &'a str) -> Self {
        Self { context, tool, next: Mutex::new(Instant::now()) }
    }
}

impl CallObserver for ContextObserver<'_> {
    fn on_event(&self, event: CallEvent) {
        if let Some(events) = self.context.call_events() {
            return events.send(event);
        }
        match event {
            CallEvent::Progress(progress) => {
                let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                if now >= *next {
                    *next = now + PROGRESS_INTERVAL;
                    self.context.send_output(self.tool, format!("{}\n", progress.describe()));
                }
            }
            CallEvent::Log(_) | CallEvent::Refused(_) => {}
            CallEvent::Question(question) => drop(question),
            CallEvent::InputRequired(questions) => drop(questions),
        }
    }

    fn kinds(&self) -> QuestionKinds {
        self.context.call_events().map(CallEventSender::kinds).unwrap_or_default()
    }

    fn client(&self) -> Option<ClientKey> {
        self.context.call_events().map(CallEventSender::client)
    }
}

#[derive(Debug)]
pub(super) struct ResourceTool {
    spec: ToolSpec,
    server: ServerName,
    longest_call: Duration,
    upstream: UpstreamTools,
}

/// The name of the tool that reads resources of a server.
pub(crate) fn resource_tool_name(server: &ServerName) -> String {
    format!("{server}__{READ_RESOURCE}")
}

impl ResourceTool {
    /// The tool with this name, if it is one of a configured server.
    pub(super) fn named(upstream: &UpstreamTools, name: &str) -> Option<Self> {
        let server = upstream.servers().iter().find(|known| resource_tool_name(&known.name) == name)?;
        let spec = ToolSpec {
            name: name.to_owned(),
            description: format!("Read the resource of the MCP server {} with this address.", server.name),
            input_schema: json!({
                "type": "object",
                "properties": { "uri": { "type": "string" } },
                "required": ["uri"],
                "additionalProperties": false,
            }),
        };
        let (server, longest_call) = (server.name.clone(), server.longest_call);
        Some(Self { spec, server, longest_call, upstream: upstream.clone() })
    }
}

#[async_trait]
impl Tool for ResourceTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// No annotation of the server is about its addresses, so a person who believes those believes nothing about this.
    fn effect(&self) -> ToolEffect {
        ToolEffect::Changes
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        uri_of(&self.spec.name, arguments).map(drop)
    }

    fn time_limit(&self, _arguments: &Arguments, _usual: Duration) -> Duration {
        self.longest_call
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let uri = uri_of(&self.spec.name, &arguments)?;
        let observer = ContextObserver::new(context, &self.spec.name);
        let read = self.upstream.read_resource(&self.server, &uri, &observer).await;
        read.map(ToolAnswer::from).map_err(LedgerError::into_refusal)
    }
}

fn uri_of(name: &str, arguments: &Arguments) -> Result<String, Refusal> {
    let uri = arguments.get("uri").and_then(Value::as_str).filter(|uri| !uri.trim().is_empty());
    let missing = || Refusal::invalid(format!("{} takes `uri`, the address of the resource.", quoted(name)));
    uri.map(str::to_owned).ok_or_else(missing)
}
