//! A turn, put together from the journal.

use crate::event::{Event, SessionEvent, TurnEvent};
use crate::ids::TurnId;
use crate::turn::Turn;

impl Turn {
    /// The state of the turn with this id after these events; `None` if it has not begun or has ended.
    pub fn replay<'a>(id: &TurnId, events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let mut open: Option<Self> = None;
        for event in events {
            match event {
                Event::Turn { id: of, event } if of == id => match event {
                    TurnEvent::Begun { purpose, .. } => {
                        open.get_or_insert_with(|| Self::new(id.clone(), purpose.clone()));
                    }
                    TurnEvent::Ended { .. } => open = None,
                    TurnEvent::Resumed
                    | TurnEvent::PermissionAsked { .. }
                    | TurnEvent::PermissionAnswered { .. }
                    | TurnEvent::QuestionsAsked { .. }
                    | TurnEvent::QuestionsAnswered { .. } => {}
                    TurnEvent::ModelReplied { .. } | TurnEvent::ToolEnded { .. } => {
                        if let (Some(open), Some(input)) = (&mut open, event.input()) {
                            open.take_in(&input);
                        }
                    }
                },
                // Another turn that is recorded before this one ends is a question that this one waits for.
                Event::Turn { event, .. } => {
                    if let (Some(open), Some(input)) = (&mut open, event.input()) {
                        open.note_asked(&input);
                    }
                }
                Event::Session(SessionEvent::ConversationReset { .. }) => open = None,
                Event::Session(_) | Event::Workbook(_) | Event::Memory(_) | Event::Auto(_) | Event::Plan { .. } => {}
            }
        }
        open
    }
}
