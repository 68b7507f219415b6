//! Upstream servers that ask for more than they may reach.

use planwright_core::upstream::ServerName;
use planwright_upstream::UpstreamServerOptions;

use crate::config::guarded::access_entry;

/// A server whose settings ask for more to reach than a person has allowed.
#[derive(Debug)]
pub(crate) struct AskingServer {
    pub(crate) name: ServerName,
    /// For people, such as `to use the network`.
    pub(crate) asks: String,
    /// How the store keeps a person's word about exactly this.
    pub(crate) entry: String,
}

impl AskingServer {
    pub(crate) fn of(server: &UpstreamServerOptions) -> Option<Self> {
        let (asks, entry) = (server.not_allowed()?, access_entry(server)?);
        Some(Self { name: server.name.clone(), asks, entry })
    }
}
