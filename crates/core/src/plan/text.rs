//! A plan as one Markdown text: what is shown for approval, exported and read.

use std::fmt::Write as _;

use crate::ids::StepId;
use crate::plan::content::{AgentStep, Built, Collected, PlanContent};
use crate::plan::{Plan, PlanStep};

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
            paragraph(&mut text, summary);
        }
        text.push_str("\n## Steps\n");
        for (step, n) in collected.steps.iter().zip(1..) {
            let _ = write!(text, "\n{n}. `{}`", one_line(&step.tool));
            if let Some(description) = &step.description {
                let _ = write!(text, ": {}", one_line(description));
            }
            text.push('\n');
            let arguments = serde_json::to_string_pretty(&step.arguments).unwrap_or_default();
            let fence = fence_for(&arguments);
            let _ = write!(text, "\n   {fence}json\n");
            for line in arguments.lines() {
                let _ = writeln!(text, "   {line}");
            }
            let _ = writeln!(text, "   {fence}");
        }
        text
    }

    fn built(&self, built: &Built) -> String {
        let mut text = String::new();
        if let Some(summary) = &built.summary {
            paragraph(&mut text, summary);
        }
        if let Some(goal) = &built.goal {
            text.push_str("\n## Goal\n");
            paragraph(&mut text, goal);
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
    }
}

fn paragraph(text: &mut String, words: &str) {
    let _ = write!(text, "\n{}\n", words.trim());
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A fence longer than any run of backticks inside, so that arguments cannot end it.
fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}
