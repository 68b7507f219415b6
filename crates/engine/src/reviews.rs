//! Comments of people on plans: the draft of one person, and the rounds that were sent.

use std::collections::btree_map::Entry as MapEntry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::command::{Command, SessionCommand};
use planwright_core::event::{Event, SessionEvent};
use planwright_core::ids::{CommentId, PlanId};
use planwright_core::journal::Entry;
use planwright_core::plan::Plan;
use planwright_core::plan::review::{CommentAnswer, CommentState, Review, ReviewComment, ReviewTracker, SentWith};
use planwright_core::refusal::Refusal;

use crate::approvals::Approvals;
use crate::history::History;
use crate::ledger::{LedgerError, LedgerResult};
use crate::lookup;
use crate::submitter::Submitter;

/// How many plans are followed back from the one that replaced them.
const MAX_PREDECESSORS: usize = 16;

#[derive(Debug, Clone)]
pub struct Reviews {
    submitter: Submitter,
    history: History,
}

/// The comments on a plan as one person sees them.
#[derive(Debug, Clone)]
pub struct ReviewReport {
    /// The version that the draft is about; the current one if the draft is empty.
    pub version: u32,
    pub draft: Vec<TrackedComment>,
    /// Of everyone, on this plan and on those that it replaced; the newest first.
    pub rounds: Vec<ReviewRound>,
}

/// Comments that were sent with one decision.
#[derive(Debug, Clone)]
pub struct ReviewRound {
    pub plan: Arc<Plan>,
    pub version: u32,
    pub at: Timestamp,
    pub by: Actor,
    pub with: SentWith,
    pub comments: Vec<TrackedComment>,
}

#[derive(Debug, Clone)]
pub struct TrackedComment {
    pub comment: ReviewComment,
    /// `None` while the version that it is about is the current one.
    pub state: Option<CommentState>,
    /// What the agent said about it.
    pub answer: Option<String>,
    /// Whether the person is satisfied with what became of it.
    pub resolved: bool,
}

/// The comments that were sent last with a request for changes, in the order in which the agent reads them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentComments {
    pub plan: PlanId,
    pub comments: Vec<CommentId>,
}

/// What the journal of one plan says about reviews.
#[derive(Debug, Default)]
struct PlanReviews {
    draft: Review,
    sent: Vec<SentReview>,
    resolved: BTreeSet<CommentId>,
}

#[derive(Debug)]
struct SentReview {
    at: Timestamp,
    by: Actor,
    with: SentWith,
    review: Review,
    answers: BTreeMap<CommentId, String>,
}

impl Reviews {
    pub(crate) fn new(submitter: Submitter, history: History) -> Self {
        Self { submitter, history }
    }

    /// The comments of this person that were not sent yet.
    pub async fn draft(&self, plan: &Plan, by: &Actor) -> LedgerResult<Review> {
        Ok(self.read(plan, by).await?.draft)
    }

    pub async fn get(&self, plan: &Arc<Plan>, by: &Actor) -> LedgerResult<ReviewReport> {
        let PlanReviews { draft, sent, mut resolved } = self.read(plan, by).await?;
        let mut found: Vec<_> = sent.into_iter().map(|sent| (Arc::clone(plan), sent)).collect();
        let mut replaced = plan.supersedes.clone();
        for _ in 0..MAX_PREDECESSORS {
            let Some(id) = replaced.take() else { break };
            let earlier = lookup::plan(self.submitter.ledger().as_ref(), &plan.session, &id).await?;
            let PlanReviews { sent, resolved: earlier_resolved, .. } = self.read(&earlier, by).await?;
            resolved.extend(earlier_resolved);
            found.splice(0..0, sent.into_iter().map(|sent| (Arc::clone(&earlier), sent)));
            replaced.clone_from(&earlier.supersedes);
        }
        let mut tracked = Tracking { history: &self.history, now: plan, before: BTreeMap::new() };
        let mut rounds = Vec::new();
        for (of, SentReview { at, by, with, review, mut answers }) in found.into_iter().rev() {
            let version = review.version;
            let mut comments = tracked.comments(&of, review).await?;
            for found in &mut comments {
                found.answer = answers.remove(&found.comment.id);
                found.resolved = resolved.contains(&found.comment.id);
            }
            rounds.push(ReviewRound { plan: of, version, at, by, with, comments });
        }
        let version = if draft.comments.is_empty() { plan.version } else { draft.version };
        let draft = tracked.comments(plan, draft).await?;
        Ok(ReviewReport { version, draft, rounds })
    }

    /// Keeps the draft. The last write of a person counts.
    pub async fn put(&self, plan: &Plan, by: &Actor, review: Review) -> LedgerResult<()> {
        // A draft that is sent again leaves nothing in the journal.
        if self.draft(plan, by).await? == review {
            return Ok(());
        }
        let command = SessionCommand::DraftReview { plan: plan.id.clone(), review };
        self.submitter.submit(&plan.session, by, Command::Session(command)).await?;
        Ok(())
    }

    /// The comments that an agent answers: those of the last request for changes, on this plan or on one that it replaced.
    pub async fn last_sent(&self, plan: &Arc<Plan>, by: &Actor) -> LedgerResult<Option<SentComments>> {
        let mut of = Some(Arc::clone(plan));
        for _ in 0..MAX_PREDECESSORS {
            let Some(plan) = of.take() else { break };
            let sent = self.read(&plan, by).await?.sent.into_iter().rev().find(|sent| sent.with == SentWith::Revise);
            if let Some(sent) = sent {
                let comments = sent.review.comments.into_iter().map(|comment| comment.id).collect();
                return Ok(Some(SentComments { plan: plan.id.clone(), comments }));
            }
            if let Some(id) = &plan.supersedes {
                of = Some(lookup::plan(self.submitter.ledger().as_ref(), &plan.session, id).await?);
            }
        }
        Ok(None)
    }

    /// Writes down whether the person is satisfied with what became of a comment that was sent on this plan.
    pub async fn resolve(&self, plan: &Plan, by: &Actor, comment: &CommentId, resolved: bool) -> LedgerResult<()> {
        let reviews = self.read(plan, by).await?;
        let is_known = reviews.sent.iter().any(|sent| sent.review.comments.iter().any(|one| one.id == *comment));
        if !is_known && by.kind == ActorKind::Person {
            // Who may not resolve comments does not hear which there are.
            Approvals::new(self.submitter.clone()).check_separate_in(by, &plan.session).await?;
            let message = format!("Plan {} has no comment `{comment}` that was sent.", plan.number);
            return Err(Refusal::not_found(message).into());
        }
        if is_known && reviews.resolved.contains(comment) == resolved {
            return Ok(());
        }
        let (plan_id, comment) = (plan.id.clone(), comment.clone());
        let command = SessionCommand::ResolveComment { plan: plan_id, comment, resolved };
        self.submitter.submit(&plan.session, by, Command::Session(command)).await?;
        Ok(())
    }

    async fn read(&self, plan: &Plan, by: &Actor) -> LedgerResult<PlanReviews> {
        let mut reviews = PlanReviews::default();
        for entry in self.submitter.ledger().plan_journal(&plan.session, &plan.id).await? {
            let entry = entry.map_err(|row| LedgerError::damaged(row.what, row.reason))?;
            reviews.apply(entry, by);
        }
        Ok(reviews)
    }
}

impl PlanReviews {
    fn apply(&mut self, entry: Entry, reader: &Actor) {
        let is_own = is_same_person(&entry.by, reader);
        match entry.event {
            Event::Session(SessionEvent::ReviewDrafted { review, .. }) if is_own => self.draft = review,
            Event::Session(SessionEvent::ReviewSent { with, review, .. }) => {
                if is_own {
                    self.draft = std::mem::take(&mut self.draft).without(&review);
                }
                self.sent.push(SentReview { at: entry.at, by: entry.by, with, review, answers: BTreeMap::new() });
            }
            Event::Session(SessionEvent::ReviewAnswered { answers, .. }) => {
                for CommentAnswer { comment, text } in answers {
                    let about = |sent: &&mut SentReview| sent.review.comments.iter().any(|one| one.id == comment);
                    if let Some(sent) = self.sent.iter_mut().rev().find(about) {
                        sent.answers.insert(comment, text);
                    }
                }
            }
            Event::Session(SessionEvent::CommentResolved { comment, resolved: true, .. }) => {
                self.resolved.insert(comment);
            }
            Event::Session(SessionEvent::CommentResolved { comment, resolved: false, .. }) => {
                self.resolved.remove(&comment);
            }
            _ => {}
        }
    }
}

/// A person has one draft, wherever they write it.
fn is_same_person(one: &Actor, other: &Actor) -> bool {
    one.kind == ActorKind::Person && other.kind == ActorKind::Person && one.name == other.name
}

/// Finds comments on earlier versions in the current one.
struct Tracking<'a> {
    history: &'a History,
    now: &'a Plan,
    /// By plan and version.
    before: BTreeMap<(PlanId, u32), Plan>,
}

impl Tracking<'_> {
    async fn comments(&mut self, of: &Plan, review: Review) -> LedgerResult<Vec<TrackedComment>> {
        let Review { version, comments } = review;
        let is_current = of.id == self.now.id && version == self.now.version;
        if is_current || version == 0 || comments.is_empty() {
            return Ok(comments.into_iter().map(|comment| track(comment, None)).collect());
        }
        let before = match self.before.entry((of.id.clone(), version)) {
            MapEntry::Occupied(known) => known.into_mut(),
            MapEntry::Vacant(unknown) => unknown.insert(self.history.version(of, version).await?),
        };
        let tracker = ReviewTracker::new(before, self.now);
        let with_state = |comment: ReviewComment| {
            let state = tracker.state(&comment);
            track(comment, Some(state))
        };
        Ok(comments.into_iter().map(with_state).collect())
    }
}

fn track(comment: ReviewComment, state: Option<CommentState>) -> TrackedComment {
    TrackedComment { comment, state, answer: None, resolved: false }
}
