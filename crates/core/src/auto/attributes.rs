//! The canonical names of what a run and a session are identified by, for logs, headers and everything else that carries
//! text. Each mirrors a typed field; no other place spells them.

use std::collections::BTreeMap;

use super::context::{AutoExecutionContext, RunTarget};
use crate::identity::{ConversationKey, SessionIdentity};
use crate::ids::{GoalId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::wire::text_enum;

text_enum! {
    pub enum ContextAttribute {
        AutoRunKind = "AUTO_RUN_KIND",
        AutoRunId = "AUTO_RUN_ID",
        AutoGoalId = "AUTO_GOAL_ID",
        AutoTaskId = "AUTO_TASK_ID",
        SessionIdentityChannel = "SESSION_IDENTITY_CHANNEL",
        SessionIdentityConversation = "SESSION_IDENTITY_CONVERSATION",
    }
}

impl AutoExecutionContext {
    /// Every attribute of the context. One that the context does not have is absent.
    pub fn attributes(&self) -> BTreeMap<ContextAttribute, String> {
        let mut attributes = BTreeMap::from([
            (ContextAttribute::AutoRunKind, self.run_kind().to_string()),
            (ContextAttribute::AutoRunId, self.run_id.to_string()),
            (ContextAttribute::AutoTaskId, self.task_id().to_string()),
            (ContextAttribute::SessionIdentityChannel, self.session.channel.to_string()),
            (ContextAttribute::SessionIdentityConversation, self.session.conversation.to_string()),
        ]);
        if let Some(goal) = self.goal_id() {
            attributes.insert(ContextAttribute::AutoGoalId, goal.to_string());
        }
        attributes
    }

    /// The context that has exactly these attributes.
    pub fn from_attributes(attributes: &BTreeMap<ContextAttribute, String>) -> Result<Self, Refusal> {
        let find = |attribute: ContextAttribute| {
            let missing = || Refusal::invalid(format!("The context of a run has no {}.", attribute.as_str()));
            attributes.get(&attribute).cloned().ok_or_else(missing)
        };
        let channel = find(ContextAttribute::SessionIdentityChannel)?.parse()?;
        let conversation = ConversationKey::existing(find(ContextAttribute::SessionIdentityConversation)?)?;
        let goal = attributes.get(&ContextAttribute::AutoGoalId).cloned().map(GoalId::new).transpose()?;
        let task = TaskId::new(find(ContextAttribute::AutoTaskId)?)?;
        let target = RunTarget::of(find(ContextAttribute::AutoRunKind)?.parse()?, goal, task)?;
        let run_id = RunId::new(find(ContextAttribute::AutoRunId)?)?;
        Ok(Self::new(SessionIdentity::new(channel, conversation), run_id, target))
    }
}
