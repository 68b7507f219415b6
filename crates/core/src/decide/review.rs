//! Comments of a person on a plan.

use std::collections::BTreeSet;

use crate::actor::ActorKind;
use crate::decide::Decider;
use crate::event::{Event, SessionEvent};
use crate::ids::{CommentId, PlanId};
use crate::plan::Plan;
use crate::plan::review::{
    CommentAnchor, CommentKind, MAX_COMMENTS, MAX_CONTEXT, Review, ReviewAnswers, ReviewComment,
};
use crate::policy::{Limits, filled};
use crate::refusal::Refusal;

impl Decider<'_> {
    pub(super) fn draft_review(&self, plan: &PlanId, review: &Review) -> Result<Vec<Event>, Refusal> {
        if self.context.by.kind != ActorKind::Person {
            return Err(Refusal::policy_denied("Only a person comments on a plan."));
        }
        self.snapshot.opened()?;
        let plan = self.snapshot.named(plan)?;
        self.check_review(plan, review)?;
        Ok(vec![Event::Session(SessionEvent::ReviewDrafted { plan: plan.id.clone(), review: review.clone() })])
    }

    /// What a call of an agent changes, and what it answers. Whether there are such comments is checked where the journal is
    /// read.
    pub(super) fn with_answers(&self, mut events: Vec<Event>, given: &ReviewAnswers) -> Result<Vec<Event>, Refusal> {
        let ReviewAnswers { plan, answers } = given;
        if answers.len() > MAX_COMMENTS {
            return Err(Refusal::limit(format!("At most {MAX_COMMENTS} answers are taken at once.")));
        }
        for answer in answers {
            filled("answer", &answer.text)?;
            self.policy.limits.check_line("answer", &answer.text)?;
        }
        if !answers.is_empty() {
            let (plan, answers) = (plan.clone(), answers.clone());
            events.push(Event::Session(SessionEvent::ReviewAnswered { plan, answers }));
        }
        Ok(events)
    }

    pub(super) fn resolve_comment(
        &self,
        plan: &PlanId,
        comment: &CommentId,
        resolved: bool,
    ) -> Result<Vec<Event>, Refusal> {
        if self.context.by.kind != ActorKind::Person {
            return Err(Refusal::policy_denied("Only a person resolves a comment."));
        }
        self.snapshot.opened()?;
        let (plan, comment) = (self.snapshot.named(plan)?.id.clone(), comment.clone());
        Ok(vec![Event::Session(SessionEvent::CommentResolved { plan, comment, resolved })])
    }

    /// Checks the comments of a person, whether as a draft or with a decision.
    pub(super) fn check_review(&self, plan: &Plan, review: &Review) -> Result<(), Refusal> {
        let limits = &self.policy.limits;
        if review.version > plan.version {
            return Err(Refusal::not_found(format!("Plan {} has no version {}.", plan.number, review.version)));
        }
        if review.comments.len() > MAX_COMMENTS {
            return Err(Refusal::limit(format!(
                "The review has {} comments; at most {MAX_COMMENTS} are taken.",
                review.comments.len()
            )));
        }
        let mut known = BTreeSet::new();
        for comment in &review.comments {
            if !known.insert(&comment.id) {
                return Err(Refusal::invalid(format!("Two comments have the id `{}`.", comment.id)));
            }
            check_comment(comment, limits)?;
        }
        let size: usize = review.comments.iter().map(ReviewComment::size).sum();
        if size > limits.message_bytes {
            return Err(Refusal::limit(format!(
                "The review has {size} bytes; at most {} are taken.",
                limits.message_bytes
            )));
        }
        Ok(())
    }
}

fn check_comment(comment: &ReviewComment, limits: &Limits) -> Result<(), Refusal> {
    limits.check_line("comment", &comment.text)?;
    match comment.kind {
        CommentKind::Comment | CommentKind::Replace if comment.text.trim().is_empty() => {
            return Err(Refusal::invalid(format!("The comment `{}` is blank.", comment.id)));
        }
        CommentKind::Comment | CommentKind::Replace | CommentKind::Strike => {}
    }
    match &comment.anchor {
        CommentAnchor::Step { .. } | CommentAnchor::Plan {} => Ok(()),
        CommentAnchor::Quote { quote, prefix, suffix } => {
            limits.check_line("quotation", quote)?;
            if quote.trim().is_empty() {
                return Err(Refusal::invalid(format!("The quotation of the comment `{}` is blank.", comment.id)));
            }
            if prefix.chars().count().max(suffix.chars().count()) > MAX_CONTEXT {
                return Err(Refusal::limit(format!(
                    "The text around a quotation has at most {MAX_CONTEXT} characters on each side."
                )));
            }
            Ok(())
        }
    }
}
