//! What each event does to the state. Applying never fails and never decides.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::ask::{Ask, AskAnswer, AskState, AskSubject, CallToPermit, GrantedCall};
use crate::client_ask::ClientAsk;
use crate::copy_on_write::CopyOnWrite;
use crate::event::{Event, PlanEvent, SessionEvent, TurnEvent};
use crate::identity::SessionIdentity;
use crate::ids::{AskId, MemoryId, PlanId, StepId, TurnId};
use crate::memory::{MemoryChange, MemoryEvent, MemoryRecord};
use crate::mode::PlanModeState;
use crate::plan::content::{MetadataChange, PlanContent};
use crate::plan::creation::{Creation, ImportedPlan};
use crate::plan::execution::{Execution, Pause, StepState, StepStatus};
use crate::plan::{Digest, Feedback, Plan, PlanEnding, PlanStyle};
use crate::presence::{Presence, UsedSignature};
use crate::session::{Compaction, Session};
use crate::snapshot::{CommandContext, Snapshot};
use crate::turn::{OpenTurn, Purpose, TickProgress};
use crate::workspace::Workspace;

/// How many accepted and declined offers a session keeps. It is more than the rules offer at once.
const MAX_SETTLED_OFFERS: usize = 256;

impl Snapshot {
    /// `seq` is the sequence number of the event's entry in the journal.
    pub fn apply(&mut self, event: &Event, context: &CommandContext, seq: u64) {
        // Only a session with a tick is copied for it.
        let ticks = self.open_turn().is_some_and(|turn| turn.tick.is_some());
        let is_progress = ticks && self.is_progress(event);
        if let Some(tick) =
            self.session.as_mut().filter(|_| ticks).and_then(|session| session.turn.as_mut()?.tick.as_mut())
        {
            tick.changed |= is_progress;
            // A turn may be ended by a person, who has no price.
            if matches!(event, Event::Turn { event: TurnEvent::ModelReplied { .. }, .. }) {
                tick.model = Some(context.by.name.clone());
            }
        }
        self.note_signature(context);
        let ends_work = event.touches().ends_work;
        match event {
            Event::Session(event) => self.apply_session(event, context),
            Event::Turn { id, event } => {
                if let Some(session) = &mut self.session {
                    session.apply_turn(id, event, context.at);
                }
            }
            Event::Workbook(event) => {
                if let Some(session) = &mut self.session {
                    session.workbook_mut().apply(event, context.at, seq);
                }
            }
            Event::Memory(event) => {
                apply_memory(&mut self.memories, event);
                if let Some(session) = &mut self.session {
                    session.note_memory_change(event);
                }
            }
            Event::Auto(event) => {
                if let Some(session) = &mut self.session {
                    session.auto.get_or_insert_default().apply(event, context.at, &context.by, seq);
                }
            }
            Event::Plan { id, event } => {
                if let (Some(session), PlanEvent::Superseded { by }) = (&mut self.session, event) {
                    session.plan_mode.replace_active(id, by, context.at);
                }
                if ends_work {
                    self.forget_client_asks(id);
                }
                if let Some(plan) = self.plans.get_mut(id) {
                    Arc::make_mut(plan).apply(event, context);
                }
            }
        }
    }

    /// What a person was asked about calls beside a plan ends with it.
    fn forget_client_asks(&mut self, plan: &PlanId) {
        let has_some = |session: &CopyOnWrite<Session>| session.client_asks.iter().any(|asked| asked.plan == *plan);
        if let Some(session) = self.session.as_mut().filter(|session| has_some(session)) {
            session.client_asks.retain(|asked| asked.plan != *plan);
        }
    }

    /// An act was signed for this entry. Its signature is not used again.
    fn note_signature(&mut self, context: &CommandContext) {
        let signed = context.by.presence.as_ref().and_then(Presence::signature);
        if let (Some(signed), Some(session)) = (signed, &mut self.session) {
            UsedSignature::note(&mut session.signatures, &signed.nonce, context.at);
        }
    }

    fn apply_session(&mut self, event: &SessionEvent, context: &CommandContext) {
        let identity = || self.identity.clone();
        match event {
            SessionEvent::Opened => self.session = Some(Session::opened(identity(), context.at).into()),
            SessionEvent::PlanCreated { creation } => self.add_plan(Plan::created(creation, identity(), context.at)),
            SessionEvent::PlanImported { number, plan } => self.add_plan(Plan::imported(plan, identity(), *number)),
            // Every other event changes nothing but the session.
            _ => {}
        }
        if let Some(session) = &mut self.session {
            session.apply(event, context.at);
        }
    }

    fn add_plan(&mut self, plan: Plan) {
        self.plans.insert(plan.id.clone(), Arc::new(plan));
    }

    /// Whether the event, which is not applied yet, changes something that a run works on. Its own diary and notes along
    /// the way are no progress.
    fn is_progress(&self, event: &Event) -> bool {
        match event {
            Event::Plan { id, event } => self.plan(id).is_none_or(|plan| plan.is_moved_by(event)),
            _ => event.touches().progress,
        }
    }
}

fn apply_memory(memories: &mut BTreeMap<MemoryId, MemoryRecord>, event: &MemoryEvent) {
    if let Some(item) = event.added() {
        memories.insert(item.id.clone(), MemoryRecord { item: item.clone(), forgotten: false });
    } else if let Some(record) = memories.get_mut(event.memory()) {
        match event {
            MemoryEvent::Forgotten { .. } => record.forgotten = true,
            MemoryEvent::Restored { .. } => record.forgotten = false,
            _ => {}
        }
    }
}

impl Session {
    fn note_memory_change(&mut self, event: &MemoryEvent) {
        let memory = event.memory().clone();
        if let Some(offer) = event.settled_offer() {
            if self.settled_offers.len() == MAX_SETTLED_OFFERS {
                self.settled_offers.remove(0);
            }
            self.settled_offers.push(offer.clone());
        }
        let change = match event {
            MemoryEvent::OfferDeclined { .. } => return,
            MemoryEvent::Saved { .. } => MemoryChange::Saved { memory },
            MemoryEvent::Promoted { .. } => MemoryChange::Promoted { memory },
            MemoryEvent::Forgotten { undo: false, .. } => MemoryChange::Forgotten { memory },
            MemoryEvent::Forgotten { undo: true, .. } | MemoryEvent::Restored { .. } => {
                self.memory_changes.pop();
                return;
            }
        };
        if self.memory_changes.len() == MemoryChange::MAX_CHANGES {
            self.memory_changes.remove(0);
        }
        self.memory_changes.push(change);
    }

    fn apply(&mut self, event: &SessionEvent, at: Timestamp) {
        let mode = &mut self.plan_mode;
        match event {
            SessionEvent::PlanModeEnabled { style, plan } => {
                mode.enabled = true;
                mode.style = *style;
                mode.active_plan = Some(plan.clone());
                mode.updated_at = at;
                // In style collect the plan itself is what is recorded.
                if *style == PlanStyle::Collect {
                    self.round = None;
                }
            }
            SessionEvent::PlanModeDisabled { .. } => {
                mode.enabled = false;
                mode.active_plan = None;
                mode.updated_at = at;
                self.round = None;
            }
            SessionEvent::PlanCreated { creation } => {
                self.plans_made += 1;
                if creation.round.is_some() {
                    self.round = Some(creation.plan.clone());
                }
            }
            SessionEvent::PlanImported { .. } => self.plans_made += 1,
            SessionEvent::Compacted { compaction: compaction @ Compaction { run: Some(run), .. } } => {
                if let Some(auto) = &mut self.auto {
                    auto.compact(run, compaction.reads_from(), compaction.kept_from);
                }
            }
            SessionEvent::Compacted { compaction } => {
                self.history_from = compaction.reads_from();
                self.kept_from = compaction.kept_from;
            }
            SessionEvent::Renamed { title } => self.title.clone_from(title),
            SessionEvent::PlanShown { shown } => self.shown = Some(shown.clone()),
            SessionEvent::WorkspaceChosen { path } => self.workspace = Workspace::at(path.clone()),
            SessionEvent::ClientCallAsked { ask, plan, digest, asked } => {
                self.client_asks.push(ClientAsk::new(ask.clone(), *digest, asked.clone(), plan.clone(), at));
            }
            SessionEvent::ClientCallAnswered { ask, grant, note, .. } => {
                if let Some(asked) = self.client_asks.iter_mut().find(|asked| asked.ask.id == *ask) {
                    asked.ask.take_answer(AskAnswer::permission(*grant, note.clone()));
                }
            }
            SessionEvent::ClientCallTaken { ask, .. } => self.client_asks.retain(|asked| asked.ask.id != *ask),
            SessionEvent::ClientSeen { client, added } => {
                // Entries of earlier versions took the place of those from before the machine's last start.
                if client.place.is_none() && !*added {
                    self.clients.retain(|known| known.place.is_some() || known.machine == client.machine);
                }
                self.clients.push(client.clone());
            }
            SessionEvent::Restored => {
                self.restored_at = Some(at);
                self.granted.clear();
                self.client_asks.clear();
                // A permission that no process used yet is asked for again.
                let turns = self.turn.as_mut().into_iter().flat_map(|turn| {
                    let inner = turn.question.as_mut().and_then(|question| question.ask.as_mut());
                    [turn.ask.as_mut(), inner].into_iter().flatten()
                });
                for ask in turns {
                    if matches!(ask.state, AskState::Answered { answer: AskAnswer::Permission { .. } }) {
                        ask.state = AskState::Waiting;
                    }
                }
            }
            // The entries stay in the journal; the model does not read them any more.
            SessionEvent::ConversationReset { history_from } => {
                self.history_from = *history_from;
                self.kept_from = 0;
                self.turn = None;
                self.shown = None;
                self.topic = None;
            }
            // Comments, changes of files and what was asked are read from the journal.
            _ => {}
        }
    }

    fn apply_turn(&mut self, id: &TurnId, event: &TurnEvent, at: Timestamp) {
        match event {
            TurnEvent::Begun { text, purpose, .. } => {
                let begun = OpenTurn::begun(id.clone(), at, purpose.clone());
                match (purpose, &mut self.turn) {
                    (Purpose::Question { asked_by, .. }, Some(open)) if open.id == *asked_by => {
                        open.question = Some(Box::new(begun));
                    }
                    (Purpose::Question { .. }, _) => {}
                    (Purpose::Answer, _) => {
                        self.turn = Some(begun);
                        self.topic.get_or_insert_with(|| topic(text));
                    }
                    (Purpose::Document { .. } | Purpose::Step { .. } | Purpose::Run(_), _) => self.turn = Some(begun),
                }
            }
            TurnEvent::Resumed => {
                let mut waited = false;
                if let Some(open) = self.open_turn_mut(id) {
                    match &mut open.ask {
                        // No process ended in the middle of it: it waited.
                        Some(ask) if ask.is_answered() => {
                            ask.resume();
                            waited = true;
                        }
                        Some(_) | None => open.resumed += 1,
                    }
                }
                if let Some(tick) = self.tick_mut() {
                    if !waited {
                        tick.interrupt();
                    }
                    tick.resume(at);
                }
            }
            TurnEvent::PermissionAsked { ask, call, digest, asked } => {
                self.ask(id, ask, *call, *digest, AskSubject::Permission(asked.clone()), at);
            }
            TurnEvent::QuestionsAsked { ask, call, digest, questions } => {
                self.ask(id, ask, *call, *digest, AskSubject::Questions { questions: questions.clone() }, at);
            }
            TurnEvent::PermissionAnswered { grant, note, arguments, execution, .. } => {
                let subject = self.open_turn_mut(id).and_then(|open| open.ask.as_ref()).map(|ask| ask.subject.clone());
                if let (Some(execution), Some(AskSubject::Permission(call))) = (execution, subject) {
                    let CallToPermit { tool, arguments, paths, .. } = call;
                    // Those of executions that are over do not matter any more.
                    self.granted.retain(|granted| granted.execution == *execution);
                    self.granted.push(GrantedCall { execution: execution.clone(), tool, arguments, paths });
                }
                let (note, arguments) = (note.clone(), arguments.clone());
                self.take_answer(id, AskAnswer::Permission { grant: *grant, note, arguments });
            }
            TurnEvent::QuestionsAnswered { answers, .. } => {
                self.take_answer(id, AskAnswer::Questions { answers: answers.clone() });
            }
            TurnEvent::ModelReplied { .. } | TurnEvent::ToolEnded { .. } => {
                let Some(input) = event.input() else { return };
                if let Some(open) = self.open_turn_mut(id) {
                    open.apply(&input);
                    if let Some(tick) = self.tick_mut() {
                        tick.apply(&input, at);
                    }
                }
            }
            TurnEvent::Ended { ending } => {
                match &mut self.turn {
                    Some(open) if open.id != *id => open.question = None,
                    Some(_) | None => self.turn = None,
                }
                if ending.shown.is_some() {
                    self.shown.clone_from(&ending.shown);
                }
            }
        }
    }

    fn ask(&mut self, turn: &TurnId, id: &AskId, call: u32, digest: Digest, subject: AskSubject, at: Timestamp) {
        if let Some(tick) = self.tick_mut() {
            tick.wait(at);
        }
        if let Some(open) = self.open_turn_mut(turn) {
            let state = AskState::Waiting;
            open.ask = Some(Ask { id: id.clone(), call, asked_at: at, subject, digest, state });
        }
    }

    fn take_answer(&mut self, turn: &TurnId, answer: AskAnswer) {
        if let Some(ask) = self.open_turn_mut(turn).and_then(|open| open.ask.as_mut()) {
            ask.take_answer(answer);
        }
    }

    fn tick_mut(&mut self) -> Option<&mut TickProgress> {
        self.turn.as_mut()?.tick.as_deref_mut()
    }

    fn open_turn_mut(&mut self, id: &TurnId) -> Option<&mut OpenTurn> {
        self.turn.as_mut()?.named_mut(id)
    }
}

impl PlanModeState {
    /// The plan that replaces the active one becomes active.
    fn replace_active(&mut self, replaced: &PlanId, by: &PlanId, at: Timestamp) {
        if self.active_plan.as_ref() == Some(replaced) {
            self.active_plan = Some(by.clone());
            self.updated_at = at;
        }
    }
}

/// The first line of what was said, short enough for a list.
fn topic(text: &str) -> String {
    const MAX_CHARACTERS: usize = 60;
    let line = text.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

impl Plan {
    fn created(creation: &Creation, session: SessionIdentity, at: Timestamp) -> Self {
        let mut plan = Self::begun(creation.plan.clone(), session, creation.number, creation.style, at);
        plan.round.clone_from(&creation.round);
        if let Some(predecessor) = &creation.succeeds {
            plan.supersedes = Some(predecessor.of.clone());
            plan.title.clone_from(&predecessor.title);
            plan.content = predecessor.content.clone();
            plan.steps_made = predecessor.steps_made;
        }
        plan
    }

    fn imported(imported: &ImportedPlan, session: SessionIdentity, number: u32) -> Self {
        let style = imported.content.style();
        let mut plan = Self::begun(imported.id.clone(), session, number, style, imported.created_at);
        plan.status = imported.status;
        plan.title.clone_from(&imported.title);
        plan.content = imported.content.clone();
        plan.version = u32::from(!plan.content.is_empty());
        plan.steps_made = u32::try_from(plan.content.steps().len()).unwrap_or(u32::MAX);
        plan.execution.clone_from(&imported.execution);
        plan.origin = Some(imported.origin.clone());
        plan.updated_at = imported.updated_at;
        plan
    }

    fn apply(&mut self, event: &PlanEvent, context: &CommandContext) {
        self.status = self.status.after(event);
        match event {
            PlanEvent::ContentSet { markdown, title, .. } => {
                if let PlanContent::Document(document) = &mut self.content {
                    document.markdown.clone_from(markdown);
                }
                self.title.clone_from(title);
                self.version += 1;
                self.incomplete_approval = None;
                self.feedback = None;
            }
            PlanEvent::StepRecorded { step, .. } => {
                if let PlanContent::Collect(collected) = &mut self.content {
                    collected.steps.push(step.clone());
                    self.steps_made += 1;
                }
            }
            PlanEvent::MetadataSet { change, .. } => self.set_metadata(change),
            PlanEvent::StepAdded { index, step, .. } => {
                if let PlanContent::Build(built) = &mut self.content {
                    let index = (*index).min(built.steps.len());
                    built.steps.insert(index, step.clone());
                    self.steps_made += 1;
                }
            }
            PlanEvent::StepUpdated { index, step, .. } => {
                if let PlanContent::Build(built) = &mut self.content {
                    built.steps.retain(|other| other.id != step.id);
                    let index = (*index).min(built.steps.len());
                    built.steps.insert(index, step.clone());
                }
            }
            PlanEvent::StepRemoved { step, .. } => {
                if let PlanContent::Build(built) = &mut self.content {
                    built.steps.retain(|other| other.id != *step);
                }
            }
            PlanEvent::Finalized { summary, .. } => {
                match &mut self.content {
                    PlanContent::Document(_) => {}
                    PlanContent::Collect(collected) => collected.summary.clone_from(summary),
                    PlanContent::Build(built) => built.summary.clone_from(summary),
                }
                self.version += 1;
                self.feedback = None;
            }
            PlanEvent::Approved { approval, .. } => {
                self.approval = Some(approval.clone().into());
                self.incomplete_approval = None;
                self.feedback = None;
            }
            PlanEvent::ApprovalSigned { signed } => self.incomplete_approval = Some(signed.clone().into()),
            PlanEvent::Rejected { reason, .. } => {
                self.incomplete_approval = None;
                self.ending = Some(PlanEnding { by: context.by.clone(), at: context.at, reason: reason.clone() });
            }
            PlanEvent::RevisionRequested { feedback, .. } => {
                self.incomplete_approval = None;
                // What was asked before and has not been answered still stands.
                let earlier = self.feedback.take().map(|earlier| earlier.text + "\n\n").unwrap_or_default();
                self.feedback = Some(Feedback { by: context.by.clone(), at: context.at, text: earlier + feedback });
            }
            PlanEvent::Cancelled { reason, .. } => {
                self.incomplete_approval = None;
                self.ending = Some(PlanEnding { by: context.by.clone(), at: context.at, reason: reason.clone() });
                self.stop_execution(context);
            }
            PlanEvent::Superseded { by, .. } => {
                self.superseded_by = Some(by.clone());
                self.stop_execution(context);
            }
            PlanEvent::ExecutionStarted { execution, .. } => {
                self.execution = Some(execution.clone());
            }
            PlanEvent::ExecutionPaused { idle_turns, after_step, brake, .. } => {
                let (idle_turns, after_step, brake) = (*idle_turns, *after_step, *brake);
                self.set_pause(Some(Pause::Paused { at: context.at, idle_turns, after_step, brake }));
            }
            PlanEvent::ExecutionResumed { .. } => self.set_pause(Some(Pause::Resumed { at: context.at })),
            PlanEvent::StepBegun { step, note, .. } => {
                self.lift_pause();
                if let Some(run) = self.run_mut(step) {
                    run.status = StepStatus::InProgress;
                    run.note.clone_from(note);
                    run.started_at = Some(context.at);
                    run.finished_at = None;
                }
            }
            PlanEvent::StepEnded { step, outcome, permissions, .. } => {
                self.lift_pause();
                if let Some(run) = self.run_mut(step) {
                    if outcome.status == StepStatus::Pending {
                        let known = (run.status == StepStatus::Uncertain).then(|| run.note.take()).flatten();
                        run.tried(known.or_else(|| outcome.note.clone()));
                    }
                    run.status = outcome.status;
                    run.note.clone_from(&outcome.note);
                    run.evidence.clone_from(&outcome.evidence);
                    run.finished_at = outcome.status.is_settled().then_some(context.at);
                    run.permissions = run.permissions + *permissions;
                }
            }
            PlanEvent::PermissionsCounted { step, permissions, .. } => {
                if let Some(run) = self.run_mut(step) {
                    run.permissions = run.permissions + *permissions;
                }
            }
            PlanEvent::ExecutionFinished { .. } => self.stop_execution(context),
        }
        self.updated_at = context.at;
    }

    fn set_metadata(&mut self, change: &MetadataChange) {
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

    /// Whether the event moves the plan forward. The same text again, the same report again and another note do not.
    fn is_moved_by(&self, event: &PlanEvent) -> bool {
        let status = |step: &StepId| Some(self.execution.as_ref()?.step(step)?.status);
        match event {
            PlanEvent::ContentSet { markdown, .. } => match &self.content {
                PlanContent::Document(document) => document.markdown != *markdown,
                PlanContent::Collect(_) | PlanContent::Build(_) => true,
            },
            PlanEvent::StepBegun { step, .. } => status(step) == Some(StepStatus::Pending),
            PlanEvent::StepEnded { step, outcome, .. } => {
                outcome.status.is_settled() && status(step).is_some_and(|before| !before.is_settled())
            }
            PlanEvent::ExecutionPaused { .. } | PlanEvent::PermissionsCounted { .. } => false,
            _ => true,
        }
    }

    fn run_mut(&mut self, step: &StepId) -> Option<&mut StepState> {
        self.execution.as_mut()?.steps.iter_mut().find(|run| run.step == *step)
    }

    fn set_pause(&mut self, pause: Option<Pause>) {
        if let Some(execution) = &mut self.execution {
            execution.pause = pause;
        }
    }

    /// A step that begins or ends lifts a pause. What the system did by itself so far still counts.
    fn lift_pause(&mut self) {
        if let Some(execution) = &mut self.execution {
            execution.pause = execution.pause.and_then(Pause::after_report);
        }
    }

    fn stop_execution(&mut self, context: &CommandContext) {
        let open = |execution: &&mut Execution| execution.finished_at.is_none();
        if let Some(execution) = self.execution.as_mut().filter(open) {
            execution.finished_at = Some(context.at);
            execution.pause = None;
        }
    }
}
