//! Where the plan stands: what is decided, what is done, and what is next.

use crate::agents::Specialist;
use crate::plan::execution::{Execution, StepStatus};
use crate::plan::{Plan, PlanStatus, PlanStyle};
use crate::prompt::PlanLine;
use crate::snapshot::Snapshot;
use crate::visible::visible;

/// How many steps are named in each list.
const MAX_STEPS: usize = 12;

pub fn plan_block(snapshot: &Snapshot, finished: &[PlanLine], specialists: &[Specialist]) -> String {
    let mode = snapshot.session.as_ref().map(|session| &session.plan_mode).filter(|mode| mode.enabled);
    let mut lines = Vec::new();
    match mode {
        None => {
            lines.push("# Plan work is off\n\nThere are no plan tools now, and no plan is being worked on.".to_owned())
        }
        Some(mode) => {
            lines.push(format!("# Plan work is on, style {}\n", mode.style));
            lines.push(rules(mode.style, specialists));
            match snapshot.active() {
                Some(plan) => lines.extend(standing(plan)),
                None => lines.push("\nThe plan cannot be read now; say so to the person.".to_owned()),
            }
        }
    }
    if !finished.is_empty() {
        lines.push("\nThese plans are over. Nothing of them is left to do, whatever was said earlier:".to_owned());
        lines.extend(
            finished.iter().map(|plan| format!("- plan {} is {}: {}", plan.number, plan.status, title(&plan.title))),
        );
    }
    lines.join("\n") + "\n"
}

fn rules(style: PlanStyle, specialists: &[Specialist]) -> String {
    match style {
        PlanStyle::Document => include_str!("document.md").trim_end().to_owned(),
        PlanStyle::Collect => include_str!("collect.md").trim_end().to_owned(),
        PlanStyle::Build => {
            let listed = specialists.iter().map(|each| format!("\n- `{}`: {}", each.name, each.about));
            include_str!("build.md").trim_end().to_owned() + &listed.collect::<String>()
        }
    }
}

fn standing(plan: &Plan) -> Vec<String> {
    let mut lines = vec![format!(
        "\nPlan {} is {}: {}. Version {}, digest {}. Its text is not repeated here: use `plan_get`.",
        plan.number,
        plan.status,
        title(&plan.display_title()),
        plan.version,
        plan.digest(),
    )];
    lines.push(format!("- Decided: {}", decided(plan)));
    let steps = plan.content.steps();
    match &plan.execution {
        Some(execution) => lines.extend(progress(execution)),
        None if steps.is_empty() => {}
        None => {
            // What is ticked in the text counts as done when it is carried out.
            let ticked = steps.iter().filter(|step| step.ticked).count();
            lines.push(format!("- Done: {ticked} of {}", steps.len()));
        }
    }
    lines.push(format!("- Next: {}", next(plan)));
    if let Some(feedback) = &plan.feedback {
        lines.push("- The person asked for these changes; answer them with a new version:".to_owned());
        lines.extend(visible(&feedback.text).lines().map(|line| format!("  > {line}")));
    }
    lines
}

fn decided(plan: &Plan) -> String {
    match plan.status {
        PlanStatus::Collecting if plan.is_empty() => "nothing yet, the plan is empty".to_owned(),
        PlanStatus::Collecting => "nothing yet, it is being drafted".to_owned(),
        PlanStatus::Ready => "nothing yet, it waits for the person; it must not be carried out".to_owned(),
        PlanStatus::Approved | PlanStatus::Executing | PlanStatus::PartiallyCompleted => {
            let Some(approval) = &plan.approval else { return "approved".to_owned() };
            let mut text = format!("approved by {}", title(&approval.by.name));
            if !approval.skipped.is_empty() {
                let skipped: Vec<_> = approval.skipped.iter().map(|skipped| skipped.position.to_string()).collect();
                text.push_str(&format!(", without step {}", skipped.join(", ")));
            }
            if approval.step_by_step {
                text.push_str(", step by step: the person looks after each step");
            }
            if let Some(note) = &approval.note {
                text.push_str(&format!(", with the note {}", title(note)));
            }
            text
        }
        PlanStatus::Rejected => format!("rejected{}", because(plan)),
        PlanStatus::Cancelled => format!("cancelled{}", because(plan)),
        PlanStatus::Completed => "approved, carried out and completed".to_owned(),
        PlanStatus::Superseded => "another plan took its place".to_owned(),
    }
}

fn because(plan: &Plan) -> String {
    let reason = plan.ending.as_ref().and_then(|ending| ending.reason.as_deref());
    reason.map_or_else(String::new, |reason| format!(": {}", title(reason)))
}

fn progress(execution: &Execution) -> Vec<String> {
    let mut lines = Vec::new();
    let progress = execution.progress();
    lines.push(format!("- Done: {} of {}", progress.done, progress.total));
    let told = |status: StepStatus| execution.steps.iter().zip(1..).filter(move |(run, _)| run.status == status);
    for (status, word) in [
        (StepStatus::Completed, "done"),
        (StepStatus::InProgress, "in progress"),
        (StepStatus::Failed, "failed"),
        (StepStatus::Skipped, "skipped"),
        (StepStatus::Uncertain, "uncertain"),
    ] {
        let count = told(status).count();
        // Of what is done the latest matter, of the rest the first.
        let from = if status == StepStatus::Completed { count.saturating_sub(MAX_STEPS) } else { 0 };
        for (run, position) in told(status).skip(from).take(MAX_STEPS) {
            lines.push(format!("  - {position}. {word}: {}", title(&run.description)));
        }
    }
    lines
}

fn next(plan: &Plan) -> String {
    let step = plan.execution.as_ref().and_then(|execution| execution.progress().next);
    match (plan.status, plan.style()) {
        (PlanStatus::Collecting | PlanStatus::Ready, _) if plan.feedback.is_some() => "make the changes".to_owned(),
        (PlanStatus::Collecting, PlanStyle::Document) => "draft it with the person and store it".to_owned(),
        (PlanStatus::Collecting, PlanStyle::Collect) => "propose the steps, then `plan_finalize`".to_owned(),
        (PlanStatus::Collecting, PlanStyle::Build) => "complete the draft, then `plan_submit`".to_owned(),
        (PlanStatus::Ready, _) => "the person decides; change it only if they ask".to_owned(),
        (PlanStatus::Approved, PlanStyle::Document) => "begin with its first open step".to_owned(),
        (PlanStatus::Executing, _) if step_pause(plan).is_some() => format!(
            "the person looks at step {} first; do nothing of the plan until they have released the next step",
            step_pause(plan).unwrap_or_default()
        ),
        (PlanStatus::Executing, PlanStyle::Document) => step.map_or_else(
            || "every step has its outcome; tell the person how it went".to_owned(),
            |next| format!("step {}, {}", next.step, title(&next.description)),
        ),
        (PlanStatus::PartiallyCompleted, _) => {
            "the person decides whether it continues, with `/plan resume`; do nothing of it until then".to_owned()
        }
        (PlanStatus::Approved | PlanStatus::Executing, PlanStyle::Collect | PlanStyle::Build) => {
            "it is carried out as it was approved, not by you in this conversation".to_owned()
        }
        (PlanStatus::Completed | PlanStatus::Rejected | PlanStatus::Cancelled | PlanStatus::Superseded, _) => {
            "nothing, this plan is over; do not take it up again".to_owned()
        }
    }
}

/// The step that the person looks at before the next one begins.
fn step_pause(plan: &Plan) -> Option<usize> {
    Some(plan.execution.as_ref()?.step_pause()?.step)
}

/// Foreign words in one line of ours.
fn title(text: &str) -> String {
    const MAX_CHARACTERS: usize = 120;
    let line = visible(text).replace(['\n', '\t'], " ").replace('"', "'");
    let short: String = line.chars().take(MAX_CHARACTERS).collect();
    if short.len() < line.len() { format!("\"{short}…\"") } else { format!("\"{line}\"") }
}
