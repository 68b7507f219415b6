//! Planwright's own tools as steps of a plan: the recorded calls of `memory_save`, `goal_*`, `task_*` and `export_plan`.
//! They are found by their names and not advertised here; in a turn they are called without the toolbox.

use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::actor::Actor;
use planwright_core::auto::{AutoExecutionContext, AutoState};
use planwright_core::gate::{AutoTool, Caller, MemoryTool, OwnToolKind, ToolEffect, WorkbookTool};
use planwright_core::ids::RequestId;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::Refusal;
use planwright_engine::Engine;
use planwright_engine::ledger::{Leasing, LedgerError};
use planwright_engine::submitter::SubmitRequest;
use serde_json::{Value, json};

use super::{Tool, ToolAnswer, ToolContext};
use crate::tool_schema::Arguments;
use crate::tools;

/// The argument of a recorded call that names the run in whose turn it was recorded, by its number. No model sets it.
const RUN: &str = "run";

#[derive(Debug)]
struct OwnTool {
    engine: Engine,
    spec: ToolSpec,
}

/// The tools whose calls are recorded.
pub(crate) fn own_tools(engine: &Engine) -> Vec<Arc<dyn Tool>> {
    let auto = AutoTool::ALL.into_iter().map(AutoTool::name);
    let memory = MemoryTool::ALL.into_iter().map(MemoryTool::name);
    let names = auto.chain(memory).chain(WorkbookTool::all().map(WorkbookTool::name));
    let recorded = names.filter(|name| OwnToolKind::of(name) == Some(OwnToolKind::Changes));
    let tool = |name: &str| {
        let spec = ToolSpec { name: name.to_owned(), description: String::new(), input_schema: json!({}) };
        Arc::new(OwnTool { engine: engine.clone(), spec }) as Arc<dyn Tool>
    };
    recorded.map(tool).collect()
}

/// The arguments as they are recorded in a turn of this run, whose scopes and task they are meant for.
pub(crate) fn recorded_arguments(
    mut arguments: Arguments,
    run: Option<&AutoExecutionContext>,
    state: Option<&AutoState>,
) -> Result<Arguments, Refusal> {
    if arguments.contains_key(RUN) {
        return Err(Refusal::invalid("`run` is not an argument of this tool."));
    }
    if let Some(run) = run.and_then(|run| state?.run(&run.run_id)) {
        arguments.insert(RUN.to_owned(), json!(run.number));
    }
    Ok(arguments)
}

impl OwnTool {
    /// The run that the call was recorded in.
    async fn run_of(
        &self,
        context: &ToolContext<'_>,
        arguments: &mut Arguments,
    ) -> Result<Option<AutoExecutionContext>, LedgerError> {
        let Some(number) = arguments.remove(RUN) else { return Ok(None) };
        let state = self.engine.auto().state(context.session).await?;
        let run = state.find_run(&number.to_string())?;
        Ok(Some(run.context.clone()))
    }
}

#[async_trait]
impl Tool for OwnTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// A call has its name in the journal, and is not carried out twice under it.
    fn effect(&self) -> ToolEffect {
        ToolEffect::Repeatable
    }

    /// The tool reads its arguments itself.
    fn check(&self, _arguments: &Arguments) -> Result<(), Refusal> {
        Ok(())
    }

    async fn call(&self, context: ToolContext<'_>, mut arguments: Arguments) -> Result<ToolAnswer, Refusal> {
        let (engine, caller, name) = (&self.engine, Caller::Conversation, self.spec.name.as_str());
        let run = self.run_of(&context, &mut arguments).await.map_err(LedgerError::into_refusal)?;
        let by = Actor::agent("agent", context.session.channel.as_str());
        let id = match context.call {
            Some(call) => RequestId::new(format!("own-{call}"))?,
            None => engine.submitter().next_request(),
        };
        let leasing = context.lease.map_or(Leasing::None, |(lease, _)| Leasing::Held(lease.lease().clone()));
        let request = SubmitRequest { session: context.session, by: &by, id, leasing, turn: None };
        let answer = if let Some(tool) = MemoryTool::named(name) {
            Box::pin(tools::memory::call(engine, request, caller, run.as_ref(), tool, arguments)).await
        } else if let Some(tool) = AutoTool::named(name) {
            Box::pin(tools::auto::call(engine, request, caller, run.as_ref(), tool, arguments)).await
        } else if let Some(tool) = WorkbookTool::named(name) {
            Box::pin(tools::workbook::call(engine, request, caller, tool, arguments)).await
        } else {
            Err(Refusal::not_found("There is no such tool.").into())
        };
        let (value, _): (Value, _) = answer.map_err(LedgerError::into_refusal)?;
        Ok(value.into())
    }
}
