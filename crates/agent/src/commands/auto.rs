//! `/auto`, `/goal`, `/task`, `/schedule` and `/diary`.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use planwright_core::auto::{
    AutoCommand, AutoRun, AutoState, Goal, NewSchedule, RunKind, RunState, Schedule, ScheduleChange, StartTarget, Task,
    TaskStatus,
};
use planwright_core::choices::run_choices;
use planwright_core::ids::RunId;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{AutoSubcommand, GoalSubcommand, ScheduleSubcommand, TaskSubcommand};
use planwright_core::visible::{quoted, visible};
use planwright_engine::clock::{ago, lasted};
use planwright_engine::ledger::LedgerResult;

use crate::agent_context::AgentContext;
use crate::runs::Runs;
use crate::session::outcome::Answer;
use crate::session::work::{InputContext, Running};

/// How many entries of the diary are shown.
const DIARY: usize = 20;
/// How many runs that are over are shown.
const MAX_ENDED_RUNS: usize = 5;

#[derive(Debug, Clone)]
pub(crate) struct AutoCommands {
    agent: Arc<AgentContext>,
    runs: Runs,
}

impl AutoCommands {
    pub(super) fn new(agent: &Arc<AgentContext>, runs: Runs) -> Self {
        Self { agent: Arc::clone(agent), runs }
    }

    pub(super) async fn run(&self, command: AutoSubcommand, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        match command {
            AutoSubcommand::On { goal } => {
                let state = self.agent.engine().auto().state(session).await?;
                self.start(state.start_target(goal.as_deref())?, context).await
            }
            AutoSubcommand::Off { run } => self.off(run.as_deref(), context, &Running::NOTHING).await,
            AutoSubcommand::Resume { run } => {
                let state = self.runs.state(session).await?;
                let run = match run {
                    Some(run) => state.find_run(&run)?.id().clone(),
                    None => state.waiting_run()?.id().clone(),
                };
                self.resume(&run, context).await
            }
            AutoSubcommand::Status => self.status(session).await,
        }
    }

    pub(crate) async fn start(&self, target: StartTarget, context: &InputContext) -> LedgerResult<Answer> {
        let run = self.runs.start(target, context).await?;
        self.begun("started", &run, context).await
    }

    pub(crate) async fn resume(&self, run: &RunId, context: &InputContext) -> LedgerResult<Answer> {
        let run = self.runs.resume(run, context).await?;
        self.begun("continues", &run, context).await
    }

    async fn begun(&self, how: &str, run: &AutoRun, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let state = self.agent.engine().auto().state(session).await?;
        let (number, kind, about) = (run.number, run.context.run_kind(), about(&state, run));
        let verb = if how == "started" { "is started" } else { how };
        let reply = format!("Run {number} ({kind}) {verb}: {about}. `/auto off {number}` ends it.");
        Ok(Answer { run: Some(run.id().clone()), ..Answer::text(session, reply) })
    }

    pub(crate) async fn off(
        &self,
        run: Option<&str>,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<Answer> {
        let run = match run {
            Some(run) => {
                let state = self.agent.engine().auto().state(context.session()).await?;
                Some(state.find_run(run)?.id().clone())
            }
            None => None,
        };
        self.stop(run, context, running).await
    }

    pub(crate) async fn stop(
        &self,
        run: Option<RunId>,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<Answer> {
        let session = context.session();
        let ended = self.runs.stop(run, context, running).await?;
        let state = self.agent.engine().auto().state(session).await?;
        let numbers: Vec<_> = ended.iter().filter_map(|run| state.run(run)).map(|run| run.number.to_string()).collect();
        let reply = match numbers.as_slice() {
            [] => "No run is open in this session.".to_owned(),
            [one] => format!("Run {one} is stopped."),
            several => format!("Runs {} are stopped.", several.join(", ")),
        };
        Ok(Answer::text(session, reply))
    }

    /// Ends the runs that are under way. Returns whether there were any.
    pub(super) async fn stop_running(&self, context: &InputContext) -> LedgerResult<bool> {
        let (session, auto) = (context.session(), self.agent.engine().auto());
        let state = auto.state(session).await?;
        let mut stopped = false;
        for run in state.runs.iter().filter(|run| run.is_running()) {
            stopped |= !auto.stop(session, context.by(), Some(run.id().clone())).await?.is_empty();
        }
        if stopped {
            self.agent.runs.wake(session);
        }
        Ok(stopped)
    }

    async fn status(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let state = self.runs.state(session).await?;
        let now = self.agent.engine().now();
        let open: Vec<_> = state.open_runs().collect();
        let over = state.runs.iter().rev().filter(|run| !run.is_open()).take(MAX_ENDED_RUNS);
        let lines: Vec<_> = open.iter().copied().chain(over).map(|run| run_line(&state, run, now)).collect();
        let head = match open.len() {
            0 => "No run is open in this session. `/auto on` starts one.".to_owned(),
            1 => "1 run is open in this session.".to_owned(),
            count => format!("{count} runs are open in this session."),
        };
        let list = lines.iter().map(|line| format!("\n- {line}")).collect::<String>();
        Ok(Answer::text(session, if list.is_empty() { head } else { format!("{head}\n{list}") }))
    }

    pub(super) async fn goal(&self, command: GoalSubcommand, context: &InputContext) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        let auto = context.engine(self.agent.engine()).auto();
        let reply = match command {
            GoalSubcommand::List => return self.goals(session).await,
            GoalSubcommand::Add { title } => {
                let goal = auto.add_goal(session, by, title).await?;
                let number = goal.number;
                format!(
                    "Goal {number} is set: {}. `/task add #{number} …` adds a task to it, `/auto on {number}` works towards it.",
                    visible(&goal.title)
                )
            }
            GoalSubcommand::Show { goal } => {
                let state = auto.state(session).await?;
                let goal = state.find_goal(&goal)?;
                let tasks = state.tasks.iter().filter(|task| task.goal.as_ref() == Some(&goal.id));
                let tasks = tasks.map(|task| format!("\n- {}", task_line(&state, task))).collect::<String>();
                let tasks = if tasks.is_empty() { "\n\nIt has no tasks.".to_owned() } else { format!("\n{tasks}") };
                format!("{}{tasks}", goal_line(&state, goal))
            }
            GoalSubcommand::Change { goal, status, note } => {
                let id = auto.state(session).await?.find_goal(&goal)?.id.clone();
                let goal = auto.change_goal(session, by, id, status, note).await?;
                format!("Goal {} is {}.", goal.number, goal.status)
            }
        };
        Ok(Answer::text(session, reply))
    }

    pub(super) async fn goals(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let state = self.agent.engine().auto().state(session).await?;
        let lines: Vec<_> = state.goals.iter().map(|goal| format!("- {}", goal_line(&state, goal))).collect();
        let none = "This session has no goals. `/goal add <goal>` sets one.";
        Ok(Answer::text(session, if lines.is_empty() { none.to_owned() } else { lines.join("\n") }))
    }

    pub(super) async fn task(&self, command: TaskSubcommand, context: &InputContext) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        let auto = context.engine(self.agent.engine()).auto();
        let reply = match command {
            TaskSubcommand::List => return self.tasks(session).await,
            TaskSubcommand::Add { goal, title } => {
                let goal = match goal {
                    Some(goal) => Some(auto.state(session).await?.find_goal(&goal)?.id.clone()),
                    None => None,
                };
                let task = auto.add_task(session, by, title, goal).await?;
                format!("Task {} is added: {}.", task.number, visible(&task.title))
            }
            TaskSubcommand::Change { task, status, note } => {
                let id = auto.state(session).await?.find_task(&task)?.id.clone();
                let task = auto.change_task(session, by, id, status, note).await?;
                format!("Task {} is {}.", task.number, task.status)
            }
        };
        Ok(Answer::text(session, reply))
    }

    pub(super) async fn tasks(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let state = self.agent.engine().auto().state(session).await?;
        let lines: Vec<_> = state.tasks.iter().map(|task| format!("- {}", task_line(&state, task))).collect();
        let none = "This session has no tasks. `/task add <task>` adds one.";
        Ok(Answer::text(session, if lines.is_empty() { none.to_owned() } else { lines.join("\n") }))
    }

    pub(super) async fn schedule(&self, command: ScheduleSubcommand, context: &InputContext) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        let auto = context.engine(self.agent.engine()).auto();
        let state = auto.state(session).await?;
        let change = |named: &str, change| -> Result<AutoCommand, Refusal> {
            Ok(AutoCommand::ChangeSchedule { schedule: state.find_schedule(named)?.id.clone(), change })
        };
        let command = match command {
            ScheduleSubcommand::List => {
                let lines: Vec<_> =
                    state.schedules.iter().map(|one| format!("- {}", schedule_line(&state, one))).collect();
                let none = "This session has no schedules. `/schedule add 0 9 * * 1 <what to do>` makes one.";
                return Ok(Answer::text(session, if lines.is_empty() { none.to_owned() } else { lines.join("\n") }));
            }
            ScheduleSubcommand::Add { expression, zone, max_executions, goal, title } => {
                let goal = goal.map(|goal| state.find_goal(&goal).map(|goal| goal.id.clone())).transpose()?;
                AutoCommand::AddSchedule(NewSchedule { expression, zone, title, goal, max_executions })
            }
            ScheduleSubcommand::Pause { schedule } => change(&schedule, ScheduleChange::Pause)?,
            ScheduleSubcommand::Resume { schedule } => change(&schedule, ScheduleChange::Resume)?,
            ScheduleSubcommand::Delete { schedule } => change(&schedule, ScheduleChange::Delete)?,
        };
        let is_new = matches!(command, AutoCommand::AddSchedule(_));
        let reply = match auto.schedule(session, by, command).await? {
            None => "The schedule is deleted.".to_owned(),
            Some(schedule) => {
                let line = schedule_line(&auto.state(session).await?, &schedule);
                if is_new { format!("{line}\n\n{ONLY_A_SERVER}") } else { line }
            }
        };
        Ok(Answer::text(session, reply))
    }

    pub(super) async fn diary(&self, text: Option<String>, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let auto = context.engine(self.agent.engine()).auto();
        if let Some(text) = text {
            auto.write_diary(session, context.by(), text).await?;
            return Ok(Answer::text(session, "Written."));
        }
        let state = auto.state(session).await?;
        let lines = state.diary.iter().rev().take(DIARY).map(|entry| {
            let run = entry.run.as_ref().and_then(|run| state.run(run)).map(|run| format!(" (run {})", run.number));
            let (at, author) = (entry.at.strftime("%Y-%m-%d %H:%M"), visible(&entry.author));
            format!("- {at} {author}{}: {}", run.unwrap_or_default(), visible(&entry.text))
        });
        let lines: Vec<_> = lines.collect();
        let none = "The diary is empty.";
        Ok(Answer::text(session, if lines.is_empty() { none.to_owned() } else { lines.join("\n") }))
    }
}

const ONLY_A_SERVER: &str = "Only `planwright serve` starts its runs; without a running server none begins.";

/// What a run works on.
fn about(state: &AutoState, run: &AutoRun) -> String {
    let task = state.task(run.context.task_id()).map(|task| (task.number, visible(&task.title).into_owned()));
    let (number, title) = task.unwrap_or_default();
    let goal = run.context.goal_id().and_then(|goal| state.goal(goal));
    match goal {
        Some(goal) => format!("task {number} of goal {}, {}", goal.number, quoted(&title)),
        None => format!("task {number}, {}", quoted(&title)),
    }
}

/// One run in a line: its kind, its age, what it spent and its state.
fn run_line(state: &AutoState, run: &AutoRun, now: Timestamp) -> String {
    let kind = match run.context.run_kind() {
        RunKind::Goal => "GOAL_RUN",
        RunKind::Task => "TASK_RUN",
    };
    let spent = run.spent;
    let money = match spent.micros {
        0 => String::new(),
        micros => format!(", cost {}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000),
    };
    let why = match &run.state {
        RunState::Running => String::new(),
        RunState::Paused { reason, .. } => format!(": {reason}"),
        RunState::Interrupted { .. } => ": its process ended".to_owned(),
        RunState::Ended { note, .. } => note.as_ref().map(|note| format!(": {}", visible(note))).unwrap_or_default(),
    };
    let choices = run_choices(run).list.into_iter();
    let choices: String = choices.map(|choice| format!("\n  - `{}`: {}", choice.command, choice.label)).collect();
    format!(
        "run {} ({kind}) is {}{why}. {}; started {}, {} turns, {} tokens, {}{money}{choices}",
        run.number,
        run.state.name(),
        about(state, run),
        ago(run.started_at, now),
        spent.turns,
        spent.tokens,
        lasted(Duration::from_millis(spent.millis)),
    )
}

fn goal_line(state: &AutoState, goal: &Goal) -> String {
    let tasks: Vec<_> = state.tasks.iter().filter(|task| task.goal.as_ref() == Some(&goal.id)).collect();
    let over = tasks.iter().filter(|task| task.status != TaskStatus::Open).count();
    let note = goal.note.as_ref().map(|note| format!(" ({})", visible(note))).unwrap_or_default();
    format!(
        "goal {} is {}: {}{note}, {over} of {} tasks finished",
        goal.number,
        goal.status,
        visible(&goal.title),
        tasks.len()
    )
}

fn task_line(state: &AutoState, task: &Task) -> String {
    let goal = task.goal.as_ref().and_then(|goal| state.goal(goal));
    let of = goal.map(|goal| format!(" of goal {}", goal.number)).unwrap_or_default();
    let note = task.note.as_ref().map(|note| format!(" ({})", visible(note))).unwrap_or_default();
    format!("task {}{of} is {}: {}{note}", task.number, task.status, visible(&task.title))
}

fn schedule_line(state: &AutoState, schedule: &Schedule) -> String {
    let title = state.task(&schedule.task).map(|task| visible(&task.title).into_owned()).unwrap_or_default();
    let next = schedule.next_at.map(|at| format!(", next at {at}")).unwrap_or_default();
    let times = match schedule.max_executions {
        Some(most) => format!("{} of {most} executions", schedule.executions),
        None => format!("{} executions", schedule.executions),
    };
    format!(
        "schedule {} is {}: `{}` in {}, {title}, {times}{next}",
        schedule.number,
        schedule.status.as_str(),
        schedule.line.expression,
        schedule.line.zone
    )
}
