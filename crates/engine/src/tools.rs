//! The plan tools a model sees: their arguments, their schemas, and what they answer.
//!
//! A tool commits inside its own call and answers with the real outcome. Whether a call may run at all is decided
//! by the gate in `core`, in the same transaction.

mod arguments;
mod results;

use planwright_core::actor::Actor;
use planwright_core::command::{Command, DraftCommand, Outcome, ProgressReport, RunCommand};
use planwright_core::gate::{self, Caller, GateContext, PlanTool, WorkbookTool};
use planwright_core::ids::{ExecutionId, PlanId, StepId};
use planwright_core::plan::PlanStyle;
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::reference::PlanReference;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::engine::{Asking, Engine};
use crate::ledger::{Committed, Leasing, LedgerError, LedgerResult};

pub type Arguments = Map<String, Value>;

/// A tool as it is advertised.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    pub name: &'static str,
    pub description: String,
    pub input_schema: Value,
    pub reads_only: bool,
}

/// A step that somebody was given to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GivenStep<'a> {
    pub(crate) plan: &'a PlanId,
    pub(crate) execution: &'a ExecutionId,
    pub(crate) step: &'a StepId,
}

impl Engine {
    /// The plan and workbook tools that may be called in this session now.
    pub async fn advertised_tools(&self, session: &SessionIdentity) -> LedgerResult<Vec<ToolDefinition>> {
        let snapshot = self.ledger().snapshot(session, None).await?;
        let situation = GateContext::of(&snapshot, self.policy(), Caller::Conversation);
        Ok(self.plan_tools(&situation).into_iter().chain(self.workbook_tools(&situation)).collect())
    }

    pub(crate) fn plan_tools(&self, situation: &GateContext) -> Vec<ToolDefinition> {
        let style = situation.style.unwrap_or(PlanStyle::Document);
        // The schemas are made from types, which is not worth doing again for every request.
        let all = self.definitions.get_or_init(|| {
            let pairs = PlanTool::all().flat_map(|tool| PlanStyle::ALL.map(|style| (tool, style)));
            pairs.map(|(tool, style)| ((tool, style), self.define(tool, style))).collect()
        });
        gate::advertised_plan_tools(situation).filter_map(|tool| all.get(&(tool, style)).cloned()).collect()
    }

    fn define(&self, tool: PlanTool, style: PlanStyle) -> ToolDefinition {
        ToolDefinition {
            name: tool.name(),
            description: arguments::description(tool, &self.policy().agents),
            input_schema: arguments::schema(tool, style),
            reads_only: matches!(tool, PlanTool::Get | PlanTool::List),
        }
    }

    /// Carries out one tool call. In style collect, a call to anything but a plan or workbook tool is written down as a step.
    pub async fn call_tool(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        name: &str,
        arguments: Arguments,
    ) -> Result<Value, Refusal> {
        let request = self.next_request();
        let asking = Asking { session, by, request, leasing: Leasing::None, turn: None };
        let outcome = match (PlanTool::named(name), WorkbookTool::named(name)) {
            (Some(tool), _) => self.call_plan_tool(asking, tool, arguments).await.map(|(value, _)| value),
            (None, Some(tool)) => {
                let answer = self.call_workbook_tool(asking, Caller::Conversation, tool, arguments).await;
                answer.map(|(value, _)| value)
            }
            (None, None) => self.record_call(asking, name, arguments).await.map(|(value, _)| value),
        };
        outcome.map_err(LedgerError::into_refusal)
    }

    /// The answer, and what was committed if something was.
    pub(crate) async fn call_plan_tool(
        &self,
        asking: Asking<'_>,
        tool: PlanTool,
        arguments: Arguments,
    ) -> LedgerResult<(Value, Option<Committed>)> {
        let session = asking.session;
        match tool {
            PlanTool::Get => return Ok((self.get(session, arguments).await?, None)),
            PlanTool::List => return Ok((self.list(session, arguments).await?, None)),
            PlanTool::SetContent
            | PlanTool::Progress
            | PlanTool::Finalize
            | PlanTool::CreateDraft
            | PlanTool::SetMetadata
            | PlanTool::AddStep
            | PlanTool::UpdateStep
            | PlanTool::RemoveStep
            | PlanTool::Submit => {}
        }
        let command = match changing_command(tool, arguments) {
            Ok(command) => command,
            Err(unfit) => {
                // Whether the tool is there at all comes before whether its arguments fit.
                self.pass_gate(session, tool).await?;
                return Err(unfit.into());
            }
        };
        let step = match &command {
            Command::Draft(DraftCommand::UpdateStep { step, .. } | DraftCommand::RemoveStep { step }) => {
                Some(step.clone())
            }
            Command::Session(_)
            | Command::Draft(_)
            | Command::Decide(_)
            | Command::Run(_)
            | Command::Turn(_)
            | Command::Workbook(_)
            | Command::Import(_) => None,
        };
        let committed = self.submit_as(asking, command).await?;
        Ok((self.answer(tool, step, &committed)?, Some(committed)))
    }

    /// `plan_progress` from whoever does a step of a plan: it is about that step and about no other.
    pub(crate) async fn report_on_step(
        &self,
        asking: Asking<'_>,
        given: GivenStep<'_>,
        arguments: Arguments,
    ) -> LedgerResult<(Value, StepStatus, Committed)> {
        let report = progress_report(arguments)?;
        let status = report.outcome.status;
        let (plan, execution, step) = (given.plan.clone(), given.execution.clone(), given.step.clone());
        let command = Command::Run(RunCommand::ReportOnStep { plan, execution, step, report });
        let committed = self.submit_as(asking, command).await?;
        Ok((self.answer(PlanTool::Progress, None, &committed)?, status, committed))
    }

    fn answer(&self, tool: PlanTool, step: Option<StepId>, committed: &Committed) -> LedgerResult<Value> {
        let plan = results::changed_plan(committed)?;
        Ok(match tool {
            PlanTool::SetContent | PlanTool::Submit => results::proposed(plan),
            PlanTool::Progress => results::progress(plan),
            PlanTool::Finalize => results::finalized(plan),
            PlanTool::CreateDraft => results::named(plan),
            PlanTool::SetMetadata => results::missing(plan, self.policy()),
            PlanTool::AddStep => results::added_step(committed, plan),
            PlanTool::UpdateStep | PlanTool::RemoveStep => results::changed_step(plan, step.as_ref()),
            PlanTool::Get | PlanTool::List => json!({}),
        })
    }

    async fn get(&self, session: &SessionIdentity, arguments: Arguments) -> LedgerResult<Value> {
        let snapshot = self.ledger().snapshot(session, None).await?;
        let situation = GateContext::of(&snapshot, self.policy(), Caller::Conversation);
        gate::authorize_plan_tool(&situation, PlanTool::Get)?;
        let reference = match situation.style.unwrap_or(PlanStyle::Document) {
            PlanStyle::Document | PlanStyle::Collect => {
                parse::<arguments::Nothing>(PlanTool::Get, arguments)?;
                None
            }
            PlanStyle::Build => parse::<arguments::Get>(PlanTool::Get, arguments)?.plan_id,
        };
        match (reference, snapshot.active()) {
            (None, Some(active)) => Ok(results::whole(active, self.policy())),
            (reference, _) => {
                let reference = reference.map(|text| text.parse::<PlanReference>()).transpose()?;
                let plan = self.find_plan(session, reference.as_ref()).await?;
                Ok(results::whole(&plan, self.policy()))
            }
        }
    }

    async fn list(&self, session: &SessionIdentity, arguments: Arguments) -> LedgerResult<Value> {
        self.pass_gate(session, PlanTool::List).await?;
        let arguments: arguments::List = parse(PlanTool::List, arguments)?;
        let page = self.plans(session, arguments.before.map(u64::from), results::LIST_PAGE).await?;
        Ok(results::list(&page))
    }

    /// The style of plan work, if this tool may be called in it.
    async fn pass_gate(&self, session: &SessionIdentity, tool: PlanTool) -> LedgerResult<PlanStyle> {
        let snapshot = self.ledger().snapshot(session, None).await?;
        let situation = GateContext::of(&snapshot, self.policy(), Caller::Conversation);
        gate::authorize_plan_tool(&situation, tool)?;
        Ok(situation.style.unwrap_or(PlanStyle::Document))
    }

    /// Writes a call down as a step, in style collect.
    pub(crate) async fn record_call(
        &self,
        asking: Asking<'_>,
        name: &str,
        arguments: Arguments,
    ) -> LedgerResult<(Value, Committed)> {
        let session = asking.session;
        let snapshot = self.ledger().snapshot(session, None).await?;
        let situation = GateContext::of(&snapshot, self.policy(), Caller::Conversation);
        if situation.style != Some(PlanStyle::Collect) {
            return Err(Refusal::not_found(format!("There is no tool {}.", quoted(name))).into());
        }
        let record = DraftCommand::RecordStep { tool: name.to_owned(), arguments: Value::Object(arguments) };
        let committed = self.submit_as(asking, Command::Draft(record)).await?;
        Ok((results::planned(results::changed_plan(&committed)?), committed))
    }
}

fn changing_command(tool: PlanTool, arguments: Arguments) -> Result<Command, Refusal> {
    let draft = match tool {
        PlanTool::SetContent => {
            let given: arguments::SetContent = parse(tool, arguments)?;
            DraftCommand::SetContent { markdown: given.plan_markdown, title: given.title }
        }
        PlanTool::Finalize => DraftCommand::Finalize { summary: parse::<arguments::Summary>(tool, arguments)?.summary },
        PlanTool::CreateDraft => {
            let given: arguments::CreateDraft = parse(tool, arguments)?;
            DraftCommand::CreateDraft { goal: given.goal, title: given.title }
        }
        PlanTool::SetMetadata => DraftCommand::SetMetadata(parse::<arguments::SetMetadata>(tool, arguments)?.into()),
        PlanTool::AddStep => DraftCommand::AddStep(parse::<arguments::AddStep>(tool, arguments)?.try_into()?),
        PlanTool::UpdateStep => {
            let given: arguments::UpdateStep = parse(tool, arguments)?;
            DraftCommand::UpdateStep { step: StepId::new(given.step_id.clone())?, change: given.try_into()? }
        }
        PlanTool::RemoveStep => {
            DraftCommand::RemoveStep { step: StepId::new(parse::<arguments::RemoveStep>(tool, arguments)?.step_id)? }
        }
        PlanTool::Submit => DraftCommand::Submit { summary: parse::<arguments::Summary>(tool, arguments)?.summary },
        PlanTool::Progress => return Ok(Command::Run(RunCommand::Report(progress_report(arguments)?))),
        PlanTool::Get | PlanTool::List => return Err(Refusal::invalid(format!("{} changes nothing.", tool.name()))),
    };
    Ok(Command::Draft(draft))
}

fn progress_report(arguments: Arguments) -> Result<ProgressReport, Refusal> {
    let given: arguments::Progress = parse(PlanTool::Progress, arguments)?;
    let outcome = Outcome { status: given.status.into(), note: given.note, evidence: given.evidence };
    Ok(ProgressReport { step: given.step, outcome })
}

fn parse<T: DeserializeOwned>(tool: PlanTool, arguments: Arguments) -> Result<T, Refusal> {
    crate::schema::parse(tool.name(), arguments)
}
