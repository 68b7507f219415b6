//! `plan watch`: follows a plan while somebody else carries it out. It changes nothing.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::session::SessionIdentity;
use planwright_engine::engine::{ExecutionSum, Following, Happened, Happening, execution_sum};
use planwright_engine::step_counts::StepCounts;
use planwright_surfaces::wire::{CountsView, ExecutionView, HappeningView};
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};

use crate::cli::WatchArgs;
use crate::context::Context;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal::live::LiveLine;
use crate::terminal::screen::Screen;
use crate::terminal::watching::{self, Form};

/// How often it is looked at the session, and how often the line of what is under way is drawn.
const PACE: Duration = Duration::from_millis(200);

pub(super) async fn run(context: &Context, session: &SessionIdentity, arguments: &WatchArgs) -> Outcome {
    let plan = match &arguments.plan {
        Some(reference) => super::find(context, session, Some(reference)).await?,
        None => context.engine.plan_to_follow(session).await.map_err(super::not_found(context))?,
    };
    let mut following = context.engine.follow(session, &plan.id).await?;
    let mut view = View::new(context);
    let outcome = watch(&mut following, &mut view, arguments).await;
    // What comes after it, if only the prompt of the shell, begins on a line of its own.
    view.erase()?;
    outcome
}

async fn watch(following: &mut Following, view: &mut View<'_>, arguments: &WatchArgs) -> Outcome {
    view.begin(following)?;
    let plan = following.plan();
    let sum = execution_sum(plan, following.now());
    match plan.status {
        PlanStatus::Executing => {}
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
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            _ = &mut interrupted => return view.leave(following.plan()),
            _ = pace.tick() => {}
        }
        for happened in following.look().await? {
            view.tell(&happened, following.plan())?;
            if let Some(end) = End::of(&happened) {
                return view.end(following.plan(), &end);
            }
        }
        view.tick(following)?;
    }
}

/// How the execution that was watched ended, or why there will be none. Another one may have begun since.
struct End {
    status: PlanStatus,
    sum: Option<ExecutionSum>,
}

impl End {
    fn of(happened: &Happened) -> Option<Self> {
        let sum = match &happened.what {
            Happening::ExecutionEnded(sum) => Some(*sum),
            Happening::Cancelled { execution, .. } | Happening::Superseded { execution, .. } => *execution,
            Happening::Rejected { .. } => None,
            Happening::Changed
            | Happening::Approved { .. }
            | Happening::ExecutionBegan(_)
            | Happening::ExecutionPaused(_)
            | Happening::ExecutionResumed(_)
            | Happening::StepBegan { .. }
            | Happening::StepEnded { .. } => return None,
        };
        Some(Self { status: happened.status, sum })
    }

    /// Only what was carried out to its end is a success.
    fn exit(&self) -> Exit {
        match self.status {
            PlanStatus::Completed => Exit::Done,
            PlanStatus::Collecting
            | PlanStatus::Ready
            | PlanStatus::Approved
            | PlanStatus::Executing
            | PlanStatus::PartiallyCompleted
            | PlanStatus::Rejected
            | PlanStatus::Cancelled
            | PlanStatus::Superseded => Exit::Refused,
        }
    }
}

/// Where it is told: to a person at a terminal, line by line, or to a program.
struct View<'a> {
    screen: &'a Screen,
    form: Form,
    line: LiveLine,
    ticks: usize,
    /// Since when nothing new was told.
    quiet: Instant,
}

impl<'a> View<'a> {
    fn new(context: &'a Context) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let form = if io::stdout().is_terminal() && !dumb { Form::Live } else { Form::Lines };
        Self { screen: &context.screen, form, line: LiveLine::default(), ticks: 0, quiet: Instant::now() }
    }

    fn begin(&mut self, following: &Following) -> Result<(), Failure> {
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
        self.write(&watching::beginning(plan, following.began(), self.form, self.form.width()))
    }

    fn wait(&mut self, status: PlanStatus) -> Result<(), Failure> {
        if self.screen.json || self.form == Form::Live {
            return Ok(());
        }
        self.write(&format!("{}\n", watching::waiting_for(status)))
    }

    fn tell(&mut self, happened: &Happened, plan: &Plan) -> Result<(), Failure> {
        self.quiet = Instant::now();
        if self.screen.json {
            return self.screen.print_json_line(&HappeningView::from(happened));
        }
        self.write(&watching::told(happened, plan, self.form, self.form.width()))
    }

    fn tick(&mut self, following: &Following) -> Result<(), Failure> {
        if self.screen.json || self.form == Form::Lines {
            return Ok(());
        }
        self.ticks += 1;
        let line = watching::under_way(following.plan(), following.now(), self.quiet.elapsed(), self.ticks);
        self.line.draw(&line)
    }

    fn end(&mut self, plan: &Plan, end: &End) -> Outcome {
        if self.screen.json {
            self.screen.print_json_line(&json!({
                "type": "summary",
                "planId": plan.id,
                "number": plan.number,
                "status": end.status,
                "execution": end.sum.map(|sum| sum.number),
                "counts": CountsView::from(end.sum.map_or_else(StepCounts::default, |sum| sum.counts)),
                "tookMs": end.sum.map(|sum| sum.took.as_millis()),
            }))?;
        } else {
            self.write(&watching::summary(plan, end.status, end.sum.as_ref(), self.form.width()))?;
        }
        Ok(end.exit())
    }

    /// The person has seen enough; whoever carries the plan out does not notice.
    fn leave(&mut self, plan: &Plan) -> Outcome {
        if !self.screen.json {
            self.write(&format!("Plan {} is no longer watched; nothing was changed.\n", plan.number))?;
        }
        Ok(Exit::Refused)
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        match self.form {
            Form::Live => self.line.write(text),
            Form::Lines => self.screen.print(text),
        }
    }

    fn erase(&mut self) -> Result<(), Failure> {
        match self.form {
            Form::Live if !self.screen.json => self.line.write(""),
            Form::Live | Form::Lines => Ok(()),
        }
    }
}
