//! A plan as a person sees it: its head, its text and its progress.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::ask::Grant;
use planwright_core::choices::{Activity, Choice, ChoiceKind, Choices, PlanChoice, choices};
use planwright_core::plan::execution::{PermissionCounts, StepStatus};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_engine::plan_steps::plan_steps;
use planwright_engine::recognition;

use super::palette::{self, BOLD, DIM, PLAIN};
use super::text::{Span, paint, painted, short_id, shown, shown_line, wrap};
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
    field("id", short_id(plan.id.as_str()));
    field("digest", &plan.digest().to_string());
    if let Some(Source { by, at, imported }) = source {
        let label = if *imported { "imported" } else { "drafted" };
        field(label, &format!("by {}, {}", who(by), time::both(*at)));
    }
    if let Some(about) = plan.origin.as_ref().and_then(|origin| origin.description.as_deref()) {
        field("about", &shown_line(about));
    }
    if let Some(earlier) = &plan.supersedes {
        field("replaces", short_id(earlier.as_str()));
    }
    if let Some(later) = &plan.superseded_by {
        field("replaced by", short_id(later.as_str()));
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
            field("valid", &format!("until {}", time::absolute(until)));
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
    const LABEL_WIDTH: usize = 12;
    let mut text = String::new();
    for (index, line) in wrap(&[Span::plain(value)], width.saturating_sub(LABEL_WIDTH)).iter().enumerate() {
        let label = if index == 0 { name } else { "" };
        text.push_str(&format!("{}{}\n", paint(&format!("{label:<LABEL_WIDTH$}"), DIM), painted(line)));
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

/// What a person can do with the plan now. `activity` is known for a plan that is EXECUTING.
pub(crate) fn next(plan: &Plan, standing: SessionPlan, activity: Option<&Activity>, invocation: &Invocation) -> String {
    next_of(choices(plan, activity), plan, standing, activity, invocation)
}

/// What a person can do with the plan now, of choices that are known.
pub(crate) fn next_of(
    choices: Choices,
    plan: &Plan,
    standing: SessionPlan,
    activity: Option<&Activity>,
    invocation: &Invocation,
) -> String {
    let situation = match (standing, plan.status) {
        (SessionPlan::Parked, PlanStatus::Ready) => format!("It is parked. {}", choices.situation),
        (SessionPlan::Parked, PlanStatus::Collecting | PlanStatus::Approved) => "It is parked.".to_owned(),
        (SessionPlan::Active | SessionPlan::Parked, _) => choices.situation,
    };
    let lines = choices
        .list
        .iter()
        .map(|choice| format!("  {}: {}", choice.label, command(choice, plan, activity, invocation)));
    let lines = std::iter::once(situation).chain(lines);
    lines.map(|line| format!("{}\n", paint(&shown_line(&line), DIM))).collect()
}

/// The choice as a command of the shell.
pub(crate) fn command(choice: &Choice, plan: &Plan, activity: Option<&Activity>, invocation: &Invocation) -> String {
    let number = plan.number.to_string();
    let kind = match (choice.kind, activity) {
        (ChoiceKind::Plan(kind), _) => kind,
        (_, Some(Activity::Asking(waiting))) => {
            let why = (choice.kind == ChoiceKind::Permit(Grant::No)).then_some(["--", "WHY"]);
            let words = ["inbox", "answer", short_id(waiting.ask.id.as_str()), choice.name()];
            return invocation.command(words.into_iter().chain(why.into_iter().flatten()));
        }
        (_, Some(Activity::Running | Activity::Paused | Activity::LeftTo(_)) | None) => return choice.command.clone(),
    };
    match kind {
        PlanChoice::Revise => invocation.plan(["revise", &number, "--", "WORDS"]),
        PlanChoice::Next { .. } => invocation.plan(["resume", &number]),
        PlanChoice::Settle(settle) => invocation.plan(["resume", &number, &format!("--{}", settle.as_str())]),
        PlanChoice::Begin => invocation.plan(["on"]),
        PlanChoice::Approve | PlanChoice::Reject | PlanChoice::Resume | PlanChoice::Cancel | PlanChoice::Watch => {
            invocation.plan([kind.as_str(), &number])
        }
    }
}

/// `4 covered by the plan, 1 asked, 1 refused`
pub(crate) fn permission_text(counts: &PermissionCounts) -> String {
    let PermissionCounts { covered, asked, refused } = counts;
    format!("{covered} covered by the plan, {asked} asked, {refused} refused")
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
