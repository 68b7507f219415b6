//! Goals, tasks, the diary, schedules and runs of sessions. The ticks of a run are made by the agent.

use std::sync::Arc;

use planwright_core::actor::Actor;
use planwright_core::auto::{AutoCommand, AutoRun, AutoState, Goal, GoalStatus, Schedule, Task, TaskStatus};
use planwright_core::command::Command;
use planwright_core::event::{AutoEvent, Event};
use planwright_core::ids::{GoalId, RunId, ScheduleId, TaskId};
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;

use crate::ledger::{Committed, LedgerResult};
use crate::submitter::{SubmitRequest, Submitter};

#[derive(Debug, Clone)]
pub struct AutoRuns {
    submitter: Submitter,
}

impl AutoRuns {
    pub fn new(submitter: Submitter) -> Self {
        Self { submitter }
    }

    /// What the session has of all this. A session without any has an empty state.
    pub async fn state(&self, session: &SessionIdentity) -> LedgerResult<AutoState> {
        let stored = self.submitter.ledger().session(session).await?;
        let stored = stored.ok_or_else(|| Refusal::not_found(format!("There is no session {session}.")))?;
        Ok(stored.session.auto.map(|state| *state).unwrap_or_default())
    }

    pub async fn add_goal(&self, session: &SessionIdentity, by: &Actor, title: String) -> LedgerResult<Goal> {
        let committed = self.submit(session, by, AutoCommand::AddGoal { title }).await?;
        let id = find(&committed, |event| match event {
            AutoEvent::GoalAdded { goal, .. } => Some(goal.clone()),
            _ => None,
        })?;
        Ok(state_of(&committed).goal(&id).cloned().ok_or_else(other_request)?)
    }

    pub async fn change_goal(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        goal: GoalId,
        status: GoalStatus,
        note: Option<String>,
    ) -> LedgerResult<Goal> {
        let committed = self.submit(session, by, AutoCommand::ChangeGoal { goal: goal.clone(), status, note }).await?;
        Ok(state_of(&committed).goal(&goal).cloned().ok_or_else(other_request)?)
    }

    pub async fn add_task(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        title: String,
        goal: Option<GoalId>,
    ) -> LedgerResult<Task> {
        let committed = self.submit(session, by, AutoCommand::AddTask { title, goal }).await?;
        let id = find(&committed, |event| match event {
            AutoEvent::TaskAdded { task, .. } => Some(task.clone()),
            _ => None,
        })?;
        Ok(state_of(&committed).task(&id).cloned().ok_or_else(other_request)?)
    }

    pub async fn change_task(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        task: TaskId,
        status: TaskStatus,
        note: Option<String>,
    ) -> LedgerResult<Task> {
        let committed = self.submit(session, by, AutoCommand::ChangeTask { task: task.clone(), status, note }).await?;
        Ok(state_of(&committed).task(&task).cloned().ok_or_else(other_request)?)
    }

    pub async fn write_diary(&self, session: &SessionIdentity, by: &Actor, text: String) -> LedgerResult<()> {
        self.submit(session, by, AutoCommand::WriteDiary { text, run: None }).await.map(drop)
    }

    /// Makes a schedule, or changes or deletes one. `None` if it is deleted.
    pub async fn schedule(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        command: AutoCommand,
    ) -> LedgerResult<Option<Schedule>> {
        let committed = self.submit(session, by, command).await?;
        let id: ScheduleId = find(&committed, |event| match event {
            AutoEvent::ScheduleAdded { schedule, .. }
            | AutoEvent::SchedulePaused { schedule }
            | AutoEvent::ScheduleResumed { schedule, .. }
            | AutoEvent::ScheduleDeleted { schedule } => Some(schedule.clone()),
            _ => None,
        })?;
        Ok(state_of(&committed).schedule(&id).cloned())
    }

    /// Starts a run or lets one continue. The agent makes its ticks.
    pub async fn begin(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        command: AutoCommand,
    ) -> LedgerResult<Option<AutoRun>> {
        let committed = self.submit(session, by, command).await?;
        let id: Option<RunId> = committed.events.iter().filter_map(Event::auto_event).find_map(|event| match event {
            AutoEvent::RunStarted { context, .. } => Some(context.run_id.clone()),
            AutoEvent::RunResumed { run, .. } => Some(run.clone()),
            _ => None,
        });
        Ok(id.and_then(|id| state_of(&committed).run(&id).cloned()))
    }

    /// Ends a run, or all runs of the session. Returns those that ended.
    pub async fn stop(&self, session: &SessionIdentity, by: &Actor, run: Option<RunId>) -> LedgerResult<Vec<RunId>> {
        let committed = self.submit(session, by, AutoCommand::Stop { run }).await?;
        let ended = committed.events.iter().filter_map(Event::auto_event).filter_map(|event| match event {
            AutoEvent::RunEnded { run, .. } => Some(run.clone()),
            _ => None,
        });
        Ok(ended.collect())
    }

    /// Notes that the process of a run ended.
    pub async fn interrupt(&self, session: &SessionIdentity, run: &RunId) -> LedgerResult<()> {
        let by = Actor::system(session.channel.as_str());
        self.submit(session, &by, AutoCommand::Interrupt { run: run.clone() }).await.map(drop)
    }

    pub async fn submit(&self, session: &SessionIdentity, by: &Actor, command: AutoCommand) -> LedgerResult<Committed> {
        self.submitter.submit(session, by, Command::Auto(command)).await
    }

    pub async fn submit_as(&self, request: SubmitRequest<'_>, command: AutoCommand) -> LedgerResult<Committed> {
        self.submitter.submit_as(request, Command::Auto(command)).await
    }
}

/// The state after the commit.
pub fn state_of(committed: &Committed) -> Arc<AutoState> {
    let state = committed.snapshot.session.as_ref().and_then(|session| session.auto.as_deref());
    Arc::new(state.cloned().unwrap_or_default())
}

fn find<T>(committed: &Committed, wanted: impl Fn(&AutoEvent) -> Option<T>) -> LedgerResult<T> {
    committed.events.iter().filter_map(Event::auto_event).find_map(wanted).ok_or_else(|| other_request().into())
}

/// The request was carried out before, as another command.
fn other_request() -> Refusal {
    Refusal::conflict("This request was made before, for something else.")
}
