//! The settings that decide how plans and turns work.

use std::io::ErrorKind;
use std::path::Path;

use planwright_core::plan::template::{PlanTemplate, TEMPLATE_FILE};
use planwright_core::policy::{Limits, Policy};
use planwright_core::turn::TurnLimits;

use super::agents;
use super::file::{File, LimitsSection, TurnSection};
use crate::failure::Failure;

pub(super) fn policy(mut file: File, path: &Path, data: &Path) -> Result<Policy, Failure> {
    Ok(Policy {
        limits: limits(file.limits),
        agents: agents::registry(file.agents, path, &data.join("agents"))?,
        document_tools: file.plan.tools(),
        turn: turn(file.turn),
        on_failure: file.plan.on_failure(),
        standing_approval: file.plan.standing_approval(),
        planning_files: file.planning_files.planning_files(),
        nudges: file.plan.nudges(),
        plan_turns: file.plan.turns(),
        plan_template: plan_template(&data.join(TEMPLATE_FILE))?,
        approval: file.approval.policy(),
        auto: file.auto.policy(file.prices),
        ..Policy::default()
    })
}

/// The person's template of documents, if there is one.
fn plan_template(path: &Path) -> Result<Option<PlanTemplate>, Failure> {
    let wrong = |message: String| Failure::usage(format!("{}: {message}", path.display()));
    match std::fs::read_to_string(path) {
        Ok(text) => PlanTemplate::new(&text).map(Some).map_err(|refusal| wrong(refusal.message)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(wrong(format!("it cannot be read: {error}"))),
    }
}

fn limits(mut section: LimitsSection) -> Limits {
    Limits {
        plan_bytes: section.plan_bytes(),
        steps: section.steps(),
        message_bytes: section.message_bytes(),
        ..Limits::default()
    }
}

fn turn(mut section: TurnSection) -> TurnLimits {
    TurnLimits {
        model_calls: section.model_calls(),
        tool_calls: section.tool_calls(),
        tokens: section.tokens(),
        time: section.seconds(),
        tool_time: section.tool_seconds(),
        calls_per_minute: section.calls_per_minute(),
        ..TurnLimits::default()
    }
}
