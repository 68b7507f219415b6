//! What of the settings decides how plans and turns go.

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::time::Duration;

use planwright_core::policy::{DocumentTools, Limits, OnFailure, Policy, StandingApproval};
use planwright_core::turn::TurnLimits;
use planwright_core::visible::quoted;

use super::agents;
use super::file::{File, LimitsSection, PlanSection, TurnSection};
use super::planning_files::planning_files;
use super::variables::{number, variable};
use crate::failure::Failure;

pub(super) fn policy(file: File, path: &Path) -> Result<Policy, Failure> {
    Ok(Policy {
        limits: limits(&file.limits)?,
        agents: agents::registry(file.agents, path)?,
        document_tools: document_tools(&file.plan)?,
        turn: turn(&file.turn)?,
        on_failure: on_failure(&file.plan)?,
        standing_approval: standing_approval(&file.plan)?,
        planning_files: planning_files(&file.planning_files)?,
        nudges: nudges(&file.plan)?,
    })
}

fn limits(section: &LimitsSection) -> Result<Limits, Failure> {
    let usual = Limits::default();
    let plan_bytes = number("PLANWRIGHT_LIMITS_PLAN_BYTES", section.plan_bytes)?;
    let steps = number("PLANWRIGHT_LIMITS_STEPS", section.steps)?;
    let message_bytes = number("PLANWRIGHT_LIMITS_MESSAGE_BYTES", section.message_bytes)?;
    Ok(Limits {
        plan_bytes: plan_bytes.map_or(usual.plan_bytes, NonZeroUsize::get),
        steps: steps.map_or(usual.steps, NonZeroUsize::get),
        message_bytes: message_bytes.map_or(usual.message_bytes, NonZeroUsize::get),
        ..usual
    })
}

fn nudges(section: &PlanSection) -> Result<u32, Failure> {
    let named = number("PLANWRIGHT_PLAN_NUDGES", section.nudges)?;
    Ok(named.unwrap_or(Policy::default().nudges))
}

fn on_failure(section: &PlanSection) -> Result<OnFailure, Failure> {
    let named = variable("PLANWRIGHT_PLAN_ON_FAILURE", |text| match text {
        "stop" => Ok(OnFailure::Stop),
        "go_on" => Ok(OnFailure::GoOn),
        other => Err(format!("{} is neither `stop` nor `go_on`", quoted(other))),
    })?;
    Ok(named.or(section.on_failure).unwrap_or_default())
}

fn standing_approval(section: &PlanSection) -> Result<StandingApproval, Failure> {
    let named = variable("PLANWRIGHT_PLAN_STANDING_APPROVAL", |text| match text {
        "off" => Ok(StandingApproval::Off),
        "read_only" => Ok(StandingApproval::ReadOnly),
        other => Err(format!("{} is neither `off` nor `read_only`", quoted(other))),
    })?;
    Ok(named.or(section.standing_approval).unwrap_or_default())
}

fn document_tools(section: &PlanSection) -> Result<DocumentTools, Failure> {
    let named = variable("PLANWRIGHT_PLAN_TOOLS", |text| match text {
        "all" => Ok(DocumentTools::All),
        "read_only" => Ok(DocumentTools::ReadOnly),
        other => Err(format!("{} is neither `all` nor `read_only`", quoted(other))),
    })?;
    Ok(named.or(section.tools).unwrap_or_default())
}

fn turn(section: &TurnSection) -> Result<TurnLimits, Failure> {
    let usual = TurnLimits::default();
    let model_calls = number("PLANWRIGHT_TURN_MODEL_CALLS", section.model_calls)?;
    let tool_calls = number("PLANWRIGHT_TURN_TOOL_CALLS", section.tool_calls)?;
    let tokens = number("PLANWRIGHT_TURN_TOKENS", section.tokens)?;
    let time = number("PLANWRIGHT_TURN_SECONDS", section.seconds)?;
    let tool_time = number("PLANWRIGHT_TURN_TOOL_SECONDS", section.tool_seconds)?;
    Ok(TurnLimits {
        model_calls: model_calls.map_or(usual.model_calls, NonZeroU32::get),
        tool_calls: tool_calls.map_or(usual.tool_calls, NonZeroU32::get),
        tokens: tokens.map_or(usual.tokens, NonZeroU64::get),
        time: time.map_or(usual.time, seconds),
        tool_time: tool_time.map_or(usual.tool_time, seconds),
        ..usual
    })
}

fn seconds(number: NonZeroU32) -> Duration {
    Duration::from_secs(number.get().into())
}
