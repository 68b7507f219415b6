//! Writes into the workbook around the calls of the model, for turns of every kind. A write that fails is logged and does
//! not fail the turn.

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::conversation::ItemContent;
use planwright_core::gate::{ASK_AGENT, ASK_PERSON, PlanTool, ToolEffect, WorkbookTool};
use planwright_core::ids::RequestId;
use planwright_core::model::ToolCall;
use planwright_core::session::Session;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::{PendingCall, Purpose, ToolOutcome, ToolStatus};
use planwright_core::workbook::Workbook;
use planwright_engine::ledger::{Leasing, LedgerResult};
use planwright_engine::submitter::SubmitRequest;
use planwright_engine::workbook::{EndedCall, NewWorkbook};
use serde_json::Value;

use super::runner::TurnRunner;
use crate::agent_context::AgentContext;
use crate::catch_panic::catch_panic;
use crate::session::progress::Progress;

/// How a call is noted in the workbook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallNote {
    /// It failed.
    Error,
    /// It only reads. The number is its 1-based index among such calls.
    Research(u32),
    /// It changed something for the agent of another program.
    Change,
}

/// The result of a note.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    snapshot: Option<Snapshot>,
    /// The number of times that this call has failed in the same way.
    attempts: u32,
}

/// Writes the results of calls into the workbook, for turns and for executions.
#[derive(Debug, Clone)]
pub(crate) struct WorkbookHooks {
    agent: Arc<AgentContext>,
}

impl WorkbookHooks {
    pub(crate) fn new(agent: &Arc<AgentContext>) -> Self {
        Self { agent: Arc::clone(agent) }
    }

    /// The workbook that notes go into.
    pub(crate) fn workbook_of<'a>(&self, session: Option<&'a Session>) -> Option<&'a Workbook> {
        let session = session?;
        session.current_workbook().filter(|_| session.has_planning_files(&self.agent.engine().policy().planning_files))
    }

    /// Writes the result of a call into the workbook, if it is one to note.
    pub(crate) async fn note(
        &self,
        session: Option<&Session>,
        request: SubmitRequest<'_>,
        call_note: CallNote,
        call: EndedCall<'_>,
    ) -> Noted {
        if self.workbook_of(session).is_none() {
            return Noted::default();
        }
        let session = request.session;
        let every = self.agent.engine().policy().planning_files.findings_every;
        let noting = async {
            match call_note {
                CallNote::Error => {
                    let (attempts, committed) =
                        Box::pin(self.agent.engine().workbook_middleware().note_error(request, call)).await?;
                    Ok(Noted { snapshot: committed.map(|committed| committed.snapshot), attempts })
                }
                CallNote::Research(count) if every == 0 || count % every != 0 => Ok(Noted::default()),
                CallNote::Research(_) | CallNote::Change => {
                    let committed =
                        Box::pin(self.agent.engine().workbook_middleware().note_finding(request, call)).await?;
                    Ok(Noted { snapshot: committed.map(|committed| committed.snapshot), attempts: 0 })
                }
            }
        };
        harmless(session, noting).await
    }

    pub(crate) fn is_research(&self, tool: &str) -> bool {
        self.agent.toolbox.get(tool).is_some_and(|tool| tool.effect() == ToolEffect::ReadsOnly)
    }
}

impl TurnRunner<'_> {
    /// Before the model is asked for the first time: what a person wrote into the files is taken in, and a message that is
    /// worth it begins a workbook.
    pub(super) async fn open_workbook(&mut self) {
        if self.turn.model_calls() > 0 || self.turn.purpose.is_part() {
            return;
        }
        let opened = harmless(&self.session, self.opened_workbook()).await;
        if let Some(snapshot) = opened {
            self.snapshot = snapshot;
        }
    }

    /// The session afterwards, if something was changed in it.
    async fn opened_workbook(&self) -> LedgerResult<Option<Snapshot>> {
        let engine = self.agent.engine();
        let Some(session) = &self.snapshot.session else { return Ok(None) };
        let mut changed = false;
        if self.turns.hooks.workbook_of(Some(session)).is_some() {
            changed |= !Box::pin(engine.workbooks().sync(&self.session)).await?.is_empty();
        }
        let message = self.conversation.newest_message().map(|index| &self.conversation.items[index].content);
        if let (Purpose::Answer, Some(ItemContent::Person { text })) = (&self.turn.purpose, message)
            && engine.workbook_middleware().may_begin_by_itself(session).await?
        {
            let by = Actor::policy("planning_files.auto_init", self.session.channel.as_str());
            let verdict =
                Box::pin(engine.workbook_middleware().assess_message(self.note_request(&by, 0)?, text)).await?;
            if verdict.begin {
                let request = SubmitRequest { id: engine.submitter().next_request(), ..self.note_request(&by, 0)? };
                let begun = Box::pin(engine.workbooks().init_as(request, &NewWorkbook::about(text))).await?;
                changed |= begun.is_new;
                let reasons: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
                self.context.progress.send(Progress::Said(format!(
                    "*A workbook was begun ({}). `/plan files off` does without.*",
                    reasons.join("; ")
                )));
            }
        }
        if !changed {
            return Ok(None);
        }
        engine.sessions().snapshot(&self.session).await.map(Some)
    }

    /// After a call: research goes into the findings, what failed into the progress. A call that fails the same way again
    /// and again is answered with a hint.
    pub(super) async fn note_call(&mut self, pending: &PendingCall, outcome: &mut ToolOutcome) {
        let ToolCall { name, arguments, .. } = &pending.call;
        let Some(call_note) = self.note_of(name, outcome.status) else { return };
        let by = Actor::system(self.session.channel.as_str());
        let Ok(request) = self.note_request(&by, pending.number) else { return };
        let call = EndedCall { tool: name, arguments, answer: &outcome.text };
        let session = self.snapshot.session.as_deref();
        let Noted { snapshot, attempts } = self.turns.hooks.note(session, request, call_note, call).await;
        if let Some(snapshot) = snapshot {
            self.snapshot = snapshot;
        }
        let most = self.agent.engine().policy().planning_files.error_attempts;
        if most > 0 && attempts >= most {
            add_hint(outcome, attempts);
        }
    }

    /// The tools that plans and workbooks are kept with are not noted in a workbook.
    fn note_of(&self, name: &str, status: ToolStatus) -> Option<CallNote> {
        if PlanTool::named(name).is_some()
            || WorkbookTool::named(name).is_some()
            || name == ASK_AGENT
            || name == ASK_PERSON
        {
            return None;
        }
        match status {
            ToolStatus::Done if self.turns.hooks.is_research(name) => Some(CallNote::Research(self.research() + 1)),
            ToolStatus::Done | ToolStatus::Planned | ToolStatus::Settled => None,
            ToolStatus::Refused | ToolStatus::Failed | ToolStatus::TimedOut | ToolStatus::Uncertain => {
                Some(CallNote::Error)
            }
        }
    }

    /// How many calls of the conversation, as far as it is remembered, only looked something up.
    fn research(&self) -> u32 {
        let mut calls: &[ToolCall] = &[];
        let mut count = 0;
        for item in &self.conversation.items {
            match &item.content {
                ItemContent::Model { calls: made, .. } => calls = made,
                ItemContent::Result { outcome } => {
                    let Some((call, rest)) = calls.split_first() else { continue };
                    calls = rest;
                    count += u32::from(outcome.status == ToolStatus::Done && self.turns.hooks.is_research(&call.name));
                }
                ItemContent::Person { .. }
                | ItemContent::Note { .. }
                | ItemContent::Reminder { .. }
                | ItemContent::RunResult { .. } => {}
            }
        }
        count
    }

    fn note_request<'a>(&'a self, by: &'a Actor, call: u32) -> LedgerResult<SubmitRequest<'a>> {
        Ok(SubmitRequest {
            session: &self.session,
            by,
            id: RequestId::of_note(&self.turn.id, call),
            leasing: Leasing::Held(self.lease()?),
            turn: Some(self.turn.id.clone()),
        })
    }
}

/// The result of the work, or the default if it fails.
async fn harmless<T: Default>(
    session: &planwright_core::session::SessionIdentity,
    work: impl Future<Output = LedgerResult<T>>,
) -> T {
    match catch_panic("the workbook", work).await {
        Some(Ok(done)) => done,
        Some(Err(error)) => {
            tracing::warn!(session_identity = %session, event = "planning_files", %error, "the workbook was left as it is");
            T::default()
        }
        None => T::default(),
    }
}

/// Says in the answer that this is not the way. What is JSON stays JSON.
fn add_hint(outcome: &mut ToolOutcome, attempts: u32) {
    let hint = format!(
        "This very call has now failed {attempts} times in the same way. Do not repeat it: look at the error table in \
         `progress`, find out why, and try another way or ask the person."
    );
    match serde_json::from_str::<Value>(&outcome.text) {
        Ok(Value::Object(mut answer)) => {
            answer.insert("hint".to_owned(), hint.into());
            outcome.text = Value::Object(answer).to_string();
        }
        Ok(_) | Err(_) => outcome.text.push_str(&format!("\n\n{hint}")),
    }
}
