//! Runs of the agent by itself: started, ticked, braked and ended.

use jiff::SignedDuration;

use crate::actor::ActorKind;
use crate::auto::{
    AutoEvent, AutoExecutionContext, AutoRun, AutoState, BudgetSpan, GoalStatus, RunEnd, RunPause, RunState, RunTarget,
    RunTrigger, ScheduleStatus, Spend, StartTarget, Task, TaskStatus, TickResult,
};
use crate::command::{Command, TurnCommand};
use crate::decide::Decider;
use crate::door::ToSign;
use crate::event::{Event, SessionEvent, TurnEvent};
use crate::ids::{GoalId, RunId, TaskId};
use crate::plan::{Plan, PlanStatus};
use crate::refusal::Refusal;
use crate::snapshot::Snapshot;
use crate::turn::{INTERRUPTED_RUN, OpenTurn, Purpose, TurnEnd, TurnEnding, TurnLimit};

/// What a run is about that was started without a goal or a task.
const CONVERSATION: &str = "Continue the work of this conversation";
/// How often a window of a schedule is tried again, and how long it waits the first time. The wait doubles.
const MAX_RETRIES: u32 = 5;
const FIRST_RETRY: SignedDuration = SignedDuration::from_mins(1);

impl Decider<'_> {
    pub(super) fn start_run(&self, target: &StartTarget, driver: &str) -> Result<Vec<AutoEvent>, Refusal> {
        let state = self.auto_state();
        self.check_starter("starts runs", || ToSign::StartRun { on: target_words(state, target) })?;
        self.check_nothing_waits()?;
        if state.open_runs().count() >= self.policy.auto.runs {
            return Err(Refusal::limit(format!(
                "A session has at most {} runs at once; `/auto off` ends them.",
                self.policy.auto.runs
            )));
        }
        let mut events = Vec::new();
        let (goal, task) = match target {
            StartTarget::Current => match state.current_goal() {
                Some(goal) => self.goal_task(&goal.id.clone(), &mut events)?,
                None => (None, self.standalone_task(&mut events)?),
            },
            StartTarget::Goal(goal) => self.goal_task(goal, &mut events)?,
            StartTarget::NewGoal { title } => {
                let added = self.add_goal(title)?;
                let goal = GoalId::from(&self.context.request);
                events.push(added);
                events.push(self.new_task(self.line("goal", title)?, Some(goal.clone()))?);
                (Some(goal), TaskId::from(&self.context.request))
            }
            StartTarget::Task(task) => {
                let task = self.known_task(task)?;
                if task.status != TaskStatus::Open {
                    return Err(Refusal::wrong_status(format!("Task {} is {}.", task.number, task.status)));
                }
                task.goal.as_ref().map_or(Ok(()), |goal| self.check_goal_active(goal))?;
                (task.goal.clone(), task.id.clone())
            }
        };
        for run in state.open_runs().filter(|run| *run.context.task_id() == task) {
            match run.state {
                // It is started again, as another run.
                RunState::Interrupted { .. } => events.push(ended(run.id(), RunEnd::Stopped, Some("started again"))),
                RunState::Running | RunState::Paused { .. } | RunState::Ended { .. } => {
                    return Err(Refusal::conflict(format!(
                        "Run {} works on this task and is {}; `/auto off {0}` ends it, `/auto resume {0}` lets it continue.",
                        run.number,
                        run.state.name()
                    )));
                }
            }
        }
        events.push(self.run_started(goal, task, RunTrigger::Person, driver));
        Ok(events)
    }

    /// The task of a goal that a run begins with; one is made if the goal has none to do.
    fn goal_task(&self, goal: &GoalId, events: &mut Vec<AutoEvent>) -> Result<(Option<GoalId>, TaskId), Refusal> {
        self.check_goal_active(goal)?;
        if let Some(task) = self.auto_state().free_task(Some(goal)) {
            return Ok((Some(goal.clone()), task.id.clone()));
        }
        let title = self.known_goal(goal)?.title.clone();
        events.push(self.new_task(title, Some(goal.clone()))?);
        Ok((Some(goal.clone()), TaskId::from(&self.context.request)))
    }

    fn standalone_task(&self, events: &mut Vec<AutoEvent>) -> Result<TaskId, Refusal> {
        if let Some(task) = self.auto_state().free_task(None) {
            return Ok(task.id.clone());
        }
        events.push(self.new_task(CONVERSATION.to_owned(), None)?);
        Ok(TaskId::from(&self.context.request))
    }

    fn check_goal_active(&self, goal: &GoalId) -> Result<(), Refusal> {
        let goal = self.known_goal(goal)?;
        match goal.status {
            GoalStatus::Active => Ok(()),
            GoalStatus::Paused | GoalStatus::Done | GoalStatus::Cancelled => {
                Err(Refusal::wrong_status(format!("Goal {} is {}.", goal.number, goal.status)))
            }
        }
    }

    pub(super) fn run_started(
        &self,
        goal: Option<GoalId>,
        task: TaskId,
        trigger: RunTrigger,
        driver: &str,
    ) -> AutoEvent {
        let target = match goal {
            Some(goal) => RunTarget::Goal { goal, task },
            None => RunTarget::Task { task },
        };
        let run_id = RunId::from(&self.context.request);
        let context = AutoExecutionContext::new(self.snapshot.identity.clone(), run_id, target);
        AutoEvent::RunStarted { number: self.auto_state().runs_made + 1, context, trigger, driver: driver.to_owned() }
    }

    pub(super) fn resume_run(&self, run: &RunId, driver: &str) -> Result<AutoEvent, Refusal> {
        let known = self.known_run(run)?;
        self.check_starter("lets runs continue", || ToSign::ResumeRun { number: known.number })?;
        match known.state {
            RunState::Paused { .. } | RunState::Interrupted { .. } => {}
            RunState::Running | RunState::Ended { .. } => {
                return Err(Refusal::wrong_status(format!("Run {} is {}.", known.number, known.state.name())));
            }
        }
        self.check_nothing_waits()?;
        Ok(AutoEvent::RunResumed { run: run.clone(), driver: driver.to_owned() })
    }

    /// Ends a run, or all of them, and the turn that one of them has open.
    pub(super) fn stop_runs(&self, run: Option<&RunId>) -> Result<Vec<Event>, Refusal> {
        match self.context.by.kind {
            ActorKind::Person | ActorKind::System => {}
            ActorKind::Agent | ActorKind::Policy => return Err(Refusal::policy_denied("Only a person ends runs.")),
        }
        let stopped: Vec<&AutoRun> = match run {
            Some(run) => {
                let known = self.known_run(run)?;
                if !known.is_open() {
                    return Err(Refusal::wrong_status(format!("Run {} is {}.", known.number, known.state.name())));
                }
                vec![known]
            }
            None => self.auto_state().open_runs().collect(),
        };
        let open = self.open_run_turn();
        let mut events = Vec::new();
        for run in stopped {
            match open {
                // The run ends with its turn.
                Some((open, context)) if context.run_id == *run.id() && run.is_running() => {
                    events.extend(self.end_open_turn(Some(open)));
                }
                Some(_) | None => events.push(Event::Auto(ended(run.id(), RunEnd::Stopped, None))),
            }
        }
        Ok(events)
    }

    /// The process of a run ended. A turn of the run that it left open ends with it, unless the turn waits for a person.
    pub(super) fn interrupt_run(&self, run: &RunId) -> Result<Vec<Event>, Refusal> {
        self.check_system("interrupts runs")?;
        let known = self.known_run(run)?;
        if !known.is_running() {
            return Ok(Vec::new());
        }
        match self.open_run_turn().filter(|(_, context)| context.run_id == *run) {
            Some((open, _)) if open.waiting_ask().is_some() => Ok(Vec::new()),
            // The run is interrupted with its turn.
            Some((open, _)) => {
                let ending = TurnEnding { text: INTERRUPTED_RUN.to_owned(), ..TurnEnd::Interrupted.into() };
                Ok(self.end_open_turn_with(open, &ending))
            }
            None => Ok(vec![Event::Auto(AutoEvent::RunInterrupted { run: run.clone() })]),
        }
    }

    /// Whether a turn of this run may begin: it runs, this is what it works on, and nothing waits for a person.
    pub(super) fn check_tick(&self, context: &AutoExecutionContext) -> Result<(), Refusal> {
        let run = self.known_run(&context.run_id)?;
        if !run.is_running() {
            return Err(Refusal::wrong_status(format!("Run {} is {}.", run.number, run.state.name())));
        }
        if run.context != *context {
            return Err(Refusal::wrong_status(format!("Run {} works on another task now.", run.number)));
        }
        self.check_nothing_waits()
    }

    /// No run starts and none ticks while a plan or the open turn waits for a person.
    pub(super) fn check_nothing_waits(&self) -> Result<(), Refusal> {
        let session = self.snapshot.opened()?;
        if session.waiting_ask().is_some() {
            return Err(Refusal::wrong_status("The agent waits for your answer to what it asked."));
        }
        match self.snapshot.active().filter(|plan| plan.waits_for_person()) {
            Some(plan) => Err(Refusal::wrong_status(format!("Plan {} waits for your decision.", plan.number))),
            None => Ok(()),
        }
    }

    pub(super) fn known_run(&self, run: &RunId) -> Result<&AutoRun, Refusal> {
        self.auto_state().run(run).ok_or_else(|| self.not_here("run", run.as_str()))
    }

    /// The open turn, if it is one of a run.
    fn open_run_turn(&self) -> Option<(&OpenTurn, &AutoExecutionContext)> {
        let open = self.snapshot.session.as_ref()?.turn.as_ref()?;
        match &open.purpose {
            Purpose::Run(context) => Some((open, context)),
            Purpose::Answer | Purpose::Document { .. } | Purpose::Step { .. } | Purpose::Question { .. } => None,
        }
    }

    /// What follows for the session's runs: a turn of a run that ends is counted, a run whose task is over moves on or
    /// ends, a run at one of its limits pauses, and a stop ends all that run.
    pub(super) fn settling_runs(&self, mut events: Vec<Event>, command: &Command) -> Vec<Event> {
        let Some(session) = &self.snapshot.session else { return events };
        let Some(state) = session.auto.as_deref().filter(|state| state.open_runs().next().is_some()) else {
            return events;
        };
        let ticked = self.count_tick(state, &events);
        let ending = ticked.as_ref().and_then(|_| self.run_turn_ending(&events)).map(|ending| ending.end.clone());
        let ticked_run = ticked.as_ref().and_then(|event| event.touches().run).cloned();
        events.extend(ticked.map(Event::Auto));
        match (&ticked_run, ending) {
            (Some(run), Some(TurnEnd::Stopped)) => {
                events.push(Event::Auto(ended(run, RunEnd::Stopped, None)));
            }
            (Some(run), Some(TurnEnd::Interrupted)) => {
                events.push(Event::Auto(AutoEvent::RunInterrupted { run: run.clone() }));
            }
            _ => {}
        }
        let resets = |event: &Event| matches!(event, Event::Session(SessionEvent::ConversationReset { .. }));
        let is_stop = matches!(command, Command::Turn(TurnCommand::Stop)) && self.context.by.kind == ActorKind::Person;
        let everything = events.iter().any(resets);
        // A plan that does not wait any more may have been all that a run waited for.
        let matters = |event: &Event| matches!(event, Event::Auto(_) | Event::Plan { .. } | Event::Session(_));
        if !is_stop && !everything && !events.iter().any(matters) {
            return events;
        }
        let mut after = self.snapshot.clone();
        events.iter().for_each(|event| after.apply(event, self.context, 0));
        if is_stop || everything {
            let runs = after.session.as_ref().and_then(|session| session.auto.as_deref()).into_iter();
            let open = runs.flat_map(AutoState::open_runs).filter(|run| everything || run.is_running());
            events.extend(open.map(|run| Event::Auto(ended(run.id(), RunEnd::Stopped, None))));
            return events;
        }
        events.extend(self.retrying_interrupted(&after, &events));
        let followed = self.following_tasks(&after);
        followed.iter().for_each(|event| after.apply(event, self.context, 0));
        events.extend(followed);
        if let Some(run) = ticked_run {
            events.extend(self.brakes(&after, &run));
        }
        events
    }

    /// A run whose process ended counts as failed for its schedule, which tries the window again.
    fn retrying_interrupted(&self, after: &Snapshot, events: &[Event]) -> Vec<Event> {
        let Some(state) = after.session.as_ref().and_then(|session| session.auto.as_deref()) else { return Vec::new() };
        let interrupted = events.iter().filter_map(|event| match event {
            Event::Auto(AutoEvent::RunInterrupted { run }) => state.run(run),
            _ => None,
        });
        interrupted.filter_map(|run| self.retry(state, run, "the process of its run ended")).collect()
    }

    fn run_turn_ending<'a>(&self, events: &'a [Event]) -> Option<&'a TurnEnding> {
        let (open, _) = self.open_run_turn()?;
        events.iter().find_map(|event| match event {
            Event::Turn { id, event: TurnEvent::Ended { ending } } if *id == open.id => Some(ending),
            _ => None,
        })
    }

    /// What the turn of a run that ends with these events spent and led to.
    fn count_tick(&self, state: &AutoState, events: &[Event]) -> Option<AutoEvent> {
        let (open, context) = self.open_run_turn()?;
        let ending = self.run_turn_ending(events)?;
        let run = state.run(&context.run_id).filter(|run| run.is_open())?;
        let mut before = self.snapshot.clone();
        for event in events {
            if matches!(event, Event::Turn { id, event: TurnEvent::Ended { .. } } if *id == open.id) {
                break;
            }
            before.apply(event, self.context, 0);
        }
        let mut tick = before.session.as_ref()?.turn.as_ref()?.tick.as_deref()?.clone();
        if ending.end == TurnEnd::Interrupted {
            tick.interrupt();
        }
        let outcome = match &ending.end {
            TurnEnd::ModelFailed { message } => TickResult::Failed { reason: message.clone() },
            TurnEnd::NoAnswer => TickResult::Failed { reason: "the model answered with nothing".to_owned() },
            TurnEnd::Looping => {
                TickResult::Failed { reason: "the model made the same calls again and again".to_owned() }
            }
            TurnEnd::LimitReached { limit: TurnLimit::CallsPerMinute } => {
                TickResult::Failed { reason: "the model was called too often within a minute".to_owned() }
            }
            TurnEnd::Answered
            | TurnEnd::PlanReady { .. }
            | TurnEnd::NothingPlanned { .. }
            | TurnEnd::Stopped
            | TurnEnd::LimitReached { .. }
            | TurnEnd::Interrupted => {
                let same = tick.calls == 0 || run.last_work.as_deref() == Some(tick.work.as_str());
                if !tick.changed && same { TickResult::Idle } else { TickResult::Progress }
            }
        };
        let spent = Spend {
            turns: 1,
            tokens: tick.usage.total(),
            millis: tick.worked_until(self.context.at),
            micros: tick.model.and_then(|model| self.policy.auto.cost(&model, tick.usage)).unwrap_or(0),
        };
        Some(AutoEvent::RunTicked {
            run: context.run_id.clone(),
            in_turn: open.id.clone(),
            spent,
            work: tick.work,
            outcome,
        })
    }

    /// Runs whose task or goal is over continue with the next task of their goal, or end.
    fn following_tasks(&self, after: &Snapshot) -> Vec<Event> {
        let Some(session) = &after.session else { return Vec::new() };
        let Some(state) = session.auto.as_deref() else { return Vec::new() };
        // What a run proposed and what is carried out may be a part of its task.
        let is_open = |plan: &Plan| plan.waits_for_person() || plan.status == PlanStatus::Executing;
        let plan_is_open = after.active().is_some_and(is_open);
        let working = session.turn.as_ref().and_then(|turn| turn.purpose.run()).map(|context| &context.run_id);
        let mut taken = Vec::new();
        let mut events = Vec::new();
        for run in state.open_runs().filter(|run| Some(run.id()) != working) {
            let Some(task) = state.task(run.context.task_id()) else { continue };
            let goal = run.context.goal_id().and_then(|goal| state.goal(goal));
            if let Some(goal) = goal.filter(|goal| goal.status != GoalStatus::Active) {
                let end = if goal.status == GoalStatus::Done { RunEnd::Completed } else { RunEnd::Stopped };
                let note = format!("goal {} is {}", goal.number, goal.status);
                events.push(Event::Auto(ended(run.id(), end, Some(&note))));
                continue;
            }
            let end = match task.status {
                _ if plan_is_open => continue,
                TaskStatus::Open => continue,
                TaskStatus::Done | TaskStatus::Skipped => RunEnd::Completed,
                TaskStatus::Failed => RunEnd::Failed,
            };
            // A task whose run was interrupted is left to that run.
            let free = |next: &Task| {
                !taken.contains(&next.id) && state.open_runs().all(|run| *run.context.task_id() != next.id)
            };
            let next = goal.and_then(|goal| state.free_tasks(Some(&goal.id)).find(|task| free(task)));
            match next {
                Some(next) => {
                    taken.push(next.id.clone());
                    let (run, task) = (run.id().clone(), next.id.clone());
                    events.push(Event::Auto(AutoEvent::RunMoved { run, task }));
                }
                None => events.extend(self.end_run(state, run, end, task.note.as_deref())),
            }
        }
        events
    }

    /// The end of a run. The window of a schedule whose run failed is tried again later.
    fn end_run(&self, state: &AutoState, run: &AutoRun, end: RunEnd, note: Option<&str>) -> Vec<Event> {
        let mut events = vec![Event::Auto(ended(run.id(), end, note))];
        if end == RunEnd::Failed {
            events.extend(self.retry(state, run, note.unwrap_or("it failed")));
        }
        events
    }

    fn retry(&self, state: &AutoState, run: &AutoRun, reason: &str) -> Option<Event> {
        let RunTrigger::Schedule { schedule } = &run.trigger else { return None };
        let schedule = state.schedule(schedule)?;
        if schedule.status == ScheduleStatus::Paused || schedule.failures >= MAX_RETRIES {
            return None;
        }
        let wait = FIRST_RETRY * 2_i32.saturating_pow(schedule.failures);
        let later = self.context.at.saturating_add(wait).ok()?;
        let next_at = schedule.next_at.map_or(later, |next| next.min(later));
        let (schedule, reason) = (schedule.id.clone(), reason.to_owned());
        Some(Event::Auto(AutoEvent::SchedulePostponed { schedule, next_at, failed: true, reason }))
    }

    /// What stops a run after a turn: it fails again and again, makes no progress, or has spent its budget.
    fn brakes(&self, after: &Snapshot, ticked: &RunId) -> Vec<Event> {
        let Some(state) = after.session.as_ref().and_then(|session| session.auto.as_deref()) else { return Vec::new() };
        let Some(run) = state.run(ticked).filter(|run| run.is_running()) else { return Vec::new() };
        let policy = &self.policy.auto;
        let pause = |run: &AutoRun, reason| Event::Auto(AutoEvent::RunPaused { run: run.id().clone(), reason });
        if run.failures >= policy.failures {
            let last = run.last_failure.clone().unwrap_or_else(|| "the turn failed".to_owned());
            let retry = self.retry(state, run, &last);
            return match retry {
                Some(retry) => vec![Event::Auto(ended(run.id(), RunEnd::Failed, Some(&last))), retry],
                None => vec![pause(run, RunPause::Failures { turns: run.failures, last })],
            };
        }
        if run.idle_turns >= policy.idle_turns {
            return vec![pause(run, RunPause::NoProgress { turns: run.idle_turns })];
        }
        if let Some(limit) = state.spent_on(self.context.at).reaches(&policy.day) {
            let reason = RunPause::Budget { limit, span: BudgetSpan::Day };
            return state.runs.iter().filter(|run| run.is_running()).map(|run| pause(run, reason.clone())).collect();
        }
        match run.counted.reaches(&policy.run.with_most_turns()) {
            Some(limit) => vec![pause(run, RunPause::Budget { limit, span: BudgetSpan::Run })],
            None => Vec::new(),
        }
    }
}

pub(super) fn ended(run: &RunId, end: RunEnd, note: Option<&str>) -> AutoEvent {
    AutoEvent::RunEnded { run: run.clone(), end, note: note.map(str::to_owned), result: None }
}

/// What a run is started for, as `/auto on` takes it.
fn target_words(state: &AutoState, target: &StartTarget) -> String {
    match target {
        StartTarget::Current => String::new(),
        StartTarget::Goal(id) => state.goal(id).map_or_else(|| id.to_string(), |goal| goal.number.to_string()),
        StartTarget::Task(id) => {
            let task = state.task(id).map_or_else(|| id.to_string(), |task| task.number.to_string());
            format!("task {task}")
        }
        StartTarget::NewGoal { title } => title.clone(),
    }
}
