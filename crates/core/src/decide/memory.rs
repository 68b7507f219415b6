//! The memory: what is saved, and what a person forgets, promotes and takes back.

use crate::actor::ActorKind;
use crate::approval::Risk;
use crate::decide::Decider;
use crate::door::ToSign;
use crate::event::{Event, MemoryEvent};
use crate::ids::MemoryId;
use crate::memory::{
    MemoryChange, MemoryCommand, MemoryItem, MemoryOffer, MemoryOrigin, MemoryScope, MemorySource, MemoryTrust,
    NewMemory, ScopeChain,
};
use crate::policy::filled;
use crate::refusal::Refusal;

/// The most tags of an item, and the most characters of a tag.
const MAX_TAGS: usize = 16;
const MAX_TAG: usize = 64;

impl Decider<'_> {
    pub(super) fn memory(&self, command: &MemoryCommand) -> Result<Vec<Event>, Refusal> {
        self.snapshot.opened()?;
        let event = match command {
            MemoryCommand::Save(new) if new.source.is_offer() => {
                return Err(Refusal::policy_denied("Only a rule offers such a memory."));
            }
            MemoryCommand::Save(new) => self.save_memory(new, MemoryId::from(&self.context.request))?,
            MemoryCommand::Accept(offer) => self.accept_offer(offer)?,
            MemoryCommand::Decline { offer } => {
                self.check_person("declines")?;
                self.check_offer_open(offer)?;
                MemoryEvent::OfferDeclined { offer: offer.clone() }
            }
            MemoryCommand::Forget { memory } => {
                self.check_person("forgets")?;
                self.snapshot.remembered(memory)?;
                MemoryEvent::Forgotten { memory: memory.clone(), undo: false }
            }
            MemoryCommand::Promote { memory } => self.promote_memory(memory)?,
            MemoryCommand::Undo => self.undo_memory()?,
        };
        Ok(vec![Event::Memory(event)])
    }

    /// The memory gets the id of the offer, so that it is accepted once.
    fn accept_offer(&self, offer: &MemoryOffer) -> Result<MemoryEvent, Refusal> {
        self.check_offer_open(&offer.id)?;
        if !offer.source.is_offer() {
            return Err(Refusal::invalid("Only what a rule offers is accepted."));
        }
        let new = NewMemory {
            content: offer.content.clone(),
            kind: offer.kind,
            tags: Vec::new(),
            scope: Some(offer.scope.clone()),
            source: offer.source.clone(),
            expires_at: None,
            origin: None,
            run: offer.run.clone(),
        };
        self.save_memory(&new, offer.id.clone())
    }

    fn check_offer_open(&self, offer: &MemoryId) -> Result<(), Refusal> {
        if self.snapshot.opened()?.settled_offers.contains(offer) {
            return Err(Refusal::wrong_status(format!("Offer {} was accepted or declined before.", offer.short())));
        }
        Ok(())
    }

    fn save_memory(&self, new: &NewMemory, id: MemoryId) -> Result<MemoryEvent, Refusal> {
        let content = filled("memory", &new.content)?;
        self.policy.limits.check_line("memory", content)?;
        if new.tags.len() > MAX_TAGS {
            return Err(Refusal::limit(format!("A memory has at most {MAX_TAGS} tags.")));
        }
        let tags = new.tags.iter().map(|tag| checked_tag(tag)).collect::<Result<Vec<_>, _>>()?;
        let chain = ScopeChain::of(&self.snapshot.identity, new.run.as_ref())?;
        let scope = match &new.scope {
            Some(scope) => {
                chain.check_write(scope)?;
                scope.clone()
            }
            None => chain.scope_for(new.kind),
        };
        let source = match &new.source {
            MemorySource::Promotion { .. } => {
                return Err(Refusal::policy_denied("Only a promotion makes a promoted memory."));
            }
            MemorySource::Person
            | MemorySource::Turn { .. }
            | MemorySource::Tool
            | MemorySource::Plan { .. }
            | MemorySource::Workbook
            | MemorySource::Diary => new.source.clone(),
        };
        if new.expires_at.is_some_and(|at| at <= self.context.at) {
            return Err(Refusal::invalid("The memory would have expired already."));
        }
        let origin = match &new.origin {
            Some(origin) => Some(origin.clone()),
            None if new.source.is_offer() => None,
            // What is said at its beginning of a time that has not come yet is only a part of the text.
            None => MemoryOrigin::of_text(content).filter(|origin| origin.check(self.context.at).is_ok()),
        };
        origin.iter().try_for_each(|origin| origin.check(self.context.at))?;
        let item = MemoryItem {
            id,
            scope,
            kind: new.kind,
            content: content.to_owned(),
            tags,
            source,
            author: self.context.by.clone(),
            trust: MemoryTrust::of(self.context.by.kind),
            at: self.context.at,
            expires_at: new.expires_at,
            origin,
        };
        Ok(MemoryEvent::Saved { item: Box::new(item) })
    }

    fn promote_memory(&self, memory: &MemoryId) -> Result<MemoryEvent, Refusal> {
        self.check_person("promotes")?;
        // Every session reads the copy, so the agent must not make one from within its own reach.
        self.check_signed(&Risk::of_work(), || ToSign::Promote(memory))?;
        let item = &self.snapshot.remembered(memory)?.item;
        match item.scope {
            MemoryScope::Global => return Err(Refusal::wrong_status(format!("Memory {memory} is global already."))),
            MemoryScope::Session(_) | MemoryScope::Goal { .. } | MemoryScope::Task(_) => {}
        }
        if item.is_expired(self.context.at) {
            return Err(Refusal::wrong_status(format!("Memory {memory} has expired.")));
        }
        let source = MemorySource::Promotion {
            memory: memory.clone(),
            session: self.snapshot.identity.clone(),
            promoted_by: self.context.by.clone(),
        };
        let copy = MemoryItem {
            id: MemoryId::from(&self.context.request),
            scope: MemoryScope::Global,
            source,
            ..item.clone()
        };
        Ok(MemoryEvent::Promoted { memory: memory.clone(), copy: Box::new(copy) })
    }

    /// A saved or promoted item is forgotten again; a forgotten one is restored.
    fn undo_memory(&self) -> Result<MemoryEvent, Refusal> {
        self.check_person("takes back")?;
        let Some(change) = self.snapshot.opened()?.memory_changes.last() else {
            return Err(Refusal::wrong_status("There is no change of the memory to take back."));
        };
        let memory = change.memory().clone();
        match change {
            MemoryChange::Saved { .. } | MemoryChange::Promoted { .. } => {
                self.snapshot.remembered(&memory)?;
                Ok(MemoryEvent::Forgotten { memory, undo: true })
            }
            MemoryChange::Forgotten { .. } if self.snapshot.memories.contains_key(&memory) => {
                Ok(MemoryEvent::Restored { memory })
            }
            MemoryChange::Forgotten { .. } => Err(Refusal::not_found(format!("Memory {memory} is not kept any more."))),
        }
    }

    fn check_person(&self, does: &str) -> Result<(), Refusal> {
        match self.context.by.kind {
            ActorKind::Person => Ok(()),
            ActorKind::Agent | ActorKind::Policy | ActorKind::System => {
                Err(Refusal::policy_denied(format!("Only a person {does} what is remembered.")))
            }
        }
    }
}

fn checked_tag(tag: &str) -> Result<String, Refusal> {
    let tag = filled("tag", tag)?;
    if tag.chars().count() > MAX_TAG || tag.chars().any(char::is_control) {
        return Err(Refusal::invalid(format!("A tag is one line of at most {MAX_TAG} characters.")));
    }
    Ok(tag.to_owned())
}
