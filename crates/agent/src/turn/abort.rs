//! Why a turn is aborted.

use planwright_core::ask::Ask;
use planwright_core::gate::ToolEffect;
use planwright_core::plan::execution::PermissionCounts;
use planwright_core::turn::{PendingCall, ToolOutcome, ToolStatus, TurnInput, TurnLimit};
use planwright_core::workspace::CallChanges;
use planwright_engine::ledger::LedgerError;

use crate::leases::is_over_or_taken;

#[derive(Debug)]
pub(super) enum TurnAbort {
    /// A person stopped the turn. `received` is the text of the model up to there, `under_way` the call that was stopped.
    Stopped {
        received: String,
        under_way: Option<Box<TurnInput>>,
    },
    ModelFailed {
        message: String,
    },
    /// A limit was reached outside of what the turn counts itself.
    Limit(TurnLimit),
    /// Another process ended the turn or holds the session.
    LeaseLost,
    /// The turn waits for a person's answer.
    Asks(Box<Ask>),
    /// The process is shutting down; another one resumes the turn.
    ShuttingDown,
    Ledger(LedgerError),
}

impl From<LedgerError> for TurnAbort {
    fn from(error: LedgerError) -> Self {
        if is_over_or_taken(&error) { Self::LeaseLost } else { Self::Ledger(error) }
    }
}

impl TurnAbort {
    /// Records the outcome of a call that was stopped: one that changes things may have had its effect.
    pub(super) fn in_the_middle_of(self, pending: &PendingCall, effect: ToolEffect, changes: CallChanges) -> Self {
        match self {
            Self::Stopped { received: heard, .. } => {
                let status = match effect {
                    ToolEffect::ReadsOnly => None,
                    // It may be repeated without harm.
                    ToolEffect::Repeatable => Some(ToolStatus::Failed),
                    ToolEffect::Changes => Some(ToolStatus::Uncertain),
                };
                let text = "Stopped in the middle: it is not known whether it was done.".to_owned();
                let outcome = status.map(|status| ToolOutcome { status, text });
                let (call, tokens) = (pending.number, STOPPED_TOKENS);
                let permissions = PermissionCounts::default();
                let ended = |outcome| TurnInput::ToolEnded { call, outcome, tokens, changes, permissions };
                Self::Stopped { received: heard, under_way: outcome.map(ended).map(Box::new) }
            }
            abort => abort,
        }
    }
}

/// More tokens than the text about a stopped call has.
const STOPPED_TOKENS: u32 = 20;
