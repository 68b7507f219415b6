//! What rules offer to be remembered, and accepting and declining it.

use planwright_core::actor::Actor;
use planwright_core::event::MemoryEvent;
use planwright_core::ids::MemoryId;
use planwright_core::memory::{
    MemoryCommand, MemoryItem, MemoryOffer, ScopeChain, offers_of_diary, offers_of_plan, offers_of_task_plan,
};
use planwright_core::plan::PlanStatus;
use planwright_core::refusal::Refusal;
use planwright_core::session::SessionIdentity;
use planwright_core::visible::quoted;
use planwright_core::workbook::DocumentKind;

use super::{MIN_PIECE, Memories, MemoryOutcome, other_request};
use crate::ledger::{Committed, LedgerResult};
use crate::submitter::SubmitRequest;
use crate::workbook::DocumentReader;

/// The newest plans that are looked at.
const MAX_PLANS: u32 = 20;

impl Memories {
    /// What the session is offered, the newest first. Nothing that was accepted or declined is among it.
    pub async fn offers(&self, session: &SessionIdentity) -> LedgerResult<Vec<MemoryOffer>> {
        let ledger = self.submitter.ledger();
        let stored = ledger.session(session).await?;
        let stored = stored.ok_or_else(|| Refusal::not_found(format!("There is no session {session}.")))?.session;
        let mut offers = Vec::new();
        if stored.plans_made > 0 {
            for summary in ledger.plans(session, None, MAX_PLANS).await?.items {
                if matches!(summary.status, PlanStatus::Completed | PlanStatus::PartiallyCompleted) {
                    let snapshot = ledger.snapshot(session, Some(&summary.id)).await?;
                    offers.extend(snapshot.plan(&summary.id).map(offers_of_plan).unwrap_or_default());
                }
            }
        }
        if let Some(workbook) = &stored.workbook {
            let reader = DocumentReader::new(ledger.clone());
            if let Some(current) = &workbook.current {
                let state = current.document(DocumentKind::TaskPlan);
                let document = reader.version(session, DocumentKind::TaskPlan, state).await?;
                offers.extend(offers_of_task_plan(session, &document.text, document.at));
            }
            // A workbook that is complete is put away when the next one begins.
            if let Some(archive) = workbook.archives.last() {
                let texts = reader.texts(session, &archive.seqs).await?;
                offers.extend(offers_of_task_plan(session, texts.get(DocumentKind::TaskPlan), archive.at));
            }
        }
        if let Some(auto) = &stored.auto {
            offers.extend(offers_of_diary(session, auto));
        }
        offers.retain(|offer| !stored.settled_offers.contains(&offer.id));
        offers.sort_by(|one, other| other.at.cmp(&one.at).then_with(|| one.id.cmp(&other.id)));
        offers.dedup_by(|one, other| one.id == other.id);
        Ok(offers)
    }

    /// What the reader of this chain is offered: a run sees what it may also read.
    pub async fn offers_in(&self, chain: &ScopeChain) -> LedgerResult<Vec<MemoryOffer>> {
        let scopes = chain.scopes();
        let mut offers = self.offers(chain.session()).await?;
        offers.retain(|offer| scopes.contains(&offer.scope));
        Ok(offers)
    }

    /// The offer that a person names by its id or a unique piece of it.
    pub async fn find_offer(&self, session: &SessionIdentity, reference: &str) -> LedgerResult<MemoryOffer> {
        Ok(find(self.offers(session).await?, session, reference)?)
    }

    /// An offer to the reader of this chain, by its id or a unique piece of it.
    pub async fn find_offer_in(&self, chain: &ScopeChain, reference: &str) -> LedgerResult<MemoryOffer> {
        Ok(find(self.offers_in(chain).await?, chain.session(), reference)?)
    }

    /// Remembers what was offered.
    pub async fn accept(&self, session: &SessionIdentity, by: &Actor, offer: MemoryOffer) -> LedgerResult<MemoryItem> {
        Ok(self.accept_as(self.submitter.request(session, by), offer).await?.0)
    }

    pub async fn accept_as(
        &self,
        request: SubmitRequest<'_>,
        offer: MemoryOffer,
    ) -> LedgerResult<(MemoryItem, Committed)> {
        let MemoryOutcome { event, committed } =
            self.submit_as(request, MemoryCommand::Accept(Box::new(offer))).await?;
        match event {
            MemoryEvent::Saved { item } => Ok((*item, committed)),
            _ => Err(other_request()),
        }
    }

    /// The offer is not made again.
    pub async fn decline(&self, session: &SessionIdentity, by: &Actor, offer: MemoryId) -> LedgerResult<()> {
        self.submit(session, by, MemoryCommand::Decline { offer }).await.map(drop)
    }
}

fn find(mut offers: Vec<MemoryOffer>, session: &SessionIdentity, reference: &str) -> Result<MemoryOffer, Refusal> {
    let reference = reference.trim();
    if reference.len() >= MIN_PIECE {
        offers.retain(|offer| offer.id.as_str().contains(reference));
        if let [only] = offers.as_slice() {
            return Ok(only.clone());
        }
        if !offers.is_empty() {
            let message = format!("{} could be several offers; write more of the id.", quoted(reference));
            return Err(Refusal::conflict(message));
        }
    }
    Err(Refusal::not_found(format!("There is no offer {} in session {session}.", quoted(reference))))
}
