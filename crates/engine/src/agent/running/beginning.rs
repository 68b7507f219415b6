//! The beginning of a turn, and what has to be finished before: a turn that a process left open.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::TurnId;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::{OpenTurn, Purpose};

use super::{Begun, Delivery, Message};
use crate::agent::Agent;
use crate::agent::outcome::TurnOutcome;
use crate::agent::progress::{Progress, Watcher};
use crate::agent::slots::Served;
use crate::ledger::{Committed, LedgerError, LedgerResult};

impl Agent {
    pub(in crate::agent) async fn begin<'a>(
        &'a self,
        session: &SessionIdentity,
        by: &Actor,
        message: Message<'_>,
        served: &'a Served,
        watcher: &'a Watcher,
    ) -> LedgerResult<Begun<'a>> {
        let Message { request, text, purpose } = message;
        let tokens = self.check_room(session, text).await?;
        let begin = Command::Turn(TurnCommand::Begin { text: text.to_owned(), tokens, purpose });
        loop {
            match self.take_as(request.clone(), session, by, &begin, &served.running.stop, watcher).await {
                // Somebody's turn came in between and was left open.
                Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Conflict => {
                    if !self.finish_first(session, served, watcher).await? {
                        return Err(refusal.into());
                    }
                }
                Err(error) => return Err(error),
                Ok((committed, held)) => {
                    let turn = committed.events.iter().find_map(|event| match event {
                        Event::Turn { id: turn, event: TurnEvent::Begun { .. } } => Some(turn.clone()),
                        _ => None,
                    });
                    let turn = turn.ok_or_else(|| LedgerError::Internal("the turn did not begin".to_owned()))?;
                    watcher.tell(Progress::Accepted(turn.clone()));
                    if !is_untouched(&committed, &turn) {
                        self.let_go(&held).await;
                        return Ok(Begun::Before { turn, seq: committed.seq });
                    }
                    let run = self.run(turn, committed, held, &served.running, watcher).await?;
                    return Ok(Begun::Now(Box::new(run)));
                }
            }
        }
    }

    /// Finishes an interrupted turn before another one begins. What it came to is told on the way; says whether there was
    /// one.
    pub(in crate::agent) async fn finish_first(
        &self,
        session: &SessionIdentity,
        served: &Served,
        watcher: &Watcher,
    ) -> LedgerResult<bool> {
        let Some(open) = self.open_turn(session).await? else { return Ok(false) };
        if let Purpose::Step { plan, execution, .. } = &open.purpose {
            self.finish_execution(session, &open, (plan, execution), served, watcher).await?;
            return Ok(true);
        }
        let finished = self.finish_turn(session, &open, served, Delivery::OnTheWay, watcher).await?;
        let found = finished.is_some();
        if let Some(outcome) = finished {
            watcher.tell(Progress::Finished(Box::new(outcome)));
        }
        Ok(found)
    }

    /// A turn that is open although nobody holds the session was interrupted. It goes on here, unless that was tried
    /// too often.
    pub(in crate::agent) async fn finish_turn(
        &self,
        session: &SessionIdentity,
        open: &OpenTurn,
        served: &Served,
        delivery: Delivery,
        watcher: &Watcher,
    ) -> LedgerResult<Option<TurnOutcome>> {
        let resume = Command::Turn(TurnCommand::Resume { turn: open.id.clone() });
        let by = Actor::system(session.channel.as_str());
        match self.take(session, &by, &resume, &served.running.stop, watcher).await {
            // Whoever held the session finished it.
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::WrongStatus => Ok(None),
            Err(error) => Err(error),
            Ok((committed, held)) => {
                let Some(open) = committed.snapshot.session.as_ref().and_then(|session| session.turn.clone()) else {
                    return Ok(None);
                };
                watcher.tell(Progress::Resumed(open.id.clone()));
                let mut run = self.run(open.id.clone(), committed, held, &served.running, watcher).await?;
                run.resumed = true;
                run.delivery = delivery;
                run.given_up = open.resumed > self.engine().policy().turn.resumptions;
                run.finish_turn().await.map(Some)
            }
        }
    }

    pub(in crate::agent) async fn open_turn(&self, session: &SessionIdentity) -> LedgerResult<Option<OpenTurn>> {
        let stored = self.engine().ledger().session(session).await?;
        Ok(stored.and_then(|stored| stored.session.turn))
    }
}

/// Whether the turn is open and nothing has happened in it. A request that is sent again finds one that went on, or is over.
fn is_untouched(committed: &Committed, turn: &TurnId) -> bool {
    let open = committed.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
    open.is_some_and(|open| open.id == *turn && open.calls == 0 && open.resumed == 0)
}
