//! Runs of the agent by itself. A driver in this process puts one tick after another into the session's own queue, so that
//! ticks and inputs of people never overlap.

mod driver;
mod heartbeat;
mod schedules;

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::auto::{AutoCommand, AutoRun, AutoState, RunState, StartTarget};
use planwright_core::ids::RunId;
use planwright_core::prompt::{opening_text, tick_text};
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::{SessionIdentity, TransportChat};
use planwright_engine::ledger::{LedgerError, LedgerResult};

use super::agent_context::AgentContext;
use super::execution::Executions;
use super::turn::{Begins, Begun, TurnMessage, Turns};
use crate::session::input::ChatLocation;
use crate::session::outcome::{Answer, Outcome};
use crate::session::progress::Progress;
use crate::session::work::{InputContext, Running};

pub(super) use schedules::ScheduleLoop;

/// Starts, ticks and ends runs, as inputs of their session.
#[derive(Debug, Clone)]
pub(super) struct Runs {
    agent: Arc<AgentContext>,
    turns: Turns,
    executions: Executions,
}

impl Runs {
    pub(super) fn new(agent: &Arc<AgentContext>, turns: Turns, executions: Executions) -> Self {
        Self { agent: Arc::clone(agent), turns, executions }
    }

    pub(super) async fn state(&self, session: &SessionIdentity) -> LedgerResult<AutoState> {
        self.interrupt_dead(session).await?;
        self.agent.engine().auto().state(session).await
    }

    pub(super) async fn start(&self, target: StartTarget, context: &InputContext) -> LedgerResult<AutoRun> {
        let driver = self.agent.options.owner.clone();
        self.interrupt_dead(context.session()).await?;
        self.begin(AutoCommand::Start { target, driver }, context).await
    }

    pub(super) async fn resume(&self, run: &RunId, context: &InputContext) -> LedgerResult<AutoRun> {
        let driver = self.agent.options.owner.clone();
        self.interrupt_dead(context.session()).await?;
        self.begin(AutoCommand::Resume { run: run.clone(), driver }, context).await
    }

    async fn begin(&self, command: AutoCommand, context: &InputContext) -> LedgerResult<AutoRun> {
        let (session, by) = (context.session(), context.by());
        let _starting = self.agent.runs.starting.read().await;
        let begun = context.engine(self.agent.engine()).auto().begin(session, by, command).await?;
        let Some(run) = begun else {
            return Err(Refusal::conflict("This request was sent before with another content.").into());
        };
        // A request that is sent again finds its run, which may be over or driven already.
        if run.is_running() {
            driver::drive(&self.agent, run.id().clone(), context.request.location.clone());
        }
        Ok(run)
    }

    /// Ends a run or all of them. The turn in flight ends first, so that nothing of the run happens after the answer.
    pub(super) async fn stop(
        &self,
        run: Option<RunId>,
        context: &InputContext,
        running: &Running,
    ) -> LedgerResult<Vec<RunId>> {
        let (session, by) = (context.session(), context.by());
        let open = self.turns.open_turn(session).await?;
        let in_flight = open.as_ref().and_then(|open| open.purpose.run()).map(|context| context.run_id.clone());
        let ended = context.engine(self.agent.engine()).auto().stop(session, by, run.clone()).await?;
        if in_flight.is_some_and(|own| run.is_none_or(|run| run == own)) {
            running.stop().await;
        }
        self.agent.runs.wake(session);
        Ok(ended)
    }

    /// One turn of a run, unless it does not run any more or waits for a person.
    pub(super) async fn tick(&self, run: &RunId, context: &InputContext) -> LedgerResult<Outcome> {
        let session = context.session();
        self.agent.runs.forget_wake(run);
        let state = self.agent.engine().auto().state(session).await?;
        let Some(run) = state.run(run).filter(|run| run.is_running()) else { return Ok(Outcome::NothingToDo) };
        match Box::pin(self.turns.finish_first(context, &self.executions)).await {
            Ok(_) => {}
            Err(error) if error.code() == RefusalCode::WrongStatus => return Ok(Outcome::NothingToDo),
            Err(error) => return Err(error),
        }
        let text = self.tick_message(&state, run).await?;
        let request = self.agent.engine().submitter().next_request();
        let message = TurnMessage { request, text: &text, begins: Begins::Run(run.context.clone()) };
        let prepared = self.turns.prepare(&self.turns.snapshot(session).await?, message).await?;
        let by = Actor::system(session.channel.as_str());
        let begun = match Box::pin(self.turns.begin_turn(&by, &prepared, context, &self.executions)).await {
            Ok(begun) => begun,
            // It was stopped or paused since, or a plan or a permission waits for a person.
            Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::WrongStatus => {
                return Ok(Outcome::NothingToDo);
            }
            Err(error) => return Err(error),
        };
        let outcome = match begun {
            Begun::New(mut turn) => Box::pin(turn.finish_turn()).await?,
            Begun::Replayed { turn, seq } => self.turns.outcome_of(&turn, seq, context).await?,
        };
        let outcome = Box::pin(self.executions.approve_by_rule(outcome, context)).await?;
        // Those who watch the session read the answer here; no person waits for it.
        context.progress.send(Progress::Finished(Box::new(outcome.clone())));
        Ok(Answer::from(outcome).into())
    }

    /// The message that begins a turn of the run. The first one of its conversation tells what a run begins with.
    async fn tick_message(&self, state: &AutoState, run: &AutoRun) -> LedgerResult<String> {
        let mut text = tick_text(state, run);
        if run.context.has_own_conversation() {
            let session = self.turns.brief(&run.context.session).await?;
            if let Some(opening) = opening_text(state, run, session.as_deref()) {
                text.push_str(&format!("\n\n{opening}"));
            }
        }
        Ok(text)
    }

    /// Starts the runs of the session's schedules that are due.
    pub(super) async fn fire_schedules(&self, context: &InputContext) -> LedgerResult<Outcome> {
        let session = context.session();
        let now = self.agent.engine().now();
        let state = self.agent.engine().auto().state(session).await?;
        let due = state.schedules.iter().filter_map(|schedule| Some((&schedule.id, schedule.next_at?)));
        let due: Vec<_> = due.filter(|(_, at)| *at <= now).map(|(id, at)| (id.clone(), at)).collect();
        let by = Actor::system(session.channel.as_str());
        let mut started = false;
        for (schedule, window) in due {
            let driver = self.agent.options.owner.clone();
            let command = AutoCommand::Fire { schedule, window, driver };
            let _starting = self.agent.runs.starting.read().await;
            match self.agent.engine().auto().begin(session, &by, command).await {
                Ok(Some(run)) => {
                    started = true;
                    driver::drive(&self.agent, run.id().clone(), context.request.location.clone());
                }
                // It could not start now and is tried again later.
                Ok(None) => {}
                // Another process was faster.
                Err(LedgerError::Refused(refusal)) if refusal.code == RefusalCode::Conflict => {}
                Err(error) => return Err(error),
            }
        }
        Ok(if started { Answer::text(session, "Scheduled runs are started.").into() } else { Outcome::NothingToDo })
    }

    /// Notes which runs of the session were interrupted because their process ended.
    pub(super) async fn interrupt_dead(&self, session: &SessionIdentity) -> LedgerResult<()> {
        interrupt_dead(&self.agent, session).await
    }
}

/// Notes which runs of the session were interrupted because their process ended.
pub(super) async fn interrupt_dead(agent: &AgentContext, session: &SessionIdentity) -> LedgerResult<()> {
    if dead_runs(agent, session).await?.is_empty() {
        return Ok(());
    }
    // A run of this process may have been stored and not have its driver yet.
    let _none_starts = agent.runs.starting.write().await;
    for run in dead_runs(agent, session).await? {
        agent.engine().auto().interrupt(session, &run).await?;
    }
    Ok(())
}

async fn dead_runs(agent: &AgentContext, session: &SessionIdentity) -> LedgerResult<Vec<RunId>> {
    let Some(stored) = agent.engine().ledger().session(session).await? else { return Ok(Vec::new()) };
    let Some(state) = stored.session.auto.as_deref() else { return Ok(Vec::new()) };
    let (mut dead, in_turn) = (Vec::new(), stored.session.turn.is_some());
    for run in state.runs.iter().filter(|run| run.state == RunState::Running) {
        let is_dead = if run.driver == agent.options.owner {
            !in_turn && !agent.runs.drives(run.id())
        } else {
            // A turn in flight belongs to a process, which ends it or whose work is taken over, unless it is known to be gone.
            (agent.options.is_gone)(&run.driver) || (!in_turn && heartbeat::is_missing(agent, run).await?)
        };
        dead.extend(is_dead.then(|| run.id().clone()));
    }
    Ok(dead)
}

/// Where the answers of a run without a chat go: to those who follow the session.
fn server_location(session: &SessionIdentity) -> ChatLocation {
    ChatLocation::new(TransportChat(format!("server:{session}")), session.clone())
}
