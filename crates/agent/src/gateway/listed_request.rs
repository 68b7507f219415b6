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

/// What is asked of a server that is no call of one of its tools.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Prompt,
    Completion,
    Subscription,
}

/// A request for something that a server lists.
#[derive(Debug)]
pub(super) struct ListedRequestTool {
    asked: Asked,
    spec: ToolSpec,
    server: ServerName,
    longest_call: Duration,
    upstream: UpstreamTools,
}

/// A request as its arguments say it.
enum ListedRequest {
    Prompt { name: String, given: Option<Arguments> },
    Other(UpstreamRequest),
}

impl ListedRequestTool {
    /// Gets a prompt.
    pub(super) fn prompt(upstream: &UpstreamTools, server: &ServerName) -> Option<Self> {
        Self::of(Asked::Prompt, upstream, server, READ_PROMPT)
    }

    /// Completes an argument of a prompt or of a template.
    pub(super) fn completion(upstream: &UpstreamTools, server: &ServerName) -> Option<Self> {
        Self::of(Asked::Completion, upstream, server, COMPLETE_ARGUMENT)
    }

    /// Has a server tell of the changes of a resource.
    pub(super) fn subscription(upstream: &UpstreamTools, server: &ServerName) -> Option<Self> {
        Self::of(Asked::Subscription, upstream, server, SUBSCRIBE_RESOURCE)
    }

    fn of(asked: Asked, upstream: &UpstreamTools, server: &ServerName, name: &str) -> Option<Self> {
        let known = upstream.servers().iter().find(|known| known.name == *server)?;
        let name = format!("{server}__{name}");
        let spec = ToolSpec { name, description: String::new(), input_schema: json!({ "type": "object" }) };
        Some(Self { asked, spec, server: server.clone(), longest_call: known.longest_call, upstream: upstream.clone() })
    }

    fn request(&self, arguments: &Arguments) -> Result<ListedRequest, Refusal> {
        Ok(match self.asked {
            Asked::Prompt => ListedRequest::Prompt {
                name: self.text(arguments, "name")?,
                given: arguments.get("arguments").and_then(Value::as_object).cloned(),
            },
            Asked::Completion => ListedRequest::Other(UpstreamRequest::Complete(self.completed(arguments)?)),
            Asked::Subscription => {
                ListedRequest::Other(UpstreamRequest::Subscribe { uri: self.text(arguments, "uri")? })
            }
        })
    }

    fn completed(&self, arguments: &Arguments) -> Result<CompletionRequest, Refusal> {
        let of = match self.text(arguments, "prompt") {
            Ok(name) => CompletedName::Prompt(name),
            Err(_) => CompletedName::Template(self.text(arguments, "template")?),
        };
        let known = arguments.get("known").cloned().and_then(|known| serde_json::from_value(known).ok());
        let known: BTreeMap<String, String> = known.unwrap_or_default();
        let (argument, value) = (self.text(arguments, "argument")?, self.text(arguments, "value")?);
        Ok(CompletionRequest { of, argument, value, known })
    }

    fn text(&self, arguments: &Arguments, key: &str) -> Result<String, Refusal> {
        let missing = || Refusal::invalid(format!("{} takes `{key}`.", quoted(&self.spec.name)));
        arguments.get(key).and_then(Value::as_str).map(str::to_owned).ok_or_else(missing)
    }
}

#[async_trait]
impl Tool for ListedRequestTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn effect(&self) -> ToolEffect {
        ToolEffect::ReadsOnly
    }

    fn check(&self, arguments: &Arguments) -> Result<(), Refusal> {
        self.request(arguments).map(drop)
    }

    fn time_limit(&self, _arguments: &Arguments, _usual: Duration) -> Duration {
        self.longest_call
    }

    async fn call(&self, context: ToolContext<'_>, arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let answer = match self.request(&arguments)? {
            ListedRequest::Prompt { name, given } => {
                let observer = ContextObserver::new(context, &self.spec.name);
                self.upstream.get_prompt(&self.server, &name, given, &observer).await
            }
            ListedRequest::Other(request) => self.upstream.request(&self.server, request).await,
        };
        answer.map(ToolAnswer::from).map_err(LedgerError::into_refusal)
    }
}

/// The arguments of a call that gets this prompt.
pub(super) fn prompt_arguments(name: &str, given: Option<&Arguments>) -> Arguments {
    let given = given.map(|given| ("arguments".to_owned(), Value::Object(given.clone())));
    [("name".to_owned(), json!(name))].into_iter().chain(given).collect()
}

/// The arguments of a call that completes this.
pub(super) fn completion_arguments(request: &CompletionRequest) -> Arguments {
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

/// The arguments of a call that subscribes to this address.
pub(super) fn subscription_arguments(uri: &str) -> Arguments {
    Arguments::from_iter([("uri".to_owned(), json!(uri))])
}
