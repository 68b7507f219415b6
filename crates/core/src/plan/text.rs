//! A plan as one Markdown text: what is shown for approval, exported and read.

use std::fmt::Write as _;

use crate::call_text::{call_blocks, fence_for};
use crate::ids::StepId;
use crate::plan::content::{AgentStep, Built, CallRunner, Collected, PlanContent};
use crate::plan::{Plan, PlanStep, Round};

impl Plan {
    /// The whole plan as Markdown. A document is given byte for byte; the other styles are written out with
    /// everything their digest covers.
    pub fn markdown(&self) -> String {
        match &self.content {
            PlanContent::Document(document) => document.markdown.clone(),
            PlanContent::Collect(collected) => self.headed(&self.collected(collected)),
            PlanContent::Build(built) => self.headed(&self.built(built)),
        }
    }

    fn headed(&self, body: &str) -> String {
        format!("# {}\n{body}", one_line(&self.display_title()))
    }

    fn collected(&self, collected: &Collected) -> String {
        let mut text = String::new();
        if let Some(summary) = &collected.summary {
            quotation(&mut text, summary);
        }
        if let Some(round) = &self.round {
            rounds(&mut text, round);
        }
        text.push_str("\n## Steps\n");
        let has_both = !self.content.is_made_by_planwright();
        for (step, n) in collected.steps.iter().zip(1..) {
            let _ = write!(text, "\n{n}. {}", code(&one_line(&step.tool)));
            if let Some(description) = &step.description {
                let _ = write!(text, ": {}", one_line(description));
            }
            match step.runner {
                CallRunner::Planwright if has_both => text.push_str(" (Planwright makes this call)"),
                CallRunner::Planwright => {}
                CallRunner::Client => text.push_str(" (the agent's own tool; the agent makes this call)"),
            }
            text.push('\n');
            for block in call_blocks(&step.tool, &step.arguments) {
                let _ = write!(text, "\n{}", block.markdown("   "));
            }
        }
        text
    }

    fn built(&self, built: &Built) -> String {
        let mut text = String::new();
        if let Some(summary) = &built.summary {
            quotation(&mut text, summary);
        }
        if let Some(goal) = &built.goal {
            text.push_str("\n## Goal\n");
            quotation(&mut text, goal);
        }
        text.push_str("\n## Steps\n\n");
        for (step, n) in built.steps.iter().zip(1..) {
            self.built_step(&mut text, n, step);
        }
        let lists = [
            ("Assumptions", &built.assumptions),
            ("Risks", &built.risks),
            ("Verification", &built.verification),
            ("Files", &built.files),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            let _ = write!(text, "\n## {name}\n\n");
            for item in list {
                let _ = writeln!(text, "- {}", one_line(item));
            }
        }
        text
    }

    fn built_step(&self, text: &mut String, n: usize, step: &AgentStep) {
        let _ = writeln!(text, "{n}. **{}**: {}", step.agent, one_line(&step.description));
        if !step.needs.is_empty() {
            let steps = self.content.steps();
            let position =
                |id: &StepId| steps.iter().position(|other: &PlanStep| other.id == *id).map_or(0, |index| index + 1);
            let needs: Vec<_> = step.needs.iter().map(|id| position(id).to_string()).collect();
            let _ = writeln!(text, "   - needs: {}", needs.join(", "));
        }
        if let Some(verification) = &step.verification {
            let _ = writeln!(text, "   - verification: {}", one_line(verification));
        }
        for command in &step.commands {
            let _ = writeln!(text, "   - command: {}", code(command));
        }
    }
}

/// Which round it is, and what the rounds before did.
fn rounds(text: &mut String, round: &Round) {
    let _ = write!(text, "\nRound {} of plan {}.\n", round.number, round.plan);
    if round.before.is_empty() {
        return;
    }
    text.push_str("\n## Rounds before\n\n");
    for earlier in &round.before {
        let _ = writeln!(text, "- round {}, {}", earlier.number, earlier.status);
        for call in &earlier.calls {
            let _ = write!(text, "  - {}, {}", code(&one_line(&call.call)), call.status);
            let _ = match &call.result {
                Some(result) => writeln!(text, ": {}", code(&one_line(result))),
                None => writeln!(text),
            };
        }
        if earlier.total > earlier.calls.len() {
            let _ = writeln!(text, "  - {} more", earlier.total - earlier.calls.len());
        }
    }
}

/// Quoted line by line, so that no words can pass for a part of the plan that they are not.
fn quotation(text: &mut String, quoted: &str) {
    text.push('\n');
    for line in quoted.trim().split('\n') {
        let _ = writeln!(text, "> {line}");
    }
}

/// On one line. Only plain space is folded; every other character stays visible.
fn one_line(text: &str) -> String {
    text.split([' ', '\t', '\n']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A code span that its content cannot end.
fn code(text: &str) -> String {
    if !text.contains('`') {
        return format!("`{text}`");
    }
    let fence = fence_for(text);
    format!("{fence} {text} {fence}")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::ids::PlanId;
    use crate::plan::PlanStyle;

    fn text(goal: &str, summary: &str) -> String {
        let session = "web:k3yk3y8x".parse().unwrap();
        let mut plan = Plan::begun(PlanId::new("p").unwrap(), session, 1, PlanStyle::Build, Timestamp::UNIX_EPOCH);
        let built = Built { goal: Some(goal.to_owned()), summary: Some(summary.to_owned()), ..Built::default() };
        plan.title = Some("T".to_owned());
        plan.content = PlanContent::Build(built);
        plan.markdown()
    }

    #[test]
    fn words_cannot_pass_for_another_part_of_the_plan() {
        assert_ne!(text("G2", "S\n\n## Goal\n\nG1"), text("G1\n\n## Goal\n\nG2", "S"));
        assert_eq!(text("## Steps\n\n1. none", "S").matches("\n## Steps\n").count(), 1);
        assert!(text("```", "S").contains("\n> ```\n"));
    }

    #[test]
    fn a_code_span_cannot_be_ended_from_inside() {
        assert_eq!(code("write_file"), "`write_file`");
        assert_eq!(code("a`b"), "``` a`b ```");
    }

    #[test]
    fn only_plain_space_is_folded() {
        assert_eq!(one_line("a \t\n b\u{2028}c\u{b}d"), "a b\u{2028}c\u{b}d");
    }
}
