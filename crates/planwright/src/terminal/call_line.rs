//! A recorded call in a few words, for lists of steps. The card of the plan shows the whole call.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::text::count;

/// What says most about a call, in this order.
const TELLING: [&str; 7] = ["command", "path", "pattern", "query", "url", "title", "name"];

/// `write_file notes.md (3 lines)` for a step whose description is the call itself; any other description as it is.
pub(crate) fn call_line(description: &str) -> Cow<'_, str> {
    let call = description.strip_suffix(')').and_then(|call| call.split_once('('));
    let found = call.and_then(|(tool, arguments)| {
        let is_name = !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let arguments: Map<String, Value> = serde_json::from_str(arguments).ok().filter(|_| is_name)?;
        short(tool, &arguments)
    });
    found.map_or(Cow::Borrowed(description), Cow::Owned)
}

fn short(tool: &str, arguments: &Map<String, Value>) -> Option<String> {
    if arguments.is_empty() {
        return Some(tool.to_owned());
    }
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let about = TELLING.iter().find_map(|name| text(name))?;
    let to = text("to").map_or_else(String::new, |to| format!(" to {to}"));
    let lines =
        text("content").map_or_else(String::new, |content| format!(" ({})", count(content.lines().count(), "line")));
    Some(format!("{tool} {about}{to}{lines}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_says_what_it_is_about() {
        for (description, expected) in [
            (r#"write_file({"path":"a.md","content":"one\ntwo\n"})"#, "write_file a.md (2 lines)"),
            (r#"move_file({"path":"a","to":"b"})"#, "move_file a to b"),
            (r#"run_command({"command":"cargo test (all)"})"#, "run_command cargo test (all)"),
            ("list_files({})", "list_files"),
            (r#"post({"n":1})"#, r#"post({"n":1})"#),
            ("Copy the rows (all of them)", "Copy the rows (all of them)"),
            (r#"Say "({})" twice({})"#, r#"Say "({})" twice({})"#),
        ] {
            assert_eq!(call_line(description), expected, "{description}");
        }
    }
}
