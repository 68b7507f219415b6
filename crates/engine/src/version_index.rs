//! Which entry of the journal made which version of a plan, so that a version is found without replaying the others.

use planwright_core::event::Event;
use planwright_core::ids::PlanId;
use planwright_core::snapshot::{CommandContext, Snapshot};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct VersionIndexEntry {
    pub plan: PlanId,
    pub version: u32,
    /// The number of the entry in the session's journal.
    pub seq: u64,
}

/// Applies an event to the snapshot. Returns the version of a plan that the event made, if it made one.
pub fn apply_and_index(
    snapshot: &mut Snapshot,
    event: &Event,
    context: &CommandContext,
    seq: u64,
) -> Option<VersionIndexEntry> {
    let version = |snapshot: &Snapshot| event.plan().and_then(|id| snapshot.plan(id)).map_or(0, |plan| plan.version);
    let before = version(snapshot);
    snapshot.apply(event, context, seq);
    let version = version(snapshot);
    let plan = event.plan().filter(|_| version > before)?;
    Some(VersionIndexEntry { plan: plan.clone(), version, seq })
}
