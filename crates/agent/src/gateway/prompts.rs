//! Prompts of upstream servers, and completions of arguments. Only what a server lists is asked for; each request passes the
//! person's rules and is written down like a call that reads.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use planwright_core::actor::Actor;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::upstream::ServerName;
use planwright_core::visible::quoted;
use planwright_engine::upstream::{CallEventSender, ClientKey, CompletedName, CompletionRequest};
use serde_json::{Value, json};

use super::Gateway;
use super::listed::ListedKind;
use super::prompt_tool::{CompletionTool, PromptTool};
use crate::tool_schema::Arguments;
use crate::toolbox::Tool;

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
    /// Gets a prompt that its server lists. `events` gets what the server says and asks meanwhile.
    pub async fn get_prompt(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        server: &ServerName,
        name: &str,
        given: Option<&Arguments>,
        events: &CallEventSender,
    ) -> Result<Value, Refusal> {
        let tool = self.agent.upstream().and_then(|upstream| PromptTool::of(upstream, server));
        let tool = tool.ok_or_else(|| not_configured(server))?;
        let arguments = PromptTool::arguments(name, given);
        let checked = async {
            self.check_denied(&tool)?;
            self.check_listed(server, ListedKind::Prompts, name, |name| format!("{server}__{name}")).await
        };
        if let Err(refusal) = checked.await {
            self.record_refused(session, by, &tool.spec().name, &arguments, &refusal).await;
            return Err(refusal);
        }
        self.run_listed(session, by, &tool, arguments, events).await
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
        let tool = self.agent.upstream().and_then(|upstream| CompletionTool::of(upstream, server));
        let tool = tool.ok_or_else(|| not_configured(server))?;
        let mut arguments = CompletionTool::arguments(request);
        let checked = async {
            self.check_denied(&tool)?;
            match &request.of {
                CompletedName::Prompt(name) => {
                    self.check_listed(server, ListedKind::Prompts, name, |name| format!("{server}__{name}")).await
                }
                CompletedName::Template(uri) => {
                    self.check_listed(server, ListedKind::Templates, uri, str::to_owned).await
                }
            }
        };
        if let Err(refusal) = checked.await {
            self.record_refused(session, by, &tool.spec().name, &arguments, &refusal).await;
            return Err(refusal);
        }
        let count = self.completions.add(session, server, request);
        let typed = request.value.len() + request.known.values().map(String::len).sum::<usize>();
        if typed <= MAX_TYPED && count.is_some_and(|count| !count.is_power_of_two()) {
            return self.run_unrecorded(session, by, &tool, arguments).await;
        }
        if let Some(count) = count.filter(|count| *count > 1) {
            arguments.insert("times".to_owned(), json!(count));
        }
        let (events, _) = CallEventSender::new(ClientKey(0));
        self.run_listed(session, by, &tool, arguments, &events).await
    }

    /// Refuses what a rule of the person denies.
    fn check_denied(&self, tool: &dyn Tool) -> Result<(), Refusal> {
        let name = &tool.spec().name;
        match self.agent.context.denies(name, tool.effect()) {
            true => Err(Refusal::policy_denied(format!("{} is denied by a rule.", quoted(name)))),
            false => Ok(()),
        }
    }
}

fn not_configured(server: &ServerName) -> Refusal {
    Refusal::not_found(format!("No MCP server {server} is configured."))
}
