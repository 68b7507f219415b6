//! What the models of a session read and wrote, from its journal.

use std::collections::BTreeMap;

use planwright_core::event::{Event, TurnEvent};
use planwright_core::journal::Entry;
use planwright_core::model::Usage;
use planwright_core::session::SessionIdentity;

use super::History;
use crate::ledger::LedgerResult;

/// Entries are read a few at a time: one of them may be a megabyte.
const PAGE: u32 = 64;

/// The usage of each model, by its name.
pub type SessionUsage = BTreeMap<String, Usage>;

impl History {
    /// What the models of a session read and wrote since it began. Entries that cannot be read count nothing.
    pub async fn session_usage(&self, session: &SessionIdentity) -> LedgerResult<SessionUsage> {
        let (mut usage, mut after) = (SessionUsage::new(), 0);
        loop {
            let page = self.ledger().journal(session, after, PAGE).await?;
            let Some(end) = page.last().map(|sealed| sealed.seq) else { return Ok(usage) };
            for sealed in &page {
                let Ok(entry) = serde_json::from_str::<Entry>(&sealed.body) else { continue };
                if let Event::Turn { event: TurnEvent::ModelReplied { reply, .. }, .. } = &entry.event {
                    let so_far = usage.entry(entry.by.name.clone()).or_default();
                    *so_far = *so_far + reply.usage;
                }
            }
            after = end;
        }
    }
}
