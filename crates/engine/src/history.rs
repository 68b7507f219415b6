//! The history of plans and conversations, read from the journal: versions, decisions, executions, diffs and messages.

mod messages;
mod past_state;
mod replay;
mod session_usage;
mod work_cost;

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::event::{Event, PlanEvent, SessionEvent};
use planwright_core::ids::{PlanId, RunId};
use planwright_core::journal::Entry;
use planwright_core::plan::content::Document;
use planwright_core::plan::diff::{PlanDiff, Version, diff};
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{
    Approval, Digest, Execution, IncompleteApproval, Plan, PlanContent, PlanStatus, PlanStyle,
};
use planwright_core::refusal::Refusal;
use planwright_core::session::{Channel, SessionIdentity};
use planwright_core::snapshot::Snapshot;

use crate::ledger::{Committed, DamagedRow, Ledger, LedgerError, LedgerResult, Page, StoredSession};
use crate::lookup;
use crate::submitter::Submitter;

pub use messages::{Message, MessageCall, MessageRole};
pub use past_state::PastState;
pub(crate) use replay::Replay;
pub use session_usage::SessionUsage;
pub use work_cost::{ExecutionCost, ExecutionCosts, WorkCost};

#[derive(Debug, Clone)]
pub struct History {
    submitter: Submitter,
}

/// Everything that happened to one plan.
#[derive(Debug, Clone, Default)]
pub struct HistoryReport {
    pub items: Vec<HistoryItem>,
    pub versions: Vec<PlanVersion>,
    pub decisions: Vec<PlanDecision>,
    /// Every one, the latest last.
    pub executions: Vec<PlanExecution>,
    /// Entries that cannot be read. What follows from the entries after the first of them is not known: versions, decisions
    /// and executions end there, items do not.
    pub damaged: Vec<DamagedRow>,
}

/// One entry of the journal.
#[derive(Debug, Clone)]
pub struct HistoryItem {
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    pub event: Event,
}

/// The plan after one change of its content.
#[derive(Debug, Clone)]
pub struct PlanVersion {
    /// 1-based index.
    pub version: u32,
    pub at: Timestamp,
    pub by: Actor,
    pub digest: Digest,
    pub title: Option<String>,
    pub content: PlanContent,
}

/// A decision of a person, or of a standing policy, about the plan.
#[derive(Debug, Clone)]
pub struct PlanDecision {
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    pub what: DecisionMade,
}

#[derive(Debug, Clone)]
pub enum DecisionMade {
    /// `steps` are the 1-based indexes of the approved steps.
    Approved {
        approval: Box<Approval>,
        steps: Vec<usize>,
    },
    /// One of several people approved it.
    ApprovalSigned {
        signed: Box<IncompleteApproval>,
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
    /// A person settled a step whose result was unknown, or reported on one.
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
            Self::ApprovalSigned { .. } => "approval_signed",
            Self::Rejected { .. } => "rejected",
            Self::RevisionRequested { .. } => "revision_requested",
            Self::Cancelled { .. } => "cancelled",
            Self::Settled { .. } => "settled",
        }
    }
}

/// One execution, now or at its end.
#[derive(Debug, Clone)]
pub struct PlanExecution {
    pub execution: Execution,
    /// The actor that started it; `None` for an imported plan.
    pub by: Option<Actor>,
    pub end: Option<ExecutionEnd>,
}

#[derive(Debug, Clone)]
pub struct ExecutionEnd {
    /// The status of the plan after it.
    pub status: PlanStatus,
    pub at: Timestamp,
    pub by: Option<Actor>,
}

/// The author of the current version of a plan, and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionAuthor {
    pub by: Actor,
    pub at: Timestamp,
}

/// The content of one version of a plan.
struct VersionContent {
    title: Option<String>,
    content: PlanContent,
}

impl VersionContent {
    fn as_version(&self) -> Version<'_> {
        Version { title: self.title.as_deref(), content: &self.content }
    }
}

impl History {
    pub(crate) fn new(submitter: Submitter) -> Self {
        Self { submitter }
    }

    /// The newest messages before the entry `before`, in order. `next` is the `before` of the page of older ones.
    pub async fn messages(
        &self,
        session: &SessionIdentity,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<Message>> {
        messages::page(self.ledger(), session, None, before, limit).await
    }

    /// What was said in the turns of a run, and its result; pages as in [`Self::messages`].
    pub async fn run_messages(
        &self,
        session: &SessionIdentity,
        run: &RunId,
        before: Option<u64>,
        limit: u32,
    ) -> LedgerResult<Page<Message>> {
        let page = messages::page(self.ledger(), session, Some(run), before, limit).await?;
        let is_known =
            |stored: &StoredSession| stored.session.auto.as_deref().is_some_and(|auto| auto.run(run).is_some());
        if page.items.is_empty() && !is_known(&lookup::stored_session(self.ledger(), session).await?) {
            return Err(Refusal::not_found(format!("There is no run {run} in session {session}.")).into());
        }
        Ok(page)
    }

    /// The agent of another program that drafted the plan, and therefore carries it out; `None` if this agent did.
    pub async fn external_author(&self, plan: &Plan) -> LedgerResult<Option<Actor>> {
        let author = self.version_author(plan).await?;
        Ok(author.map(|author| author.by).filter(|by| is_elsewhere(&by.through)))
    }

    /// `None` if the plan has no version yet.
    pub async fn version_author(&self, plan: &Plan) -> LedgerResult<Option<VersionAuthor>> {
        if plan.version == 0 {
            return Ok(None);
        }
        if let Some(entry) = self.ledger().version_entry(&plan.session, &plan.id, plan.version).await? {
            return Ok(Some(VersionAuthor { by: entry.by, at: entry.at }));
        }
        let versions = self.replay_versions(plan).await?;
        Ok(versions.into_iter().next_back().map(|version| VersionAuthor { by: version.by, at: version.at }))
    }

    pub async fn of_plan(&self, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<HistoryReport> {
        let mut replay = Replay::new(session, plan);
        for entry in self.ledger().plan_journal(session, plan).await? {
            match entry {
                Ok(entry) => replay.apply(entry),
                Err(damaged) => replay.note_damage(damaged),
            }
        }
        Ok(replay.finish())
    }

    /// The session as it was before a request was carried out and right after it, from its journal.
    pub async fn session_around(
        &self,
        session: &SessionIdentity,
        carried_out: &Committed,
    ) -> LedgerResult<(Snapshot, Snapshot)> {
        const PAGE: u32 = 1_000;
        let first = carried_out.seq + 1 - carried_out.events.len() as u64;
        let mut snapshot = Snapshot::new(session.clone());
        let (mut before, mut read) = (snapshot.clone(), 0);
        loop {
            let page = self.ledger().journal(session, read, PAGE).await?;
            for sealed in &page {
                if sealed.seq == first {
                    before = snapshot.clone();
                }
                if sealed.seq > carried_out.seq {
                    return Ok((before, snapshot));
                }
                let what = || format!("journal entry {}", sealed.seq);
                let entry = serde_json::from_str::<Entry>(&sealed.body);
                let entry = entry.map_err(|error| LedgerError::damaged(what(), error))?;
                snapshot.apply(&entry.event, &entry.context(), entry.seq);
            }
            match page.last() {
                Some(last) => read = last.seq,
                None => return Ok((before, snapshot)),
            }
        }
    }

    /// The difference between two versions of one plan; by default the last two. A plan with one version is
    /// compared with the plan that it superseded.
    pub async fn diff_versions(&self, plan: &Plan, from: Option<u32>, to: Option<u32>) -> LedgerResult<PlanDiff> {
        let to = to.unwrap_or(plan.version);
        let newer = self.version_content(plan, to).await?;
        let from = match (from, &plan.supersedes) {
            (Some(from), _) => from,
            (None, Some(earlier)) if to <= 1 => {
                let earlier = lookup::plan(self.ledger(), &plan.session, earlier).await?;
                return Ok(diff(whole(&earlier), newer.as_version()));
            }
            (None, _) => to.saturating_sub(1),
        };
        if from == 0 {
            let nothing = PlanContent::empty(plan.style());
            return Ok(diff(Version { title: None, content: &nothing }, newer.as_version()));
        }
        Ok(diff(self.version_content(plan, from).await?.as_version(), newer.as_version()))
    }

    /// The plan with the text of an earlier version. Everything else of it is as it is now.
    pub async fn version(&self, plan: &Plan, number: u32) -> LedgerResult<Plan> {
        let VersionContent { title, content } = self.version_content(plan, number).await?;
        Ok(Plan { title, content, version: number, ..plan.clone() })
    }

    /// A version of a document is one entry of the journal. In the other styles many entries lead to a version, which is
    /// frozen then: it is what the plan says, or what an imported plan said. Nothing is replayed unless the index of
    /// versions is incomplete.
    async fn version_content(&self, plan: &Plan, number: u32) -> LedgerResult<VersionContent> {
        if !(1..=plan.version).contains(&number) {
            return Err(no_version(plan, number).into());
        }
        match plan.style() {
            PlanStyle::Collect | PlanStyle::Build
                if number == plan.version && plan.status != PlanStatus::Collecting =>
            {
                return Ok(VersionContent { title: plan.title.clone(), content: plan.content.clone() });
            }
            PlanStyle::Document | PlanStyle::Collect | PlanStyle::Build => {}
        }
        let entry = self.ledger().version_entry(&plan.session, &plan.id, number).await?;
        match entry.map(|entry| entry.event) {
            Some(Event::Plan { event: PlanEvent::ContentSet { markdown, title }, .. }) => {
                Ok(VersionContent { title, content: PlanContent::Document(Document { markdown }) })
            }
            Some(Event::Session(SessionEvent::PlanImported { plan, .. })) => {
                Ok(VersionContent { title: plan.title, content: plan.content })
            }
            Some(_) | None => {
                let versions = self.replay_versions(plan).await?;
                let found = versions.into_iter().find(|version| version.version == number);
                let version = found.ok_or_else(|| no_version(plan, number))?;
                Ok(VersionContent { title: version.title, content: version.content })
            }
        }
    }

    async fn replay_versions(&self, plan: &Plan) -> LedgerResult<Vec<PlanVersion>> {
        let history = self.of_plan(&plan.session, &plan.id).await?;
        match history.damaged.into_iter().next() {
            Some(row) => Err(LedgerError::damaged(row.what, row.reason)),
            None => Ok(history.versions),
        }
    }

    /// The difference between the current contents of two plans.
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

    fn ledger(&self) -> &dyn Ledger {
        self.submitter.ledger().as_ref()
    }
}

fn whole(plan: &Plan) -> Version<'_> {
    Version { title: plan.title.as_deref(), content: &plan.content }
}

fn no_version(plan: &Plan, number: u32) -> Refusal {
    let there = match plan.version {
        0 => "it has none yet".to_owned(),
        1 => "it has only version 1".to_owned(),
        last => format!("it has versions 1 to {last}"),
    };
    Refusal::not_found(format!("Plan {} has no version {number}; {there}.", plan.number))
}

/// Whether the channel belongs to other programs, which have agents of their own.
fn is_elsewhere(through: &str) -> bool {
    [Channel::Mcp, Channel::Acp].iter().any(|channel| channel.as_str() == through)
}
