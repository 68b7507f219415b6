//! Why a turn cannot go on.

use planwright_core::ask::Ask;
use planwright_core::gate::ToolEffect;
use planwright_core::turn::{PendingCall, ToolOutcome, ToolStatus, TurnInput};

use crate::agent::leases::is_over_or_taken;
use crate::ledger::LedgerError;

#[derive(Debug)]
pub(super) enum TurnAbort {
    /// A person said stop; this much had been said, and this was under way.
    Stopped {
        heard: String,
        under_way: Option<TurnInput>,
    },
    ModelFailed {
        message: String,
    },
    /// The model took longer than the turn may.
    OutOfTime,
    /// The turn was ended by somebody else, or somebody else has the session.
    Elsewhere,
    /// The turn waits for a person's answer.
    Asks(Box<Ask>),
    /// The process is to end; the turn stays open for the next one.
    Left,
    Ledger(LedgerError),
}

impl From<LedgerError> for TurnAbort {
    fn from(error: LedgerError) -> Self {
        if is_over_or_taken(&error) { Self::Elsewhere } else { Self::Ledger(error) }
    }
}

impl TurnAbort {
    /// A call that was stopped in the middle and changes things may have had its effect. The journal says so.
    pub(super) fn in_the_middle_of(self, pending: &PendingCall, effect: ToolEffect) -> Self {
        match self {
            Self::Stopped { heard, .. } => {
                let status = match effect {
                    ToolEffect::ReadsOnly => None,
                    // It can simply be done again.
                    ToolEffect::Repeatable => Some(ToolStatus::Failed),
                    ToolEffect::Changes => Some(ToolStatus::Uncertain),
                };
                let text = "Stopped in the middle: it is not known whether it was done.".to_owned();
                let outcome = status.map(|status| ToolOutcome { status, text });
                let ended = |outcome| TurnInput::ToolEnded { call: pending.number, outcome, tokens: STOPPED_TOKENS };
                Self::Stopped { heard, under_way: outcome.map(ended) }
            }
            halt => halt,
        }
    }
}

/// More than the words about a stopped call take.
const STOPPED_TOKENS: u32 = 20;
