//! `/plan …` and `/plans`: looking at plans, and turning plan work on and off.

use planwright_core::actor::Actor;
use planwright_core::desk::Desk;
use planwright_core::plan::diff::{DiffLine, PlanDiff};
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{Comparison, PlanCommand, SlashCommand};
use planwright_core::visible::visible;

use super::{Answer, not_in_this_version};
use crate::agent::outcome::PlanCard;
use crate::agent::{Agent, Place, Watcher};
use crate::ledger::LedgerResult;

/// How many plans are listed in a chat.
const PAGE: u32 = 20;

impl Agent {
    pub(super) async fn plan_command(
        &self,
        place: &Place,
        by: &Actor,
        command: PlanCommand,
        watcher: &Watcher,
    ) -> LedgerResult<Answer> {
        let session = &place.session;
        match command {
            PlanCommand::On { style } => {
                let style = style.unwrap_or(PlanStyle::Document);
                let desk = self.engine().enable_plan_mode(session, by, style).await?.desk;
                Ok(Answer::words(session, format!("{}\n\n{}", plan_work(&desk), begin(style))))
            }
            PlanCommand::Off => self.leave(session, by, Leaving::Off).await,
            PlanCommand::Done => self.leave(session, by, Leaving::Done).await,
            PlanCommand::Status => self.plan_status(session).await,
            PlanCommand::Show { plan } => {
                let card = PlanCard::from(self.engine().find_plan(session, plan.as_ref()).await?.as_ref());
                self.show(session, by, &card).await?;
                Ok(Answer::words(session, "").with_plan(card))
            }
            PlanCommand::Diff(comparison) => self.diff(session, comparison).await,
            PlanCommand::Export { plan } => {
                let plan = self.engine().find_plan(session, plan.as_ref()).await?;
                Ok(Answer::words(session, fenced("markdown", &plan.markdown())))
            }
            PlanCommand::About(text) => {
                self.check_room(session, &text).await?;
                self.engine().ensure_plan_mode(session, by, None).await?;
                Ok(self.send(session, by, &text, watcher).await?.into())
            }
            PlanCommand::Files(_) => Ok(Answer::refusal(session, not_in_this_version(&SlashCommand::Plan(command)))),
            PlanCommand::Approve { plan, selection, note } => {
                self.approve_shown(place, by, plan.as_ref(), selection, note).await
            }
            PlanCommand::Reject { plan, reason } => self.reject(session, by, plan.as_ref(), reason).await,
            PlanCommand::Revise { plan, feedback } => self.revise(session, by, plan.as_ref(), feedback, watcher).await,
            PlanCommand::Cancel { plan, reason } => self.cancel(session, by, plan.as_ref(), reason).await,
            PlanCommand::Resume { plan } => self.resume_plan(session, by, plan.as_ref(), watcher).await,
        }
    }

    async fn leave(&self, session: &SessionIdentity, by: &Actor, how: Leaving) -> LedgerResult<Answer> {
        let before = self.engine().desk(session).await?;
        match how {
            Leaving::Off => self.engine().disable_plan_mode(session, by).await?,
            Leaving::Done => self.engine().finish_plan_work(session, by).await?,
        };
        let left = match before.active().filter(|plan| !plan.is_empty()) {
            Some(plan) => format!(" {}", line(self.engine().plan(session, &plan.id).await?.as_ref())),
            None => String::new(),
        };
        Ok(Answer::words(session, format!("Plan work is off.{left}")))
    }

    async fn plan_status(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let desk = self.engine().desk(session).await?;
        desk.opened()?;
        Ok(Answer::words(session, plan_work(&desk)))
    }

    pub(super) async fn list_plans(&self, session: &SessionIdentity) -> LedgerResult<Answer> {
        let active = self.engine().session(session).await?.plan_mode.active_plan;
        let page = self.engine().plans(session, None, PAGE).await?;
        let mut lines: Vec<_> = page
            .items
            .iter()
            .map(|plan| {
                let mark = if active.as_ref() == Some(&plan.id) { " ← active" } else { "" };
                format!("- plan {} **{}** {}{mark}", plan.number, plan.status, title(&plan.title))
            })
            .collect();
        lines.extend(page.damaged.iter().map(|row| format!("- {} cannot be read: {}", row.what, row.reason)));
        if page.next.is_some() {
            lines.push("- and older ones".to_owned());
        }
        let none = "There are no plans here yet. `/plan on` begins one.";
        Ok(Answer::words(session, if lines.is_empty() { none.to_owned() } else { lines.join("\n") }))
    }

    async fn diff(&self, session: &SessionIdentity, comparison: Comparison) -> LedgerResult<Answer> {
        let find = async |plan: Option<&PlanReference>| self.engine().find_plan(session, plan).await;
        let diff = match &comparison {
            Comparison::Versions { plan } => {
                self.engine().diff_versions(find(plan.as_ref()).await?.as_ref(), None, None).await?
            }
            Comparison::Plans { first, second } => {
                self.engine().diff_plans(find(Some(first)).await?.as_ref(), find(Some(second)).await?.as_ref())?
            }
        };
        Ok(Answer::words(session, told(&diff)))
    }
}

#[derive(Debug, Clone, Copy)]
enum Leaving {
    Off,
    Done,
}

/// Whether plan work is on, and how far the plan is.
pub(super) fn plan_work(desk: &Desk) -> String {
    let mode = desk.session.as_ref().map(|session| &session.plan_mode).filter(|mode| mode.enabled);
    let Some(mode) = mode else { return "Plan work is **off**. `/plan on` begins a plan.".to_owned() };
    let mut text = format!("Plan work is **on**, style {}.", mode.style);
    if let Some(plan) = desk.active() {
        text.push_str(&format!(" {}", standing(plan)));
    }
    text
}

/// How far a plan is, in a line.
pub(in crate::agent) fn standing(plan: &Plan) -> String {
    let mut text = line(plan);
    if let Some(execution) = &plan.execution {
        let progress = execution.progress();
        text.push_str(&format!(" {} of {} steps are done.", progress.done, progress.total));
        if let Some(next) = progress.next {
            text.push_str(&format!(" Next: {}. {}", next.step, title(&next.description)));
        }
    }
    text
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

pub(in crate::agent) fn line(plan: &Plan) -> String {
    format!("Plan {} is **{}**: {}.", plan.number, plan.status, title(&plan.display_title()))
}

/// A title in one line that no Markdown of its own disturbs.
pub(in crate::agent) fn title(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in visible(text).replace(['\n', '\t'], " ").chars() {
        if "\\`*_[]<>#|~".contains(c) {
            line.push('\\');
        }
        line.push(c);
    }
    line
}

fn told(diff: &PlanDiff) -> String {
    if diff.is_empty() {
        return "Nothing changed.".to_owned();
    }
    let mut lines: Vec<_> = diff
        .changes
        .iter()
        .map(|change| {
            let (mark, words) = change.words();
            format!("{} {words}", mark.sign())
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
fn fenced(language: &str, text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().bytes().take_while(|b| *b == b'`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}
