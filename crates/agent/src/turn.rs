//! Turns: the state machine in `core` says what comes next, a `TurnRunner` carries it out and records the result before it
//! asks again.
//!
//! - `runner`: one turn under way, with `record`, `finish`, `abort`, `planner` and `since_begun`
//! - `model_call`: what the model is sent, and the call itself
//! - `compaction`: the summary of a conversation that grows too long
//! - `tool_call`, `permission`: one call of the model, through the gate and the permission rules
//! - `ask_agent`, `ask_person`: questions to a specialist and to a person
//! - `workbook_hooks`: writes into the workbook around the calls
//! - `conversation_reader`: the conversation, from the journal and from memory
//! - `approved`: whether a plan may be worked on
//! - `replay`: the outcome of a turn that is over, from the journal
//! - `memory`: what a turn is shown of the memory: found once, when the turn first calls the model, and the same in all
//!   of its requests

mod abort;
pub(crate) mod approved;
mod ask_agent;
mod ask_person;
mod compaction;
mod conversation_reader;
mod finish;
mod memory;
mod model_call;
mod permission;
mod planner;
mod record;
mod replay;
mod runner;
mod since_begun;
mod tool_call;
mod workbook_hooks;

use std::sync::Arc;

use async_trait::async_trait;
use planwright_core::actor::Actor;
use planwright_core::auto::AutoExecutionContext;
use planwright_core::choices::WaitingAsk;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::Conversation;
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::{ExecutionId, PlanId, RequestId, TurnId};
use planwright_core::plan::PlanStatus;
use planwright_core::plan::execution::Pause;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::{OpenTurn, Purpose, Turn, TurnLimits};
use planwright_engine::ledger::{Committed, LedgerError, LedgerResult};

use super::agent_context::AgentContext;
use super::execution::check_message;
use super::leases::{Leases, Taken};
use crate::session::ask_prompt::ask_prompt;
use crate::session::lease::LeaseGuard;
use crate::session::outcome::TurnOutcome;
use crate::session::progress::Progress;
use crate::session::work::InputContext;

pub(super) use conversation_reader::ConversationReader;
pub(super) use model_call::RequestBuilder;
pub(super) use runner::{AnswerDelivery, TurnRunner};
pub(super) use workbook_hooks::{CallNote, WorkbookHooks};

/// Begins turns, resumes them, and reads the outcome of earlier ones.
#[derive(Debug, Clone)]
pub(super) struct Turns {
    agent: Arc<AgentContext>,
    leases: Leases,
    pub(super) conversations: ConversationReader,
    pub(super) requests: RequestBuilder,
    pub(super) hooks: WorkbookHooks,
}

/// What begins a turn.
#[derive(Debug)]
pub(super) struct TurnMessage<'a> {
    pub(super) request: RequestId,
    pub(super) text: &'a str,
    pub(super) begins: Begins,
}

/// What a message begins.
#[derive(Debug)]
pub(super) enum Begins {
    Answer,
    /// A turn that works on a document. `seen` is the pause of its execution that the caller knows.
    Document {
        plan: PlanId,
        seen: Option<Pause>,
    },
    /// A tick of a run.
    Run(AutoExecutionContext),
}

/// A message that fits into a request, as the command that begins its turn.
#[derive(Debug)]
pub(super) struct PreparedTurn<'a> {
    request: RequestId,
    text: &'a str,
    command: Command,
}

/// Steps of plans whose turn a process left open. Executions resume them.
#[async_trait]
pub(super) trait InterruptedSteps: Send + Sync {
    async fn finish_step(
        &self,
        open: &OpenTurn,
        step: (&PlanId, &ExecutionId),
        context: &InputContext,
    ) -> LedgerResult<()>;
}

/// The result of beginning a turn.
#[derive(Debug)]
pub(super) enum Begun<'a> {
    New(Box<TurnRunner<'a>>),
    /// The request was sent before, and began the turn with this entry.
    Replayed {
        turn: TurnId,
        seq: u64,
    },
}

/// The result of one attempt to begin a turn.
#[derive(Debug)]
enum BeginAttempt<'a> {
    Begun(Begun<'a>),
    /// Another process left a turn open, which has to end first.
    Blocked(Refusal),
}

impl Turns {
    pub(super) fn new(agent: &Arc<AgentContext>, leases: Leases) -> Self {
        let (conversations, requests) = (ConversationReader::new(agent), RequestBuilder::new(agent));
        Self { agent: Arc::clone(agent), leases, conversations, requests, hooks: WorkbookHooks::new(agent) }
    }

    /// Has the agent answer a message, after the work that a process left open in the session. `snapshot` is the session now.
    pub(super) async fn answer(
        &self,
        snapshot: &Snapshot,
        request: RequestId,
        text: &str,
        context: &InputContext,
        steps: &dyn InterruptedSteps,
    ) -> LedgerResult<TurnOutcome> {
        check_message(&self.agent, context.session()).await?;
        let message = TurnMessage { request, text, begins: Begins::Answer };
        let prepared = if snapshot.open_turn().is_some() {
            Box::pin(self.finish_first(context, steps)).await?;
            self.prepare(&self.snapshot(context.session()).await?, message).await?
        } else {
            self.prepare(snapshot, message).await?
        };
        match Box::pin(self.begin_turn(context.by(), &prepared, context, steps)).await? {
            Begun::New(mut turn) => Box::pin(turn.finish_turn()).await,
            Begun::Replayed { turn, seq } => self.outcome_of(&turn, seq, context).await,
        }
    }

    /// Checks that the message fits into a request.
    pub(super) async fn prepare<'a>(
        &self,
        snapshot: &Snapshot,
        message: TurnMessage<'a>,
    ) -> LedgerResult<PreparedTurn<'a>> {
        let TurnMessage { request, text, begins } = message;
        let tokens = self.requests.check_room(snapshot, text).await?;
        let owned = text.to_owned();
        let command = Command::Turn(match begins {
            Begins::Answer => TurnCommand::Begin { text: owned, tokens, purpose: Purpose::Answer },
            Begins::Document { plan, seen } => TurnCommand::BeginDocument { text: owned, tokens, plan, seen },
            Begins::Run(context) => {
                TurnCommand::Begin { text: owned, tokens, purpose: Purpose::Run(Box::new(context)) }
            }
        });
        Ok(PreparedTurn { request, text, command })
    }

    /// Begins a turn, after the turn that another process left open.
    pub(super) async fn begin_turn<'a>(
        &'a self,
        by: &Actor,
        prepared: &PreparedTurn<'_>,
        context: &'a InputContext,
        steps: &dyn InterruptedSteps,
    ) -> LedgerResult<Begun<'a>> {
        loop {
            match self.begin(by, prepared, context).await? {
                BeginAttempt::Blocked(refusal) => {
                    if !Box::pin(self.finish_first(context, steps)).await? {
                        return Err(refusal.into());
                    }
                }
                BeginAttempt::Begun(begun) => return Ok(begun),
            }
        }
    }

    /// Finishes an interrupted turn before another one begins, and sends its outcome as progress. Returns whether there
    /// was one.
    pub(super) async fn finish_first(
        &self,
        context: &InputContext,
        steps: &dyn InterruptedSteps,
    ) -> LedgerResult<bool> {
        let Some(open) = self.open_turn(context.session()).await? else { return Ok(false) };
        if let Some(ask) = WaitingAsk::of(context.session(), &open) {
            let message = format!("The agent waits for your answer first.\n\n{}", ask_prompt(&ask));
            return Err(Refusal::wrong_status(message).into());
        }
        approved::check_open_turn(self.agent.engine(), context.session(), &open).await?;
        if let Purpose::Step { plan, execution, .. } = &open.purpose {
            steps.finish_step(&open, (plan, execution), context).await?;
            return Ok(true);
        }
        let finished = Box::pin(self.finish_open(&open, AnswerDelivery::OnTheWay, context)).await?;
        let found = finished.is_some();
        if let Some(outcome) = finished {
            context.progress.send(Progress::Finished(Box::new(outcome)));
        }
        Ok(found)
    }

    async fn begin<'a>(
        &'a self,
        by: &Actor,
        prepared: &PreparedTurn<'_>,
        context: &'a InputContext,
    ) -> LedgerResult<BeginAttempt<'a>> {
        let session = context.session();
        let PreparedTurn { request, text, command } = prepared;
        match self.leases.take_as(request.clone(), session, by, command, context).await {
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Conflict => {
                Ok(BeginAttempt::Blocked(refusal))
            }
            Err(error) => Err(error),
            // The process that has the session works on it, or left it and is not known to have ended.
            Ok(Taken::Replayed(committed)) => {
                let turn = begun_turn(&committed, text)?;
                context.progress.send(Progress::Accepted(turn.clone()));
                Ok(BeginAttempt::Begun(Begun::Replayed { turn, seq: committed.seq }))
            }
            Ok(Taken::New(committed, lease)) => {
                let turn = match begun_turn(&committed, text) {
                    Ok(turn) => turn,
                    Err(error) => {
                        self.leases.release(&lease).await;
                        return Err(error);
                    }
                };
                context.progress.send(Progress::Accepted(turn.clone()));
                if !is_untouched(&committed, &turn) {
                    self.leases.release(&lease).await;
                    return Ok(BeginAttempt::Begun(Begun::Replayed { turn, seq: committed.seq }));
                }
                let run = self.run(turn, committed, lease, context).await?;
                Ok(BeginAttempt::Begun(Begun::New(Box::new(run))))
            }
        }
    }

    /// Resumes a turn that is open although no process holds the session, unless that was tried too often. `None` if the
    /// turn ended meanwhile.
    pub(super) async fn finish_open(
        &self,
        open: &OpenTurn,
        delivery: AnswerDelivery,
        context: &InputContext,
    ) -> LedgerResult<Option<TurnOutcome>> {
        let session = context.session();
        let resume = Command::Turn(TurnCommand::Resume { turn: open.id.clone() });
        let by = Actor::system(session.channel.as_str());
        match self.leases.take(session, &by, &resume, context).await {
            // The process that held the session finished it.
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::WrongStatus => Ok(None),
            Err(error) => Err(error),
            Ok((committed, lease)) => {
                let Some(now) = committed.snapshot.session.as_ref().and_then(|session| session.turn.clone()) else {
                    return Ok(None);
                };
                self.leases.fence_files(session, &lease).await?;
                context.progress.send(Progress::Resumed(now.id.clone()));
                let mut run = self.run(now.id.clone(), committed, lease, context).await?;
                run.resume(open, delivery);
                // A run is not resumed after its process ended; a person starts it again. A turn that waited for an answer
                // continues.
                let is_interrupted_run = now.purpose.run().is_some() && now.resumed > open.resumed;
                if is_interrupted_run || now.resumed > self.agent.engine().policy().turn.resumptions {
                    run.give_up();
                }
                Box::pin(run.finish_turn()).await.map(Some)
            }
        }
    }

    /// Resumes a turn of the conversation that its process left open, if there is one.
    pub(super) async fn resume_turn(&self, context: &InputContext) -> LedgerResult<Option<TurnOutcome>> {
        match self.open_turn(context.session()).await? {
            Some(open) if open.purpose.is_conversation() => {
                approved::check_open_turn(self.agent.engine(), context.session(), &open).await?;
                Box::pin(self.finish_open(&open, AnswerDelivery::Answer, context)).await
            }
            // A turn for a step is resumed with its execution.
            Some(_) | None => Ok(None),
        }
    }

    pub(super) async fn snapshot(&self, session: &SessionIdentity) -> LedgerResult<Snapshot> {
        self.agent.engine().sessions().snapshot(session).await
    }

    pub(super) async fn open_turn(&self, session: &SessionIdentity) -> LedgerResult<Option<OpenTurn>> {
        let stored = self.agent.engine().ledger().session(session).await?;
        Ok(stored.and_then(|stored| stored.session.turn))
    }

    /// The outcome of a turn that the same request began before. If the turn was left open, it is resumed now.
    pub(super) async fn outcome_of(
        &self,
        turn: &TurnId,
        seq: u64,
        context: &InputContext,
    ) -> LedgerResult<TurnOutcome> {
        let session = context.session();
        if let Some(open) = self.open_turn(session).await?.filter(|open| open.id == *turn)
            && let Some(outcome) = Box::pin(self.finish_open(&open, AnswerDelivery::Answer, context)).await?
        {
            return Ok(outcome);
        }
        replay::outcome(self.agent.engine(), &self.conversations, session, turn, seq).await
    }

    async fn run<'a>(
        &'a self,
        id: TurnId,
        committed: Committed,
        held: LeaseGuard,
        context: &'a InputContext,
    ) -> LedgerResult<TurnRunner<'a>> {
        let executing = committed.snapshot.active().filter(|plan| plan.status == PlanStatus::Executing);
        context.work.holds_lease_for(executing.map(|plan| &plan.id));
        let (conversation, turn) = self.conversations.load(&committed, &id).await?;
        let limits = self.agent.engine().policy().turn.clone();
        Ok(self.run_turn(turn, conversation, committed, Arc::new(held), limits, context))
    }

    /// A runner for a turn under this lease, in whichever state the turn is.
    pub(super) fn run_turn<'a>(
        &'a self,
        turn: Turn,
        conversation: Conversation,
        committed: Committed,
        held: Arc<LeaseGuard>,
        limits: TurnLimits,
        context: &'a InputContext,
    ) -> TurnRunner<'a> {
        TurnRunner::new(self, turn, conversation, committed, held, limits, context)
    }
}

/// The turn that the message began, now or when it was sent before. A name that was used for another text is refused.
fn begun_turn(committed: &Committed, text: &str) -> LedgerResult<TurnId> {
    let begun = committed.events.iter().find_map(|event| match event {
        Event::Turn { id, event: TurnEvent::Begun { text, purpose, .. } } => Some((id, text, purpose)),
        _ => None,
    });
    match begun {
        // The text of a document's turn depends on the steps that are done.
        Some((turn, sent, purpose)) if sent == text || *purpose != Purpose::Answer => Ok(turn.clone()),
        Some(_) | None => Err(Refusal::conflict("This request was sent before with another content.").into()),
    }
}

/// Whether the turn is open and nothing has happened in it. A request that is sent again may find it in work or ended.
fn is_untouched(committed: &Committed, turn: &TurnId) -> bool {
    let open = committed.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
    open.is_some_and(|open| open.id == *turn && open.calls == 0 && open.resumed == 0)
}
