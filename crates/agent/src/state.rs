//! What this process keeps in memory for all sessions. Nothing of it is missed after a restart.
//!
//! - `conversation_cache`: conversations, so that a turn need not read them again
//! - `advertised_tools`: the sets of tools that models were offered
//! - `call_rate`: how often the model is called without a person
//! - `run_drivers`: the drivers of runs
//! - `ended_servers`: servers that were found dead here
//! - `heartbeat_marks`: the heartbeats of other processes
//! - `lease_clock`: whether the clock was set forward by which leases run out

mod advertised_tools;
mod call_rate;
mod conversation_cache;
mod ended_servers;
mod heartbeat_marks;
mod lease_clock;
mod run_drivers;

pub(crate) use advertised_tools::{AdvertisedTools, AdvertisedToolsCache, ToolsKey};
pub(crate) use call_rate::CallRate;
pub(crate) use conversation_cache::{CachedConversation, ConversationCache};
pub(crate) use ended_servers::EndedServers;
pub(crate) use heartbeat_marks::{HeartbeatMark, HeartbeatMarks};
pub(crate) use lease_clock::LeaseClock;
pub(crate) use run_drivers::{Added, RunDriver, RunDrivers};
