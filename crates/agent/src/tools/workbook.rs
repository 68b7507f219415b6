//! The workbook tools a model sees, through the gate.
//!
//! - `arguments`, `results`: what they take and answer

mod arguments;
mod results;

use planwright_core::gate::{Caller, GateContext, WorkbookTool, advertised_workbook_tools, authorize_workbook_tool};
use planwright_core::refusal::Refusal;
use planwright_core::workbook::sections::{self, Scope};
use planwright_core::workbook::{DocumentKind, WriteOrigin};
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{Committed, LedgerResult};
use planwright_engine::submitter::SubmitRequest;
use planwright_engine::workbook::NewWorkbook;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tool_schema::{self, Arguments, ToolDefinition};

pub use results::list as list_value;

/// The workbook tools that pass the gate in this situation.
pub(super) fn tools(situation: &GateContext) -> impl Iterator<Item = ToolDefinition> {
    let define = |tool: WorkbookTool| ToolDefinition {
        name: tool.name(),
        description: arguments::description(tool).to_owned(),
        input_schema: arguments::schema(tool),
        reads_only: tool.reads_only(),
    };
    advertised_workbook_tools(situation).map(define)
}

/// The answer, and what was committed if something was.
pub(crate) async fn call(
    engine: &Engine,
    request: SubmitRequest<'_>,
    caller: Caller,
    tool: WorkbookTool,
    arguments: Arguments,
) -> LedgerResult<(Value, Option<Committed>)> {
    let workbooks = engine.workbooks();
    let snapshot = engine.ledger().snapshot(request.session, None).await?;
    authorize_workbook_tool(&GateContext::of(&snapshot, engine.policy(), caller), tool)?;
    match tool {
        WorkbookTool::Init => {
            let given: arguments::Init = parse(tool, arguments)?;
            let new = NewWorkbook { title: given.task_title, force_new: given.force_new };
            let begun = workbooks.init_as(request, &new).await?;
            Ok((results::begun(&begun), begun.committed))
        }
        WorkbookTool::Read => {
            let given: arguments::Read = parse(tool, arguments)?;
            let (document, workbook, notes) = workbooks.read(request.session, given.which.into()).await?;
            Ok((results::read(&document, &workbook.title, &notes), None))
        }
        WorkbookTool::Write => {
            let given: arguments::Write = parse(tool, arguments)?;
            let which = given.which.into();
            let edited = workbooks.edit_as(request, which, WriteOrigin::Tool, |_| Ok(given.content.clone())).await?;
            Ok((results::edited(which, &edited), edited.committed))
        }
        WorkbookTool::Update => {
            let given: arguments::Update = parse(tool, arguments)?;
            let which = given.which.into();
            let scope = if given.own_text_only { Scope::OwnText } else { Scope::WithSubsections };
            let replace = |text: &str| {
                sections::replace(text, &given.section, &given.content, scope)
                    .map_err(|error| results::no_section(&error))
            };
            let edited = workbooks.edit_as(request, which, WriteOrigin::Tool, replace).await?;
            Ok((results::edited(which, &edited), edited.committed))
        }
        WorkbookTool::Clear => {
            let given: arguments::Clear = parse(tool, arguments)?;
            if !given.confirm {
                let message = "clear_plan takes the workbook's documents away; it needs `confirm: true`.";
                return Err(Refusal::invalid(message).into());
            }
            let (notes, committed) = workbooks.clear_as(request).await?;
            Ok((results::cleared(&notes), Some(committed)))
        }
        WorkbookTool::List => {
            let arguments::List {} = parse(tool, arguments)?;
            Ok((results::list(&workbooks.list(request.session).await?), None))
        }
        WorkbookTool::Export => {
            let given: arguments::Export = parse(tool, arguments)?;
            let which = given.which.map(DocumentKind::from);
            let (mut written, notes) = workbooks.export(request.session, which, given.path.as_deref()).await?;
            // An agent that works in another folder finds the copy by its whole path.
            let works_there = caller != Caller::ExternalAgent
                && snapshot.session.as_deref().is_none_or(|session| session.workspace.is_own());
            if !works_there
                && let Some(folder) = workbooks.files_path(request.session)
                && let Some(path) = written["path"].as_str()
            {
                written["path"] = folder.join(path).to_string_lossy().into();
            }
            Ok((results::with_notes(written, &notes), None))
        }
    }
}

fn parse<T: DeserializeOwned>(tool: WorkbookTool, arguments: Arguments) -> Result<T, Refusal> {
    tool_schema::parse(tool.name(), arguments)
}
