//! `/memory …`.

use std::sync::Arc;

use planwright_core::event::MemoryEvent;
use planwright_core::memory::{MemoryItem, MemoryOffer, MemorySource, NewMemory, ScopeChain};
use planwright_core::prompt::memory_provenance;
use planwright_core::slash::MemorySubcommand;
use planwright_core::visible::quoted;
use planwright_engine::ledger::LedgerResult;

use crate::agent_context::AgentContext;
use crate::session::outcome::Answer;
use crate::session::work::InputContext;

/// How many items a list shows.
const PAGE_SIZE: u32 = 20;
const MAX_FOUND: usize = 10;

#[derive(Debug, Clone)]
pub(super) struct MemoryCommands {
    agent: Arc<AgentContext>,
}

impl MemoryCommands {
    pub(super) fn new(agent: &Arc<AgentContext>) -> Self {
        Self { agent: Arc::clone(agent) }
    }

    pub(super) async fn run(&self, command: MemorySubcommand, context: &InputContext) -> LedgerResult<Answer> {
        let (session, by) = (context.session(), context.by());
        let memories = context.engine(self.agent.engine()).memories();
        let chain = ScopeChain::of_session(session);
        let reply = match command {
            MemorySubcommand::List => {
                let found = memories.list(&chain, None, PAGE_SIZE).await?;
                let items: Vec<_> = found.items.into_iter().map(|placed| placed.item).collect();
                let more = if found.next.is_some() { "\n\nOlder ones are found with `/memory search`." } else { "" };
                match items.as_slice() {
                    [] => "Nothing is remembered in this session. `/memory save <text>` saves something.".to_owned(),
                    items => lines(items.iter()) + more,
                }
            }
            MemorySubcommand::Search { query } => {
                let search = memories.search(&chain, &query, MAX_FOUND).await?;
                let note = search.note.map(|note| format!("\n\n{note}")).unwrap_or_default();
                let found = match search.found.as_slice() {
                    [] => format!("No memory here matches {}.", quoted(&query)),
                    found => lines(found.iter().map(|found| &found.item)),
                };
                found + &note
            }
            MemorySubcommand::Save { content } => {
                let item = memories.save(session, by, NewMemory::by_person(content)).await?;
                format!("Saved as `{}` in `{}`. `/memory undo` undoes this.", item.id.short(), item.scope)
            }
            MemorySubcommand::Forget { memory } => {
                let item = memories.find(&chain, &memory).await?;
                memories.forget(session, by, item.id.clone()).await?;
                format!("Forgot {}. `/memory undo` brings it back.", quoted(&item.content))
            }
            MemorySubcommand::Promote { memory } => {
                let item = memories.find(&chain, &memory).await?;
                let copy = memories.promote(session, by, item.id).await?;
                let (content, id) = (quoted(&copy.content), copy.id.short());
                format!("Every session reads {content} now, as `{id}`. `/memory undo` undoes this.")
            }
            MemorySubcommand::Undo => match memories.undo(session, by).await?.event {
                MemoryEvent::Forgotten { memory, .. } => format!("Memory `{}` is removed again.", memory.short()),
                MemoryEvent::Restored { memory } => format!("Memory `{}` is back.", memory.short()),
                // The request was carried out before, as another command.
                event => {
                    format!("Memory `{}`: {}.", event.memory().short(), event.touches().audit.unwrap_or("changed"))
                }
            },
            MemorySubcommand::Offers => match memories.offers(session).await?.as_slice() {
                [] => "Nothing is offered to be remembered. Finished plans, resolved errors of the workbook and the \
                       diary make offers."
                    .to_owned(),
                offers => {
                    let lines: Vec<_> = offers.iter().map(offer_line).collect();
                    format!(
                        "{}\n\n`/memory accept <id>` remembers one, `/memory decline <id>` drops it.",
                        lines.join("\n")
                    )
                }
            },
            MemorySubcommand::Accept { offer } => {
                let offer = memories.find_offer(session, &offer).await?;
                let item = memories.accept(session, by, offer).await?;
                format!("Saved as `{}` in `{}`. `/memory undo` undoes this.", item.id.short(), item.scope)
            }
            MemorySubcommand::Decline { offer } => {
                let offer = memories.find_offer(session, &offer).await?;
                memories.decline(session, by, offer.id.clone()).await?;
                format!("{} is not offered any more.", quoted(&offer.content))
            }
        };
        Ok(Answer::text(session, reply))
    }
}

fn offer_line(offer: &MemoryOffer) -> String {
    let from = match &offer.source {
        MemorySource::Plan { .. } => "a finished plan",
        MemorySource::Workbook => "the workbook",
        MemorySource::Diary => "the diary",
        MemorySource::Person | MemorySource::Turn { .. } | MemorySource::Tool | MemorySource::Promotion { .. } => "",
    };
    format!("- [{}] {} from {from}, for {}: {}", offer.id.short(), offer.kind, offer.scope, quoted(&offer.content))
}

fn lines<'a>(items: impl Iterator<Item = &'a MemoryItem>) -> String {
    let line = |item: &MemoryItem| format!("- {} {}", memory_provenance(item), quoted(&item.content));
    items.map(line).collect::<Vec<_>>().join("\n")
}
