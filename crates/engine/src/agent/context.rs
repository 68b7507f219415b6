//! What the model is sent: who it is, where the plan stands, the tools it may call, and the conversation within the
//! tokens there are. When the conversation grows too long, its older part is summarised.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use planwright_core::conversation::compaction::{self, CutPoint};
use planwright_core::conversation::{
    Compaction, Conversation, CountTokens as _, Summarizer, clip, message_tokens, reply_tokens, token_budget,
};
use planwright_core::gate::{Caller, GateContext, GateDecision, authorize_asking, decide_other_tool};
use planwright_core::model::{ModelMessage, ModelReply, ModelRequest, ToolSpec, Usage};
use planwright_core::plan::PlanStyle;
use planwright_core::prompt::{self, PlanLine};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::{Purpose, TurnInput};
use tokio::time::timeout;

use super::Agent;
use super::ask_agent;
use super::turn::{TurnAbort, TurnRunner};
use crate::catch_panic::catch_panic;
use crate::ledger::LedgerResult;
use crate::model::{Listener, ModelError, ModelErrorKind, Silent};
use crate::session::progress::{Progress, ProgressSender};

/// How many finished plans are named in the prompt.
const FINISHED: usize = 5;
/// The smallest number of tokens that a conversation is worth having in.
const SMALLEST_ROOM: u32 = 512;
/// What `/compact` leaves of the conversation, besides the summary.
const KEPT_BY_HAND: u32 = 400;
/// The most a summary may have.
const SUMMARY_TOKENS: u32 = 1_200;

/// How long a summary may take; without one there are rules.
const SUMMARY_TIME: Duration = Duration::from_secs(120);
/// How often a request is made shorter because the model says that it is too long.
const MOST_TIGHTENED: u32 = 3;

const NUDGE: &str = "[Your last reply was empty. Answer the person, or call a tool.]";

/// What every request has besides the conversation.
#[derive(Debug)]
pub(super) struct Frame {
    system: String,
    tools: Vec<ToolSpec>,
    /// The tokens all that takes.
    fixed: u32,
    /// The tokens that are left for the conversation.
    room: u32,
    max_output_tokens: u32,
}

impl Agent {
    /// The tools that may be called in this situation: exactly those the gate lets through.
    pub(super) fn advertised(&self, situation: &GateContext) -> Vec<ToolSpec> {
        let plan_tools = self.engine().tools().advertised_in(situation).into_iter().map(|tool| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.description,
            input_schema: tool.input_schema,
        });
        let others = self.shared.toolbox.iter().filter(|tool| {
            !matches!(decide_other_tool(situation, &tool.spec().name, tool.effect()), GateDecision::Deny(_))
        });
        let ask = authorize_asking(situation).is_ok().then(|| ask_agent::spec(&self.engine().policy().agents));
        plan_tools.chain(ask).chain(others.map(|tool| tool.spec().clone())).collect()
    }

    /// What the gate looks at in a turn with this purpose.
    pub(super) fn situation(&self, snapshot: &Snapshot, purpose: &Purpose) -> GateContext {
        let policy = self.engine().policy();
        let apart = |caller, status| GateContext {
            style: Some(PlanStyle::Build),
            status,
            caller,
            document_tools: policy.document_tools,
            workbook: GateContext::of(snapshot, policy, caller).workbook,
        };
        match purpose {
            Purpose::Answer | Purpose::Document { .. } => GateContext::of(snapshot, policy, Caller::Conversation),
            Purpose::Step { plan, .. } => apart(Caller::Execution, snapshot.plan(plan).map(|plan| plan.status)),
            Purpose::Question { .. } => apart(Caller::Specialist, snapshot.active().map(|plan| plan.status)),
        }
    }

    async fn system(&self, snapshot: &Snapshot, purpose: &Purpose) -> LedgerResult<String> {
        let agents = &self.engine().policy().agents;
        Ok(match purpose {
            Purpose::Answer | Purpose::Document { .. } => {
                let finished = self.finished_plans(snapshot).await?;
                let workbook = self.engine().workbook_middleware().hint(snapshot).await;
                prompt::system(snapshot, &finished, agents.specialists(), workbook.as_deref())
            }
            Purpose::Step { agent, .. } => prompt::specialist::doing(agents.assignable(agent)?),
            Purpose::Question { agent, .. } => prompt::specialist::asked(agents.assignable(agent)?),
        })
    }

    pub(super) async fn frame(&self, snapshot: &Snapshot, purpose: &Purpose) -> LedgerResult<Frame> {
        let system = self.system(snapshot, purpose).await?;
        let tools = self.advertised(&self.situation(snapshot, purpose));
        let context = self.context_tokens();
        let max_output_tokens = output_tokens(context);
        let fixed = self.shared.tokens.count_known(&system).saturating_add(self.tool_tokens(&tools));
        let room = context.saturating_sub(max_output_tokens).saturating_sub(fixed);
        Ok(Frame { system, tools, fixed, room, max_output_tokens })
    }

    fn tool_tokens(&self, tools: &[ToolSpec]) -> u32 {
        const FRAME: u32 = 12;
        let count = |text: &str| self.shared.tokens.count_known(text);
        tools.iter().fold(0, |sum, tool| {
            sum + FRAME + count(&tool.name) + count(&tool.description) + count(&tool.input_schema.to_string())
        })
    }

    /// The plans of the session that are over, the newest first.
    async fn finished_plans(&self, snapshot: &Snapshot) -> LedgerResult<Vec<PlanLine>> {
        let made = snapshot.session.as_ref().map_or(0, |session| session.plans_made);
        if made == 0 {
            return Ok(Vec::new());
        }
        let active = snapshot.active().map(|plan| plan.number);
        let page = self.engine().plans().list(&snapshot.identity, None, 4 * FINISHED as u32).await?;
        let over = page.items.into_iter().filter(|plan| plan.status.is_final() && Some(plan.number) != active);
        let lines = over.map(|plan| PlanLine { number: plan.number, status: plan.status, title: plan.title });
        Ok(lines.take(FINISHED).collect())
    }

    /// The tokens of a message. One that takes too much of what the model can read is refused before it is stored.
    pub(super) async fn check_room(&self, session: &SessionIdentity, text: &str) -> LedgerResult<u32> {
        let tokens = self.shared.tokens.count(text);
        let snapshot = self.engine().sessions().snapshot(session).await?;
        // What it leads to needs room as well.
        let frame = self.frame(&snapshot, &Purpose::Answer).await?;
        let (most, context) = (frame.room / 2, self.context_tokens());
        if tokens <= most {
            return Ok(tokens);
        }
        if frame.room < SMALLEST_ROOM {
            let needed = frame.fixed + output_tokens(context) + 2 * SMALLEST_ROOM;
            return Err(Refusal::limit(format!(
                "A context of {context} tokens is too small: the prompt and the tools alone take {}. \
                 Set `context_tokens` to {needed} or more, if the model takes that much.",
                frame.fixed
            ))
            .into());
        }
        Err(Refusal::limit(format!(
            "The message has about {tokens} tokens; with a context of {context} at most {most} are taken. \
             Put long text into a file, or raise `context_tokens` if the model takes more."
        ))
        .into())
    }

    /// A summary of what is cut, by the model or, if that fails, by rules.
    async fn summarize(&self, conversation: &Conversation, cut: &CutPoint, room: u32) -> Compaction {
        let tokens = |text: &str| self.shared.tokens.count(text);
        let most = SUMMARY_TOKENS.min(room / 4).max(64);
        let request = ModelRequest {
            system: prompt::SUMMARIZE.to_owned(),
            messages: vec![ModelMessage::User { text: self.transcript(conversation, cut) }],
            tools: Vec::new(),
            max_output_tokens: Some(most),
        };
        let asking = catch_panic("the model", self.model().reply(&request, &Silent));
        let summary = match timeout(SUMMARY_TIME, asking).await.ok().flatten() {
            Some(Ok(reply)) if !reply.text.trim().is_empty() => Some(reply.text.trim().to_owned()),
            Some(Ok(_)) | None => None,
            Some(Err(error)) => {
                tracing::warn!(event = "summary_failed", %error, "the conversation is shortened without a model");
                None
            }
        };
        let (text, by) = match summary {
            Some(text) => (text, Summarizer::Model),
            None => (cut.rules_summary(conversation), Summarizer::Rules),
        };
        let text = clip(&text, most, &self.shared.tokens);
        let tokens = tokens(&text);
        cut.compaction(conversation, text, tokens, by)
    }

    /// What is dropped, as much of it as the model can read at once.
    fn transcript(&self, conversation: &Conversation, cut: &CutPoint) -> String {
        let context = self.context_tokens();
        let most = context.saturating_sub(output_tokens(context)).saturating_sub(SMALLEST_ROOM);
        let text = cut.transcript(conversation, most as usize * 4);
        clip(&text, most, &self.shared.tokens)
    }

    /// `/compact`: says how many messages were summarised; none if there is nothing to do.
    pub(super) async fn compact_now(
        &self,
        conversation: &Conversation,
        snapshot: &Snapshot,
        progress: &ProgressSender,
    ) -> LedgerResult<Option<Compaction>> {
        let frame = self.frame(snapshot, &Purpose::Answer).await?;
        // What was said last stays, if it is not much.
        let Some(cut) = compaction::cut(conversation, (frame.room / 8).min(KEPT_BY_HAND)) else { return Ok(None) };
        progress.send(Progress::Compacting);
        Ok(Some(self.summarize(conversation, &cut, frame.room).await))
    }
}

/// What is left for the answer.
fn output_tokens(context: u32) -> u32 {
    (context / 4).min(16_384)
}

impl TurnRunner<'_> {
    /// One call of the model. `None` if it was told that this was too long, and there is less to say now.
    pub(super) async fn ask_model(&mut self) -> Result<Option<TurnInput>, TurnAbort> {
        let mut frame = self.agent.frame(&self.snapshot, &self.turn.purpose).await?;
        frame.room >>= self.tightened;
        self.make_room(&frame).await?;
        let asked = u64::from(frame.fixed) + u64::from(self.conversation.tokens());
        let mut reply = match self.call_model(frame).await? {
            Ok(reply) => reply,
            Err(error) if error.kind == ModelErrorKind::TooLong && self.tightened < MOST_TIGHTENED => {
                self.tightened += 1;
                return Ok(None);
            }
            Err(error) => return Err(TurnAbort::ModelFailed { message: error.message }),
        };
        self.context.progress.send(Progress::Replied { calls: reply.calls.len() });
        let tokens = reply_tokens(&reply, &self.agent.shared.tokens);
        // A provider that counts nothing is counted for.
        if reply.usage.total() == 0 {
            reply.usage = Usage { input_tokens: asked, output_tokens: tokens.into() };
        }
        Ok(Some(TurnInput::Replied { reply, tokens }))
    }

    /// Summarises the older part of the conversation when it takes more than three quarters of the room there is.
    async fn make_room(&mut self, frame: &Frame) -> Result<(), TurnAbort> {
        // A turn apart from the conversation is short enough to be sent as far as it fits.
        if !self.turn.purpose.is_conversation() || self.conversation.tokens() <= frame.room / 4 * 3 {
            return Ok(());
        }
        let Some(cut) = compaction::cut(&self.conversation, frame.room / 3) else { return Ok(()) };
        self.context.progress.send(Progress::Compacting);
        let compaction = tokio::select! {
            biased;
            halt = self.interrupted() => return Err(halt),
            compaction = self.agent.summarize(&self.conversation, &cut, frame.room) => compaction,
        };
        let messages = compaction.messages;
        self.compact(compaction).await?;
        self.context.progress.send(Progress::Compacted { messages });
        Ok(())
    }

    async fn call_model(&self, frame: Frame) -> Result<Result<ModelReply, ModelError>, TurnAbort> {
        // Asked the same, a model may well say nothing again.
        let silent = |reply: &ModelReply| reply.calls.is_empty() && reply.text.trim().is_empty();
        let silent = self.turn.last_reply().is_some_and(silent);
        let nudge = silent.then(|| ModelMessage::User { text: NUDGE.to_owned() });
        let counter = &self.agent.shared.tokens;
        let room = nudge.iter().fold(frame.room, |room, nudge| room.saturating_sub(message_tokens(nudge, counter)));
        let messages = token_budget::fit(&self.conversation, room, counter)
            .map_err(|refusal| TurnAbort::ModelFailed { message: refusal.message })?;
        let request = ModelRequest {
            system: frame.system,
            messages: messages.into_iter().chain(nudge).collect(),
            tools: frame.tools,
            max_output_tokens: Some(frame.max_output_tokens),
        };
        self.check_lease().await?;
        self.context.progress.send(Progress::ModelCalled);
        let left = self.limits.time.saturating_sub(self.elapsed());
        let listener = ReplyListener { progress: &self.context.progress, heard: Mutex::default() };
        let outcome = tokio::select! {
            biased;
            halt = self.interrupted() => Err(halt),
            reply = catch_panic("the model", self.agent.model().reply(&request, &listener)) => Ok(reply),
            () = tokio::time::sleep(left) => Err(TurnAbort::OutOfTime),
        };
        match outcome {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(TurnAbort::ModelFailed { message: "It broke down; the log says more.".to_owned() }),
            Err(TurnAbort::Stopped { .. }) => Err(TurnAbort::Stopped { heard: listener.take(), under_way: None }),
            Err(halt) => Err(halt),
        }
    }
}

/// Passes on what the model says, and keeps it in case the turn is stopped in the middle.
struct ReplyListener<'a> {
    progress: &'a ProgressSender,
    heard: Mutex<String>,
}

impl ReplyListener<'_> {
    fn take(&self) -> String {
        std::mem::take(&mut self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for ReplyListener<'_> {
    fn text(&self, piece: &str) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push_str(piece);
        self.progress.send(Progress::Text(piece.to_owned()));
    }

    fn again(&self, why: &str, wait: Duration) {
        self.take();
        self.progress.send(Progress::Again { why: why.to_owned(), wait });
    }
}
