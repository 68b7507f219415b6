//! Plans that a rule in the configuration approves: those whose every step only reads.

use planwright_core::actor::Actor;
use planwright_core::command::AfterApproval;
use planwright_core::gate::ToolEffect;
use planwright_core::plan::content::{CallRunner, RecordedCall};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::policy::StandingApproval;
use planwright_core::turn::TurnEnd;
use planwright_engine::ledger::{LedgerError, LedgerResult};

use super::{Executions, calls_of, summary};
use crate::agent_context::AgentContext;
use crate::session::input::Approving;
use crate::session::outcome::TurnOutcome;
use crate::session::work::InputContext;

/// The rule, as it is recorded and shown.
pub(crate) const READ_ONLY_RULE: &str = "plan.standing_approval = \"read_only\"";

/// Approves a plan that is ready after a turn if a rule says so, and carries it out.
pub(super) async fn approve(
    executions: &Executions,
    mut outcome: TurnOutcome,
    context: &InputContext,
) -> LedgerResult<TurnOutcome> {
    let Some(TurnEnd::PlanReady { plan }) = &outcome.end else { return Ok(outcome) };
    let session = outcome.session.clone();
    let plan = executions.agent.engine().plans().get(&session, plan).await?;
    if plan.status != PlanStatus::Ready || !only_reads(&executions.agent, &plan) {
        return Ok(outcome);
    }
    let rule = Actor::policy(READ_ONLY_RULE, session.channel.as_str());
    let approved = executions
        .agent
        .engine()
        .plans()
        .approve_with(&session, &rule, &plan.id, plan.digest(), Approving::default(), AfterApproval::CarryOut)
        .await;
    let plan = match approved {
        Ok(plan) => plan,
        // A person was faster, or the plan changed.
        Err(LedgerError::Refused(_)) => return Ok(outcome),
        Err(error) => return Err(error),
    };
    let message = format!("Plan {} only reads and was approved by the rule `{READ_ONLY_RULE}`.", plan.number);
    let result = match Box::pin(executions.execute(&rule, plan, context)).await {
        Ok(plan) => summary(&plan),
        // The answer of the turn is not lost with it.
        Err(LedgerError::Refused(refusal)) => refusal.message,
        Err(error) => return Err(error),
    };
    let parts = [outcome.reply.as_str(), message.as_str(), result.as_str()];
    outcome.reply = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    outcome.plan = None;
    Ok(outcome)
}

/// Whether the rule is on and approves this plan: it records calls, and each of them only reads.
pub(crate) fn only_reads(agent: &AgentContext, plan: &Plan) -> bool {
    let on = match agent.engine().policy().standing_approval {
        StandingApproval::Off => false,
        StandingApproval::ReadOnly => true,
    };
    let calls = calls_of(plan);
    let reads = |tool: &str| agent.toolbox.get(tool).is_some_and(|tool| tool.effect() == ToolEffect::ReadsOnly);
    // The agent of another program makes its own calls, and what they do is not known here.
    let reads = |call: &RecordedCall| call.runner == CallRunner::Planwright && reads(&call.tool);
    on && !calls.is_empty() && calls.iter().all(reads)
}
