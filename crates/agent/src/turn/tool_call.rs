//! One tool call: the arguments are parsed, the gate decides, and the call runs, is recorded as a step, or is refused.

use std::borrow::Cow;
use std::time::Instant;

use planwright_core::conversation::{CountTokens as _, clip};
use planwright_core::event::{Event, SessionEvent};
use planwright_core::gate::{
    ASK_AGENT, ASK_PERSON, AutoTool, Caller, GateContext, GateDecision, MemoryTool, PlanTool, ToolEffect, WorkbookTool,
    authorize_plan_tool, decide_other_tool, records_own_tool,
};
use planwright_core::ids::{PlanId, RequestId};
use planwright_core::plan::PlanStatus;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::turn::{PendingCall, Purpose, ToolOutcome, ToolStatus};
use planwright_core::upstream::ServerName;
use planwright_core::visible::{quoted, visible};
use planwright_engine::ledger::{Committed, Leasing, LedgerError, LedgerResult};
use planwright_engine::submitter::SubmitRequest;
use serde_json::Value;
use tokio::time::timeout;

use super::abort::TurnAbort;
use super::runner::TurnRunner;
use crate::catch_panic::catch_panic;
use crate::change_tracker::{ChangeTracker, done_before};
use crate::session::progress::Progress;
use crate::tool_schema::Arguments;
use crate::toolbox::{ToolContext, recorded_arguments};
use crate::tools::{self, AssignedStep, CallContext, PlanTools, is_paused};

/// The largest result of one call that the model is sent.
const MAX_TOKENS: u32 = 16_000;

/// What stands in front of the result of a call that is not the one the agent asked for.
const CHANGED: &str = "A person changed the arguments before they permitted this call. This is the call that was made:";

impl TurnRunner<'_> {
    /// Carries out a call. It has an outcome unless the store fails or the turn is stopped.
    pub(super) async fn carry_out(&mut self, pending: &PendingCall) -> Result<ToolOutcome, TurnAbort> {
        let call = &pending.call;
        let name = visible(&call.name).into_owned();
        let changed = self.changed_arguments(pending);
        let shown = changed.as_ref().map(|arguments| Value::Object(arguments.clone()).to_string());
        let detail_of_call = detail(shown.as_deref().unwrap_or(&call.arguments));
        self.context.progress.send(Progress::ToolStarted { name: name.clone(), detail: detail_of_call });
        let began = Instant::now();
        // Only the first call after a crash may have been begun before it.
        let interrupted = std::mem::take(&mut self.resumed);
        let arguments = changed.map_or_else(|| read_arguments(&call.name, &call.arguments), Ok);
        let mut outcome = match arguments {
            Ok(arguments) => self.dispatch(pending, arguments, interrupted).await?,
            Err(refusal) => refused(&refusal),
        };
        if let Some(arguments) = shown {
            outcome.text = format!("{CHANGED} {arguments}\n\n{}", outcome.text);
        }
        outcome = self.readable(&call.name, outcome);
        self.note_call(pending, &mut outcome).await;
        let (status, detail) = (outcome.status, detail_of(&outcome));
        self.context.progress.send(Progress::ToolEnded { name, status, detail, took: began.elapsed() });
        Ok(outcome)
    }

    /// The outcome within the tokens that the model can read. The text of a plan or a workbook is not cut: a model that
    /// reads a part of it might store the part.
    fn readable(&self, name: &str, mut outcome: ToolOutcome) -> ToolOutcome {
        let counter = &self.agent.tokens;
        let context = self.agent.context_tokens();
        if PlanTool::named(name).is_none() && WorkbookTool::named(name).is_none() {
            outcome.text = clip(&outcome.text, MAX_TOKENS.min(context / 8), counter);
            return outcome;
        }
        let tokens = counter.count(&outcome.text);
        if tokens <= context / 3 {
            return outcome;
        }
        refused(&Refusal::limit(format!(
            "It takes about {tokens} tokens, which is too much for a model with {context}. It is stored whole; \
             ask the person for a model that reads more at once."
        )))
    }

    async fn dispatch(
        &mut self,
        pending: &PendingCall,
        arguments: Arguments,
        interrupted: bool,
    ) -> Result<ToolOutcome, TurnAbort> {
        let name = pending.call.name.as_str();
        if let Some(tool) = PlanTool::named(name) {
            return self.call_plan_tool(pending, tool, arguments).await;
        }
        if records_own_tool(&self.situation(), name) {
            return self.record_own_tool(pending, arguments).await;
        }
        if let Some(tool) = WorkbookTool::named(name) {
            return self.call_workbook_tool(pending, tool, arguments).await;
        }
        if let Some(tool) = MemoryTool::named(name) {
            return self.call_memory_tool(pending, tool, arguments).await;
        }
        if let Some(tool) = AutoTool::named(name) {
            return self.call_auto_tool(pending, tool, arguments).await;
        }
        if name == ASK_PERSON {
            return self.ask_person(pending, arguments).await;
        }
        if name == ASK_AGENT {
            return self.ask_agent(pending, arguments).await;
        }
        let agent = self.agent;
        let Some(tool) = agent.toolbox.get(name) else {
            // A tool of an upstream server may be gone since the call was begun.
            let may_have_run = interrupted && ServerName::of_tool(name).is_some();
            return Ok(if may_have_run { not_known() } else { refused(&self.unknown(name)) });
        };
        if let Purpose::Step { agent: specialist, .. } | Purpose::Question { agent: specialist, .. } =
            &self.turn.purpose
            && let Some(options) = self.agent.specialist_options(&self.session, &self.turn.purpose)
            && let Err(refusal) = options.check_tool(specialist, name)
        {
            return Ok(refused(&refusal));
        }
        let verdict = decide_other_tool(&self.situation(), name, tool.effect());
        // A tool that the gate refuses is refused before its arguments are checked.
        if let GateDecision::Deny(refusal) = &verdict {
            return Ok(refused(refusal));
        }
        let checked = catch_panic(name, async { tool.check(&arguments) }).await;
        if let Err(refusal) = checked.unwrap_or_else(|| Err(broke_down(name))) {
            return Ok(refused(&refusal));
        }
        match verdict {
            GateDecision::Deny(refusal) => Ok(refused(&refusal)),
            // If collecting began since, the call may have run before the crash. It is not recorded as a step as well.
            GateDecision::Record
                if interrupted && tool.effect() == ToolEffect::Changes && self.mode_changed().await? =>
            {
                Ok(not_known())
            }
            GateDecision::Record => {
                let request = self.call_request(pending)?;
                let context = CallContext { snapshot: &self.snapshot, caller: Caller::Conversation };
                let answer = PlanTools::new(agent.engine()).record_call(request, context, name, arguments).await;
                let answer = self.note(answer.map(|(value, committed)| (value, Some(committed))))?;
                Ok(outcome_of(answer, ToolStatus::Planned))
            }
            GateDecision::Run if interrupted && tool.effect() == ToolEffect::Changes => {
                let call_id = RequestId::of_call(&self.turn.id, pending.number);
                let Some(answer) = done_before(tool.as_ref(), self.tool_context(&call_id)?).await else {
                    return Ok(not_known());
                };
                self.call_changes = answer.changes.into();
                Ok(outcome_of(Ok(answer.value), ToolStatus::Done))
            }
            GateDecision::Run => {
                if let Some(outcome) = self.check_permission(pending, tool.as_ref(), &arguments).await? {
                    return Ok(outcome);
                }
                self.check_lease().await?;
                let call_id = RequestId::of_call(&self.turn.id, pending.number);
                let denied = match agent.denied_paths(tool.as_ref()) {
                    Ok(denied) => denied,
                    Err(refusal) => return Ok(outcome_of(Err(refusal), ToolStatus::Done)),
                };
                let context = self.tool_context(&call_id)?.without_paths(&denied);
                let plan_files = self.executing_plan().map(|plan| plan.content.files()).unwrap_or_default();
                let tracker = ChangeTracker::begin(agent, tool.as_ref(), context, plan_files).await;
                let limit = tool.time_limit(&arguments, agent.engine().policy().turn.tool_time);
                let mut outcome = tokio::select! {
                    biased;
                    outcome = timeout(limit, catch_panic(name, tool.call(context, arguments))) => outcome,
                    abort = self.interrupted() => {
                        let changes = tracker.finish(None).await?;
                        return Err(abort.in_the_middle_of(pending, tool.effect(), changes));
                    }
                };
                let answered = outcome.as_mut().ok().and_then(|answer| answer.as_mut()?.as_mut().ok());
                self.call_changes = tracker.finish(answered).await?;
                Ok(match outcome {
                    Ok(answer) => {
                        let answer = answer.unwrap_or_else(|| Err(broke_down(name)));
                        let status = match &answer {
                            Ok(answer) if answer.is_uncertain => ToolStatus::Uncertain,
                            Ok(answer) if answer.failure.is_some() => ToolStatus::Failed,
                            Ok(_) | Err(_) => ToolStatus::Done,
                        };
                        outcome_of(answer.map(|answer| answer.value), status)
                    }
                    Err(_) => ToolOutcome {
                        status: ToolStatus::TimedOut,
                        text: format!("It did not end within {} seconds and was given up.", limit.as_secs_f32()),
                    },
                })
            }
        }
    }

    /// Writes a call to one of Planwright's own tools down as a step.
    async fn record_own_tool(&mut self, pending: &PendingCall, arguments: Arguments) -> Result<ToolOutcome, TurnAbort> {
        let (name, situation) = (pending.call.name.as_str(), self.situation());
        let state = self.snapshot.session.as_ref().and_then(|session| session.auto.as_deref());
        let recorded = tools::authorize_own_tool(&situation, name)
            .and_then(|()| recorded_arguments(arguments, self.turn.purpose.run(), state));
        let arguments = match recorded {
            Ok(arguments) => arguments,
            Err(refusal) => return Ok(refused(&refusal)),
        };
        let request = self.call_request(pending)?;
        let context = CallContext { snapshot: &self.snapshot, caller: Caller::Conversation };
        let answer = PlanTools::new(self.agent.engine()).record_call(request, context, name, arguments).await;
        let answer = self.note(answer.map(|(value, committed)| (value, Some(committed))))?;
        Ok(outcome_of(answer, ToolStatus::Planned))
    }

    /// The effect that a call without an outcome may have had. Only a call that a crash interrupted may have begun.
    pub(super) fn effect_before(&self, pending: &PendingCall) -> ToolEffect {
        let name = pending.call.name.as_str();
        let of_server = ServerName::of_tool(name).map(|_| ToolEffect::Changes);
        let effect = self.agent.toolbox.get(name).map(|tool| tool.effect()).or(of_server).filter(|_| self.resumed);
        let runs = |effect: &ToolEffect| decide_other_tool(&self.situation(), name, *effect) == GateDecision::Run;
        effect.filter(runs).unwrap_or(ToolEffect::ReadsOnly)
    }

    /// Whether plan work was turned on, off or to another style since the turn began.
    async fn mode_changed(&self) -> LedgerResult<bool> {
        self.happened_since_begun(|event| {
            matches!(
                event,
                Event::Session(SessionEvent::PlanModeEnabled { .. } | SessionEvent::PlanModeDisabled { .. })
            )
        })
        .await
    }

    async fn call_plan_tool(
        &mut self,
        pending: &PendingCall,
        tool: PlanTool,
        arguments: Arguments,
    ) -> Result<ToolOutcome, TurnAbort> {
        if let Purpose::Step { plan, execution, step, .. } = self.turn.purpose.clone() {
            return self
                .report_on_step(
                    pending,
                    tool,
                    AssignedStep { plan: &plan, execution: &execution, step: &step },
                    arguments,
                )
                .await;
        }
        // In the conversation `decide` asks the gate inside the transaction.
        if self.turn.purpose.is_part()
            && let Err(refusal) = authorize_plan_tool(&self.situation(), tool)
        {
            return Ok(refused(&refusal));
        }
        let executing = self.snapshot.active().is_some_and(|plan| plan.status == PlanStatus::Executing);
        let tools = PlanTools::new(self.agent.engine());
        // A person may have changed the plan since the last commit of this turn.
        let reads = matches!(tool, PlanTool::Get | PlanTool::List);
        let fresh = if reads { Some(tools.snapshot(&self.session).await?) } else { None };
        let snapshot = fresh.as_ref().unwrap_or(&self.snapshot);
        let context = CallContext { snapshot, caller: Caller::Conversation };
        let answer = tools.call_plan_tool(self.call_request(pending)?, context, tool, arguments).await;
        let mut answer = self.note(answer)?;
        if let (PlanTool::Get, Ok(plan)) = (tool, &answer) {
            answer = self.readable_plan(plan).await?;
        }
        // A plan that is rewritten while it is carried out is not carried out any further: a person decides first.
        let rewritten = executing && tool == PlanTool::SetContent;
        // A person looks at the step that ended before the agent continues.
        let paused = tool == PlanTool::Progress && answer.as_ref().is_ok_and(is_paused);
        let settles = rewritten || paused || matches!(tool, PlanTool::Finalize | PlanTool::Submit);
        if settles && let Ok(value) = &answer {
            self.settled = plan_named_in(value);
            return Ok(outcome_of(answer, ToolStatus::Settled));
        }
        Ok(outcome_of(answer, ToolStatus::Done))
    }

    /// A plan that the model cannot read at once is read by parts.
    async fn readable_plan(&self, plan: &Value) -> LedgerResult<Result<Value, Refusal>> {
        let counter = &self.agent.tokens;
        let words = self.conversation.newest_message().and_then(|at| self.conversation.items.get(at));
        let words = words.map_or(0, |item| item.tokens).saturating_add(self.memory_tokens());
        let room = self.turns.requests.room_for_plan(&self.snapshot, &self.turn.purpose, words).await?;
        let most = room.min(self.agent.context_tokens() / 3);
        let fits = |plan: &Value| counter.count(&plan.to_string()) <= most;
        if fits(plan) {
            return Ok(Ok(plan.clone()));
        }
        let too_long = || {
            let context = self.agent.context_tokens();
            Refusal::limit(format!(
                "A single line or step of the plan is too much for a model with {context} tokens. It is stored whole; \
                 ask the person for a model that reads more at once."
            ))
        };
        Ok(tools::part_within(plan, fits).ok_or_else(too_long))
    }

    async fn call_workbook_tool(
        &mut self,
        pending: &PendingCall,
        tool: WorkbookTool,
        arguments: Arguments,
    ) -> Result<ToolOutcome, TurnAbort> {
        let caller = self.situation().caller;
        let answer =
            Box::pin(tools::workbook::call(self.agent.engine(), self.call_request(pending)?, caller, tool, arguments))
                .await;
        let answer = self.note(answer)?;
        Ok(outcome_of(answer, ToolStatus::Done))
    }

    async fn call_memory_tool(
        &mut self,
        pending: &PendingCall,
        tool: MemoryTool,
        arguments: Arguments,
    ) -> Result<ToolOutcome, TurnAbort> {
        let caller = self.situation().caller;
        let request = self.call_request(pending)?;
        let run = self.turn.purpose.run();
        let answer = Box::pin(tools::memory::call(self.agent.engine(), request, caller, run, tool, arguments)).await;
        let answer = self.note(answer)?;
        Ok(outcome_of(answer, ToolStatus::Done))
    }

    async fn call_auto_tool(
        &mut self,
        pending: &PendingCall,
        tool: AutoTool,
        arguments: Arguments,
    ) -> Result<ToolOutcome, TurnAbort> {
        let (caller, run) = (self.situation().caller, self.turn.purpose.run());
        let request = self.call_request(pending)?;
        let answer = Box::pin(tools::auto::call(self.agent.engine(), request, caller, run, tool, arguments)).await;
        let answer = self.note(answer)?;
        Ok(outcome_of(answer, ToolStatus::Done))
    }

    /// The one plan tool of a specialist that works on a step: its report, which ends the step.
    async fn report_on_step(
        &mut self,
        pending: &PendingCall,
        tool: PlanTool,
        given: AssignedStep<'_>,
        arguments: Arguments,
    ) -> Result<ToolOutcome, TurnAbort> {
        if let Err(refusal) = authorize_plan_tool(&self.situation(), tool) {
            return Ok(refused(&refusal));
        }
        let answer =
            PlanTools::new(self.agent.engine()).report_on_step(self.call_request(pending)?, given, arguments).await;
        let mut ended = false;
        let answer = answer.map(|(value, status, committed)| {
            ended = status.is_settled();
            (value, Some(committed))
        });
        let answer = self.note(answer)?;
        Ok(outcome_of(answer, if ended { ToolStatus::Settled } else { ToolStatus::Done }))
    }

    /// `call_id` names the call, so that it is not done twice after a crash.
    pub(super) fn tool_context<'a>(&'a self, call_id: &'a RequestId) -> Result<ToolContext<'a>, TurnAbort> {
        let Some(lease) = &self.held else { return Err(TurnAbort::LeaseLost) };
        let context = ToolContext::leased(&self.session, lease, self.agent.engine().ledger().as_ref());
        let context = context.in_workspace(self.workspace()).named(call_id.as_str());
        Ok(context.watched_by(&self.context.progress).at_sandbox_level(self.sandbox.as_deref()))
    }

    /// The context in which the gate decides.
    pub(super) fn situation(&self) -> GateContext {
        self.turns.requests.situation(&self.snapshot, &self.turn.purpose)
    }

    /// Takes over the snapshot after a plan tool. A refusal is an outcome; a lost lease or a failing store is not.
    fn note(&mut self, answer: LedgerResult<(Value, Option<Committed>)>) -> Result<Result<Value, Refusal>, TurnAbort> {
        match answer {
            Ok((value, committed)) => {
                if let Some(committed) = committed {
                    self.snapshot = committed.snapshot;
                }
                Ok(Ok(value))
            }
            Err(LedgerError::Fenced(_)) => Err(TurnAbort::LeaseLost),
            Err(LedgerError::Refused(refusal)) => Ok(Err(refusal)),
            Err(error) => Err(TurnAbort::Ledger(error)),
        }
    }

    pub(super) fn call_request(&self, pending: &PendingCall) -> LedgerResult<SubmitRequest<'_>> {
        Ok(SubmitRequest {
            session: &self.session,
            by: &self.actor,
            id: RequestId::of_call(&self.turn.id, pending.number),
            leasing: Leasing::Held(self.lease()?),
            turn: Some(self.turn.id.clone()),
        })
    }

    fn unknown(&self, name: &str) -> Refusal {
        let tools = self.turns.requests.advertised(&self.situation(), &self.session, None);
        let names: Vec<_> = tools.specs.iter().map(|tool| tool.name.as_str()).collect();
        Refusal::not_found(format!("There is no tool {}; the tools are {}.", quoted(name), names.join(", ")))
    }
}

fn read_arguments(name: &str, text: &str) -> Result<Arguments, Refusal> {
    if text.trim().is_empty() {
        return Ok(Arguments::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(Value::Null) => Ok(Arguments::new()),
        Ok(_) => Err(Refusal::invalid(format!("The arguments of {} have to be one JSON object.", quoted(name)))),
        Err(error) => Err(Refusal::invalid(format!("The arguments of {} are not valid JSON: {error}.", quoted(name)))),
    }
}

fn not_known() -> ToolOutcome {
    let text = "The program ended while this was being done, so it is not known whether it was done. It was not done \
                again: find out first, or ask the person.";
    ToolOutcome { status: ToolStatus::Uncertain, text: text.to_owned() }
}

fn broke_down(name: &str) -> Refusal {
    let message = format!("{} crashed. What it changed before that is unknown. See the log.", quoted(name));
    Refusal::new(RefusalCode::Internal, message)
}

fn plan_named_in(answer: &Value) -> Option<PlanId> {
    PlanId::new(answer.get("plan_id")?.as_str()?).ok()
}

pub(super) fn outcome_of(answer: Result<Value, Refusal>, status: ToolStatus) -> ToolOutcome {
    match answer {
        Ok(value) => ToolOutcome { status, text: value.to_string() },
        Err(refusal) => refused(&refusal),
    }
}

pub(super) fn refused(refusal: &Refusal) -> ToolOutcome {
    let status = if refusal.code.is_failure() { ToolStatus::Failed } else { ToolStatus::Refused };
    // Text, a code and a list of problems: it cannot fail to be written.
    ToolOutcome { status, text: serde_json::to_string(refusal).unwrap_or_else(|_| refusal.message.clone()) }
}

/// The subject of a call, for the person: its first argument that is a text.
fn detail(arguments: &str) -> String {
    const MAX_CHARACTERS: usize = 60;
    let arguments: Result<Arguments, _> = serde_json::from_str(arguments);
    let first = arguments.ok().and_then(|arguments| {
        arguments.values().find_map(|value| value.as_str().and_then(|text| text.lines().next()).map(str::to_owned))
    });
    let line = first.unwrap_or_default();
    let shown: String = visible(&line).chars().take(MAX_CHARACTERS).collect();
    if shown.chars().count() == MAX_CHARACTERS { format!("{shown}…") } else { shown }
}

/// The failure in a few words; empty if the call succeeded.
fn detail_of(outcome: &ToolOutcome) -> String {
    if !outcome.status.is_failure() {
        return String::new();
    }
    let message = serde_json::from_str::<Value>(&outcome.text)
        .ok()
        .and_then(|answer| answer.get("message")?.as_str().map(str::to_owned));
    let message = message.unwrap_or_else(|| outcome.text.clone());
    // Refusals of Planwright have made visible what they quote.
    let hides = matches!(visible(&message.replace('⟦', "")), Cow::Owned(_));
    if hides { visible(&message).into_owned() } else { message }
}
