//! Taking in plans and conversations of other programs. A plan comes in parked: an import never turns plan mode on.

use crate::command::{ImportedPlan, ImportedTurn};
use crate::decide::Decider;
use crate::event::{Event, SessionEvent, TurnEvent};
use crate::ids::TurnId;
use crate::model::ModelReply;
use crate::plan::PlanContent;
use crate::policy::filled;
use crate::refusal::Refusal;
use crate::turn::{Purpose, TurnEnd, TurnEnding};

/// Roughly how many bytes make a token, where no vocabulary is at hand.
const TOKEN_BYTES: usize = 4;

impl Decider<'_> {
    /// Older conversations may have keys that a new one could not have, so the session is opened here.
    pub(super) fn import(&self, imported: &ImportedPlan) -> Result<Vec<Event>, Refusal> {
        if self.snapshot.plan(&imported.id).is_some() {
            return Err(Refusal::conflict(format!("Plan {} is here already.", imported.id)));
        }
        // What was done counts like what is to be done: both are kept and shown.
        let runs = imported.execution.iter().flat_map(|execution| &execution.steps);
        let outcomes = runs.map(|run| run.description.len() + run.note.as_ref().map_or(0, String::len));
        self.policy.limits.check_plan(imported.content.size() + outcomes.sum::<usize>())?;
        let steps = imported.execution.as_ref().map_or(0, |execution| execution.steps.len());
        self.policy.limits.check_steps(steps.max(imported.content.steps().len()))?;
        if let PlanContent::Collect(collected) = &imported.content {
            for step in &collected.steps {
                self.policy.limits.check_depth("arguments of a step", &step.arguments)?;
            }
        }
        self.policy.limits.check_line("title", imported.title.as_deref().unwrap_or_default())?;
        self.policy.limits.check_line("description", imported.origin.description.as_deref().unwrap_or_default())?;
        let mut events = Vec::new();
        if self.snapshot.session.is_none() {
            events.push(Event::Session(SessionEvent::Opened));
        }
        let number = self.snapshot.session.as_ref().map_or(0, |session| session.plans_made) + 1;
        events.push(Event::Session(SessionEvent::PlanImported { number, plan: Box::new(imported.clone()) }));
        Ok(events)
    }

    /// The turn is over when it comes in: nothing runs, and no model is asked.
    pub(super) fn take_turn(&self, turn: &ImportedTurn) -> Result<Vec<Event>, Refusal> {
        self.check_person_for("takes a conversation over")?;
        let said = filled("message", &turn.said)?;
        self.policy.limits.check_message(said)?;
        self.policy.limits.check_message(&turn.replied)?;
        if self.snapshot.session.as_ref().is_some_and(|session| session.turn.is_some()) {
            return Err(Refusal::conflict("A turn is running in this session; `/stop` ends it."));
        }
        let id = TurnId::from(&self.context.request);
        let begun = TurnEvent::Begun { text: said.to_owned(), tokens: tokens(said), purpose: Purpose::Answer };
        let is_answered = !turn.replied.trim().is_empty();
        let end = if is_answered { TurnEnd::Answered } else { TurnEnd::Stopped };
        let mut events = Vec::new();
        if self.snapshot.session.is_none() {
            events.push(Event::Session(SessionEvent::Opened));
        }
        events.push(Event::of_turn(&id, begun));
        if is_answered {
            let reply = ModelReply { text: turn.replied.clone(), ..ModelReply::default() };
            events.push(Event::of_turn(&id, TurnEvent::ModelReplied { reply, tokens: tokens(&turn.replied) }));
        }
        events.push(Event::of_turn(&id, TurnEvent::Ended { ending: TurnEnding::from(end) }));
        Ok(events)
    }
}

fn tokens(text: &str) -> u32 {
    u32::try_from(text.len() / TOKEN_BYTES + 1).unwrap_or(u32::MAX)
}
