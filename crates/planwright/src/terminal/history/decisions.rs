//! Who decided what about the plan, through what and when.

use planwright_engine::history::{DecisionMade, PlanDecision};
use planwright_engine::{recognition, who};

use super::{because, status_text};
use crate::terminal::palette::{BOLD, DIM};
use crate::terminal::text::{Span, count, painted, shown_line, wrap};
use crate::terminal::time;

pub(super) fn render(decisions: &[PlanDecision], width: usize) -> String {
    if decisions.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", count(decisions.len(), "decision"));
    for decision in decisions {
        let (what, more) = describe(&decision.what);
        let by = format!(" by {}, {}", shown_line(&who(&decision.by)), time::both(decision.at));
        let spans = [Span::new(what, BOLD), Span::plain(&more), Span::new(&by, DIM)];
        for (index, line) in wrap(&spans, width.saturating_sub(4)).iter().enumerate() {
            text.push_str(&format!("{}{}\n", if index == 0 { "  " } else { "    " }, painted(line)));
        }
        let recognised = format!("recognised: {}", shown_line(&recognition(&decision.by)));
        for remark in std::iter::once(recognised).chain(remarks(&decision.what)) {
            for line in wrap(&[Span::plain(&remark)], width.saturating_sub(4)) {
                text.push_str(&format!("    {}\n", painted(&line)));
            }
        }
    }
    text
}

fn describe(decision: &DecisionMade) -> (&'static str, String) {
    match decision {
        DecisionMade::Approved { approval, steps } => {
            let more = match (steps.as_slice(), approval.skipped.is_empty()) {
                ([], _) => String::new(),
                ([_], true) => ", its only step,".to_owned(),
                (steps, true) => format!(", all {},", count(steps.len(), "step")),
                ([only], false) => format!(", only step {only},"),
                (steps, false) => format!(", only steps {},", listed(steps)),
            };
            ("approved", more)
        }
        DecisionMade::ApprovalSigned { signed, .. } => {
            ("approved", format!(", {} of {} people,", signed.approval.signatures.len(), signed.people))
        }
        DecisionMade::Rejected { .. } => ("rejected", String::new()),
        DecisionMade::RevisionRequested { .. } => ("changes asked for", String::new()),
        DecisionMade::Cancelled { .. } => ("cancelled", String::new()),
        DecisionMade::Settled { position, status, .. } => {
            let step = position.map_or_else(|| "a step".to_owned(), |position| format!("step {position}"));
            ("settled", format!(": {step} {},", status_text(*status)))
        }
    }
}

/// What was left out, and what was said with it.
fn remarks(decision: &DecisionMade) -> Vec<String> {
    match decision {
        DecisionMade::Approved { approval, .. } => {
            let left = approval.skipped.iter().map(|step| format!("without step {}: {}", step.position, step.why));
            left.chain(approval.note.iter().map(|note| format!("note{}", because(Some(note))))).collect()
        }
        DecisionMade::ApprovalSigned { signed, .. } => {
            signed.approval.note.iter().map(|note| format!("note{}", because(Some(note)))).collect()
        }
        DecisionMade::Rejected { reason } | DecisionMade::Cancelled { reason } => {
            reason.iter().map(|reason| format!("reason{}", because(Some(reason)))).collect()
        }
        DecisionMade::RevisionRequested { feedback } => vec![shown_line(feedback)],
        DecisionMade::Settled { note, .. } => note.iter().map(|note| shown_line(note)).collect(),
    }
}

fn listed(steps: &[usize]) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
