//! What each event does to the state. Applying never fails and never decides.

use std::sync::Arc;

use crate::event::Event;
use crate::plan::content::PlanContent;
use crate::plan::execution::{Execution, Pause, StepRun, StepStatus};
use crate::plan::{Ending, Feedback, Plan, PlanStatus};
use crate::session::Session;
use crate::snapshot::{CommandContext, Snapshot};
use crate::turn::{OpenTurn, Purpose};

impl Snapshot {
    /// `seq` is the number of the journal's entry that the event is.
    pub fn apply(&mut self, event: &Event, stamp: &CommandContext, seq: u64) {
        self.apply_to_session(event, stamp, seq);
        self.apply_to_plans(event, stamp);
    }

    fn apply_to_session(&mut self, event: &Event, stamp: &CommandContext, seq: u64) {
        if matches!(event, Event::SessionOpened) {
            self.session = Some(Session::opened(self.identity.clone(), stamp.at));
        }
        let Some(session) = &mut self.session else { return };
        let mode = &mut session.plan_mode;
        match event {
            Event::PlanModeEnabled { style, plan } => {
                mode.enabled = true;
                mode.style = *style;
                mode.active_plan = Some(plan.clone());
                mode.updated_at = stamp.at;
            }
            Event::PlanModeDisabled { .. } => {
                mode.enabled = false;
                mode.active_plan = None;
                mode.updated_at = stamp.at;
            }
            // Whoever takes an active plan's place is active in its stead.
            Event::PlanSuperseded { plan, by } if mode.active_plan.as_ref() == Some(plan) => {
                mode.active_plan = Some(by.clone());
                mode.updated_at = stamp.at;
            }
            Event::PlanCreated(_) | Event::PlanImported { .. } => session.plans_made += 1,
            Event::TurnBegun { .. }
            | Event::TurnResumed { .. }
            | Event::ModelReplied { .. }
            | Event::ToolEnded { .. }
            | Event::TurnEnded { .. }
            | Event::Compacted(_)
            | Event::PlanShown(_)
            | Event::ConversationReset { .. } => session.apply_to_conversation(event, stamp),
            Event::WorkbookSwitched { .. }
            | Event::WorkbookBegun { .. }
            | Event::WorkbookWritten { .. }
            | Event::WorkbookArchived { .. }
            | Event::WorkbookCleared
            | Event::WorkbookJudged(_) => session.workbook_mut().apply(event, stamp, seq),
            Event::SessionOpened
            | Event::PlanSuperseded { .. }
            | Event::ContentSet { .. }
            | Event::StepRecorded { .. }
            | Event::MetadataSet { .. }
            | Event::StepAdded { .. }
            | Event::StepUpdated { .. }
            | Event::StepRemoved { .. }
            | Event::PlanFinalized { .. }
            | Event::PlanApproved { .. }
            | Event::PlanRejected { .. }
            | Event::RevisionRequested { .. }
            | Event::PlanCancelled { .. }
            | Event::ExecutionStarted { .. }
            | Event::ExecutionPaused { .. }
            | Event::ExecutionResumed { .. }
            | Event::StepBegun { .. }
            | Event::StepEnded { .. }
            | Event::ExecutionFinished { .. } => {}
        }
    }

    fn apply_to_plans(&mut self, event: &Event, stamp: &CommandContext) {
        match event {
            Event::PlanCreated(creation) => {
                let mut plan = Plan::begun(
                    creation.plan.clone(),
                    self.identity.clone(),
                    creation.number,
                    creation.style,
                    stamp.at,
                );
                if let Some(succession) = &creation.succeeds {
                    plan.supersedes = Some(succession.of.clone());
                    plan.title.clone_from(&succession.title);
                    plan.content = succession.content.clone();
                    plan.steps_made = succession.steps_made;
                }
                self.plans.insert(plan.id.clone(), Arc::new(plan));
            }
            Event::PlanImported { number, plan: imported } => {
                let style = imported.content.style();
                let mut plan =
                    Plan::begun(imported.id.clone(), self.identity.clone(), *number, style, imported.created_at);
                plan.status = imported.status;
                plan.title.clone_from(&imported.title);
                plan.content = imported.content.clone();
                plan.version = u32::from(!plan.content.is_empty());
                plan.steps_made = u32::try_from(plan.content.steps().len()).unwrap_or(u32::MAX);
                plan.execution.clone_from(&imported.execution);
                plan.origin = Some(imported.origin.clone());
                plan.updated_at = imported.updated_at;
                self.plans.insert(plan.id.clone(), Arc::new(plan));
            }
            _ => {
                if let Some(plan) = event.plan().and_then(|id| self.plans.get_mut(id)) {
                    Arc::make_mut(plan).apply(event, stamp);
                }
            }
        }
    }
}

impl Session {
    fn apply_to_conversation(&mut self, event: &Event, stamp: &CommandContext) {
        match event {
            Event::TurnBegun { turn, text, purpose, .. } => {
                let begun = OpenTurn::begun(turn.clone(), stamp.at, purpose.clone());
                match (purpose, &mut self.turn) {
                    (Purpose::Question { asked_by, .. }, Some(open)) if open.id == *asked_by => {
                        open.question = Some(Box::new(begun));
                    }
                    (Purpose::Question { .. }, _) => {}
                    (Purpose::Answer, _) => {
                        self.turn = Some(begun);
                        self.topic.get_or_insert_with(|| topic(text));
                    }
                    (Purpose::Document { .. } | Purpose::Step { .. }, _) => self.turn = Some(begun),
                }
            }
            Event::TurnEnded { turn, ending } => {
                match &mut self.turn {
                    Some(open) if open.id != *turn => open.question = None,
                    Some(_) | None => self.turn = None,
                }
                if ending.shown.is_some() {
                    self.shown.clone_from(&ending.shown);
                }
            }
            Event::Compacted(compaction) => {
                self.history_from = compaction.reads_from();
                self.kept_from = compaction.kept_from;
            }
            Event::PlanShown(shown) => self.shown = Some(shown.clone()),
            // What was said before stays in the journal; the model does not read it any more.
            Event::ConversationReset { history_from } => {
                self.history_from = *history_from;
                self.kept_from = 0;
                self.turn = None;
                self.shown = None;
                self.topic = None;
            }
            Event::TurnResumed { turn } => {
                if let Some(open) = self.turn.as_mut().and_then(|open| open.named_mut(turn)) {
                    open.resumed += 1;
                }
            }
            _ => {
                let open = event.turn().and_then(|turn| self.turn.as_mut()?.named_mut(turn));
                if let (Some(open), Some(input)) = (open, event.turn_input()) {
                    open.take_in(&input);
                }
            }
        }
    }
}

/// The first line of what was said, short enough for a list.
fn topic(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

impl Plan {
    fn apply(&mut self, event: &Event, stamp: &CommandContext) {
        match event {
            // The session changes, not the plan.
            Event::PlanModeEnabled { .. }
            | Event::SessionOpened
            | Event::ConversationReset { .. }
            | Event::PlanModeDisabled { .. }
            | Event::TurnBegun { .. }
            | Event::TurnResumed { .. }
            | Event::ModelReplied { .. }
            | Event::ToolEnded { .. }
            | Event::TurnEnded { .. }
            | Event::Compacted(_)
            | Event::PlanShown(_)
            | Event::WorkbookSwitched { .. }
            | Event::WorkbookBegun { .. }
            | Event::WorkbookWritten { .. }
            | Event::WorkbookArchived { .. }
            | Event::WorkbookCleared
            | Event::WorkbookJudged(_)
            | Event::PlanCreated(_)
            | Event::PlanImported { .. } => return,
            Event::ContentSet { markdown, title, .. } => {
                if let PlanContent::Document(document) = &mut self.content {
                    document.markdown.clone_from(markdown);
                }
                self.title.clone_from(title);
                self.status = PlanStatus::Ready;
                self.version += 1;
                self.feedback = None;
            }
            Event::StepRecorded { step, .. } => {
                if let PlanContent::Collect(collected) = &mut self.content {
                    collected.steps.push(step.clone());
                    self.steps_made += 1;
                }
            }
            Event::MetadataSet { change, .. } => self.set_metadata(change),
            Event::StepAdded { index, step, .. } => {
                if let PlanContent::Build(built) = &mut self.content {
                    let index = (*index).min(built.steps.len());
                    built.steps.insert(index, step.clone());
                    self.steps_made += 1;
                }
            }
            Event::StepUpdated { index, step, .. } => {
                if let PlanContent::Build(built) = &mut self.content {
                    built.steps.retain(|other| other.id != step.id);
                    let index = (*index).min(built.steps.len());
                    built.steps.insert(index, step.clone());
                }
            }
            Event::StepRemoved { step, .. } => {
                if let PlanContent::Build(built) = &mut self.content {
                    built.steps.retain(|other| other.id != *step);
                }
            }
            Event::PlanFinalized { summary, .. } => {
                match &mut self.content {
                    PlanContent::Document(_) => {}
                    PlanContent::Collect(collected) => collected.summary.clone_from(summary),
                    PlanContent::Build(built) => built.summary.clone_from(summary),
                }
                self.status = PlanStatus::Ready;
                self.version += 1;
                self.feedback = None;
            }
            Event::PlanApproved { approval, .. } => {
                self.status = PlanStatus::Approved;
                self.approval = Some(approval.clone().into());
                self.feedback = None;
            }
            Event::PlanRejected { reason, .. } => {
                self.status = PlanStatus::Rejected;
                self.ending = Some(Ending { by: stamp.by.clone(), at: stamp.at, reason: reason.clone() });
            }
            Event::RevisionRequested { feedback, .. } => {
                // What was asked before and has not been answered still stands.
                let earlier = self.feedback.take().map(|earlier| earlier.text + "\n\n").unwrap_or_default();
                self.feedback = Some(Feedback { by: stamp.by.clone(), at: stamp.at, text: earlier + feedback });
            }
            Event::PlanCancelled { reason, .. } => {
                self.status = PlanStatus::Cancelled;
                self.ending = Some(Ending { by: stamp.by.clone(), at: stamp.at, reason: reason.clone() });
                self.stop_execution(stamp);
            }
            Event::PlanSuperseded { by, .. } => {
                self.status = PlanStatus::Superseded;
                self.superseded_by = Some(by.clone());
                self.stop_execution(stamp);
            }
            Event::ExecutionStarted { execution, .. } => {
                self.status = PlanStatus::Executing;
                self.execution = Some(execution.clone());
            }
            Event::ExecutionPaused { idle_turns, .. } => {
                self.set_pause(Some(Pause::Paused { at: stamp.at, idle_turns: *idle_turns }));
            }
            Event::ExecutionResumed { .. } => self.set_pause(Some(Pause::Resumed { at: stamp.at })),
            Event::StepBegun { step, note, .. } => {
                self.set_pause(None);
                if let Some(run) = self.run_mut(step) {
                    run.status = StepStatus::InProgress;
                    run.note.clone_from(note);
                    run.started_at = Some(stamp.at);
                    run.finished_at = None;
                }
            }
            Event::StepEnded { step, outcome, .. } => {
                self.set_pause(None);
                if let Some(run) = self.run_mut(step) {
                    if outcome.status == StepStatus::Pending {
                        let known = (run.status == StepStatus::Uncertain).then(|| run.note.take()).flatten();
                        run.tried(known.or_else(|| outcome.note.clone()));
                    }
                    run.status = outcome.status;
                    run.note.clone_from(&outcome.note);
                    run.evidence.clone_from(&outcome.evidence);
                    run.finished_at = outcome.status.is_settled().then_some(stamp.at);
                }
            }
            Event::ExecutionFinished { status, .. } => {
                self.status = *status;
                self.stop_execution(stamp);
            }
        }
        self.updated_at = stamp.at;
    }

    fn set_metadata(&mut self, change: &crate::command::MetadataChange) {
        if change.title.is_some() {
            self.title.clone_from(&change.title);
        }
        let PlanContent::Build(built) = &mut self.content else { return };
        if change.goal.is_some() {
            built.goal.clone_from(&change.goal);
        }
        let lists = [
            (&mut built.assumptions, &change.assumptions),
            (&mut built.risks, &change.risks),
            (&mut built.verification, &change.verification),
            (&mut built.files, &change.files),
        ];
        for (list, given) in lists {
            if let Some(given) = given {
                list.clone_from(given);
            }
        }
    }

    fn run_mut(&mut self, step: &crate::ids::StepId) -> Option<&mut StepRun> {
        self.execution.as_mut()?.steps.iter_mut().find(|run| run.step == *step)
    }

    fn set_pause(&mut self, pause: Option<Pause>) {
        if let Some(execution) = &mut self.execution {
            execution.pause = pause;
        }
    }

    fn stop_execution(&mut self, stamp: &CommandContext) {
        let open = |execution: &&mut Execution| execution.finished_at.is_none();
        if let Some(execution) = self.execution.as_mut().filter(open) {
            execution.finished_at = Some(stamp.at);
            execution.pause = None;
        }
    }
}
