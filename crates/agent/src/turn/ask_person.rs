//! `ask_person`: questions of the agent to a person. The turn waits for the answers and continues with them, hours later or
//! in another process.

use planwright_core::ask::{Ask, AskAnswer, AskSubject, Question};
use planwright_core::command::{Command, TurnCommand};
use planwright_core::gate::{ASK_PERSON, authorize_asking_person};
use planwright_core::ids::RequestId;
use planwright_core::model::ToolSpec;
use planwright_core::refusal::Refusal;
use planwright_core::turn::{PendingCall, ToolOutcome, ToolStatus};
use planwright_engine::ledger::{Leasing, LedgerError};
use planwright_engine::submitter::SubmitRequest;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::abort::TurnAbort;
use super::runner::TurnRunner;
use super::tool_call::{outcome_of, refused};
use crate::leases::is_over_or_taken;
use crate::tool_schema::Arguments;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskPerson {
    /// What you need to know, one question for each thing.
    questions: Vec<AskedQuestion>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskedQuestion {
    /// The question, with everything the person needs to know to answer it.
    text: String,
    /// Answers to choose from. The person may answer in other words.
    #[serde(default)]
    choices: Vec<String>,
    /// Whether several choices may be taken.
    #[serde(default)]
    many: bool,
}

pub(super) fn spec() -> ToolSpec {
    let description = include_str!("ask_person/ask_person.md").trim_end().to_owned();
    ToolSpec { name: ASK_PERSON.to_owned(), description, input_schema: crate::tool_schema::schema_of::<AskPerson>() }
}

impl TurnRunner<'_> {
    pub(super) async fn ask_person(
        &mut self,
        pending: &PendingCall,
        arguments: Arguments,
    ) -> Result<ToolOutcome, TurnAbort> {
        let questions = match self.questions(arguments) {
            Ok(questions) => questions,
            Err(refusal) => return Ok(refused(&refusal)),
        };
        match self.answer_to(pending) {
            Some(AskAnswer::Questions { answers }) => {
                let pairs = questions.iter().zip(answers);
                let answers: Vec<_> =
                    pairs.map(|(question, answer)| json!({ "question": question.text, "answer": answer })).collect();
                Ok(outcome_of(Ok(json!({ "answers": answers })), ToolStatus::Done))
            }
            Some(AskAnswer::Permission { .. }) | None => {
                self.wait_for(pending, AskSubject::Questions { questions }).await
            }
        }
    }

    fn questions(&self, arguments: Arguments) -> Result<Vec<Question>, Refusal> {
        authorize_asking_person(&self.situation())?;
        let asked: AskPerson = crate::tool_schema::parse(ASK_PERSON, arguments)?;
        let question = |asked: AskedQuestion| Question { text: asked.text, choices: asked.choices, many: asked.many };
        Ok(asked.questions.into_iter().map(question).collect())
    }

    /// What a person answered to this call, if the turn asked about it.
    pub(super) fn answer_to(&self, pending: &PendingCall) -> Option<AskAnswer> {
        self.open_ask().filter(|ask| ask.call == pending.number)?.answer().cloned()
    }

    pub(super) fn open_ask(&self) -> Option<&Ask> {
        self.snapshot.session.as_ref()?.turn.as_ref()?.named(&self.turn.id)?.ask.as_ref()
    }

    /// Asks a person about a call. The turn stays open, and the session is free for the process that continues it.
    pub(super) async fn wait_for(
        &mut self,
        pending: &PendingCall,
        subject: AskSubject,
    ) -> Result<ToolOutcome, TurnAbort> {
        let last = !self.turn.purpose.is_part();
        if let Some(held) = self.held.as_ref().filter(|_| last) {
            held.stop_renewing();
        }
        let lease = self.lease()?;
        let request = SubmitRequest {
            session: &self.session,
            by: &self.actor,
            id: RequestId::of_ask(&self.turn.id, pending.number),
            leasing: if last { Leasing::Release(lease) } else { Leasing::Held(lease) },
            turn: None,
        };
        let ask = TurnCommand::Ask { turn: self.turn.id.clone(), call: pending.number, subject };
        match self.agent.engine().submitter().submit_as(request, Command::Turn(ask)).await {
            Ok(committed) => {
                if last {
                    self.held = None;
                }
                self.seq = committed.seq;
                self.snapshot = committed.snapshot;
                match self.open_ask() {
                    Some(ask) => Err(TurnAbort::Asks(Box::new(ask.clone()))),
                    None => Err(TurnAbort::LeaseLost),
                }
            }
            Err(LedgerError::Refused(refusal)) if !is_over_or_taken(&refusal.clone().into()) => Ok(refused(&refusal)),
            Err(error) => Err(error.into()),
        }
    }
}
