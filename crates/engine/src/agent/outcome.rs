//! How a turn ended. The plan in it is made from the stored plan, never from what the model says about it.

use planwright_core::ids::{PlanId, TurnId};
use planwright_core::model::Usage;
use planwright_core::plan::execution::{Progress, StepStatus};
use planwright_core::plan::{Approval, Digest, Execution, Plan, PlanStatus, PlanStyle};
use planwright_core::planner::PlannerAnswer;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::TurnEnd;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnOutcome {
    pub session: SessionIdentity,
    pub turn: TurnId,
    pub end: TurnEnd,
    /// What the person reads, in Markdown.
    pub reply: String,
    /// A plan that the person has not seen like this yet.
    pub plan: Option<PlanCard>,
    /// The same for whoever builds on it, while a plan is built.
    pub planner: Option<PlannerAnswer>,
    pub usage: Usage,
    pub model_calls: usize,
    pub tool_calls: u32,
}

/// A plan as it is put before a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanCard {
    pub plan_id: PlanId,
    pub number: u32,
    pub title: String,
    pub status: PlanStatus,
    pub style: PlanStyle,
    pub version: u32,
    pub digest: Digest,
    pub markdown: String,
    /// Who said yes to it, and whether that was a person or a standing policy.
    pub approval: Option<Approval>,
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
            approval: plan.approval.as_deref().cloned(),
            progress: plan.execution.as_ref().map(Execution::progress),
            next: next(plan),
        }
    }
}

fn is_uncertain(plan: &Plan) -> bool {
    let stuck = plan.execution.as_ref().and_then(Execution::stuck_at);
    stuck.is_some_and(|(_, run)| run.status == StepStatus::Uncertain)
}

fn next(plan: &Plan) -> Vec<String> {
    let command = |name: &str| format!("/plan {name} {}", plan.number);
    match plan.status {
        PlanStatus::Ready => {
            vec![command("approve"), format!("{} WHAT TO CHANGE", command("revise")), command("reject")]
        }
        PlanStatus::Collecting => vec![command("cancel")],
        PlanStatus::Executing | PlanStatus::PartiallyCompleted if is_uncertain(plan) => {
            ["retry", "skip", "stop"].map(|choice| format!("{} {choice}", command("resume"))).to_vec()
        }
        PlanStatus::Approved | PlanStatus::Executing => vec!["/plan status".to_owned(), command("cancel")],
        PlanStatus::PartiallyCompleted => vec![command("resume"), command("cancel")],
        PlanStatus::Completed | PlanStatus::Rejected | PlanStatus::Cancelled | PlanStatus::Superseded => {
            vec!["/plan on".to_owned()]
        }
    }
}
