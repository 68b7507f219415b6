//! The conversation, put together from the journal and from what is remembered of it.

use planwright_core::conversation::Conversation;
use planwright_core::event::{Event, TurnEvent};
use planwright_core::ids::TurnId;
use planwright_core::journal::Entry;
use planwright_core::session::{Session, SessionIdentity};
use planwright_core::snapshot::Snapshot;
use planwright_core::turn::{Purpose, Turn};

use super::Agent;
use crate::ledger::{Committed, LedgerError, LedgerResult};

impl Agent {
    /// The conversation up to what was just committed, and the turn that is open in it.
    pub(super) async fn recall(&self, committed: &Committed, turn: &TurnId) -> LedgerResult<(Conversation, Turn)> {
        let opened = committed.snapshot.opened()?;
        let remembered = self.shared.conversations.take(&committed.snapshot.identity, opened.opened_at);
        let remembered = remembered.filter(|kept| kept.seq <= committed.seq);
        let first = committed.seq + 1 - committed.events.len() as u64;
        let just_begun = matches!(committed.events.as_slice(), [Event::Turn { event: TurnEvent::Begun { .. }, .. }]);
        if let Some(kept) = remembered
            && just_begun
        {
            let mut conversation = kept.conversation;
            if kept.seq + 1 < first {
                self.read(&committed.snapshot.identity, kept.seq + 1, first, &mut |seq, event| {
                    conversation.take_in(seq, event);
                })
                .await?;
            }
            committed.events.iter().zip(first..).for_each(|(event, seq)| conversation.take_in(seq, event));
            return Ok((conversation, Turn::new(turn.clone(), opened_purpose(opened, turn))));
        }
        let mut conversation = Conversation::default();
        let mut events = Vec::new();
        self.read(&committed.snapshot.identity, opened.history_from, committed.seq + 1, &mut |seq, event| {
            conversation.take_in(seq, event);
            events.push(event.clone());
        })
        .await?;
        let replayed = Turn::replay(turn, &events);
        Ok((conversation, replayed.unwrap_or_else(|| Turn::new(turn.clone(), opened_purpose(opened, turn)))))
    }

    /// A turn apart from the conversation, from the journal, and everything said in it.
    pub(super) async fn recall_apart(
        &self,
        session: &SessionIdentity,
        turn: &TurnId,
        purpose: &Purpose,
        from: u64,
    ) -> LedgerResult<(Conversation, Turn)> {
        let mut conversation = Conversation::of_turn(turn.clone());
        let mut events = Vec::new();
        self.read(session, from, u64::MAX, &mut |seq, event| {
            conversation.take_in(seq, event);
            events.push(event.clone());
        })
        .await?;
        let replayed = Turn::replay(turn, &events);
        Ok((conversation, replayed.unwrap_or_else(|| Turn::new(turn.clone(), purpose.clone()))))
    }

    /// The session as it was before a request was carried out and right after it, from its journal.
    pub(super) async fn snapshots_around(
        &self,
        session: &SessionIdentity,
        carried_out: &Committed,
    ) -> LedgerResult<(Snapshot, Snapshot)> {
        const PAGE: u32 = 1_000;
        let first = carried_out.seq + 1 - carried_out.events.len() as u64;
        let mut snapshot = Snapshot::new(session.clone());
        let (mut before, mut read) = (snapshot.clone(), 0);
        loop {
            let page = self.engine().ledger().journal(session, read, PAGE).await?;
            for sealed in &page {
                if sealed.seq == first {
                    before = snapshot.clone();
                }
                if sealed.seq > carried_out.seq {
                    return Ok((before, snapshot));
                }
                let what = || format!("journal entry {}", sealed.seq);
                let entry = serde_json::from_str::<Entry>(&sealed.body);
                let entry = entry.map_err(|error| LedgerError::damaged(what(), error))?;
                snapshot.apply(&entry.event, &entry.context(), entry.seq);
            }
            match page.last() {
                Some(last) => read = last.seq,
                None => return Ok((before, snapshot)),
            }
        }
    }

    /// Reads the conversation's entries from `from` up to, not including, `end`.
    pub(super) async fn read(
        &self,
        session: &SessionIdentity,
        mut from: u64,
        end: u64,
        each: &mut (dyn FnMut(u64, &Event) + Send),
    ) -> LedgerResult<()> {
        const PAGE: u32 = 1_000;
        loop {
            let entries = self.engine().ledger().conversation(session, from, PAGE).await?;
            for entry in entries.iter().filter(|entry| entry.seq < end) {
                each(entry.seq, &entry.event);
            }
            match entries.last() {
                Some(last) if entries.len() == PAGE as usize && last.seq + 1 < end => from = last.seq + 1,
                Some(_) | None => return Ok(()),
            }
        }
    }
}

fn opened_purpose(session: &Session, turn: &TurnId) -> Purpose {
    let open = session.turn.as_ref().and_then(|open| open.named(turn));
    open.map(|open| open.purpose.clone()).unwrap_or_default()
}
