//! `ask_agent`: a question to a specialist, who may only read. It is answered in a turn of its own, within the limits of
//! the turn that asks.

use planwright_core::agents::AgentRegistry;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::{Conversation, CountTokens as _, ItemContent};
use planwright_core::gate::{ASK_AGENT, authorize_asking};
use planwright_core::ids::TurnId;
use planwright_core::model::ToolSpec;
use planwright_core::prompt::specialist;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::turn::{PendingCall, Purpose, ToolOutcome, ToolStatus, TurnEnd};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::abort::TurnAbort;
use super::runner::TurnRunner;
use super::tool_call::{outcome_of, refused};
use crate::tool_schema::Arguments;

/// The number of earlier questions that a specialist is reminded of.
const REMINDED: usize = 5;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The specialist to ask.
    agent: String,
    /// What to find out. It sees nothing of this conversation, so say everything it needs to know.
    question: String,
}

pub(super) fn spec(agents: &AgentRegistry) -> ToolSpec {
    let description = include_str!("ask_agent/ask_agent.md").trim_end().replace("{agents}", &agents.names());
    ToolSpec { name: ASK_AGENT.to_owned(), description, input_schema: crate::tool_schema::schema_of::<Question>() }
}

impl TurnRunner<'_> {
    pub(super) async fn ask_agent(
        &mut self,
        pending: &PendingCall,
        arguments: Arguments,
    ) -> Result<ToolOutcome, TurnAbort> {
        match self.question(arguments) {
            Ok(question) => self.ask(pending, question).await,
            Err(refusal) => Ok(refused(&refusal)),
        }
    }

    fn question(&self, arguments: Arguments) -> Result<Question, Refusal> {
        authorize_asking(&self.situation())?;
        let question: Question = crate::tool_schema::parse(ASK_AGENT, arguments)?;
        if question.question.trim().is_empty() {
            return Err(Refusal::invalid("The question is blank."));
        }
        self.agent.policy_of(&self.session).agents.assignable(&question.agent)?;
        Ok(question)
    }

    async fn ask(&mut self, pending: &PendingCall, question: Question) -> Result<ToolOutcome, TurnAbort> {
        let Some(held) = self.held.clone() else { return Err(TurnAbort::LeaseLost) };
        let left = self.turn.left_of(&self.limits, self.elapsed());
        if left.model_calls == 0 || left.tokens == 0 {
            return Ok(refused(&Refusal::limit("The turn has no calls or tokens left for a question.")));
        }
        let request = self.call_request(pending)?;
        let turn = TurnId::from(&request.id);
        let purpose = Purpose::Question { agent: question.agent.clone(), asked_by: self.turn.id.clone() };
        let text = match self.brief(&question) {
            Ok(text) => text,
            Err(refusal) => return Ok(refused(&refusal)),
        };
        let tokens = self.agent.tokens.count(&text);
        let begin = Command::Turn(TurnCommand::Begin { text, tokens, purpose: purpose.clone() });
        // After a crash this question may be open. Replies that it has are not asked for again.
        let committed = self.agent.engine().submitter().submit_as(request, begin).await?;
        let (conversation, apart) =
            self.turns.conversations.load_apart(&self.session, &turn, &purpose, committed.seq).await?;
        let open = committed.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        if open.is_none_or(|open| open.named(&turn).is_none()) {
            return Ok(answered_before(&question.agent, &conversation));
        }
        self.turn.resume_question(&apart);
        let mut limits = self.turn.left_of(&self.limits, self.elapsed());
        if let Some(options) = self.agent.specialist_options(&self.session, &purpose) {
            limits = limits.narrowed_by(&options);
        }
        let mut run = self.turns.run_turn(apart, conversation, committed, held, limits, self.context);
        let outcome = Box::pin(run.finish_turn()).await;
        self.turn.absorb(&run.turn);
        let outcome = outcome?;
        match outcome.end {
            Some(TurnEnd::Answered) => Ok(answer(&question.agent, &outcome.reply)),
            Some(TurnEnd::Stopped) => Err(TurnAbort::Stopped { received: String::new(), under_way: None }),
            Some(
                TurnEnd::PlanReady { .. }
                | TurnEnd::NothingPlanned { .. }
                | TurnEnd::LimitReached { .. }
                | TurnEnd::Looping
                | TurnEnd::NoAnswer
                | TurnEnd::ModelFailed { .. }
                | TurnEnd::Interrupted,
            )
            | None => {
                let message = format!("{} gave no answer. {}", question.agent, outcome.reply);
                Ok(refused(&Refusal::new(RefusalCode::Unavailable, message)))
            }
        }
    }

    /// The question with what this specialist was asked before in the same conversation.
    fn brief(&self, question: &Question) -> Result<String, Refusal> {
        let mut earlier = self.asked_before(&question.agent);
        let older = earlier.len().saturating_sub(REMINDED);
        earlier.drain(..older);
        let plan = self.snapshot.active().ok_or_else(|| Refusal::not_found("The plan cannot be read now."))?;
        Ok(specialist::question(plan, &question.question, &earlier))
    }

    fn asked_before(&self, agent: &str) -> Vec<(String, String)> {
        let mut asked: Vec<Option<String>> = Vec::new();
        let mut found = Vec::new();
        for item in &self.conversation.items {
            match &item.content {
                ItemContent::Model { calls, .. } => {
                    asked = calls.iter().rev().map(|call| question_to(agent, &call.name, &call.arguments)).collect();
                }
                ItemContent::Result { outcome } => {
                    let question = asked.pop().flatten();
                    let answer = serde_json::from_str::<Value>(&outcome.text).ok();
                    let answer = answer.and_then(|answer| answer.get("answer")?.as_str().map(str::to_owned));
                    found.extend(question.zip(answer));
                }
                ItemContent::Person { .. }
                | ItemContent::Note { .. }
                | ItemContent::Reminder { .. }
                | ItemContent::RunResult { .. } => asked.clear(),
            }
        }
        found
    }
}

fn answer(agent: &str, text: &str) -> ToolOutcome {
    outcome_of(Ok(json!({ "agent": agent, "answer": text })), ToolStatus::Done)
}

/// The question was answered before a crash, and the crash came before the answer was recorded.
fn answered_before(agent: &str, conversation: &Conversation) -> ToolOutcome {
    let last_text = conversation.items.iter().rev().find_map(|item| match &item.content {
        ItemContent::Model { text, calls } if calls.is_empty() => Some(text.trim()),
        ItemContent::Model { .. }
        | ItemContent::Person { .. }
        | ItemContent::Result { .. }
        | ItemContent::Note { .. }
        | ItemContent::Reminder { .. }
        | ItemContent::RunResult { .. } => None,
    });
    match last_text {
        Some(text) => answer(agent, text),
        None => refused(&Refusal::new(RefusalCode::Unavailable, format!("{agent} gave no answer."))),
    }
}

fn question_to(agent: &str, name: &str, arguments: &str) -> Option<String> {
    let question: Question = serde_json::from_str(arguments).ok().filter(|_| name == ASK_AGENT)?;
    (question.agent == agent).then_some(question.question)
}
