//! The journal of a restored session: as it is in the archive, and one entry more that says so. Approvals before that
//! entry are history and permit nothing.

use jiff::Timestamp;
use planwright_core::actor::Actor;
use planwright_core::event::{Event, SessionEvent};
use planwright_core::ids::RequestId;
use planwright_core::journal::{Head, SealedEntry};
use planwright_core::snapshot::CommandContext;
use planwright_engine::ledger::{JournalEntries, JournalSource, LedgerError, LedgerResult};

use super::check::ArchivedJournal;

/// How an approval or a permission stands in an entry. Quotes within a text are escaped there.
const GIVEN: [&str; 2] = ["\"type\":\"plan_approved\"", "\"type\":\"permission_answered\""];

pub(super) struct RestoredJournal {
    archived: ArchivedJournal,
    /// The entry that is added. `None` if nothing was approved or permitted in the session.
    marker: Option<SealedEntry>,
}

impl RestoredJournal {
    pub(super) fn new(archived: ArchivedJournal) -> LedgerResult<Self> {
        let (mut head, mut given) = (Head::START, false);
        for entry in archived.read()? {
            let SealedEntry { seq, body, hash } = entry?;
            given |= GIVEN.iter().any(|kind| body.contains(kind));
            head = Head { seq, hash };
        }
        let marker = given.then(|| marker(&archived, head)).transpose()?;
        Ok(Self { archived, marker })
    }
}

fn marker(archived: &ArchivedJournal, mut head: Head) -> LedgerResult<SealedEntry> {
    let at = Timestamp::now();
    let request = RequestId::new(format!("restored-{}-{}", head.seq, at.as_nanosecond()))?;
    let context = CommandContext { at, by: Actor::system("cli"), request };
    let event = Event::Session(SessionEvent::Restored);
    head.seal(&archived.session, &context, &event).map_err(|error| LedgerError::Internal(error.to_string()))
}

impl JournalSource for RestoredJournal {
    fn read(&self) -> LedgerResult<JournalEntries<'_>> {
        Ok(Box::new(self.archived.read()?.chain(self.marker.clone().map(Ok))))
    }
}
