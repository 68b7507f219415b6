//! What each workbook tool takes. The JSON Schemas that models read are derived from these types.

use planwright_core::gate::WorkbookTool;
use planwright_core::workbook;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::tool_schema::schema_of as of;

/// One of the three documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum DocumentArgument {
    #[default]
    TaskPlan,
    Findings,
    Progress,
}

impl From<DocumentArgument> for workbook::DocumentKind {
    fn from(which: DocumentArgument) -> Self {
        match which {
            DocumentArgument::TaskPlan => Self::TaskPlan,
            DocumentArgument::Findings => Self::Findings,
            DocumentArgument::Progress => Self::Progress,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Init {
    /// What the work is about, in a few words.
    pub(super) task_title: String,
    /// Archives a workbook that is not complete and begins a fresh one.
    #[serde(default)]
    pub(super) force_new: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    #[serde(default)]
    pub(super) which: DocumentArgument,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    pub(super) which: DocumentArgument,
    /// The whole document. It replaces what was there.
    pub(super) content: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Update {
    pub(super) which: DocumentArgument,
    /// The exact heading, or the way to it where two are the same: `Phases > Phase 2`.
    pub(super) section: String,
    /// What stands under the heading afterwards. The heading itself stays.
    pub(super) content: String,
    /// Leaves the sections below this one as they are.
    #[serde(default)]
    pub(super) own_text_only: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Clear {
    /// Has to be true.
    #[serde(default)]
    pub(super) confirm: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct List {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Export {
    /// One document; all three in one file if absent.
    #[serde(default)]
    pub(super) which: Option<DocumentArgument>,
    /// The file among the person's own files; a free name if absent.
    #[serde(default)]
    pub(super) path: Option<String>,
}

pub(super) fn schema(tool: WorkbookTool) -> Value {
    match tool {
        WorkbookTool::Init => of::<Init>(),
        WorkbookTool::Read => of::<Read>(),
        WorkbookTool::Write => of::<Write>(),
        WorkbookTool::Update => of::<Update>(),
        WorkbookTool::Clear => of::<Clear>(),
        WorkbookTool::List => of::<List>(),
        WorkbookTool::Export => of::<Export>(),
    }
}

pub(super) fn description(tool: WorkbookTool) -> &'static str {
    match tool {
        WorkbookTool::Init => include_str!("../descriptions/init_plan.md"),
        WorkbookTool::Read => include_str!("../descriptions/read_plan.md"),
        WorkbookTool::Write => include_str!("../descriptions/write_plan.md"),
        WorkbookTool::Update => include_str!("../descriptions/update_plan.md"),
        WorkbookTool::Clear => include_str!("../descriptions/clear_plan.md"),
        WorkbookTool::List => include_str!("../descriptions/list_plans.md"),
        WorkbookTool::Export => include_str!("../descriptions/export_plan.md"),
    }
    .trim_end()
}
