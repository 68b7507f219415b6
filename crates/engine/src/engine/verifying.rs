//! Walks every journal and says whether it is whole, and whether what is stored beside it says the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use planwright_core::desk::Desk;
use planwright_core::ids::PlanId;
use planwright_core::journal::Head;
use planwright_core::plan::Plan;
use planwright_core::session::SessionIdentity;

use super::Engine;
use crate::ledger::{DamagedRow, LedgerResult, StoredSession};

const PAGE: u32 = 500;

#[derive(Debug, Clone, Default)]
pub struct VerifyReport {
    pub chains: Vec<ChainReport>,
    /// Sessions whose own row cannot be read.
    pub damaged: Vec<DamagedRow>,
}

#[derive(Debug, Clone)]
pub struct ChainReport {
    pub session: SessionIdentity,
    /// How many entries were walked and found whole.
    pub entries: u64,
    /// The first damage in the journal, in words that name the entry.
    pub damage: Option<String>,
    /// What is stored beside the journal and does not agree with it.
    pub disagreements: Vec<DamagedRow>,
}

impl ChainReport {
    pub fn is_whole(&self) -> bool {
        self.damage.is_none() && self.disagreements.is_empty()
    }
}

impl VerifyReport {
    pub fn is_whole(&self) -> bool {
        self.damaged.is_empty() && self.chains.iter().all(ChainReport::is_whole)
    }
}

impl Engine {
    /// Walks every session. `progress` is told of each one as it is done.
    pub async fn verify(&self, mut progress: impl FnMut(&ChainReport)) -> LedgerResult<VerifyReport> {
        let mut report = VerifyReport::default();
        let mut after = None;
        loop {
            let page = self.ledger.sessions(after, PAGE).await?;
            report.damaged.extend(page.damaged);
            for stored in page.items {
                let chain = self.verify_session(&stored).await?;
                progress(&chain);
                report.chains.push(chain);
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(report),
            }
        }
    }

    async fn verify_session(&self, stored: &StoredSession) -> LedgerResult<ChainReport> {
        let session = &stored.session.identity;
        let mut head = Head::START;
        let mut desk = Desk::new(session.clone());
        let damage = 'walk: loop {
            let entries = self.ledger.journal(session, head.seq, PAGE).await?;
            if entries.is_empty() {
                break head.check_end(&stored.head).err();
            }
            for sealed in entries {
                match head.check(session, &sealed) {
                    Ok(entry) => desk.apply(&entry.event, &entry.stamp()),
                    Err(found) => break 'walk Some(found),
                }
            }
        };
        let mut report = ChainReport {
            session: session.clone(),
            entries: head.seq,
            damage: damage.map(|damage| damage.to_string()),
            disagreements: Vec::new(),
        };
        let (plans, unreadable) = self.ledger.stored_plans(session).await?;
        report.disagreements.extend(unreadable);
        // A broken chain cannot be replayed to its end, so there is nothing sound to compare with.
        if report.damage.is_none() {
            if desk.session.as_ref() != Some(&stored.session) {
                report.disagreements.push(disagreement(format!("session {session}")));
            }
            report.disagreements.extend(compare(&desk.plans, &plans, &report.disagreements, session));
        }
        Ok(report)
    }
}

fn compare(
    replayed: &BTreeMap<PlanId, Arc<Plan>>,
    stored: &BTreeMap<PlanId, Plan>,
    unreadable: &[DamagedRow],
    session: &SessionIdentity,
) -> Vec<DamagedRow> {
    let name = |number: u32| format!("plan {number} of {session}");
    let mut found = Vec::new();
    for (id, plan) in replayed {
        let what = name(plan.number);
        let known = unreadable.iter().any(|row| row.what == what);
        if stored.get(id) != Some(plan.as_ref()) && !known {
            found.push(disagreement(what));
        }
    }
    found.extend(
        stored.iter().filter(|(id, _)| !replayed.contains_key(*id)).map(|(_, plan)| disagreement(name(plan.number))),
    );
    found
}

fn disagreement(what: String) -> DamagedRow {
    DamagedRow { what, reason: "what is stored is not what the journal says".to_owned() }
}
