//! Planwright's own tools as calls on the services of the engine: their arguments, their schemas, and what they answer.
//!
//! A tool commits inside its own call and answers with the real outcome. Whether a call may run at all is decided
//! by the gate in `core`, in the same transaction.
//!
//! - `arguments`, `results`: what the plan tools take and answer
//! - `answers`: what an agent says about the comments of a person
//! - `external`: the tools as the agent of another program has them
//! - `workbook`, `memory`, `auto`: the tools for workbooks, memories, goals and tasks

mod answers;
mod arguments;
pub(crate) mod auto;
mod external;
pub(crate) mod memory;
mod results;
pub(crate) mod workbook;

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::agents::AgentRegistry;
use planwright_core::command::{Command, DraftCommand, ExecutionCommand, ProgressReport, StepOutcome};
use planwright_core::gate::{self, AutoTool, Caller, GateContext, MemoryTool, PlanTool, WorkbookTool};
use planwright_core::ids::{ExecutionId, PlanId, StepId};
use planwright_core::plan::execution::StepStatus;
use planwright_core::plan::reference::PlanReference;
use planwright_core::plan::{Plan, PlanStyle};
use planwright_core::policy::Policy;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::visible::quoted;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{Committed, LedgerError, LedgerResult};
use planwright_engine::submitter::SubmitRequest;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::tool_schema::{self, Arguments, ToolDefinition};

pub use external::{ExternalAnswer, ExternalTools, tools_of_style};
pub use results::is_paused;
pub(crate) use results::part_within;
pub use workbook::list_value as workbook_list_value;

/// The tools of Planwright itself.
#[derive(Debug, Clone)]
pub struct PlanTools {
    engine: Engine,
}

/// The step that a specialist works on.
#[derive(Debug, Clone, Copy)]
pub struct AssignedStep<'a> {
    pub plan: &'a PlanId,
    pub execution: &'a ExecutionId,
    pub step: &'a StepId,
}

/// The session that a tool is called in, as the call finds it.
#[derive(Debug, Clone, Copy)]
pub struct CallContext<'a> {
    pub snapshot: &'a Snapshot,
    pub caller: Caller,
}

impl PlanTools {
    pub fn new(engine: &Engine) -> Self {
        Self { engine: engine.clone() }
    }

    /// The plan, workbook, memory, goal and task tools that may be called in this session now.
    pub async fn advertised(&self, session: &SessionIdentity) -> LedgerResult<Vec<ToolDefinition>> {
        let snapshot = self.engine.ledger().snapshot(session, None).await?;
        let policy = self.engine.submitter().policies().read_project(&snapshot).await;
        Ok(self.advertised_in(&GateContext::of(&snapshot, &policy, Caller::Conversation), &policy.agents))
    }

    /// The plan, workbook, memory, goal and task tools that pass the gate in this situation.
    pub fn advertised_in(&self, situation: &GateContext, agents: &AgentRegistry) -> Vec<ToolDefinition> {
        let notes = workbook::tools(situation).chain(memory::tools(situation)).chain(auto::tools(situation));
        plan_tools(situation, |tool, style| define(tool, style, agents)).chain(notes).collect()
    }

    /// Carries out one tool call. In style collect, a call of any other tool is recorded as a step.
    pub async fn call(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        name: &str,
        arguments: Arguments,
    ) -> Result<Value, Refusal> {
        let snapshot = self.engine.submitter().read_project(session).await.map_err(LedgerError::into_refusal)?;
        let context = CallContext { snapshot: &snapshot, caller: Caller::Conversation };
        let request = self.engine.submitter().request(session, by);
        if let Some(tool) = MemoryTool::named(name) {
            let answer = memory::call(&self.engine, request, Caller::Conversation, None, tool, arguments).await;
            return answer.map(|(value, _)| value).map_err(LedgerError::into_refusal);
        }
        if let Some(tool) = AutoTool::named(name) {
            let answer = auto::call(&self.engine, request, Caller::Conversation, None, tool, arguments).await;
            return answer.map(|(value, _)| value).map_err(LedgerError::into_refusal);
        }
        let outcome = match (PlanTool::named(name), WorkbookTool::named(name)) {
            (Some(tool), _) => self.call_plan_tool(request, context, tool, arguments).await.map(|(value, _)| value),
            (None, Some(tool)) => {
                let answer = workbook::call(&self.engine, request, Caller::Conversation, tool, arguments).await;
                answer.map(|(value, _)| value)
            }
            (None, None) => self.record_call(request, context, name, arguments).await.map(|(value, _)| value),
        };
        outcome.map_err(LedgerError::into_refusal)
    }

    /// The session as a tool call finds it.
    pub async fn snapshot(&self, session: &SessionIdentity) -> LedgerResult<Snapshot> {
        self.engine.ledger().snapshot(session, None).await
    }

    /// The answer, and what was committed if something was.
    pub async fn call_plan_tool(
        &self,
        request: SubmitRequest<'_>,
        context: CallContext<'_>,
        tool: PlanTool,
        arguments: Arguments,
    ) -> LedgerResult<(Value, Option<Committed>)> {
        match tool {
            PlanTool::Get => {
                let (plan, from) = self.requested_plan(context, arguments).await?;
                return Ok((results::from_part(self.whole(&plan), from)?, None));
            }
            PlanTool::List => return Ok((self.list(context, arguments).await?, None)),
            PlanTool::SetContent
            | PlanTool::Progress
            | PlanTool::Finalize
            | PlanTool::CreateDraft
            | PlanTool::SetMetadata
            | PlanTool::AddStep
            | PlanTool::UpdateStep
            | PlanTool::RemoveStep
            | PlanTool::Submit => {}
            PlanTool::AddCall | PlanTool::AwaitDecision => {
                self.pass_gate(context, tool)?;
                return Err(external_only(tool).into());
            }
        }
        let answers = answers::given(tool, &arguments);
        let command = match changing_command(tool, arguments) {
            Ok(command) => command,
            Err(unfit) => {
                // A tool that the gate refuses is refused before its arguments are checked.
                self.pass_gate(context, tool)?;
                return Err(unfit.into());
            }
        };
        let step = changed_step(&command);
        let answers = self.find_answered(context.snapshot.active_handle(), &request, answers).await?;
        let committed = self.engine.submitter().submit_as(request, command.with_answers(answers)).await?;
        Ok((self.answer(tool, step, &committed)?, Some(committed)))
    }

    /// `plan_progress` from the specialist that works on a step: it reports on that step and on no other.
    pub async fn report_on_step(
        &self,
        request: SubmitRequest<'_>,
        assigned: AssignedStep<'_>,
        arguments: Arguments,
    ) -> LedgerResult<(Value, StepStatus, Committed)> {
        let report = progress_report(arguments)?;
        let status = report.outcome.status;
        let (plan, execution, step) = (assigned.plan.clone(), assigned.execution.clone(), assigned.step.clone());
        let command = Command::Execution(ExecutionCommand::ReportOnStep { plan, execution, step, report });
        let committed = self.engine.submitter().submit_as(request, command).await?;
        Ok((self.answer(PlanTool::Progress, None, &committed)?, status, committed))
    }

    fn answer(&self, tool: PlanTool, step: Option<StepId>, committed: &Committed) -> LedgerResult<Value> {
        let plan = results::changed_plan(committed)?;
        let policy = self.engine.submitter().policies().of(&plan.session);
        Ok(match tool {
            PlanTool::SetContent => results::with_missing_sections(results::proposed(plan), plan, &policy),
            PlanTool::Submit => results::proposed(plan),
            PlanTool::Progress => results::progress(plan),
            PlanTool::Finalize => results::finalized(plan),
            PlanTool::CreateDraft => results::named(plan),
            PlanTool::SetMetadata => results::missing(plan, &policy),
            PlanTool::AddStep => results::added_step(committed, plan),
            PlanTool::UpdateStep | PlanTool::RemoveStep => results::changed_step(plan, step.as_ref()),
            PlanTool::Get | PlanTool::List | PlanTool::AddCall | PlanTool::AwaitDecision => json!({}),
        })
    }

    /// The plan that `plan_get` asks for, the active one if it names none, and the part that it is read from.
    async fn requested_plan(&self, context: CallContext<'_>, arguments: Arguments) -> LedgerResult<(Arc<Plan>, usize)> {
        let style = self.pass_gate(context, PlanTool::Get)?;
        let (reference, from) = match style {
            PlanStyle::Document | PlanStyle::Collect if context.caller != Caller::ExternalAgent => {
                (None, parse::<arguments::GetActive>(PlanTool::Get, arguments)?.from)
            }
            PlanStyle::Document | PlanStyle::Collect | PlanStyle::Build => {
                let given: arguments::Get = parse(PlanTool::Get, arguments)?;
                (given.plan_id, given.from)
            }
        };
        let from = from.unwrap_or(1);
        if let (None, Some(active)) = (&reference, context.snapshot.active_handle()) {
            return Ok((active, from));
        }
        let reference = reference.map(|text| text.parse::<PlanReference>()).transpose()?;
        Ok((self.engine.plans().find(&context.snapshot.identity, reference.as_ref()).await?, from))
    }

    fn whole(&self, plan: &Plan) -> Value {
        results::whole(plan, &self.engine.submitter().policies().of(&plan.session))
    }

    async fn list(&self, context: CallContext<'_>, arguments: Arguments) -> LedgerResult<Value> {
        self.pass_gate(context, PlanTool::List)?;
        let arguments: arguments::List = parse(PlanTool::List, arguments)?;
        let page = self
            .engine
            .plans()
            .list(&context.snapshot.identity, arguments.before.map(u64::from), results::LIST_PAGE)
            .await?;
        Ok(results::list(&page))
    }

    /// The style of plan work, if this tool may be called in it.
    fn pass_gate(&self, context: CallContext<'_>, tool: PlanTool) -> Result<PlanStyle, Refusal> {
        let situation = GateContext::of(context.snapshot, self.policy(), context.caller);
        gate::authorize_plan_tool(&situation, tool)?;
        Ok(situation.style.unwrap_or(PlanStyle::Document))
    }

    fn policy(&self) -> &Policy {
        self.engine.policy()
    }

    /// Records a call as a step, in style collect.
    pub async fn record_call(
        &self,
        request: SubmitRequest<'_>,
        context: CallContext<'_>,
        name: &str,
        arguments: Arguments,
    ) -> LedgerResult<(Value, Committed)> {
        let situation = GateContext::of(context.snapshot, self.policy(), Caller::Conversation);
        if situation.style != Some(PlanStyle::Collect) {
            return Err(Refusal::not_found(format!("There is no tool {}.", quoted(name))).into());
        }
        let record = DraftCommand::RecordStep { tool: name.to_owned(), arguments: Value::Object(arguments) };
        let committed = self.engine.submitter().submit_as(request, Command::Draft(record)).await?;
        Ok((results::planned(results::changed_plan(&committed)?), committed))
    }
}

/// Whether one of Planwright's own tools, besides those about plans, may be called in this situation.
pub(crate) fn authorize_own_tool(situation: &GateContext, name: &str) -> Result<(), Refusal> {
    if let Some(tool) = MemoryTool::named(name) {
        return gate::authorize_memory_tool(situation, tool);
    }
    if let Some(tool) = AutoTool::named(name) {
        return gate::authorize_auto_tool(situation, tool);
    }
    WorkbookTool::named(name).map_or(Ok(()), |tool| gate::authorize_workbook_tool(situation, tool))
}

/// The step that a command changes or removes.
fn changed_step(command: &Command) -> Option<StepId> {
    match command {
        Command::Draft(DraftCommand::UpdateStep { step, .. } | DraftCommand::RemoveStep { step }) => Some(step.clone()),
        Command::Session(_)
        | Command::Draft(_)
        | Command::Decide(_)
        | Command::Answer(_)
        | Command::Execution(_)
        | Command::Turn(_)
        | Command::Workbook(_)
        | Command::Memory(_)
        | Command::Auto(_)
        | Command::Import(_)
        | Command::External(_) => None,
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
        PlanTool::Progress => return Ok(Command::Execution(ExecutionCommand::Report(progress_report(arguments)?))),
        PlanTool::Get | PlanTool::List => return Err(Refusal::invalid(format!("{} changes nothing.", tool.name()))),
        PlanTool::AddCall | PlanTool::AwaitDecision => return Err(external_only(tool)),
    };
    Ok(Command::Draft(draft))
}

fn external_only(tool: PlanTool) -> Refusal {
    Refusal::policy_denied(format!("{} is for agents of other programs.", tool.name()))
}

fn progress_report(arguments: Arguments) -> Result<ProgressReport, Refusal> {
    let given: arguments::Progress = parse(PlanTool::Progress, arguments)?;
    let outcome = StepOutcome { status: given.status.into(), note: given.note, evidence: given.evidence };
    Ok(ProgressReport { step: given.step, outcome })
}

fn parse<T: DeserializeOwned>(tool: PlanTool, arguments: Arguments) -> Result<T, Refusal> {
    tool_schema::parse(tool.name(), arguments)
}

/// The plan tools that pass the gate.
fn plan_tools(
    situation: &GateContext,
    define: impl Fn(PlanTool, PlanStyle) -> ToolDefinition,
) -> impl Iterator<Item = ToolDefinition> {
    let style = situation.style.unwrap_or(PlanStyle::Document);
    gate::advertised_plan_tools(situation).map(move |tool| define(tool, style))
}

fn define(tool: PlanTool, style: PlanStyle, agents: &AgentRegistry) -> ToolDefinition {
    ToolDefinition {
        name: tool.name(),
        description: arguments::description(tool, agents),
        input_schema: arguments::schema(tool, style),
        reads_only: matches!(tool, PlanTool::Get | PlanTool::List | PlanTool::AwaitDecision),
    }
}
