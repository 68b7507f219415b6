//! The entries of a turn.

use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::Compaction;
use planwright_core::ids::RequestId;
use planwright_core::turn::{TurnEnd, TurnEnding, TurnInput};
use planwright_engine::ledger::{Committed, Leasing, LedgerError, LedgerResult};
use planwright_engine::submitter::SubmitRequest;

use super::TurnRunner;

impl TurnRunner<'_> {
    /// Records inputs, and the end if there is one. The entry of the end releases the lease.
    pub(super) async fn record(&mut self, inputs: Vec<TurnInput>, ending: Option<TurnEnding>) -> LedgerResult<()> {
        // A turn that is part of an execution or of another turn does not release the lease.
        let last = ending.is_some() && !self.turn.purpose.is_part();
        if let Some(held) = self.held.as_ref().filter(|_| last) {
            held.stop_renewing();
        }
        let is_stopped = ending.as_ref().is_some_and(|ending| ending.end == TurnEnd::Stopped);
        let stopped_by = if is_stopped { self.context.work.take_stopped_by() } else { None };
        let command = TurnCommand::Record { turn: self.turn.id.clone(), inputs, ending };
        let leasing = if last { Leasing::Release } else { Leasing::Held };
        let committed = self.submit(stopped_by, command, leasing).await?;
        if last {
            self.held = None;
        }
        self.apply(committed);
        Ok(())
    }

    pub(super) async fn compact(&mut self, compaction: Compaction) -> LedgerResult<()> {
        let committed = self.submit(None, TurnCommand::Compact(compaction), Leasing::Held).await?;
        self.apply(committed);
        Ok(())
    }

    async fn submit(
        &self,
        request: Option<RequestId>,
        command: TurnCommand,
        leasing: fn(planwright_engine::ledger::Lease) -> Leasing,
    ) -> LedgerResult<Committed> {
        let engine = self.agent.engine();
        let leasing = leasing(self.lease()?);
        let request = request.unwrap_or_else(|| engine.submitter().next_request());
        let (session, by) = (&self.session, &self.actor);
        engine
            .submitter()
            .submit_as(SubmitRequest { session, by, id: request, leasing, turn: None }, Command::Turn(command))
            .await
    }

    pub(super) fn lease(&self) -> LedgerResult<planwright_engine::ledger::Lease> {
        let held = self.held.as_ref();
        held.map(|held| held.lease().clone())
            .ok_or_else(|| LedgerError::Internal("the turn continued after its end".to_owned()))
    }

    fn apply(&mut self, committed: Committed) {
        let first = committed.seq + 1 - committed.events.len() as u64;
        for (event, seq) in committed.events.iter().zip(first..) {
            self.conversation.apply(seq, event);
        }
        self.seq = committed.seq;
        self.snapshot = committed.snapshot;
    }
}
