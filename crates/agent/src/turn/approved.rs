//! Whether a plan may be worked on: checked before its first step and after every take-over.

use planwright_core::actor::Actor;
use planwright_core::approval::Require;
use planwright_core::command::{Command, ExecutionCommand, TurnCommand};
use planwright_core::plan::{Plan, PlanStatus};
use planwright_core::refusal::Refusal;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::OpenTurn;
use planwright_engine::engine::Engine;
use planwright_engine::ledger::{LedgerError, LedgerResult};

/// Refuses a plan whose approval has ended or, where the policy asks for one, has no valid signature. An execution of it is
/// paused, so that it waits for a person.
pub(crate) async fn check(engine: &Engine, snapshot: &Snapshot, plan: &Plan) -> LedgerResult<()> {
    let policy = engine.approvals().policy_in(&plan.session).await?;
    let mut permitted = plan.check_approved(&policy.approval, &policy.approvers, engine.now());
    let needed = plan.requirement(&policy.approval);
    if permitted.is_ok() && needed == Require::Verified {
        permitted = check_stored(engine, plan).await?;
    }
    if permitted.is_ok() {
        permitted = check_not_restored(snapshot.opened()?, plan);
    }
    let Err(refusal) = permitted else { return Ok(()) };
    let by = Actor::system(plan.session.channel.as_str());
    if snapshot.open_turn().is_some_and(|open| open.purpose.plan() == Some(&plan.id)) {
        engine.submit(&plan.session, &by, Command::Turn(TurnCommand::Stop)).await?;
    }
    let running = plan.execution.as_ref().filter(|_| plan.status == PlanStatus::Executing);
    if let Some(running) = running.filter(|running| running.paused_since().is_none()) {
        let pause = ExecutionCommand::Pause { plan: plan.id.clone(), execution: running.id.clone() };
        match engine.submit(&plan.session, &by, Command::Execution(pause)).await {
            Ok(_) | Err(LedgerError::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Err(refusal.into())
}

/// Refuses to continue a turn that a process left open, if it works on a plan that may not be worked on any more.
pub(crate) async fn check_open_turn(engine: &Engine, session: &SessionIdentity, open: &OpenTurn) -> LedgerResult<()> {
    match open.purpose.plan() {
        Some(plan) => {
            let snapshot = engine.ledger().snapshot(session, Some(plan)).await?;
            check(engine, &snapshot, snapshot.named(plan)?).await
        }
        None => Ok(()),
    }
}

/// An approval that came with an archive is history.
fn check_not_restored(session: &Session, plan: &Plan) -> Result<(), Refusal> {
    if !session.is_history(plan) {
        return Ok(());
    }
    let message = format!(
        "Nothing of plan {} was run: it was restored from an archive, and its approval is history. `/plan resume {}` continues it.",
        plan.number, plan.number
    );
    Err(Refusal::policy_denied(message))
}

/// A signature covers the plan. That it was not carried out before, and that nothing else was put in its place, is what the
/// journal says.
async fn check_stored(engine: &Engine, plan: &Plan) -> LedgerResult<Result<(), Refusal>> {
    // In a box, because it is large and few plans need it.
    let whole = Box::pin(engine.verifier().verify_one(&plan.session)).await?;
    let found = match whole {
        Some(report) if report.is_whole() => return Ok(Ok(())),
        Some(report) => report.damage.unwrap_or_else(|| "what is stored is not what the journal says".to_owned()),
        None => "the session is gone".to_owned(),
    };
    let message = format!("Nothing of plan {} was run: {found}. `planwright verify` tells more.", plan.number);
    Ok(Err(Refusal::policy_denied(message)))
}
