//! The outcome of a turn that is over or that another process resumed, from the journal.

use planwright_core::choices::WaitingAsk;
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::TurnId;
use planwright_core::replay::TurnReplay;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::{Turn, TurnEnd, TurnEnding};
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{LedgerError, LedgerResult};

use super::conversation_reader::ConversationReader;
use crate::session::ask_prompt::ask_prompt;
use crate::session::outcome::{PlanCard, TurnOutcome};

/// What the journal says about the end of a turn.
#[derive(Debug, Default)]
pub(super) struct RecordedEnd {
    /// The last words of the model.
    pub(super) text: Option<String>,
    pub(super) ending: Option<TurnEnding>,
}

impl RecordedEnd {
    pub(super) fn apply(&mut self, id: &TurnId, event: &Event) {
        match event {
            Event::Turn { id: turn, event: TurnEvent::ModelReplied { reply, .. } } if turn == id => {
                self.text = Some(reply.text.clone())
            }
            Event::Turn { id: turn, event: TurnEvent::Ended { ending } } if turn == id => {
                self.ending = Some(ending.clone())
            }
            _ => {}
        }
    }

    /// The end and the text for the person; `None` if the turn is open.
    pub(super) fn reply(&self) -> Option<(TurnEnd, String)> {
        let TurnEnding { end, text, .. } = self.ending.as_ref()?;
        let reply = match end {
            TurnEnd::Answered | TurnEnd::PlanReady { .. } | TurnEnd::NothingPlanned { .. } => self.text.as_deref(),
            TurnEnd::Stopped => Some("*Stopped.*"),
            TurnEnd::LimitReached { .. }
            | TurnEnd::Looping
            | TurnEnd::NoAnswer
            | TurnEnd::ModelFailed { .. }
            | TurnEnd::Interrupted => None,
        };
        let parts = [reply.unwrap_or_default().trim(), text.trim()].into_iter().filter(|part| !part.is_empty());
        Some((end.clone(), parts.collect::<Vec<_>>().join("\n\n")))
    }

    /// The plan that was shown with the answer, unless it changed since.
    pub(super) async fn shown_plan(&self, engine: &Engine, session: &SessionIdentity) -> Option<PlanCard> {
        let shown = self.ending.as_ref()?.shown.as_ref()?;
        let plan = engine.plans().get(session, &shown.plan).await.ok()?;
        (plan.digest() == shown.digest).then(|| PlanCard::of(&plan, None))
    }
}

/// What the turn asks a person, if it is open and waits for the answer.
pub(super) async fn waiting_ask(
    engine: &Engine,
    session: &SessionIdentity,
    turn: &TurnId,
) -> LedgerResult<Option<WaitingAsk>> {
    let open = engine.ledger().session(session).await?.and_then(|stored| stored.session.turn);
    Ok(open.filter(|open| open.id == *turn).and_then(|open| WaitingAsk::of(session, &open)))
}

/// The model's last words and what the turn asks.
pub(super) fn asking_text(text: &str, ask: &WaitingAsk) -> String {
    let parts = [text.trim().to_owned(), ask_prompt(ask)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The outcome of a turn that is over or waits for a person's answer. `seq` is the entry that began it.
pub(super) async fn outcome(
    engine: &Engine,
    conversations: &ConversationReader,
    session: &SessionIdentity,
    turn: &TurnId,
    seq: u64,
) -> LedgerResult<TurnOutcome> {
    let (mut found, mut replay) = (RecordedEnd::default(), TurnReplay::new(turn.clone()));
    conversations
        .read(session, seq, u64::MAX, &mut |_, event| {
            // Entries after the end belong to other turns.
            if found.ending.is_some() {
                return;
            }
            found.apply(turn, event);
            // The turn is counted as it was before its end.
            if found.ending.is_none() {
                replay.apply(event);
            }
        })
        .await?;
    let (end, ask, reply) = match found.reply() {
        Some((end, reply)) => (Some(end), None, reply),
        None => {
            let no_end = || LedgerError::Internal(format!("turn {turn} has no end"));
            let ask = waiting_ask(engine, session, turn).await?.ok_or_else(no_end)?;
            let reply = asking_text(found.text.as_deref().unwrap_or_default(), &ask);
            (None, Some(ask), reply)
        }
    };
    let replayed = replay.into_open();
    Ok(TurnOutcome {
        session: session.clone(),
        turn: turn.clone(),
        end,
        ask,
        reply,
        plan: found.shown_plan(engine, session).await,
        planner: None,
        usage: replayed.as_ref().map(Turn::usage).unwrap_or_default(),
        model_calls: replayed.as_ref().map_or(0, Turn::model_calls),
        tool_calls: replayed.as_ref().map_or(0, Turn::calls_ended),
    })
}
