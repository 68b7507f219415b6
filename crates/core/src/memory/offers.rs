//! Memories that rules offer: decisions of finished plans, resolved errors of the workbook, and entries of the diary.
//!
//! An offer is read from what the session has already, so it costs nothing until a person or the model looks at it. It is
//! remembered when one of them accepts it, in the scope that the rules for writing give it, and never by itself.

mod rows;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::chain::ScopeChain;
use super::item::{MemoryKind, MemorySource};
use super::scope::MemoryScope;
use crate::auto::{AutoExecutionContext, AutoState, DiaryEntry};
use crate::identity::SessionIdentity;
use crate::ids::MemoryId;
use crate::plan::{Plan, PlanContent, PlanStatus};

/// The most offers that one plan or one workbook makes.
const MAX_OFFERS: usize = 16;
/// Of the words of an offer, in characters.
const MAX_CHARACTERS: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryOffer {
    /// The id that the memory has once the offer is accepted. The same words from the same place always have the same id.
    pub id: MemoryId,
    pub kind: MemoryKind,
    /// Where the memory is written.
    pub scope: MemoryScope,
    pub content: String,
    pub source: MemorySource,
    /// When it was decided, resolved or written.
    pub at: Timestamp,
    /// The run that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<AutoExecutionContext>,
}

impl MemoryOffer {
    fn new(session: &SessionIdentity, kind: MemoryKind, source: MemorySource, at: Timestamp, content: &str) -> Self {
        let content = clipped(content);
        let id = offer_id(session, &source, &content);
        Self { id, kind, scope: ScopeChain::of_session(session).scope_for(kind), content, source, at, run: None }
    }

    /// Moves the offer into the scope that the run writes to.
    fn of_run(self, run: &AutoExecutionContext) -> Self {
        let scope = ScopeChain::of_run(run).scope_for(self.kind);
        Self { scope, run: Some(run.clone()), ..self }
    }
}

/// The decisions of a plan that was carried out: the rows and items below its headings "Decisions". A plan without such a
/// heading is one decision itself.
pub fn offers_of_plan(plan: &Plan) -> Vec<MemoryOffer> {
    match plan.status {
        PlanStatus::Completed | PlanStatus::PartiallyCompleted => {}
        PlanStatus::Collecting
        | PlanStatus::Ready
        | PlanStatus::Approved
        | PlanStatus::Executing
        | PlanStatus::Rejected
        | PlanStatus::Cancelled
        | PlanStatus::Superseded => return Vec::new(),
    }
    let mut decisions: Vec<String> = match &plan.content {
        PlanContent::Document(document) => {
            let rows = rows::below(&document.markdown, &["decision", "decisions", "decisions made"]);
            rows.into_iter().map(|cells| cells.join(" — ")).collect()
        }
        PlanContent::Collect(_) | PlanContent::Build(_) => Vec::new(),
    };
    if decisions.is_empty() {
        decisions.push(whole_plan(plan));
    }
    let source = || MemorySource::Plan { plan: plan.id.clone() };
    let offer = |text: &String| MemoryOffer::new(&plan.session, MemoryKind::Decision, source(), plan.updated_at, text);
    decisions.iter().take(MAX_OFFERS).map(offer).collect()
}

fn whole_plan(plan: &Plan) -> String {
    let title = plan.title.clone().or_else(|| plan.content.excerpt()).unwrap_or_default();
    let summary = match &plan.content {
        PlanContent::Document(_) => None,
        PlanContent::Collect(collected) => collected.summary.clone(),
        PlanContent::Build(built) => built.summary.clone().or_else(|| built.goal.clone()),
    };
    let summary = summary.filter(|summary| *summary != title);
    let steps: Vec<_> = plan.content.steps().into_iter().map(|step| step.description).collect();
    let told = summary.unwrap_or_else(|| steps.join("; "));
    let status = match plan.status {
        PlanStatus::Completed => "was carried out",
        _ => "was carried out in part",
    };
    format!("Plan {} “{title}” {status}: {told}", plan.number)
}

/// The errors in the task plan that have a resolution: the rows of its table "Errors" with both cells filled.
pub fn offers_of_task_plan(session: &SessionIdentity, markdown: &str, at: Timestamp) -> Vec<MemoryOffer> {
    let rows = rows::below(markdown, &["error", "errors", "errors encountered"]);
    let resolved = rows.into_iter().filter_map(|cells| match cells.as_slice() {
        [what, .., instead] => Some(format!("{what} — resolved: {instead}")),
        _ => None,
    });
    let offer = |text: String| MemoryOffer::new(session, MemoryKind::Fact, MemorySource::Workbook, at, &text);
    resolved.take(MAX_OFFERS).map(offer).collect()
}

/// The entries of the diary that are at hand. What a run wrote belongs to the task that it worked on then.
pub fn offers_of_diary(session: &SessionIdentity, state: &AutoState) -> Vec<MemoryOffer> {
    let offer = |entry: &DiaryEntry| {
        let offer = MemoryOffer::new(session, MemoryKind::Result, MemorySource::Diary, entry.at, &entry.text);
        match (&entry.run, &entry.task) {
            (None, _) => Some(offer),
            // The scope of a run that is not at hand any more is not known.
            (Some(run), Some(task)) => state.run(run).map(|run| offer.of_run(&run.context.with_task(task.clone()))),
            (Some(_), None) => None,
        }
    };
    state.diary.iter().filter_map(offer).collect()
}

fn offer_id(session: &SessionIdentity, source: &MemorySource, content: &str) -> MemoryId {
    let origin = match source {
        MemorySource::Plan { plan } => plan.as_str(),
        MemorySource::Workbook => "workbook",
        MemorySource::Diary => "diary",
        MemorySource::Person | MemorySource::Turn { .. } | MemorySource::Tool | MemorySource::Promotion { .. } => "",
    };
    let digest = Sha256::digest(format!("{session}\n{origin}\n{content}").as_bytes());
    MemoryId::of_offer(&hex::encode(&digest[..12]))
}

fn clipped(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= MAX_CHARACTERS {
        return text;
    }
    text.chars().take(MAX_CHARACTERS).collect::<String>() + "…"
}
