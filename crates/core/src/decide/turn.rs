//! What is said in a conversation, and the turns it leads to.

use crate::ask::Ask;
use crate::command::{StepOutcome, TurnCommand};
use crate::decide::Decider;
use crate::decide::execution::{files_changed, in_progress, permissions_counted, step_ended};
use crate::decide::step_pause::look_first;
use crate::event::{Event, SessionEvent, TurnEvent};
use crate::ids::TurnId;
use crate::plan::execution::{Execution, PermissionCounts, StepStatus};
use crate::plan::{Plan, PlanStatus, PlanStyle};
use crate::policy::filled;
use crate::refusal::Refusal;
use crate::session::Compaction;
use crate::turn::{OpenTurn, Purpose, ShownPlan, ToolStatus, TurnEnd, TurnEnding, TurnInput};
use crate::workspace::ChangeOrigin;

impl Decider<'_> {
    pub(super) fn turn(&self, command: &TurnCommand) -> Result<Vec<Event>, Refusal> {
        match command {
            TurnCommand::Begin { text, tokens, purpose } => self.begin_turn(text, *tokens, purpose),
            TurnCommand::BeginDocument { text, tokens, plan, seen } => {
                let found = self.snapshot.named(plan)?;
                if found.execution.as_ref().is_some_and(|execution| execution.pause != *seen) {
                    return Err(found.wrong_status("another process has worked on it since"));
                }
                self.begin_turn(text, *tokens, &Purpose::Document { plan: plan.clone() })
            }
            TurnCommand::Resume { turn } => {
                if self.open_turn(turn)?.waiting_ask().is_some() {
                    return Err(Refusal::wrong_status("The turn waits for a person's answer."));
                }
                Ok(vec![Event::of_turn(turn, TurnEvent::Resumed)])
            }
            TurnCommand::Record { turn, inputs, ending } => self.record(turn, inputs, ending.as_ref()),
            TurnCommand::Ask { turn, call, subject } => self.ask(turn, *call, subject),
            TurnCommand::Stop => Ok(self.end_open_turn(self.snapshot.opened()?.turn.as_ref())),
            TurnCommand::Compact(compaction) => self.compact(compaction),
            TurnCommand::Show(shown) => self.show(shown),
        }
    }

    fn begin_turn(&self, text: &str, tokens: u32, purpose: &Purpose) -> Result<Vec<Event>, Refusal> {
        let open = self.snapshot.opened()?.turn.as_ref();
        match (purpose, open) {
            // A specialist does not ask others.
            (Purpose::Question { asked_by, .. }, Some(open))
                if open.id == *asked_by && open.question.is_none() && !open.purpose.is_part() => {}
            (Purpose::Question { .. }, _) => {
                return Err(Refusal::conflict(
                    "The turn that asked this question does not wait for an answer any more.",
                ));
            }
            (Purpose::Answer | Purpose::Document { .. } | Purpose::Step { .. } | Purpose::Run(_), Some(open))
                if open.waiting_ask().is_some() =>
            {
                return Err(Refusal::wrong_status(
                    "The agent waits for your answer to what it asked; `/stop` ends its turn without one.",
                ));
            }
            (Purpose::Answer | Purpose::Document { .. } | Purpose::Step { .. } | Purpose::Run(_), Some(_)) => {
                return Err(Refusal::conflict("A turn is already running in this session; `/stop` ends it."));
            }
            (Purpose::Answer, None) => {
                filled("message", text)?;
                self.policy.limits.check_message(text)?;
            }
            (Purpose::Run(context), None) => self.check_tick(context)?,
            (Purpose::Document { plan }, None) => {
                self.check_executing(plan)?;
                self.check_brake(plan)?;
                self.check_looked_at(plan)?;
            }
            (Purpose::Step { plan, execution, step, agent }, None) => {
                self.policy.agents.assignable(agent)?;
                let (plan, running) = self.running(plan, execution)?;
                let given = running.step(step).is_some_and(|run| run.status == StepStatus::InProgress);
                if !given || plan.style() != PlanStyle::Build {
                    return Err(plan.wrong_status("this step is not the one to do"));
                }
            }
        }
        let turn = TurnId::from(&self.context.request);
        Ok(vec![Event::Turn {
            id: turn,
            event: TurnEvent::Begun { text: text.to_owned(), tokens, purpose: purpose.clone() },
        }])
    }

    /// Only the active document is worked on in the conversation.
    fn check_executing(&self, plan: &crate::ids::PlanId) -> Result<(), Refusal> {
        let plan = self.snapshot.named(plan)?;
        let active = self.snapshot.active().is_some_and(|active| active.id == plan.id);
        if active && plan.status == PlanStatus::Executing && plan.style() == PlanStyle::Document {
            Ok(())
        } else {
            Err(plan.wrong_status("it is not being carried out"))
        }
    }

    /// The system begins only so many turns for a document by itself.
    fn check_brake(&self, plan: &crate::ids::PlanId) -> Result<(), Refusal> {
        let plan = self.snapshot.named(plan)?;
        match plan.execution.as_ref().and_then(|execution| self.policy.brakes(execution)) {
            Some(brake) => Err(Refusal::limit(format!("Plan {} is paused: {brake}.", plan.number))),
            None => Ok(()),
        }
    }

    /// No turn begins for a document while a person looks at the step that ended.
    fn check_looked_at(&self, plan: &crate::ids::PlanId) -> Result<(), Refusal> {
        let plan = self.snapshot.named(plan)?;
        match plan.execution.as_ref().and_then(Execution::step_pause) {
            Some(pause) => Err(look_first(plan, pause.step)),
            None => Ok(()),
        }
    }

    pub(super) fn open_turn(&self, turn: &TurnId) -> Result<&OpenTurn, Refusal> {
        let open = self.snapshot.opened()?.turn.as_ref().and_then(|open| open.named(turn));
        open.ok_or_else(|| Refusal::wrong_status("This turn has ended."))
    }

    fn record(&self, turn: &TurnId, inputs: &[TurnInput], ending: Option<&TurnEnding>) -> Result<Vec<Event>, Refusal> {
        let mut open = self.open_turn(turn)?.clone();
        let mut events = Vec::with_capacity(inputs.len() + 1);
        for input in inputs {
            match input {
                TurnInput::Replied { .. } if open.ended < open.calls => {
                    return Err(Refusal::conflict("Calls of the last reply have no outcome yet."));
                }
                TurnInput::ToolEnded { call, .. } if *call != open.ended + 1 || *call > open.calls => {
                    return Err(Refusal::conflict(format!("Call {call} is not the one that is to be carried out.")));
                }
                TurnInput::Replied { .. } | TurnInput::ToolEnded { .. } => {}
            }
            if open.ask.as_ref().is_some_and(Ask::is_waiting) {
                return Err(Refusal::conflict("The turn waits for a person's answer."));
            }
            events.extend(question_left(&mut open));
            open.apply(input);
            events.push(Event::of_turn(turn, input.clone().into()));
            events.extend(self.files_changed_by(&open, input));
            events.extend(self.permissions_of(&open, input));
            events.extend(self.doubted(&open, input));
        }
        if let Some(ending) = ending {
            events.extend(question_left(&mut open));
            events.extend(self.step_left(&open, ending, inputs.last()));
            events.push(Event::of_turn(turn, TurnEvent::Ended { ending: ending.clone() }));
        }
        Ok(events)
    }

    fn files_changed_by(&self, open: &OpenTurn, input: &TurnInput) -> Option<Event> {
        let TurnInput::ToolEnded { call, changes, .. } = input else { return None };
        files_changed(|| self.change_origin(open, *call), changes)
    }

    fn permissions_of(&self, open: &OpenTurn, input: &TurnInput) -> Option<Event> {
        let TurnInput::ToolEnded { permissions, .. } = input else { return None };
        self.counted(open, *permissions)
    }

    /// Counts a call of the turn with the step of the plan that the turn carries out. An approved plan covers nothing
    /// in other turns, so their calls are not counted.
    pub(super) fn counted(&self, open: &OpenTurn, permissions: PermissionCounts) -> Option<Event> {
        let (plan, step) = match &open.purpose {
            Purpose::Step { plan, step, .. } => (plan, Some(step)),
            Purpose::Document { plan } => (plan, None),
            Purpose::Answer | Purpose::Question { .. } | Purpose::Run(_) => return None,
        };
        let plan = self.snapshot.plan(plan).filter(|plan| plan.status == PlanStatus::Executing)?;
        permissions_counted(plan, plan.execution.as_ref()?, step, permissions)
    }

    /// The call of a turn, and the plan and the step that the turn carries out.
    fn change_origin(&self, open: &OpenTurn, call: u32) -> ChangeOrigin {
        let mut origin = ChangeOrigin { in_turn: Some(open.id.clone()), call: Some(call), ..ChangeOrigin::default() };
        match &open.purpose {
            Purpose::Step { plan, execution, step, .. } => {
                origin.plan = Some(plan.clone());
                origin.execution = Some(execution.clone());
                origin.step = Some(step.clone());
            }
            Purpose::Document { plan } => {
                origin.plan = Some(plan.clone());
                self.snapshot.plan(plan).inspect(|plan| worked_on(&mut origin, plan));
            }
            // A person may say something while a document is carried out, and the agent continues with it.
            Purpose::Answer | Purpose::Run(_) => {
                let executing = self.snapshot.active().filter(|plan| plan.status == PlanStatus::Executing);
                executing.inspect(|plan| worked_on(&mut origin, plan));
            }
            Purpose::Question { .. } => {}
        }
        origin
    }

    /// Marks the document's current step as uncertain when a call of the turn has an unknown result. A person decides.
    fn doubted(&self, open: &OpenTurn, input: &TurnInput) -> Option<Event> {
        let TurnInput::ToolEnded { outcome, .. } = input else { return None };
        if outcome.status != ToolStatus::Uncertain || open.purpose.is_part() {
            return None;
        }
        let plan = self.snapshot.active().filter(|plan| plan.status == PlanStatus::Executing)?;
        let execution = plan.execution.as_ref()?;
        let step = in_progress(execution)?.step.clone();
        let outcome = StepOutcome { status: StepStatus::Uncertain, note: Some(outcome.text.clone()), evidence: None };
        Some(step_ended(plan, execution, &step, outcome))
    }

    /// The step that the turn was for, if the turn ends without a word about it.
    fn step_left(&self, open: &OpenTurn, ending: &TurnEnding, last: Option<&TurnInput>) -> Option<Event> {
        let Purpose::Step { plan, execution, step, agent } = &open.purpose else { return None };
        let (plan, running) = self.running(plan, execution).ok()?;
        running.step(step).filter(|run| run.status == StepStatus::InProgress)?;
        let (status, note) = match &ending.end {
            _ if open.uncertain => (StepStatus::Uncertain, "it is not known whether its last call was carried out"),
            TurnEnd::Stopped => (StepStatus::Pending, "stopped in the middle"),
            TurnEnd::Interrupted => (StepStatus::Uncertain, "interrupted too often to be ended"),
            TurnEnd::Answered | TurnEnd::PlanReady { .. } | TurnEnd::NothingPlanned { .. } => {
                (StepStatus::Failed, "it did not say how the step ended")
            }
            TurnEnd::LimitReached { .. } | TurnEnd::Looping | TurnEnd::NoAnswer | TurnEnd::ModelFailed { .. } => {
                (StepStatus::Failed, "it did not come to its end")
            }
        };
        let last_text = match (&ending.end, last) {
            // What it said instead of a report.
            (TurnEnd::Answered, Some(TurnInput::Replied { reply, .. })) => reply.text.trim(),
            _ => ending.text.trim(),
        };
        let most = self.policy.limits.line_bytes / 2;
        let last_text = &last_text[..last_text.floor_char_boundary(most)];
        let note =
            if last_text.is_empty() { format!("{agent}: {note}") } else { format!("{agent}: {note}. {last_text}") };
        let outcome = StepOutcome { status, note: Some(note), evidence: None };
        Some(step_ended(plan, running, step, outcome))
    }

    /// Ends the open turn, the question it waits for and the step it does.
    pub(super) fn end_open_turn(&self, open: Option<&OpenTurn>) -> Vec<Event> {
        open.map_or_else(Vec::new, |open| self.end_open_turn_with(open, &TurnEnd::Stopped.into()))
    }

    pub(super) fn end_open_turn_with(&self, open: &OpenTurn, ending: &TurnEnding) -> Vec<Event> {
        // Another process may be in the middle of one of its calls.
        let in_a_call = open.ended < open.calls && open.waiting_ask().is_none();
        let open = &OpenTurn { uncertain: open.uncertain || in_a_call, ..open.clone() };
        let ended = |open: &OpenTurn| Event::of_turn(&open.id, TurnEvent::Ended { ending: ending.clone() });
        let question = open.question.as_deref().map(ended);
        question.into_iter().chain(self.step_left(open, ending, None)).chain([ended(open)]).collect()
    }

    fn compact(&self, compaction: &Compaction) -> Result<Vec<Event>, Refusal> {
        let session = self.snapshot.opened()?;
        filled("summary", &compaction.summary)?;
        let (history_from, kept_from) = match &compaction.run {
            Some(run) => {
                let run = self.known_run(run)?;
                (run.history_from, run.kept_from)
            }
            None => (session.history_from, session.kept_from),
        };
        let late = compaction.kept_from <= history_from || compaction.kept_from < kept_from;
        if late || compaction.reads_from() < history_from {
            return Err(Refusal::conflict("The conversation was compacted further already."));
        }
        Ok(vec![Event::Session(SessionEvent::Compacted { compaction: compaction.clone() })])
    }

    fn show(&self, shown: &ShownPlan) -> Result<Vec<Event>, Refusal> {
        let session = self.snapshot.opened()?;
        self.snapshot.named(&shown.plan)?;
        Ok(if session.shown.as_ref() == Some(shown) {
            Vec::new()
        } else {
            vec![Event::Session(SessionEvent::PlanShown { shown: shown.clone() })]
        })
    }
}

fn worked_on(origin: &mut ChangeOrigin, plan: &Plan) {
    origin.plan = Some(plan.id.clone());
    origin.execution = plan.execution.as_ref().map(|execution| execution.id.clone());
    origin.step = plan.execution.as_ref().and_then(in_progress).map(|run| run.step.clone());
}

/// A turn that continues or ends does not wait for its question any more.
fn question_left(open: &mut OpenTurn) -> Option<Event> {
    let question = open.question.take()?;
    Some(Event::Turn { id: question.id, event: TurnEvent::Ended { ending: TurnEnding::from(TurnEnd::Interrupted) } })
}
