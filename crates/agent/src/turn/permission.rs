//! Permission for a call of a turn. What neither a rule nor the approved plan decides waits for a person's answer.

use planwright_core::ask::{AskAnswer, AskSubject, CallToPermit};
use planwright_core::ids::RequestId;
use planwright_core::permission::Permission;
use planwright_core::plan::digest::is_same;
use planwright_core::plan::execution::PermissionCounts;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::Refusal;
use planwright_core::turn::{PendingCall, Purpose, ToolOutcome};
use planwright_core::visible::quoted;
use serde_json::Value;

use super::abort::TurnAbort;
use super::runner::TurnRunner;
use super::tool_call::refused;
use crate::permission::{ApprovedCalls, counted, denied, standing_rule};
use crate::tool_schema::Arguments;
use crate::toolbox::Tool;

impl TurnRunner<'_> {
    /// The outcome of a call that is not permitted, or `None` if the call may be made.
    pub(super) async fn check_permission(
        &mut self,
        pending: &PendingCall,
        tool: &dyn Tool,
        arguments: &Arguments,
    ) -> Result<Option<ToolOutcome>, TurnAbort> {
        let answer = self.answer_to(pending);
        // A person's "no" stands, whatever the rules say since.
        if let Some(AskAnswer::Permission { grant, note, .. }) = &answer
            && !grant.permits()
        {
            self.call_permissions = PermissionCounts::REFUSED;
            return Ok(Some(refused(&denied_by_person(&pending.call.name, note.as_deref()))));
        }
        let approved = self.executing_plan().map(ApprovedCalls::of);
        let call_id = RequestId::of_call(&self.turn.id, pending.number);
        let context = self.tool_context(&call_id)?;
        let object = Value::Object(arguments.clone());
        let decided = self.agent.decide_permission(tool, context, arguments, &object, approved.as_ref()).await;
        let decided = match decided {
            Ok(decided) => decided,
            Err(refusal) => return Ok(Some(refused(&refusal))),
        };
        self.call_permissions = counted(&decided);
        if let Some(refusal) = denied(&pending.call.name, &decided) {
            return Ok(Some(refused(&refusal)));
        }
        let permitted = match (decided.permission, &answer) {
            (Permission::Allow, _) | (Permission::Ask, Some(AskAnswer::Permission { .. })) => true,
            (Permission::Ask | Permission::Deny, _) => self.was_granted(&pending.call.name, &object),
        };
        if permitted {
            return Ok(None);
        }
        let always = standing_rule(tool, self.tool_context(&call_id)?, arguments, &object).await.map(Box::new);
        let (tool, reason) = (pending.call.name.clone(), decided.reason.describe());
        let asked = CallToPermit { tool, arguments: object, reason, always };
        self.wait_for(pending, AskSubject::Permission(asked)).await.map(Some)
    }

    /// The arguments that a person gave the call before they permitted it.
    pub(super) fn changed_arguments(&self, pending: &PendingCall) -> Option<Arguments> {
        let Some(AskAnswer::Permission { arguments: Some(arguments), .. }) = self.answer_to(pending) else {
            return None;
        };
        arguments.as_object().cloned()
    }

    /// The approved plan that the turn carries out.
    pub(super) fn executing_plan(&self) -> Option<&Plan> {
        let plan = match &self.turn.purpose {
            Purpose::Step { plan, .. } | Purpose::Document { plan, .. } => self.snapshot.named(plan).ok()?,
            // A specialist that is asked a question works for the turn that asks.
            Purpose::Question { .. } | Purpose::Answer | Purpose::Run(_) => return None,
        };
        (plan.status == PlanStatus::Executing).then_some(plan)
    }

    /// Whether a person permitted this call for the rest of the execution.
    fn was_granted(&self, tool: &str, arguments: &Value) -> bool {
        let Some(session) = &self.snapshot.session else { return false };
        let execution = self.executing_plan().and_then(|plan| plan.execution.as_ref()).map(|execution| &execution.id);
        session.granted.iter().any(|granted| {
            Some(&granted.execution) == execution && granted.tool == tool && is_same(&granted.arguments, arguments)
        })
    }
}

fn denied_by_person(tool: &str, note: Option<&str>) -> Refusal {
    let note = note.map(|note| format!(" They say: {note}")).unwrap_or_default();
    Refusal::policy_denied(format!("A person did not permit {}.{note}", quoted(tool)))
}
