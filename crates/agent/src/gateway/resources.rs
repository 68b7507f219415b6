//! Resources of upstream servers pass the same gate as their tools.

use planwright_core::actor::Actor;
use planwright_core::gate::ToolEffect;
use planwright_core::gateway::GatewayReason;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use planwright_engine::upstream::{CallEventSender, ClientKey, UpstreamRequest};
use serde_json::{Value, json};

use super::prompts::not_configured;
use super::record::MadeCall;
use super::{Gateway, GatewayOutcome, Permitted};
use crate::tool_schema::Arguments;
use crate::toolbox::{Tool, ToolAnswer};
use crate::upstream::resource_tool_name;

impl Gateway {
    /// The servers whose resources and prompts are passed on: those that offer what a person accepted, and that no rule denies.
    pub async fn servers(&self) -> LedgerResult<Vec<ServerName>> {
        let Some(upstream) = self.agent.upstream() else { return Ok(Vec::new()) };
        let mut servers = upstream.accepted_servers().await?;
        servers.retain(|server| {
            let name = resource_tool_name(server);
            let effect = upstream.resource_tool(server).map_or(ToolEffect::Changes, |tool| tool.effect());
            !self.agent.context.denies(&name, effect)
        });
        Ok(servers)
    }

    /// Asks a server for lists and subscriptions.
    pub async fn request(&self, server: &ServerName, request: UpstreamRequest) -> LedgerResult<Value> {
        match self.agent.upstream() {
            Some(upstream) => upstream.request(server, request).await,
            None => Err(Refusal::not_found(format!("No MCP server {server} is configured.")).into()),
        }
    }

    /// Reads a resource. One that its server lists is read at once, unless a rule has a person asked about it; any other address is
    /// free text, and reading it is a call like any other. `events` gets what the server says and asks meanwhile.
    pub async fn read_resource(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        (server, uri): (&ServerName, &str),
        permitted: Permitted,
        events: &CallEventSender,
    ) -> Result<GatewayOutcome, Refusal> {
        let tool = self.agent.upstream().and_then(|upstream| upstream.resource_tool(server));
        let tool = tool.ok_or_else(|| not_configured(server))?;
        let arguments = Arguments::from_iter([("uri".to_owned(), json!(uri))]);
        if self.is_listed(server, uri).await
            && matches!(self.is_asked_about(session, tool.as_ref(), &arguments).await, Ok(false))
        {
            let contents = self.run_listed(session, by, tool.as_ref(), arguments, permitted, events).await?;
            return Ok(GatewayOutcome::Answered(contents.into()));
        }
        let name = &tool.spec().name;
        let decided = self.decide(session, name, &arguments, permitted).await?;
        let contents = match self.call(session, by, name, arguments, decided, events).await? {
            GatewayOutcome::Answered(ToolAnswer { failure: Some(failure), .. }) => {
                return Err(Refusal::new(RefusalCode::Unavailable, failure));
            }
            GatewayOutcome::Answered(answer) => answer.value,
            GatewayOutcome::Planned(planned) => as_text(uri, planned["message"].as_str().unwrap_or_default()),
            GatewayOutcome::Recorded(recorded) => match &recorded["result"] {
                contents @ Value::Object(_) => contents.clone(),
                result => as_text(uri, result.as_str().unwrap_or_default()),
            },
            GatewayOutcome::Ask => return Ok(GatewayOutcome::Ask),
        };
        Ok(GatewayOutcome::Answered(contents.into()))
    }

    /// Makes a request for something that the server lists, and writes it down as a call that only read.
    pub(super) async fn run_listed(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        tool: &dyn Tool,
        arguments: Arguments,
        permitted: Permitted,
        events: &CallEventSender,
    ) -> Result<Value, Refusal> {
        let why = match permitted {
            Permitted::NotAsked => GatewayReason::Reads,
            Permitted::ByPerson => GatewayReason::Permitted,
        };
        let made = MadeCall { why, ..self.listed_call(session, by, tool, &arguments) };
        let answer = self.answer_of(&made, events).await;
        self.record_read(&made, &answer).await?;
        answer.map(|answer| answer.value)
    }

    /// Runs the call without an entry in the journal.
    pub(super) async fn run_unrecorded(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        tool: &dyn Tool,
        arguments: Arguments,
    ) -> Result<Value, Refusal> {
        let (events, _) = CallEventSender::new(ClientKey(0));
        let answer = self.answer_of(&self.listed_call(session, by, tool, &arguments), &events).await;
        answer.map(|answer| answer.value)
    }

    fn listed_call<'a>(
        &self,
        session: &'a SessionIdentity,
        by: &'a Actor,
        tool: &'a dyn Tool,
        arguments: &'a Arguments,
    ) -> MadeCall<'a> {
        let call = self.agent.engine().submitter().next_request();
        MadeCall { session, by, tool, arguments, why: GatewayReason::Reads, call }
    }

    async fn answer_of(&self, made: &MadeCall<'_>, events: &CallEventSender) -> Result<ToolAnswer, Refusal> {
        let snapshot =
            self.agent.engine().sessions().snapshot(made.session).await.map_err(LedgerError::into_refusal)?;
        self.run(&snapshot, made, events).await
    }
}

/// What the agent reads in the place of a resource that is not read now.
fn as_text(uri: &str, text: &str) -> Value {
    json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": text }] })
}
