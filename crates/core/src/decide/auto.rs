//! Goals, tasks, the diary and schedules.

use jiff::{SignedDuration, Timestamp};

use crate::actor::ActorKind;
use crate::approval::Risk;
use crate::auto::{
    AutoCommand, AutoEvent, AutoExecutionContext, AutoRun, AutoState, CronLine, Goal, GoalStatus, NewSchedule, RunEnd,
    RunTrigger, Schedule, ScheduleChange, ScheduleStatus, Task, TaskStatus,
};
use crate::decide::Decider;
use crate::decide::run::ended;
use crate::door::ToSign;
use crate::event::Event;
use crate::ids::{GoalId, ScheduleId, TaskId};
use crate::refusal::Refusal;

/// The most goals that are not over, open tasks and schedules of a session.
const MAX_GOALS: usize = 100;
const MAX_TASKS: usize = 400;
const MAX_SCHEDULES: usize = 50;
/// How long a schedule waits that cannot start its run now.
const RETRY_INTERVAL: SignedDuration = SignedDuration::from_mins(15);
/// The most missed windows that are counted.
const MAX_JOINED: u32 = 10_000;

impl Decider<'_> {
    pub(super) fn auto(&self, command: &AutoCommand) -> Result<Vec<Event>, Refusal> {
        self.snapshot.opened()?;
        let events = match command {
            AutoCommand::AddGoal { title } => vec![self.add_goal(title)?],
            AutoCommand::ChangeGoal { goal, status, note } => self.change_goal(goal, *status, note.as_deref())?,
            AutoCommand::AddTask { title, goal } => vec![self.add_task(title, goal.as_ref())?],
            AutoCommand::ChangeTask { task, status, note } => self.change_task(task, *status, note.as_deref())?,
            AutoCommand::WriteDiary { text, run } => vec![self.write_diary(text, run.as_ref())?],
            AutoCommand::AddSchedule(new) => self.add_schedule(new)?,
            AutoCommand::ChangeSchedule { schedule, change } => vec![self.change_schedule(schedule, *change)?],
            AutoCommand::Fire { schedule, window, driver } => self.fire(schedule, *window, driver)?,
            AutoCommand::Start { target, driver } => self.start_run(target, driver)?,
            AutoCommand::Resume { run, driver } => vec![self.resume_run(run, driver)?],
            AutoCommand::Stop { run } => return self.stop_runs(run.as_ref()),
            AutoCommand::Interrupt { run } => return self.interrupt_run(run),
        };
        Ok(events.into_iter().map(Event::Auto).collect())
    }

    pub(super) fn auto_state(&self) -> &AutoState {
        self.snapshot.auto()
    }

    pub(super) fn add_goal(&self, title: &str) -> Result<AutoEvent, Refusal> {
        let title = self.line("goal", title)?;
        let state = self.auto_state();
        if state.goals.iter().filter(|goal| !goal.status.is_final()).count() >= MAX_GOALS {
            return Err(Refusal::limit(format!("A session has at most {MAX_GOALS} goals that are not over.")));
        }
        let goal = GoalId::from(&self.context.request);
        Ok(AutoEvent::GoalAdded { goal, number: state.goals_made + 1, title })
    }

    fn change_goal(&self, goal: &GoalId, status: GoalStatus, note: Option<&str>) -> Result<Vec<AutoEvent>, Refusal> {
        let known = self.known_goal(goal)?;
        let note = note.map(|note| self.line("note", note)).transpose()?;
        if known.status == status && note.is_none() {
            return Ok(Vec::new());
        }
        Ok(vec![AutoEvent::GoalChanged { goal: goal.clone(), status, note }])
    }

    pub(super) fn add_task(&self, title: &str, goal: Option<&GoalId>) -> Result<AutoEvent, Refusal> {
        let title = self.line("task", title)?;
        if let Some(goal) = goal.map(|goal| self.known_goal(goal)).transpose()?
            && goal.status.is_final()
        {
            return Err(Refusal::wrong_status(format!("Goal {} is {}.", goal.number, goal.status)));
        }
        self.new_task(title, goal.cloned())
    }

    pub(super) fn new_task(&self, title: String, goal: Option<GoalId>) -> Result<AutoEvent, Refusal> {
        let state = self.auto_state();
        if state.tasks.iter().filter(|task| task.status == TaskStatus::Open).count() >= MAX_TASKS {
            return Err(Refusal::limit(format!("A session has at most {MAX_TASKS} open tasks.")));
        }
        Ok(AutoEvent::TaskAdded {
            task: TaskId::from(&self.context.request),
            number: state.tasks_made + 1,
            goal,
            title,
        })
    }

    fn change_task(&self, task: &TaskId, status: TaskStatus, note: Option<&str>) -> Result<Vec<AutoEvent>, Refusal> {
        let known = self.known_task(task)?;
        let note = note.map(|note| self.line("note", note)).transpose()?;
        if known.status == status && note.is_none() {
            return Ok(Vec::new());
        }
        Ok(vec![AutoEvent::TaskChanged { task: task.clone(), status, note }])
    }

    fn write_diary(&self, text: &str, run: Option<&AutoExecutionContext>) -> Result<AutoEvent, Refusal> {
        let text = self.line("diary entry", text)?;
        if let Some(run) = run.filter(|run| run.session != self.snapshot.identity) {
            return Err(Refusal::not_found(format!("There is no run {} in this session.", run.run_id)));
        }
        let task = run.map(|run| run.task_id().clone());
        Ok(AutoEvent::DiaryWritten { text, run: run.map(|run| run.run_id.clone()), task })
    }

    fn add_schedule(&self, new: &NewSchedule) -> Result<Vec<AutoEvent>, Refusal> {
        let state = self.auto_state();
        let goal = new.goal.as_ref().and_then(|goal| state.goal(goal)).map(|goal| goal.number);
        self.check_starter("makes schedules", || ToSign::AddSchedule { new, goal })?;
        if state.schedules.len() >= MAX_SCHEDULES {
            return Err(Refusal::limit(format!("A session has at most {MAX_SCHEDULES} schedules.")));
        }
        if new.max_executions == Some(0) {
            return Err(Refusal::invalid("A schedule is executed at least once."));
        }
        let line = CronLine::new(&new.expression, new.zone.as_deref(), self.context.at)?;
        let next_at = line.next_after(self.context.at)?;
        let task = self.add_task(&new.title, new.goal.as_ref())?;
        let added = AutoEvent::ScheduleAdded {
            schedule: ScheduleId::from(&self.context.request),
            number: state.schedules_made + 1,
            task: TaskId::from(&self.context.request),
            line,
            max_executions: new.max_executions,
            next_at,
        };
        Ok(vec![task, added])
    }

    fn change_schedule(&self, schedule: &ScheduleId, change: ScheduleChange) -> Result<AutoEvent, Refusal> {
        let known = self.known_schedule(schedule)?;
        let id = schedule.clone();
        match change {
            ScheduleChange::Pause => {
                self.check_person_for("pauses schedules")?;
                match known.status {
                    ScheduleStatus::Active => Ok(AutoEvent::SchedulePaused { schedule: id }),
                    ScheduleStatus::Paused | ScheduleStatus::Ended => Err(wrong(known)),
                }
            }
            ScheduleChange::Resume => {
                self.check_starter("resumes schedules", || ToSign::ResumeSchedule { number: known.number })?;
                match known.status {
                    ScheduleStatus::Paused => Ok(AutoEvent::ScheduleResumed {
                        schedule: id,
                        next_at: known.line.next_after(self.context.at)?,
                    }),
                    ScheduleStatus::Active | ScheduleStatus::Ended => Err(wrong(known)),
                }
            }
            ScheduleChange::Delete => {
                self.check_person_for("deletes schedules")?;
                Ok(AutoEvent::ScheduleDeleted { schedule: id })
            }
        }
    }

    /// Starts the run of a due schedule. Windows that were missed are joined with it. A run that cannot start now is
    /// tried again later.
    fn fire(&self, schedule: &ScheduleId, window: Timestamp, driver: &str) -> Result<Vec<AutoEvent>, Refusal> {
        self.check_system("starts the runs of schedules")?;
        let known = self.known_schedule(schedule)?;
        let now = self.context.at;
        if known.next_at != Some(window) || window > now {
            return Err(Refusal::conflict(format!("Schedule {} is not due at {window}.", known.number)));
        }
        let next = known.line.next_after(now)?;
        let task = self.known_task(&known.task)?;
        if let Some(reason) = self.cannot_fire(task) {
            let next_at = next.min(now.saturating_add(RETRY_INTERVAL).unwrap_or(next));
            return Ok(vec![AutoEvent::SchedulePostponed {
                schedule: schedule.clone(),
                next_at,
                failed: false,
                reason,
            }]);
        }
        let joined = known.line.count_due(window, now, MAX_JOINED)?;
        let left = known.max_executions.is_none_or(|most| known.executions + 1 < most);
        let next_at = left.then_some(next);
        let mut events = vec![AutoEvent::ScheduleFired { schedule: schedule.clone(), window, joined, next_at }];
        if task.status != TaskStatus::Open {
            events.push(AutoEvent::TaskChanged { task: task.id.clone(), status: TaskStatus::Open, note: None });
        }
        let interrupted = self.interrupted_runs(task);
        events.extend(interrupted.map(|run| ended(run.id(), RunEnd::Failed, Some("its process ended"))));
        let trigger = RunTrigger::Schedule { schedule: schedule.clone() };
        events.push(self.run_started(task.goal.clone(), task.id.clone(), trigger, driver));
        Ok(events)
    }

    fn cannot_fire(&self, task: &Task) -> Option<String> {
        if let Err(refusal) = self.check_nothing_waits() {
            return Some(refusal.message);
        }
        let state = self.auto_state();
        let mut works_on = state.open_runs().filter(|run| *run.context.task_id() == task.id);
        if let Some(run) = works_on.find(|run| !run.is_interrupted()) {
            return Some(format!("Run {} still works on it.", run.number));
        }
        let goal = task.goal.as_ref().and_then(|goal| state.goal(goal));
        if let Some(goal) = goal.filter(|goal| goal.status != GoalStatus::Active) {
            return Some(format!("Goal {} is {}.", goal.number, goal.status));
        }
        if state.open_runs().count() - self.interrupted_runs(task).count() >= self.policy.auto.runs {
            return Some("The session has as many runs as it may have.".to_owned());
        }
        let spent = state.spent_on(self.context.at).reaches(&self.policy.auto.day);
        spent.map(|_| "The budget of the day is spent.".to_owned())
    }

    /// The runs of the task whose process ended. The next run of the task takes their place.
    fn interrupted_runs(&self, task: &Task) -> impl Iterator<Item = &AutoRun> {
        self.auto_state().open_runs().filter(|run| run.is_interrupted() && *run.context.task_id() == task.id)
    }

    pub(super) fn known_goal(&self, goal: &GoalId) -> Result<&Goal, Refusal> {
        self.auto_state().goal(goal).ok_or_else(|| self.not_here("goal", goal.as_str()))
    }

    pub(super) fn known_task(&self, task: &TaskId) -> Result<&Task, Refusal> {
        self.auto_state().task(task).ok_or_else(|| self.not_here("task", task.as_str()))
    }

    fn known_schedule(&self, schedule: &ScheduleId) -> Result<&Schedule, Refusal> {
        self.auto_state().schedule(schedule).ok_or_else(|| self.not_here("schedule", schedule.as_str()))
    }

    pub(super) fn not_here(&self, what: &str, id: &str) -> Refusal {
        self.snapshot.not_here(what, id)
    }

    pub(super) fn check_person_for(&self, does: &str) -> Result<(), Refusal> {
        match self.context.by.kind {
            ActorKind::Person => Ok(()),
            ActorKind::Agent | ActorKind::Policy | ActorKind::System => {
                Err(Refusal::policy_denied(format!("Only a person {does}.")))
            }
        }
    }

    /// What starts work comes from a person who is recognised as well as for an approval.
    pub(super) fn check_starter<'a>(&self, does: &str, act: impl FnOnce() -> ToSign<'a>) -> Result<(), Refusal> {
        self.check_person_for(does)?;
        self.check_signed(&Risk::of_work(), act).map(drop)
    }

    pub(super) fn check_system(&self, does: &str) -> Result<(), Refusal> {
        match self.context.by.kind {
            ActorKind::System => Ok(()),
            ActorKind::Person | ActorKind::Agent | ActorKind::Policy => {
                Err(Refusal::policy_denied(format!("Only Planwright itself {does}.")))
            }
        }
    }
}

fn wrong(schedule: &Schedule) -> Refusal {
    Refusal::wrong_status(format!("Schedule {} is {}.", schedule.number, schedule.status.as_str()))
}
