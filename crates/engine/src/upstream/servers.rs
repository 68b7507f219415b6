//! The port to upstream MCP servers.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use globset::{Glob, GlobSet, GlobSetBuilder};
use planwright_core::plan::Digest;
use planwright_core::upstream::{AnnotationTrust, ServerCommand, ServerName, ServerReach, UpstreamTool, list_digest};
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use super::call_events::CallObserver;

/// The arguments of one call.
pub type Arguments = Map<String, Value>;

/// Connections to the configured servers. A server is started by the first call that needs it.
#[async_trait]
pub trait UpstreamServers: fmt::Debug + Send + Sync + 'static {
    /// In the order of their names.
    fn servers(&self) -> &[UpstreamServer];

    fn connection(&self, server: &ServerName) -> ConnectionState;

    /// What the server may reach, for a person who is to accept it.
    fn reach(&self, _server: &ServerName) -> ServerReach {
        ServerReach::default()
    }

    /// Whether the server said since the last [`offer`](Self::offer) that its tools changed.
    fn has_news(&self, server: &ServerName) -> bool;

    /// What the server offers now. Connects if needed.
    async fn offer(&self, server: &ServerName) -> Result<Arc<ToolOffer>, UpstreamError>;

    /// Makes a call under the server's own name of the tool. Dropping the future cancels the call.
    async fn call(
        &self,
        server: &ServerName,
        tool: &str,
        arguments: Arguments,
        observer: &dyn CallObserver,
    ) -> Result<UpstreamResult, UpstreamError>;

    /// Reads a resource under the server's own address of it, and gives the server's result as it is. The server may ask during it
    /// as during a call. Dropping the future cancels the request.
    async fn read_resource(
        &self,
        server: &ServerName,
        _uri: &str,
        _observer: &dyn CallObserver,
    ) -> Result<Value, UpstreamError> {
        Err(UpstreamError::NotConfigured(server.clone()))
    }

    /// Gets a prompt under the server's own name of it, like [`read_resource`](Self::read_resource).
    async fn get_prompt(
        &self,
        server: &ServerName,
        _name: &str,
        _arguments: Option<Arguments>,
        _observer: &dyn CallObserver,
    ) -> Result<Value, UpstreamError> {
        Err(UpstreamError::NotConfigured(server.clone()))
    }

    /// Asks for lists and completions, and gives the server's result as it is. A list has all of its pages, as far as they
    /// are not too many; it is empty if the server has none of the kind.
    async fn request(&self, server: &ServerName, _request: UpstreamRequest) -> Result<Value, UpstreamError> {
        Err(UpstreamError::NotConfigured(server.clone()))
    }

    /// The changes of resources that were subscribed to, from now on. `None` if the servers tell none.
    fn resource_updates(&self) -> Option<broadcast::Receiver<ResourceUpdate>> {
        None
    }

    /// Ends every connection and every server that was started.
    async fn stop(&self);
}

/// A server says that a resource changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceUpdate {
    pub server: ServerName,
    /// The server's own address of it.
    pub uri: String,
}

/// What is asked for beside tools, resources and prompts, under the server's own names.
#[derive(Debug, Clone, PartialEq)]
pub enum UpstreamRequest {
    ListResources,
    ListResourceTemplates,
    ListPrompts,
    /// Lasts until it is taken back, also when the server is started again.
    Subscribe {
        uri: String,
    },
    Unsubscribe {
        uri: String,
    },
    Complete(CompletionRequest),
    /// Lines of the server's log from this level on, as the protocol names it. Lasts like a subscription.
    SetLogLevel {
        level: String,
    },
}

/// An argument that a person has begun to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionRequest {
    pub of: CompletedName,
    pub argument: String,
    pub value: String,
    /// The arguments that are known already.
    pub known: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletedName {
    Prompt(String),
    /// The address of a resource template.
    Template(String),
}

/// A server as it is configured.
#[derive(Debug, Clone)]
pub struct UpstreamServer {
    pub name: ServerName,
    /// The command or the address, for people. It contains no secret.
    pub reached_by: String,
    /// What a person accepts of it.
    pub command: ServerCommand,
    pub trust: AnnotationTrust,
    pub selection: ToolSelection,
    /// The longest time that starting the server and a call may take together.
    pub longest_call: Duration,
}

/// Which of the accepted tools the model is offered.
#[derive(Debug, Clone)]
pub struct ToolSelection {
    patterns: Option<GlobSet>,
    /// Of more tools than this the first ones are offered.
    pub most: usize,
}

impl ToolSelection {
    /// The tools whose own names match one of the patterns; all without patterns.
    pub fn new(patterns: &[String], most: usize) -> Result<Self, String> {
        if patterns.is_empty() {
            return Ok(Self { patterns: None, most });
        }
        let mut builder = GlobSetBuilder::new();
        for pattern in patterns {
            builder.add(Glob::new(pattern).map_err(|error| error.to_string())?);
        }
        Ok(Self { patterns: Some(builder.build().map_err(|error| error.to_string())?), most })
    }

    pub fn selects(&self, tool: &str) -> bool {
        self.patterns.as_ref().is_none_or(|patterns| patterns.is_match(tool))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionState {
    /// It was not needed yet, or ended in order.
    NotStarted,
    Connected,
    /// It failed, and is tried again by the next call after this time.
    Failed {
        reason: String,
        retry_in: Duration,
    },
}

/// The tools that a server offers.
#[derive(Debug)]
pub struct ToolOffer {
    tools: Vec<UpstreamTool>,
    digests: HashMap<String, Digest>,
    /// Tools that cannot be used, each with the reason.
    problems: Vec<String>,
}

impl ToolOffer {
    pub fn new(tools: Vec<UpstreamTool>, problems: Vec<String>) -> Self {
        let digests = tools.iter().map(|tool| (tool.name.clone(), tool.digest())).collect();
        Self { tools, digests, problems }
    }

    pub fn tools(&self) -> &[UpstreamTool] {
        &self.tools
    }

    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    pub fn digest(&self) -> Digest {
        list_digest(&self.tools)
    }

    pub fn digest_of(&self, tool: &str) -> Option<Digest> {
        self.digests.get(tool).copied()
    }
}

/// The result of a call as the server sent it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpstreamResult {
    pub content: Vec<UpstreamContent>,
    /// The result as the server sent it, one block for each entry of `content`.
    pub blocks: Vec<Value>,
    pub structured: Option<Value>,
    pub is_error: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum UpstreamContent {
    Text(String),
    /// An image, a sound or the bytes of a resource.
    Bytes {
        mime_type: Option<String>,
        uri: Option<String>,
        bytes: Vec<u8>,
    },
    /// A resource that is text.
    Resource {
        mime_type: Option<String>,
        uri: String,
        text: String,
    },
    /// A resource that the result only names.
    Link {
        uri: String,
        name: String,
        description: Option<String>,
        mime_type: Option<String>,
    },
    /// Something that this version does not know.
    Unknown(Value),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    #[error("no MCP server {0} is configured")]
    NotConfigured(ServerName),
    #[error("the MCP server {server} cannot be reached: {reason}")]
    NotReached { server: ServerName, reason: String },
    #[error("the MCP server {server} failed and is tried again in {} seconds at the earliest: {reason}", .retry_in.as_secs() + 1)]
    BackingOff { server: ServerName, retry_in: Duration, reason: String },
    #[error("the MCP server {server} answered with an error: {message} ({code})")]
    Refused { server: ServerName, code: i32, message: String },
    #[error("the connection to the MCP server {server} was lost during the call: {reason}")]
    Lost { server: ServerName, reason: String },
    #[error("the MCP server {server} did not answer within {} seconds; the call was cancelled", .after.as_secs())]
    TimedOut { server: ServerName, after: Duration },
    #[error("the MCP server {server} sent an answer that cannot be read: {reason}")]
    Unreadable { server: ServerName, reason: String },
}

impl UpstreamError {
    /// Whether the server may have done what it was asked to.
    pub const fn may_have_run(&self) -> bool {
        match self {
            Self::NotConfigured(_) | Self::NotReached { .. } | Self::BackingOff { .. } | Self::Refused { .. } => false,
            Self::Lost { .. } | Self::TimedOut { .. } | Self::Unreadable { .. } => true,
        }
    }
}
