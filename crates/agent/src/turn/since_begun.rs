//! Entries of the session since a turn began, by sequence number and never by a clock.

use planwright_core::event::{Event, TurnEvent};
use planwright_core::journal::Entry;
use planwright_engine::ledger::{LedgerError, LedgerResult};

use super::TurnRunner;

impl TurnRunner<'_> {
    /// Whether an entry like this was written after the one that began the turn.
    pub(super) async fn happened_since_begun(&self, is_it: impl Fn(&Event) -> bool) -> LedgerResult<bool> {
        const PAGE: u32 = 1_000;
        let mut after = self.begun_seq().await?;
        loop {
            let page = self.agent.engine().ledger().journal(&self.session, after, PAGE).await?;
            for sealed in &page {
                let entry: Entry = serde_json::from_str(&sealed.body).map_err(|error| {
                    LedgerError::damaged(format!("entry {} of {}", sealed.seq, self.session), error)
                })?;
                if is_it(&entry.event) {
                    return Ok(true);
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE as usize => after = last.seq,
                Some(_) | None => return Ok(false),
            }
        }
    }

    /// The entry that began the turn, here or in the process that it was resumed from.
    async fn begun_seq(&self) -> LedgerResult<u64> {
        if let Some(seq) = self.begun_seq {
            return Ok(seq);
        }
        let from = self.snapshot.opened()?.history_from;
        let mut begun = None;
        self.turns
            .conversations
            .read(&self.session, from, u64::MAX, &mut |seq, event| match event {
                Event::Turn { id, event: TurnEvent::Begun { .. } } if *id == self.turn.id => begun = Some(seq),
                _ => {}
            })
            .await?;
        // The entry of a turn before a reset is not in the conversation any more.
        Ok(begun.unwrap_or(from))
    }
}
