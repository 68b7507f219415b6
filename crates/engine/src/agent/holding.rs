//! Holding a session over all processes: the lease is taken with the first thing that is written, kept alive while the
//! work lasts, and given back with the last.

use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::ids::{ExecutionId, PlanId, RequestId, TurnId};
use planwright_core::plan::PlanStatus;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::leaving::left;
use super::progress::{Progress, Watcher};
use crate::engine::Asking;
use crate::ledger::{Committed, Lease, Leasing, Ledger, LedgerError, LedgerResult};

/// How long to wait before asking again for a session that somebody else holds.
const FIRST_WAIT: Duration = Duration::from_millis(20);
const LONGEST_WAIT: Duration = Duration::from_millis(500);
/// How often it is looked whether somebody ended the turn.
const LOOK: Duration = Duration::from_secs(1);

/// A lease that is renewed until it is dropped. One that is dropped without being let go runs out by itself.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) lease: Lease,
    /// Set when somebody else has the session, or ended what it is held for.
    pub(super) lost: CancellationToken,
    renewing: JoinHandle<()>,
}

impl Held {
    /// What is about to be given back is not taken again behind its back.
    pub(super) fn stop_renewing(&self) {
        self.renewing.abort();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.stop_renewing();
    }
}

impl Agent {
    /// Submits the command as soon as nobody else holds the session, and holds it from then on. A stop ends the waiting.
    pub(super) async fn take(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        command: &Command,
        stop: &CancellationToken,
        watcher: &Watcher,
    ) -> LedgerResult<(Committed, Held)> {
        self.take_as(self.engine().next_request(), session, by, command, stop, watcher).await
    }

    /// The same for a request that has a name.
    pub(super) async fn take_as(
        &self,
        request: RequestId,
        session: &SessionIdentity,
        by: &Actor,
        command: &Command,
        stop: &CancellationToken,
        watcher: &Watcher,
    ) -> LedgerResult<(Committed, Held)> {
        let mut wait = FIRST_WAIT;
        loop {
            if self.shared.leaving.is_soon() {
                return Err(left());
            }
            match self.try_take(request.clone(), session, by, command).await {
                // Whoever ended without giving the session back is not waited for.
                Err(LedgerError::Leased(theirs)) if (self.shared.options.is_gone)(&theirs.owner) => {
                    self.engine().ledger().release_lease(&theirs).await?;
                    tracing::info!(
                        session_identity = %session,
                        event = "lease_taken_over",
                        left_by = theirs.owner,
                        "a session was taken over from a process that ended",
                    );
                }
                Err(LedgerError::Leased(_)) => self.wait(&mut wait, stop, watcher).await?,
                Err(error) => return Err(error),
                Ok(mut committed) => {
                    let lease = committed.lease.take().ok_or_else(|| {
                        LedgerError::Internal(format!("session {session} was not held after it was taken"))
                    })?;
                    let work = Work::begun_by(&committed, command);
                    return Ok((committed, self.keep(lease, work)));
                }
            }
        }
    }

    async fn try_take(
        &self,
        request: RequestId,
        session: &SessionIdentity,
        by: &Actor,
        command: &Command,
    ) -> LedgerResult<Committed> {
        let options = &self.shared.options;
        let leasing = Leasing::Take { owner: options.owner.clone(), ttl: options.lease };
        self.engine().submit_as(Asking { session, by, request, leasing, turn: None }, command.clone()).await
    }

    /// Holds the session without writing anything. A stop ends the waiting.
    pub(super) async fn hold(
        &self,
        session: &SessionIdentity,
        stop: &CancellationToken,
        watcher: &Watcher,
    ) -> LedgerResult<Held> {
        let options = &self.shared.options;
        let mut wait = FIRST_WAIT;
        loop {
            match self.engine().ledger().acquire_lease(session, &options.owner, options.lease).await? {
                Some(lease) => return Ok(self.keep(lease, Work::Short)),
                None => self.wait(&mut wait, stop, watcher).await?,
            }
        }
    }

    async fn wait(&self, wait: &mut Duration, stop: &CancellationToken, watcher: &Watcher) -> Result<(), Refusal> {
        if *wait == FIRST_WAIT {
            watcher.tell(Progress::WaitingForOthers);
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => return Err(stopped_waiting()),
            () = tokio::time::sleep(*wait) => {}
        }
        *wait = (*wait * 2).min(LONGEST_WAIT);
        Ok(())
    }

    fn keep(&self, lease: Lease, work: Work) -> Held {
        let lost = CancellationToken::new();
        let (ledger, ttl) = (self.engine().ledger().clone(), self.shared.options.lease);
        let (renewed, told) = (lease.clone(), lost.clone());
        let renewing = tokio::spawn(async move {
            tokio::select! {
                biased;
                () = renew(ledger.as_ref(), &renewed, ttl) => {}
                () = ended_elsewhere(ledger.as_ref(), &renewed.session, &work) => {}
            }
            told.cancel();
        });
        Held { lease, lost, renewing }
    }

    pub(super) async fn let_go(&self, held: &Held) {
        held.stop_renewing();
        // One that cannot be given back now runs out by itself.
        if let Err(error) = self.engine().ledger().release_lease(&held.lease).await {
            tracing::warn!(session_identity = %held.lease.session, event = "lease_not_released", %error);
        }
    }
}

/// Keeps the lease alive, and is over when it is lost.
async fn renew(ledger: &dyn Ledger, renewed: &Lease, ttl: Duration) {
    loop {
        tokio::time::sleep(ttl / 3).await;
        match ledger.renew_lease(renewed, ttl).await {
            // A store that is away for a moment says nothing about who holds the session.
            Ok(true) | Err(_) => {}
            Ok(false) => return,
        }
    }
}

/// What a session is held for. Others may end it without holding the session.
#[derive(Debug)]
enum Work {
    /// Something that nobody ends from elsewhere.
    Short,
    Turn(TurnId),
    Execution(PlanId, ExecutionId),
}

impl Work {
    fn begun_by(committed: &Committed, command: &Command) -> Self {
        let open = committed.snapshot.session.as_ref().and_then(|session| session.turn.as_ref());
        if let Some(open) = open.filter(|open| open.purpose.is_conversation()) {
            return Self::Turn(open.id.clone());
        }
        let plan = command.subject().and_then(|plan| committed.snapshot.plan(plan));
        let execution = plan.and_then(|plan| Some((plan.id.clone(), plan.execution.as_ref()?.id.clone())));
        execution.map_or(Self::Short, |(plan, execution)| Self::Execution(plan, execution))
    }

    async fn is_over(&self, ledger: &dyn Ledger, session: &SessionIdentity) -> LedgerResult<bool> {
        match self {
            Self::Short => Ok(false),
            Self::Turn(turn) => {
                let open = ledger.session(session).await?.and_then(|stored| stored.session.turn);
                Ok(open.is_none_or(|open| open.id != *turn))
            }
            Self::Execution(plan, execution) => {
                let snapshot = ledger.snapshot(session, Some(plan)).await?;
                let running = snapshot.plan(plan).filter(|plan| plan.status == PlanStatus::Executing);
                let running = running.and_then(|plan| plan.execution.as_ref());
                Ok(running.is_none_or(|running| running.id != *execution))
            }
        }
    }
}

/// Is over when another process has ended the work, which it may do without holding the session.
async fn ended_elsewhere(ledger: &dyn Ledger, session: &SessionIdentity, work: &Work) {
    loop {
        tokio::time::sleep(LOOK).await;
        // A store that is away for a moment says nothing.
        if work.is_over(ledger, session).await.unwrap_or(false) {
            return;
        }
    }
}

/// Whether what was to be written belongs to something that is over, gone, or somebody else's by now.
pub(super) fn is_not_ours(error: &LedgerError) -> bool {
    match error {
        LedgerError::Refused(refusal) => {
            matches!(refusal.code, RefusalCode::Conflict | RefusalCode::WrongStatus | RefusalCode::NotFound)
        }
        LedgerError::Leased(_)
        | LedgerError::Unavailable(_)
        | LedgerError::TooNew { .. }
        | LedgerError::Damaged { .. }
        | LedgerError::Internal(_) => false,
    }
}

fn stopped_waiting() -> Refusal {
    Refusal::conflict("Stopped while another process worked on the session: nothing was sent from here.")
}
