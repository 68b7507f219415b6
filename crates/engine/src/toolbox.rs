//! The tools that are not about plans: the trait, and the set of them.

pub mod files;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::gate::ToolEffect;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use serde_json::Value;

use crate::tool_schema::Arguments;

#[async_trait]
pub trait Tool: Send + Sync + fmt::Debug + 'static {
    fn spec(&self) -> &ToolSpec;

    fn effect(&self) -> ToolEffect;

    /// Checks the arguments, without any effect.
    fn check(&self, arguments: &Arguments) -> Result<(), Refusal>;

    /// Carries the call out in the session. Dropping the future cancels the call, as far as that is possible.
    async fn call(&self, session: &SessionIdentity, arguments: Arguments) -> Result<Value, Refusal>;
}

/// A set of tools; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
}

impl Toolbox {
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into_iter().collect() }
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }
}
