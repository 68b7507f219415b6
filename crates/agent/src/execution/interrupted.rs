//! Executions that another process left or still runs: resumed or stopped here.

use planwright_core::actor::Actor;
use planwright_core::command::{Command, ExecutionCommand, TurnCommand};
use planwright_core::ids::{ExecutionId, PlanId};
use planwright_core::plan::{PlanStatus, PlanStyle};
use planwright_core::session::SessionIdentity;
use planwright_core::turn::OpenTurn;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{Leasing, LedgerError, LedgerResult};
use planwright_engine::submitter::SubmitRequest;

use super::{Executions, document, summary, uncertain};
use crate::leases::is_over_or_taken;
use crate::session::outcome::Answer;
use crate::session::progress::Progress;
use crate::session::work::{InputContext, Running};

/// Resumes the execution of a process that ended, if the session has one.
pub(super) async fn resume(executions: &Executions, context: &InputContext) -> LedgerResult<Option<Answer>> {
    let session = context.session();
    let stored = executions.agent.engine().sessions().get(session).await?;
    let (active, turn) = (stored.plan_mode.active_plan, stored.turn);
    for plan in executions.agent.engine().plans().executing(session).await? {
        let owed = match plan.style() {
            PlanStyle::Document => active.as_ref() == Some(&plan.id) && document::is_to_begin(&plan),
            PlanStyle::Collect | PlanStyle::Build => {
                let waits = plan.execution.as_ref().is_some_and(|execution| uncertain(&execution.steps).is_some());
                let paused = plan.is_paused();
                // The turn of a step that was reported still has to end.
                let ends = turn.as_ref().is_some_and(|open| open.purpose.plan() == Some(&plan.id));
                !waits && !plan.waits_for_client() && (!paused || ends) && executions.check_able(&plan).is_ok()
            }
        };
        // Planwright makes the recorded calls of every plan itself, as far as it has their tools.
        let recorded = plan.style() == PlanStyle::Collect;
        let ours = owed && (recorded || executions.agent.engine().history().external_author(&plan).await?.is_none());
        if ours && executions.check_author(&plan).await.is_ok() {
            return Ok(Some(Box::pin(executions.carry_out(&plan.id, context)).await?));
        }
    }
    Ok(None)
}

/// Stops the work in a session, in whichever process it runs. Returns whether there was any.
pub(super) async fn stop_session(
    engine: &Engine,
    session: &SessionIdentity,
    by: &Actor,
    running: &Running,
) -> LedgerResult<bool> {
    // Work that only waits for the lease waits for another process, whose work is stopped.
    let mut stopped = !running.is_nothing();
    if !running.holds_lease() {
        let committed = engine.submit(session, by, Command::Turn(TurnCommand::Stop)).await?;
        stopped |= !committed.events.is_empty();
        stopped |= stop_executions(engine, session, by).await?;
    }
    running.stop().await;
    Ok(stopped)
}

/// Stops the work for a request that may arrive twice: only its first arrival stops what runs.
pub(super) async fn stop_once(engine: &Engine, context: &InputContext, running: &Running) -> LedgerResult<bool> {
    if context.find_committed(engine).await?.is_some() {
        return Ok(true);
    }
    let (session, by) = (context.session(), context.by());
    let mut stopped = !running.is_nothing();
    if running.holds_lease() {
        running.stop_for(context.request.id.as_ref()).await;
        return Ok(stopped);
    }
    let committed = context.engine(engine).submit(session, by, Command::Turn(TurnCommand::Stop)).await?;
    let is_written = !committed.events.is_empty();
    // One entry has the name of the request.
    let named = if is_written { engine.clone() } else { context.engine(engine) };
    stopped |= is_written | stop_executions(&named, session, by).await?;
    running.stop().await;
    Ok(stopped)
}

/// Ends the executions of other processes. A step that is in progress there becomes uncertain.
async fn stop_executions(engine: &Engine, session: &SessionIdentity, by: &Actor) -> LedgerResult<bool> {
    let mut stopped = false;
    for plan in engine.plans().executing(session).await? {
        let Some(running) = &plan.execution else { continue };
        let (id, execution) = (plan.id.clone(), running.id.clone());
        let command = match plan.style() {
            // Its text is worked on in the conversation, and a later message may continue it. While a person looks at a
            // step, there is no work that a message continues, and the stop ends the execution.
            PlanStyle::Document if running.step_pause().is_none() => ExecutionCommand::Pause { plan: id, execution },
            PlanStyle::Document | PlanStyle::Collect | PlanStyle::Build => {
                ExecutionCommand::Finish { plan: id, execution, ended: Vec::new() }
            }
        };
        match engine.submit(session, by, Command::Execution(command)).await {
            Ok(committed) => stopped |= !committed.events.is_empty(),
            Err(error) if is_over_or_taken(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(stopped)
}

/// Resumes an execution that was interrupted in the middle of a step, before anything else happens in the session. If this
/// process cannot carry it out, the turn of the step ends, so that it does not block the session.
pub(super) async fn finish(
    executions: &Executions,
    open: &OpenTurn,
    (plan, execution): (&PlanId, &ExecutionId),
    context: &InputContext,
) -> LedgerResult<()> {
    let session = context.session();
    let by = Actor::system(session.channel.as_str());
    let found = executions.agent.engine().plans().get(session, plan).await?;
    let running = found.execution.as_ref().filter(|_| found.status == PlanStatus::Executing);
    let able = match executions.check_author(&found).await {
        Err(LedgerError::Refused(refusal)) => Err(refusal),
        Err(error) => return Err(error),
        Ok(()) => executions.check_able(&found),
    };
    if running.is_some_and(|running| running.id == *execution) && able.is_ok() {
        let plan = Box::pin(executions.execute(&by, found, context)).await?;
        context.progress.send(Progress::Said(summary(&plan)));
        return Ok(());
    }
    let resume = Command::Turn(TurnCommand::Resume { turn: open.id.clone() });
    let held = match executions.leases.take(session, &by, &resume, context).await {
        Ok((_, held)) => held,
        // The process that held the session ended it.
        Err(error) if is_over_or_taken(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    let (id, leasing) = (executions.agent.engine().submitter().next_request(), Leasing::Release(held.lease().clone()));
    held.stop_renewing();
    let request = SubmitRequest { session, by: &by, id, leasing, turn: None };
    executions.agent.engine().submitter().submit_as(request, Command::Turn(TurnCommand::Stop)).await?;
    if let Err(unable) = able {
        let message = format!("Plan {} cannot continue here: {}", found.number, unable.message);
        context.progress.send(Progress::Said(message));
    }
    Ok(())
}
