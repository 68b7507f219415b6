//! The file that the model writes over and over: it never falls back behind what the journal says.

use std::path::Path;

use planwright_core::event::{Event, TurnEvent};
use planwright_core::journal::Entry;
use planwright_core::turn::ToolStatus;
use serde_json::Value;

use crate::checks::Tally;
use crate::store::Store;
use crate::world::{FILES, session};

pub(crate) const NAME: &str = "numbers.txt";

/// Every write that the journal calls done is in the file, or a later one is.
pub(crate) fn check(store: &Store, users: &Path, tally: &mut Tally) {
    let session = session(FILES);
    let state = store.lock();
    let Ok(kept) = state.kept(&session) else { return };
    let written = writes(&kept.entries);
    *tally.entry("file written".to_owned()).or_default() += written.len() as u64;
    let file = users.join(session.folder_name()).join("files").join(NAME);
    let there = std::fs::read_to_string(file).ok().and_then(|text| number(&text));
    if written.last() > there.as_ref() {
        store
            .world
            .wrong(format!("the journal says that {:?} was written, and the file has {there:?}", written.last()));
    }
}

/// The numbers of the writes that are done, in the order of the journal.
fn writes(entries: &[Entry]) -> Vec<u64> {
    let (mut calls, mut written) = (Vec::new(), Vec::new());
    for entry in entries {
        match &entry.event {
            Event::Turn { event: TurnEvent::ModelReplied { reply, .. }, .. } => {
                calls = reply.calls.iter().rev().cloned().collect();
            }
            Event::Turn { event: TurnEvent::ToolEnded { outcome, .. }, .. } => {
                let Some(call) = calls.pop().filter(|call| call.name == "write_file") else { continue };
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
                let content = arguments["content"].as_str().unwrap_or_default();
                written.extend(number(content).filter(|_| outcome.status == ToolStatus::Done));
            }
            _ => {}
        }
    }
    written
}

fn number(text: &str) -> Option<u64> {
    text.split_whitespace().next_back()?.parse().ok()
}
