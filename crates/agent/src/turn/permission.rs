//! Permission for a call of a turn. What neither a rule nor the approved plan decides waits for a person's answer.

use planwright_core::ask::{AskAnswer, AskSubject, CallToPermit, led_to, names_path};
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
use crate::toolbox::{Tool, ToolTarget};

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
        if decided.permission == Permission::Allow {
            return Ok(None);
        }
        let paths = match tool.target(self.tool_context(&call_id)?, arguments).await {
            Ok(ToolTarget::Paths(paths)) => paths,
            Ok(ToolTarget::Command(_) | ToolTarget::None) => Vec::new(),
            Err(refusal) => return Ok(Some(refused(&refusal))),
        };
        if let (Permission::Ask, Some(AskAnswer::Permission { arguments: changed, .. })) = (decided.permission, &answer)
        {
            if self.acts_as_asked(pending, &paths, changed.as_deref()) {
                return Ok(None);
            }
            self.call_permissions = PermissionCounts::REFUSED;
            return Ok(Some(refused(&leads_elsewhere(&pending.call.name))));
        }
        if self.was_granted(&pending.call.name, &object, &paths) {
            return Ok(None);
        }
        let always = standing_rule(tool, self.tool_context(&call_id)?, arguments, &object).await.map(Box::new);
        let (tool, reason) =
            (pending.call.name.clone(), led_to(&decided.reason.describe(), &paths, |path| names_path(&object, path)));
        let asked = CallToPermit { tool, arguments: object, reason, paths, always };
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

    /// Whether the call acts on the files that it acted on when the person was asked, or on those that they named themselves.
    fn acts_as_asked(&self, pending: &PendingCall, paths: &[String], changed: Option<&Value>) -> bool {
        let asked = match self.open_ask().filter(|ask| ask.call == pending.number).map(|ask| &ask.subject) {
            Some(AskSubject::Permission(call)) => call.paths.as_slice(),
            Some(AskSubject::Questions { .. }) | None => return false,
        };
        match changed {
            None => asked == paths,
            Some(changed) => paths.iter().all(|path| asked.contains(path) || names_path(changed, path)),
        }
    }

    /// Whether a person permitted this call for the rest of the execution.
    fn was_granted(&self, tool: &str, arguments: &Value, paths: &[String]) -> bool {
        let Some(session) = &self.snapshot.session else { return false };
        let execution = self.executing_plan().and_then(|plan| plan.execution.as_ref()).map(|execution| &execution.id);
        session.granted.iter().any(|granted| {
            let is_this = granted.tool == tool && granted.paths == paths && is_same(&granted.arguments, arguments);
            Some(&granted.execution) == execution && is_this
        })
    }
}

fn leads_elsewhere(tool: &str) -> Refusal {
    Refusal::policy_denied(format!(
        "A link leads elsewhere than when a person permitted this call of {}, so it was not made. Make the call again to have them \
         asked again.",
        quoted(tool)
    ))
}

fn denied_by_person(tool: &str, note: Option<&str>) -> Refusal {
    let note = note.map(|note| format!(" They say: {note}")).unwrap_or_default();
    Refusal::policy_denied(format!("A person did not permit {}.{note}", quoted(tool)))
}
