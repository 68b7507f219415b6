//! Calls that the agent of another program makes to tools of upstream servers. Each passes the gate, the person's rules and
//! the settings of the gateway. Those that are recorded are made once they are approved.

mod carry_out;
mod listed;
mod listed_request;
mod log_level;
mod names;
mod prompts;
mod record;
mod resources;
mod results;
mod start;
mod subscriptions;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::gate::ToolEffect;
use planwright_core::gateway::{
    GatewayCall, GatewayDecision, GatewayOptions, GatewayReason, GatewayWork, decide_gateway,
};
use planwright_core::ids::{PlanId, StepId};
use planwright_core::model::ToolSpec;
use planwright_core::plan::PlanStyle;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::snapshot::Snapshot;
use planwright_core::visible::quoted;
use planwright_engine::ledger::LedgerError;
use planwright_engine::upstream::CallEventSender;
use planwright_engine::workbook::EndedCall;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;

use self::listed::ListedNames;
use self::log_level::WantedLevel;
use self::prompts::CompletionCounts;
use self::record::MadeCall;
use self::start::GatewayStart;
use self::subscriptions::SubscriptionCounts;
use super::Agent;
use super::permission::permission_call;
use super::turn::{CallNote, WorkbookHooks};
use crate::catch_panic::catch_panic;
use crate::tool_schema::Arguments;
use crate::toolbox::{Tool, ToolAnswer, ToolContext};
use crate::tools::ExternalTools;

pub use start::NamedServers;

/// How often it is looked at what people accepted of upstream servers.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);

/// A cheap handle; clones share the counts.
#[derive(Debug, Clone)]
pub struct Gateway {
    agent: Agent,
    hooks: WorkbookHooks,
    options: GatewayOptions,
    /// Calls that only read, for the findings.
    research: Arc<AtomicU32>,
    start: Arc<GatewayStart>,
    subscriptions: Arc<SubscriptionCounts>,
    log_level: Arc<WantedLevel>,
    listed: Arc<ListedNames>,
    completions: Arc<CompletionCounts>,
    tool_changes: Arc<Mutex<watch::Sender<()>>>,
}

/// A tool of an upstream server as the agent is offered it.
#[derive(Debug, Clone)]
pub struct GatewayTool {
    pub spec: ToolSpec,
    pub effect: ToolEffect,
}

/// What becomes of a call.
#[derive(Debug)]
pub enum GatewayOutcome {
    /// It was made.
    Answered(ToolAnswer),
    /// It was recorded as a step; this is the answer.
    Planned(Value),
    /// The approved plan made exactly this call before; this is its recorded result.
    Recorded(Value),
    /// It is made after a person permitted it.
    Ask,
}

/// A call that was decided about, and the session as it was then.
#[derive(Debug)]
pub struct DecidedCall {
    snapshot: Snapshot,
    decision: GatewayDecision,
}

impl DecidedCall {
    /// Whether it becomes a step. Recorded calls have an order.
    pub fn is_recorded(&self) -> bool {
        self.decision == GatewayDecision::Record
    }
}

/// Whether a person permitted the call after [`GatewayOutcome::Ask`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permitted {
    NotAsked,
    ByPerson,
}

impl Gateway {
    pub(super) fn new(agent: &Agent, options: GatewayOptions) -> Self {
        let hooks = WorkbookHooks::new(&agent.context);
        let (research, start, subscriptions, log_level, listed, completions, tool_changes) = Default::default();
        Self {
            agent: agent.clone(),
            hooks,
            options,
            research,
            start,
            subscriptions,
            log_level,
            listed,
            completions,
            tool_changes,
        }
    }

    /// The accepted tools of all upstream servers.
    pub fn tools(&self) -> Vec<GatewayTool> {
        let tools = self.agent.upstream().map(|upstream| upstream.tools()).unwrap_or_default();
        tools.iter().map(|tool| GatewayTool { spec: tool.spec().clone(), effect: tool.effect() }).collect()
    }

    /// Whether an upstream server has a tool of this name.
    pub fn has(&self, name: &str) -> bool {
        self.agent.upstream().is_some_and(|upstream| upstream.get(name).is_some())
    }

    /// Whether a call of this tool may be recorded, as far as it is known before the call is decided about.
    pub fn may_record(&self, name: &str, style: Option<PlanStyle>) -> bool {
        let tool = self.agent.upstream().and_then(|upstream| upstream.get(name));
        self.options.may_record(style, tool.map_or(ToolEffect::Changes, |tool| tool.effect()))
    }

    /// Takes in what people accepted since.
    pub async fn refresh(&self) {
        self.agent.context.toolbox.refresh().await;
    }

    /// Becomes ready when the accepted tools change. As long as there is a receiver, one task of the gateway looks.
    pub fn tool_changes(&self) -> watch::Receiver<()> {
        let mut changes = self.tool_changes.lock().unwrap_or_else(PoisonError::into_inner);
        if !changes.is_closed() {
            return changes.subscribe();
        }
        *changes = watch::Sender::default();
        let (gateway, changed, receiver) = (self.clone(), changes.clone(), changes.subscribe());
        tokio::spawn(async move {
            let names = || gateway.tools().into_iter().map(|tool| tool.spec.name).collect::<Vec<_>>();
            let mut known = names();
            while timeout(REFRESH_INTERVAL, changed.closed()).await.is_err() {
                gateway.refresh().await;
                let now = names();
                if now != known {
                    known = now;
                    changed.send_replace(());
                }
            }
        });
        receiver
    }

    /// Ends every upstream server that was started.
    pub async fn stop(&self) {
        self.start.stop();
        if let Some(upstream) = self.agent.upstream() {
            upstream.stop().await;
        }
    }

    /// Decides about a call of a tool.
    pub async fn decide(
        &self,
        session: &SessionIdentity,
        name: &str,
        arguments: &Arguments,
        permitted: Permitted,
    ) -> Result<DecidedCall, Refusal> {
        let tool = self.tool(name)?;
        let snapshot = self.agent.engine().sessions().snapshot(session).await.map_err(LedgerError::into_refusal)?;
        let context = ToolContext::without_lease(session);
        let object = Value::Object(arguments.clone());
        let permission = self.agent.context.decide_permission(tool.as_ref(), context, arguments, &object, None).await?;
        let target = crate::toolbox::ToolTarget::None;
        let call = permission_call(tool.as_ref(), &object, &target);
        let call =
            GatewayCall { tool: call.tool, arguments: call.arguments, effect: call.effect, permission: &permission };
        let decision = match (decide_gateway(self.options, GatewayWork::of(&snapshot), &call), permitted) {
            (GatewayDecision::Ask, Permitted::ByPerson) => GatewayDecision::Run(GatewayReason::Permitted),
            (decision, _) => decision,
        };
        Ok(DecidedCall { snapshot, decision })
    }

    /// Carries out one call as it was decided. `events` gets what the server says and asks while it works.
    pub async fn call(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        name: &str,
        arguments: Arguments,
        decided: DecidedCall,
        events: &CallEventSender,
    ) -> Result<GatewayOutcome, Refusal> {
        let tool = self.tool(name)?;
        let DecidedCall { snapshot, decision } = decided;
        match decision {
            GatewayDecision::Deny(refusal) => {
                self.record_refused(session, by, name, &arguments, &refusal).await;
                Err(refusal)
            }
            GatewayDecision::Ask => Ok(GatewayOutcome::Ask),
            GatewayDecision::Recorded { plan, step } => {
                Ok(GatewayOutcome::Recorded(recorded_result(&snapshot, &plan, &step)))
            }
            GatewayDecision::Record => {
                tool.check(&arguments)?;
                let style = GatewayWork::of(&snapshot).style;
                let planned =
                    ExternalTools::new(self.agent.engine()).record(session, by, style, name, arguments).await?;
                Ok(GatewayOutcome::Planned(planned))
            }
            GatewayDecision::Run(why) => {
                tool.check(&arguments)?;
                let call = self.agent.engine().submitter().next_request();
                let made = MadeCall { session, by, tool: tool.as_ref(), arguments: &arguments, why, call };
                self.record_begun(&made).await?;
                let answer = self.run(&snapshot, &made, events).await;
                self.record_ended(&made, &answer).await?;
                self.note(&snapshot, by, tool.as_ref(), &arguments, &answer).await;
                answer.map(GatewayOutcome::Answered)
            }
        }
    }

    fn tool(&self, name: &str) -> Result<Arc<dyn Tool>, Refusal> {
        let tool = self.agent.upstream().and_then(|upstream| upstream.get(name));
        tool.ok_or_else(|| Refusal::not_found(format!("There is no tool {}.", quoted(name))))
    }

    async fn run(
        &self,
        snapshot: &Snapshot,
        made: &MadeCall<'_>,
        events: &CallEventSender,
    ) -> Result<ToolAnswer, Refusal> {
        let (tool, arguments) = (made.tool, made.arguments.clone());
        let name = tool.spec().name.as_str();
        let workspace = snapshot.session.as_ref().map(|session| session.workspace.clone()).unwrap_or_default();
        let context = ToolContext::without_lease(made.session);
        let context = context.in_workspace(&workspace).named(made.call.as_str());
        let context = context.observed_by(events, self.options.result_bytes);
        let limit = tool.time_limit(&arguments, self.agent.engine().policy().turn.tool_time);
        let ended = timeout(limit, catch_panic(name, tool.call(context, arguments))).await;
        let unknown = |message: String| match tool.effect() {
            ToolEffect::Changes => Ok(ToolAnswer::uncertain(format!("{message} It is not known whether it was done."))),
            ToolEffect::ReadsOnly | ToolEffect::Repeatable => Err(Refusal::new(RefusalCode::Unavailable, message)),
        };
        match ended {
            Ok(Some(answer)) => answer,
            Ok(None) => unknown(format!("{} crashed; see the log.", quoted(name))),
            Err(_) => unknown(format!("{} did not end within {} seconds.", quoted(name), limit.as_secs())),
        }
    }

    /// Writes the result into the workbook, as for a call of this program's agent.
    async fn note(
        &self,
        snapshot: &Snapshot,
        by: &Actor,
        tool: &dyn Tool,
        arguments: &Arguments,
        answer: &Result<ToolAnswer, Refusal>,
    ) {
        let session = snapshot.session.as_deref();
        if self.hooks.workbook_of(session).is_none() {
            return;
        }
        let (call_note, text) = match answer {
            Err(refusal) => (CallNote::Error, serde_json::to_string(refusal).unwrap_or_default()),
            Ok(answer) if answer.failure.is_some() || answer.is_uncertain => {
                (CallNote::Error, answer.failure.clone().unwrap_or_else(|| answer.value.to_string()))
            }
            Ok(answer) if tool.effect() == ToolEffect::ReadsOnly => {
                let count = self.research.fetch_add(1, Ordering::Relaxed) + 1;
                (CallNote::Research(count), answer.value.to_string())
            }
            Ok(answer) => (CallNote::Change, answer.value.to_string()),
        };
        let arguments = Value::Object(arguments.clone()).to_string();
        let ended = EndedCall { tool: &tool.spec().name, arguments: &arguments, answer: &text };
        let request = self.agent.engine().submitter().request(&snapshot.identity, by);
        self.hooks.note(session, request, call_note, ended).await;
    }
}

fn recorded_result(snapshot: &Snapshot, plan: &PlanId, step: &StepId) -> Value {
    let run = snapshot.plan(plan).and_then(|plan| plan.execution.as_ref()).and_then(|execution| execution.step(step));
    let note = run.and_then(|run| run.note.clone()).unwrap_or_default();
    let result = serde_json::from_str(&note).unwrap_or(Value::String(note));
    serde_json::json!({ "recorded": true, "step_id": step, "result": result })
}
