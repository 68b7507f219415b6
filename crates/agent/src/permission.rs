//! Whether a call that passed the gate is permitted: by a rule, by the approved plan, by a default, or by a person.

use std::borrow::Cow;
use std::slice;
use std::sync::{Arc, PoisonError};

use planwright_core::actor::Actor;
use planwright_core::gate::ToolEffect;
use planwright_core::ids::StepId;
use planwright_core::permission::{
    self, CallTarget, DeniedPaths, GuardedFiles, Permission, PermissionCall, PermissionOutcome, PermissionRules,
    PlanCover, WorkspaceKind, decide_permission,
};
use planwright_core::plan::content::{CallRunner, PlanContent, RecordedCall};
use planwright_core::plan::execution::PermissionCounts;
use planwright_core::plan::{Plan, PlanNeeds};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::standing_rule::{RulePlace, StandingRule};
use planwright_core::visible::quoted;
use planwright_core::workspace::Workspace;
use planwright_engine::ledger::LedgerError;
use planwright_sandbox::SandboxLevel;
use serde_json::Value;

use super::agent_context::AgentContext;
use crate::tool_schema::Arguments;
use crate::toolbox::{Tool, ToolContext, ToolTarget};

/// What an approved plan permits while it is carried out.
#[derive(Debug, Default)]
pub(super) struct ApprovedCalls<'a> {
    commands: Vec<String>,
    calls: Cow<'a, [RecordedCall]>,
    files: Vec<String>,
    needs: Option<PlanNeeds>,
}

impl<'a> ApprovedCalls<'a> {
    /// The recorded call of one step, if the person approved that step. The calls of other steps are not looked at, so a
    /// step costs the same in a plan of any length.
    pub(super) fn of_step(plan: &Plan, call: &'a RecordedCall) -> Self {
        let is_ours = call.runner == CallRunner::Planwright && is_approved(plan, &call.id);
        let calls = if is_ours { slice::from_ref(call) } else { &[] };
        Self { commands: Vec::new(), calls: Cow::Borrowed(calls), files: Vec::new(), needs: None }
    }

    /// The commands and calls of the steps that the person approved.
    pub(super) fn of(plan: &Plan) -> Self {
        let approved = |step: &StepId| is_approved(plan, step);
        let calls = match &plan.content {
            PlanContent::Collect(collected) => {
                // What the agent of another program makes with its own tools covers no call of this program.
                let ours = collected.steps.iter().filter(|call| call.runner == CallRunner::Planwright);
                ours.filter(|call| approved(&call.id)).cloned().collect()
            }
            PlanContent::Document(_) | PlanContent::Build(_) => Vec::new(),
        };
        // A built plan covers what it always did; only a document says what it needs.
        let needs = match &plan.content {
            PlanContent::Document(_) => plan.content.declared_needs(approved),
            PlanContent::Collect(_) | PlanContent::Build(_) => None,
        };
        let commands = plan.content.commands(approved);
        Self { commands, calls: Cow::Owned(calls), files: plan.content.files(), needs }
    }
}

fn is_approved(plan: &Plan, step: &StepId) -> bool {
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    skipped.iter().all(|skip| skip.step != *step)
}

impl AgentContext {
    /// Decides about a call. `object` is the same arguments as a value, and `plan` what the plan permits that the call is
    /// made for.
    pub(super) async fn decide_permission(
        &self,
        tool: &dyn Tool,
        context: ToolContext<'_>,
        arguments: &Arguments,
        object: &Value,
        plan: Option<&ApprovedCalls<'_>>,
    ) -> Result<PermissionOutcome, Refusal> {
        let target = tool.target(context, arguments).await?;
        let call = permission_call(tool, object, &target);
        let cover = plan.map(|plan| PlanCover {
            commands: &plan.commands,
            calls: &plan.calls,
            files: &plan.files,
            needs: plan.needs.as_ref(),
        });
        let rules = self.permission_rules(context.session, context.workspace).await?;
        let workspace = self.workspace_kind(context, &call.target);
        if matches!(call.target, CallTarget::Command(_)) && self.is_unconfined(context) {
            self.record_unconfined(context.session).await?;
        }
        Ok(decide_permission(&rules, &call, workspace, cover.as_ref()))
    }

    /// Whether a rule of the settings denies every call of this name and effect. Rules that cannot be read deny.
    pub(super) fn denies(&self, tool: &str, effect: ToolEffect) -> bool {
        let Ok(rules) = self.options.permissions.rules() else { return true };
        let arguments = Value::Object(Arguments::new());
        let call = PermissionCall { tool, arguments: &arguments, effect, target: CallTarget::None };
        decide_permission(&rules, &call, WorkspaceKind::Project, None).permission == Permission::Deny
    }

    /// The paths that a call of this tool passes by.
    pub(super) fn denied_paths(&self, tool: &dyn Tool) -> Result<DeniedPaths, Refusal> {
        Ok(self.options.permissions.rules()?.denied_paths(&tool.spec().name, tool.effect()))
    }

    /// The files that a plan covers only if it names them.
    pub(super) fn guarded_files(&self) -> GuardedFiles {
        self.options.permissions.rules().map(|rules| rules.guarded().clone()).unwrap_or_default()
    }

    /// The rules of the settings and those of the store that count here.
    async fn permission_rules(
        &self,
        session: &SessionIdentity,
        workspace: &Workspace,
    ) -> Result<Arc<PermissionRules>, Refusal> {
        let rules = self.options.permissions.rules()?;
        let stored = self.engine().approvals().permissions().await.map_err(LedgerError::into_refusal)?;
        if stored.is_empty() {
            return Ok(rules);
        }
        rules.with_stored(&stored, &RulePlace::of(session, workspace)).map(Arc::new)
    }

    fn is_unconfined(&self, context: ToolContext<'_>) -> bool {
        match context.sandbox_level() {
            Some(level) => level == SandboxLevel::Open.name(),
            None => self.options.commands_are_unconfined,
        }
    }

    /// The agent can start processes of its own from its first unconfined command on: from then on a terminal that is opened
    /// later may be its own. The record is written before the command runs.
    async fn record_unconfined(&self, session: &SessionIdentity) -> Result<(), Refusal> {
        let is_known = self.unconfined.lock().unwrap_or_else(PoisonError::into_inner).contains(session);
        let Some(program) = (self.options.own_program)().filter(|_| !is_known) else { return Ok(()) };
        let system = Actor::system(session.channel.as_str());
        let seen = self.engine().sessions().see_client(session, &system, program).await;
        seen.map_err(LedgerError::into_refusal)?;
        self.unconfined.lock().unwrap_or_else(PoisonError::into_inner).insert(session.clone());
        Ok(())
    }

    /// A command that no sandbox confines reaches further than the session's own folder.
    fn workspace_kind(&self, context: ToolContext<'_>, target: &CallTarget<'_>) -> WorkspaceKind {
        match (context.workspace, target) {
            (Workspace::Own, CallTarget::Command(_)) if self.is_unconfined(context) => WorkspaceKind::Project,
            (Workspace::Own, _) => WorkspaceKind::Own,
            (Workspace::Project { .. }, _) => WorkspaceKind::Project,
        }
    }
}

/// The rule that the answer `always` to this call makes. `None` if the call cannot be made as it is.
pub(super) async fn standing_rule(
    tool: &dyn Tool,
    context: ToolContext<'_>,
    arguments: &Arguments,
    object: &Value,
) -> Option<StandingRule> {
    let target = tool.target(context, arguments).await.ok()?;
    let place = RulePlace::of(context.session, context.workspace);
    Some(permission::standing_rule(&permission_call(tool, object, &target), place))
}

pub(super) fn permission_call<'a>(
    tool: &'a dyn Tool,
    arguments: &'a Value,
    target: &'a ToolTarget,
) -> PermissionCall<'a> {
    let (tool, effect) = (tool.spec().name.as_str(), tool.effect());
    PermissionCall { tool, arguments, effect, target: target.as_call_target() }
}

/// The refusal of a call that a rule denies. `None` if none does.
pub(super) fn denied(tool: &str, outcome: &PermissionOutcome) -> Option<Refusal> {
    match outcome.permission {
        Permission::Allow | Permission::Ask => None,
        Permission::Deny => {
            Some(Refusal::policy_denied(format!("{} is denied. {}", quoted(tool), outcome.reason.describe())))
        }
    }
}

/// What a decision counts for the plan that the call is made for. A call that is asked about counts when it is asked.
pub(super) fn counted(outcome: &PermissionOutcome) -> PermissionCounts {
    match outcome.permission {
        Permission::Allow if outcome.reason.is_plan_cover() => PermissionCounts::COVERED,
        Permission::Deny => PermissionCounts::REFUSED,
        Permission::Allow | Permission::Ask => PermissionCounts::default(),
    }
}
