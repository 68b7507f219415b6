//! Whose plans the built-in rehearsal carries out.

use planwright_core::actor::{Actor, ActorKind};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;

use crate::agent::Agent;
use crate::ledger::{LedgerError, LedgerResult};
use crate::model::REHEARSAL;

/// How many entries are read at once.
const PAGE: u32 = 1_000;

impl Agent {
    /// Refuses a plan if the rehearsal is to carry it out and another agent drafted it, or another model has answered in
    /// its session: the rehearsal would report steps as done that it does not do. Recorded calls need no model, and run
    /// whichever agent drafted them.
    pub(in crate::agent) async fn check_author(&self, plan: &Plan) -> LedgerResult<()> {
        let needs_model = match plan.style() {
            PlanStyle::Document | PlanStyle::Build => true,
            PlanStyle::Collect => false,
        };
        if self.model().name() != REHEARSAL || !needs_model {
            return Ok(());
        }
        let refused = |why: String| -> LedgerResult<()> {
            let message = format!(
                "No model is configured, and the built-in rehearsal carries out only plans that it drafted itself, in \
                 sessions that it has to itself. {why} Set `PLANWRIGHT_MODEL`, such as `openai:gpt-5`, and then \
                 `/plan resume {}`.",
                plan.number
            );
            Err(Refusal::new(RefusalCode::Unavailable, message).into())
        };
        let history = self.engine().history();
        let author = history.version_author(plan).await?.map(|author| author.by);
        let is_elsewhere = history.external_author(plan).await?.is_some();
        match author {
            // The agent of another program may call itself anything.
            Some(author) if !is_elsewhere && is_rehearsal(&author) => {}
            Some(author) => return refused(format!("{author} drafted plan {}.", plan.number)),
            None => return refused(format!("Another agent drafted plan {}.", plan.number)),
        }
        match self.other_model(&plan.session).await {
            Ok(None) => Ok(()),
            Ok(Some(model)) => refused(format!("{model} has answered in this session.")),
            Err(LedgerError::Damaged { what, .. }) => refused(format!("Part of this session cannot be read: {what}.")),
            Err(error) => Err(error),
        }
    }

    /// A model that is not the rehearsal and has answered in the session. Its words are in what the rehearsal would go by.
    async fn other_model(&self, session: &SessionIdentity) -> LedgerResult<Option<Actor>> {
        let mut from = 0;
        loop {
            let entries = self.engine().ledger().conversation(session, from, PAGE).await?;
            let replies = entries
                .iter()
                .filter(|entry| matches!(entry.event, Event::Turn { event: TurnEvent::ModelReplied { .. }, .. }));
            let mut models = replies.map(|entry| &entry.by).filter(|by| !is_rehearsal(by));
            if let Some(other) = models.next() {
                return Ok(Some(other.clone()));
            }
            match entries.last() {
                Some(last) if entries.len() == PAGE as usize => from = last.seq + 1,
                Some(_) | None => return Ok(None),
            }
        }
    }
}

/// A specialist that the rehearsal plays is the rehearsal, too.
fn is_rehearsal(by: &Actor) -> bool {
    by.kind == ActorKind::Agent && by.name.rsplit(", ").next() == Some(REHEARSAL)
}
