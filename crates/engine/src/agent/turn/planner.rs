//! What the planner's turn came to, for whoever builds on it. The store has the last word.

use std::borrow::Cow;

use planwright_core::plan::PlanStyle;
use planwright_core::planner::{Claim, Planned, PlannerAnswer};
use planwright_core::turn::TurnEnd;

use super::TurnRunner;
use crate::ledger::{LedgerError, LedgerResult};

impl TurnRunner<'_> {
    /// `None` if no plan is being built.
    pub(super) async fn planner_answer(&self, end: &TurnEnd, reply: &str) -> LedgerResult<Option<PlannerAnswer>> {
        if !self.is_planner() {
            return Ok(None);
        }
        let claim = self.turn.last_reply().and_then(|reply| Claim::read(&reply.text));
        let claimed = match &claim {
            Some(Claim::Plan { plan_id }) => match plan_id.parse() {
                Ok(reference) => match self.agent.engine().find_plan(&self.session, Some(&reference)).await {
                    Ok(plan) => Some(plan),
                    Err(LedgerError::Refused(_)) => None,
                    Err(error) => return Err(error),
                },
                Err(_) => None,
            },
            Some(Claim::Answer { .. } | Claim::Failure { .. } | Claim::Interruption { .. }) | None => None,
        };
        let settled = self.settled.as_ref().and_then(|id| self.snapshot.plan(id));
        let changed = settled.or_else(|| self.snapshot.active()).filter(|plan| plan.updated_at > self.begun_at);
        let planned = Planned { end, reply, claim: claim.as_ref(), claimed: claimed.as_deref(), changed };
        Ok(Some(planned.answer()))
    }

    fn is_planner(&self) -> bool {
        let mode = self.snapshot.session.as_ref().map(|session| &session.plan_mode);
        self.turn.purpose.is_conversation() && mode.is_some_and(|mode| mode.enabled && mode.style == PlanStyle::Build)
    }

    /// What a planner that answers in data has to say to a person.
    pub(super) fn in_words<'a>(&self, said: &'a str) -> Cow<'a, str> {
        match Claim::read(said).filter(|_| self.is_planner()) {
            None => said.into(),
            Some(Claim::Answer { text }) => text.into(),
            Some(Claim::Failure { message } | Claim::Interruption { message }) => message.into(),
            // The plan itself is shown.
            Some(Claim::Plan { .. }) => "".into(),
        }
    }
}
