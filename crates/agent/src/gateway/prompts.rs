//! Prompts of upstream servers, and completions of arguments. Only what a server lists is asked for; each request passes the
//! person's rules and is written down like a call that reads.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use planwright_core::actor::Actor;
use planwright_core::permission::Permission;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_core::visible::quoted;
use planwright_engine::upstream::{CallEventSender, ClientKey, CompletedName, CompletionRequest};
use serde_json::{Value, json};

use super::listed::ListedKind;
use super::listed_request::{ListedRequestTool, completion_arguments, prompt_arguments};
use super::{Gateway, GatewayOutcome, Permitted};
use crate::permission::denied;
use crate::tool_schema::Arguments;
use crate::toolbox::{Tool, ToolContext};

/// Completions with more text than this, in bytes, are all written down: a person types less.
const MAX_TYPED: usize = 64;
/// Arguments whose completions are counted. Those of more are all written down.
const MAX_COUNTED: usize = 1_024;

/// An argument that is completed in a session.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CompletedArgument {
    session: SessionIdentity,
    server: ServerName,
    of: CompletedName,
    argument: String,
}

/// How often each argument was completed.
#[derive(Debug, Default)]
pub(super) struct CompletionCounts(Mutex<BTreeMap<CompletedArgument, u64>>);

impl CompletionCounts {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<CompletedArgument, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often, with this one; `None` if too many are counted.
    fn add(&self, session: &SessionIdentity, server: &ServerName, request: &CompletionRequest) -> Option<u64> {
        let mut counts = self.lock();
        let CompletionRequest { of, argument, .. } = request.clone();
        let completed = CompletedArgument { session: session.clone(), server: server.clone(), of, argument };
        if counts.len() >= MAX_COUNTED && !counts.contains_key(&completed) {
            return None;
        }
        let count = counts.entry(completed).or_default();
        *count += 1;
        Some(*count)
    }
}

impl Gateway {
    /// Gets a prompt that its server lists. `events` gets what the server says and asks meanwhile. A rule may have a person asked
    /// before.
    pub async fn get_prompt(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        (server, name): (&ServerName, &str),
        given: Option<&Arguments>,
        permitted: Permitted,
        events: &CallEventSender,
    ) -> Result<GatewayOutcome, Refusal> {
        let tool = self.agent.upstream().and_then(|upstream| ListedRequestTool::prompt(upstream, server));
        let tool = tool.ok_or_else(|| not_configured(server))?;
        let arguments = prompt_arguments(name, given);
        let checked = async {
            let is_asked = self.is_asked_about(session, &tool, &arguments).await?;
            let listed = self.check_listed(server, ListedKind::Prompts, name, |name| format!("{server}__{name}")).await;
            listed.map(|()| is_asked)
        };
        let is_asked = self.recording_refusal(session, by, &tool, &arguments, checked).await?;
        if is_asked && permitted == Permitted::NotAsked {
            return Ok(GatewayOutcome::Ask);
        }
        let prompt = self.run_listed(session, by, &tool, arguments, permitted, events).await?;
        Ok(GatewayOutcome::Answered(prompt.into()))
    }

    /// Completes an argument of a prompt or template that its server lists. What a person types comes letter by letter, so not
    /// every request is written down: the first one, the second, the fourth and so on of an argument, and those with more text
    /// than a person types.
    pub async fn complete(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        server: &ServerName,
        request: &CompletionRequest,
    ) -> Result<Value, Refusal> {
        let tool = self.agent.upstream().and_then(|upstream| ListedRequestTool::completion(upstream, server));
        let tool = tool.ok_or_else(|| not_configured(server))?;
        let mut arguments = completion_arguments(request);
        let checked = async {
            self.check_unasked(session, &tool, &arguments).await?;
            match &request.of {
                CompletedName::Prompt(name) => {
                    self.check_listed(server, ListedKind::Prompts, name, |name| format!("{server}__{name}")).await
                }
                CompletedName::Template(uri) => {
                    self.check_listed(server, ListedKind::Templates, uri, str::to_owned).await
                }
            }
        };
        self.recording_refusal(session, by, &tool, &arguments, checked).await?;
        let count = self.completions.add(session, server, request);
        let typed = request.value.len() + request.known.values().map(String::len).sum::<usize>();
        if typed <= MAX_TYPED && count.is_some_and(|count| !count.is_power_of_two()) {
            return self.run_unrecorded(session, by, &tool, arguments).await;
        }
        if let Some(count) = count.filter(|count| *count > 1) {
            arguments.insert("times".to_owned(), json!(count));
        }
        let (events, _) = CallEventSender::new(ClientKey(0));
        self.run_listed(session, by, &tool, arguments, Permitted::NotAsked, &events).await
    }

    /// Makes the checks of a request. A refusal is written down.
    pub(super) async fn recording_refusal<T>(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        tool: &dyn Tool,
        arguments: &Arguments,
        checks: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, Refusal> {
        let checked = checks.await;
        if let Err(refusal) = &checked {
            self.record_refused(session, by, &tool.spec().name, arguments, refusal).await;
        }
        checked
    }

    /// Whether a rule has a person asked about a request for something that a server lists. The error says that a rule denies it.
    pub(super) async fn is_asked_about(
        &self,
        session: &SessionIdentity,
        tool: &dyn Tool,
        arguments: &Arguments,
    ) -> Result<bool, Refusal> {
        let context = ToolContext::without_lease(session);
        let object = Value::Object(arguments.clone());
        let outcome = self.agent.context.decide_permission(tool, context, arguments, &object, None).await?;
        match denied(&tool.spec().name, &outcome) {
            Some(refusal) => Err(refusal),
            None => Ok(outcome.by_rule() == Some(Permission::Ask)),
        }
    }

    /// Refuses what a rule denies, and what a rule has a person asked about where no person is asked.
    pub(super) async fn check_unasked(
        &self,
        session: &SessionIdentity,
        tool: &dyn Tool,
        arguments: &Arguments,
    ) -> Result<(), Refusal> {
        if self.is_asked_about(session, tool, arguments).await? {
            return Err(Refusal::policy_denied(format!(
                "A rule has a person asked about {}, and no person is asked about such a request. A rule that allows it lets it pass.",
                quoted(&tool.spec().name)
            )));
        }
        Ok(())
    }
}

pub(super) fn not_configured(server: &ServerName) -> Refusal {
    Refusal::not_found(format!("No MCP server {server} is configured."))
}
