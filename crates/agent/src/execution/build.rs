//! The steps of a built plan, each done by the specialist it names, in a turn of its own.

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::{Conversation, CountTokens as _};
use planwright_core::plan::content::{AgentStep, PlanContent};
use planwright_core::plan::execution::{StepState, StepStatus};
use planwright_core::prompt::specialist;
use planwright_core::turn::{OpenTurn, Purpose, Turn, TurnEnd};
use planwright_engine::ledger::{Committed, Leasing, LedgerResult};
use planwright_engine::submitter::SubmitRequest;
use tokio::time::Instant;

use super::runner::{ExecutionAbort, ExecutionRunner, ExecutionState};
use super::uncertain;
use crate::session::progress::Progress;
use crate::turn::{AnswerDelivery, TurnRunner};

impl ExecutionRunner<'_> {
    /// One step after another, each as soon as those it needs are done, until no step is left, one fails, the result of one
    /// is unknown, or a person looks first.
    pub(super) async fn built_steps(&self, mut state: ExecutionState) -> Result<ExecutionState, ExecutionAbort> {
        loop {
            let open = self.open_turn().await?;
            // The turn of a step that was reported still has to end.
            if open.is_none() && state.step_pause().is_some() {
                return Ok(state);
            }
            let Some((position, step)) = self.next_built(&state, open.as_ref()) else { return Ok(state) };
            if let Some(abort) = self.is_to_end() {
                return Err(abort);
            }
            let began = Instant::now();
            let mut run = self.start_step(state, position, &step, open).await?;
            let outcome = Box::pin(run.finish_turn()).await?;
            if outcome.ask.is_some() {
                return Err(ExecutionAbort::Asks);
            }
            state = self.read_state().await?;
            let Some(ended) = state.runs().iter().find(|run| run.step == step.id) else { return Ok(state) };
            let (description, status) = (ended.description.as_str(), ended.status);
            self.send_step_ended(&state, position, description, status, ended.note.as_deref(), began);
            match (outcome.end, status) {
                (Some(TurnEnd::Stopped), _) => return Err(interrupted_or_stopped(&state)),
                // Another process works on the step now.
                (_, StepStatus::InProgress) => return Err(ExecutionAbort::LeaseLost),
                (
                    _,
                    StepStatus::Failed
                    | StepStatus::Completed
                    | StepStatus::Skipped
                    | StepStatus::Pending
                    | StepStatus::Uncertain,
                ) => {}
            }
        }
    }

    async fn read_state(&self) -> LedgerResult<ExecutionState> {
        let snapshot = self.agent.engine().ledger().snapshot(&self.session, Some(&self.plan)).await?;
        ExecutionState::of(&self.plan, snapshot)
    }

    /// The turn for a step that a process that ended left open.
    async fn open_turn(&self) -> LedgerResult<Option<OpenTurn>> {
        let stored = self.agent.engine().ledger().session(&self.session).await?;
        let open = stored.and_then(|stored| stored.session.turn);
        Ok(open.filter(|open| match &open.purpose {
            Purpose::Step { execution, .. } => *execution == self.id,
            Purpose::Answer | Purpose::Document { .. } | Purpose::Question { .. } | Purpose::Run(_) => false,
        }))
    }

    /// The first step that can be done now, with its position from 1. One whose turn is open is first, also when it was
    /// reported already and only the turn has to end; then one that was begun before a crash.
    fn next_built(&self, state: &ExecutionState, open: Option<&OpenTurn>) -> Option<(usize, AgentStep)> {
        let PlanContent::Build(built) = &state.plan.content else { return None };
        let under_way = |step: &&AgentStep| open.is_some_and(|open| is_for(open, step));
        if let Some(step) = built.steps.iter().find(under_way) {
            let position = state.runs().iter().position(|run| run.step == step.id)? + 1;
            return Some((position, step.clone()));
        }
        if uncertain(state.runs()).is_some() || self.ends_at_a_failure(state) {
            return None;
        }
        let done = |run: &StepState| run.status == StepStatus::Completed;
        let ready = |step: &AgentStep| {
            step.needs.iter().all(|need| state.runs().iter().any(|run| run.step == *need && done(run)))
        };
        let with = |status: StepStatus| (1..).zip(state.runs()).filter(move |(_, run)| run.status == status);
        let found = |(position, run): (usize, &StepState)| {
            let step = built.steps.iter().find(|step| step.id == run.step)?;
            ready(step).then(|| (position, step.clone()))
        };
        with(StepStatus::InProgress).chain(with(StepStatus::Pending)).find_map(found)
    }

    /// The turn in which the specialist does the step: a new one, or the one that was interrupted.
    async fn start_step(
        &self,
        mut state: ExecutionState,
        position: usize,
        step: &AgentStep,
        open: Option<OpenTurn>,
    ) -> Result<TurnRunner<'_>, ExecutionAbort> {
        let run = state.runs().get(position - 1).cloned();
        if run.as_ref().is_some_and(|run| run.status == StepStatus::Pending) {
            state = self.advance(state, Vec::new(), vec![step.id.clone()]).await?;
        }
        if let Some(run) = run.as_ref().filter(|run| !run.status.is_settled()) {
            self.send_step_started(&state, position, run);
        }
        let policy = self.agent.policy_of(&self.session);
        let limits = match policy.agents.get(&step.agent) {
            Some(specialist) => policy.turn.clone().narrowed_by(&specialist.options),
            None => policy.turn.clone(),
        };
        let resumptions = limits.resumptions;
        let (committed, conversation, turn) = match &open {
            Some(open) => self.resume_turn(open).await?,
            None => self.begin_turn(&state, step).await?,
        };
        let times = committed.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        let times = times.map_or(0, |turn| turn.resumed);
        let held = Arc::clone(&self.held);
        let mut run = self.executions.turns.run_turn(turn, conversation, committed, held, limits, self.context);
        if let Some(open) = &open {
            run.resume(open, AnswerDelivery::Answer);
            if times > resumptions {
                run.give_up();
            }
        }
        Ok(run)
    }

    async fn begin_turn(
        &self,
        state: &ExecutionState,
        step: &AgentStep,
    ) -> Result<(Committed, Conversation, Turn), ExecutionAbort> {
        let purpose = Purpose::Step {
            plan: self.plan.clone(),
            execution: self.id.clone(),
            step: step.id.clone(),
            agent: step.agent.clone(),
        };
        let text = specialist::step(&state.plan, step, state.runs());
        let tokens = self.agent.tokens.count(&text);
        let begin = TurnCommand::Begin { text, tokens, purpose: purpose.clone() };
        let committed = self.submit_turn(begin).await?;
        let open = committed.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        let Some(id) = open.map(|open| open.id.clone()) else { return Err(ExecutionAbort::LeaseLost) };
        let mut conversation = Conversation::of_turn(id.clone());
        committed.events.iter().for_each(|event| conversation.apply(committed.seq, event));
        Ok((committed, conversation, Turn::new(id, purpose)))
    }

    /// Resumes the turn of a process that ended.
    async fn resume_turn(&self, open: &OpenTurn) -> Result<(Committed, Conversation, Turn), ExecutionAbort> {
        let committed = self.submit_turn(TurnCommand::Resume { turn: open.id.clone() }).await?;
        self.context.progress.send(Progress::Resumed(open.id.clone()));
        let from = committed.snapshot.opened().map_err(planwright_engine::ledger::LedgerError::from)?.history_from;
        let (conversation, turn) =
            self.executions.turns.conversations.load_apart(&self.session, &open.id, &open.purpose, from).await?;
        Ok((committed, conversation, turn))
    }

    async fn submit_turn(&self, command: TurnCommand) -> LedgerResult<Committed> {
        let engine = self.agent.engine();
        let by = Actor::system(self.session.channel.as_str());
        let (id, leasing) = (engine.submitter().next_request(), Leasing::Held(self.held.lease().clone()));
        let request = SubmitRequest { session: &self.session, by: &by, id, leasing, turn: None };
        engine.submitter().submit_as(request, Command::Turn(command)).await
    }
}

/// A turn that ended as stopped was stopped here, or with its plan elsewhere.
fn interrupted_or_stopped(state: &ExecutionState) -> ExecutionAbort {
    let over = state.plan.execution.as_ref().is_none_or(|execution| execution.finished_at.is_some());
    if over { ExecutionAbort::LeaseLost } else { ExecutionAbort::Stopped }
}

fn is_for(open: &OpenTurn, step: &AgentStep) -> bool {
    match &open.purpose {
        Purpose::Step { step: own, .. } => *own == step.id,
        Purpose::Answer | Purpose::Document { .. } | Purpose::Question { .. } | Purpose::Run(_) => false,
    }
}
