//! What the journals say afterwards.

use std::collections::BTreeMap;

use planwright_core::event::{Event, PlanEvent, TurnEvent};
use planwright_core::journal::Entry;
use planwright_engine::Engine;
use serde_json::Value;

use crate::client::Client;
use crate::program::planwright;
use crate::stores::Store;
use crate::world::session;

/// Everything that happened in a session.
pub(crate) async fn entries(engine: &Engine, key: &str) -> Vec<Entry> {
    let sealed = engine.ledger().journal(&session(key), 0, 100_000).await.unwrap();
    sealed.iter().map(|sealed| serde_json::from_str(&sealed.body).unwrap()).collect()
}

/// The journal as clients are told it.
pub(crate) async fn told(engine: &Engine, key: &str) -> Vec<(u64, Value)> {
    let entries = entries(engine, key).await;
    entries.iter().map(|entry| (entry.seq, serde_json::to_value(&entry.event).unwrap())).collect()
}

/// What a client is told until it knows as much as there is.
pub(crate) async fn receive(client: &mut Client, received: &mut Vec<(u64, Value)>, until: u64) {
    while received.last().map_or(0, |(seq, _)| *seq) < until {
        received.push(client.entry().await);
    }
}

/// The texts that turns were begun with, in order. Every turn has ended once, none began while another was open, and no
/// step has two outcomes in one execution.
pub(crate) fn turns(key: &str, entries: &[Entry]) -> Vec<String> {
    let (mut texts, mut open) = (Vec::new(), None);
    let mut steps: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries {
        match &entry.event {
            Event::Turn { id: turn, event: TurnEvent::Begun { text, .. } } => {
                assert!(open.replace(turn.clone()).is_none(), "{key}: a turn began in another one");
                texts.push(text.clone());
            }
            Event::Turn { id: turn, event: TurnEvent::Resumed } => {
                assert_eq!(open.as_ref(), Some(turn), "{key}: it was not open")
            }
            Event::Turn { id: turn, event: TurnEvent::Ended { .. } } => {
                assert_eq!(open.take().as_ref(), Some(turn), "{key}: {turn:?} ended and was not open");
            }
            Event::Plan { event: PlanEvent::ExecutionStarted { .. }, .. } => steps.clear(),
            Event::Plan { event: PlanEvent::StepEnded { step, .. }, .. } => {
                *steps.entry(step.to_string()).or_default() += 1
            }
            _ => {}
        }
    }
    assert!(open.is_none(), "{key}: {open:?} never ended");
    assert!(steps.values().all(|outcomes| *outcomes == 1), "{key}: {steps:?}");
    texts
}

/// How often a turn was taken up in another process.
pub(crate) fn resumed(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry.event, Event::Turn { event: TurnEvent::Resumed, .. })).count()
}

/// `planwright verify` finds nothing.
pub(crate) fn verify(store: &Store) {
    verify_with(store, &[]);
}

/// Neither does it with these settings.
pub(crate) fn verify_with(store: &Store, settings: &[(&str, &str)]) {
    let checked = planwright(store).envs(settings.iter().copied()).arg("verify").output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}
