//! Style collect: a call or two to be written down as steps, then the end of collecting.

use planwright_core::model::ToolSpec;
use serde_json::{Map, Value, json};

use crate::rehearsal::draft::{Draft, change};
use crate::rehearsal::intent::Intent;
use crate::rehearsal::plan::{RehearsedPhase, RehearsedPlan};
use crate::rehearsal::turn_view::TurnView;
use crate::rehearsal::{Next, messages};

/// Tools whose recorded call does something harmless once it is approved, in the order in which they are used.
const FAMILIAR: [&str; 2] = ["list_files", "write_file"];
/// The names of tools that are never recorded begin so.
const OURS: [&str; 5] = ["ask_", "memory_", "goal_", "task_", "diary_"];

pub(super) fn next(turn: &TurnView<'_>, plan: &RehearsedPlan) -> Next {
    match plan.phase {
        RehearsedPhase::Drafting => collect(turn, plan),
        RehearsedPhase::Waiting => match Intent::of(turn.text) {
            Intent::GoAhead | Intent::Ask => Next::Say(messages::waiting()),
            Intent::Change | Intent::Task => Next::Say(messages::frozen()),
        },
        RehearsedPhase::Approved => Next::Say(messages::approved()),
        RehearsedPhase::LeftOpen => Next::Say(messages::left_open()),
        RehearsedPhase::Over(status) => Next::Say(messages::over(status)),
    }
}

fn collect(turn: &TurnView<'_>, plan: &RehearsedPlan) -> Next {
    let made: Vec<_> = turn.calls.iter().filter(|call| !call.is_about_plans()).collect();
    let draft = Draft::from_text(turn.text);
    if let Some(tool) = usable(turn).get(made.len()) {
        return Next::CallOther(tool.name.clone(), arguments(tool, &note(&draft, plan)));
    }
    match made.last() {
        None => Next::Say(messages::nothing_to_call()),
        Some(last) if made.iter().all(|call| call.failed) => Next::Say(messages::refused(last)),
        Some(_) => {
            let summary = plan.feedback.as_deref().map_or_else(
                || format!("Rehearsal of: {}", draft.title),
                |feedback| format!("Rehearsal of: {}. {}", draft.title, change(feedback)),
            );
            Next::Call("plan_finalize", json!({ "summary": summary }))
        }
    }
}

/// The familiar tools, or else the first one that is not about plans, questions, memories or goals.
fn usable<'a>(turn: &TurnView<'a>) -> Vec<&'a ToolSpec> {
    let familiar: Vec<_> = FAMILIAR.iter().filter_map(|name| turn.tool(name)).collect();
    if !familiar.is_empty() {
        return familiar;
    }
    let is_ours = |name: &str| name.contains("plan") || OURS.iter().any(|prefix| name.starts_with(prefix));
    let foreign = |tool: &&ToolSpec| !is_ours(&tool.name);
    turn.request.tools.iter().find(foreign).into_iter().collect()
}

fn note(draft: &Draft, plan: &RehearsedPlan) -> String {
    let feedback = plan.feedback.as_deref().map(|feedback| format!("\n{}\n", change(feedback))).unwrap_or_default();
    format!("# {}\n\nA note by the rehearsal model.\n{feedback}", draft.title)
}

/// What the schema requires, filled by the names of the fields and by their types.
fn arguments(tool: &ToolSpec, note: &str) -> Value {
    let required = tool.input_schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let fields = required.iter().filter_map(Value::as_str);
    let value = |name: &str| filled(name, &tool.input_schema["properties"][name], note);
    Value::Object(fields.map(|name| (name.to_owned(), value(name))).collect::<Map<_, _>>())
}

fn filled(name: &str, schema: &Value, note: &str) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => match name {
            "path" | "file" | "filename" | "name" => json!("rehearsal.md"),
            "pattern" | "glob" => json!("*"),
            _ => json!(note),
        },
    }
}
