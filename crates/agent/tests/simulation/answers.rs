//! Every answer to a client is in the journal, and is about its own session.

use std::time::Duration;

use planwright_agent::session::outcome::Answer;
use planwright_agent::session::progress::Progress;
use planwright_core::event::{Event, PlanEvent, SessionEvent, TurnEvent};
use planwright_core::ids::TurnId;
use planwright_core::journal::Entry;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::{Purpose, TurnEnd};
use planwright_engine::ledger::{LedgerError, LedgerResult};

use crate::acts::Leaves;
use crate::store::Store;
use crate::world::Occurrence;

/// Something a person typed, and where the journal was then.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) session: SessionIdentity,
    pub(crate) text: String,
    pub(crate) leaves: Option<Leaves>,
    pub(crate) from: u64,
}

impl Asked {
    pub(crate) fn check(&self, store: &Store, answer: &LedgerResult<Answer>, told: &[Progress]) {
        let world = &store.world;
        let outcome = match answer {
            Ok(answer) if answer.refused() => format!("refused: {}", answer.reply),
            Ok(answer) => format!("{:?}: {}", answer.end, answer.reply),
            Err(error) => format!("error: {error}"),
        };
        world.happened(Occurrence::Answered(format!("{} {:?} -> {outcome}", self.session, self.text)));
        // The list of sessions names them all by what they are about, and who switches is told about the other one.
        if self.text != "/sessions" && !self.text.starts_with("/switch") {
            world.belongs(&self.session, "an answer", &format!("{answer:?}"));
        }
        world.belongs(&self.session, "progress", &format!("{told:?}"));
        match answer {
            Ok(answer) => self.check_answer(store, answer, told),
            Err(error) => self.check_error(store, error),
        }
    }

    /// `None` for a client that does not wait; a client that waits gets its answer in the end.
    pub(crate) fn was_given_up(&self, store: &Store, gives_up_after: Option<Duration>) {
        match gives_up_after {
            Some(_) => {
                store.world.happened(Occurrence::Answered(format!("{:?} was not waited for", self.text)));
            }
            None => store.world.wrong(format!("{:?} in {} was never answered", self.text, self.session)),
        }
    }

    fn check_error(&self, store: &Store, error: &LedgerError) {
        let expected = match error {
            LedgerError::Refused(_) => true,
            LedgerError::Unavailable(_) => store.world.conditions.outages > 0,
            LedgerError::Leased(_)
            | LedgerError::Fenced(_)
            | LedgerError::TooNew { .. }
            | LedgerError::Damaged { .. }
            | LedgerError::Internal(_) => false,
        };
        if !expected {
            store.world.wrong(format!("{:?} in {} came to an error: {error:?}", self.text, self.session));
        }
    }

    fn check_answer(&self, store: &Store, answer: &Answer, told: &[Progress]) {
        let state = store.lock();
        let all = &state.kept(&self.session).unwrap().entries;
        let entries = &all[self.from as usize..];
        let wrong = |what: String| store.world.wrong(format!("{:?} in {} {what}", self.text, self.session));
        if answer.refused() {
            return;
        }
        let moved = match self.text.strip_prefix("/switch ") {
            Some(key) => answer.session.conversation.as_str() == key,
            None => (self.text == "/new") == (answer.session != self.session),
        };
        if !moved {
            wrong(format!("was answered in {}", answer.session));
        }
        if self.leaves.is_some_and(|leaves| !entries.iter().any(|entry| leaves(&entry.event))) {
            wrong(format!("was carried out, says the answer, and the journal does not: {}", answer.reply));
        }
        if answer.decided.is_some() && !entries.windows(2).any(began) {
            wrong("was decided, says the answer, and nothing was begun".to_owned());
        }
        // Who switches is told about the plans of the other session.
        let told_here = told_about(&answer.reply).filter(|_| answer.session == self.session);
        for (number, status) in told_here.filter(|told| !was(all, self.from, told)) {
            wrong(format!("was answered that plan {number} is {status}, which it was not: {}", answer.reply));
        }
        let Some(end) = &answer.end else { return };
        match self.turn(all, told) {
            Some(turn) => self.check_end(entries, &turn, end, answer, &wrong),
            None => wrong("was answered, and the journal does not have it".to_owned()),
        }
    }

    /// The turn that this began: to answer what was typed, which ends with new words, or to carry
    /// out a document.
    fn turn(&self, entries: &[Entry], told: &[Progress]) -> Option<TurnId> {
        // Going on with a document may be going on with the very turn that was interrupted.
        let accepted = told.iter().rev().find_map(|told| match told {
            Progress::Accepted(turn) | Progress::Resumed(turn) => Some(turn),
            _ => None,
        })?;
        let phrase = self.text.find("markQ").map_or(self.text.as_str(), |at| &self.text[at..]);
        entries.iter().find_map(|entry| match &entry.event {
            Event::Turn { id: turn, event: TurnEvent::Begun { text, purpose, .. } } if turn == accepted => {
                let fits = match purpose {
                    Purpose::Answer | Purpose::Run(_) => text.ends_with(phrase),
                    Purpose::Document { .. } => self.text.starts_with("/plan"),
                    Purpose::Step { .. } | Purpose::Question { .. } => false,
                };
                fits.then(|| turn.clone())
            }
            _ => None,
        })
    }

    fn check_end(&self, entries: &[Entry], turn: &TurnId, end: &TurnEnd, answer: &Answer, wrong: &dyn Fn(String)) {
        let ended = entries.iter().find_map(|entry| match &entry.event {
            Event::Turn { id: of, event: TurnEvent::Ended { ending } } if of == turn => Some(ending),
            _ => None,
        });
        let begun = entries.iter().position(
            |entry| matches!(&entry.event, Event::Turn { id: of, event: TurnEvent::Begun { .. } } if of == turn),
        );
        let reset = entries[begun.unwrap_or_default()..]
            .iter()
            .any(|entry| matches!(entry.event, Event::Session(SessionEvent::ConversationReset { .. })));
        match (end, ended) {
            // Another process continues it, or has finished it.
            (TurnEnd::Interrupted, _) => {}
            (TurnEnd::Stopped, None) if reset => {}
            (_, Some(ending)) if ending.end == *end => {}
            (_, ended) => wrong(format!("was told to be {end:?}, and the journal says {ended:?}")),
        }
        let stated = entries.iter().rev().find_map(|entry| match &entry.event {
            Event::Turn { id: of, event: TurnEvent::ModelReplied { reply, .. } } if of == turn => {
                Some(reply.text.trim())
            }
            _ => None,
        });
        if *end == TurnEnd::Answered && !stated.is_some_and(|stated| answer.reply.contains(stated)) {
            wrong(format!("was answered with {:?}, and the journal says {stated:?}", answer.reply));
        }
    }
}

/// An approval and the beginning of the work, in one.
fn began(entries: &[Entry]) -> bool {
    match entries {
        [one, other] => match (&one.event, &other.event) {
            (
                Event::Plan { id: plan, event: PlanEvent::Approved { .. } },
                Event::Plan { id: begun, event: PlanEvent::ExecutionStarted { .. } },
            ) => plan == begun,
            _ => false,
        },
        _ => false,
    }
}

/// The plans that an answer says something about, and what they are, as it says.
fn told_about(reply: &str) -> impl Iterator<Item = (u32, &str)> {
    reply.split("Plan ").skip(1).filter_map(|piece| {
        let (number, rest) = piece.split_once(" is **")?;
        Some((number.parse().ok()?, rest.split_once("**")?.0))
    })
}

/// Whether a plan was so at any time from then on.
fn was(entries: &[Entry], from: u64, (number, status): &(u32, &str)) -> bool {
    let Some(first) = entries.first() else { return false };
    let mut snapshot = Snapshot::new(first.session.clone());
    let is = |snapshot: &Snapshot| {
        snapshot.plans.values().any(|plan| plan.number == *number && plan.status.as_str() == *status)
    };
    entries.iter().any(|entry| {
        snapshot.apply(&entry.event, &entry.context(), entry.seq);
        entry.seq >= from && is(&snapshot)
    })
}
