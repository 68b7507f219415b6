//! The tools that a model is offered. They are the same in almost every request, and putting them together costs more than the
//! rest of a request, so the latest sets are kept.

use std::sync::{Arc, Mutex, PoisonError};

use planwright_core::gate::GateContext;
use planwright_core::model::ToolSpec;
use planwright_core::policy::Policy;

use crate::tokens::Tokens;
use crate::toolbox::Tool;

/// Sets that are kept: one for each state of plan work and each specialist that is in use.
const KEPT: usize = 64;
/// Tokens that a provider adds for each tool.
const FRAME: u32 = 12;

/// A set of tools, and how many tokens its description takes.
#[derive(Debug)]
pub(in crate::agent) struct AdvertisedTools {
    pub(in crate::agent) specs: Arc<[ToolSpec]>,
    pub(super) tokens: u32,
}

impl AdvertisedTools {
    pub(super) fn new(specs: Vec<ToolSpec>, tokens: &Tokens) -> Self {
        let count = |text: &str| tokens.count_known(text);
        let tokens = specs.iter().fold(0, |sum, tool| {
            sum + FRAME + count(&tool.name) + count(&tool.description) + count(&tool.input_schema.to_string())
        });
        Self { specs: specs.into(), tokens }
    }
}

/// Everything that a set follows from.
#[derive(Debug, Clone)]
pub(super) struct ToolsKey {
    pub(super) situation: GateContext,
    pub(super) policy: Arc<Policy>,
    /// The names that a specialist is limited to.
    pub(super) permitted: Option<Vec<String>>,
    /// Every other tool of the process.
    pub(super) tools: Vec<Arc<dyn Tool>>,
}

impl ToolsKey {
    /// Policies and tools are told apart by their place in memory, which the key keeps from being used again.
    fn is(&self, other: &Self) -> bool {
        self.situation == other.situation
            && self.permitted == other.permitted
            && Arc::ptr_eq(&self.policy, &other.policy)
            && self.tools.len() == other.tools.len()
            && self.tools.iter().zip(&other.tools).all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

/// The sets that were used last, the latest at the end.
#[derive(Debug, Default)]
pub(in crate::agent) struct AdvertisedToolsCache {
    kept: Mutex<Vec<(ToolsKey, Arc<AdvertisedTools>)>>,
}

impl AdvertisedToolsCache {
    pub(super) fn get_or_make(
        &self,
        key: ToolsKey,
        make: impl FnOnce(&ToolsKey) -> AdvertisedTools,
    ) -> Arc<AdvertisedTools> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = |kept: &[(ToolsKey, Arc<AdvertisedTools>)]| kept.iter().rposition(|(known, _)| known.is(&key));
        {
            let mut kept = lock();
            if let Some(place) = found(&kept) {
                let last = kept.len() - 1;
                kept.swap(place, last);
                return Arc::clone(&kept[last].1);
            }
        }
        let made = Arc::new(make(&key));
        let mut kept = lock();
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((key, Arc::clone(&made)));
        made
    }
}
