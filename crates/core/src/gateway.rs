//! What becomes of a call that the agent of another program makes to a tool of an upstream server, through this program.

use serde_json::Value;

use crate::gate::ToolEffect;
use crate::ids::{PlanId, StepId};
use crate::permission::{Permission, PermissionOutcome};
use crate::plan::content::{CallRunner, PlanContent};
use crate::plan::digest::is_same;
use crate::plan::execution::StepStatus;
use crate::plan::{Plan, PlanStatus, PlanStyle};
use crate::refusal::Refusal;
use crate::snapshot::Snapshot;
use crate::visible::quoted;
use crate::wire::text_enum;

pub use crate::ask::{GatewayCallRecord, GatewayReason};

text_enum! {
    /// What becomes of calls that change things, unless a rule of the person decides about them.
    #[derive(Default)]
    pub enum GatewayWrites {
        /// They are recorded in a round, approved, and made exactly as approved.
        #[default]
        Recorded = "recorded",
        /// They run while an approved plan is carried out, whatever they do.
        DuringPlan = "during_plan",
        /// They run after a person was asked about each.
        Ask = "ask",
        /// They run at any time.
        Free = "free",
    }
}

text_enum! {
    /// What becomes of calls that only read, in style collect.
    #[derive(Default)]
    pub enum GatewayReads {
        /// They are recorded like every other call.
        #[default]
        Recorded = "recorded",
        Run = "run",
    }
}

/// The settings of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatewayOptions {
    pub writes: GatewayWrites,
    pub reads: GatewayReads,
    /// The bytes of a result's text that the client gets at once.
    pub result_bytes: usize,
}

impl GatewayOptions {
    pub const RESULT_BYTES: usize = 64 * 1024;
}

impl Default for GatewayOptions {
    fn default() -> Self {
        let (writes, reads) = Default::default();
        Self { writes, reads, result_bytes: Self::RESULT_BYTES }
    }
}

/// The plan work of a session, as far as calls depend on it.
#[derive(Debug, Clone, Copy, Default)]
pub struct GatewayWork<'a> {
    /// `None` while plan work is off.
    pub style: Option<PlanStyle>,
    /// The active plan.
    pub plan: Option<&'a Plan>,
    /// The round that is recorded or carried out, or the last one.
    pub round: Option<&'a Plan>,
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
    Run(GatewayReason),
    /// Written down as a step and answered with `[Planned]`.
    Record,
    /// The approved plan made exactly this call; its recorded result is the answer.
    Recorded {
        plan: PlanId,
        step: StepId,
    },
    /// A person is asked about it.
    Ask,
    Deny(Refusal),
}

impl<'a> GatewayWork<'a> {
    pub fn of(snapshot: &'a Snapshot) -> Self {
        let mode = snapshot.session.as_ref().map(|session| &session.plan_mode).filter(|mode| mode.enabled);
        Self {
            style: mode.map(|mode| mode.style),
            plan: mode.and_then(|_| snapshot.active()),
            round: mode.and_then(|_| snapshot.round()),
        }
    }
}

impl GatewayOptions {
    /// Whether a call with this effect may be recorded in this style. Recorded calls have an order.
    pub fn may_record(&self, style: Option<PlanStyle>, effect: ToolEffect) -> bool {
        let reads = effect == ToolEffect::ReadsOnly;
        match style {
            Some(PlanStyle::Collect) => !reads || self.reads == GatewayReads::Recorded,
            Some(PlanStyle::Document | PlanStyle::Build) => !reads && self.writes == GatewayWrites::Recorded,
            None => false,
        }
    }
}

impl GatewayCall<'_> {
    /// Why it runs without an approval: a rule allows it, or it only reads and no rule says otherwise.
    fn needs_nobody(&self) -> Option<GatewayReason> {
        match self.permission.by_rule() {
            Some(permission) => (permission == Permission::Allow).then_some(GatewayReason::Rule),
            None => (self.effect == ToolEffect::ReadsOnly).then_some(GatewayReason::Reads),
        }
    }
}

/// Decides about a call.
pub fn decide_gateway(options: GatewayOptions, work: GatewayWork<'_>, call: &GatewayCall<'_>) -> GatewayDecision {
    if call.permission.permission == Permission::Deny {
        let why = call.permission.reason.describe();
        return GatewayDecision::Deny(Refusal::policy_denied(format!("{} is denied. {why}", quoted(call.tool))));
    }
    if work.style == Some(PlanStyle::Collect) {
        if let Some(why) = call.needs_nobody().filter(|_| options.reads == GatewayReads::Run) {
            return GatewayDecision::Run(why);
        }
        return match work.plan {
            Some(plan) if is_in_force(plan.status) => {
                firewall(plan, call).unwrap_or_else(|| outside_of_plan(options.writes, plan, call))
            }
            Some(_) | None => GatewayDecision::Record,
        };
    }
    if let Some(why) = call.needs_nobody() {
        return GatewayDecision::Run(why);
    }
    // A person decides about a recorded call, as the rule wants it.
    let is_recorded = options.writes == GatewayWrites::Recorded && work.style.is_some();
    if call.permission.by_rule() == Some(Permission::Ask) && !is_recorded {
        return GatewayDecision::Ask;
    }
    match options.writes {
        GatewayWrites::Recorded => in_round(work, call),
        GatewayWrites::Free => GatewayDecision::Run(GatewayReason::Free),
        GatewayWrites::Ask => GatewayDecision::Ask,
        GatewayWrites::DuringPlan => during_plan(work.plan, call),
    }
}

/// The call is one of the round that is carried out, or is recorded in the next one.
fn in_round(work: GatewayWork<'_>, call: &GatewayCall<'_>) -> GatewayDecision {
    if work.style.is_none() {
        return GatewayDecision::Deny(Refusal::policy_denied(format!(
            "{} changes things. Such a call is recorded and made once a person approved it, and while plan work is off there is \
             no plan to record it for; a person turns plan work on.",
            quoted(call.tool)
        )));
    }
    let carried_out = |round: &&Plan| matches!(round.status, PlanStatus::Approved | PlanStatus::Executing);
    let Some(round) = work.round.filter(carried_out) else { return GatewayDecision::Record };
    firewall(round, call).unwrap_or_else(|| {
        GatewayDecision::Deny(Refusal::wrong_status(format!(
            "{} with these arguments is not a call of the approved round (plan {}), and no other call is recorded before it is \
             over. plan_get shows how it stands.",
            quoted(call.tool),
            round.number
        )))
    })
}

fn during_plan(plan: Option<&Plan>, call: &GatewayCall<'_>) -> GatewayDecision {
    match plan {
        Some(plan) if matches!(plan.status, PlanStatus::Approved | PlanStatus::Executing) => {
            GatewayDecision::Run(GatewayReason::DuringPlan)
        }
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

/// With an approved plan exactly its calls are made, once, and by Planwright. `None` if this is not one of them.
fn firewall(plan: &Plan, call: &GatewayCall<'_>) -> Option<GatewayDecision> {
    let PlanContent::Collect(collected) = &plan.content else { return None };
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    let same = collected.steps.iter().filter(|step| {
        step.runner == CallRunner::Planwright && step.tool == call.tool && is_same(&step.arguments, call.arguments)
    });
    let mut approved = same.filter(|step| skipped.iter().all(|skip| skip.step != step.id)).peekable();
    approved.peek()?;
    let status =
        |step: &StepId| plan.execution.as_ref().and_then(|execution| execution.step(step)).map(|run| run.status);
    Some(match approved.find(|step| status(&step.id) == Some(StepStatus::Completed)) {
        Some(step) => GatewayDecision::Recorded { plan: plan.id.clone(), step: step.id.clone() },
        None => GatewayDecision::Deny(Refusal::wrong_status(format!(
            "Plan {} has this call as an approved step, and Planwright makes it itself; plan_get shows its result.",
            plan.number
        ))),
    })
}

fn outside_of_plan(writes: GatewayWrites, plan: &Plan, call: &GatewayCall<'_>) -> GatewayDecision {
    match writes {
        GatewayWrites::Ask => GatewayDecision::Ask,
        GatewayWrites::Recorded | GatewayWrites::Free | GatewayWrites::DuringPlan => {
            GatewayDecision::Deny(Refusal::policy_denied(format!(
                "{} with these arguments is not a call of the approved plan {}; only its exact calls are made until it is \
                 over.",
                quoted(call.tool),
                plan.number
            )))
        }
    }
}
