//! The agent in a conversation, built on the services of the engine: inputs in, progress and one outcome out.
//!
//! - [`agent`]: [`Agent::submit`], the one way in, for every surface
//! - `builder`, `session_handle`: [`AgentBuilder`] and [`SessionHandle`], the shortest way in for a program that embeds the agent
//! - [`session`]: one task per active session
//! - [`inputs`]: the dispatch of an input to the service that carries it out
//! - [`commands`]: slash commands, and decisions about plans
//! - [`execution`]: an approved plan, carried out
//! - [`turn`]: the answer to a message: a turn from its beginning to its end, as the state machine in `core` says
//! - [`permission`], [`asks`]: whether a call is permitted, and a person's answer to what a turn asks
//! - [`leases`]: the lease of a session, taken and released; [`own_beats`]: the heartbeats that they rest on
//! - [`change_tracker`], [`plan_changes`], [`chat_changes`]: what calls change in files, and what plans and conversations changed
//! - [`workspace_files`]: the files of a workspace as a person sees them; [`person_command`]: a shell command that a person runs in one
//! - [`chats`]: which session a transport chat is in
//! - [`runs`]: runs of the agent by itself, and due schedules
//! - [`takeover`]: work that other processes left
//! - [`gateway`]: the way of agents of other programs to upstream tools
//! - [`tools`]: Planwright's own tools, as calls on the services of the engine; [`tool_schema`]: the vocabulary of tools
//! - [`toolbox`]: the tools that touch files and run commands; [`upstream`]: those of upstream MCP servers
//! - [`plan_export`]: plans as files of their project
//! - [`tokens`]: counting tokens
//! - [`agent_context`], [`state`]: what every service of the agent works with, and what this process keeps in memory
//! - [`catch_panic`]: a future that may panic
//!
//! Dependencies go one way: inputs -> commands -> execution -> turn -> leases. All of them share an `AgentContext`.
//!
//! Never in it: SQL, HTTP, a provider's wire format, a rule of the domain. Rules are in `core`; what needs no turn, no tool and
//! no task of a session is a service of the engine.

mod agent;
mod agent_context;
mod asks;
mod builder;
mod catch_panic;
mod change_tracker;
mod chat_changes;
mod chats;
mod commands;
mod execution;
mod gateway;
mod inputs;
mod leases;
mod own_beats;
mod permission;
mod person_command;
mod plan_changes;
pub mod plan_export;
mod runs;
pub mod session;
mod session_handle;
mod state;
mod takeover;
pub mod tokens;
pub mod tool_schema;
pub mod toolbox;
pub mod tools;
mod turn;
pub mod upstream;
mod workspace_files;

pub use agent::{Agent, AgentOptions};
pub use builder::AgentBuilder;
pub use chat_changes::{ChatChanges, ChatChangesReader, TurnChanges};
pub use chats::Chats;
pub use gateway::{DecidedCall, Gateway, GatewayOutcome, GatewayTool, NamedServers, Permitted};
pub use person_command::CommandReport;
pub use plan_changes::{PlanChanges, PlanChangesReader, StepChanges, UndoneChanges};
pub use planwright_core::actor::Actor;
pub use planwright_core::policy::Policy;
pub use planwright_engine as engine;
pub use session::outcome::{Answer, PlanCard};
pub use session_handle::SessionHandle;
pub use workspace_files::WorkspaceFiles;
