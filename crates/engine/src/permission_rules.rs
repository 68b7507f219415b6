//! Where the permission rules come from, and where a rule is kept that a person adds by answering `always`.

use std::fmt;
use std::sync::Arc;

use planwright_core::permission::{PermissionRule, PermissionRules};
use planwright_core::refusal::{Refusal, RefusalCode};

pub trait RuleSource: fmt::Debug + Send + Sync + 'static {
    /// The rules as they are now. While they cannot be read, no call is permitted.
    fn rules(&self) -> Result<Arc<PermissionRules>, Refusal>;

    /// Keeps a rule, and says where.
    fn add(&self, rule: PermissionRule) -> Result<String, Refusal>;
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

    fn add(&self, _rule: PermissionRule) -> Result<String, Refusal> {
        Err(Refusal::new(RefusalCode::Unavailable, "No rule can be added here."))
    }
}
