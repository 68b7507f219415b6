//! What becomes of a call that the agent of another program makes to a tool of an upstream server, through this program.

use serde_json::Value;

use crate::gate::ToolEffect;
use crate::ids::StepId;
use crate::permission::{Permission, PermissionOutcome, PermissionReason};
use crate::plan::content::{CallRunner, PlanContent};
use crate::plan::digest::is_same;
use crate::plan::execution::StepStatus;
use crate::plan::{Plan, PlanStatus, PlanStyle};
use crate::refusal::Refusal;
use crate::visible::quoted;
use crate::wire::text_enum;

text_enum! {
    /// When calls that change things run, unless a rule of the person decides about them.
    #[derive(Default)]
    pub enum GatewayWrites {
        /// At any time.
        Free = "free",
        /// While an approved plan is carried out.
        #[default]
        ApprovedPlan = "approved_plan",
        /// After a person was asked about each.
        Ask = "ask",
    }
}

/// A call through the gateway.
#[derive(Debug, Clone, Copy)]
pub struct GatewayCall<'a> {
    pub tool: &'a str,
    pub arguments: &'a Value,
    pub effect: ToolEffect,
    /// What the person's rules say about it.
    pub permission: &'a PermissionOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatewayDecision {
    Run,
    /// Written down as a step and answered with `[Planned]`.
    Record,
    /// The approved plan made exactly this call; its recorded result is the answer.
    Recorded(StepId),
    /// A person is asked about it.
    Ask,
    Deny(Refusal),
}

/// Decides about a call. `style` is that of plan work, `None` while it is off; `plan` is the active plan.
pub fn decide_gateway(
    writes: GatewayWrites,
    style: Option<PlanStyle>,
    plan: Option<&Plan>,
    call: &GatewayCall<'_>,
) -> GatewayDecision {
    if call.permission.permission == Permission::Deny {
        let why = call.permission.reason.describe();
        return GatewayDecision::Deny(Refusal::policy_denied(format!("{} is denied. {why}", quoted(call.tool))));
    }
    if style == Some(PlanStyle::Collect) {
        return match plan {
            Some(plan) if is_in_force(plan.status) => firewall(writes, plan, call),
            Some(_) | None => GatewayDecision::Record,
        };
    }
    let by_rule = matches!(call.permission.reason, PermissionReason::Rule { .. } | PermissionReason::StoredRule { .. });
    match (call.permission.permission, by_rule) {
        (Permission::Allow, true) => return GatewayDecision::Run,
        (Permission::Ask, true) => return GatewayDecision::Ask,
        (Permission::Allow | Permission::Ask | Permission::Deny, _) => {}
    }
    if call.effect == ToolEffect::ReadsOnly {
        return GatewayDecision::Run;
    }
    match writes {
        GatewayWrites::Free => GatewayDecision::Run,
        GatewayWrites::Ask => GatewayDecision::Ask,
        GatewayWrites::ApprovedPlan => match plan {
            Some(plan) if matches!(plan.status, PlanStatus::Approved | PlanStatus::Executing) => GatewayDecision::Run,
            Some(plan) => GatewayDecision::Deny(Refusal::policy_denied(format!(
                "{} changes things and runs only while an approved plan is carried out; plan {} is {}.",
                quoted(call.tool),
                plan.number,
                plan.status.as_str()
            ))),
            None => GatewayDecision::Deny(Refusal::policy_denied(format!(
                "{} changes things and runs only while an approved plan is carried out; there is no plan.",
                quoted(call.tool)
            ))),
        },
    }
}

/// Whether the plan's approval says which calls there are.
const fn is_in_force(status: PlanStatus) -> bool {
    match status {
        PlanStatus::Approved | PlanStatus::Executing | PlanStatus::PartiallyCompleted => true,
        PlanStatus::Collecting
        | PlanStatus::Ready
        | PlanStatus::Completed
        | PlanStatus::Rejected
        | PlanStatus::Cancelled
        | PlanStatus::Superseded => false,
    }
}

/// With an approved plan exactly its calls are made, once, and by Planwright.
fn firewall(writes: GatewayWrites, plan: &Plan, call: &GatewayCall<'_>) -> GatewayDecision {
    let PlanContent::Collect(collected) = &plan.content else { return outside(writes, plan, call) };
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    let same = collected.steps.iter().filter(|step| {
        step.runner == CallRunner::Planwright && step.tool == call.tool && is_same(&step.arguments, call.arguments)
    });
    let mut approved = same.filter(|step| skipped.iter().all(|skip| skip.step != step.id)).peekable();
    if approved.peek().is_none() {
        return outside(writes, plan, call);
    }
    let status =
        |step: &StepId| plan.execution.as_ref().and_then(|execution| execution.step(step)).map(|run| run.status);
    match approved.find(|step| status(&step.id) == Some(StepStatus::Completed)) {
        Some(step) => GatewayDecision::Recorded(step.id.clone()),
        None => GatewayDecision::Deny(Refusal::wrong_status(format!(
            "Plan {} has this call as an approved step, and Planwright makes it itself; plan_get shows its result.",
            plan.number
        ))),
    }
}

fn outside(writes: GatewayWrites, plan: &Plan, call: &GatewayCall<'_>) -> GatewayDecision {
    match writes {
        GatewayWrites::Ask => GatewayDecision::Ask,
        GatewayWrites::Free | GatewayWrites::ApprovedPlan => GatewayDecision::Deny(Refusal::policy_denied(format!(
            "{} with these arguments is not a call of the approved plan {}; only its exact calls are made until it is over.",
            quoted(call.tool),
            plan.number
        ))),
    }
}
