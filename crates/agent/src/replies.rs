//! The answer of the agent to a message.

use planwright_core::ids::RequestId;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::LedgerResult;

use super::execution::Executions;
use super::turn::{AnswerDelivery, Begins, Begun, TurnMessage, Turns};
use crate::session::outcome::TurnOutcome;
use crate::session::task::InputContext;

#[derive(Debug, Clone)]
pub(super) struct Replies {
    turns: Turns,
    executions: Executions,
}

impl Replies {
    pub(super) fn new(turns: Turns, executions: Executions) -> Self {
        Self { turns, executions }
    }

    /// Has the agent answer a message, after the work that a process left open in the session.
    pub(super) async fn answer_message(
        &self,
        request: RequestId,
        text: &str,
        context: &InputContext,
    ) -> LedgerResult<TurnOutcome> {
        Box::pin(self.executions.finish_first(context)).await?;
        let snapshot = self.turns.snapshot(context.session()).await?;
        self.begin_answer(request, text, &snapshot, context).await
    }

    /// Answers a message for a caller that has read the session already.
    pub(super) async fn answer_in(
        &self,
        snapshot: &Snapshot,
        request: RequestId,
        text: &str,
        context: &InputContext,
    ) -> LedgerResult<TurnOutcome> {
        match snapshot.open_turn() {
            Some(_) => self.answer_message(request, text, context).await,
            None => self.begin_answer(request, text, snapshot, context).await,
        }
    }

    async fn begin_answer(
        &self,
        request: RequestId,
        text: &str,
        snapshot: &Snapshot,
        context: &InputContext,
    ) -> LedgerResult<TurnOutcome> {
        let message = TurnMessage { request, text, begins: Begins::Answer };
        let prepared = self.turns.prepare(snapshot, message).await?;
        let outcome = match Box::pin(self.executions.begin_turn(context.by(), &prepared, context)).await? {
            Begun::New(mut turn) => Box::pin(turn.finish_turn()).await?,
            Begun::Replayed { turn, seq } => self.turns.outcome_of(&turn, seq, context).await?,
        };
        Box::pin(self.executions.approve_by_rule(outcome, context)).await
    }

    /// Resumes a turn of the conversation that its process left open, if there is one.
    pub(super) async fn resume_turn(&self, context: &InputContext) -> LedgerResult<Option<TurnOutcome>> {
        match self.turns.open_turn(context.session()).await? {
            Some(open) if open.purpose.is_conversation() => {
                self.executions.check_open_turn(context.session(), &open).await?;
                Box::pin(self.turns.finish_open(&open, AnswerDelivery::Answer, context)).await
            }
            // A turn for a step is resumed with its execution.
            Some(_) | None => Ok(None),
        }
    }
}
