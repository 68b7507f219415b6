//! What a session has of goals, tasks, diary, schedules and runs, and what each event does to it.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::command::StartTarget;
use super::context::AutoExecutionContext;
use super::event::AutoEvent;
use super::goal::{DiaryEntry, Goal, GoalStatus, Task, TaskStatus};
use super::run::{AutoRun, BudgetSpan, RunEnd, RunPause, RunState, RunTrigger, Spend, TickResult};
use super::schedule::{Schedule, ScheduleStatus};
use crate::actor::Actor;
use crate::ids::{GoalId, RunId, ScheduleId, TaskId};
use crate::refusal::Refusal;
use crate::visible::quoted;

/// How many entries of the diary and how many runs that are over are at hand. The journal has all of them.
const DIARY: usize = 50;
const ENDED_RUNS: usize = 20;
/// A piece of an id names something from this length on.
const MIN_PIECE: usize = 6;

/// The most goals and tasks that are at hand; the oldest that are over go first.
const GOALS: usize = 200;
const TASKS: usize = 800;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoState {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goals: Vec<Goal>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Task>,
    /// The last entries, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diary: Vec<DiaryEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<Schedule>,
    /// Every run that is not over, and the last ones that are, in the order they were started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<AutoRun>,
    #[serde(default)]
    pub goals_made: u32,
    #[serde(default)]
    pub tasks_made: u32,
    #[serde(default)]
    pub schedules_made: u32,
    #[serde(default)]
    pub runs_made: u32,
    /// What runs spent today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<DaySpend>,
}

/// What the runs of a session spent in one day, by UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaySpend {
    pub day: Date,
    pub spent: Spend,
}

pub(crate) fn day_of(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

impl AutoState {
    /// The state of a session that has nothing of it.
    pub(crate) const EMPTY: Self = Self {
        goals: Vec::new(),
        tasks: Vec::new(),
        diary: Vec::new(),
        schedules: Vec::new(),
        runs: Vec::new(),
        goals_made: 0,
        tasks_made: 0,
        schedules_made: 0,
        runs_made: 0,
        today: None,
    };

    pub fn goal(&self, id: &GoalId) -> Option<&Goal> {
        self.goals.iter().find(|goal| goal.id == *id)
    }

    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == *id)
    }

    pub fn schedule(&self, id: &ScheduleId) -> Option<&Schedule> {
        self.schedules.iter().find(|schedule| schedule.id == *id)
    }

    pub fn run(&self, id: &RunId) -> Option<&AutoRun> {
        self.runs.iter().find(|run| run.id() == id)
    }

    pub fn open_runs(&self) -> impl Iterator<Item = &AutoRun> {
        self.runs.iter().filter(|run| run.is_open())
    }

    /// The goal that a person names by its number, its id or a unique piece of it, or its title.
    pub fn find_goal(&self, reference: &str) -> Result<&Goal, Refusal> {
        find("goal", reference, &self.goals, |goal| (goal.number, goal.id.as_str(), &goal.title))
    }

    pub fn find_task(&self, reference: &str) -> Result<&Task, Refusal> {
        find("task", reference, &self.tasks, |task| (task.number, task.id.as_str(), &task.title))
    }

    pub fn find_schedule(&self, reference: &str) -> Result<&Schedule, Refusal> {
        find("schedule", reference, &self.schedules, |schedule| (schedule.number, schedule.id.as_str(), ""))
    }

    pub fn find_run(&self, reference: &str) -> Result<&AutoRun, Refusal> {
        find("run", reference, &self.runs, |run| (run.number, run.id().as_str(), ""))
    }

    /// What a run is started for: `task 3` names a task; a number, an id or a title a goal; other words are a new goal.
    pub fn start_target(&self, named: Option<&str>) -> Result<StartTarget, Refusal> {
        let Some(named) = named else { return Ok(StartTarget::Current) };
        if let Some(task) = named.strip_prefix("task ").map(str::trim)
            && let Ok(task) = self.find_task(task)
        {
            return Ok(StartTarget::Task(task.id.clone()));
        }
        let reference = named.strip_prefix("goal ").map_or(named, str::trim);
        match self.find_goal(reference) {
            Ok(goal) => Ok(StartTarget::Goal(goal.id.clone())),
            // A number is never meant as the title of a goal.
            Err(refusal) if reference.trim_start_matches('#').parse::<u32>().is_ok() => Err(refusal),
            Err(_) => Ok(StartTarget::NewGoal { title: named.to_owned() }),
        }
    }

    /// The goals that a turn is told of: in a turn of a run only its own.
    pub fn goals_of<'a>(&'a self, run: Option<&'a AutoExecutionContext>) -> impl Iterator<Item = &'a Goal> {
        self.goals.iter().filter(move |goal| run.is_none_or(|run| run.goal_id() == Some(&goal.id)))
    }

    /// The tasks that a turn is told of: in a turn of a run only its own and those of its goal.
    pub fn tasks_of<'a>(&'a self, run: Option<&'a AutoExecutionContext>) -> impl Iterator<Item = &'a Task> {
        let is_own = |run: &AutoExecutionContext, task: &Task| {
            *run.task_id() == task.id || (task.goal.is_some() && task.goal.as_ref() == run.goal_id())
        };
        self.tasks.iter().filter(move |task| run.is_none_or(|run| is_own(run, task)))
    }

    /// The only run that waits for a person.
    pub fn waiting_run(&self) -> Result<&AutoRun, Refusal> {
        let waiting: Vec<_> = self.runs.iter().filter(|run| run.waits_since().is_some()).collect();
        match waiting.as_slice() {
            [one] => Ok(one),
            [] => Err(Refusal::not_found("No run of this session waits to continue.")),
            several => {
                let numbers: Vec<_> = several.iter().map(|run| run.number.to_string()).collect();
                Err(Refusal::conflict(format!("Runs {} wait; say which one.", numbers.join(", "))))
            }
        }
    }

    /// The first open task of a goal, or of none.
    pub fn next_task(&self, goal: Option<&GoalId>) -> Option<&Task> {
        self.tasks.iter().find(|task| task.goal.as_ref() == goal && task.status == TaskStatus::Open)
    }

    /// The open tasks of a goal, or of none, that no run works on and that no schedule has.
    pub(crate) fn free_tasks(&self, goal: Option<&GoalId>) -> impl Iterator<Item = &Task> {
        let worked_on = |task: &Task| {
            let busy = |run: &&AutoRun| !matches!(run.state, RunState::Interrupted { .. });
            self.open_runs().filter(busy).any(|run| *run.context.task_id() == task.id)
        };
        let scheduled = |task: &Task| self.schedules.iter().any(|schedule| schedule.task == task.id);
        let fits = move |task: &&Task| task.goal.as_ref() == goal && task.status == TaskStatus::Open;
        self.tasks.iter().filter(fits).filter(move |task| !worked_on(task) && !scheduled(task))
    }

    /// The task that a run of this goal, or of none, begins with.
    pub fn free_task(&self, goal: Option<&GoalId>) -> Option<&Task> {
        self.free_tasks(goal).next()
    }

    /// The goal that runs work towards unless another is named: the first one that is active.
    pub fn current_goal(&self) -> Option<&Goal> {
        self.goals.iter().find(|goal| goal.status == GoalStatus::Active)
    }

    /// What runs spent on the day of `at`.
    pub fn spent_on(&self, at: Timestamp) -> Spend {
        let today = self.today.as_ref().filter(|today| today.day == day_of(at));
        today.map(|today| today.spent).unwrap_or_default()
    }

    /// When the next schedule is due.
    pub fn due_at(&self) -> Option<Timestamp> {
        self.schedules.iter().filter_map(|schedule| schedule.next_at).min()
    }

    /// `seq` is the number of the event's entry in the journal.
    pub(crate) fn apply(&mut self, event: &AutoEvent, at: Timestamp, by: &Actor, seq: u64) {
        match event {
            AutoEvent::GoalAdded { goal, number, title } => {
                self.goals_made = self.goals_made.max(*number);
                if self.goals.len() >= GOALS
                    && let Some(over) = self.goals.iter().position(|goal| goal.status.is_final())
                {
                    self.goals.remove(over);
                }
                self.goals.push(Goal {
                    id: goal.clone(),
                    number: *number,
                    title: title.clone(),
                    status: GoalStatus::Active,
                    note: None,
                    added_at: at,
                    changed_at: at,
                });
            }
            AutoEvent::GoalChanged { goal, status, note } => {
                if let Some(goal) = self.goals.iter_mut().find(|known| known.id == *goal) {
                    (goal.status, goal.note, goal.changed_at) = (*status, note.clone(), at);
                }
            }
            AutoEvent::TaskAdded { task, number, goal, title } => {
                self.tasks_made = self.tasks_made.max(*number);
                self.forget_old_task();
                self.tasks.push(Task {
                    id: task.clone(),
                    number: *number,
                    goal: goal.clone(),
                    title: title.clone(),
                    status: TaskStatus::Open,
                    note: None,
                    added_at: at,
                    changed_at: at,
                });
            }
            AutoEvent::TaskChanged { task, status, note } => {
                if let Some(task) = self.tasks.iter_mut().find(|known| known.id == *task) {
                    (task.status, task.note, task.changed_at) = (*status, note.clone(), at);
                }
            }
            AutoEvent::DiaryWritten { text, run, task } => {
                if self.diary.len() == DIARY {
                    self.diary.remove(0);
                }
                let author = by.name.clone();
                let (text, run, task) = (text.clone(), run.clone(), task.clone());
                self.diary.push(DiaryEntry { at, author, text, run, task });
            }
            AutoEvent::ScheduleAdded { schedule, number, task, line, max_executions, next_at } => {
                self.schedules_made = self.schedules_made.max(*number);
                self.schedules.push(Schedule {
                    id: schedule.clone(),
                    number: *number,
                    task: task.clone(),
                    line: line.clone(),
                    max_executions: *max_executions,
                    executions: 0,
                    status: ScheduleStatus::Active,
                    next_at: Some(*next_at),
                    failures: 0,
                    added_at: at,
                });
            }
            AutoEvent::SchedulePaused { schedule } => {
                self.with_schedule(schedule, |known| {
                    (known.status, known.next_at, known.failures) = (ScheduleStatus::Paused, None, 0);
                });
            }
            AutoEvent::ScheduleResumed { schedule, next_at } => {
                self.with_schedule(schedule, |known| {
                    (known.status, known.next_at) = (ScheduleStatus::Active, Some(*next_at));
                });
            }
            AutoEvent::ScheduleDeleted { schedule } => self.schedules.retain(|known| known.id != *schedule),
            AutoEvent::ScheduleFired { schedule, next_at, .. } => {
                self.with_schedule(schedule, |known| {
                    known.executions = known.executions.saturating_add(1);
                    known.next_at = *next_at;
                    if next_at.is_none() {
                        known.status = ScheduleStatus::Ended;
                    }
                });
            }
            AutoEvent::SchedulePostponed { schedule, next_at, failed, .. } => {
                self.with_schedule(schedule, |known| {
                    known.next_at = Some(*next_at);
                    known.status = ScheduleStatus::Active;
                    if *failed {
                        known.failures = known.failures.saturating_add(1);
                        // The window counts again when it is tried again.
                        known.executions = known.executions.saturating_sub(1);
                    }
                });
            }
            AutoEvent::RunStarted { number, context, trigger, driver } => {
                self.runs_made = self.runs_made.max(*number);
                self.runs.push(AutoRun {
                    number: *number,
                    context: context.clone(),
                    trigger: trigger.clone(),
                    driver: driver.clone(),
                    state: RunState::Running,
                    started_at: at,
                    active_at: at,
                    spent: Spend::default(),
                    counted: Spend::default(),
                    idle_turns: 0,
                    failures: 0,
                    last_failure: None,
                    last_work: None,
                    history_from: context.conversation.begins_at(seq),
                    kept_from: 0,
                });
            }
            AutoEvent::RunTicked { run, spent, work, outcome, .. } => {
                self.spend_today(*spent, at);
                self.with_run(run, at, |known| known.tick(*spent, work, outcome));
            }
            AutoEvent::RunMoved { run, task } => self.with_run(run, at, |known| known.move_to(task, seq)),
            AutoEvent::RunPaused { run, reason } => {
                self.with_run(run, at, |known| {
                    known.state = RunState::Paused { reason: reason.clone(), since: at };
                });
            }
            AutoEvent::RunResumed { run, driver } => self.resume(run, driver, at),
            AutoEvent::RunInterrupted { run } => {
                self.with_run(run, at, |known| known.state = RunState::Interrupted { since: at });
            }
            AutoEvent::RunEnded { run, end, note, result: _ } => {
                let mut trigger = None;
                self.with_run(run, at, |known| {
                    known.state = RunState::Ended { end: *end, at, note: note.clone() };
                    trigger = Some(known.trigger.clone());
                });
                if let (Some(RunTrigger::Schedule { schedule }), RunEnd::Completed) = (&trigger, end) {
                    self.with_schedule(schedule, |known| known.failures = 0);
                }
                self.forget_old_runs();
            }
        }
    }

    /// A person lets a run continue: its budget counts from now on.
    fn resume(&mut self, run: &RunId, driver: &str, at: Timestamp) {
        let mut day = false;
        self.with_run(run, at, |known| {
            day =
                matches!(known.state, RunState::Paused { reason: RunPause::Budget { span: BudgetSpan::Day, .. }, .. });
            known.state = RunState::Running;
            driver.clone_into(&mut known.driver);
            known.counted = Spend::default();
            (known.idle_turns, known.failures) = (0, 0);
        });
        if day {
            self.today = None;
        }
    }

    /// The conversation of a run was summarised: where it is read from, and what is kept of it.
    pub(crate) fn compact(&mut self, run: &RunId, history_from: u64, kept_from: u64) {
        if let Some(run) = self.runs.iter_mut().find(|known| known.id() == run) {
            (run.history_from, run.kept_from) = (history_from, kept_from);
        }
    }

    fn spend_today(&mut self, spent: Spend, at: Timestamp) {
        let so_far = self.spent_on(at);
        self.today = Some(DaySpend { day: day_of(at), spent: so_far + spent });
    }

    fn with_run(&mut self, id: &RunId, at: Timestamp, change: impl FnOnce(&mut AutoRun)) {
        if let Some(run) = self.runs.iter_mut().find(|run| run.id() == id) {
            run.active_at = at;
            change(run);
        }
    }

    fn with_schedule(&mut self, id: &ScheduleId, change: impl FnOnce(&mut Schedule)) {
        if let Some(schedule) = self.schedules.iter_mut().find(|schedule| schedule.id == *id) {
            change(schedule);
        }
    }

    fn forget_old_task(&mut self) {
        let needed = |task: &Task| {
            self.schedules.iter().any(|schedule| schedule.task == task.id)
                || self.open_runs().any(|run| *run.context.task_id() == task.id)
        };
        let over = |task: &Task| task.status != TaskStatus::Open && !needed(task);
        if self.tasks.len() >= TASKS
            && let Some(over) = self.tasks.iter().position(over)
        {
            self.tasks.remove(over);
        }
    }

    fn forget_old_runs(&mut self) {
        let over = self.runs.iter().filter(|run| !run.is_open()).count();
        let mut surplus = over.saturating_sub(ENDED_RUNS);
        self.runs.retain(|run| {
            let forgotten = surplus > 0 && !run.is_open();
            surplus -= usize::from(forgotten);
            !forgotten
        });
    }
}

impl AutoRun {
    fn tick(&mut self, spent: Spend, work: &str, outcome: &TickResult) {
        self.spent = self.spent + spent;
        self.counted = self.counted + spent;
        self.last_work = Some(work.to_owned());
        self.last_failure = match outcome {
            TickResult::Failed { reason } => Some(reason.clone()),
            TickResult::Progress | TickResult::Idle => None,
        };
        (self.idle_turns, self.failures) = match outcome {
            TickResult::Progress => (0, 0),
            TickResult::Idle => (self.idle_turns.saturating_add(1), 0),
            TickResult::Failed { .. } => (self.idle_turns, self.failures.saturating_add(1)),
        };
    }

    fn move_to(&mut self, task: &TaskId, seq: u64) {
        self.context = self.context.with_task(task.clone());
        self.last_work = None;
        // The conversation about the task before is over.
        (self.history_from, self.kept_from) = (self.context.conversation.begins_at(seq), 0);
    }
}

/// The one that is meant: by its number, else its whole id, else a piece that only one id has, else its title.
fn find<'a, T>(
    what: &str,
    reference: &str,
    all: &'a [T],
    names: impl Fn(&'a T) -> (u32, &'a str, &'a str),
) -> Result<&'a T, Refusal> {
    let number = reference.strip_prefix('#').unwrap_or(reference).parse::<u32>().ok();
    let position = |wanted: &dyn Fn((u32, &str, &str)) -> bool| all.iter().position(|one| wanted(names(one)));
    let exact = position(&|(own, _, _)| Some(own) == number)
        .or_else(|| position(&|(_, id, _)| id == reference))
        .or_else(|| position(&|(_, _, title)| !title.is_empty() && title.eq_ignore_ascii_case(reference)));
    if let Some(exact) = exact {
        return Ok(&all[exact]);
    }
    let long_enough = reference.len() >= MIN_PIECE;
    let mut found = all.iter().filter(|one| long_enough && names(one).1.contains(reference));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            Err(Refusal::conflict(format!("{} could be several {what}s; write more of the id.", quoted(reference))))
        }
        (None, _) => Err(Refusal::not_found(format!("There is no {what} {} in this session.", quoted(reference)))),
    }
}
