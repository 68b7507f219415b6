//! A plan as a person sees it: its head, its text and its progress.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::plan::execution::{PermissionCounts, StepPause, StepStatus};
use planwright_core::plan::{Execution, Plan, PlanStatus, PlanStyle};
use planwright_engine::plan_steps::plan_steps;
use planwright_engine::plans::Activity;
use planwright_engine::recognition;

use super::palette::{self, BOLD, DIM, PLAIN};
use super::text::{Span, paint, painted, shown, shown_line, wrap};
use super::{markdown, time};
use crate::invocation::Invocation;

/// Who wrote the present text of a plan, and when.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) by: Actor,
    pub(crate) at: Timestamp,
    /// Imported from an older file, which does not say who wrote it.
    pub(crate) imported: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Rendered,
    /// As it was written, with hidden characters made visible.
    Raw,
}

/// The head, the whole text and the progress.
pub(crate) fn whole(plan: &Plan, source: Option<&Source>, form: Form, width: usize) -> String {
    let rule = paint(&"─".repeat(width), DIM);
    let text = match form {
        Form::Rendered => markdown::render(&plan.markdown(), width),
        Form::Raw => lines(&plan.markdown()),
    };
    let text = if text.trim().is_empty() { format!("{}\n", paint("(nothing in it yet)", DIM)) } else { text };
    let mut card = format!("{}{rule}\n{text}{rule}\n", head(plan, source, width));
    card.push_str(&progress(plan, width));
    card
}

pub(crate) fn head(plan: &Plan, source: Option<&Source>, width: usize) -> String {
    let mut version = format!("{}", plan.style());
    if plan.version > 1 {
        version.push_str(&format!(", version {}", plan.version));
    }
    let mut head = format!(
        "{}  {}  {}\n",
        paint(&format!("Plan {}", plan.number), BOLD),
        paint(plan.status.as_str(), palette::status(plan.status)),
        paint(&version, DIM)
    );
    for line in wrap(&[Span::new(&shown_line(&plan.display_title()), BOLD)], width) {
        head.push_str(&painted(&line));
        head.push('\n');
    }
    head.push('\n');
    let mut field = |name: &str, value: &str| head.push_str(&labelled(name, value, width));
    field("session", &plan.session.to_string());
    field("id", plan.id.as_str());
    field("digest", &plan.digest().to_string());
    if let Some(Source { by, at, imported }) = source {
        let label = if *imported { "imported" } else { "drafted" };
        field(label, &format!("by {}, {}", who(by), time::both(*at)));
    }
    if let Some(about) = plan.origin.as_ref().and_then(|origin| origin.description.as_deref()) {
        field("about", &shown_line(about));
    }
    if let Some(earlier) = &plan.supersedes {
        field("replaces", earlier.as_str());
    }
    if let Some(later) = &plan.superseded_by {
        field("replaced by", later.as_str());
    }
    if let Some(feedback) = &plan.feedback {
        field(
            "to change",
            &format!("{} (asked by {}, {})", shown_line(&feedback.text), who(&feedback.by), time::ago(feedback.at)),
        );
    }
    if let Some(waiting) = &plan.incomplete_approval {
        field("approval", &shown_line(&waiting.to_string()));
        if let Some(note) = &waiting.approval.note {
            field("note", &shown_line(note));
        }
        for skipped in &waiting.approval.skipped {
            field("skipped", &format!("step {}: {}", skipped.position, skipped.why));
        }
    }
    if let Some(approval) = &plan.approval {
        field("approved", &format!("by {}, {}", who(&approval.by), time::both(approval.at)));
        if approval.step_by_step {
            field("pace", "step by step: it pauses after each step for a look");
        }
        field("recognised", &shown_line(&recognition(&approval.by)));
        for signature in &approval.signatures {
            field("signed", &format!("by {} with a {}", shown_line(&signature.approver), signature.with()));
        }
        if let Some(until) = approval.valid_until {
            field("valid", &format!("until {}", time::both(until)));
        }
        if let Some(note) = &approval.note {
            field("note", &shown_line(note));
        }
        for skipped in &approval.skipped {
            field("skipped", &format!("step {}: {}", skipped.position, skipped.why));
        }
    }
    if let Some(ending) = &plan.ending {
        let reason = ending.reason.as_deref().map_or_else(String::new, |reason| format!(": {}", shown_line(reason)));
        field("ended", &format!("by {}, {}{reason}", who(&ending.by), time::ago(ending.at)));
    }
    head
}

fn who(actor: &Actor) -> String {
    shown_line(&planwright_engine::who(actor))
}

pub(super) fn labelled(name: &str, value: &str, width: usize) -> String {
    const ROOM: usize = 12;
    let mut text = String::new();
    for (index, line) in wrap(&[Span::plain(value)], width.saturating_sub(ROOM)).iter().enumerate() {
        let label = if index == 0 { name } else { "" };
        text.push_str(&format!("{}{}\n", paint(&format!("{label:<ROOM$}"), DIM), painted(line)));
    }
    text
}

/// The text with its own line breaks and hidden characters made visible.
pub(crate) fn lines(text: &str) -> String {
    shown(text).lines().map(|line| format!("{}\n", paint(line, PLAIN))).collect()
}

/// The steps with their results; empty before the plan is carried out.
pub(crate) fn progress(plan: &Plan, width: usize) -> String {
    let Some(execution) = &plan.execution else { return String::new() };
    let done = execution.progress();
    let mut text = format!("{}\n", paint(&format!("{} of {} done", done.done, done.total), BOLD));
    let permissions = execution.permissions();
    if !permissions.is_zero() {
        text.push_str(&indented(&format!("calls: {}", permission_text(&permissions)), 2, width));
    }
    for (state, position) in execution.steps.iter().zip(1..) {
        let (mark, style) = palette::step(state.status);
        text.push_str(&item(mark, style, &format!("{position}. {}", shown_line(&state.description)), width));
        for (name, detail) in [("", &state.note), ("evidence: ", &state.evidence)] {
            if let Some(detail) = detail {
                text.push_str(&indented(&format!("{name}{}", shown_line(detail)), 5, width));
            }
        }
    }
    text
}

/// The steps of a plan that an approval leaves out, with the reason for each.
pub(crate) fn left_out<'a>(plan: &Plan, skipped: impl Iterator<Item = (usize, &'a str)>, width: usize) -> String {
    let steps = plan_steps(plan);
    let (mark, style) = palette::step(StepStatus::Skipped);
    let mut text = String::new();
    for (position, why) in skipped {
        let description = steps.get(position - 1).map_or_else(String::new, |step| shown_line(&step.description));
        text.push_str(&item(mark, style, &format!("step {position}: {description}"), width));
        text.push_str(&indented(why, 5, width));
    }
    if text.is_empty() { text } else { format!("{}\n{text}", paint("These steps will not be done:", palette::WARNING)) }
}

fn item(mark: &str, style: anstyle::Style, content: &str, width: usize) -> String {
    let mut text = String::new();
    for (index, line) in wrap(&[Span::plain(content)], width.saturating_sub(4)).iter().enumerate() {
        let mark = if index == 0 { paint(mark, style) } else { " ".to_owned() };
        text.push_str(&format!("  {mark} {}\n", painted(line)));
    }
    text
}

fn indented(text: &str, by: usize, width: usize) -> String {
    wrap(&[Span::new(text, DIM)], width.saturating_sub(by))
        .iter()
        .map(|line| format!("{}{}\n", " ".repeat(by), painted(line)))
        .collect()
}

/// Whether the plan is the active one of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionPlan {
    Active,
    /// Another plan or none is active; it stays as it is until a person names it.
    Parked,
}

fn is_uncertain(plan: &Plan) -> bool {
    let runs = plan.execution.iter().flat_map(|execution| &execution.steps);
    runs.map(|state| state.status).any(|status| status == StepStatus::Uncertain)
}

/// What a person can do with the plan now. `activity` is known for a plan that is EXECUTING.
pub(crate) fn next(plan: &Plan, standing: SessionPlan, activity: Option<&Activity>, invocation: &Invocation) -> String {
    let command = |name: &str| invocation.plan([name, &plan.number.to_string()]);
    let text = match (plan.status, standing) {
        (PlanStatus::Ready, standing) if plan.feedback.is_none() => {
            let parked = if standing == SessionPlan::Parked { "It is parked, and waits" } else { "It waits" };
            format!("{parked} for you to approve, reject or revise it: {}", command("approve"))
        }
        (PlanStatus::Collecting | PlanStatus::Ready, SessionPlan::Parked) => {
            let revise = invocation.plan(["revise", &plan.number.to_string(), "--", "WORDS"]);
            format!("It is parked. To let the agent continue it: {revise}")
        }
        (PlanStatus::Collecting | PlanStatus::Ready, SessionPlan::Active) if plan.feedback.is_some() => {
            "The agent has your feedback and drafts again.".to_owned()
        }
        (PlanStatus::Collecting | PlanStatus::Ready, SessionPlan::Active) => "The agent is drafting it.".to_owned(),
        (PlanStatus::Executing | PlanStatus::PartiallyCompleted, _) if is_uncertain(plan) => format!(
            "The result of a step is unknown. To decide about it: {} --retry, --skip or --stop",
            command("resume")
        ),
        (PlanStatus::Executing, standing) => match plan.execution.as_ref().and_then(Execution::step_pause) {
            Some(pause) => look_at(pause, plan, invocation),
            None => executing(standing, activity, command),
        },
        (PlanStatus::Approved, _) if plan.style() != PlanStyle::Document => {
            format!("Its steps are approved. To carry them out: {}", command("resume"))
        }
        (PlanStatus::Approved, SessionPlan::Active) => "The agent may begin.".to_owned(),
        (PlanStatus::Approved, SessionPlan::Parked) => {
            format!("It is parked. To hand it to the agent: {}", command("resume"))
        }
        (PlanStatus::PartiallyCompleted, _) => {
            format!("Steps are left open. To continue with them: {}", command("resume"))
        }
        (PlanStatus::Completed | PlanStatus::Rejected | PlanStatus::Cancelled, _) => {
            format!("It is finished. To begin the next one: {}", invocation.plan(["on"]))
        }
        (PlanStatus::Superseded, _) => "Another plan took its place.".to_owned(),
    };
    format!("{}\n", paint(&text, DIM))
}

/// The three choices after a look at a step.
fn look_at(pause: StepPause, plan: &Plan, invocation: &Invocation) -> String {
    let number = plan.number.to_string();
    format!(
        "It is paused after step {}, so that you can look at it. To continue: {}; to change the rest: {}; to stop: {}",
        pause.step,
        invocation.plan(["resume", &number]),
        invocation.plan(["revise", &number, "--", "WORDS"]),
        invocation.plan(["resume", &number, "--stop"]),
    )
}

/// `4 covered by the plan, 1 asked, 1 refused`
pub(crate) fn permission_text(counts: &PermissionCounts) -> String {
    let PermissionCounts { covered, asked, refused } = counts;
    format!("{covered} covered by the plan, {asked} asked, {refused} refused")
}

fn executing(standing: SessionPlan, activity: Option<&Activity>, command: impl Fn(&str) -> String) -> String {
    match (activity, standing) {
        (Some(Activity::Paused), _) => {
            let resume = command("resume");
            format!("It is paused: no process works on it. To continue it: {resume}; to end it: {resume} --stop")
        }
        (Some(Activity::LeftTo(_)), SessionPlan::Active) => {
            "The agent that drafted it carries it out and reports.".to_owned()
        }
        (Some(Activity::LeftTo(_)), SessionPlan::Parked) => {
            format!("It is parked. To hand it to the agent: {}", command("resume"))
        }
        (Some(Activity::Running) | None, _) => {
            format!("It is being carried out. To watch it: {}", command("watch"))
        }
    }
}

/// One line: `Plan 3  READY  Move the tables`.
pub(crate) fn line(plan: &Plan) -> String {
    format!(
        "{}  {}  {}\n",
        paint(&format!("Plan {}", plan.number), BOLD),
        paint(plan.status.as_str(), palette::status(plan.status)),
        paint(&shown_line(&plan.display_title()), PLAIN)
    )
}
