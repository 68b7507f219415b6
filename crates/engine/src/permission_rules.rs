//! Where the permission rules come from that are not in the store.

use std::fmt;
use std::sync::Arc;

use planwright_core::permission::PermissionRules;
use planwright_core::refusal::Refusal;

pub trait RuleSource: fmt::Debug + Send + Sync + 'static {
    /// The rules as they are now. While they cannot be read, no call is permitted.
    fn rules(&self) -> Result<Arc<PermissionRules>, Refusal>;
}

/// Rules that do not change.
#[derive(Debug, Default)]
pub struct FixedRules(Arc<PermissionRules>);

impl FixedRules {
    pub fn new(rules: PermissionRules) -> Self {
        Self(Arc::new(rules))
    }
}

impl RuleSource for FixedRules {
    fn rules(&self) -> Result<Arc<PermissionRules>, Refusal> {
        Ok(Arc::clone(&self.0))
    }
}
