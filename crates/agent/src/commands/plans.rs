//! `/plan …` and `/plans`.

use std::sync::Arc;

use jiff::Timestamp;
use planwright_core::choices::choices;
use planwright_core::plan::diff::{DiffLine, PlanDiff};
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{Comparison, PlanCommand};
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::plan_status::{choices_text, one_line, plan_line, plan_status, short_status_in};

use super::{Decisions, Resuming, show, workbook};
use crate::agent_context::AgentContext;
use crate::execution::Executions;
use crate::session::input::{Approving, BeginWork, Worker};
use crate::session::outcome::{Answer, PlanCard};
use crate::session::work::{InputContext, Running};
use crate::turn::RequestBuilder;

/// The number of plans that are listed in a chat.
const PAGE: u32 = 20;

#[derive(Debug, Clone)]
pub(crate) struct PlanCommands {
    agent: Arc<AgentContext>,
    requests: RequestBuilder,
    executions: Executions,
    decisions: Decisions,
}

impl PlanCommands {
    pub(super) fn new(
        agent: &Arc<AgentContext>,
        requests: RequestBuilder,
        executions: Executions,
        decisions: Decisions,
    ) -> Self {
        Self { agent: Arc::clone(agent), requests, executions, decisions }
    }

    pub(super) async fn run(&self, command: PlanCommand, context: &InputContext) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        match command {
            PlanCommand::On { style } => {
                let style = style.unwrap_or(PlanStyle::Document);
                let snapshot =
                    context.engine(self.agent.engine()).sessions().enable_plan_mode(session, by, style).await?.snapshot;
                Ok(Answer::text(session, format!("{}\n\n{}", plan_work(&snapshot), begin(style))))
            }
            PlanCommand::Off => self.leave_plan_mode(Leave::Off, context, &Running::NOTHING).await,
            PlanCommand::Done => self.leave_plan_mode(Leave::Done, context, &Running::NOTHING).await,
            PlanCommand::Status => self.status(session).await,
            PlanCommand::Show { plan } => {
                let plans = self.agent.engine().plans();
                let plan = plans.find(session, plan.as_ref()).await?;
                let card = PlanCard::of(&plan, plans.activity(session, &plan).await?.as_ref());
                // Also what does not count as seen is shown.
                let _: Result<(), _> = show(self.agent.engine(), session, by, &card).await?;
                Ok(Answer::text(session, "").with_plan(card))
            }
            PlanCommand::Diff(comparison) => self.diff(session, comparison).await,
            PlanCommand::Export { plan } => {
                let plan = self.agent.engine().plans().find(session, plan.as_ref()).await?;
                Ok(Answer::text(session, fenced("markdown", &plan.markdown())))
            }
            PlanCommand::About(text) => {
                let snapshot = self.agent.engine().sessions().snapshot(session).await?;
                self.requests.check_room(&snapshot, &text).await?;
                context.part(self.agent.engine(), "plan-mode").sessions().ensure_plan_mode(session, by, None).await?;
                // In a box, because it is larger than all other commands.
                Box::pin(workbook::begin(self.agent.engine(), &text, context)).await?;
                let request = context.engine(self.agent.engine()).submitter().next_request();
                Ok(Box::pin(self.executions.answer_message(request, &text, context)).await?.into())
            }
            PlanCommand::Files(switch) => workbook::switch(self.agent.engine(), switch, context).await,
            PlanCommand::Approve { plan, selection, step_by_step, note } => {
                Box::pin(self.decisions.approve_shown(
                    plan.as_ref(),
                    Approving { selection, note, step_by_step, ..Approving::default() },
                    context,
                ))
                .await
            }
            PlanCommand::Reject { plan, reason } => {
                let plan = self.agent.engine().plans().find(session, plan.as_ref()).await?;
                self.decisions.reject(&plan.id, reason, context).await
            }
            PlanCommand::Revise { plan, feedback } => {
                let plan = self.agent.engine().plans().find(session, plan.as_ref()).await?;
                Box::pin(self.decisions.revise(&plan.id, feedback.into(), BeginWork::Now, context)).await
            }
            PlanCommand::Cancel { plan, reason } => {
                let plan = self.agent.engine().plans().find(session, plan.as_ref()).await?;
                self.decisions.cancel(&plan.id, reason, context, &Running::NOTHING).await
            }
            PlanCommand::Resume { plan, choice } => {
                let plan = self.agent.engine().plans().find(session, plan.as_ref()).await?;
                let resuming = Resuming { choice, worker: Worker::ThisProcess, after_step: None };
                Box::pin(self.decisions.resume_or_settle(plan, resuming, context)).await
            }
        }
    }

    /// Leaves plan mode. `/plan done` also stops the work on the active plan.
    pub(crate) async fn leave_plan_mode(
        &self,
        how: Leave,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        let engine = context.engine(self.agent.engine());
        let committed = match how {
            Leave::Off => engine.sessions().disable_plan_mode(session, by).await?,
            Leave::Done => engine.sessions().finish_plan_work(session, by).await?,
        };
        // A request that was carried out before is answered as it was then, and stops nothing now.
        let Some(before) = &committed.plan_mode_before else {
            let (before, after) = self.agent.engine().history().session_around(session, &committed).await?;
            let left = before.active().and_then(|plan| after.plan(&plan.id));
            return Ok(Answer::text(session, left_text(left)).with_plan_mode(&after));
        };
        let left = before.active_plan.as_ref();
        if let (Leave::Done, Some(plan)) = (how, left) {
            running.stop_work_on(plan).await;
        }
        let left = left.and_then(|plan| committed.snapshot.plan(plan));
        Ok(Answer::text(session, left_text(left)).with_plan_mode(&committed.snapshot))
    }

    async fn status(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let snapshot = self.agent.engine().sessions().snapshot(session).await?;
        snapshot.opened()?;
        let active = snapshot.active().map(|plan| plan.id.clone());
        let now = self.agent.engine().now();
        let mut text = mode_text(&snapshot);
        if let Some(plan) = snapshot.active() {
            text.push_str(&format!(" {}", self.status_of(session, plan, now).await?));
        }
        // A plan may be carried out while the session works on another one, or on none.
        for plan in self
            .agent
            .engine()
            .plans()
            .executing(session)
            .await?
            .iter()
            .filter(|plan| Some(&plan.id) != active.as_ref())
        {
            text.push_str(&format!("\n\n{}", self.status_of(session, plan, now).await?));
        }
        Ok(Answer::text(session, text))
    }

    async fn status_of(&self, session: &SessionIdentity, plan: &Plan, now: Timestamp) -> LedgerResult<String> {
        let activity = self.agent.engine().plans().activity(session, plan).await?;
        Ok(format!("{}\n\n{}", plan_status(plan, now), choices_text(&choices(plan, activity.as_ref()))))
    }

    pub(super) async fn list(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let active = self.agent.engine().sessions().get(session).await?.plan_mode.active_plan;
        let page = self.agent.engine().plans().list(session, None, PAGE).await?;
        let mut lines: Vec<_> = page
            .items
            .iter()
            .map(|plan| {
                let mark = if active.as_ref() == Some(&plan.id) { " ← active" } else { "" };
                format!("- plan {} **{}** {}{mark}", plan.number, plan.status, one_line(&plan.title))
            })
            .collect();
        lines.extend(page.damaged.iter().map(|row| format!("- {} cannot be read: {}", row.what, row.reason)));
        if page.next.is_some() {
            lines.push("- and older ones".to_owned());
        }
        let none = "There are no plans here yet. `/plan on` begins one.";
        Ok(Answer::text(session, if lines.is_empty() { none.to_owned() } else { lines.join("\n") }))
    }

    async fn diff(&self, session: &SessionIdentity, comparison: Comparison) -> LedgerResult<Answer> {
        let find = async |plan: Option<&PlanReference>| self.agent.engine().plans().find(session, plan).await;
        let diff = match &comparison {
            Comparison::Versions { plan } => {
                self.agent.engine().history().diff_versions(find(plan.as_ref()).await?.as_ref(), None, None).await?
            }
            Comparison::Plans { first, second } => self
                .agent
                .engine()
                .history()
                .diff_plans(find(Some(first)).await?.as_ref(), find(Some(second)).await?.as_ref())?,
        };
        Ok(Answer::text(session, diff_text(&diff)))
    }
}

/// That plan work is off, and the status of the plan that it was on.
fn left_text(left: Option<&Plan>) -> String {
    let left = left.filter(|plan| !plan.is_empty()).map_or_else(String::new, |plan| format!(" {}", plan_line(plan)));
    format!("Plan work is off.{left}")
}

/// How plan mode is left.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Leave {
    /// The plan stays as it is.
    Off,
    /// Plan work is over.
    Done,
}

/// Whether plan work is on, and the status of the plan.
pub(super) fn plan_work(snapshot: &Snapshot) -> String {
    let mut text = mode_text(snapshot);
    if let (Some(plan), Some(session)) = (snapshot.active(), snapshot.session.as_deref()) {
        text.push_str(&format!(" {}", short_status_in(plan, session)));
    }
    text
}

fn mode_text(snapshot: &Snapshot) -> String {
    let mode = snapshot.session.as_ref().map(|session| &session.plan_mode).filter(|mode| mode.enabled);
    match mode {
        None => "Plan work is **off**. `/plan on` begins a plan.".to_owned(),
        Some(mode) => format!("Plan work is **on**, style {}.", mode.style),
    }
}

fn begin(style: PlanStyle) -> &'static str {
    match style {
        PlanStyle::Document => "Say what you want to get done; the agent drafts a document and you decide about it.",
        PlanStyle::Collect => {
            "Say what you want to get done; the agent's calls are written down as steps and nothing is run."
        }
        PlanStyle::Build => {
            "Say what you want to get done; the agent builds a proposal with a specialist for each step."
        }
    }
}

fn diff_text(diff: &PlanDiff) -> String {
    if diff.is_empty() {
        return "Nothing changed.".to_owned();
    }
    let mut lines: Vec<_> = diff
        .changes
        .iter()
        .map(|change| {
            let (mark, line) = change.describe();
            format!("{} {line}", mark.sign())
        })
        .collect();
    lines.extend(diff.lines.iter().map(|line| match line {
        DiffLine::Same { .. } => format!("  {}", line.text()),
        DiffLine::Removed { .. } => format!("- {}", line.text()),
        DiffLine::Added { .. } => format!("+ {}", line.text()),
        DiffLine::Gap { lines } => format!("@@ {lines} lines are the same @@"),
    }));
    fenced("diff", &lines.join("\n"))
}

/// The text as it is, in a fence that nothing in it closes.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().bytes().take_while(|b| *b == b'`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}
