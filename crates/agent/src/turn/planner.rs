//! The result of the planner's turn as data. The stored plan counts, not what the model claims.

use std::borrow::Cow;

use planwright_core::plan::PlanStyle;
use planwright_core::planner::{ModelClaim, PlannerAnswer, PlannerTurn};
use planwright_core::turn::TurnEnd;
use planwright_engine::ledger::{LedgerError, LedgerResult};

use super::TurnRunner;

impl TurnRunner<'_> {
    /// `None` if no plan is being built.
    pub(super) async fn planner_answer(&self, end: &TurnEnd, reply: &str) -> LedgerResult<Option<PlannerAnswer>> {
        if !self.is_planner() {
            return Ok(None);
        }
        let claim = self.turn.last_reply().and_then(|reply| ModelClaim::read(&reply.text));
        let claimed = match &claim {
            Some(ModelClaim::Plan { plan_id }) => match plan_id.parse() {
                Ok(reference) => match self.agent.engine().plans().find(&self.session, Some(&reference)).await {
                    Ok(plan) => Some(plan),
                    Err(LedgerError::Refused(_)) => None,
                    Err(error) => return Err(error),
                },
                Err(_) => None,
            },
            Some(ModelClaim::Answer { .. } | ModelClaim::Failure { .. } | ModelClaim::Interruption { .. }) | None => {
                None
            }
        };
        let settled = self.settled.as_ref().and_then(|id| self.snapshot.plan(id));
        let changed = match settled.or_else(|| self.snapshot.active()) {
            Some(plan) if self.happened_since_begun(|event| event.plan() == Some(&plan.id)).await? => Some(plan),
            Some(_) | None => None,
        };
        let planned = PlannerTurn { end, reply, claim: claim.as_ref(), claimed: claimed.as_deref(), changed };
        Ok(Some(planned.answer()))
    }

    fn is_planner(&self) -> bool {
        let mode = self.snapshot.session.as_ref().map(|session| &session.plan_mode);
        !self.turn.purpose.is_part() && mode.is_some_and(|mode| mode.enabled && mode.style == PlanStyle::Build)
    }

    /// The text for a person of a planner that answers in JSON.
    pub(super) fn readable_reply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match ModelClaim::read(text).filter(|_| self.is_planner()) {
            None => text.into(),
            Some(ModelClaim::Answer { text }) => text.into(),
            Some(ModelClaim::Failure { message } | ModelClaim::Interruption { message }) => message.into(),
            // The plan itself is shown.
            Some(ModelClaim::Plan { .. }) => "".into(),
        }
    }
}
