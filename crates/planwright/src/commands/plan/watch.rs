//! `plan watch`: follows a plan while another process carries it out. It changes nothing.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use planwright_core::choices::choices;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_engine::changes::ChangeFollower;
use planwright_engine::plan_watch::{ExecutionSummary, PlanUpdate, PlanUpdateKind, PlanWatch, execution_summary};
use planwright_engine::plans::Activity;
use planwright_engine::step_counts::StepCounts;
use planwright_surfaces::wire::{ExecutionView, PlanUpdateView};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use crate::cli::WatchArgs;
use crate::context::Context;
use crate::failure::{Exit, ExitResult, Failure};
use crate::invocation::Invocation;
use crate::terminal::checklist::checklist;
use crate::terminal::live::{self, LiveLine};
use crate::terminal::screen::{self, Screen};
use crate::terminal::watch::{self, WatchForm};

/// How often the line is drawn again.
const REFRESH_INTERVAL: Duration = Duration::from_millis(200);
/// Every so many ticks it is checked whether a process works on the plan.
const ACTIVITY_TICKS: u64 = 5;
/// After so many checks in a row that found no process, the plan counts as paused.
const IDLE_CHECKS: u32 = 2;

pub(super) async fn run(context: &Context, session: &SessionIdentity, arguments: &WatchArgs) -> ExitResult {
    let plan = match &arguments.plan {
        Some(reference) => super::find(context, session, Some(reference)).await?,
        None => context.engine.plans().default_to_watch(session).await.map_err(super::not_found(context))?,
    };
    // The changes are followed before the first look, so that none is missed in between.
    let mut changes = ChangeFollower::follow(context.ledger.as_ref(), Duration::ZERO);
    let mut following = context.engine.plans().watch(session, &plan.id).await?;
    let mut view = View::new(context);
    let outcome = watch(context, &mut changes, &mut following, &mut view, arguments).await;
    // Whatever is printed next, such as the prompt of the shell, begins on a line of its own.
    view.erase()?;
    outcome
}

async fn watch(
    context: &Context,
    changes: &mut ChangeFollower,
    following: &mut PlanWatch,
    view: &mut View<'_>,
    arguments: &WatchArgs,
) -> ExitResult {
    view.begin(following)?;
    let plan = following.plan();
    let sum = execution_summary(plan, following.now());
    match plan.status {
        PlanStatus::Executing => {
            let activity = context.engine.plans().activity(&plan.session, plan).await?;
            if matches!(activity, Some(Activity::Paused | Activity::Asking(_))) {
                view.pause(plan, activity.as_ref())?;
                if arguments.no_wait {
                    return view.end(plan, &End { status: plan.status, sum });
                }
            }
        }
        PlanStatus::Collecting | PlanStatus::Ready | PlanStatus::Approved if arguments.no_wait => {
            return view.end(plan, &End { status: plan.status, sum });
        }
        PlanStatus::Collecting | PlanStatus::Ready | PlanStatus::Approved => view.wait(plan.status)?,
        PlanStatus::Completed
        | PlanStatus::PartiallyCompleted
        | PlanStatus::Rejected
        | PlanStatus::Cancelled
        | PlanStatus::Superseded => return view.end(plan, &End { status: plan.status, sum }),
    }
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let mut pace = interval(REFRESH_INTERVAL);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut idle, mut tick) = (0, 0_u64);
    loop {
        let changed = tokio::select! {
            biased;
            _ = &mut interrupted => break,
            _ = pace.tick() => None,
            changed = changes.next() => {
                Some(changed.ok_or_else(|| Failure::unavailable("the store cannot be followed any more"))?)
            }
        };
        if let Some(changed) = changed {
            if changed.concerns(&following.plan().session) {
                for happened in following.next_updates().await? {
                    idle = 0;
                    view.show(&happened, following.plan())?;
                    if let Some(end) = End::of(&happened) {
                        return view.end(following.plan(), &end);
                    }
                }
            }
            continue;
        }
        tick += 1;
        // The end of a process is not in the journal.
        if tick % ACTIVITY_TICKS == 0 {
            let plan = following.plan();
            let activity = context.engine.plans().activity(&plan.session, plan).await?;
            match &activity {
                Some(Activity::Paused | Activity::Asking(_)) => idle += 1,
                Some(Activity::Running) => {
                    idle = 0;
                    view.continue_after_pause()?;
                }
                Some(Activity::LeftTo(_)) | None => idle = 0,
            }
            // Between two processes no process holds the session for a moment.
            if idle == IDLE_CHECKS {
                view.pause(plan, activity.as_ref())?;
            }
        }
        view.tick(following)?;
    }
    view.leave(following.plan())
}

/// How the watched execution ended, or why there is none. Another one may have begun since.
struct End {
    status: PlanStatus,
    sum: Option<ExecutionSummary>,
}

impl End {
    fn of(happened: &PlanUpdate) -> Option<Self> {
        let sum = match &happened.kind {
            PlanUpdateKind::ExecutionEnded(sum) => Some(*sum),
            PlanUpdateKind::Cancelled { execution, .. } | PlanUpdateKind::Superseded { execution, .. } => *execution,
            PlanUpdateKind::Rejected { .. } => None,
            PlanUpdateKind::Changed
            | PlanUpdateKind::Approved { .. }
            | PlanUpdateKind::ExecutionBegan(_)
            | PlanUpdateKind::ExecutionPaused(_)
            | PlanUpdateKind::ExecutionResumed(_)
            | PlanUpdateKind::StepBegan { .. }
            | PlanUpdateKind::StepEnded { .. } => return None,
        };
        Some(Self { status: happened.status, sum })
    }

    /// Only a completed plan is a success.
    fn exit(&self) -> Exit {
        if self.status == PlanStatus::Completed { Exit::Done } else { Exit::Refused }
    }
}

/// Prints to a person's terminal, line by line to a pipe, or as JSON to a program.
struct View<'a> {
    screen: &'a Screen,
    form: WatchForm,
    line: LiveLine,
    ticks: usize,
    /// When the last line was printed.
    quiet: Instant,
    invocation: &'a Invocation,
    /// What the person was told last that the plan waits for, until a process works on it again.
    told: Option<String>,
}

impl<'a> View<'a> {
    fn new(context: &'a Context) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let form = if io::stdout().is_terminal() && !dumb { WatchForm::Live } else { WatchForm::Lines };
        Self {
            screen: &context.screen,
            form,
            line: LiveLine::default(),
            ticks: 0,
            quiet: Instant::now(),
            invocation: &context.invocation,
            told: None,
        }
    }

    fn begin(&mut self, following: &PlanWatch) -> Result<(), Failure> {
        let plan = following.plan();
        if self.screen.json {
            return self.screen.print_json_line(&json!({
                "type": "watching",
                "planId": plan.id,
                "number": plan.number,
                "title": plan.display_title(),
                "style": plan.style(),
                "status": plan.status,
                "execution": plan.execution.as_ref().map(ExecutionView::with_steps),
            }));
        }
        self.write(&watch::beginning(plan, following.started_by(), self.form, self.form.width()))
    }

    fn wait(&mut self, status: PlanStatus) -> Result<(), Failure> {
        if self.screen.json || self.form == WatchForm::Live {
            return Ok(());
        }
        self.write(&format!("{}\n", watch::waiting_for(status)))
    }

    fn pause(&mut self, plan: &Plan, activity: Option<&Activity>) -> Result<(), Failure> {
        let situation = choices(plan, activity).situation;
        if self.told.as_ref() == Some(&situation) {
            return Ok(());
        }
        self.told = Some(situation);
        self.quiet = Instant::now();
        if self.screen.json {
            return self.screen.print_json_line(&json!({
                "type": "paused",
                "planId": plan.id,
                "number": plan.number,
                "counts": plan.execution.as_ref().map(StepCounts::of).unwrap_or_default(),
            }));
        }
        self.write(&watch::paused(plan, activity, self.invocation, self.form.width()))
    }

    fn continue_after_pause(&mut self) -> Result<(), Failure> {
        if self.told.take().is_none() || self.screen.json {
            return Ok(());
        }
        self.write(&watch::continued(self.form.width()))
    }

    fn show(&mut self, happened: &PlanUpdate, plan: &Plan) -> Result<(), Failure> {
        self.quiet = Instant::now();
        match &happened.kind {
            PlanUpdateKind::ExecutionPaused(_) if !self.screen.json => return self.pause(plan, None),
            PlanUpdateKind::ExecutionPaused(_) => self.told = Some(choices(plan, None).situation),
            PlanUpdateKind::ExecutionResumed(_)
            | PlanUpdateKind::ExecutionBegan(_)
            | PlanUpdateKind::StepBegan { .. } => {
                self.told = None;
            }
            PlanUpdateKind::Changed
            | PlanUpdateKind::Approved { .. }
            | PlanUpdateKind::Rejected { .. }
            | PlanUpdateKind::StepEnded { .. }
            | PlanUpdateKind::ExecutionEnded(_)
            | PlanUpdateKind::Cancelled { .. }
            | PlanUpdateKind::Superseded { .. } => {}
        }
        if self.screen.json {
            return self.screen.print_json_line(&PlanUpdateView::from(happened));
        }
        self.write(&watch::render(happened, plan, self.form, self.form.width()))
    }

    fn tick(&mut self, following: &PlanWatch) -> Result<(), Failure> {
        if self.screen.json || self.form == WatchForm::Lines {
            return Ok(());
        }
        self.ticks += 1;
        let activity = if self.told.is_some() { Activity::Paused } else { Activity::Running };
        let (plan, now) = (following.plan(), following.now());
        let mut lines = checklist(plan, now, screen::window().1 / 2, live::width());
        lines.push(watch::under_way(plan, Some(&activity), now, self.quiet.elapsed(), self.ticks));
        self.line.draw(&lines)
    }

    fn end(&mut self, plan: &Plan, end: &End) -> ExitResult {
        if self.screen.json {
            self.screen.print_json_line(&json!({
                "type": "summary",
                "planId": plan.id,
                "number": plan.number,
                "status": end.status,
                "execution": end.sum.map(|sum| sum.number),
                "counts": end.sum.map_or_else(StepCounts::default, |sum| sum.counts),
                "tookMs": end.sum.map(|sum| sum.took.as_millis()),
            }))?;
        } else {
            self.write(&watch::summary(plan, end.status, end.sum.as_ref(), self.form.width()))?;
        }
        Ok(end.exit())
    }

    /// The person stops watching, which does not change the execution.
    fn leave(&mut self, plan: &Plan) -> ExitResult {
        if !self.screen.json {
            self.write(&format!("Plan {} is no longer watched; its execution is not changed.\n", plan.number))?;
        }
        Ok(Exit::Refused)
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        match self.form {
            WatchForm::Live => self.line.write(text),
            WatchForm::Lines => self.screen.print(text),
        }
    }

    fn erase(&mut self) -> Result<(), Failure> {
        match self.form {
            WatchForm::Live if !self.screen.json => self.line.write(""),
            WatchForm::Live | WatchForm::Lines => Ok(()),
        }
    }
}
