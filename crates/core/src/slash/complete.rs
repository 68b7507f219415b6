//! How a line that begins like a command may continue, one word at a time.

use super::table::{CommandSpec, offered};

/// Whole lines to put in place of `prefix`, in the order of the table. One that ends in a space takes an argument.
pub fn completions(prefix: &str) -> Vec<String> {
    let typed = normal(prefix);
    if !typed.starts_with('/') {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for line in offered().flat_map(lines).filter(|line| line.starts_with(&typed) && *line != typed) {
        let end = line[typed.len()..].find(' ').map_or(line.len(), |space| typed.len() + space + 1);
        let word = line[..end].to_owned();
        if !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// In small letters and with single spaces. A space at the end stays: it says that the word before it is finished.
fn normal(text: &str) -> String {
    let mut normal = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    if text.ends_with(char::is_whitespace) {
        normal.push(' ');
    }
    normal
}

fn lines(entry: &'static CommandSpec) -> Vec<String> {
    let name = entry.line("");
    let mut lines: Vec<_> = entry.choices().map(|choice| format!("{name} {choice}")).collect();
    if entry.name == "help" {
        lines.extend(offered().map(|topic| format!("{name} {}", topic.name)));
    }
    if entry.arguments.is_empty() {
        lines.push(name);
    } else if lines.is_empty() {
        lines.push(format!("{name} "));
    }
    lines
}
