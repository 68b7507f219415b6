//! Answers of a person to what a turn asks. The turn continues with the answer, here or in the process that takes it over.

use std::sync::Arc;

use planwright_core::ask::{Ask, AskAnswer, AskSubject};
use planwright_core::command::{AnswerCommand, Command};
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::{AskId, TurnId};
use planwright_core::plan::Digest;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;

use super::agent_context::AgentContext;
use super::execution::Executions;
use super::replies::Replies;
use super::turn::Turns;
use crate::ledger::{Committed, LedgerResult};
use crate::session::ask_words::{ask_words, typed_answers};
use crate::session::outcome::Answer;
use crate::session::progress::Progress;
use crate::session::task::InputContext;

#[derive(Debug, Clone)]
pub(super) struct Asks {
    agent: Arc<AgentContext>,
    turns: Turns,
    executions: Executions,
    replies: Replies,
}

impl Asks {
    pub(super) fn new(agent: &Arc<AgentContext>, turns: Turns, executions: Executions, replies: Replies) -> Self {
        Self { agent: Arc::clone(agent), turns, executions, replies }
    }

    /// Writes the answer down, and continues the turn.
    pub(super) async fn answer(
        &self,
        ask: &AskId,
        digest: Digest,
        answer: AskAnswer,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let command = Command::Answer(AnswerCommand { ask: ask.clone(), digest, answer });
        let engine = context.engine(self.agent.engine());
        let committed = engine.submit(context.session(), context.by(), command).await?;
        let Some(turn) = answered_turn(&committed) else {
            return Err(Refusal::conflict("This request was sent before with another content.").into());
        };
        self.continue_turn(&turn, committed.seq, context).await
    }

    /// What a person typed while the agent waits for answers is the answer. `None` if the agent asks no question.
    pub(super) async fn answer_typed(&self, text: &str, context: &InputContext) -> LedgerResult<Option<Answer>> {
        if let Some(committed) = self.find_request(context).await?
            && let Some(turn) = answered_turn(&committed)
        {
            return self.continue_turn(&turn, committed.seq, context).await.map(Some);
        }
        let Some(ask) = self.waiting(context.session()).await? else { return Ok(None) };
        let AskSubject::Questions { questions } = &ask.subject else { return Ok(None) };
        let Some(answers) = typed_answers(questions, text) else {
            let words = format!("{} questions are asked.\n\n{}", questions.len(), ask_words(&ask));
            return Err(Refusal::invalid(words).into());
        };
        let answer = AskAnswer::Questions { answers };
        self.answer(&ask.id, ask.digest, answer, context).await.map(Some)
    }

    async fn find_request(&self, context: &InputContext) -> LedgerResult<Option<Committed>> {
        let Some(id) = &context.request.id else { return Ok(None) };
        self.agent.engine().submitter().find_request(context.session(), context.by(), id).await
    }

    async fn waiting(&self, session: &SessionIdentity) -> LedgerResult<Option<Ask>> {
        Ok(self.turns.open_turn(session).await?.and_then(|open| open.waiting_ask().cloned()))
    }

    async fn continue_turn(&self, turn: &TurnId, seq: u64, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        let words = "Answered.".to_owned();
        context.progress.send(Progress::Said(words.clone()));
        if let Some(outcome) = Box::pin(self.replies.resume_turn(context)).await? {
            return Ok(Answer { decided: Some(words), ..outcome.into() });
        }
        // The turn of a step is resumed with its execution.
        if let Some(answer) = Box::pin(self.executions.resume(context)).await? {
            return Ok(Answer { decided: Some(words), ..answer });
        }
        match self.turns.open_turn(session).await?.filter(|open| open.named(turn).is_some()) {
            // It asks again, or another process continues it.
            Some(open) => Ok(match open.waiting_ask().cloned() {
                Some(ask) => Answer::words(session, words).with_ask(ask),
                None => Answer::words(session, words),
            }),
            None => Ok(self.turns.outcome_of(turn, seq, context).await?.into()),
        }
    }
}

fn answered_turn(committed: &Committed) -> Option<TurnId> {
    committed.events.iter().find_map(|event| match event {
        Event::Turn { id, event: TurnEvent::PermissionAnswered { .. } | TurnEvent::QuestionsAnswered { .. } } => {
            Some(id.clone())
        }
        _ => None,
    })
}
