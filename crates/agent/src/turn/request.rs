//! Requests to the model: the prompt, the tools it may call, and the conversation within the tokens that are left. A
//! conversation that grows too long is summarised.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::agents::SpecialistOptions;
use planwright_core::conversation::compaction::{self, CutPoint};
use planwright_core::conversation::{Compaction, Conversation, CountTokens as _, Summarizer, clip};
use planwright_core::gate::{
    Caller, GateContext, GateDecision, authorize_asking, authorize_asking_person, decide_other_tool,
};
use planwright_core::model::{ModelMessage, ModelRequest, ToolSpec};
use planwright_core::plan::PlanStyle;
use planwright_core::prompt::{self, PlanLine};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::Purpose;
use planwright_engine::ledger::LedgerResult;
use planwright_engine::model::Silent;
use tokio::time::timeout;

use super::{ask_agent, ask_person};
use crate::agent_context::AgentContext;
use crate::catch_panic::catch_panic;
use crate::session::progress::{Progress, ProgressSender};
use crate::state::{AdvertisedTools, ToolsKey};

/// The number of finished plans that the prompt names.
const FINISHED: usize = 5;
/// The smallest number of tokens for a conversation.
const MIN_ROOM: u32 = 512;
/// The tokens of the conversation that `/compact` keeps besides the summary.
const MANUAL_COMPACTION_TOKENS: u32 = 400;
/// The most tokens for the answer.
const MAX_OUTPUT: u32 = 16_384;
/// The most tokens of a summary.
const SUMMARY_TOKENS: u32 = 1_200;

/// The time limit of a summary; after it rules make the summary.
const SUMMARY_TIME: Duration = Duration::from_secs(120);
/// The part of a request besides the conversation.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) system: String,
    pub(super) tools: Arc<[ToolSpec]>,
    /// The tokens of prompt and tools, those of the tools estimated.
    pub(super) fixed: u32,
    /// The tokens that are left for the conversation.
    pub(super) room: u32,
    pub(super) max_output_tokens: u32,
}

/// Makes the requests to the model: prompt, tools, and the tokens that are left for the conversation.
#[derive(Debug, Clone)]
pub(crate) struct RequestBuilder {
    agent: Arc<AgentContext>,
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
        let plan_tools = self.agent.engine().tools().advertised_in(situation, agents).into_iter().map(|tool| {
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
        let system = self.system(snapshot, purpose).await?;
        self.agent.toolbox.refresh().await;
        let options = self.agent.specialist_options(&snapshot.identity, purpose);
        let tools = self.advertised(&self.situation(snapshot, purpose), &snapshot.identity, options);
        let context = self.agent.context_tokens_of(&*self.agent.model_for(&snapshot.identity, purpose));
        let max_output_tokens = output_tokens(context);
        let fixed = self.agent.tokens.count_known(&system).saturating_add(tools.tokens);
        let room = context.saturating_sub(max_output_tokens).saturating_sub(fixed);
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

    /// A summary of the part that is cut, by the model or, if that fails, by rules.
    pub(super) async fn summarize(&self, conversation: &Conversation, cut: &CutPoint, room: u32) -> Compaction {
        let tokens = |text: &str| self.agent.tokens.count(text);
        let most = SUMMARY_TOKENS.min(room / 4).max(64);
        let request = ModelRequest {
            system: prompt::SUMMARIZE.to_owned(),
            messages: vec![ModelMessage::User { text: self.transcript(conversation, cut) }],
            tools: Arc::default(),
            max_output_tokens: Some(most),
        };
        let asking = catch_panic("the model", self.agent.model().reply(&request, &Silent));
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
        let text = clip(&text, most, &self.agent.tokens);
        let tokens = tokens(&text);
        cut.compaction(conversation, text, tokens, by)
    }

    /// The part that is cut, as much of it as the model can read at once.
    fn transcript(&self, conversation: &Conversation, cut: &CutPoint) -> String {
        let context = self.agent.context_tokens();
        let most = context.saturating_sub(output_tokens(context)).saturating_sub(MIN_ROOM);
        let text = cut.transcript(conversation, most as usize * 4);
        clip(&text, most, &self.agent.tokens)
    }

    /// `/compact`: `None` if there is nothing to summarise.
    pub(crate) async fn compact_now(
        &self,
        conversation: &Conversation,
        snapshot: &Snapshot,
        progress: &ProgressSender,
    ) -> LedgerResult<Option<Compaction>> {
        let frame = self.frame(snapshot, &Purpose::Answer).await?;
        // The last messages stay, if they are short.
        let Some(cut) = compaction::cut(conversation, (frame.room / 8).min(MANUAL_COMPACTION_TOKENS)) else {
            return Ok(None);
        };
        progress.send(Progress::Compacting);
        Ok(Some(self.summarize(conversation, &cut, frame.room).await))
    }
}

/// Whether the model may write a document now.
fn writes_document(snapshot: &Snapshot) -> bool {
    let mode = snapshot.session.as_ref().map(|session| &session.plan_mode);
    let document = mode.is_some_and(|mode| mode.enabled && mode.style == PlanStyle::Document);
    document && snapshot.active().is_none_or(|plan| plan.approval.is_none())
}

/// The tokens for the answer.
fn output_tokens(context: u32) -> u32 {
    (context / 4).min(MAX_OUTPUT)
}

/// The smallest context in which so many tokens are left besides those for the answer.
fn smallest_context(besides_answer: u32) -> u32 {
    besides_answer.saturating_add((besides_answer / 3).min(MAX_OUTPUT))
}
