//! The table as a page, or a part of it with examples. All of it is Markdown.

use super::mistake::did_you_mean;
use super::plan;
use super::suggest::nearest;
use super::table::{CommandSpec, HelpGroup, offered};
use crate::visible::quoted;

const ABOUT_REFERENCES: &str = "`[plan]` is a plan's number, its id, or six or more characters of its id; without it the \
                                active plan is meant.";
const ABOUT_SLASHES: &str = "A message that begins with a slash is written with two: `//like this`.";

/// Everything, or what there is on a topic: a command, or the first or last word of one.
pub fn help(topic: Option<&str>) -> String {
    let words: Vec<_> = topic.unwrap_or_default().split_whitespace().collect();
    let topic = words.join(" ").trim_start_matches('/').to_lowercase();
    if topic.is_empty() {
        return everything();
    }
    let about: Vec<_> = offered().filter(|entry| is_about(entry, &topic)).collect();
    if about.is_empty() {
        return nothing_on(&topic);
    }
    let mut lines: Vec<_> = about.iter().map(|entry| format!("{}\n  `{}`", line(entry), entry.example)).collect();
    if about.iter().any(|entry| entry.arguments.contains("[plan]")) {
        lines.push(format!("\n{ABOUT_REFERENCES}"));
    }
    lines.join("\n")
}

fn everything() -> String {
    let mut sections = Vec::new();
    for group in HelpGroup::ALL {
        let lines: Vec<_> = offered().filter(|entry| entry.group == group).map(line).collect();
        if !lines.is_empty() {
            sections.push(format!("**{}**\n\n{}", group.title(), lines.join("\n")));
        }
    }
    sections.push(format!("{ABOUT_REFERENCES} `/help {}` has examples. {ABOUT_SLASHES}", plan::NAME));
    sections.join("\n\n")
}

fn line(entry: &CommandSpec) -> String {
    format!("- `{}`: {}", entry.usage(), entry.help)
}

fn is_about(entry: &CommandSpec, topic: &str) -> bool {
    let first = entry.name.split(' ').next();
    entry.name == topic || first == Some(topic) || entry.last_word() == topic
}

fn nothing_on(topic: &str) -> String {
    let near: Vec<_> = nearest(topic, offered()).iter().map(|entry| format!("/help {}", entry.name)).collect();
    let next = if near.is_empty() { "`/help` lists the commands.".to_owned() } else { did_you_mean(&near) };
    format!("There is no help on {}. {next}", quoted(topic))
}
