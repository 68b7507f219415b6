//! The call of the model: the prompt, the tools it may call, the conversation within the tokens that are left, and its reply.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use planwright_core::agents::SpecialistOptions;
use planwright_core::conversation::{CountTokens as _, message_tokens, reply_tokens, token_budget};
use planwright_core::gate::{
    Caller, GateContext, GateDecision, authorize_asking, authorize_asking_person, decide_other_tool,
};
use planwright_core::model::{ModelMessage, ModelReply, ModelRequest, ToolSpec, Usage};
use planwright_core::plan::PlanStyle;
use planwright_core::prompt::{self, PlanLine};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::{Purpose, TurnInput, TurnLimit};
use planwright_engine::ledger::LedgerResult;
use planwright_engine::model::{Listener, ModelError, ModelErrorKind};

use super::abort::TurnAbort;
use super::runner::TurnRunner;
use super::{ask_agent, ask_person};
use crate::agent_context::AgentContext;
use crate::catch_panic::catch_panic;
use crate::session::progress::{Progress, ProgressSender};
use crate::state::{AdvertisedTools, ToolsKey};
use crate::tools::PlanTools;

/// The number of times that a request is made shorter because the model says that it is too long.
const MAX_TIGHTENED: u32 = 3;

const NUDGE: &str = "[Your last reply was empty. Answer the person, or call a tool.]";

/// The number of finished plans that the prompt names.
const FINISHED: usize = 5;
/// The smallest number of tokens for a conversation.
pub(super) const MIN_ROOM: u32 = 512;
/// The tokens that are left beside a plan that is read.
const MIN_BESIDE: u32 = 256;
/// The most tokens for the answer.
const MAX_OUTPUT: u32 = 16_384;

impl TurnRunner<'_> {
    /// One call of the model. `None` if the model says that the request is too long; the next one is shorter.
    pub(super) async fn ask_model(&mut self) -> Result<Option<TurnInput>, TurnAbort> {
        self.read_memory().await?;
        let needed = match self.conversation.whole_tokens() {
            0 => 0,
            whole => whole.saturating_add(self.memory_tokens()).saturating_add(MIN_BESIDE),
        };
        let mut frame = self.turns.requests.frame_with_room(&self.snapshot, &self.turn.purpose, needed).await?;
        frame.room = frame.room.saturating_sub(self.memory_tokens());
        frame.room >>= self.tightened;
        self.make_room(frame.room).await?;
        let asked = u64::from(frame.fixed) + u64::from(self.conversation.tokens());
        let mut reply = match self.call_model(frame).await? {
            Ok(reply) => reply,
            Err(error) if error.kind == ModelErrorKind::TooLong && self.tightened < MAX_TIGHTENED => {
                self.tightened += 1;
                return Ok(None);
            }
            Err(error) => return Err(TurnAbort::ModelFailed { message: error.message }),
        };
        self.context.progress.send(Progress::Replied { calls: reply.calls.len() });
        let tokens = reply_tokens(&reply, &self.agent.tokens);
        // The tokens are estimated if the provider does not count them.
        if reply.usage.total() == 0 {
            reply.usage = Usage { input_tokens: asked, output_tokens: tokens.into() };
        }
        Ok(Some(TurnInput::Replied { reply, tokens }))
    }

    /// Refuses a call beyond those that the system makes within a minute by itself.
    fn check_rate(&self) -> Result<(), TurnAbort> {
        let outer = self.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        let begun_for = outer.map_or(&self.turn.purpose, |open| &open.purpose);
        let (most, now) = (self.limits.calls_per_minute, self.agent.engine().now());
        match self.agent.call_rate.admit(&self.session, begun_for, most, now) {
            true => Ok(()),
            false => Err(TurnAbort::Limit(TurnLimit::CallsPerMinute)),
        }
    }

    async fn call_model(&self, frame: Frame) -> Result<Result<ModelReply, ModelError>, TurnAbort> {
        // A model that is sent the same request may reply with nothing again.
        let silent = |reply: &ModelReply| reply.calls.is_empty() && reply.text.trim().is_empty();
        let silent = self.turn.last_reply().is_some_and(silent);
        let nudge = silent.then(|| ModelMessage::User { text: NUDGE.to_owned() });
        let counter = &self.agent.tokens;
        let room = nudge.iter().fold(frame.room, |room, nudge| room.saturating_sub(message_tokens(nudge, counter)));
        let messages = token_budget::fit(&self.conversation, room, counter)
            .map_err(|refusal| TurnAbort::ModelFailed { message: refusal.message })?;
        let request = ModelRequest {
            system: frame.system,
            messages: self.with_memory(messages).into_iter().chain(nudge).collect(),
            tools: frame.tools,
            max_output_tokens: Some(frame.max_output_tokens),
        };
        self.check_rate()?;
        self.check_lease().await?;
        self.context.progress.send(Progress::ModelCalled);
        let left = self.limits.time.saturating_sub(self.elapsed());
        let model = self.agent.model_for(&self.session, &self.turn.purpose);
        let listener = ReplyListener { progress: &self.context.progress, received: Mutex::default() };
        let outcome = tokio::select! {
            biased;
            abort = self.interrupted() => Err(abort),
            reply = catch_panic("the model", model.reply(&request, &listener)) => Ok(reply),
            () = tokio::time::sleep(left) => Err(TurnAbort::Limit(TurnLimit::Time)),
        };
        match outcome {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(TurnAbort::ModelFailed { message: "The model call crashed; see the log.".to_owned() }),
            Err(TurnAbort::Stopped { .. }) => Err(TurnAbort::Stopped { received: listener.take(), under_way: None }),
            Err(abort) => Err(abort),
        }
    }
}

/// Sends the text of the model as progress, and keeps it in case the turn is stopped.
struct ReplyListener<'a> {
    progress: &'a ProgressSender,
    received: Mutex<String>,
}

impl ReplyListener<'_> {
    fn take(&self) -> String {
        std::mem::take(&mut self.received.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for ReplyListener<'_> {
    fn text(&self, piece: &str) {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).push_str(piece);
        self.progress.send(Progress::Text(piece.to_owned()));
    }

    fn again(&self, why: &str, wait: Duration) {
        self.take();
        self.progress.send(Progress::Again { why: why.to_owned(), wait });
    }
}

/// The part of a request besides the conversation.
#[derive(Debug)]
pub(super) struct Frame {
    system: String,
    tools: Arc<[ToolSpec]>,
    /// The tokens of prompt and tools, those of the tools estimated.
    fixed: u32,
    /// The tokens that are left for the conversation.
    pub(super) room: u32,
    max_output_tokens: u32,
}

/// Makes the requests to the model: prompt, tools, and the tokens that are left for the conversation.
#[derive(Debug, Clone)]
pub(crate) struct RequestBuilder {
    pub(super) agent: Arc<AgentContext>,
}

impl RequestBuilder {
    pub(super) fn new(agent: &Arc<AgentContext>) -> Self {
        Self { agent: Arc::clone(agent) }
    }

    /// The tools that pass the gate in this situation, and of a specialist only those that it may use.
    pub(crate) fn advertised(
        &self,
        situation: &GateContext,
        session: &SessionIdentity,
        options: Option<SpecialistOptions>,
    ) -> Arc<AdvertisedTools> {
        let key = ToolsKey {
            situation: *situation,
            policy: self.agent.policy_of(session),
            permitted: options.and_then(|options| options.tools),
            tools: self.agent.toolbox.iter().collect(),
        };
        self.agent.advertised_tools.get_or_make(key, |key| self.make_advertised(key))
    }

    fn make_advertised(&self, key: &ToolsKey) -> AdvertisedTools {
        let (situation, agents) = (&key.situation, &key.policy.agents);
        let plan_tools = PlanTools::new(self.agent.engine()).advertised_in(situation, agents).into_iter().map(|tool| {
            ToolSpec { name: tool.name.to_owned(), description: tool.description, input_schema: tool.input_schema }
        });
        let options = SpecialistOptions { tools: key.permitted.clone(), ..SpecialistOptions::default() };
        let others = key.tools.iter().filter(|tool| {
            let name = &tool.spec().name;
            !matches!(decide_other_tool(situation, name, tool.effect()), GateDecision::Deny(_))
                && options.permits_tool(name)
        });
        let ask = authorize_asking(situation).is_ok().then(|| ask_agent::spec(agents));
        let ask_person = authorize_asking_person(situation).is_ok().then(ask_person::spec);
        let specs = plan_tools.chain(ask).chain(ask_person).chain(others.map(|tool| tool.spec().clone())).collect();
        AdvertisedTools::new(specs)
    }

    /// The context of the gate in a turn with this purpose.
    pub(super) fn situation(&self, snapshot: &Snapshot, purpose: &Purpose) -> GateContext {
        let policy = self.agent.engine().policy();
        let apart = |caller, status| GateContext {
            style: Some(PlanStyle::Build),
            status,
            caller,
            document_tools: policy.document_tools,
            workbook: GateContext::of(snapshot, policy, caller).workbook,
            has_goals: false,
            has_rounds: false,
        };
        match purpose {
            Purpose::Answer | Purpose::Document { .. } | Purpose::Run(_) => {
                GateContext::of(snapshot, policy, Caller::Conversation)
            }
            Purpose::Step { plan, .. } => apart(Caller::Execution, snapshot.plan(plan).map(|plan| plan.status)),
            Purpose::Question { .. } => apart(Caller::Specialist, snapshot.active().map(|plan| plan.status)),
        }
    }

    async fn system(&self, snapshot: &Snapshot, purpose: &Purpose) -> LedgerResult<String> {
        let policy = self.agent.policy_of(&snapshot.identity);
        let agents = &policy.agents;
        let mut text = match purpose {
            Purpose::Answer | Purpose::Document { .. } | Purpose::Run(_) => {
                let finished = self.finished_plans(snapshot).await?;
                let workbook = self.agent.engine().workbook_middleware().hint(snapshot).await;
                let mut text = prompt::system(snapshot, &finished, agents.specialists(), workbook.as_deref());
                if let Some(template) = policy.plan_template.as_ref().filter(|_| writes_document(snapshot)) {
                    text.push_str(&prompt::template_block(template));
                }
                text
            }
            Purpose::Step { agent, .. } => prompt::specialist::doing(agents.assignable(agent)?),
            Purpose::Question { agent, .. } => prompt::specialist::asked(agents.assignable(agent)?),
        };
        let workspace = snapshot.session.as_ref().map(|session| &session.workspace);
        if let Some((workspace, path)) = workspace.and_then(|workspace| Some((workspace, workspace.project()?))) {
            let guide = self.agent.files.guide(workspace).await;
            text.push_str(&prompt::project_block(path, guide.as_ref()));
        }
        Ok(text)
    }

    pub(super) async fn frame(&self, snapshot: &Snapshot, purpose: &Purpose) -> LedgerResult<Frame> {
        self.frame_with_room(snapshot, purpose, 0).await
    }

    /// The tokens for the text of a plan beside the newest words, with as few tools as there may be.
    pub(super) async fn room_for_plan(&self, snapshot: &Snapshot, purpose: &Purpose, words: u32) -> LedgerResult<u32> {
        let room = self.frame_with_room(snapshot, purpose, u32::MAX).await?.room;
        Ok(room.saturating_sub(words).saturating_sub(2 * MIN_BESIDE))
    }

    /// With fewer tools if the conversation has less room than it needs.
    async fn frame_with_room(&self, snapshot: &Snapshot, purpose: &Purpose, needed: u32) -> LedgerResult<Frame> {
        let system = self.system(snapshot, purpose).await?;
        self.agent.toolbox.refresh().await;
        let options = self.agent.specialist_options(&snapshot.identity, purpose);
        let tools = self.advertised(&self.situation(snapshot, purpose), &snapshot.identity, options);
        let context = self.agent.context_tokens_of(&*self.agent.model_for(&snapshot.identity, purpose));
        let max_output_tokens = output_tokens(context);
        let (prompt, given) = (self.agent.tokens.count_known(&system), context.saturating_sub(max_output_tokens));
        let left = given.saturating_sub(prompt);
        let tools = match left.saturating_sub(tools.tokens) < needed {
            true => Arc::new(tools.within(left.saturating_sub(needed))),
            false => tools,
        };
        let fixed = prompt.saturating_add(tools.tokens);
        let room = given.saturating_sub(fixed);
        Ok(Frame { system, tools: Arc::clone(&tools.specs), fixed, room, max_output_tokens })
    }

    /// The plans of the session that are over, the newest first.
    async fn finished_plans(&self, snapshot: &Snapshot) -> LedgerResult<Vec<PlanLine>> {
        let made = snapshot.session.as_ref().map_or(0, |session| session.plans_made);
        if made == 0 {
            return Ok(Vec::new());
        }
        let active = snapshot.active().map(|plan| plan.number);
        let page = self.agent.engine().plans().list(&snapshot.identity, None, 4 * FINISHED as u32).await?;
        let over = page.items.into_iter().filter(|plan| plan.status.is_final() && Some(plan.number) != active);
        let lines = over.map(|plan| PlanLine { number: plan.number, status: plan.status, title: plan.title });
        Ok(lines.take(FINISHED).collect())
    }

    /// The tokens of a message. A message that leaves too little room for the answer is refused before it is stored.
    pub(crate) async fn check_room(&self, snapshot: &Snapshot, text: &str) -> LedgerResult<u32> {
        let tokens = self.agent.tokens.count(text);
        // The replies and results of the turn need room as well.
        let frame = self.frame(snapshot, &Purpose::Answer).await?;
        let (most, context) = (frame.room / 2, self.agent.context_tokens());
        if tokens <= most {
            return Ok(tokens);
        }
        if frame.room < MIN_ROOM {
            let needed = smallest_context(frame.fixed + 2 * MIN_ROOM);
            return Err(Refusal::limit(format!(
                "A context of {context} tokens is too small: the prompt and the tools alone take about {}. \
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
}

/// Whether the model may write a document now.
fn writes_document(snapshot: &Snapshot) -> bool {
    let mode = snapshot.session.as_ref().map(|session| &session.plan_mode);
    let document = mode.is_some_and(|mode| mode.enabled && mode.style == PlanStyle::Document);
    document && snapshot.active().is_none_or(|plan| plan.approval.is_none())
}

/// The tokens for the answer.
pub(super) fn output_tokens(context: u32) -> u32 {
    (context / 4).min(MAX_OUTPUT)
}

/// The smallest context in which so many tokens are left besides those for the answer.
fn smallest_context(besides_answer: u32) -> u32 {
    besides_answer.saturating_add((besides_answer / 3).min(MAX_OUTPUT))
}
