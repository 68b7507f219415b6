//! The tools of all servers as one process knows them at a moment.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use planwright_core::upstream::{ServerName, ToolDifference, offered_names};
use planwright_engine::upstream::PinnedServer;
use planwright_engine::upstream::UpstreamServer;

use super::server_tool::{ServerTool, ToolState};
use super::upstream_tools::Shared;
use crate::toolbox::Tool;

/// Made anew whenever the ledger changed; readers keep the one they have.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    pub(super) pinned: BTreeMap<ServerName, Arc<PinnedServer>>,
    /// Every accepted tool, also one that changed since, which refuses its calls.
    by_name: HashMap<String, Arc<ServerTool>>,
    advertised: Vec<Arc<dyn Tool>>,
}

impl Catalog {
    pub(super) fn new(shared: &Arc<Shared>, pinned: BTreeMap<ServerName, Arc<PinnedServer>>) -> Self {
        let mut catalog = Self { pinned, ..Self::default() };
        for server in shared.servers.servers() {
            if let Some(pinned) = catalog.pinned.get(&server.name).cloned() {
                catalog.add(shared, server, &pinned);
            }
        }
        catalog
    }

    fn add(&mut self, shared: &Arc<Shared>, server: &UpstreamServer, pinned: &PinnedServer) {
        let Some(accepted) = &pinned.accepted else { return };
        let difference = pinned.difference().unwrap_or_default();
        let names = offered_names(&server.name, accepted.tools.iter().map(|tool| tool.name.as_str()));
        let selected = accepted.tools.iter().zip(names).filter(|(tool, _)| server.selection.selects(&tool.name));
        for (tool, name) in selected.take(server.selection.most) {
            let Some(name) = name else { continue };
            let state = state_of(&tool.name, &difference);
            let tool = Arc::new(ServerTool::new(shared, server, tool, name.clone(), state));
            if state == ToolState::AsAccepted {
                self.advertised.push(Arc::clone(&tool) as Arc<dyn Tool>);
            }
            self.by_name.insert(name, tool);
        }
    }

    pub(super) fn advertised(&self) -> &[Arc<dyn Tool>] {
        &self.advertised
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.by_name.get(name).map(|tool| Arc::clone(tool) as Arc<dyn Tool>)
    }

    pub(super) fn advertised_of(&self, server: &ServerName) -> usize {
        let prefix = format!("{server}__");
        self.advertised.iter().filter(|tool| tool.spec().name.starts_with(&prefix)).count()
    }
}

fn state_of(tool: &str, difference: &ToolDifference) -> ToolState {
    if difference.changed.iter().any(|changed| changed.after.name == tool) {
        ToolState::Changed
    } else if difference.removed.iter().any(|removed| removed.name == tool) {
        ToolState::Removed
    } else {
        ToolState::AsAccepted
    }
}
