//! Everything that can have happened in a session. Events are facts: they are never refused.
//!
//! Each subject has its own events, in the module of the subject. In the journal they are flat: `type` names the event,
//! then comes the id of the turn or plan, then the event's own fields.

use std::fmt;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::{PlanId, TurnId};
use crate::visible::quoted;
use crate::wire;
use crate::workbook::DocumentKind;

pub use crate::auto::AutoEvent;
pub use crate::memory::MemoryEvent;
pub use crate::plan::event::{PlanChange, PlanEvent};
pub use crate::session::SessionEvent;
pub use crate::turn::TurnEvent;
pub use crate::workbook::WorkbookEvent;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Session(SessionEvent),
    Turn { id: TurnId, event: TurnEvent },
    Workbook(WorkbookEvent),
    Memory(MemoryEvent),
    Auto(AutoEvent),
    Plan { id: PlanId, event: PlanEvent },
}

impl Event {
    pub fn of_turn(id: &TurnId, event: TurnEvent) -> Self {
        Self::Turn { id: id.clone(), event }
    }

    pub fn of_plan(id: &PlanId, event: PlanEvent) -> Self {
        Self::Plan { id: id.clone(), event }
    }

    /// The name it has in the journal, in the event stream and in the user interface.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Session(event) => event.name(),
            Self::Turn { event, .. } => event.name(),
            Self::Workbook(event) => event.name(),
            Self::Memory(event) => event.name(),
            Self::Auto(event) => event.name(),
            Self::Plan { event, .. } => event.name(),
        }
    }

    /// The plan that the entry is listed with.
    pub fn plan(&self) -> Option<&PlanId> {
        match self {
            Self::Session(event) => event.plan(),
            Self::Turn { .. } | Self::Workbook(_) | Self::Memory(_) | Self::Auto(_) => None,
            Self::Plan { id, .. } => Some(id),
        }
    }

    /// The plan that the session has from this event on.
    pub fn added_plan(&self) -> Option<&PlanId> {
        match self {
            Self::Session(event) => event.added_plan(),
            Self::Turn { .. } | Self::Workbook(_) | Self::Memory(_) | Self::Auto(_) | Self::Plan { .. } => None,
        }
    }

    /// The turn it belongs to.
    pub const fn turn(&self) -> Option<&TurnId> {
        match self {
            Self::Turn { id, .. } => Some(id),
            Self::Session(_) | Self::Workbook(_) | Self::Memory(_) | Self::Auto(_) | Self::Plan { .. } => None,
        }
    }

    pub const fn turn_event(&self) -> Option<&TurnEvent> {
        match self {
            Self::Turn { event, .. } => Some(event),
            Self::Session(_) | Self::Workbook(_) | Self::Memory(_) | Self::Auto(_) | Self::Plan { .. } => None,
        }
    }

    pub const fn workbook_event(&self) -> Option<&WorkbookEvent> {
        match self {
            Self::Workbook(event) => Some(event),
            Self::Session(_) | Self::Turn { .. } | Self::Memory(_) | Self::Auto(_) | Self::Plan { .. } => None,
        }
    }

    pub const fn plan_event(&self) -> Option<&PlanEvent> {
        match self {
            Self::Plan { event, .. } => Some(event),
            Self::Session(_) | Self::Turn { .. } | Self::Workbook(_) | Self::Memory(_) | Self::Auto(_) => None,
        }
    }

    pub const fn memory_event(&self) -> Option<&MemoryEvent> {
        match self {
            Self::Memory(event) => Some(event),
            Self::Session(_) | Self::Turn { .. } | Self::Workbook(_) | Self::Auto(_) | Self::Plan { .. } => None,
        }
    }

    pub const fn auto_event(&self) -> Option<&AutoEvent> {
        match self {
            Self::Auto(event) => Some(event),
            Self::Session(_) | Self::Turn { .. } | Self::Workbook(_) | Self::Memory(_) | Self::Plan { .. } => None,
        }
    }

    /// The text of a workbook's document, if this is the entry that has it.
    pub fn document(&self, wanted: DocumentKind) -> Option<&str> {
        self.workbook_event()?.document(wanted)
    }

    /// Whether it changes the session's own state.
    pub const fn changes_session(&self) -> bool {
        match self {
            Self::Session(_) | Self::Turn { .. } | Self::Workbook(_) | Self::Memory(_) | Self::Auto(_) => true,
            // The plan that replaces the active one becomes active.
            Self::Plan { event, .. } => matches!(event, PlanEvent::Superseded { .. }),
        }
    }

    /// Which part of a plan it changes, if it changes one.
    pub const fn plan_change(&self) -> Option<PlanChange<'_>> {
        match self {
            Self::Plan { event, .. } => Some(event.change()),
            Self::Session(SessionEvent::PlanCreated { .. }) => Some(PlanChange::Plan),
            Self::Session(SessionEvent::PlanImported { .. }) => Some(PlanChange::Everything),
            Self::Session(
                SessionEvent::Opened
                | SessionEvent::ConversationReset { .. }
                | SessionEvent::PlanModeEnabled { .. }
                | SessionEvent::PlanModeDisabled { .. }
                | SessionEvent::Compacted { .. }
                | SessionEvent::Renamed { .. }
                | SessionEvent::ReviewDrafted { .. }
                | SessionEvent::ReviewSent { .. }
                | SessionEvent::PlanShown { .. }
                | SessionEvent::WorkspaceChosen { .. }
                | SessionEvent::FilesChanged { .. }
                | SessionEvent::ChangesUndone { .. }
                | SessionEvent::ClientSeen { .. }
                | SessionEvent::GatewayAsked { .. }
                | SessionEvent::Restored,
            )
            | Self::Turn { .. }
            | Self::Workbook(_)
            | Self::Memory(_)
            | Self::Auto(_) => None,
        }
    }
}

impl From<SessionEvent> for Event {
    fn from(event: SessionEvent) -> Self {
        Self::Session(event)
    }
}

impl From<MemoryEvent> for Event {
    fn from(event: MemoryEvent) -> Self {
        Self::Memory(event)
    }
}

impl From<AutoEvent> for Event {
    fn from(event: AutoEvent) -> Self {
        Self::Auto(event)
    }
}

impl From<WorkbookEvent> for Event {
    fn from(event: WorkbookEvent) -> Self {
        Self::Workbook(event)
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct NoId {}
        #[derive(Serialize)]
        struct OfTurn<'a> {
            turn: &'a TurnId,
        }
        #[derive(Serialize)]
        struct OfPlan<'a> {
            plan: &'a PlanId,
        }
        match self {
            Self::Session(event) => event.write(NoId {}, serializer),
            Self::Turn { id, event } => event.write(OfTurn { turn: id }, serializer),
            Self::Workbook(event) => event.write(NoId {}, serializer),
            Self::Memory(event) => event.write(NoId {}, serializer),
            Self::Auto(event) => event.write(NoId {}, serializer),
            Self::Plan { id, event } => event.write(OfPlan { plan: id }, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut fields: M) -> Result<Event, M::Error> {
        let name: String = wire::next_field(&mut fields, "type")?;
        let name = name.as_str();
        if SessionEvent::NAMES.contains(&name) {
            SessionEvent::read(name, fields).map(Event::Session)
        } else if TurnEvent::NAMES.contains(&name) {
            let id = wire::next_field(&mut fields, "turn")?;
            Ok(Event::Turn { id, event: TurnEvent::read(name, fields)? })
        } else if WorkbookEvent::NAMES.contains(&name) {
            WorkbookEvent::read(name, fields).map(Event::Workbook)
        } else if MemoryEvent::NAMES.contains(&name) {
            MemoryEvent::read(name, fields).map(Event::Memory)
        } else if AutoEvent::NAMES.contains(&name) {
            AutoEvent::read(name, fields).map(Event::Auto)
        } else if PlanEvent::NAMES.contains(&name) {
            let id = wire::next_field(&mut fields, "plan")?;
            Ok(Event::Plan { id, event: PlanEvent::read(name, fields)? })
        } else {
            Err(de::Error::custom(format_args!("{} is not an event of this version", quoted(name))))
        }
    }
}
