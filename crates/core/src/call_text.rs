//! A call as a person reads it before it runs: a command as a command, what a file tool writes as lines of a diff, everything
//! else as JSON. Nothing of the arguments is left out, and different arguments have different texts.

use serde_json::{Map, Value};

/// A part of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallBlock {
    /// As the info string of a code block has it.
    pub language: &'static str,
    pub text: String,
}

/// The parts of a call, in their order.
pub fn call_blocks(tool: &str, arguments: &Value) -> Vec<CallBlock> {
    let Some(fields) = arguments.as_object() else { return vec![CallBlock::json(arguments)] };
    let known = match tool {
        "run_command" => command(fields),
        "write_file" => written(fields),
        "edit_file" => edited(fields),
        _ => None,
    };
    let Some((block, shown)) = known else { return vec![CallBlock::json(arguments)] };
    let rest: Map<_, _> = fields.iter().filter(|(name, _)| !shown.contains(&name.as_str())).map(owned).collect();
    let rest = (!rest.is_empty()).then(|| CallBlock::json(&Value::Object(rest)));
    std::iter::once(block).chain(rest).collect()
}

fn owned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

impl CallBlock {
    fn json(value: &Value) -> Self {
        Self { language: "json", text: format!("{value:#}") }
    }

    fn diff(lines: &[String]) -> Self {
        Self { language: "diff", text: lines.join("\n") }
    }

    /// As a code block in Markdown that its text cannot end.
    pub fn markdown(&self, indent: &str) -> String {
        let fence = fence_for(&self.text);
        let text: String = self.text.split('\n').map(|line| format!("{indent}{line}\n")).collect();
        format!("{indent}{fence}{}\n{text}{indent}{fence}\n", self.language)
    }
}

/// A fence longer than any run of backticks inside, so that the text cannot end it.
pub(crate) fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// The part with the arguments that it shows.
type Shown = (CallBlock, &'static [&'static str]);

fn command(fields: &Map<String, Value>) -> Option<Shown> {
    let text = fields.get("command")?.as_str()?.to_owned();
    Some((CallBlock { language: "sh", text }, &["command"]))
}

fn written(fields: &Map<String, Value>) -> Option<Shown> {
    let (path, content) = (path(fields)?, fields.get("content")?.as_str()?);
    let mut lines = vec![format!("+++ {path}")];
    if !content.is_empty() {
        lines.extend(content.strip_suffix('\n').unwrap_or(content).split('\n').map(|line| format!("+{line}")));
        if !content.ends_with('\n') {
            lines.push("\\ No newline at the end of the file".to_owned());
        }
    }
    Some((CallBlock::diff(&lines), &["path", "content"]))
}

fn edited(fields: &Map<String, Value>) -> Option<Shown> {
    let path = path(fields)?;
    let mut lines = vec![format!("--- {path}"), format!("+++ {path}")];
    for edit in fields.get("edits")?.as_array()? {
        let edit = edit.as_object()?;
        let all = match edit.get("all") {
            None => false,
            Some(all) => all.as_bool()?,
        };
        let (old, new) = (edit.get("old")?.as_str()?, edit.get("new")?.as_str()?);
        if edit.keys().any(|name| !["old", "new", "all"].contains(&name.as_str())) {
            return None;
        }
        lines.push(if all { "@@ everywhere @@" } else { "@@ once @@" }.to_owned());
        lines.extend(old.split('\n').map(|line| format!("-{line}")));
        lines.extend(new.split('\n').map(|line| format!("+{line}")));
    }
    Some((CallBlock::diff(&lines), &["path", "edits"]))
}

/// A path with anything else than plain characters is shown as the rest of such arguments is.
fn path(fields: &Map<String, Value>) -> Option<&str> {
    fields.get("path")?.as_str().filter(|path| !path.contains(char::is_control))
}
