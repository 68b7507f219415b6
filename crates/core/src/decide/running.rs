//! Carrying a plan out: intent before a step, outcome after it, and an end by what was done.

use crate::command::{Outcome, ProgressReport, RunCommand};
use crate::decide::Case;
use crate::event::Event;
use crate::gate::PlanTool;
use crate::ids::{ExecutionId, PlanId, StepId};
use crate::plan::execution::{Execution, StepRun, StepStatus};
use crate::plan::lifecycle::{Action, Rule};
use crate::plan::{Plan, PlanStatus};
use crate::refusal::Refusal;

impl Case<'_> {
    pub(super) fn run(&self, command: &RunCommand) -> Result<Vec<Event>, Refusal> {
        self.desk.opened()?;
        match command {
            RunCommand::Start { plan } => self.start_execution(self.desk.named(plan)?),
            RunCommand::BeginStep { plan, execution, step } => self.begin_step(plan, execution, step),
            RunCommand::EndStep { plan, execution, step, outcome } => self.end_step(plan, execution, step, outcome),
            RunCommand::Finish { plan, execution } => self.finish(plan, execution),
            RunCommand::Report(report) => self.report(report),
        }
    }

    pub(super) fn start_execution(&self, plan: &Plan) -> Result<Vec<Event>, Refusal> {
        match plan.permits(Action::Execute)? {
            Rule::Becomes(_) => {}
            Rule::Ends | Rule::Stays | Rule::Supersedes | Rule::No => {
                return Err(plan.wrong_status("a second execution cannot begin"));
            }
        }
        let execution = Execution::starting(plan, ExecutionId::from(&self.stamp.request), self.stamp.at);
        // A text whose every step is ticked already leaves nothing to do.
        let end = execution.is_settled().then(|| finished(plan, &execution));
        let mut events = vec![Event::ExecutionStarted { plan: plan.id.clone(), execution }];
        events.extend(end);
        Ok(events)
    }

    fn begin_step(&self, plan: &PlanId, execution: &ExecutionId, step: &StepId) -> Result<Vec<Event>, Refusal> {
        let (running, run) = self.step_of(plan, execution, step)?;
        self.check_needs_done(plan, running, step)?;
        match run.status {
            StepStatus::Pending => Ok(vec![Event::StepBegun {
                plan: plan.clone(),
                execution: execution.clone(),
                step: step.clone(),
                note: None,
            }]),
            StepStatus::InProgress
            | StepStatus::Completed
            | StepStatus::Failed
            | StepStatus::Skipped
            | StepStatus::Uncertain => Err(already(step, run.status)),
        }
    }

    /// A step builds on the outcome of those it needs.
    fn check_needs_done(&self, plan: &PlanId, running: &Execution, step: &StepId) -> Result<(), Refusal> {
        let steps = self.desk.named(plan)?.content.steps();
        let needs = steps.iter().find(|other| other.id == *step).map(|step| step.needs.as_slice()).unwrap_or_default();
        let done = |need: &&StepId| running.run(need).is_some_and(|run| run.status == StepStatus::Completed);
        match needs.iter().find(|need| !done(need)) {
            Some(need) => Err(Refusal::wrong_status(format!("Step {step} needs step {need}, which is not done."))),
            None => Ok(()),
        }
    }

    fn end_step(
        &self,
        plan: &PlanId,
        execution: &ExecutionId,
        step: &StepId,
        outcome: &Outcome,
    ) -> Result<Vec<Event>, Refusal> {
        let (running, run) = self.step_of(plan, execution, step)?;
        self.check_outcome(running, outcome)?;
        let fits = match run.status {
            StepStatus::InProgress => outcome.status != StepStatus::InProgress,
            StepStatus::Pending => matches!(outcome.status, StepStatus::Skipped | StepStatus::Failed),
            StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped | StepStatus::Uncertain => false,
        };
        if !fits {
            return Err(already(step, run.status));
        }
        let (plan, execution, step, outcome) = (plan.clone(), execution.clone(), step.clone(), outcome.clone());
        Ok(vec![Event::StepEnded { plan, execution, step, outcome }])
    }

    fn finish(&self, plan: &PlanId, execution: &ExecutionId) -> Result<Vec<Event>, Refusal> {
        let (plan, running) = self.running(plan, execution)?;
        Ok(vec![finished(plan, running)])
    }

    /// An agent that works from a document says what it did. Its first report begins the execution; the last open
    /// step that is settled ends it.
    fn report(&self, report: &ProgressReport) -> Result<Vec<Event>, Refusal> {
        let plan = self.through_gate(PlanTool::Progress)?;
        let mut events = Vec::new();
        let mut execution = match (&plan.execution, plan.status) {
            (Some(execution), PlanStatus::Executing) => execution.clone(),
            _ => {
                events.extend(self.start_execution(plan)?);
                Execution::starting(plan, ExecutionId::from(&self.stamp.request), self.stamp.at)
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
                "Nobody knows how step {} ended; a person says what to do.",
                index + 1
            )));
        }
        events.push(match report.outcome.status {
            StepStatus::InProgress => Event::StepBegun {
                plan: plan.id.clone(),
                execution: execution.id.clone(),
                step,
                note: report.outcome.note.clone().or_else(|| report.outcome.evidence.clone()),
            },
            StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped => Event::StepEnded {
                plan: plan.id.clone(),
                execution: execution.id.clone(),
                step,
                outcome: report.outcome.clone(),
            },
            StepStatus::Pending | StepStatus::Uncertain => {
                return Err(Refusal::invalid("A step is reported as in_progress, done, failed or skipped."));
            }
        });
        execution.steps[index].status = report.outcome.status;
        if execution.is_settled() {
            events.push(finished(plan, &execution));
        }
        Ok(events)
    }

    /// What is reported is kept with the plan, so it has limits, one by one and altogether.
    fn check_outcome(&self, execution: &Execution, outcome: &Outcome) -> Result<(), Refusal> {
        let texts = || [&outcome.note, &outcome.evidence].into_iter().flatten();
        for text in texts() {
            self.policy.limits.check_line("report", text)?;
        }
        self.policy.limits.check_plan(execution.size() + texts().map(String::len).sum::<usize>())
    }

    fn running(&self, plan: &PlanId, execution: &ExecutionId) -> Result<(&Plan, &Execution), Refusal> {
        let plan = self.desk.named(plan)?;
        match (&plan.execution, plan.status) {
            (Some(running), PlanStatus::Executing) if running.id == *execution => Ok((plan, running)),
            _ => Err(plan.wrong_status("this execution is over")),
        }
    }

    fn step_of(
        &self,
        plan: &PlanId,
        execution: &ExecutionId,
        step: &StepId,
    ) -> Result<(&Execution, &StepRun), Refusal> {
        let (plan, running) = self.running(plan, execution)?;
        let run =
            running.run(step).ok_or_else(|| Refusal::not_found(format!("Plan {} has no step {step}.", plan.number)))?;
        Ok((running, run))
    }
}

fn finished(plan: &Plan, execution: &Execution) -> Event {
    Event::ExecutionFinished { plan: plan.id.clone(), execution: execution.id.clone(), status: execution.result() }
}

fn already(step: &StepId, status: StepStatus) -> Refusal {
    Refusal::wrong_status(format!("Step {step} is {} already.", status.as_str()))
}

/// The step that is named, else the one in progress, else the first one still open.
fn reported_step(execution: &Execution, named: Option<usize>) -> Result<usize, Refusal> {
    let total = execution.steps.len();
    match named {
        Some(position) if (1..=total).contains(&position) => Ok(position - 1),
        Some(position) => {
            Err(Refusal::not_found(format!("There is no step {position}; the plan has steps 1 to {total}.")))
        }
        None => {
            let with = |wanted: fn(StepStatus) -> bool| execution.steps.iter().position(|run| wanted(run.status));
            with(|status| status == StepStatus::InProgress)
                .or_else(|| with(|status| !status.is_settled()))
                .ok_or_else(|| Refusal::wrong_status("Every step is settled already; name the step to report on."))
        }
    }
}
