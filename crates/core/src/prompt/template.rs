//! What the agent is told about the sections of a document.

use crate::plan::template::PlanTemplate;
use crate::visible::visible;

/// The part of the prompt about the template of documents.
pub fn template_block(template: &PlanTemplate) -> String {
    let mut text = String::from(
        "\n# The template of plans\n\nA plan here has the sections of this template. Fill each of them, and leave none out. The answer of \
         `plan_set_content` names the sections that are missing.\n\n",
    );
    for line in visible(template.text()).lines() {
        text.push_str(if line.is_empty() { ">" } else { "> " });
        text.push_str(line);
        text.push('\n');
    }
    text
}
