//! Recorded calls, one after another; those that only read and stand next to each other are made side by side.

use std::sync::Arc;

use futures::future::join_all;
use planwright_core::actor::ActorKind;
use planwright_core::command::{EndedStep, StepOutcome};
use planwright_core::gate::{Caller, GateContext, GateDecision, ToolEffect, decide_other_tool};
use planwright_core::ids::RequestId;
use planwright_core::plan::Plan;
use planwright_core::plan::content::{CallRunner, RecordedCall};
use planwright_core::plan::execution::{PermissionCounts, StepState, StepStatus};
use planwright_core::policy::OnFailure;
use planwright_core::refusal::Refusal;
use planwright_core::visible::quoted;
use planwright_core::workspace::CallChanges;
use planwright_engine::ledger::Leasing;
use planwright_engine::submitter::SubmitRequest;
use planwright_engine::workbook::EndedCall;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::runner::{ExecutionAbort, ExecutionRunner, ExecutionState};
use super::{calls_of, uncertain};
use crate::catch_panic::catch_panic;
use crate::change_tracker::{ChangeTracker, done_before};
use crate::permission::{ApprovedCalls, counted, denied};
use crate::toolbox::{Tool, ToolContext};
use crate::turn::CallNote;

/// The largest number of calls that are made side by side.
const SIDE_BY_SIDE: usize = 4;
/// The bytes of an answer that are kept with the step.
const MAX_NOTE_BYTES: usize = 4_000;

/// A step that is to be done now.
struct ReadyStep {
    /// 1-based index within the plan.
    position: usize,
    run: StepState,
    call: RecordedCall,
    tool: Arc<dyn Tool>,
}

/// The result of a step.
struct StepResult {
    due: ReadyStep,
    outcome: StepOutcome,
    changes: CallChanges,
    permissions: PermissionCounts,
    began: Instant,
    /// Why it was cut off, if it was.
    abort: Option<ExecutionAbort>,
}

impl ExecutionRunner<'_> {
    /// Makes the calls until none is left, one fails, the result of one is unknown, or a person looks first. The outcome of a
    /// step and the intent of the next one are written together, and that of the last one with the end of the execution.
    pub(super) async fn recorded_calls(&self, state: ExecutionState) -> Result<ExecutionState, ExecutionAbort> {
        let mut state = self.doubt_what_was_begun(state).await?;
        let mut results = Vec::new();
        loop {
            let (ended, abort) = ended(&results);
            let failed = ended.iter().any(|ended| ended.outcome.status == StepStatus::Failed);
            let stops = failed && self.agent.engine().policy().on_failure == OnFailure::Stop;
            let doubtful = ended.iter().any(|ended| ended.outcome.status == StepStatus::Uncertain);
            let abort = abort.or_else(|| self.is_to_end());
            let over = stops || doubtful || state.waits_for_look(&ended) || abort.is_some();
            let due = if over { Vec::new() } else { self.due(&state, &ended)? };
            if !over && self.ends_with(&state, &ended) {
                drop(state);
                state = self.finish(ended).await?;
            } else {
                let pending = due.iter().filter(|due| due.run.status == StepStatus::Pending);
                let begun = pending.map(|due| due.run.step.clone()).collect();
                state = self.advance(state, ended, begun).await?;
                self.note_calls(&state, &results).await;
            }
            results.drain(..).for_each(|result: StepResult| self.send_ended(&state, result));
            if let Some(abort) = abort {
                return Err(abort);
            }
            if due.is_empty() {
                return Ok(state);
            }
            results = self.make(&state, due).await;
        }
    }

    /// Whether the execution ends with these outcomes. The session is given up with the end, so it does not if they are noted
    /// in a workbook afterwards.
    fn ends_with(&self, state: &ExecutionState, ended: &[EndedStep]) -> bool {
        let is_settled = |run: &StepState| match ended.iter().find(|ended| ended.step == run.step) {
            Some(ended) => ended.outcome.status.is_settled(),
            None => run.status.is_settled(),
        };
        !ended.is_empty() && state.runs().iter().all(is_settled) && !self.has_workbook(state)
    }

    /// Calls that a process began before it ended are repeated if they may be. The result of the others is unknown.
    async fn doubt_what_was_begun(&self, state: ExecutionState) -> Result<ExecutionState, ExecutionAbort> {
        let mut doubtful = Vec::new();
        let begun = |(index, run): &(usize, &StepState)| {
            run.status == StepStatus::InProgress && !is_client_call(&state.plan, *index, run)
        };
        for (index, run) in state.runs().iter().enumerate().filter(begun) {
            let due = self.look_up(&state.plan, index + 1, run)?;
            if due.tool.effect() == ToolEffect::Changes {
                let (outcome, changes) = self.known_outcome(&due).await;
                let permissions = PermissionCounts::default();
                doubtful.push(StepResult { due, outcome, changes, permissions, began: Instant::now(), abort: None });
            }
        }
        let (ended, _) = ended(&doubtful);
        let state = self.advance(state, ended, Vec::new()).await?;
        doubtful.into_iter().for_each(|result| self.send_ended(&state, result));
        Ok(state)
    }

    /// The outcome of a call that a process began before it ended, if the call left a trace.
    async fn known_outcome(&self, due: &ReadyStep) -> (StepOutcome, CallChanges) {
        let call_id = self.call_id(due);
        match done_before(due.tool.as_ref(), self.tool_context(&call_id)).await {
            Some(answer) => (outcome(StepStatus::Completed, &answer.value.to_string()), answer.changes.into()),
            None => {
                let note = "the program ended while this was being done; it is not known whether it was";
                (outcome(StepStatus::Uncertain, note), CallChanges::default())
            }
        }
    }

    /// The next step that is open once these have ended, with those behind it that may be done beside it.
    fn due(&self, state: &ExecutionState, ended: &[EndedStep]) -> Result<Vec<ReadyStep>, ExecutionAbort> {
        // Steps after one whose result is unknown wait with it.
        if uncertain(state.runs()).is_some() || self.ends_at_a_failure(state) {
            return Ok(Vec::new());
        }
        let open = state.runs().iter().enumerate().filter(|(_, run)| {
            let open = matches!(run.status, StepStatus::Pending | StepStatus::InProgress);
            open && ended.iter().all(|ended| ended.step != run.step)
        });
        let most = if state.is_step_by_step() { 1 } else { SIDE_BY_SIDE };
        let mut due: Vec<ReadyStep> = Vec::new();
        for (index, run) in open {
            if is_client_call(&state.plan, index, run) {
                break;
            }
            let next = self.look_up(&state.plan, index + 1, run)?;
            let reads = next.tool.effect() == ToolEffect::ReadsOnly;
            let beside = reads && due.last().is_none_or(|last| last.position + 1 == next.position);
            if !due.is_empty() && !beside {
                break;
            }
            due.push(next);
            if !reads || due.len() == most {
                break;
            }
        }
        Ok(due)
    }

    fn look_up(&self, plan: &Plan, position: usize, run: &StepState) -> Result<ReadyStep, ExecutionAbort> {
        let gone = |what: &str| ExecutionAbort::Ledger(Refusal::not_found(format!("Step {position}: {what}")).into());
        let call = call_of(plan, position - 1, run).ok_or_else(|| gone("there is no such call."))?;
        let tool = self.agent.toolbox.get(&call.tool).ok_or_else(|| gone("its tool is not here."))?;
        Ok(ReadyStep { position, run: run.clone(), call: call.clone(), tool })
    }

    /// Makes the calls. One that is cut off also has an outcome, and the reason.
    async fn make(&self, state: &ExecutionState, due: Vec<ReadyStep>) -> Vec<StepResult> {
        for due in &due {
            self.send_step_started(state, due.position, &due.run);
        }
        match <[ReadyStep; 1]>::try_from(due) {
            Ok([due]) => vec![self.make_one(&state.plan, due).await],
            Err(due) => join_all(due.into_iter().map(|due| self.make_one(&state.plan, due))).await,
        }
    }

    async fn make_one(&self, plan: &Plan, due: ReadyStep) -> StepResult {
        let began = Instant::now();
        let (outcome, abort, changes, permissions) = self.call(plan, &due).await;
        StepResult { due, outcome, changes, permissions, began, abort }
    }

    async fn call(
        &self,
        plan: &Plan,
        due: &ReadyStep,
    ) -> (StepOutcome, Option<ExecutionAbort>, CallChanges, PermissionCounts) {
        let name = due.call.tool.as_str();
        let nothing = CallChanges::default;
        let uncounted = PermissionCounts::default();
        let failed = |refusal: &Refusal, permissions: PermissionCounts| {
            (outcome(StepStatus::Failed, &refusal.message), None, nothing(), permissions)
        };
        match self.judge(plan, due) {
            GateDecision::Run => {}
            GateDecision::Deny(refusal) => return failed(&refusal, uncounted),
            GateDecision::Record => {
                return failed(&Refusal::policy_denied(format!("{} is not run here.", quoted(name))), uncounted);
            }
        }
        let object = &due.call.arguments;
        let Value::Object(arguments) = object.clone() else {
            return failed(&Refusal::invalid("The arguments are not an object."), uncounted);
        };
        match catch_panic(name, async { due.tool.check(&arguments) }).await {
            Some(Ok(())) => {}
            Some(Err(refusal)) => return failed(&refusal, uncounted),
            None => {
                let note = "checking its arguments crashed; see the log";
                return (outcome(StepStatus::Failed, note), None, nothing(), uncounted);
            }
        }
        let approved = ApprovedCalls::of_step(plan, &due.call);
        let call_id = self.call_id(due);
        let denied_paths = match self.agent.denied_paths(due.tool.as_ref()) {
            Ok(denied) => denied,
            Err(refusal) => return failed(&refusal, uncounted),
        };
        let context = self.tool_context(&call_id).without_paths(&denied_paths);
        let tool = due.tool.as_ref();
        let decided = self.agent.decide_permission(tool, context, &arguments, object, Some(&approved)).await;
        let permissions = match decided {
            Err(refusal) => return failed(&refusal, uncounted),
            Ok(decided) => {
                let permissions = counted(&decided);
                if let Some(refusal) = denied(name, &decided) {
                    return failed(&refusal, permissions);
                }
                permissions
            }
        };
        // Nothing was done yet, so the step is open for the process that has the session.
        if let Err(abort) = self.check_lease().await {
            let note = "not begun: the lease of the session was lost";
            return (outcome(StepStatus::Pending, note), Some(abort), nothing(), uncounted);
        }
        let tracker = ChangeTracker::begin(self.agent, due.tool.as_ref(), context, plan.content.files()).await;
        let mut answered = None;
        let limit = due.tool.time_limit(&arguments, self.agent.engine().policy().turn.tool_time);
        let (mut ended, abort) = tokio::select! {
            biased;
            ended = timeout(limit, catch_panic(name, due.tool.call(context, arguments))) => match ended {
                Ok(Some(Ok(answer))) => {
                    let status = match &answer {
                        answer if answer.is_uncertain => StepStatus::Uncertain,
                        answer if answer.failure.is_some() => StepStatus::Failed,
                        _ => StepStatus::Completed,
                    };
                    answered = Some((status, answer));
                    (outcome(status, ""), None)
                }
                Ok(Some(Err(refusal))) => (outcome(StepStatus::Failed, &refusal.message), None),
                Ok(None) => (outcome(broken(due.tool.effect()), "the call crashed; see the log"), None),
                Err(_) => {
                    let note = format!("it did not end within {} seconds and was given up", limit.as_secs_f32());
                    (outcome(broken(due.tool.effect()), &note), None)
                }
            },
            abort = self.interrupted() => (outcome(cut_off(due.tool.effect()), "stopped in the middle"), Some(abort)),
        };
        let shared = tracker.finish(answered.as_mut().map(|(_, answer)| answer)).await;
        let (changes, abort) = match shared {
            Ok(changes) => (changes, abort),
            // What the call changed is on this server only, so it is not recorded as done.
            Err(error) => {
                answered = None;
                ended = outcome(cut_off(due.tool.effect()), &error.to_string());
                (nothing(), abort.or(Some(error.into())))
            }
        };
        if let Some((status, answer)) = answered {
            ended = outcome(status, &answer.value.to_string());
        }
        (ended, abort, changes, permissions)
    }

    fn call_id(&self, due: &ReadyStep) -> RequestId {
        RequestId::of_step_call(&self.id, &due.call.id, due.run.attempts.len())
    }

    /// `call_id` names the call, so that it is not done twice after a crash.
    fn tool_context<'a>(&'a self, call_id: &'a RequestId) -> ToolContext<'a> {
        let context = ToolContext::leased(&self.session, &self.held, self.agent.engine().ledger().as_ref());
        context.in_workspace(&self.workspace).named(call_id.as_str()).watched_by(&self.context.progress)
    }

    /// Asks the gate about a call. A plan that a rule approved because it only reads may do nothing but read.
    fn judge(&self, plan: &Plan, due: &ReadyStep) -> GateDecision {
        let by_rule = plan.approval.as_ref().is_some_and(|approval| approval.by.kind == ActorKind::Policy);
        if by_rule && due.tool.effect() != ToolEffect::ReadsOnly {
            let message = format!("{} changes things, and only a rule approved it.", quoted(&due.call.tool));
            return GateDecision::Deny(Refusal::policy_denied(message));
        }
        let situation = GateContext {
            style: Some(plan.style()),
            status: Some(plan.status),
            caller: Caller::Execution,
            document_tools: self.agent.engine().policy().document_tools,
            workbook: false,
            has_goals: false,
            has_rounds: false,
        };
        decide_other_tool(&situation, &due.call.tool, due.tool.effect())
    }

    /// Writes the results into the workbook, as a conversation does.
    async fn note_calls(&self, state: &ExecutionState, results: &[StepResult]) {
        // Most sessions have no workbook. For those nothing is counted.
        if !self.has_workbook(state) {
            return;
        }
        let (hooks, session) = (&self.executions.turns.hooks, state.session.as_deref());
        for result in results {
            let Some(call_note) = self.note_of(state, result) else { continue };
            let call = &result.due.call;
            let request = SubmitRequest {
                session: &self.session,
                by: &self.actor,
                id: RequestId::of_step_note(&self.id, &call.id, result.due.run.attempts.len()),
                leasing: Leasing::Held(self.held.lease().clone()),
                turn: None,
            };
            let arguments = call.arguments.to_string();
            let answer = result.outcome.note.as_deref().unwrap_or_default();
            let ended = EndedCall { tool: &call.tool, arguments: &arguments, answer };
            hooks.note(session, request, call_note, ended).await;
        }
    }

    fn has_workbook(&self, state: &ExecutionState) -> bool {
        self.executions.turns.hooks.workbook_of(state.session.as_deref()).is_some()
    }

    fn note_of(&self, state: &ExecutionState, result: &StepResult) -> Option<CallNote> {
        let looked_up = |run: &StepState| {
            let tool = calls_of(&state.plan).iter().find(|call| call.id == run.step).map(|call| call.tool.as_str());
            run.status == StepStatus::Completed
                && tool.is_some_and(|tool| self.executions.turns.hooks.is_research(tool))
        };
        match result.outcome.status {
            StepStatus::Completed if result.due.tool.effect() == ToolEffect::ReadsOnly => {
                let before = state.runs().iter().take(result.due.position).filter(|run| looked_up(run)).count();
                Some(CallNote::Research(u32::try_from(before).unwrap_or(u32::MAX)))
            }
            StepStatus::Failed | StepStatus::Uncertain => Some(CallNote::Error),
            StepStatus::Completed | StepStatus::Pending | StepStatus::InProgress | StepStatus::Skipped => None,
        }
    }

    fn send_ended(&self, state: &ExecutionState, result: StepResult) {
        let StepResult { due, outcome, began, .. } = result;
        let (status, note) = (outcome.status, outcome.note.as_deref());
        self.send_step_ended(state, due.position, &due.run.description, status, note, began);
    }
}

/// Whether the agent of another program makes the call of this step itself.
fn is_client_call(plan: &Plan, index: usize, run: &StepState) -> bool {
    call_of(plan, index, run).is_some_and(|call| call.runner == CallRunner::Client)
}

/// The recorded call of a step. The steps of an execution stand in the order of the calls.
fn call_of<'a>(plan: &'a Plan, index: usize, run: &StepState) -> Option<&'a RecordedCall> {
    let (calls, is_its) = (calls_of(plan), |call: &&RecordedCall| call.id == run.step);
    calls.get(index).filter(is_its).or_else(|| calls.iter().find(is_its))
}

fn ended(results: &[StepResult]) -> (Vec<EndedStep>, Option<ExecutionAbort>) {
    let steps = results.iter().map(|result| EndedStep {
        step: result.due.run.step.clone(),
        outcome: result.outcome.clone(),
        changes: result.changes.clone(),
        permissions: result.permissions,
    });
    let abort = results.iter().find_map(|result| match result.abort {
        Some(ExecutionAbort::Stopped) => Some(ExecutionAbort::Stopped),
        Some(ExecutionAbort::ShuttingDown) => Some(ExecutionAbort::ShuttingDown),
        Some(ExecutionAbort::LeaseLost | ExecutionAbort::Asks | ExecutionAbort::Ledger(_)) => {
            Some(ExecutionAbort::LeaseLost)
        }
        None => None,
    });
    (steps.collect(), abort)
}

/// A call that crashed or was given up may have had its effect, unless it has none.
const fn broken(effect: ToolEffect) -> StepStatus {
    match effect {
        ToolEffect::ReadsOnly | ToolEffect::Repeatable => StepStatus::Failed,
        ToolEffect::Changes => StepStatus::Uncertain,
    }
}

/// A call that a person stopped is simply to be made again, unless it must not be made twice.
const fn cut_off(effect: ToolEffect) -> StepStatus {
    match effect {
        ToolEffect::ReadsOnly | ToolEffect::Repeatable => StepStatus::Pending,
        ToolEffect::Changes => StepStatus::Uncertain,
    }
}

fn outcome(status: StepStatus, note: &str) -> StepOutcome {
    let kept = &note[..note.floor_char_boundary(MAX_NOTE_BYTES)];
    let note = if kept.len() < note.len() { format!("{kept}…") } else { kept.to_owned() };
    StepOutcome { status, note: Some(note), evidence: None }
}
