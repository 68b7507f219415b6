//! Calls through the gateway in the journal: what ran and why, what became of it, what was refused and what was asked.

use planwright_core::actor::Actor;
use planwright_core::ask::GatewayAsk;
use planwright_core::command::{Command, ExternalCommand, StepOutcome};
use planwright_core::gate::ToolEffect;
use planwright_core::gateway::{GatewayCallRecord, GatewayReason};
use planwright_core::ids::RequestId;
use planwright_core::plan::execution::StepStatus;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_engine::ledger::LedgerError;
use serde_json::Value;

use super::Gateway;
use crate::tool_schema::Arguments;
use crate::toolbox::{Tool, ToolAnswer};

/// How much of a result the journal has, in bytes. The agent gets all of it.
const MAX_RESULT: usize = 2_000;

/// A call that runs.
pub(super) struct MadeCall<'a> {
    pub(super) session: &'a SessionIdentity,
    pub(super) by: &'a Actor,
    pub(super) tool: &'a dyn Tool,
    pub(super) arguments: &'a Arguments,
    pub(super) why: GatewayReason,
    pub(super) call: RequestId,
}

impl MadeCall<'_> {
    fn record(&self, outcome: Option<StepOutcome>) -> GatewayCallRecord {
        GatewayCallRecord {
            call: self.call.clone(),
            tool: self.tool.spec().name.clone(),
            arguments: Value::Object(self.arguments.clone()),
            why: self.why,
            outcome,
        }
    }

    /// A call that only reads may be made again, so it is written down once, with its outcome.
    fn only_reads(&self) -> bool {
        self.tool.effect() == ToolEffect::ReadsOnly
    }
}

impl Gateway {
    /// Writes a call that changes things down before it is made.
    pub(super) async fn record_begun(&self, made: &MadeCall<'_>) -> Result<(), Refusal> {
        if made.only_reads() {
            return Ok(());
        }
        self.write(made.session, made.by, ExternalCommand::RecordCall(made.record(None))).await
    }

    /// Writes the outcome down before the agent has it.
    pub(super) async fn record_ended(
        &self,
        made: &MadeCall<'_>,
        answer: &Result<ToolAnswer, Refusal>,
    ) -> Result<(), Refusal> {
        if made.only_reads() {
            return self.record_read(made, answer).await;
        }
        let outcome = outcome_of(answer);
        let (call, tool) = (made.call.clone(), made.tool.spec().name.clone());
        let written = self.write(made.session, made.by, ExternalCommand::RecordCallEnd { call, tool, outcome }).await;
        if let Err(refusal) = written {
            // It was made, so the agent must learn what became of it.
            tracing::warn!(event = "gateway_outcome_not_recorded", session_identity = %made.session, %refusal);
        }
        Ok(())
    }

    /// Writes a call that only read down, once, with its outcome.
    pub(super) async fn record_read(
        &self,
        made: &MadeCall<'_>,
        answer: &Result<ToolAnswer, Refusal>,
    ) -> Result<(), Refusal> {
        let record = made.record(Some(outcome_of(answer)));
        self.write(made.session, made.by, ExternalCommand::RecordCall(record)).await
    }

    /// Writes down that a call was asked about, or what was answered.
    pub async fn record_ask(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        name: &str,
        arguments: &Arguments,
        state: GatewayAsk,
    ) -> Result<(), Refusal> {
        let arguments = Value::Object(arguments.clone());
        self.write(session, by, ExternalCommand::RecordAsk { tool: name.to_owned(), arguments, state }).await
    }

    /// Writes down what a server asks the client during a call or, with answers, what it is answered.
    pub async fn record_questions(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        name: &str,
        questions: Value,
        answers: Option<Value>,
    ) -> Result<(), Refusal> {
        let tool = name.to_owned();
        self.write(session, by, ExternalCommand::RecordQuestions { tool, questions, answers }).await
    }

    /// Writes down that a call was refused, and counts it.
    pub async fn record_refused(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        name: &str,
        arguments: &Arguments,
        refusal: &Refusal,
    ) {
        tracing::info!(event = "gateway_refused", session_identity = %session, tool = name, code = %refusal.code);
        let (tool, arguments) = (name.to_owned(), Value::Object(arguments.clone()));
        let refused = ExternalCommand::RecordRefused { tool, arguments, refusal: refusal.clone() };
        if let Err(refusal) = self.write(session, by, refused).await {
            tracing::warn!(event = "gateway_refusal_not_recorded", session_identity = %session, %refusal);
        }
    }

    async fn write(&self, session: &SessionIdentity, by: &Actor, command: ExternalCommand) -> Result<(), Refusal> {
        let written = self.agent.engine().submit(session, by, Command::External(command)).await;
        written.map(drop).map_err(LedgerError::into_refusal)
    }
}

fn outcome_of(answer: &Result<ToolAnswer, Refusal>) -> StepOutcome {
    let (status, note) = match answer {
        Ok(answer) if answer.is_uncertain => (StepStatus::Uncertain, answer.value.to_string()),
        Ok(ToolAnswer { failure: Some(failure), .. }) => (StepStatus::Failed, failure.clone()),
        Ok(answer) => (StepStatus::Completed, answer.value.to_string()),
        Err(refusal) => (StepStatus::Failed, refusal.message.clone()),
    };
    let kept = &note[..note.floor_char_boundary(MAX_RESULT)];
    let note = if kept.len() < note.len() { format!("{kept}…") } else { kept.to_owned() };
    StepOutcome { status, note: Some(note), evidence: None }
}
