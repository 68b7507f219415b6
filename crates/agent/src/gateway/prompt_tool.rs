//! Getting a prompt of an upstream server, completing an argument and subscribing to a resource, as calls that only read: each carries
//! what the client says to the server.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::Refusal;
use planwright_core::upstream::{COMPLETE_ARGUMENT, READ_PROMPT, SUBSCRIBE_RESOURCE, ServerName};
use planwright_core::visible::quoted;
use planwright_engine::ledger::LedgerError;
use planwright_engine::upstream::{CompletedName, CompletionRequest, UpstreamRequest};
use serde_json::{Value, json};

use crate::tool_schema::Arguments;
use crate::toolbox::{Tool, ToolAnswer, ToolContext};
use crate::upstream::{ContextObserver, UpstreamTools};

#[derive(Debug)]
struct NamedRead {
    spec: ToolSpec,
    server: ServerName,
    longest_call: Duration,
    upstream: UpstreamTools,
}

impl NamedRead {
    fn of(upstream: &UpstreamTools, server: &ServerName, name: &str) -> Option<Self> {
        let known = upstream.servers().iter().find(|known| known.name == *server)?;
        let name = format!("{server}__{name}");
        let spec = ToolSpec { name, description: String::new(), input_schema: json!({ "type": "object" }) };
        Some(Self { spec, server: server.clone(), longest_call: known.longest_call, upstream: upstream.clone() })
    }

    fn text(&self, arguments: &Arguments, key: &str) -> Result<String, Refusal> {
        let missing = || Refusal::invalid(format!("{} takes `{key}`.", quoted(&self.spec.name)));
        arguments.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(missing)
    }
}

/// Gets a prompt.
#[derive(Debug)]
pub(super) struct PromptTool(NamedRead);

impl PromptTool {
    pub(super) fn of(upstream: &UpstreamTools, server: &ServerName) -> Option<Self> {
        NamedRead::of(upstream, server, READ_PROMPT).map(Self)
    }

    /// The arguments of a call that gets this prompt.
    pub(super) fn arguments(name: &str, given: Option<&Arguments>) -> Arguments {
        let given = given.map(|given| ("arguments".to_owned(), Value::Object(given.clone())));
        [("name".to_owned(), json!(name))].into_iter().chain(given).collect()
    }
}

#[async_trait]
impl Tool for PromptTool {
    fn spec(&self) -> &ToolSpec {
        &self.0.spec
    }

    fn effect(&self) -> ToolEffect {
        ToolEffect::ReadsOnly
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        self.0.text(arguments, "name").map(drop)
    }

    fn time_limit(&self, _arguments: &Arguments, _usual: Duration) -> Duration {
        self.0.longest_call
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let name = self.0.text(&arguments, "name")?;
        let given = arguments.get("arguments").and_then(Value::as_object).cloned();
        let observer = ContextObserver::new(context, &self.0.spec.name);
        let prompt = self.0.upstream.get_prompt(&self.0.server, &name, given, &observer).await;
        prompt.map(ToolAnswer::from).map_err(LedgerError::into_refusal)
    }
}

/// Completes an argument of a prompt or of a template.
#[derive(Debug)]
pub(super) struct CompletionTool(NamedRead);

impl CompletionTool {
    pub(super) fn of(upstream: &UpstreamTools, server: &ServerName) -> Option<Self> {
        NamedRead::of(upstream, server, COMPLETE_ARGUMENT).map(Self)
    }

    /// The arguments of a call that completes this.
    pub(super) fn arguments(request: &CompletionRequest) -> Arguments {
        let CompletionRequest { of, argument, value, known } = request;
        let of = match of {
            CompletedName::Prompt(name) => ("prompt", name),
            CompletedName::Template(uri) => ("template", uri),
        };
        let mut arguments = Arguments::new();
        for (key, text) in [of, ("argument", argument), ("value", value)] {
            arguments.insert(key.to_owned(), json!(text));
        }
        if !known.is_empty() {
            arguments.insert("known".to_owned(), json!(known));
        }
        arguments
    }

    fn request(&self, arguments: &Arguments) -> Result<CompletionRequest, Refusal> {
        let of = match self.0.text(arguments, "prompt") {
            Ok(name) => CompletedName::Prompt(name),
            Err(_) => CompletedName::Template(self.0.text(arguments, "template")?),
        };
        let known = arguments.get("known").cloned().and_then(|known| serde_json::from_value(known).ok());
        let known: BTreeMap<String, String> = known.unwrap_or_default();
        let (argument, value) = (self.0.text(arguments, "argument")?, self.0.text(arguments, "value")?);
        Ok(CompletionRequest { of, argument, value, known })
    }
}

#[async_trait]
impl Tool for CompletionTool {
    fn spec(&self) -> &ToolSpec {
        &self.0.spec
    }

    fn effect(&self) -> ToolEffect {
        ToolEffect::ReadsOnly
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        self.request(arguments).map(drop)
    }

    fn time_limit(&self, _arguments: &Arguments, _usual: Duration) -> Duration {
        self.0.longest_call
    }

    async fn call(&self, _context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let request = UpstreamRequest::Complete(self.request(&arguments)?);
        let completed = self.0.upstream.request(&self.0.server, request).await;
        completed.map(ToolAnswer::from).map_err(LedgerError::into_refusal)
    }
}

/// Has a server tell of the changes of a resource.
#[derive(Debug)]
pub(super) struct SubscriptionTool(NamedRead);

impl SubscriptionTool {
    pub(super) fn of(upstream: &UpstreamTools, server: &ServerName) -> Option<Self> {
        NamedRead::of(upstream, server, SUBSCRIBE_RESOURCE).map(Self)
    }

    /// The arguments of a call that subscribes to this address.
    pub(super) fn arguments(uri: &str) -> Arguments {
        Arguments::from_iter([("uri".to_owned(), json!(uri))])
    }
}

#[async_trait]
impl Tool for SubscriptionTool {
    fn spec(&self) -> &ToolSpec {
        &self.0.spec
    }

    fn effect(&self) -> ToolEffect {
        ToolEffect::ReadsOnly
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        self.0.text(arguments, "uri").map(drop)
    }

    fn time_limit(&self, _arguments: &Arguments, _usual: Duration) -> Duration {
        self.0.longest_call
    }

    async fn call(&self, _context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let request = UpstreamRequest::Subscribe { uri: self.0.text(&arguments, "uri")? };
        let subscribed = self.0.upstream.request(&self.0.server, request).await;
        subscribed.map(ToolAnswer::from).map_err(LedgerError::into_refusal)
    }
}
