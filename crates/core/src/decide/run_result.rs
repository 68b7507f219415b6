//! What the conversation of a session reads of a run that ended, whose own conversation it does not read.

use crate::auto::{AutoEvent, AutoRun, AutoState, RunEnd, TaskStatus};
use crate::decide::Decider;
use crate::event::{Event, TurnEvent};
use crate::ids::RunId;
use crate::turn::Purpose;
use crate::visible::{quoted, visible};

impl Decider<'_> {
    /// Gives the runs that end with these events their result.
    pub(super) fn with_run_results(&self, mut events: Vec<Event>) -> Vec<Event> {
        if !events.iter().any(|event| matches!(event, Event::Auto(AutoEvent::RunEnded { .. }))) {
            return events;
        }
        let mut after = self.snapshot.clone();
        let mut said: Option<(RunId, String)> = None;
        for event in &events {
            // The last words are known until the turn ends.
            if matches!(event, Event::Turn { event: TurnEvent::Ended { .. }, .. }) {
                said = after.session.as_ref().and_then(|session| session.turn.as_ref()).and_then(|open| {
                    let Purpose::Run(context) = &open.purpose else { return None };
                    Some((context.run_id.clone(), open.tick.as_ref()?.said.clone()))
                });
            }
            after.apply(event, self.context, 0);
        }
        let Some(state) = after.session.as_ref().and_then(|session| session.auto.as_deref()) else { return events };
        for event in &mut events {
            let Event::Auto(AutoEvent::RunEnded { run, end, note, result }) = event else { continue };
            let Some(known) = state.run(run).filter(|known| known.context.has_own_conversation()) else { continue };
            let said = said.as_ref().filter(|(spoke, _)| spoke == run).map(|(_, said)| said.as_str());
            *result = Some(result_text(state, known, *end, note.as_deref(), said.unwrap_or_default()));
        }
        events
    }
}

fn result_text(state: &AutoState, run: &AutoRun, end: RunEnd, note: Option<&str>, said: &str) -> String {
    let kind = run.context.run_kind();
    let task = state.task(run.context.task_id());
    let about = match (run.context.goal_id().and_then(|goal| state.goal(goal)), task) {
        (Some(goal), _) => format!("goal {}, {}", goal.number, quoted(&goal.title)),
        (None, Some(task)) => format!("task {}, {}", task.number, quoted(&task.title)),
        (None, None) => "its task".to_owned(),
    };
    let note = note.map(|note| format!(": {}", visible(note))).unwrap_or_default();
    let mut text = format!("Run {} ({}) on {about}, is {}{note}.", run.number, kind.as_str(), end.as_str());
    // A run of a goal may have worked on several tasks.
    let worked_on = state.tasks.iter().filter(|task| {
        let is_own = run.context.goal_id().is_some() && task.goal.as_ref() == run.context.goal_id();
        is_own && task.status != TaskStatus::Open && task.changed_at >= run.started_at
    });
    for task in worked_on {
        let note = task.note.as_ref().map(|note| format!(" ({})", visible(note))).unwrap_or_default();
        text.push_str(&format!("\n- task {} is {}: {}{note}", task.number, task.status, quoted(&task.title)));
    }
    let said = said.trim();
    if !said.is_empty() {
        text.push_str(&format!("\n\n{}", visible(said)));
    }
    text
}
