//! The outcome of a turn that is over or that another process resumed, from the journal.

use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::TurnId;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::{Turn, TurnEnd, TurnEnding};

use super::conversation_reader::ConversationReader;
use crate::engine::Engine;
use crate::ledger::{LedgerError, LedgerResult};
use crate::session::outcome::{PlanCard, TurnOutcome};

/// What the journal says about the end of a turn.
#[derive(Debug, Default)]
pub(super) struct RecordedEnd {
    /// The last words of the model.
    pub(super) said: Option<String>,
    pub(super) ending: Option<TurnEnding>,
}

impl RecordedEnd {
    pub(super) fn take_in(&mut self, id: &TurnId, event: &Event) {
        match event {
            Event::Turn { id: turn, event: TurnEvent::ModelReplied { reply, .. } } if turn == id => {
                self.said = Some(reply.text.clone())
            }
            Event::Turn { id: turn, event: TurnEvent::Ended { ending } } if turn == id => {
                self.ending = Some(ending.clone())
            }
            _ => {}
        }
    }

    /// The end and the text for the person; `None` if the turn is open.
    pub(super) fn words(&self) -> Option<(TurnEnd, String)> {
        let TurnEnding { end, text, .. } = self.ending.as_ref()?;
        let said = match end {
            TurnEnd::Answered | TurnEnd::PlanReady { .. } | TurnEnd::NothingPlanned { .. } => self.said.as_deref(),
            TurnEnd::Stopped => Some("*Stopped.*"),
            TurnEnd::LimitReached { .. }
            | TurnEnd::Looping
            | TurnEnd::NoAnswer
            | TurnEnd::ModelFailed { .. }
            | TurnEnd::Interrupted => None,
        };
        let parts = [said.unwrap_or_default().trim(), text.trim()].into_iter().filter(|part| !part.is_empty());
        Some((end.clone(), parts.collect::<Vec<_>>().join("\n\n")))
    }
}

/// The outcome of a turn that is over. `seq` is the entry that began it.
pub(super) async fn outcome(
    engine: &Engine,
    conversations: &ConversationReader,
    session: &SessionIdentity,
    turn: &TurnId,
    seq: u64,
) -> LedgerResult<TurnOutcome> {
    let mut found = RecordedEnd::default();
    let mut events = Vec::new();
    conversations
        .read(session, seq, u64::MAX, &mut |_, event| {
            // Entries after the end belong to other turns.
            if found.ending.is_none() {
                found.take_in(turn, event);
                events.push(event.clone());
            }
        })
        .await?;
    let (end, reply) = found.words().ok_or_else(|| LedgerError::Internal(format!("turn {turn} has no end")))?;
    events.pop();
    let replayed = Turn::replay(turn, &events);
    let shown = found.ending.and_then(|ending| ending.shown);
    let plan = match &shown {
        // A card of a version that changed since is not shown again.
        Some(shown) => engine.plans().get(session, &shown.plan).await.ok().filter(|plan| plan.digest() == shown.digest),
        None => None,
    };
    Ok(TurnOutcome {
        session: session.clone(),
        turn: turn.clone(),
        end,
        reply,
        plan: plan.as_deref().map(PlanCard::from),
        planner: None,
        usage: replayed.as_ref().map(Turn::usage).unwrap_or_default(),
        model_calls: replayed.as_ref().map_or(0, Turn::model_calls),
        tool_calls: replayed.as_ref().map_or(0, Turn::calls_ended),
    })
}
