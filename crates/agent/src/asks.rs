//! Answers of a person to what a turn asks. The turn continues with the answer, here or in the process that takes it over.

use std::sync::Arc;

use planwright_core::ask::{AskAnswer, AskSubject, Grant};
use planwright_core::choices::WaitingAsk;
use planwright_core::command::{AnswerCommand, Command};
use planwright_core::event::{Event, SessionEvent, TurnEvent};
use planwright_core::ids::{AskId, TurnId};
use planwright_core::plan::Digest;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_engine::ledger::LedgerResult;
use serde_json::Value;

use super::agent_context::AgentContext;
use super::execution::Executions;
use super::turn::Turns;
use crate::catch_panic::catch_panic;
use crate::session::ask_prompt::{ask_prompt, typed_answers};
use crate::session::outcome::Answer;
use crate::session::work::InputContext;

#[derive(Debug, Clone)]
pub(super) struct Asks {
    agent: Arc<AgentContext>,
    turns: Turns,
    executions: Executions,
}

impl Asks {
    pub(super) fn new(agent: &Arc<AgentContext>, turns: Turns, executions: Executions) -> Self {
        Self { agent: Arc::clone(agent), turns, executions }
    }

    /// Writes the answer down, and continues the turn.
    pub(super) async fn answer(
        &self,
        ask: &AskId,
        digest: Digest,
        answer: AskAnswer,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let grant = match &answer {
            AskAnswer::Permission { grant, arguments, .. } => {
                if let Some(arguments) = arguments {
                    self.check_arguments(ask, arguments, context).await?;
                }
                *grant
            }
            AskAnswer::Questions { .. } => Grant::No,
        };
        let command = AnswerCommand { ask: ask.clone(), digest, answer };
        let engine = context.engine(self.agent.engine());
        let committed = engine.submit(context.session(), context.by(), Command::Answer(command)).await?;
        if let Some(message) = answered_client_call(&committed.events) {
            context.progress.answer(message);
            return Ok(Answer::text(context.session(), message));
        }
        let Some(turn) = answered_turn(&committed.events) else {
            return Err(Refusal::conflict("This request was sent before with another content.").into());
        };
        let message = match grant {
            // The answer stands also where the rule cannot be kept.
            Grant::Always => match engine.approvals().permit_asked(context.by(), &committed.snapshot, ask).await {
                Ok(message) => message,
                Err(error) => {
                    format!("Answered for this call. The rule could not be kept: {}", error.into_refusal().message)
                }
            },
            Grant::Once | Grant::Plan | Grant::No => "Answered.".to_owned(),
        };
        self.continue_turn(&turn, committed.seq, message, context).await
    }

    /// `/allow`: without a code it shows what is asked.
    pub(super) async fn allow(
        &self,
        code: Option<&str>,
        grant: Grant,
        note: Option<String>,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        if let Some(before) = self.answered_before(context).await? {
            return Ok(before);
        }
        let ask = self.waiting_permission(context.session()).await?;
        let Some(code) = code else { return Ok(Answer::text(context.session(), "").with_ask(ask)) };
        if !ask.ask.is_named(code) {
            let message = format!("The agent asks about another call now.\n\n{}", ask_prompt(&ask));
            return Err(Refusal::new(RefusalCode::StaleApproval, message).into());
        }
        self.answer(&ask.ask.id, ask.ask.digest, AskAnswer::permission(grant, note), context).await
    }

    /// `/deny`: without a code it is about the call that the person was shown.
    pub(super) async fn deny(
        &self,
        code: Option<&str>,
        note: Option<String>,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        if let Some(before) = self.answered_before(context).await? {
            return Ok(before);
        }
        let ask = self.waiting_permission(context.session()).await?;
        let is_meant =
            code.map_or_else(|| context.request.location.seen_ask.has(&ask.ask.id), |code| ask.ask.is_named(code));
        if !is_meant {
            return Ok(unseen(context.session(), ask));
        }
        self.answer(&ask.ask.id, ask.ask.digest, AskAnswer::permission(Grant::No, note), context).await
    }

    /// `/answer`: the code names the question.
    pub(super) async fn answer_named(&self, code: &str, message: &str, context: &InputContext) -> LedgerResult<Answer> {
        if let Some(before) = self.answered_before(context).await? {
            return Ok(before);
        }
        let Some(ask) = self.waiting(context.session()).await? else {
            return Err(Refusal::not_found("The agent asks no question in this session.").into());
        };
        if !ask.ask.is_named(code) {
            return Ok(unseen(context.session(), ask));
        }
        self.answer_with_text(&ask, message, context).await
    }

    async fn waiting_permission(&self, session: &SessionIdentity) -> LedgerResult<WaitingAsk> {
        match self.waiting(session).await? {
            Some(ask) if matches!(ask.ask.subject, AskSubject::Permission(_)) => Ok(ask),
            Some(ask) => {
                let message = format!("The agent asks a question and not for permission.\n\n{}", ask_prompt(&ask));
                Err(Refusal::wrong_status(message).into())
            }
            None => Err(Refusal::not_found("The agent asks for no permission in this session.").into()),
        }
    }

    /// The outcome of the same request when it was sent before.
    async fn answered_before(&self, context: &InputContext) -> LedgerResult<Option<Answer>> {
        match context.find_committed(self.agent.engine()).await? {
            Some(committed) => match answered_turn(&committed.events) {
                Some(turn) => self.continue_turn(&turn, committed.seq, "Answered.".to_owned(), context).await.map(Some),
                None => {
                    Ok(answered_client_call(&committed.events).map(|message| Answer::text(context.session(), message)))
                }
            },
            None => Ok(None),
        }
    }

    /// What the turn asks now, if the same message began it before.
    async fn asked_before(&self, snapshot: &Snapshot, context: &InputContext) -> LedgerResult<Option<Answer>> {
        let Some(committed) = context.find_committed(self.agent.engine()).await? else { return Ok(None) };
        let began = |event: &Event| match event {
            Event::Turn { id, event: TurnEvent::Begun { .. } } => Some(id.clone()),
            _ => None,
        };
        let Some(turn) = committed.events.iter().find_map(began) else { return Ok(None) };
        if snapshot.open_turn().is_none_or(|open| open.id != turn) {
            return Ok(None);
        }
        self.turns.outcome_of(&turn, committed.seq, context).await.map(|outcome| Some(outcome.into()))
    }

    /// What a person typed while the agent waits for answers is the answer. `None` if the agent asks no question.
    pub(super) async fn answer_typed(
        &self,
        text: &str,
        snapshot: &Snapshot,
        context: &InputContext,
    ) -> LedgerResult<Option<Answer>> {
        if let Some(before) = self.answered_before(context).await? {
            return Ok(Some(before));
        }
        let Some(ask) = snapshot.open_turn().and_then(|open| WaitingAsk::of(context.session(), open)) else {
            return Ok(None);
        };
        if let Some(asks) = self.asked_before(snapshot, context).await? {
            return Ok(Some(asks));
        }
        if !context.request.location.seen_ask.has(&ask.ask.id) {
            return Ok(Some(unseen(context.session(), ask)));
        }
        match ask.ask.subject {
            AskSubject::Questions { .. } => self.answer_with_text(&ask, text, context).await.map(Some),
            AskSubject::Permission(_) => Ok(None),
        }
    }

    async fn answer_with_text(&self, ask: &WaitingAsk, text: &str, context: &InputContext) -> LedgerResult<Answer> {
        let AskSubject::Questions { questions } = &ask.ask.subject else {
            let message = format!("The agent asks for permission.\n\n{}", ask_prompt(ask));
            return Err(Refusal::wrong_status(message).into());
        };
        let Some(answers) = typed_answers(questions, text) else {
            let message = format!("{} questions are asked.\n\n{}", questions.len(), ask_prompt(ask));
            return Err(Refusal::invalid(message).into());
        };
        self.answer(&ask.ask.id, ask.ask.digest, AskAnswer::Questions { answers }, context).await
    }

    /// Refuses changed arguments that the tool does not take, so that the person hears of it and not the agent.
    async fn check_arguments(&self, ask: &AskId, arguments: &Value, context: &InputContext) -> LedgerResult<()> {
        let waiting = self.waiting(context.session()).await?.filter(|waiting| waiting.ask.id == *ask);
        let Some(AskSubject::Permission(call)) = waiting.map(|waiting| waiting.ask.subject) else { return Ok(()) };
        let Some((tool, arguments)) = self.agent.toolbox.get(&call.tool).zip(arguments.as_object()) else {
            return Ok(());
        };
        match catch_panic(&call.tool, async { tool.check(arguments) }).await {
            Some(checked) => Ok(checked?),
            None => Err(Refusal::invalid("These arguments could not be checked. See the log.").into()),
        }
    }

    async fn waiting(&self, session: &SessionIdentity) -> LedgerResult<Option<WaitingAsk>> {
        let snapshot = self.agent.engine().sessions().snapshot(session).await?;
        Ok(snapshot.session.as_deref().and_then(WaitingAsk::of_session))
    }

    async fn continue_turn(
        &self,
        turn: &TurnId,
        seq: u64,
        message: String,
        context: &InputContext,
    ) -> LedgerResult<Answer> {
        let session = context.session();
        context.progress.answer(&message);
        if let Some(outcome) = Box::pin(self.turns.resume_turn(context)).await? {
            return Ok(Answer { decided: Some(message), ..outcome.into() });
        }
        // The turn of a step is resumed with its execution.
        if let Some(answer) = Box::pin(self.executions.resume(context)).await? {
            return Ok(Answer { decided: Some(message), ..answer });
        }
        match self.turns.open_turn(session).await?.filter(|open| open.named(turn).is_some()) {
            // It asks again, or another process continues it.
            Some(open) => Ok(match WaitingAsk::of(session, &open) {
                Some(ask) => Answer::text(session, message).with_ask(ask),
                None => Answer::text(session, message),
            }),
            None => Ok(self.turns.outcome_of(turn, seq, context).await?.into()),
        }
    }
}

/// Nothing is answered: the person sees first what is asked.
fn unseen(session: &SessionIdentity, ask: WaitingAsk) -> Answer {
    let message = "The agent asks this now, and you had not seen it here. Nothing was answered.";
    Answer::refusal(session, RefusalCode::StaleApproval, message).with_ask(ask)
}

/// What is said when the hook of a client asked. Its agent makes the call again.
fn answered_client_call(events: &[Event]) -> Option<&'static str> {
    events.iter().find_map(|event| match event {
        Event::Session(SessionEvent::ClientCallAnswered { grant, .. }) if grant.permits() => {
            Some("Answered. The agent may make the call now.")
        }
        Event::Session(SessionEvent::ClientCallAnswered { .. }) => Some("Answered."),
        _ => None,
    })
}

fn answered_turn(events: &[Event]) -> Option<TurnId> {
    events.iter().find_map(|event| match event {
        Event::Turn { id, event: TurnEvent::PermissionAnswered { .. } | TurnEvent::QuestionsAnswered { .. } } => {
            Some(id.clone())
        }
        _ => None,
    })
}
