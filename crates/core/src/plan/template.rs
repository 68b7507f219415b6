//! The template of documents: the sections that a person or a project wants in every plan.

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

use crate::refusal::Refusal;

/// The name of its file, in the data folder or in a project.
pub const TEMPLATE_FILE: &str = "plan-template.md";
/// The model reads it in every request of a planning conversation.
pub const TEMPLATE_BYTES: usize = 16 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanTemplate {
    text: String,
    sections: Vec<String>,
}

impl PlanTemplate {
    pub fn new(text: &str) -> Result<Self, Refusal> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.len() > TEMPLATE_BYTES {
            let bytes = text.len();
            return Err(Refusal::limit(format!("a template has at most {TEMPLATE_BYTES} bytes; this one has {bytes}")));
        }
        let headings = headings(text);
        let title = match headings.as_slice() {
            // A single heading of the first level stands for the title of the plan.
            [(HeadingLevel::H1, _), rest @ ..] => !rest.iter().any(|(level, _)| *level == HeadingLevel::H1),
            _ => false,
        };
        let sections: Vec<_> = headings.into_iter().skip(usize::from(title)).map(|(_, heading)| heading).collect();
        if sections.is_empty() {
            return Err(Refusal::invalid("a template needs at least one heading below the title, such as `## Goal`"));
        }
        Ok(Self { text: text.to_owned(), sections })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The sections of the template that the plan does not have, as the template writes them.
    pub fn missing_sections(&self, markdown: &str) -> Vec<String> {
        let present: Vec<_> = headings(markdown).into_iter().map(|(_, heading)| normalized(&heading)).collect();
        self.sections.iter().filter(|section| !present.contains(&normalized(section))).cloned().collect()
    }
}

fn headings(markdown: &str) -> Vec<(HeadingLevel, String)> {
    let mut found: Vec<(HeadingLevel, String)> = Vec::new();
    let mut inside = false;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                found.push((level, String::new()));
                inside = true;
            }
            Event::End(TagEnd::Heading(_)) => inside = false,
            Event::Text(text) | Event::Code(text) if inside => {
                if let Some((_, heading)) = found.last_mut() {
                    heading.push_str(&text);
                }
            }
            Event::SoftBreak | Event::HardBreak if inside => {
                if let Some((_, heading)) = found.last_mut() {
                    heading.push(' ');
                }
            }
            _ => {}
        }
    }
    found.retain(|(_, heading)| !heading.trim().is_empty());
    found
}

/// Case, spaces, a number in front and a colon behind do not tell two headings apart.
fn normalized(heading: &str) -> String {
    let heading =
        heading.trim().trim_end_matches(':').trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ')');
    heading.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "# Title of the plan\n\n## Goal\n\nWhy.\n\n## Steps\n\n## Risks:\n\n### How to undo\n";

    #[test]
    fn missing_sections_are_those_of_the_template_in_its_order() {
        let template = PlanTemplate::new(TEMPLATE).unwrap();
        for (markdown, missing) in [
            ("# Anything\n\n## Goal\n## 2. steps\nRisks\n-----\n#### how  to undo\n", &[][..]),
            ("## Steps\n\ntext\n", &["Goal", "Risks:", "How to undo"]),
            ("```\n## Goal\n```\n## Steps\n## Risks\n## How to `undo`\n", &["Goal"]),
            ("", &["Goal", "Steps", "Risks:", "How to undo"]),
        ] {
            assert_eq!(template.missing_sections(markdown), missing, "{markdown}");
        }
    }

    #[test]
    fn a_template_has_sections_and_a_limit() {
        assert!(PlanTemplate::new("# Only a title\n\ntext").is_err());
        assert!(PlanTemplate::new("").is_err());
        assert!(PlanTemplate::new(&format!("## Goal\n{}", "x".repeat(TEMPLATE_BYTES))).is_err());
        let two = PlanTemplate::new("# One\n\n# Two\n").unwrap();
        assert_eq!(two.missing_sections("# one"), ["Two"]);
    }
}
