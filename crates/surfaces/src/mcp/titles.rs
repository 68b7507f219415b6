//! Titles of the tools, for people.

use planwright_agent::Gateway;
use planwright_core::gate::{MemoryTool, PlanTool, WorkbookTool};

/// A tool of Planwright as a person reads it.
pub(super) fn title(name: &str) -> Option<&'static str> {
    if let Some(tool) = PlanTool::named(name) {
        return Some(match tool {
            PlanTool::Get => "Read the plan",
            PlanTool::SetContent => "Write the plan",
            PlanTool::Progress => "Report on a step",
            PlanTool::AddCall => "Record a call",
            PlanTool::Finalize => "Finish recording",
            PlanTool::AwaitDecision => "Wait for the decision",
            PlanTool::CreateDraft => "Begin a draft",
            PlanTool::SetMetadata => "Describe the draft",
            PlanTool::AddStep => "Add a step",
            PlanTool::UpdateStep => "Change a step",
            PlanTool::RemoveStep => "Remove a step",
            PlanTool::Submit => "Submit the draft",
            PlanTool::List => "List plans",
        });
    }
    if let Some(tool) = WorkbookTool::named(name) {
        return Some(match tool {
            WorkbookTool::Init => "Begin planning files",
            WorkbookTool::Read => "Read a planning file",
            WorkbookTool::Write => "Write a planning file",
            WorkbookTool::Update => "Change a section",
            WorkbookTool::Clear => "Put planning files away",
            WorkbookTool::List => "List planning files",
            WorkbookTool::Export => "Export planning files",
        });
    }
    let memory = MemoryTool::named(name).map(|tool| match tool {
        MemoryTool::Search => "Search the memory",
        MemoryTool::Save => "Remember",
    });
    memory.or_else(|| Gateway::is_result_tool(name).then_some("Read on in a result"))
}

/// Whether doing it again with the same arguments changes nothing more.
pub(super) fn is_idempotent(name: &str) -> bool {
    match PlanTool::named(name) {
        Some(tool) => match tool {
            PlanTool::Get
            | PlanTool::List
            | PlanTool::AwaitDecision
            | PlanTool::SetContent
            | PlanTool::SetMetadata
            | PlanTool::UpdateStep => true,
            PlanTool::Progress
            | PlanTool::AddCall
            | PlanTool::Finalize
            | PlanTool::CreateDraft
            | PlanTool::AddStep
            | PlanTool::RemoveStep
            | PlanTool::Submit => false,
        },
        None => {
            Gateway::is_result_tool(name)
                || matches!(name, "read_plan" | "list_plans" | "memory_search" | "write_plan" | "update_plan")
        }
    }
}

/// The schema of a plan tool's answer. No field is required: a refusal has `code` and `message` instead, and some clients
/// hold refusals against the schema as well.
pub(super) fn output_schema(name: &str) -> Option<serde_json::Map<String, serde_json::Value>> {
    let fields: &[(&str, &str)] = match PlanTool::named(name)? {
        PlanTool::Get => &[
            ("title", "string"),
            ("digest", "string"),
            ("markdown", "string"),
            ("steps", "array"),
            ("round", "object"),
            ("next", "string"),
        ],
        PlanTool::SetContent | PlanTool::Submit => &[("digest", "string"), ("next", "string")],
        PlanTool::Finalize => {
            &[("digest", "string"), ("steps", "array"), ("round_number", "integer"), ("next", "string")]
        }
        PlanTool::Progress => &[("done", "integer"), ("total", "integer"), ("message", "string")],
        PlanTool::AddCall => &[("planned", "boolean"), ("step", "integer"), ("message", "string")],
        PlanTool::AwaitDecision => &[
            ("decided", "boolean"),
            ("next", "string"),
            ("feedback", "string"),
            ("round_number", "integer"),
            ("plan", "object"),
            ("round", "object"),
        ],
        PlanTool::CreateDraft => &[],
        PlanTool::SetMetadata => &[("missing", "array")],
        PlanTool::AddStep | PlanTool::UpdateStep | PlanTool::RemoveStep => {
            &[("step_id", "string"), ("position", "integer"), ("steps", "integer")]
        }
        PlanTool::List => &[("plans", "array")],
    };
    let common = [("plan_id", "string"), ("number", "integer"), ("status", "string"), ("code", "string")];
    let properties: serde_json::Map<_, _> = common
        .iter()
        .chain(fields)
        .map(|(name, kind)| ((*name).to_owned(), serde_json::json!({ "type": kind })))
        .collect();
    let mut schema = serde_json::Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    Some(schema)
}
