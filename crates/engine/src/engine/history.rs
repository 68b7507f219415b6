//! What happened to a plan: every version, decision and execution, read from the journal.

mod replaying;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::event::Event;
use planwright_core::ids::PlanId;
use planwright_core::plan::diff::{PlanDiff, Version, diff};
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Approval, Digest, Execution, Plan, PlanContent, PlanStatus};
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, SessionIdentity};

use super::Engine;
use crate::ledger::LedgerResult;

pub(super) use replaying::Replay;

#[derive(Debug, Clone, Default)]
pub struct History {
    pub items: Vec<HistoryItem>,
    pub versions: Vec<PlanVersion>,
    pub decisions: Vec<PlanDecision>,
    /// Every one, the latest last.
    pub executions: Vec<PlanExecution>,
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub struct HistoryItem {
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    pub event: Event,
}

/// The plan as it stood after one change of what it says.
#[derive(Debug, Clone)]
pub struct PlanVersion {
    /// From 1.
    pub version: u32,
    pub at: Timestamp,
    pub by: Actor,
    pub digest: Digest,
    pub title: Option<String>,
    pub content: PlanContent,
}

/// What a person, or a standing policy in their place, decided about the plan.
#[derive(Debug, Clone)]
pub struct PlanDecision {
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    pub what: DecisionMade,
}

#[derive(Debug, Clone)]
pub enum DecisionMade {
    /// The positions of the steps that are to be done, from 1.
    Approved {
        approval: Approval,
        steps: Vec<usize>,
    },
    Rejected {
        reason: Option<String>,
    },
    RevisionRequested {
        feedback: String,
    },
    Cancelled {
        reason: Option<String>,
    },
    /// What becomes of a step that nobody knew the end of, or that a person reported on.
    Settled {
        position: Option<usize>,
        status: StepStatus,
        note: Option<String>,
    },
}

impl DecisionMade {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Approved { .. } => "approved",
            Self::Rejected { .. } => "rejected",
            Self::RevisionRequested { .. } => "revision_requested",
            Self::Cancelled { .. } => "cancelled",
            Self::Settled { .. } => "settled",
        }
    }
}

/// One execution as it stands or stood at its end.
#[derive(Debug, Clone)]
pub struct PlanExecution {
    pub execution: Execution,
    /// Who began it; not known of a plan that was taken over.
    pub by: Option<Actor>,
    pub end: Option<ExecutionEnd>,
}

#[derive(Debug, Clone)]
pub struct ExecutionEnd {
    /// What the plan became with it.
    pub status: PlanStatus,
    pub at: Timestamp,
    pub by: Option<Actor>,
}

impl PlanVersion {
    fn as_version(&self) -> Version<'_> {
        Version { title: self.title.as_deref(), content: &self.content }
    }
}

impl Engine {
    /// The agent of another program that drafted the plan, and therefore does its work; `None` if it was ours.
    pub async fn drafted_elsewhere(&self, plan: &Plan) -> LedgerResult<Option<Actor>> {
        Ok(self.drafted_by(plan).await?.filter(|by| is_elsewhere(&by.through)))
    }

    /// Who wrote the newest version of the plan.
    pub async fn drafted_by(&self, plan: &Plan) -> LedgerResult<Option<Actor>> {
        let history = self.history(&plan.session, &plan.id).await?;
        Ok(history.versions.into_iter().next_back().map(|version| version.by))
    }

    pub async fn history(&self, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<History> {
        let mut replay = Replay::new(session, plan);
        for entry in self.ledger.plan_journal(session, plan).await? {
            replay.take_in(entry);
        }
        Ok(replay.history)
    }

    /// The difference between two versions of one plan; by default the last two. A plan with one version is
    /// compared with the one it took the place of.
    pub async fn diff_versions(&self, plan: &Plan, from: Option<u32>, to: Option<u32>) -> LedgerResult<PlanDiff> {
        let versions = self.history(&plan.session, &plan.id).await?.versions;
        let last = u32::try_from(versions.len()).unwrap_or(u32::MAX);
        let to = to.unwrap_or(last);
        let newer = version(plan, &versions, to)?;
        let from = match (from, &plan.supersedes) {
            (Some(from), _) => from,
            (None, Some(earlier)) if to <= 1 => {
                let earlier = self.plan(&plan.session, earlier).await?;
                return Ok(diff(whole(&earlier), newer.as_version()));
            }
            (None, _) => to.saturating_sub(1),
        };
        if from == 0 {
            let nothing = PlanContent::empty(plan.style());
            return Ok(diff(Version { title: None, content: &nothing }, newer.as_version()));
        }
        Ok(diff(version(plan, &versions, from)?.as_version(), newer.as_version()))
    }

    /// The difference between what two plans say now.
    pub fn diff_plans(&self, from: &Plan, to: &Plan) -> Result<PlanDiff, Refusal> {
        if from.style() != to.style() {
            return Err(Refusal::invalid(format!(
                "Plan {} is of style {} and plan {} of style {}; they cannot be compared.",
                from.number,
                from.style(),
                to.number,
                to.style()
            )));
        }
        Ok(diff(whole(from), whole(to)))
    }
}

fn whole(plan: &Plan) -> Version<'_> {
    Version { title: plan.title.as_deref(), content: &plan.content }
}

fn version<'a>(plan: &Plan, versions: &'a [PlanVersion], number: u32) -> Result<&'a PlanVersion, Refusal> {
    versions.iter().find(|version| version.version == number).ok_or_else(|| {
        let there = match versions.len() {
            0 => "it has none yet".to_owned(),
            1 => "it has only version 1".to_owned(),
            last => format!("it has versions 1 to {last}"),
        };
        Refusal::not_found(format!("Plan {} has no version {number}; {there}.", plan.number))
    })
}

/// Protocols behind which other programs have agents of their own.
fn is_elsewhere(through: &str) -> bool {
    [Channel::Mcp, Channel::Acp].iter().any(|channel| channel.as_str() == through)
}
