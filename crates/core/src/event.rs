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
pub use crate::plan::event::{PlanChange, PlanEvent, Touches};
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

    /// What it touches besides the state of its subject.
    pub fn touches(&self) -> Touches<'_> {
        match self {
            Self::Session(event) => event.touches(),
            Self::Turn { event, .. } => event.touches(),
            Self::Workbook(event) => event.touches(),
            Self::Memory(event) => event.touches(),
            Self::Auto(event) => event.touches(),
            Self::Plan { id, event } => {
                let touches = event.touches();
                Touches { plan: Some(id), plan_change: touches.plan_change.or(Some(PlanChange::Plan)), ..touches }
            }
        }
    }

    /// The plan that the entry is listed with.
    pub fn plan(&self) -> Option<&PlanId> {
        self.touches().plan
    }

    /// The plan that the session has from this event on.
    pub fn added_plan(&self) -> Option<&PlanId> {
        let touches = self.touches();
        touches.plan.filter(|_| touches.adds_plan)
    }

    /// The turn it belongs to.
    pub const fn turn(&self) -> Option<&TurnId> {
        if let Self::Turn { id, .. } = self { Some(id) } else { None }
    }

    pub const fn turn_event(&self) -> Option<&TurnEvent> {
        if let Self::Turn { event, .. } = self { Some(event) } else { None }
    }

    pub const fn workbook_event(&self) -> Option<&WorkbookEvent> {
        if let Self::Workbook(event) = self { Some(event) } else { None }
    }

    pub const fn plan_event(&self) -> Option<&PlanEvent> {
        if let Self::Plan { event, .. } = self { Some(event) } else { None }
    }

    pub const fn memory_event(&self) -> Option<&MemoryEvent> {
        if let Self::Memory(event) = self { Some(event) } else { None }
    }

    pub const fn auto_event(&self) -> Option<&AutoEvent> {
        if let Self::Auto(event) = self { Some(event) } else { None }
    }

    /// The text of a workbook's document, if this is the entry that has it.
    pub fn document(&self, wanted: DocumentKind) -> Option<&str> {
        self.workbook_event()?.document(wanted)
    }

    /// Whether it changes the session's own state.
    pub fn changes_session(&self) -> bool {
        // The plan that replaces the active one becomes active, and what a person was asked about beside a plan ends with it.
        !matches!(self, Self::Plan { .. }) || self.touches().ends_work
    }

    /// Which part of a plan it changes, if it changes one.
    pub fn plan_change(&self) -> Option<PlanChange<'_>> {
        self.touches().plan_change
    }
}

macro_rules! from_subjects {
    ($($Subject:ident($Event:ty)),*) => {
        $(
            impl From<$Event> for Event {
                fn from(event: $Event) -> Self {
                    Self::$Subject(event)
                }
            }
        )*
    };
}

from_subjects!(Session(SessionEvent), Memory(MemoryEvent), Auto(AutoEvent), Workbook(WorkbookEvent));

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
