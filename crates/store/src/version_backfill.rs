//! The version that each entry of an older journal made, for stores of the schema versions before 6.

use std::collections::HashMap;

use planwright_core::event::{Event, PlanEvent, SessionEvent};
use planwright_core::journal::Entry;

use crate::encode;

/// What the body of an entry that makes a version has in it, among others.
pub(crate) const EVENTS: [&str; 3] =
    [r#""type":"content_set""#, r#""type":"plan_finalized""#, r#""type":"plan_imported""#];

/// Counts the versions of plans while it is given their entries in order.
#[derive(Debug, Default)]
pub(crate) struct VersionCounter {
    /// The last version of each plan. `None` once an entry of the plan cannot be read: the later ones cannot be numbered.
    last: HashMap<String, Option<u32>>,
}

impl VersionCounter {
    /// The version that this entry made, if it made one.
    pub(crate) fn note(&mut self, plan: &str, body: &str) -> Option<u32> {
        let last = self.last.entry(plan.to_owned()).or_insert(Some(0));
        let Ok(entry) = encode::entry_from_text(String::new, body) else {
            *last = None;
            return None;
        };
        if !makes_version(&entry) {
            return None;
        }
        *last = last.map(|version| version + 1);
        *last
    }
}

fn makes_version(entry: &Entry) -> bool {
    match &entry.event {
        Event::Plan { event, .. } => matches!(event, PlanEvent::ContentSet { .. } | PlanEvent::Finalized { .. }),
        Event::Session(SessionEvent::PlanImported { plan, .. }) => !plan.content.is_empty(),
        Event::Session(_) | Event::Turn { .. } | Event::Workbook(_) | Event::Memory(_) | Event::Auto(_) => false,
    }
}
