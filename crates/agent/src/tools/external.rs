//! The tools as the agent of another program has them over MCP: the same list whatever the status of the plan is, reports
//! on plans of every style, and unknown fields passed over.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use planwright_core::actor::Actor;
use planwright_core::command::{CallRunner, Command, ExternalCommand, ProgressReport, StepOutcome};
use planwright_core::copy_on_write::CopyOnWrite;
use planwright_core::gate::{self, Caller, GateContext, MemoryTool, PlanTool, WorkbookTool};
use planwright_core::ids::PlanId;
use planwright_core::plan::diff::{DiffLine, PlanDiff};
use planwright_core::plan::{Digest, Plan, PlanStatus, PlanStyle};
use planwright_core::policy::Policy;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_core::visible::quoted;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{LedgerError, LedgerResult};
use serde_json::{Value, json};

use super::arguments::{self, StepName};
use super::{
    Arguments, CallContext, PlanTools, ToolDefinition, answers, changed_step, changing_command, memory, parse,
    plan_tools, results, workbook,
};

/// The bytes of a difference that an agent is shown.
const MAX_DIFFERENCE: usize = 4_000;

/// The tools for agents of other programs.
#[derive(Debug, Clone)]
pub struct ExternalTools {
    tools: PlanTools,
}

/// The answer to a call, with the fields that were passed over.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalAnswer {
    pub outcome: Result<Value, Refusal>,
    pub ignored: Vec<String>,
    /// The plan whose text the client knows from the answer, or wrote itself.
    pub shown: Option<Arc<Plan>>,
}

impl ExternalTools {
    pub fn new(engine: &Engine) -> Self {
        Self { tools: PlanTools::new(engine) }
    }

    /// The plan, workbook and memory tools of this session. They depend on the style of plan work, not on the plan.
    pub async fn advertised(&self, session: &SessionIdentity) -> LedgerResult<Vec<ToolDefinition>> {
        let snapshot = self.tools.engine.ledger().snapshot(session, None).await?;
        let policy = self.tools.engine.submitter().policies().read_project(&snapshot).await;
        let situation = GateContext::of(&snapshot, &policy, Caller::ExternalAgent);
        let notes = workbook::tools(&situation).chain(memory::tools(&situation));
        Ok(plan_tools(&situation, |tool, style| define(tool, style, &policy)).chain(notes).collect())
    }

    /// The names of these tools, for a session that was read already; `None` if there is no such session.
    pub fn advertised_names(
        &self,
        identity: &SessionIdentity,
        session: Option<CopyOnWrite<Session>>,
    ) -> Vec<&'static str> {
        let snapshot = Snapshot { session, ..Snapshot::new(identity.clone()) };
        let situation = GateContext::of(&snapshot, self.tools.policy(), Caller::ExternalAgent);
        let plan_tools = gate::advertised_plan_tools(&situation).map(PlanTool::name);
        let workbook_tools = gate::advertised_workbook_tools(&situation).map(WorkbookTool::name);
        let memory_tools = gate::advertised_memory_tools(&situation).map(MemoryTool::name);
        plan_tools.chain(workbook_tools).chain(memory_tools).collect()
    }

    /// Carries out one call. `is_upstream` says which tools Planwright calls itself once a plan is approved.
    pub async fn call(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        name: &str,
        mut arguments: Arguments,
        is_upstream: &(dyn Fn(&str) -> bool + Sync),
    ) -> ExternalAnswer {
        let ignored = take_unknown(name, &mut arguments);
        let mut shown = None;
        let outcome = self.carry_out(session, by, name, arguments, is_upstream, &mut shown).await;
        let outcome = outcome.map_err(|error| with_next_call(error.into_refusal(), name));
        ExternalAnswer { outcome, ignored, shown }
    }

    async fn carry_out(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        name: &str,
        arguments: Arguments,
        is_upstream: &(dyn Fn(&str) -> bool + Sync),
        shown: &mut Option<Arc<Plan>>,
    ) -> LedgerResult<Value> {
        let tools = &self.tools;
        if name == PlanTool::SetContent.name() {
            return self.set_content(session, by, arguments, shown).await;
        }
        let snapshot = tools.engine.submitter().read_project(session).await?;
        let context = CallContext { snapshot: &snapshot, caller: Caller::ExternalAgent };
        if let Some(tool) = PlanTool::named(name) {
            return self.call_plan_tool(context, by, tool, arguments, is_upstream, shown).await;
        }
        let situation = GateContext::of(&snapshot, tools.policy(), Caller::ExternalAgent);
        gate::check_building(&situation, name)?;
        if gate::records_own_tool(&situation, name) {
            super::authorize_own_tool(&situation, name)?;
            let arguments = Value::Object(arguments);
            // The agent of another program makes the calls of its plan itself.
            let (tool, runner) = (name.to_owned(), CallRunner::Client);
            let command = ExternalCommand::AddCall { tool, arguments, description: None, runner };
            let committed = tools.engine.submitter().submit(session, by, Command::External(command)).await?;
            return Ok(results::planned(results::changed_plan(&committed)?));
        }
        let request = tools.engine.submitter().request(session, by);
        if let Some(tool) = MemoryTool::named(name) {
            let answer = memory::call(&tools.engine, request, Caller::ExternalAgent, None, tool, arguments).await?;
            return Ok(answer.0);
        }
        if let Some(tool) = WorkbookTool::named(name) {
            let answer = workbook::call(&tools.engine, request, Caller::ExternalAgent, tool, arguments).await?;
            return Ok(answer.0);
        }
        Ok(tools.record_call(request, context, name, arguments).await?.0)
    }

    /// Replaces the text of the plan. The session is not read before: the commit checks everything.
    async fn set_content(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        arguments: Arguments,
        shown: &mut Option<Arc<Plan>>,
    ) -> LedgerResult<Value> {
        let (tools, tool) = (&self.tools, PlanTool::SetContent);
        let answers = answers::given(tool, &arguments);
        let (command, expected) = match content_command(arguments) {
            Ok(command) => command,
            Err(unfit) => {
                // A tool that the gate refuses is refused before its arguments are checked.
                let snapshot = tools.snapshot(session).await?;
                tools.pass_gate(CallContext { snapshot: &snapshot, caller: Caller::ExternalAgent }, tool)?;
                return Err(unfit.into());
            }
        };
        tools.engine.submitter().read_plan_file(session).await?;
        let request = tools.engine.submitter().request(session, by);
        let active = if answers.is_some() { tools.snapshot(session).await?.active_handle() } else { None };
        let answers = tools.find_answered(active, &request, answers).await?;
        let committed = match tools.engine.submitter().submit_as(request, command.with_answers(answers)).await {
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Conflict && expected.is_some() => {
                return Err(self.with_difference(session, refusal, expected).await.into());
            }
            outcome => outcome?,
        };
        // The answer names the sections of the project's template that are missing.
        tools.engine.submitter().policies().read_project(&committed.snapshot).await;
        let answer = tools.answer(tool, None, &committed)?;
        let plan = Arc::clone(results::changed_plan(&committed)?);
        *shown = Some(Arc::clone(&plan));
        Ok(with_next(answer, &plan))
    }

    async fn call_plan_tool(
        &self,
        context: CallContext<'_>,
        by: &Actor,
        tool: PlanTool,
        arguments: Arguments,
        is_upstream: &(dyn Fn(&str) -> bool + Sync),
        shown: &mut Option<Arc<Plan>>,
    ) -> LedgerResult<Value> {
        let (tools, session) = (&self.tools, &context.snapshot.identity);
        if tool == PlanTool::List {
            return tools.list(context, arguments).await;
        }
        if tool == PlanTool::Get {
            let (plan, from) = tools.requested_plan(context, arguments).await?;
            let answer = with_next(results::from_part(tools.whole(&plan), from)?, &plan);
            let answer = self.with_round(answer, &plan, context.snapshot);
            *shown = Some(plan);
            return Ok(answer);
        }
        if tool == PlanTool::AwaitDecision {
            tools.pass_gate(context, tool)?;
            parse::<arguments::AwaitDecision>(tool, arguments)?;
            return decision(context.snapshot);
        }
        let mut arguments = arguments;
        if tool == PlanTool::AddStep {
            self.name_agent(&mut arguments);
        }
        let answers = answers::given(tool, &arguments);
        let command = match command(context.snapshot, tool, arguments, is_upstream) {
            Ok(command) => command,
            Err(unfit) => {
                // A tool that the gate refuses is refused before its arguments are checked.
                tools.pass_gate(context, tool)?;
                return Err(unfit.into());
            }
        };
        let step = changed_step(&command);
        let request = tools.engine.submitter().request(session, by);
        let answers = tools.find_answered(context.snapshot.active_handle(), &request, answers).await?;
        let committed = tools.engine.submitter().submit_as(request, command.with_answers(answers)).await?;
        let plan = Arc::clone(results::changed_plan(&committed)?);
        if tool == PlanTool::AddCall {
            return Ok(results::planned(&plan));
        }
        let answer = tools.answer(tool, step, &committed)?;
        if !matches!(tool, PlanTool::Submit | PlanTool::Finalize) {
            return Ok(answer);
        }
        *shown = Some(Arc::clone(&plan));
        Ok(with_next(answer, &plan))
    }

    /// A step has an agent, and the agent of another program is none of them: it carries the steps out itself.
    fn name_agent(&self, arguments: &mut Arguments) {
        let is_named = match arguments.get("agent") {
            None | Some(Value::Null) => false,
            Some(Value::String(name)) => !name.trim().is_empty(),
            Some(_) => true,
        };
        if let Some(first) = self.tools.policy().agents.specialists().first()
            && !is_named
        {
            arguments.insert("agent".to_owned(), json!(first.name));
        }
    }

    /// Records a call to a tool of an upstream server as a step: of the plan in style collect, of a round beside it in the
    /// others. A plan or a round that is over gives way to a new one.
    pub async fn record(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        style: Option<PlanStyle>,
        name: &str,
        arguments: Arguments,
    ) -> Result<Value, Refusal> {
        let (tool, arguments) = (name.to_owned(), Value::Object(arguments));
        let command = Command::External(match style {
            Some(PlanStyle::Document | PlanStyle::Build) => ExternalCommand::RecordInRound { tool, arguments },
            Some(PlanStyle::Collect) | None => {
                ExternalCommand::AddCall { tool, arguments, description: None, runner: CallRunner::Planwright }
            }
        });
        let request = self.tools.engine.submitter().request(session, by);
        let committed =
            self.tools.engine.submitter().submit_as(request, command).await.map_err(LedgerError::into_refusal)?;
        let plan = results::changed_plan(&committed).map_err(LedgerError::into_refusal)?;
        Ok(results::planned(plan))
    }

    /// What a person has decided about the plan or round that waits for it. `decided` is false while it waits.
    pub async fn decision(&self, session: &SessionIdentity) -> LedgerResult<Value> {
        decision(&self.tools.snapshot(session).await?)
    }

    /// What a person has decided about this plan, or about the one that took its place.
    pub async fn decision_about(&self, session: &SessionIdentity, plan: &PlanId) -> LedgerResult<Value> {
        let snapshot = self.tools.engine.ledger().snapshot(session, Some(plan)).await?;
        match snapshot.plan(plan).filter(|plan| plan.status != PlanStatus::Superseded) {
            Some(plan) => Ok(decided(plan)),
            None => decision(&snapshot),
        }
    }

    /// The plan or round whose decision the agent waits for.
    pub async fn awaited(&self, session: &SessionIdentity) -> LedgerResult<Option<Arc<Plan>>> {
        let snapshot = self.tools.snapshot(session).await?;
        Ok(snapshot.awaited().and_then(|plan| snapshot.plans.get(&plan.id)).cloned())
    }

    /// The active plan, with the round beside it.
    fn with_round(&self, mut answer: Value, plan: &Plan, snapshot: &Snapshot) -> Value {
        let is_active = snapshot.active().is_some_and(|active| active.id == plan.id);
        if let Some(round) = snapshot.round().filter(|_| is_active) {
            answer["round"] = with_next(self.tools.whole(round), round);
        }
        answer
    }

    /// Adds what changed since the version that the agent read.
    async fn with_difference(
        &self,
        session: &SessionIdentity,
        mut refusal: Refusal,
        expected: Option<Digest>,
    ) -> Refusal {
        let history = self.tools.engine.history();
        let found = async {
            let plan = self.tools.engine.plans().active(session).await.ok()?;
            let report = history.of_plan(session, &plan.id).await.ok()?;
            let read = report.versions.into_iter().rev().find(|version| Some(version.digest) == expected)?;
            history.diff_versions(&plan, Some(read.version), None).await.ok()
        };
        if let Some(difference) = found.await {
            refusal.message.push_str(&format!(" This changed since:\n{}", as_text(&difference)));
        }
        refusal
    }
}

/// The command of a tool that changes something.
fn command(
    snapshot: &Snapshot,
    tool: PlanTool,
    arguments: Arguments,
    is_upstream: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Command, Refusal> {
    let collects = snapshot.session.as_ref().is_some_and(|it| it.plan_mode.style == PlanStyle::Collect);
    Ok(match tool {
        PlanTool::Finalize if !collects => {
            let given: arguments::Summary = parse(tool, arguments)?;
            Command::External(ExternalCommand::FinalizeRound { summary: given.summary })
        }
        PlanTool::SetContent => content_command(arguments)?.0,
        PlanTool::AddCall => {
            let given: arguments::AddCall = parse(tool, arguments)?;
            let runner = if is_upstream(&given.tool) { CallRunner::Planwright } else { CallRunner::Client };
            Command::External(ExternalCommand::AddCall {
                tool: given.tool,
                arguments: given.arguments.into_value()?,
                description: given.description,
                runner,
            })
        }
        PlanTool::Progress => {
            let given: arguments::ExternalProgress = parse(tool, arguments)?;
            let step = given.step.map_or(Ok(None), |name| position(snapshot, &name))?;
            let outcome = StepOutcome { status: given.status.into(), note: given.note, evidence: given.evidence };
            Command::External(ExternalCommand::Report(ProgressReport { step, outcome }))
        }
        PlanTool::Get
        | PlanTool::List
        | PlanTool::AwaitDecision
        | PlanTool::Finalize
        | PlanTool::CreateDraft
        | PlanTool::SetMetadata
        | PlanTool::AddStep
        | PlanTool::UpdateStep
        | PlanTool::RemoveStep
        | PlanTool::Submit => changing_command(tool, arguments)?,
    })
}

/// The command that replaces the text of the plan, and the version that the agent expects to replace.
fn content_command(arguments: Arguments) -> Result<(Command, Option<Digest>), Refusal> {
    let given: arguments::ExternalSetContent = parse(PlanTool::SetContent, arguments)?;
    let expected = given.expected_digest.as_deref().filter(|text| !text.trim().is_empty());
    let expected = expected.map(str::parse::<Digest>).transpose()?;
    let (markdown, title) = (given.plan_markdown, given.title);
    Ok((Command::External(ExternalCommand::SetContent { markdown, title, expected }), expected))
}

/// The 1-based position of a step of the active plan.
fn position(snapshot: &Snapshot, name: &StepName) -> Result<Option<usize>, Refusal> {
    let text = match name {
        StepName::Position(position) => return Ok(Some(*position)),
        StepName::Text(text) => text.trim(),
    };
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(position) = text.parse() {
        return Ok(Some(position));
    }
    let steps = snapshot.active().map(|plan| plan.content.steps()).unwrap_or_default();
    let found = steps.iter().position(|step| step.id.as_str() == text).map(|index| index + 1);
    found.map(Some).ok_or_else(|| Refusal::not_found(format!("The plan has no step {}.", quoted(text))))
}

fn decision(snapshot: &Snapshot) -> LedgerResult<Value> {
    let Some(plan) = snapshot.awaited() else {
        return Err(Refusal::not_found(
            "There is no plan that a person could decide about; plan_get says in `next` what to do now.",
        )
        .into());
    };
    let mut answer = decided(plan);
    for (name, other) in [("plan", snapshot.active()), ("round", snapshot.round())] {
        if let Some(other) = other.filter(|other| other.id != plan.id) {
            answer[name] = results::named(other);
        }
    }
    Ok(answer)
}

/// What a person has decided about the plan.
fn decided(plan: &Plan) -> Value {
    let waits = plan.status == PlanStatus::Ready;
    let mut answer = with_next(results::named(plan), plan);
    if let Some(round) = &plan.round {
        answer["round_number"] = json!(round.number);
    }
    answer["decided"] = json!(!waits && plan.status != PlanStatus::Collecting);
    for (name, text) in [
        ("feedback", plan.feedback.as_ref().map(|feedback| feedback.text.as_str())),
        ("approval_note", plan.approval.as_ref().and_then(|approval| approval.note.as_deref())),
        ("reason", plan.ending.as_ref().and_then(|ending| ending.reason.as_deref())),
    ] {
        if let Some(text) = text {
            answer[name] = json!(text);
        }
    }
    if plan.feedback.is_some() {
        // A person asked for changes: that is a decision, also while the plan is a draft again.
        answer["decided"] = json!(true);
    }
    let skipped = plan.approval.as_ref().map(|approval| approval.skipped.as_slice()).unwrap_or_default();
    if !skipped.is_empty() {
        answer["skipped"] = skipped.iter().map(|skip| skip.position).collect();
    }
    answer
}

/// Takes the fields away that the tool does not have. Clients add fields of their own to every call.
fn take_unknown(name: &str, arguments: &mut Arguments) -> Vec<String> {
    static FIELDS: OnceLock<HashMap<&'static str, Vec<String>>> = OnceLock::new();
    if arguments.is_empty() {
        return Vec::new();
    }
    let fields = FIELDS.get_or_init(|| {
        let policy = Policy::default();
        let tools = PlanTool::all().map(|tool| define(tool, PlanStyle::Document, &policy));
        let situation = GateContext { workbook: true, ..of_style(PlanStyle::Document, &policy) };
        let notes = workbook::tools(&situation).chain(memory::tools(&situation));
        tools.chain(notes).map(|tool| (tool.name, fields_of(&tool))).collect()
    });
    let Some(known) = fields.get(name) else { return Vec::new() };
    let unknown: Vec<String> = arguments.keys().filter(|field| !known.contains(field)).cloned().collect();
    for field in &unknown {
        arguments.remove(field);
    }
    unknown
}

fn fields_of(tool: &ToolDefinition) -> Vec<String> {
    tool.input_schema["properties"].as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
}

fn define(tool: PlanTool, style: PlanStyle, policy: &Policy) -> ToolDefinition {
    let input_schema = arguments::external_schema(tool, style);
    let description = arguments::external_description(tool, &policy.agents);
    let mut defined = ToolDefinition { input_schema, description, ..super::define(tool, style, &policy.agents) };
    if tool == PlanTool::Finalize && style != PlanStyle::Collect {
        include_str!("descriptions/plan_finalize_round.md").trim_end().clone_into(&mut defined.description);
    }
    if tool == PlanTool::AddStep {
        include_str!("descriptions/plan_add_step_external.md").trim_end().clone_into(&mut defined.description);
    }
    defined
}

/// The plan tools of a style, for a server that cannot read its store.
pub fn tools_of_style(style: PlanStyle) -> Vec<ToolDefinition> {
    let policy = Policy::default();
    plan_tools(&of_style(style, &policy), |tool, style| define(tool, style, &policy)).collect()
}

fn of_style(style: PlanStyle, policy: &Policy) -> GateContext {
    GateContext {
        style: Some(style),
        status: None,
        caller: Caller::ExternalAgent,
        document_tools: policy.document_tools,
        workbook: false,
        has_goals: false,
        has_rounds: policy.has_rounds,
    }
}

/// The refusal of a plan tool, with what to call next.
fn with_next_call(mut refusal: Refusal, name: &str) -> Refusal {
    let next = match (PlanTool::named(name), refusal.code) {
        (Some(PlanTool::Get), RefusalCode::NotFound) => "Without `plan_id`, plan_get reads the active plan.".to_owned(),
        (Some(_), RefusalCode::InvalidArgument) => format!("Correct it and call {name} again."),
        (Some(_), RefusalCode::WrongStatus | RefusalCode::NotFound | RefusalCode::PolicyDenied)
            // Without plan work there is no tool to call.
            if !refusal.message.contains("plan_get") && !refusal.message.contains("a person turns it on") =>
        {
            "plan_get says in `next` what to do now.".to_owned()
        }
        _ => return refusal,
    };
    refusal.message = format!("{} {next}", refusal.message.trim_end());
    refusal
}

fn with_next(mut answer: Value, plan: &Plan) -> Value {
    if let Some(hint) = next(plan) {
        answer["next"] = json!(hint);
    }
    answer
}

/// What happens next, where it differs for an agent that carries the plan out itself.
fn next(plan: &Plan) -> Option<&'static str> {
    if plan.round.is_some() && plan.feedback.is_none() {
        return next_of_round(plan.status);
    }
    let style = plan.style();
    match plan.status {
        PlanStatus::Ready => Some(
            "A person decides now; do not approve it yourself. Wait with plan_await_decision, and do not start before the \
             status is APPROVED.",
        ),
        PlanStatus::Approved => Some(match style {
            PlanStyle::Document | PlanStyle::Build => {
                "It is approved. Carry it out and report each step with plan_progress."
            }
            PlanStyle::Collect => {
                "It is approved. Make your own calls with exactly the approved arguments and report each with plan_progress; \
                 Planwright makes those of upstream servers, and plan_get shows their results."
            }
        }),
        PlanStatus::Executing if plan.execution.as_ref().is_some_and(|it| it.step_pause().is_some()) => None,
        PlanStatus::Executing if results::has_unknown_result(plan) => None,
        PlanStatus::Executing => Some("Go on with the next step and report it with plan_progress."),
        PlanStatus::Completed | PlanStatus::Rejected | PlanStatus::Cancelled => Some(match style {
            PlanStyle::Document => "It is finished: do not work on it. plan_set_content begins the next plan.",
            PlanStyle::Collect => "It is finished: do not work on it. The next recorded call begins the next plan.",
            PlanStyle::Build => "It is finished: do not work on it. plan_create_draft begins the next plan.",
        }),
        PlanStatus::Collecting | PlanStatus::PartiallyCompleted | PlanStatus::Superseded => None,
    }
}

/// What happens next with a round.
const fn next_of_round(status: PlanStatus) -> Option<&'static str> {
    match status {
        PlanStatus::Collecting => Some(
            "Make the other calls that need no result of these; they are recorded, too. Then call plan_finalize, so that a \
             person decides about them.",
        ),
        PlanStatus::Ready => Some(
            "A person decides about these calls now; do not approve them yourself. Wait with plan_await_decision. Calls that \
             only read still run.",
        ),
        PlanStatus::Approved | PlanStatus::Executing => Some(
            "Planwright makes exactly these calls, and no other is recorded meanwhile. plan_get shows their results.",
        ),
        PlanStatus::Completed | PlanStatus::PartiallyCompleted => {
            Some("It is over; `steps` has the results. The next call that changes something begins the next round.")
        }
        PlanStatus::Rejected | PlanStatus::Cancelled => Some(
            "A person does not want these calls. Do not record them again unless they ask for it; another call begins the next \
             round.",
        ),
        PlanStatus::Superseded => None,
    }
}

/// The difference as lines with `+` and `-`.
fn as_text(difference: &PlanDiff) -> String {
    let mut text = String::new();
    for line in &difference.lines {
        let mark = match line {
            DiffLine::Same { .. } => ' ',
            DiffLine::Removed { .. } => '-',
            DiffLine::Added { .. } => '+',
            DiffLine::Gap { .. } => '…',
        };
        text.push_str(&format!("{mark}{}\n", line.text()));
        if text.len() > MAX_DIFFERENCE {
            text.push_str("…\n");
            break;
        }
    }
    text
}
