//! The acts that approvers sign, by what they are about.

use serde_json::{Value, json};

use crate::ask::Grant;
use crate::auto::{NewSchedule, StartTarget};
use crate::command::StuckChoice;
use crate::ids::{AskId, MemoryId, RunId, ScheduleId, StepId};
use crate::plan::{Digest, Plan};
use crate::presence::{Act, ActKind};
use crate::upstream::ServerName;

impl Act {
    pub fn resume(plan: &Plan, after_step: Option<usize>) -> Self {
        let (kind, subject) = match after_step {
            Some(step) => (ActKind::Release, format!("{} after step {step}", plan.id)),
            None => (ActKind::Resume, plan.id.to_string()),
        };
        Self { kind, subject, digest: plan.digest().to_string() }
    }

    /// `None` for what only ends the work.
    pub fn settle(plan: &Plan, step: &StepId, choice: StuckChoice) -> Option<Self> {
        let kind = match choice {
            StuckChoice::Retry => ActKind::Retry,
            StuckChoice::Skip => ActKind::Skip,
            StuckChoice::Stop => return None,
        };
        Some(Self { kind, subject: format!("{} step {step}", plan.id), digest: plan.digest().to_string() })
    }

    /// With the arguments that the person changed, if they did.
    pub fn permit(ask: &AskId, digest: Digest, grant: Grant, changed: Option<&Value>) -> Self {
        let subject = format!("{ask} {}", grant.as_str());
        match changed {
            Some(changed) => Self::of(ActKind::Permit, subject, &json!({ "asked": digest, "arguments": changed })),
            None => Self { kind: ActKind::Permit, subject, digest: digest.to_string() },
        }
    }

    pub fn promote(memory: &MemoryId) -> Self {
        Self::of(ActKind::Promote, memory.to_string(), &json!(memory))
    }

    pub fn start_run(target: &StartTarget) -> Self {
        Self::of(ActKind::StartRun, "a run".to_owned(), &json!(target))
    }

    pub fn resume_run(run: &RunId) -> Self {
        Self::of(ActKind::ResumeRun, run.to_string(), &json!(run))
    }

    pub fn add_schedule(new: &NewSchedule) -> Self {
        Self::of(ActKind::AddSchedule, "a schedule".to_owned(), &json!(new))
    }

    pub fn resume_schedule(schedule: &ScheduleId) -> Self {
        Self::of(ActKind::ResumeSchedule, schedule.to_string(), &json!(schedule))
    }

    pub fn accept_tools(server: &ServerName, digest: Digest) -> Self {
        Self { kind: ActKind::AcceptTools, subject: server.as_str().to_owned(), digest: digest.to_string() }
    }

    fn of(kind: ActKind, subject: String, content: &Value) -> Self {
        Self { kind, subject, digest: Digest::of_value("planwright-act-v1", content).to_string() }
    }
}
