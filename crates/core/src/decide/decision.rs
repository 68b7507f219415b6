//! What only a person decides about a plan.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::actor::ActorKind;
use crate::approval::{ApprovalCheck, Require, Risk};
use crate::command::{AfterApproval, Decision, StuckChoice};
use crate::decide::{Decider, session::cancelled};
use crate::door::{ToSign, how_to_sign};
use crate::event::{Event, PlanEvent, SessionEvent};
use crate::ids::PlanId;
use crate::plan::approval::Selection;
use crate::plan::content::PlanContent;
use crate::plan::lifecycle::{Action, Rule};
use crate::plan::review::{Review, SentWith};
use crate::plan::{Approval, ApprovalSignature, Digest, IncompleteApproval, Plan, PlanStatus, PlanStyle};
use crate::policy::StandingApproval;
use crate::presence::Presence;
use crate::refusal::Refusal;

/// What goes with a decision.
#[derive(Debug, Clone, Copy, Default)]
struct Additions<'a> {
    /// Added to what the person said.
    comments: Option<&'a str>,
    signature: Option<&'a ApprovalSignature>,
}

impl<'a> Additions<'a> {
    fn signed(signature: &'a ApprovalSignature) -> Self {
        Self { signature: Some(signature), comments: None }
    }
}

impl Decider<'_> {
    pub(super) fn decision(&self, decision: &Decision) -> Result<Vec<Event>, Refusal> {
        self.by_a_person(decision)?;
        self.snapshot.opened()?;
        let plan = self.snapshot.named(decision.plan())?;
        match decision {
            Decision::Signed { decision, signature } => self.about(plan, decision, Additions::signed(signature)),
            decision => self.about(plan, decision, Additions::default()),
        }
    }

    /// The comments in words go with the note or the feedback, so that every surface and the agent read them.
    fn reviewed(
        &self,
        plan: &Plan,
        decision: &Decision,
        review: &Review,
        additions: Additions<'_>,
    ) -> Result<Vec<Event>, Refusal> {
        let with = match decision {
            Decision::Approve { .. } => SentWith::Approve,
            Decision::Revise { .. } => SentWith::Revise,
            Decision::Reject { .. }
            | Decision::Cancel { .. }
            | Decision::Resume { .. }
            | Decision::Settle { .. }
            | Decision::Signed { .. }
            | Decision::Reviewed { .. } => {
                return Err(Refusal::invalid("Comments go with an approval or with a request for changes."));
            }
        };
        self.check_review(plan, review)?;
        if review.comments.is_empty() {
            return self.about(plan, decision, additions);
        }
        let comments = review.to_text(plan);
        let mut events = self.about(plan, decision, Additions { comments: Some(&comments), ..additions })?;
        let (plan, review) = (plan.id.clone(), review.clone());
        events.push(Event::Session(SessionEvent::ReviewSent { plan, with, review }));
        Ok(events)
    }

    fn about(&self, plan: &Plan, decision: &Decision, additions: Additions<'_>) -> Result<Vec<Event>, Refusal> {
        if additions.signature.is_some() && !matches!(decision, Decision::Approve { .. } | Decision::Reviewed { .. }) {
            return Err(Refusal::invalid("A signature goes with an approval."));
        }
        match decision {
            Decision::Approve { digest, selection, note, step_by_step, then, .. } => {
                let mut events = self.approve(plan, digest, selection, note.as_deref(), additions, *step_by_step)?;
                let complete =
                    events.iter().any(|event| matches!(event.plan_event(), Some(PlanEvent::Approved { .. })));
                match then {
                    AfterApproval::CarryOut if complete => self.begin_approved(plan, &mut events)?,
                    AfterApproval::Wait | AfterApproval::CarryOut => {}
                }
                Ok(events)
            }
            Decision::Reject { reason, .. } => {
                plan.permits(Action::Reject)?;
                Ok(vec![Event::of_plan(
                    &plan.id,
                    PlanEvent::Rejected { reason: self.optional_line("reason", reason.as_deref())? },
                )])
            }
            Decision::Revise { feedback, .. } => {
                let feedback = with_comments(self.optional_line("feedback", Some(feedback))?, additions.comments);
                self.revise(plan, feedback)
            }
            Decision::Cancel { reason, .. } => {
                plan.permits(Action::Cancel)?;
                Ok(vec![Event::of_plan(
                    &plan.id,
                    PlanEvent::Cancelled { reason: self.optional_line("reason", reason.as_deref())? },
                )])
            }
            Decision::Resume { after_step, .. } => {
                self.check_signed(&plan.risks(), || ToSign::Resume { plan, after_step: *after_step })?;
                self.resume(plan, *after_step)
            }
            Decision::Settle { step, choice, .. } => {
                match choice {
                    StuckChoice::Retry | StuckChoice::Skip => {
                        self.check_signed(&plan.risks(), || ToSign::Settle { plan, choice: *choice })?;
                    }
                    StuckChoice::Stop => {}
                }
                self.settle(plan, step, *choice)
            }
            Decision::Reviewed { decision, review } => self.reviewed(plan, decision, review, additions),
            Decision::Signed { .. } => Err(Refusal::invalid("An approval is signed once.")),
        }
    }

    /// No tool call, no model text and no time-out is ever a decision. A standing policy may approve, nothing else.
    fn by_a_person(&self, decision: &Decision) -> Result<(), Refusal> {
        let may = match self.context.by.kind {
            ActorKind::Person => true,
            ActorKind::Policy => {
                let may = match self.policy.standing_approval {
                    StandingApproval::Off => false,
                    StandingApproval::ReadOnly => true,
                };
                may && matches!(decision, Decision::Approve { .. })
            }
            ActorKind::Agent | ActorKind::System => false,
        };
        if may { Ok(()) } else { Err(Refusal::policy_denied("Only a person decides about a plan.")) }
    }

    fn approve(
        &self,
        plan: &Plan,
        digest: &Digest,
        selection: &Selection,
        note: Option<&str>,
        additions: Additions<'_>,
        step_by_step: bool,
    ) -> Result<Vec<Event>, Refusal> {
        plan.permits(Action::Approve)?;
        if plan.digest() != *digest {
            return Err(Refusal::stale(format!(
                "Plan {} has changed since it was shown; look at it again before you approve it.",
                plan.number
            )));
        }
        if plan.content.is_empty() {
            return Err(Refusal::invalid(format!("Plan {} has no content; there is nothing to approve.", plan.number)));
        }
        if plan.style() == PlanStyle::Document && *selection != Selection::All {
            return Err(Refusal::invalid("A document is approved as a whole; ask for changes with `revise` instead."));
        }
        let by_rule = self.context.by.kind == ActorKind::Policy;
        if by_rule && (plan.style() != PlanStyle::Collect || *selection != Selection::All) {
            return Err(Refusal::policy_denied("A rule approves recorded calls, and all of them."));
        }
        let note = with_comments(self.optional_line("note", note)?, additions.comments);
        let terms = plan.approval_terms(selection, note, step_by_step, self.context.at)?;
        let risks = plan.risks();
        let required = self.check_signed(&risks, || ToSign::Approve { plan, selection, step_by_step })?;
        let people = self.policy.approval.people(plan.session.channel, &risks);
        let mut approval = Approval {
            by: self.context.by.clone(),
            at: self.context.at,
            digest: *digest,
            approved: terms.approved,
            skipped: terms.skipped,
            note: terms.note,
            step_by_step: terms.step_by_step,
            required: Some(required),
            valid_until: self.approval_end(),
            signatures: Vec::new(),
            with_program: self.is_joined_by_program(),
        };
        if let Some(signature) = additions.signature {
            self.check_signature_fits(plan, &approval, signature)?;
            let earlier = plan.waiting_approval(self.context.at).map(|waiting| waiting.approval.signatures.clone());
            approval.signatures = earlier.unwrap_or_default();
            if let Some(assertion) = &signature.passkey {
                let counted = self.policy.approvers.check_counter(&signature.approver, assertion);
                counted
                    .map_err(|why| Refusal::policy_denied(format!("Plan {} was not approved: {why}.", plan.number)))?;
            }
            // An approver who was removed since does not count, and does not stop the others.
            approval.signatures.retain(|earlier| self.policy.approvers.named(&earlier.approver).is_some());
            approval.signatures.push(signature.clone());
            approval.valid_until = approval.signatures.iter().filter_map(|signature| signature.valid_until).min();
            // Also where the policy asks for less: the person counts as verified because of this signature.
            for signature in &approval.signatures {
                plan.check_signature(&approval, signature, &self.policy.approvers)
                    .map_err(|why| Refusal::policy_denied(format!("Plan {} was not approved: {why}.", plan.number)))?;
            }
        }
        if (1..usize::from(people)).contains(&approval.signatures.len()) {
            return self.sign_incomplete(plan, approval, people);
        }
        let mut approved = plan.clone();
        approved.approval = Some(approval.clone().into());
        approved.check_approved(&self.policy.approval, &self.policy.approvers, self.context.at)?;
        Ok(vec![Event::of_plan(&plan.id, PlanEvent::Approved { approval })])
    }

    /// The plan waits for the other people.
    fn sign_incomplete(&self, plan: &Plan, approval: Approval, people: u8) -> Result<Vec<Event>, Refusal> {
        if approval.valid_until.is_some_and(|until| until < self.context.at) {
            return Err(Refusal::policy_denied("The signature has expired."));
        }
        let signed = |name: &&str| approval.signatures.iter().any(|signature| signature.approver == *name);
        let others =
            self.policy.approvers.names().into_iter().filter(|name| !signed(name)).map(str::to_owned).collect();
        let signed = IncompleteApproval { approval, people, others };
        Ok(vec![Event::of_plan(&plan.id, PlanEvent::ApprovalSigned { signed })])
    }

    /// The signature is the one of the person who decides, is used for the first time and ends when the policy says.
    fn check_signature_fits(
        &self,
        plan: &Plan,
        approval: &Approval,
        signature: &ApprovalSignature,
    ) -> Result<(), Refusal> {
        let approver = match &self.context.by.presence {
            Some(Presence::Verified { approver, .. }) => Some(approver),
            _ => None,
        };
        if approver != Some(&signature.approver) {
            return Err(Refusal::policy_denied("The signature belongs to another person than the one who approves."));
        }
        let earlier = plan.waiting_approval(self.context.at).map(|waiting| waiting.approval.signatures.as_slice());
        let earlier = earlier.unwrap_or_default();
        if earlier.iter().any(|earlier| earlier.approver == signature.approver) {
            return Err(Refusal::policy_denied(format!(
                "{} approved plan {} already; another approver has to approve it, too.",
                signature.approver, plan.number
            )));
        }
        if earlier.iter().any(|earlier| earlier.nonce == signature.nonce) {
            return Err(Refusal::policy_denied("This signature was used before."));
        }
        let later = |until: Timestamp| signature.valid_until.is_none_or(|signed| signed > until);
        if approval.valid_until.is_some_and(later) {
            return Err(Refusal::policy_denied("The signature is valid for longer than the policy permits."));
        }
        Ok(())
    }

    /// When an approval that is given now can no longer begin or continue work.
    pub(super) fn approval_end(&self) -> Option<Timestamp> {
        let time = SignedDuration::from_secs(i64::try_from(self.policy.approval.valid_for?).ok()?);
        self.context.at.checked_add(time).ok()
    }

    /// What a decision that lets something with these risks happen needs, if the person was recognised well enough. Else it says how
    /// they sign it.
    pub(super) fn check_signed<'a>(
        &self,
        risks: &BTreeSet<Risk>,
        act: impl FnOnce() -> ToSign<'a>,
    ) -> Result<Require, Refusal> {
        let check = self.approval_check(risks);
        match check.lacks_signature() {
            true => Err(how_to_sign(&act(), Some(&self.snapshot.identity), &self.policy.approvers)),
            false => check.check(),
        }
    }

    /// What the policy asks of a decision that lets something with these risks happen.
    pub(super) fn approval_check<'a>(&'a self, risks: &'a BTreeSet<Risk>) -> ApprovalCheck<'a> {
        ApprovalCheck {
            policy: &self.policy.approval,
            sandbox: self.policy.agent_sandbox,
            channel: self.snapshot.identity.channel,
            agents_seen: self.policy.agents_seen,
            others: &self.policy.other_agents,
            silent: &self.policy.silent_agents,
            clients: self.snapshot.session.as_ref().map(|session| session.clients.as_slice()).unwrap_or_default(),
            risks,
            presence: self.context.by.presence.as_ref(),
        }
    }

    /// A ready document is simply written over. Everything else is frozen, so a new draft takes its place.
    fn revise(&self, plan: &Plan, feedback: Option<String>) -> Result<Vec<Event>, Refusal> {
        let feedback = feedback.ok_or_else(|| Refusal::invalid("The feedback is blank; say what to change."))?;
        let mut events = Vec::new();
        let target = match plan.permits(Action::Revise)? {
            Rule::Supersedes => {
                let by = self.new_plan_id();
                events.push(self.succeed(plan, starting_point(&plan.content))?);
                events.push(Event::of_plan(&plan.id, PlanEvent::Superseded { by: by.clone() }));
                by
            }
            Rule::Stays | Rule::Becomes(_) | Rule::Redrafts | Rule::Ends | Rule::No => plan.id.clone(),
        };
        events.push(Event::of_plan(&target, PlanEvent::RevisionRequested { feedback }));
        // A round stays beside the active plan.
        if plan.round.is_none() {
            self.activate(plan.style(), target, &mut events)?;
        }
        Ok(events)
    }

    /// Makes the plan the one the agent works on, if it is not yet.
    pub(super) fn activate(&self, style: PlanStyle, plan: PlanId, events: &mut Vec<Event>) -> Result<(), Refusal> {
        let mode = &self.snapshot.opened()?.plan_mode;
        if mode.enabled && mode.active_plan.as_ref() == Some(&plan) {
            return Ok(());
        }
        if let Some(waiting) =
            self.snapshot.active().filter(|active| active.status == PlanStatus::Collecting && active.is_empty())
        {
            events.push(cancelled(waiting, "empty, and replaced by another plan"));
        }
        events.push(Event::Session(SessionEvent::PlanModeEnabled { style, plan }));
        Ok(())
    }

    fn optional_line(&self, what: &str, text: Option<&str>) -> Result<Option<String>, Refusal> {
        let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
        self.policy.limits.check_line(what, text)?;
        Ok(Some(text.to_owned()))
    }
}

fn with_comments(text: Option<String>, comments: Option<&str>) -> Option<String> {
    match (text, comments) {
        (Some(text), Some(comments)) => Some(format!("{text}\n\n{comments}")),
        (text, comments) => text.or_else(|| comments.map(str::to_owned)),
    }
}

/// Recorded calls cannot be taken back one by one, so a collected plan is collected anew; the other styles start
/// from the present content.
fn starting_point(content: &PlanContent) -> PlanContent {
    match content {
        PlanContent::Document(_) | PlanContent::Build(_) => content.clone(),
        PlanContent::Collect(_) => PlanContent::empty(PlanStyle::Collect),
    }
}
