//! The workbook tools a model sees, through the gate.

use planwright_core::gate::{Caller, GateContext, WorkbookTool, advertised_workbook_tools, authorize_workbook_tool};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::sections::{self, Scope};
use planwright_core::workbook::{DocumentKind, WriteOrigin};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::document::none_yet;
use super::edit::NewWorkbook;
use super::{Workbooks, arguments, results};
use crate::ledger::{Committed, LedgerResult};
use crate::submitter::{SubmitRequest, Submitter};
use crate::tool_schema::{Arguments, ToolDefinition};

/// The workbook tools that pass the gate in this situation.
pub fn workbook_tools(situation: &GateContext) -> Vec<ToolDefinition> {
    let define = |tool: WorkbookTool| ToolDefinition {
        name: tool.name(),
        description: arguments::description(tool).to_owned(),
        input_schema: arguments::schema(tool),
        reads_only: tool.reads_only(),
    };
    advertised_workbook_tools(situation).map(define).collect()
}

#[derive(Debug, Clone)]
pub struct WorkbookTools {
    submitter: Submitter,
    workbooks: Workbooks,
}

impl WorkbookTools {
    pub fn new(submitter: Submitter, workbooks: Workbooks) -> Self {
        Self { submitter, workbooks }
    }

    /// The answer, and what was committed if something was.
    pub async fn call(
        &self,
        request: SubmitRequest<'_>,
        caller: Caller,
        tool: WorkbookTool,
        arguments: Arguments,
    ) -> LedgerResult<(Value, Option<Committed>)> {
        let snapshot = self.submitter.ledger().snapshot(request.session, None).await?;
        authorize_workbook_tool(&GateContext::of(&snapshot, self.submitter.policy(), caller), tool)?;
        match tool {
            WorkbookTool::Init => {
                let given: arguments::Init = parse(tool, arguments)?;
                let new = NewWorkbook { title: given.task_title, force_new: given.force_new };
                let begun = self.workbooks.init_as(request, &new).await?;
                Ok((results::begun(&begun), begun.committed))
            }
            WorkbookTool::Read => {
                let given: arguments::Read = parse(tool, arguments)?;
                Ok((self.read_workbook(request.session, given.which.into()).await?, None))
            }
            WorkbookTool::Write => {
                let given: arguments::Write = parse(tool, arguments)?;
                let which = given.which.into();
                let edited =
                    self.workbooks.edit_as(request, which, WriteOrigin::Tool, |_| Ok(given.content.clone())).await?;
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
                let edited = self.workbooks.edit_as(request, which, WriteOrigin::Tool, replace).await?;
                Ok((results::edited(which, &edited), edited.committed))
            }
            WorkbookTool::Clear => {
                let given: arguments::Clear = parse(tool, arguments)?;
                if !given.confirm {
                    let message = "clear_plan takes the workbook's documents away; it needs `confirm: true`.";
                    return Err(Refusal::invalid(message).into());
                }
                let (notes, committed) = self.workbooks.clear_as(request).await?;
                Ok((results::cleared(&notes), Some(committed)))
            }
            WorkbookTool::List => {
                let arguments::List {} = parse(tool, arguments)?;
                Ok((self.workbooks.list(request.session).await?, None))
            }
            WorkbookTool::Export => {
                let given: arguments::Export = parse(tool, arguments)?;
                let which = given.which.map(DocumentKind::from);
                Ok((self.workbooks.export(request.session, which, given.path.as_deref()).await?, None))
            }
        }
    }

    async fn read_workbook(&self, session: &SessionIdentity, which: DocumentKind) -> LedgerResult<Value> {
        let notes = self.workbooks.sync(session).await?;
        let workbook = self.workbooks.current(session).await?.ok_or_else(none_yet)?;
        let document = self.workbooks.version(session, which, &workbook).await?;
        Ok(results::read(&document, &workbook.title, &notes))
    }
}

fn parse<T: DeserializeOwned>(tool: WorkbookTool, arguments: Arguments) -> Result<T, Refusal> {
    crate::tool_schema::parse(tool.name(), arguments)
}
