//! The beginning of a turn, and what has to be finished before: a turn that a process left open.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::TurnId;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::turn::{OpenTurn, Purpose};

use super::{Begins, Begun, Delivery, Message};
use crate::agent::Agent;
use crate::agent::lease::Taken;
use crate::ledger::{Committed, LedgerError, LedgerResult};
use crate::session::outcome::TurnOutcome;
use crate::session::progress::Progress;
use crate::session::task::InputContext;

impl Agent {
    pub(in crate::agent) async fn begin<'a>(
        &'a self,
        by: &Actor,
        message: Message<'_>,
        context: &'a InputContext,
    ) -> LedgerResult<Begun<'a>> {
        let session = context.session();
        let Message { request, text, begins } = message;
        let tokens = self.check_room(session, text).await?;
        let said = text.to_owned();
        let begin = Command::Turn(match begins {
            Begins::Answer => TurnCommand::Begin { text: said, tokens, purpose: Purpose::Answer },
            Begins::Document { plan, seen } => TurnCommand::BeginDocument { text: said, tokens, plan, seen },
        });
        loop {
            match self.take_as(request.clone(), session, by, &begin, context).await {
                // Another process began a turn in between and left it open.
                Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Conflict => {
                    if !Box::pin(self.finish_first(context)).await? {
                        return Err(refusal.into());
                    }
                }
                Err(error) => return Err(error),
                // The process that has the session is at it, or left it and is not known to have ended.
                Ok(Taken::Before(committed)) => {
                    let turn = begun_turn(&committed, text)?;
                    context.progress.send(Progress::Accepted(turn.clone()));
                    return Ok(Begun::Before { turn, seq: committed.seq });
                }
                Ok(Taken::Now(committed, lease)) => {
                    let turn = match begun_turn(&committed, text) {
                        Ok(turn) => turn,
                        Err(error) => {
                            self.release(&lease).await;
                            return Err(error);
                        }
                    };
                    context.progress.send(Progress::Accepted(turn.clone()));
                    if !is_untouched(&committed, &turn) {
                        self.release(&lease).await;
                        return Ok(Begun::Before { turn, seq: committed.seq });
                    }
                    let run = self.run(turn, committed, lease, context).await?;
                    return Ok(Begun::Now(Box::new(run)));
                }
            }
        }
    }

    /// Finishes an interrupted turn before another one begins. Its outcome is sent as progress. Says whether there was
    /// one.
    pub(in crate::agent) async fn finish_first(&self, context: &InputContext) -> LedgerResult<bool> {
        let Some(open) = self.open_turn(context.session()).await? else { return Ok(false) };
        if let Purpose::Step { plan, execution, .. } = &open.purpose {
            Box::pin(self.finish_execution(&open, (plan, execution), context)).await?;
            return Ok(true);
        }
        let finished = Box::pin(self.finish_turn(&open, Delivery::OnTheWay, context)).await?;
        let found = finished.is_some();
        if let Some(outcome) = finished {
            context.progress.send(Progress::Finished(Box::new(outcome)));
        }
        Ok(found)
    }

    /// A turn that is open although no process holds the session was interrupted. It is resumed here, unless that was
    /// tried too often.
    pub(in crate::agent) async fn finish_turn(
        &self,
        open: &OpenTurn,
        delivery: Delivery,
        context: &InputContext,
    ) -> LedgerResult<Option<TurnOutcome>> {
        let session = context.session();
        let resume = Command::Turn(TurnCommand::Resume { turn: open.id.clone() });
        let by = Actor::system(session.channel.as_str());
        match self.take(session, &by, &resume, context).await {
            // The process that held the session finished it.
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::WrongStatus => Ok(None),
            Err(error) => Err(error),
            Ok((committed, lease)) => {
                let Some(open) = committed.snapshot.session.as_ref().and_then(|session| session.turn.clone()) else {
                    return Ok(None);
                };
                self.fence_files(session, &lease).await?;
                context.progress.send(Progress::Resumed(open.id.clone()));
                let mut run = self.run(open.id.clone(), committed, lease, context).await?;
                run.resumed = true;
                run.delivery = delivery;
                run.given_up = open.resumed > self.engine().policy().turn.resumptions;
                Box::pin(run.finish_turn()).await.map(Some)
            }
        }
    }

    pub(in crate::agent) async fn open_turn(&self, session: &SessionIdentity) -> LedgerResult<Option<OpenTurn>> {
        let stored = self.engine().ledger().session(session).await?;
        Ok(stored.and_then(|stored| stored.session.turn))
    }
}

/// The turn that the message began, now or when it was sent before. A name that was used for another text is refused.
fn begun_turn(committed: &Committed, text: &str) -> LedgerResult<TurnId> {
    let begun = committed.events.iter().find_map(|event| match event {
        Event::Turn { id, event: TurnEvent::Begun { text, purpose, .. } } => Some((id, text, purpose)),
        _ => None,
    });
    match begun {
        // What a document's turn is told depends on how far the document is.
        Some((turn, sent, purpose)) if sent == text || *purpose != Purpose::Answer => Ok(turn.clone()),
        Some(_) | None => Err(Refusal::conflict("This request was sent before with another content.").into()),
    }
}

/// Whether the turn is open and nothing has happened in it. A request that is sent again finds one that went on, or is over.
fn is_untouched(committed: &Committed, turn: &TurnId) -> bool {
    let open = committed.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
    open.is_some_and(|open| open.id == *turn && open.calls == 0 && open.resumed == 0)
}
