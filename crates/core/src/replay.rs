//! A turn or a whole session, put together from the journal.

use jiff::Timestamp;

use crate::event::{Event, SessionEvent, TurnEvent};
use crate::ids::TurnId;
use crate::journal::Entry;
use crate::session::{Session, SessionIdentity};
use crate::snapshot::Snapshot;
use crate::turn::Turn;

/// A session as it was after some entry of its journal. The entries go in one after another, from the first one on.
#[derive(Debug, Clone)]
pub struct SessionReplay {
    snapshot: Snapshot,
    at: Option<Timestamp>,
}

impl SessionReplay {
    pub fn new(session: SessionIdentity) -> Self {
        Self { snapshot: Snapshot::new(session), at: None }
    }

    pub fn apply(&mut self, entry: &Entry) {
        // The entry that opened the session may be damaged; everything after it still counts.
        if self.snapshot.session.is_none() {
            self.snapshot.session = Some(Session::opened(self.snapshot.identity.clone(), entry.at).into());
        }
        self.snapshot.apply(&entry.event, &entry.context(), entry.seq);
        // The texts of memories are of no use here, and there may be many.
        self.snapshot.memories.clear();
        self.at = Some(entry.at);
    }

    /// The session, with every plan that it had. There is none before the first entry.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The time of the last entry that was taken in.
    pub fn at(&self) -> Option<Timestamp> {
        self.at
    }
}

/// The state of one turn after some entries of the journal, which go in one after another.
#[derive(Debug, Clone)]
pub struct TurnReplay {
    id: TurnId,
    open: Option<Turn>,
}

impl TurnReplay {
    pub const fn new(id: TurnId) -> Self {
        Self { id, open: None }
    }

    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Turn { id, event } if *id == self.id => match event {
                TurnEvent::Begun { purpose, .. } => {
                    self.open.get_or_insert_with(|| Turn::new(id.clone(), purpose.clone()));
                }
                TurnEvent::Ended { .. } => self.open = None,
                _ => {
                    if let (Some(open), Some(input)) = (&mut self.open, event.input()) {
                        open.apply(&input);
                    }
                }
            },
            // Another turn that is recorded before this one ends is a question that this one waits for.
            Event::Turn { event, .. } => {
                if let (Some(open), Some(input)) = (&mut self.open, event.input()) {
                    open.note_asked(&input);
                }
            }
            Event::Session(SessionEvent::ConversationReset { .. }) => self.open = None,
            _ => {}
        }
    }

    /// The turn; `None` if it has not begun or has ended.
    pub fn into_open(self) -> Option<Turn> {
        self.open
    }
}
