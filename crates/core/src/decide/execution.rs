//! Carrying a plan out: intent before a step, outcome after it, and an end by what was done.

use std::collections::BTreeMap;

use crate::command::{EndedStep, ExecutionCommand, ProgressReport, StepOutcome};
use crate::decide::Decider;
use crate::decide::resume::skipped;
use crate::decide::step_pause::{check_released, is_step_by_step, look_first};
use crate::event::{Event, PlanEvent, SessionEvent};
use crate::gate::PlanTool;
use crate::ids::{ExecutionId, PlanId, StepId};
use crate::plan::execution::{Brake, Execution, PermissionCounts, StepPause, StepState, StepStatus};
use crate::plan::lifecycle::{Action, Rule};
use crate::plan::{Plan, PlanStatus};
use crate::refusal::Refusal;
use crate::workspace::{CallChanges, ChangeOrigin};

impl Decider<'_> {
    pub(super) fn execution(&self, command: &ExecutionCommand) -> Result<Vec<Event>, Refusal> {
        self.snapshot.opened()?;
        match command {
            ExecutionCommand::Start { plan } => {
                let plan = self.snapshot.named(plan)?;
                self.check_approved_here(plan)?;
                self.start_execution(plan)
            }
            ExecutionCommand::Advance { plan, execution, ended, begun } => self.advance(plan, execution, ended, begun),
            ExecutionCommand::Finish { plan, execution, ended } => self.finish(plan, execution, ended),
            ExecutionCommand::Pause { plan, execution } => {
                let (plan, running) = self.running(plan, execution)?;
                Ok(if running.paused_since().is_some() {
                    Vec::new()
                } else {
                    vec![paused(plan, running, PauseCounts::kept(running), None)]
                })
            }
            ExecutionCommand::Report(report) => self.report(report),
            ExecutionCommand::ReportOnStep { plan, execution, step, report } => {
                self.report_on_step(plan, execution, step, report)
            }
        }
    }

    pub(super) fn start_execution(&self, plan: &Plan) -> Result<Vec<Event>, Refusal> {
        match plan.permits(Action::Execute)? {
            Rule::Becomes(_) => {}
            Rule::Ends | Rule::Stays | Rule::Supersedes | Rule::Redrafts | Rule::No => {
                return Err(plan.wrong_status("a second execution cannot begin"));
            }
        }
        self.check_approved(plan)?;
        Ok(self.started(plan, self.execution_of(plan)))
    }

    pub(super) fn check_approved(&self, plan: &Plan) -> Result<(), Refusal> {
        plan.check_approved(&self.policy.approval, &self.policy.approvers, self.context.at)
    }

    /// What was approved before it was imported or restored is history: only a person begins or continues it here.
    fn check_approved_here(&self, plan: &Plan) -> Result<(), Refusal> {
        let is_imported = plan.approval.is_none() && plan.origin.is_some() && plan.status != PlanStatus::Executing;
        let why = match (is_imported, self.snapshot.opened()?.is_history(plan)) {
            (false, false) => return Ok(()),
            (true, _) => "imported",
            (false, true) => "restored from an archive",
        };
        Err(Refusal::policy_denied(format!(
            "Plan {} was {why}, and no person approved it here; a person begins it with `resume`.",
            plan.number
        )))
    }

    pub(super) fn execution_of(&self, plan: &Plan) -> Execution {
        Execution::starting(plan, ExecutionId::from(&self.context.request), self.context.at)
    }

    pub(super) fn started(&self, plan: &Plan, execution: Execution) -> Vec<Event> {
        // A text whose every step is ticked already leaves nothing to do.
        let end = execution.is_settled().then(|| finished(plan, &execution));
        let mut events = vec![Event::of_plan(&plan.id, PlanEvent::ExecutionStarted { execution })];
        events.extend(end);
        events
    }

    fn advance(
        &self,
        plan: &PlanId,
        execution: &ExecutionId,
        ended: &[EndedStep],
        begun: &[StepId],
    ) -> Result<Vec<Event>, Refusal> {
        let (plan, running) = self.running(plan, execution)?;
        let mut ahead = PendingChanges::of(running);
        let mut events = Vec::with_capacity(ended.len() + begun.len());
        for ended in ended {
            let event = self.end_step(plan, &ahead, ended)?;
            ahead.moved.insert(&ended.step, ended.outcome.status);
            events.push(event);
            let origin = || ChangeOrigin {
                plan: Some(plan.id.clone()),
                execution: Some(execution.clone()),
                step: Some(ended.step.clone()),
                in_turn: None,
                call: None,
            };
            events.extend(files_changed(origin, &ended.changes));
        }
        for step in begun {
            let event = self.begin_step(plan, &ahead, step)?;
            ahead.moved.insert(step, StepStatus::InProgress);
            events.push(event);
        }
        Ok(events)
    }

    fn begin_step(&self, plan: &Plan, ahead: &PendingChanges<'_>, step: &StepId) -> Result<Event, Refusal> {
        self.check_approved_here(plan)?;
        let status = ahead.status(plan, step)?;
        check_needs_done(plan, ahead, step)?;
        ahead.check_released(plan, step)?;
        match status {
            StepStatus::Pending => Ok(Event::of_plan(
                &plan.id,
                PlanEvent::StepBegun { execution: ahead.running.id.clone(), step: step.clone(), note: None },
            )),
            StepStatus::InProgress
            | StepStatus::Completed
            | StepStatus::Failed
            | StepStatus::Skipped
            | StepStatus::Uncertain => Err(already(step, status)),
        }
    }

    fn end_step(&self, plan: &Plan, ahead: &PendingChanges<'_>, ended: &EndedStep) -> Result<Event, Refusal> {
        let EndedStep { step, outcome, changes: _, permissions } = ended;
        let status = ahead.status(plan, step)?;
        // What was done is written down, however much it is altogether: it must not be done again for want of room.
        self.check_texts(outcome)?;
        let fits = match status {
            StepStatus::InProgress => outcome.status != StepStatus::InProgress,
            StepStatus::Pending => matches!(outcome.status, StepStatus::Skipped | StepStatus::Failed),
            StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped | StepStatus::Uncertain => false,
        };
        if !fits {
            return Err(already(step, status));
        }
        if status == StepStatus::Pending {
            ahead.check_released(plan, step)?;
        }
        let (execution, step) = (ahead.running.id.clone(), step.clone());
        let (outcome, permissions) = (outcome.clone(), *permissions);
        Ok(Event::of_plan(&plan.id, PlanEvent::StepEnded { execution, step, outcome, permissions }))
    }

    fn finish(&self, plan: &PlanId, execution: &ExecutionId, ended: &[EndedStep]) -> Result<Vec<Event>, Refusal> {
        let mut events = self.advance(plan, execution, ended, &[])?;
        let (plan, running) = self.running(plan, execution)?;
        events.push(finished(plan, &with_outcomes(running, &events)));
        Ok(events)
    }

    /// A specialist says how far it is with the step it was given, and with no other.
    fn report_on_step(
        &self,
        plan: &PlanId,
        execution: &ExecutionId,
        step: &StepId,
        report: &ProgressReport,
    ) -> Result<Vec<Event>, Refusal> {
        let (plan, running) = self.running(plan, execution)?;
        let own = running.steps.iter().position(|state| state.step == *step).map(|index| index + 1);
        if report.step.is_some() && report.step != own {
            return Err(Refusal::policy_denied("Only the step that was given is reported on here."));
        }
        let status = PendingChanges::of(running).status(plan, step)?;
        self.check_outcome(running, &report.outcome)?;
        if status != StepStatus::InProgress {
            return Err(already(step, status));
        }
        match report.outcome.status {
            StepStatus::InProgress => Ok(vec![Event::of_plan(
                &plan.id,
                PlanEvent::StepBegun {
                    execution: execution.clone(),
                    step: step.clone(),
                    note: report.outcome.note.clone().or_else(|| report.outcome.evidence.clone()),
                },
            )]),
            StepStatus::Completed | StepStatus::Failed => {
                Ok(vec![step_ended(plan, running, step, report.outcome.clone())])
            }
            StepStatus::Skipped => Ok(skipped(plan, running, step, report.outcome.clone())),
            StepStatus::Pending | StepStatus::Uncertain => Err(not_reported()),
        }
    }

    /// An agent that works from a document says what it did. Its first report begins the execution; the last open
    /// step that is settled ends it.
    fn report(&self, report: &ProgressReport) -> Result<Vec<Event>, Refusal> {
        self.report_on(self.through_gate(PlanTool::Progress)?, report)
    }

    pub(super) fn report_on(&self, plan: &Plan, report: &ProgressReport) -> Result<Vec<Event>, Refusal> {
        self.check_approved_here(plan)?;
        let mut events = Vec::new();
        let mut execution = match (&plan.execution, plan.status) {
            (Some(execution), PlanStatus::Executing) => execution.clone(),
            _ => {
                events.extend(self.start_execution(plan)?);
                self.execution_of(plan)
            }
        };
        self.check_outcome(&execution, &report.outcome)?;
        if execution.is_settled() {
            return Ok(events);
        }
        let index = reported_step(&execution, report.step)?;
        let step = execution.steps[index].step.clone();
        if execution.steps[index].status == StepStatus::Uncertain {
            return Err(Refusal::wrong_status(format!(
                "The result of step {} is unknown; a person decides how to continue.",
                index + 1
            )));
        }
        let corrects = execution.steps[index].status.is_settled() && report.outcome.status.is_settled();
        if !corrects {
            let others = (1..).zip(&execution.steps).filter(|(position, _)| *position != index + 1);
            check_released(plan, &execution, others.map(|(position, state)| (position, state.status)))?;
        }
        let Some(outcome) = told_again(&execution.steps[index], &report.outcome) else { return Ok(events) };
        events.push(match report.outcome.status {
            StepStatus::InProgress => Event::of_plan(
                &plan.id,
                PlanEvent::StepBegun {
                    execution: execution.id.clone(),
                    step,
                    note: report.outcome.note.clone().or_else(|| report.outcome.evidence.clone()),
                },
            ),
            StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped => {
                step_ended(plan, &execution, &step, outcome)
            }
            StepStatus::Pending | StepStatus::Uncertain => return Err(not_reported()),
        });
        execution.steps[index].status = report.outcome.status;
        if execution.is_settled() {
            events.push(finished(plan, &execution));
        }
        Ok(events)
    }

    /// What is reported is kept with the plan, so it has limits, one by one and altogether.
    fn check_outcome(&self, execution: &Execution, outcome: &StepOutcome) -> Result<(), Refusal> {
        self.check_texts(outcome)?;
        self.policy.limits.check_plan(execution.size() + texts(outcome).map(String::len).sum::<usize>())
    }

    fn check_texts(&self, outcome: &StepOutcome) -> Result<(), Refusal> {
        texts(outcome).try_for_each(|text| self.policy.limits.check_line("report", text))
    }

    pub(super) fn running(&self, plan: &PlanId, execution: &ExecutionId) -> Result<(&Plan, &Execution), Refusal> {
        let plan = self.snapshot.named(plan)?;
        match (&plan.execution, plan.status) {
            (Some(running), PlanStatus::Executing) if running.id == *execution => Ok((plan, running)),
            _ => Err(plan.wrong_status("this execution is over")),
        }
    }
}

/// What a report adds. A step that is done keeps the note and the evidence of the first report; `None` if nothing is new.
fn told_again(state: &StepState, outcome: &StepOutcome) -> Option<StepOutcome> {
    if state.status != StepStatus::Completed || outcome.status != StepStatus::Completed {
        return Some(outcome.clone());
    }
    let first = |kept: &Option<String>, told: &Option<String>| kept.clone().or_else(|| told.clone());
    let (note, evidence) = (first(&state.note, &outcome.note), first(&state.evidence, &outcome.evidence));
    let is_new = (&note, &evidence) != (&state.note, &state.evidence);
    is_new.then_some(StepOutcome { status: outcome.status, note, evidence })
}

fn texts(outcome: &StepOutcome) -> impl Iterator<Item = &String> {
    [&outcome.note, &outcome.evidence].into_iter().flatten()
}

/// An execution, and what a command has done to it so far.
pub(super) struct PendingChanges<'a> {
    running: &'a Execution,
    moved: BTreeMap<&'a StepId, StepStatus>,
}

impl<'a> PendingChanges<'a> {
    pub(super) fn of(running: &'a Execution) -> Self {
        Self { running, moved: BTreeMap::new() }
    }

    fn status(&self, plan: &Plan, step: &StepId) -> Result<StepStatus, Refusal> {
        let found = self.moved.get(step).copied().or_else(|| Some(self.running.step(step)?.status));
        found.ok_or_else(|| Refusal::not_found(format!("Plan {} has no step {step}.", plan.number)))
    }

    /// Refuses a step that begins before a person has looked at the one that ended.
    fn check_released(&self, plan: &Plan, step: &StepId) -> Result<(), Refusal> {
        let position = |step: &StepId| self.running.steps.iter().position(|state| state.step == *step).unwrap_or(0) + 1;
        let ended = self.moved.iter().find(|(_, status)| status.is_settled());
        if let Some((ended, _)) = ended.filter(|_| is_step_by_step(plan)) {
            return Err(look_first(plan, position(ended)));
        }
        let others = (1..).zip(&self.running.steps).filter(|(_, state)| state.step != *step);
        let now = |state: &StepState| self.moved.get(&state.step).copied().unwrap_or(state.status);
        check_released(plan, self.running, others.map(|(position, state)| (position, now(state))))
    }
}

/// A step builds on the outcome of those it needs.
pub(super) fn check_needs_done(plan: &Plan, ahead: &PendingChanges<'_>, step: &StepId) -> Result<(), Refusal> {
    let undone = |need: &&StepId| ahead.status(plan, need).is_ok_and(|status| status != StepStatus::Completed);
    match plan.content.needs(step).iter().find(undone) {
        Some(need) => Err(Refusal::wrong_status(format!("Step {step} needs step {need}, which is not done."))),
        None => Ok(()),
    }
}

/// What a pause says about the turns that the system began by itself.
pub(super) struct PauseCounts {
    pub(super) idle_turns: u32,
    pub(super) brake: Option<Brake>,
}

impl PauseCounts {
    /// A pause that no turn of the system led to: a person comes next.
    pub(super) fn kept(execution: &Execution) -> Self {
        Self { idle_turns: 0, brake: execution.brake() }
    }
}

pub(super) fn paused(plan: &Plan, execution: &Execution, counts: PauseCounts, after_step: Option<StepPause>) -> Event {
    let PauseCounts { idle_turns, brake } = counts;
    let execution = execution.id.clone();
    Event::of_plan(&plan.id, PlanEvent::ExecutionPaused { execution, idle_turns, after_step, brake })
}

pub(super) fn finished(plan: &Plan, execution: &Execution) -> Event {
    Event::of_plan(
        &plan.id,
        PlanEvent::ExecutionFinished { execution: execution.id.clone(), status: execution.result() },
    )
}

/// The execution with the outcomes of its steps that these events say.
pub(super) fn with_outcomes(execution: &Execution, events: &[Event]) -> Execution {
    let mut after = execution.clone();
    for event in events {
        let Event::Plan { event: PlanEvent::StepEnded { step, outcome, .. }, .. } = event else { continue };
        after.steps.iter_mut().filter(|state| state.step == *step).for_each(|state| state.status = outcome.status);
    }
    after
}

pub(super) fn step_ended(plan: &Plan, execution: &Execution, step: &StepId, outcome: StepOutcome) -> Event {
    let (execution, step, permissions) = (execution.id.clone(), step.clone(), PermissionCounts::default());
    Event::of_plan(&plan.id, PlanEvent::StepEnded { execution, step, outcome, permissions })
}

/// Counts how a call was permitted that was made for a plan. A call that is made before any step of a document is in
/// progress counts for the first open step, else for the last one.
pub(super) fn permissions_counted(
    plan: &Plan,
    execution: &Execution,
    step: Option<&StepId>,
    permissions: PermissionCounts,
) -> Option<Event> {
    let open = || execution.steps.iter().find(|state| !state.status.is_settled());
    let any = || in_progress(execution).or_else(open).or(execution.steps.last()).map(|state| &state.step);
    let step = step.or_else(any).filter(|_| !permissions.is_zero())?.clone();
    let execution = execution.id.clone();
    Some(Event::of_plan(&plan.id, PlanEvent::PermissionsCounted { execution, step, permissions }))
}

/// What a call did to files, if it did anything.
pub(super) fn files_changed(origin: impl FnOnce() -> ChangeOrigin, changes: &CallChanges) -> Option<Event> {
    let changed = || SessionEvent::FilesChanged { origin: origin(), call_changes: changes.clone() };
    (!changes.is_empty()).then(|| Event::Session(changed()))
}

/// The step that is in progress, if one is.
pub(super) fn in_progress(execution: &Execution) -> Option<&StepState> {
    execution.steps.iter().find(|state| state.status == StepStatus::InProgress)
}

fn already(step: &StepId, status: StepStatus) -> Refusal {
    Refusal::wrong_status(format!("Step {step} is {} already.", status.as_str()))
}

fn not_reported() -> Refusal {
    Refusal::invalid("A step is reported as in_progress, done, failed or skipped.")
}

/// The step that is named, else the one in progress, else the first one still open.
pub(super) fn reported_step(execution: &Execution, named: Option<usize>) -> Result<usize, Refusal> {
    let total = execution.steps.len();
    match named {
        Some(position) if (1..=total).contains(&position) => Ok(position - 1),
        Some(position) => {
            Err(Refusal::not_found(format!("There is no step {position}; the plan has steps 1 to {total}.")))
        }
        None => {
            let with = |wanted: fn(StepStatus) -> bool| execution.steps.iter().position(|state| wanted(state.status));
            with(|status| status == StepStatus::InProgress)
                .or_else(|| with(|status| !status.is_settled()))
                .ok_or_else(|| Refusal::wrong_status("Every step is settled already; name the step to report on."))
        }
    }
}
