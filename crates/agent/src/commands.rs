//! Slash commands, the same on every channel. The answers are Markdown.
//!
//! - `plans`: `/plan …` and `/plans`
//! - `decisions`: approve, reject, revise, cancel and resume a plan, also for inputs that are no slash commands
//! - `overview`: `/status`, `/sessions` and `/tools`
//! - `upstream`: `/tools accept`
//! - `workbook`: `/plan files`, the workbook of `/plan <text>`, and documents that a person writes
//! - `compact`: `/compact`
//! - `memory`: `/memory …`
//! - `workspace`: `/project`, `/changes` and `/undo`
//! - `auto`: `/auto`, `/goal`, `/task`, `/schedule` and `/diary`
//!
//! `/allow`, `/deny` and `/answer` are answers, which `asks` takes.

mod auto;
mod compact;
mod decisions;
mod memory;
mod overview;
mod plans;
mod upstream;
mod workbook;
mod workspace;

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::ask::Grant;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::event::{Event, PlanEvent};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{self, SlashCommand, ToolsCommand};
use planwright_core::turn::ShownPlan;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{LedgerError, LedgerResult};

use super::agent_context::AgentContext;
use super::asks::Asks;
use super::chats::Chats;
use super::execution::Executions;
use super::leases::Leases;
use super::runs::Runs;
use super::turn::Turns;
use crate::session::outcome::{Answer, PlanCard};
use crate::session::work::{InputContext, Running};

use auto::AutoCommands;
use memory::MemoryCommands;
use overview::Overview;
use workspace::WorkspaceCommands;

pub(super) use decisions::{Decisions, REVISION, Resuming};
pub(super) use plans::{Leave, PlanCommands};
pub(super) use workbook::write as write_document;

#[derive(Debug, Clone)]
pub(super) struct Commands {
    agent: Arc<AgentContext>,
    leases: Leases,
    turns: Turns,
    executions: Executions,
    chats: Chats,
    overview: Overview,
    memory: MemoryCommands,
    pub(super) auto: AutoCommands,
    pub(super) workspace: WorkspaceCommands,
    pub(super) asks: Asks,
    pub(super) decisions: Decisions,
    pub(super) plans: PlanCommands,
}

impl Commands {
    pub(super) fn new(
        agent: &Arc<AgentContext>,
        leases: Leases,
        turns: Turns,
        executions: Executions,
        runs: Runs,
    ) -> Self {
        let asks = Asks::new(agent, turns.clone(), executions.clone());
        let decisions = Decisions::new(agent, turns.requests.clone(), executions.clone());
        let plans = PlanCommands::new(agent, turns.requests.clone(), executions.clone(), decisions.clone());
        let (chats, overview) = (Chats::new(agent), Overview::new(agent, turns.clone()));
        let workspace = WorkspaceCommands::new(agent, leases.clone());
        let (memory, auto) = (MemoryCommands::new(agent), AutoCommands::new(agent, runs));
        let agent = Arc::clone(agent);
        Self { agent, leases, turns, executions, chats, overview, memory, auto, workspace, asks, decisions, plans }
    }

    pub(super) async fn run(&self, command: SlashCommand, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        tracing::debug!(event = "command", command = command.name());
        refusal_as_answer(session, self.carry_out(command, context).await)
    }

    async fn carry_out(&self, command: SlashCommand, context: &InputContext) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        match command {
            SlashCommand::Plan(command) => Box::pin(self.plans.run(command, context)).await,
            SlashCommand::Plans => self.plans.list(session).await,
            SlashCommand::New => {
                // The key of the new session is made from the request's name, so that sent again it is the same one.
                let new = context.engine(self.agent.engine()).sessions().new_identity(session.channel);
                let location = self.chats.enter(&context.request.location.transport, &new, by).await?;
                // The person stays in the folder they work in.
                let workspace = self.agent.engine().sessions().get(session).await?.workspace;
                if !workspace.is_own() {
                    self.agent.engine().sessions().choose_workspace(&location.session, by, workspace).await?;
                }
                let reply =
                    format!("New session `{}`. `/switch {}` goes back.", location.session, session.conversation);
                Ok(Answer::text(&location.session, reply))
            }
            SlashCommand::Switch { key } => {
                let session = SessionIdentity::new(session.channel, key);
                self.agent.engine().sessions().get(&session).await?;
                let location = self.chats.enter(&context.request.location.transport, &session, by).await?;
                self.overview.status(&location.session).await
            }
            SlashCommand::Sessions => self.overview.sessions(session).await,
            SlashCommand::Reset => self.reset(context, &Running::NOTHING).await,
            SlashCommand::Compact => compact::run(&self.agent, &self.leases, &self.turns, context).await,
            SlashCommand::Stop => self.stop(context, &Running::NOTHING).await,
            SlashCommand::Allow { code, grant, note } => {
                Box::pin(self.asks.allow(code.as_deref(), grant.unwrap_or(Grant::Once), note, context)).await
            }
            SlashCommand::Deny { code, note } => Box::pin(self.asks.deny(code.as_deref(), note, context)).await,
            SlashCommand::Answer { code, text } => Box::pin(self.asks.answer_named(&code, &text, context)).await,
            SlashCommand::Status => self.overview.status(session).await,
            SlashCommand::Tools(ToolsCommand::List) => self.overview.tools(session).await,
            SlashCommand::Tools(ToolsCommand::Accept { server, code }) => {
                self.overview.accept_tools(&server, code.as_deref(), context).await
            }
            SlashCommand::Help { topic } => Ok(Answer::text(session, slash::help(topic.as_deref()))),
            SlashCommand::Project(command) => self.workspace.project(command, context).await,
            SlashCommand::Changes(selection) => self.workspace.changes(selection, session).await,
            SlashCommand::Undo(selection) => self.workspace.undo_selected(selection, context).await,
            SlashCommand::Memory(command) => self.memory.run(command, context).await,
            SlashCommand::Auto(command) => self.auto.run(command, context).await,
            SlashCommand::Goal(command) => self.auto.goal(command, context).await,
            SlashCommand::Goals => self.auto.goals(session).await,
            SlashCommand::Task(command) => self.auto.task(command, context).await,
            SlashCommand::Tasks => self.auto.tasks(session).await,
            SlashCommand::Schedule(command) => self.auto.schedule(command, context).await,
            SlashCommand::Diary { text } => self.auto.diary(text, context).await,
        }
    }

    pub(super) async fn stop(&self, context: &InputContext, running: &Running) -> LedgerResult<Answer> {
        let session = context.session();
        let stopped = self.executions.stop_once(context, running).await? | self.auto.stop_running(context).await?;
        Ok(Answer::text(session, if stopped { "Stopped." } else { "There is nothing to stop." }))
    }

    pub(super) async fn reset(&self, context: &InputContext, running: &Running) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        // A reset that was carried out before does not stop what was begun since.
        let events = match context.find_committed(self.agent.engine()).await? {
            Some(before) => before.events,
            None => {
                self.executions.stop_session(session, by, running).await?;
                context.engine(self.agent.engine()).sessions().reset(session, by).await?.events
            }
        };
        let is_cancellation = |event: &Event| matches!(event, Event::Plan { event: PlanEvent::Cancelled { .. }, .. });
        let plan = match events.iter().any(is_cancellation) {
            true => " The active plan is cancelled.",
            false => "",
        };
        let reply = format!("The conversation is reset: a new one begins here. Plan work is off.{plan}");
        Ok(Answer::text(session, reply))
    }

    /// Deletes the session with its journal, plans, memories and files. What a person promoted to global stays. Transports that were in it return to the session before.
    pub(super) async fn delete_session(&self, context: &InputContext) -> LedgerResult<Answer> {
        let session = context.session();
        // Fails before anything is removed if the session does not exist.
        let clients = self.agent.engine().sessions().get(session).await?.clients;
        let approvals = self.agent.engine().approvals();
        approvals.check_separate_in(context.by(), session).await?;
        // Its agents still run, and a session of this name may be opened again.
        approvals.keep_clients(context.by(), session, clients).await?;
        self.executions.stop_session(session, context.by(), &Running::NOTHING).await?;
        let lease = self.leases.hold(context).await?;
        // The files are removed first: if the rest fails, the session still exists and can be deleted again.
        let deleted = match self.agent.files.remove_all(session).await {
            Ok(()) => self.agent.engine().ledger().delete_session(lease.lease()).await,
            Err(refusal) => Err(refusal.into()),
        };
        self.agent.conversations.forget(session);
        self.agent.engine().forget_journal(session);
        self.leases.release(&lease).await;
        deleted.map(|()| Answer::text(session, format!("Session {session} is deleted.")))
    }
}

/// Records that the person sees this version of a plan now. What the agent may have asked for does not count as seen by a person: the
/// refusal says why.
async fn show(
    engine: &Engine,
    session: &SessionIdentity,
    by: &Actor,
    card: &PlanCard,
) -> LedgerResult<Result<(), Refusal>> {
    let shown = ShownPlan { plan: card.plan_id.clone(), digest: card.digest };
    match engine.submit(session, by, Command::Turn(TurnCommand::Show(shown))).await {
        Ok(_) => Ok(Ok(())),
        Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::PolicyDenied => Ok(Err(refusal)),
        Err(error) => Err(error),
    }
}

/// A command that is refused is answered; only trouble with the store is an error.
pub(super) fn refusal_as_answer(session: &SessionIdentity, outcome: LedgerResult<Answer>) -> LedgerResult<Answer> {
    match outcome {
        Err(error @ (LedgerError::Refused(_) | LedgerError::Fenced(_))) => {
            let refusal = error.into_refusal();
            Ok(Answer::refusal(session, refusal.code, refusal_text(&refusal)))
        }
        outcome => outcome,
    }
}

/// A refusal in words for a person, with everything that is wrong.
fn refusal_text(refusal: &Refusal) -> String {
    let problems = refusal.problems.iter().map(|problem| format!("\n- {}: {}", problem.path, problem.message));
    std::iter::once(refusal.message.clone()).chain(problems).collect()
}
