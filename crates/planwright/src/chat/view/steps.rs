//! The steps of the plan that is being carried out, while a person watches: the checklist that is drawn anew, and a line for each
//! step that ends.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use planwright_agent::session::progress::Progress;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::turn::ToolStatus;
use planwright_engine::plan_steps::plan_steps;

use crate::terminal::checklist::{checklist, ended_step};

/// The tool with which an agent reports about a step.
const REPORT: &str = "plan_progress";
/// The checklist is not higher than this, and not higher than a third of the window.
const MAX_ROWS: usize = 12;

#[derive(Debug, Default)]
pub(super) struct PlanSteps {
    seen: Option<LastPlan>,
    /// Whether it is drawn now.
    shown: bool,
    /// A report has ended whose steps were not told yet.
    reported: bool,
    /// The step whose end was told last, from 1.
    told: Option<usize>,
    /// The specialist who does the step under way, and the step, until it was told.
    speaker: Option<Speaker>,
}

#[derive(Debug)]
struct Speaker {
    step: usize,
    agent: String,
    is_told: bool,
}

#[derive(Debug)]
struct LastPlan {
    plan: Plan,
    at: Timestamp,
    when: Instant,
}

impl PlanSteps {
    /// Whether the line of this is left out, because the step that it is about has a line.
    pub(super) fn tells(&mut self, progress: &Progress) -> bool {
        if let Progress::StepEnded { position, .. } = progress {
            return self.told == Some(*position);
        }
        let Progress::ToolEnded { name, status: ToolStatus::Done | ToolStatus::Settled, .. } = progress else {
            return false;
        };
        let is_told = name == REPORT && self.shown;
        self.reported |= is_told;
        is_told
    }

    /// Takes the plan as it is now. Answers a line for each step that ended since, if a report was left out.
    pub(super) fn take(&mut self, plan: &Plan, at: Timestamp, width: usize) -> String {
        let before = self.seen.take().filter(|seen| is_same_execution(&seen.plan, plan));
        let mut text = String::new();
        if std::mem::take(&mut self.reported) {
            let steps = plan.execution.as_ref().map(|execution| execution.steps.as_slice()).unwrap_or_default();
            for (index, step) in steps.iter().enumerate() {
                let had = before.as_ref().and_then(|seen| status(&seen.plan, index));
                if step.status.is_settled() && had != Some(step.status) {
                    text.push_str(&ended_step(step, index + 1, at, width));
                    self.told = Some(index + 1);
                }
            }
        }
        self.shown = plan.status == PlanStatus::Executing && plan.execution.is_some();
        self.take_speaker(plan);
        self.seen = Some(LastPlan { plan: plan.clone(), at, when: Instant::now() });
        text
    }

    /// The checklist in a window of so many rows.
    pub(super) fn lines(&self, rows: usize, width: usize) -> Vec<String> {
        let Some(LastPlan { plan, at, when }) = self.seen.as_ref().filter(|_| self.shown) else { return Vec::new() };
        let since = SignedDuration::try_from(when.elapsed()).unwrap_or_default();
        let now = at.checked_add(since).unwrap_or(*at);
        checklist(plan, now, (rows / 3).min(MAX_ROWS), width)
    }

    fn take_speaker(&mut self, plan: &Plan) {
        let is_shown = self.shown;
        let mut under_way =
            plan_steps(plan).into_iter().filter(|step| is_shown && step.status == StepStatus::InProgress);
        let found = under_way.find_map(|step| Some((step.position, step.agent?)));
        let known = self.speaker.as_ref().map(|speaker| speaker.step);
        match found {
            Some((step, _)) if known == Some(step) => {}
            Some((step, agent)) => self.speaker = Some(Speaker { step, agent, is_told: false }),
            None => self.speaker = None,
        }
    }

    /// Whose words come next, once for each step.
    pub(super) fn next_speaker(&mut self) -> Option<String> {
        let speaker = self.speaker.as_mut().filter(|speaker| !speaker.is_told)?;
        speaker.is_told = true;
        Some(format!("{}, step {}:", speaker.agent, speaker.step))
    }

    /// The exchange is over; the next one shows it again.
    pub(super) fn hide(&mut self) {
        self.shown = false;
    }
}

fn is_same_execution(one: &Plan, other: &Plan) -> bool {
    let number = |plan: &Plan| plan.execution.as_ref().map(|execution| execution.number);
    one.id == other.id && number(one) == number(other)
}

fn status(plan: &Plan, index: usize) -> Option<StepStatus> {
    Some(plan.execution.as_ref()?.steps.get(index)?.status)
}
