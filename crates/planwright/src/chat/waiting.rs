//! What waits for the person in their session: it is on the screen before a prompt is drawn.

use planwright_agent::session::outcome::Answer;
use planwright_core::ask::AskSubject;
use planwright_core::plan::waiting::WaitingFor;
use planwright_core::snapshot::Snapshot;
use planwright_engine::inbox::waiting_ask;

use super::conversation::{ChatConversation, ExchangeResult, ExchangeStart};
use super::short_answers;
use super::typeahead::{AskKind, Cards, WaitingAsk, WaitingPlan};
use super::view::View;
use crate::failure::Failure;

/// What the person has read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastRead {
    /// Nothing of this session, or nothing since it changed.
    Nothing,
    /// An answer of this session, which says what a plan that stopped waits for.
    Answer,
}

impl ChatConversation {
    /// What waits now.
    pub(super) async fn waiting(&self) -> Cards {
        self.snapshot().await.as_ref().map(cards).unwrap_or_default()
    }

    /// Shows what waits and was not on the screen at the last prompt, where `last` was. Returns what is on the screen then.
    pub(super) async fn show_waiting(
        &mut self,
        read: LastRead,
        last: &Cards,
        view: &mut dyn View,
    ) -> Result<Cards, Failure> {
        let Some(snapshot) = self.snapshot().await else { return Ok(Cards::default()) };
        let now = cards(&snapshot);
        if let (Some(waiting), Some(plan)) = (&now.plan, snapshot.active()) {
            let command = match (&waiting.wants, read) {
                // The person looks at another plan.
                (WaitingFor::Approval, LastRead::Answer) if last.plan == now.plan => None,
                (WaitingFor::Approval, _) => (self.seen_digest(plan) != Some(waiting.digest)).then_some("/plan show"),
                (_, LastRead::Answer) => None,
                (_, LastRead::Nothing) => Some("/plan status"),
            };
            if let Some(command) = command
                && let ExchangeResult::Failed(failure) = self.exchange(ExchangeStart::Text(command), view).await?
            {
                return Err(failure);
            }
        }
        let waiting = snapshot.session.as_deref().and_then(waiting_ask);
        if let Some(waiting) = waiting.filter(|waiting| !self.has_seen_ask(&waiting.ask.id)) {
            let answer = Answer::asking(self.session(), waiting);
            view.answer(&answer)?;
            self.note_seen(&answer);
        }
        Ok(now)
    }

    /// A store that cannot be reached is reported when an input needs it.
    async fn snapshot(&self) -> Option<Snapshot> {
        self.agent().engine().sessions().snapshot(self.session()).await.ok()
    }
}

pub(super) fn cards(snapshot: &Snapshot) -> Cards {
    let plan = snapshot.active().and_then(|plan| {
        let (wants, answers) = (plan.waiting_for()?, short_answers::of_plan(plan));
        Some(WaitingPlan { plan: plan.id.clone(), digest: plan.digest(), wants, answers })
    });
    let ask = snapshot.session.as_deref().and_then(waiting_ask).map(|waiting| {
        let kind = match waiting.ask.subject {
            AskSubject::Permission(_) => AskKind::Permission,
            AskSubject::Questions { .. } => AskKind::Question,
        };
        WaitingAsk { ask: waiting.ask.id.clone(), kind, answers: short_answers::of_ask(&waiting) }
    });
    Cards { plan, ask }
}
