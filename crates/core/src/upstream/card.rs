//! What a person reads before accepting the tools of a server: every part of them that is pinned, as text.
//!
//! Our own words begin in the first column or stand before a colon; every further line that a server wrote is indented. So a
//! description cannot look like another tool or like an annotation.

use std::fmt::Write as _;

use serde_json::Value;
use similar::TextDiff;

use super::difference::{ChangedTool, ToolDifference};
use super::{UpstreamAnnotations, UpstreamTool};
use crate::visible::visible;

const INDENT: &str = "    ";

impl ToolDifference {
    /// Everything that an acceptance covers and that was not accepted before, with hidden characters made visible: what the server
    /// may reach, new tools whole, changed ones whole with what was before, and the names of removed ones.
    pub fn describe(&self) -> String {
        let about = self.about.iter().map(|line| format!("{}\n", visible(line).replace('\n', "⟦U+000A⟧")));
        let about = about.chain((!self.about.is_empty()).then(|| "\n".to_owned()));
        let changed = self.changed.iter().map(describe_changed);
        let removed = self.removed.iter().map(|tool| format!("removed {}\n", name(tool)));
        let added = self.added.iter().map(|tool| format!("new {}:\n{}\n", name(tool), indented(&describe_tool(tool))));
        about.chain(changed).chain(removed).chain(added).collect()
    }

    /// [`describe`](Self::describe) in parts of at most `characters`, cut at the end of a line where there is one. Joined they
    /// are the whole.
    pub fn pages(&self, characters: usize) -> Vec<String> {
        let (mut pages, mut page, mut room) = (Vec::new(), String::new(), characters.max(1));
        let whole = self.describe();
        for line in whole.split_inclusive('\n') {
            let length = line.chars().count();
            if length > room && !page.is_empty() {
                pages.push(std::mem::take(&mut page));
                room = characters.max(1);
            }
            for letter in line.chars() {
                if room == 0 {
                    pages.push(std::mem::take(&mut page));
                    room = characters.max(1);
                }
                page.push(letter);
                room -= 1;
            }
        }
        if !page.is_empty() || pages.is_empty() {
            pages.push(page);
        }
        pages
    }
}

fn describe_changed(tool: &ChangedTool) -> String {
    let (before, after) = (describe_tool(&tool.before), describe_tool(&tool.after));
    // What stayed the same is shown as well: a policy may have accepted it, and no person have read it.
    let lines = before.lines().count() + after.lines().count();
    let diff = TextDiff::from_lines(&before, &after);
    format!("changed {}:\n{}\n", name(&tool.after), diff.unified_diff().context_radius(lines))
}

/// The name in quotation marks, on one line.
fn name(tool: &UpstreamTool) -> String {
    format!("`{}`", visible(&tool.name).replace('\n', "⟦U+000A⟧"))
}

/// Every pinned part of a tool except its name.
fn describe_tool(tool: &UpstreamTool) -> String {
    let UpstreamTool { name: _, title, description, input_schema, output_schema, annotations } = tool;
    let UpstreamAnnotations { read_only, idempotent, destructive } = annotations;
    let mut text = String::new();
    let mut part = |label: &str, value: &str| {
        let _ = writeln!(text, "{label}: {}", visible(value).replace('\n', &format!("\n{INDENT}")));
    };
    if let Some(title) = title {
        part("title", title);
    }
    part("description", description);
    part("arguments", &pretty(input_schema));
    if let Some(schema) = output_schema {
        part("result", &pretty(schema));
    }
    part("only reads (readOnlyHint)", claim(*read_only));
    part("may be repeated (idempotentHint)", claim(*idempotent));
    part("destroys (destructiveHint)", claim(*destructive));
    text
}

fn claim(value: Option<bool>) -> &'static str {
    match value {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not said",
    }
}

fn pretty(schema: &Value) -> String {
    serde_json::to_string_pretty(schema).unwrap_or_default()
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("{INDENT}{line}\n")).collect()
}

#[cfg(test)]
mod tests;
