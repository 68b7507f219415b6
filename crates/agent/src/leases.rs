//! The lease of a session: taken with the first entry that the work writes, or without an entry.

use std::sync::Arc;
use std::time::Duration;

use planwright_core::actor::Actor;
use planwright_core::command::Command;
use planwright_core::ids::RequestId;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use planwright_engine::backoff::Backoff;
use planwright_engine::ledger::{Committed, Lease, LeaseOwner, Leasing, LedgerError, LedgerResult};
use planwright_engine::submitter::SubmitRequest;
use tokio::time::Instant;

use super::agent_context::AgentContext;
use crate::session::lease::{LeaseGuard, LeasePurpose};
use crate::session::progress::Progress;
use crate::session::shutdown::shutting_down;
use crate::session::work::InputContext;
use crate::toolbox::ToolContext;

/// The wait before the next attempt while another process holds the session.
const LEASE_WAIT: Backoff = Backoff::new(Duration::from_millis(20), Duration::from_millis(500));

/// No lease of a process that works renews less often.
const LONGEST_LEASE: Duration = Duration::from_secs(60);

/// The result of a command that takes the lease.
#[derive(Debug)]
pub(super) enum Taken {
    New(Committed, LeaseGuard),
    /// The request was carried out before, and another process holds the session.
    Replayed(Committed),
}

#[derive(Debug, Clone)]
pub(super) struct Leases {
    agent: Arc<AgentContext>,
}

impl Leases {
    pub(super) fn new(agent: &Arc<AgentContext>) -> Self {
        Self { agent: Arc::clone(agent) }
    }

    /// Submits the command as soon as no other process holds the session, and takes the lease with it. A stop ends the
    /// wait.
    pub(super) async fn take(
        &self,
        session: &SessionIdentity,
        by: &Actor,
        command: &Command,
        context: &InputContext,
    ) -> LedgerResult<(Committed, LeaseGuard)> {
        match self.take_as(self.agent.engine().submitter().next_request(), session, by, command, context).await? {
            Taken::New(committed, lease) => Ok((committed, lease)),
            Taken::Replayed(_) => Err(LedgerError::Internal(format!("a new request was known in session {session}"))),
        }
    }

    /// Takes the lease of a session with a command whose request has an id already.
    pub(super) async fn take_as(
        &self,
        request: RequestId,
        session: &SessionIdentity,
        by: &Actor,
        command: &Command,
        context: &InputContext,
    ) -> LedgerResult<Taken> {
        self.agent.engine().check_before_work(session, by).await?;
        let mut wait = LEASE_WAIT;
        loop {
            if self.agent.shutdown.is_requested() {
                return Err(shutting_down());
            }
            let asked = Instant::now();
            match self.try_take(request.clone(), session, by, command).await {
                Ok(None) => self.wait_for_others(&mut wait, context).await?,
                Ok(Some(committed)) => return Ok(self.taken(committed, command, asked, context)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Submits the command once and takes the lease with it. `None` if another process holds the session or this one shuts
    /// down; nothing is written then.
    pub(super) async fn take_at_once(
        &self,
        request: RequestId,
        by: &Actor,
        command: &Command,
        context: &InputContext,
    ) -> LedgerResult<Option<Taken>> {
        if self.agent.shutdown.is_requested() {
            return Ok(None);
        }
        self.agent.engine().check_before_work(context.session(), by).await?;
        let asked = Instant::now();
        let committed = self.try_take(request, context.session(), by, command).await?;
        Ok(committed.map(|committed| self.taken(committed, command, asked, context)))
    }

    fn taken(&self, mut committed: Committed, command: &Command, asked: Instant, context: &InputContext) -> Taken {
        let Some(lease) = committed.lease.take() else { return Taken::Replayed(committed) };
        let purpose = LeasePurpose::begun_by(&committed, command);
        Taken::New(committed, self.keep(context, lease, purpose, asked))
    }

    fn keep(&self, context: &InputContext, lease: Lease, purpose: LeasePurpose, asked: Instant) -> LeaseGuard {
        context.work.leases.keep(lease, purpose, asked, self.agent.options.lease, &self.agent.beats)
    }

    /// `None` if another process holds the session.
    async fn try_take(
        &self,
        request: RequestId,
        session: &SessionIdentity,
        by: &Actor,
        command: &Command,
    ) -> LedgerResult<Option<Committed>> {
        self.check_beats()?;
        if self.may_be_held(session).await? {
            return Ok(None);
        }
        let options = &self.agent.options;
        let leasing = Leasing::Take { owner: options.owner.clone(), ttl: options.lease };
        let request = SubmitRequest { session, by, id: request, leasing, turn: None };
        match self.agent.engine().submitter().submit_as(request, command.clone()).await {
            Ok(committed) => Ok(Some(committed)),
            Err(LedgerError::Leased(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Others may count a server as dead that could not beat in time, so it takes no work until it beats again.
    fn check_beats(&self) -> LedgerResult<()> {
        if self.agent.beats.is_valid() {
            return Ok(());
        }
        Err(LedgerError::Unavailable("this server cannot count its heartbeats; others continue its work".to_owned()))
    }

    /// Whether a lease that ran out may have run out only because a clock was set forward: its process renews it soon.
    async fn may_be_held(&self, session: &SessionIdentity) -> LedgerResult<bool> {
        let (ledger, options) = (self.agent.engine().ledger(), &self.agent.options);
        if self.agent.lease_clock.is_reliable(ledger.as_ref(), options.lease).await? {
            return Ok(false);
        }
        let owners = ledger.lease_owners(Some(session), options.lease).await?;
        Ok(owners.iter().any(|found| found.owner != options.owner && !self.agent.has_ended(&found.owner)))
    }

    /// Takes the lease without an entry. A stop ends the wait.
    pub(super) async fn hold(&self, context: &InputContext) -> LedgerResult<LeaseGuard> {
        let (session, options) = (context.session(), &self.agent.options);
        let mut wait = LEASE_WAIT;
        loop {
            let asked = Instant::now();
            self.check_beats()?;
            let lease = if self.may_be_held(session).await? {
                None
            } else {
                self.agent.engine().ledger().acquire_lease(session, &options.owner, options.lease).await?
            };
            match lease {
                Some(lease) => return Ok(self.keep(context, lease, LeasePurpose::Short, asked)),
                None => self.wait_for_others(&mut wait, context).await?,
            }
        }
    }

    /// Waits a moment, unless the process that holds the session is known to have ended. A stop ends the wait.
    async fn wait_for_others(&self, wait: &mut Backoff, context: &InputContext) -> LedgerResult<()> {
        if end_dead_leases(&self.agent, Some(context.session())).await? {
            return Ok(());
        }
        if wait.failures() == 0 {
            context.progress.send(Progress::WaitingForOthers);
        }
        tokio::select! {
            biased;
            () = context.work.stop.cancelled() => Err(stopped_waiting().into()),
            () = tokio::time::sleep(wait.next_pause()) => Ok(()),
        }
    }

    /// Fences off the file writes of a process that froze in the middle of the work that is resumed now.
    pub(super) async fn fence_files(&self, session: &SessionIdentity, lease: &LeaseGuard) -> LedgerResult<()> {
        let context = ToolContext::leased(session, lease, self.agent.engine().ledger().as_ref());
        Ok(self.agent.files.take_over(context).await?)
    }

    pub(super) async fn release(&self, lease: &LeaseGuard) {
        lease.release(self.agent.engine().ledger().as_ref()).await;
    }
}

/// Ends the leases of processes that are known to have ended, so that their work is taken up at once, and shortens those that
/// last too long because a clock was set back. Returns whether one was ended.
pub(super) async fn end_dead_leases(agent: &AgentContext, of: Option<&SessionIdentity>) -> LedgerResult<bool> {
    let (ledger, longest) = (agent.engine().ledger(), agent.options.lease.saturating_mul(3).max(LONGEST_LEASE));
    let mut is_ended = false;
    for LeaseOwner { owner, is_too_long } in ledger.lease_owners(of, longest).await? {
        if owner != agent.options.owner && (agent.options.is_gone)(&owner) {
            ledger.shorten_leases(&owner, Duration::ZERO).await?;
            is_ended = true;
            tracing::info!(event = "lease_taken_over", left_by = owner, "the process that held sessions has ended");
        } else if is_too_long {
            ledger.shorten_leases(&owner, longest).await?;
        }
    }
    Ok(is_ended)
}

/// Whether another process that is not known to have ended holds the session.
pub(super) async fn is_held_elsewhere(agent: &AgentContext, session: &SessionIdentity) -> LedgerResult<bool> {
    let held = agent.engine().ledger().lease(session).await?;
    Ok(held.is_some_and(|lease| lease.owner != agent.options.owner && !(agent.options.is_gone)(&lease.owner)))
}

/// Whether the work of the command is over or gone, or the session is leased to another process.
pub(super) fn is_over_or_taken(error: &LedgerError) -> bool {
    match error {
        LedgerError::Fenced(_) => true,
        LedgerError::Refused(refusal) => matches!(refusal.code, RefusalCode::WrongStatus | RefusalCode::NotFound),
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
