//! What both stores do with a command once the session's state is in hand: decide, apply, seal.

use std::collections::BTreeMap;

use planwright_core::command::{Command, ExecutionCommand, SessionCommand, TurnCommand};
use planwright_core::decide;
use planwright_core::event::{Event, PlanChange};
use planwright_core::ids::PlanId;
use planwright_core::journal::{Head, SealedEntry};
use planwright_core::refusal::Refusal;
use planwright_core::session::Session;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::Purpose;
use planwright_engine::ledger::{RunsRow, Submission};
use planwright_engine::version_index::apply_and_index;

use crate::memory_rows::MemoryRowChange;
use crate::plan_rows::PlanRowChanges;
use crate::waiting::{WaitingChanges, changes, waiting};

/// What is to be written for one submission.
#[derive(Debug)]
pub(crate) struct AppliedCommand {
    pub(crate) events: Vec<Event>,
    pub(crate) entries: Vec<SealedEntry>,
    /// The version of its plan that each entry made, if it made one.
    pub(crate) versions: Vec<Option<u32>>,
    /// The plans whose stored form changes, and what of it.
    pub(crate) plans: BTreeMap<PlanId, PlanRowChanges>,
    /// What changes of memories, in order.
    pub(crate) memories: Vec<MemoryRowChange>,
    /// What a search for sessions looks through afterwards, if it changed.
    pub(crate) search_text: Option<String>,
    /// What changes in the list of plans that may wait for a person.
    pub(crate) waiting: WaitingChanges,
    /// What the row about schedules and runs says afterwards, if they changed.
    pub(crate) auto: Option<RunsRow>,
}

/// Decides and, if the command is not refused, moves `snapshot` and `head` on. A refusal leaves both as they were.
pub(crate) fn apply_command(
    snapshot: &mut Snapshot,
    head: &mut Head,
    submission: &Submission,
) -> Result<AppliedCommand, Refusal> {
    let open = snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
    if let Some(turn) = &submission.turn
        && open.is_none_or(|open| open.id != *turn)
    {
        return Err(Refusal::wrong_status("This turn has ended."));
    }
    let events = decide(snapshot, &submission.command, &submission.context, &submission.policy)?;
    // An entry that cannot be written refuses them all, so nothing is applied before every one is sealed.
    let mut end = *head;
    let sealed = events.iter().map(|event| end.seal(&submission.session, &submission.context, event));
    let entries: Vec<_> = sealed.collect::<Result<_, _>>()?;
    *head = end;
    let waiting_before = waiting(snapshot);
    let text_before = snapshot.session.as_deref().map(Session::search_text);
    let mut versions = Vec::with_capacity(events.len());
    let mut plans = BTreeMap::<_, PlanRowChanges>::new();
    let mut memories = Vec::new();
    for (event, entry) in events.iter().zip(&entries) {
        let made = apply_and_index(snapshot, event, &submission.context, entry.seq);
        versions.push(made.map(|made| made.version));
        memories.extend(MemoryRowChange::of(event, snapshot));
        if let (Some(plan), Some(change)) = (event.plan(), event.plan_change()) {
            plans.entry(plan.clone()).or_default().note(change);
        }
    }
    let changes_auto = events.iter().any(|event| event.auto_event().is_some());
    let auto = snapshot.session.as_deref().filter(|_| changes_auto).map(RunsRow::of);
    let waiting = changes(&waiting_before, snapshot);
    let text = snapshot.session.as_deref().map(Session::search_text);
    let search_text = text.filter(|text| text_before.as_ref() != Some(text));
    Ok(AppliedCommand { events, entries, versions, plans, memories, search_text, waiting, auto })
}

impl AppliedCommand {
    /// What the outcomes of steps add to plans that were weighed before, at the most. `None` if a plan says something
    /// else now, so that it has to be weighed again.
    pub(crate) fn bytes_added(&self) -> Option<usize> {
        let mut added = 0;
        for (event, entry) in self.events.iter().zip(&self.entries) {
            match event.plan_change() {
                Some(PlanChange::Plan | PlanChange::Everything) => return None,
                Some(PlanChange::Run(_)) => added += entry.body.len(),
                Some(PlanChange::Pause) => {}
                None => {}
            }
        }
        Some(added)
    }

    /// The plans that did not exist before.
    pub(crate) fn made(&self) -> impl Iterator<Item = &PlanId> {
        self.events.iter().filter_map(Event::added_plan)
    }
}

/// Whether the command is about the active plan, so that it cannot do without it.
pub(crate) fn needs_active_plan(command: &Command) -> bool {
    match command {
        // Whether planning continues with the active plan or needs a new one depends on that plan.
        Command::Session(SessionCommand::EnsurePlanMode { .. })
        | Command::Draft(_)
        | Command::External(_)
        | Command::Execution(ExecutionCommand::Report(_)) => true,
        // No run begins or ticks while the active plan waits for a person.
        Command::Auto(auto) => auto.begins_run(),
        Command::Turn(TurnCommand::Begin { purpose: Purpose::Run(_), .. }) => true,
        Command::Session(_)
        | Command::Decide(_)
        | Command::Answer(_)
        | Command::Execution(_)
        | Command::Turn(_)
        | Command::Workbook(_)
        | Command::Memory(_)
        | Command::Import(_) => false,
    }
}

/// Whether the command can begin a session that does not exist yet.
pub(crate) fn may_open_session(command: &Command) -> bool {
    match command {
        Command::Session(SessionCommand::Open | SessionCommand::TakeTurn(_)) | Command::Import(_) => true,
        Command::Session(_)
        | Command::Draft(_)
        | Command::External(_)
        | Command::Decide(_)
        | Command::Answer(_)
        | Command::Execution(_)
        | Command::Turn(_)
        | Command::Workbook(_)
        | Command::Memory(_)
        | Command::Auto(_) => false,
    }
}
