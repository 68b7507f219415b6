//! The workbook tools a model sees, through the gate.

use planwright_core::gate::{Caller, GateContext, WorkbookTool, advertised_workbook_tools, authorize_workbook_tool};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::workbook::sections::{self, Scope};
use planwright_core::workbook::{DocumentKind, WriteOrigin};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::reading::none_yet;
use super::writing::Beginning;
use super::{arguments, results};
use crate::engine::{Asking, Engine};
use crate::ledger::{Committed, LedgerResult};
use crate::tools::{Arguments, ToolDefinition};

impl Engine {
    /// The workbook tools that may be called in this situation: exactly those the gate lets through.
    pub(crate) fn workbook_tools(&self, situation: &GateContext) -> Vec<ToolDefinition> {
        let define = |tool: WorkbookTool| ToolDefinition {
            name: tool.name(),
            description: arguments::description(tool).to_owned(),
            input_schema: arguments::schema(tool),
            reads_only: tool.reads_only(),
        };
        advertised_workbook_tools(situation).map(define).collect()
    }

    /// The answer, and what was committed if something was.
    pub(crate) async fn call_workbook_tool(
        &self,
        asking: Asking<'_>,
        caller: Caller,
        tool: WorkbookTool,
        arguments: Arguments,
    ) -> LedgerResult<(Value, Option<Committed>)> {
        let snapshot = self.ledger().snapshot(asking.session, None).await?;
        authorize_workbook_tool(&GateContext::of(&snapshot, self.policy(), caller), tool)?;
        match tool {
            WorkbookTool::Init => {
                let given: arguments::Init = parse(tool, arguments)?;
                let beginning = Beginning { title: given.task_title, force_new: given.force_new };
                let begun = self.init_workbook_as(asking, &beginning).await?;
                Ok((results::begun(&begun), begun.committed))
            }
            WorkbookTool::Read => {
                let given: arguments::Read = parse(tool, arguments)?;
                Ok((self.read_workbook(asking.session, given.which.into()).await?, None))
            }
            WorkbookTool::Write => {
                let given: arguments::Write = parse(tool, arguments)?;
                let which = given.which.into();
                let edited =
                    self.edit_document_as(asking, which, WriteOrigin::Tool, |_| Ok(given.content.clone())).await?;
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
                let edited = self.edit_document_as(asking, which, WriteOrigin::Tool, replace).await?;
                Ok((results::edited(which, &edited), edited.committed))
            }
            WorkbookTool::Clear => {
                let given: arguments::Clear = parse(tool, arguments)?;
                if !given.confirm {
                    let message = "clear_plan takes the workbook's documents away; it needs `confirm: true`.";
                    return Err(Refusal::invalid(message).into());
                }
                let (notes, committed) = self.clear_workbook_as(asking).await?;
                Ok((results::cleared(&notes), Some(committed)))
            }
            WorkbookTool::List => {
                let arguments::List {} = parse(tool, arguments)?;
                Ok((self.list_workbooks(asking.session).await?, None))
            }
            WorkbookTool::Export => {
                let given: arguments::Export = parse(tool, arguments)?;
                let which = given.which.map(DocumentKind::from);
                Ok((self.export_workbook(asking.session, which, given.path.as_deref()).await?, None))
            }
        }
    }

    async fn read_workbook(&self, session: &SessionIdentity, which: DocumentKind) -> LedgerResult<Value> {
        let notes = self.sync_workbook(session).await?;
        let workbook = self.current_workbook(session).await?.ok_or_else(none_yet)?;
        let document = self.version(session, which, workbook.document(which)).await?;
        Ok(results::read(&document, &workbook.title, &notes))
    }

    /// The workbook that is being worked with, and those that were archived.
    pub async fn list_workbooks(&self, session: &SessionIdentity) -> LedgerResult<Value> {
        let notes = self.sync_workbook(session).await?;
        let state = self.session(session).await?.workbook;
        let current = state.as_ref().and_then(|state| state.current.as_ref());
        let complete = match current {
            Some(workbook) => self.is_complete(session, workbook).await?,
            None => false,
        };
        let archives = state.as_ref().map_or(&[][..], |state| &state.archives);
        Ok(results::list(current.map(|current| (current, complete)), archives, &notes))
    }
}

fn parse<T: DeserializeOwned>(tool: WorkbookTool, arguments: Arguments) -> Result<T, Refusal> {
    crate::schema::parse(tool.name(), arguments)
}
