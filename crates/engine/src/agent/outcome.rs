//! How a turn ended. The plan in it is made from the stored plan, never from what the model says about it.

use planwright_core::ids::{PlanId, TurnId};
use planwright_core::model::Usage;
use planwright_core::plan::execution::Progress;
use planwright_core::plan::{Digest, Execution, Plan, PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_core::turn::TurnEnd;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnOutcome {
    pub session: SessionIdentity,
    pub turn: TurnId,
    pub end: TurnEnd,
    /// What the person reads, in Markdown.
    pub reply: String,
    /// A plan that the person has not seen like this yet.
    pub plan: Option<PlanCard>,
    pub usage: Usage,
    pub model_calls: usize,
    pub tool_calls: u32,
}

/// A plan as it is put before a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanCard {
    pub plan_id: PlanId,
    pub number: u32,
    pub title: String,
    pub status: PlanStatus,
    pub style: PlanStyle,
    pub version: u32,
    pub digest: Digest,
    pub markdown: String,
    /// How far it has come, once it is carried out.
    pub progress: Option<Progress>,
    /// What can be typed about it now.
    pub next: Vec<String>,
}

impl From<&Plan> for PlanCard {
    fn from(plan: &Plan) -> Self {
        Self {
            plan_id: plan.id.clone(),
            number: plan.number,
            title: plan.display_title(),
            status: plan.status,
            style: plan.style(),
            version: plan.version,
            digest: plan.digest(),
            markdown: plan.markdown(),
            progress: plan.execution.as_ref().map(Execution::progress),
            next: next(plan),
        }
    }
}

fn next(plan: &Plan) -> Vec<String> {
    let command = |name: &str| format!("/plan {name} {}", plan.number);
    match plan.status {
        PlanStatus::Ready => {
            vec![command("approve"), format!("{} WHAT TO CHANGE", command("revise")), command("reject")]
        }
        PlanStatus::Collecting => vec![command("cancel")],
        PlanStatus::Approved | PlanStatus::Executing => vec!["/plan status".to_owned(), command("cancel")],
        PlanStatus::PartiallyCompleted => vec![command("resume"), command("cancel")],
        PlanStatus::Completed | PlanStatus::Rejected | PlanStatus::Cancelled | PlanStatus::Superseded => {
            vec!["/plan on".to_owned()]
        }
    }
}
