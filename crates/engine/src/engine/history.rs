//! What happened to a plan: every version, decision and execution, read from the journal.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::desk::Desk;
use planwright_core::event::Event;
use planwright_core::ids::PlanId;
use planwright_core::plan::diff::{PlanDiff, Version, diff};
use planwright_core::plan::{Digest, Plan, PlanContent};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;

use super::Engine;
use crate::ledger::LedgerResult;

#[derive(Debug, Clone)]
pub struct History {
    pub items: Vec<HistoryItem>,
    pub versions: Vec<PlanVersion>,
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

impl PlanVersion {
    fn as_version(&self) -> Version<'_> {
        Version { title: self.title.as_deref(), content: &self.content }
    }
}

impl Engine {
    pub async fn history(&self, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<History> {
        let mut history = History { items: Vec::new(), versions: Vec::new() };
        let mut desk = Desk::new(session.clone());
        for entry in self.ledger.plan_journal(session, plan).await? {
            desk.apply(&entry.event, &entry.stamp());
            if let Some(plan) = desk.plan(plan) {
                history.note_version(plan, &entry.by, entry.at);
            }
            history.items.push(HistoryItem { seq: entry.seq, at: entry.at, by: entry.by, event: entry.event });
        }
        Ok(history)
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

impl History {
    /// A draft is not a version; a text that was ready for a person is one.
    fn note_version(&mut self, plan: &Plan, by: &Actor, at: Timestamp) {
        let known = u32::try_from(self.versions.len()).unwrap_or(u32::MAX);
        if plan.version > known {
            self.versions.push(PlanVersion {
                version: plan.version,
                at,
                by: by.clone(),
                digest: plan.digest(),
                title: plan.title.clone(),
                content: plan.content.clone(),
            });
        }
    }
}
