//! `planwright memory …`

mod import;

use planwright_core::event::MemoryEvent;
use planwright_core::memory::{MemoryItem, MemoryOffer, NewMemory, ScopeChain};
use planwright_core::prompt::memory_provenance;
use planwright_core::refusal::RefusalCode;
use planwright_core::session::SessionIdentity;
use planwright_core::slash::{MemorySubcommand, SlashCommand};
use planwright_engine::ledger::LedgerError;
use planwright_surfaces::wire::{MemoryOfferView, MemoryView};
use serde_json::json;

use crate::cli::{Global, MemoryAction, MemoryArgs};
use crate::commands::plan::damaged;
use crate::context::{Context, PAGE, SessionUse};
use crate::failure::{ExitResult, Failure};
use crate::terminal::palette::{BOLD, DIM};
use crate::terminal::text::{paint, shown_line};

pub(crate) async fn run(global: &Global, arguments: MemoryArgs) -> ExitResult {
    let adds = matches!(arguments.command, MemoryAction::Save { .. } | MemoryAction::Import { .. });
    let purpose = if adds { SessionUse::Add } else { SessionUse::Use };
    let mut context = Context::open(global, purpose.store()).await?;
    let named = arguments.session.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let session = context.enter(named, purpose).await?;
    if purpose == SessionUse::Add {
        context.open_first(&session).await?;
    }
    let context = &context;
    match arguments.command {
        MemoryAction::List { before } => list(context, &session, before).await,
        MemoryAction::Search { explain, limit, words } => {
            search(context, &session, &words.join(" "), limit.into(), explain).await
        }
        MemoryAction::Save { text } => save(context, &session, &text.join(" ")).await,
        MemoryAction::Import { file } => import::run(context, &session, &file).await,
        MemoryAction::Forget { memory } => forget(context, &session, &memory).await,
        MemoryAction::Promote { memory, yes, approver } => {
            promote(context, &session, &memory, yes, approver.as_deref()).await
        }
        MemoryAction::Undo => undo(context, &session).await,
        MemoryAction::Offers => offers(context, &session).await,
        MemoryAction::Accept { offer } => accept(context, &session, &offer).await,
        MemoryAction::Decline { offer } => decline(context, &session, &offer).await,
    }
}

async fn list(context: &Context, session: &SessionIdentity, before: Option<u64>) -> ExitResult {
    let found = context.engine.memories().list(&ScopeChain::of_session(session), before, PAGE).await?;
    let items: Vec<_> = found.items.iter().map(|placed| &placed.item).collect();
    let view = || {
        let views: Vec<_> = items.iter().map(|item| MemoryView::from(*item)).collect();
        json!({ "items": views, "next": found.next, "damaged": damaged::view(&found.damaged) })
    };
    let describe = || {
        let mut text = match items.as_slice() {
            [] => "Nothing is remembered in this session.\n".to_owned(),
            items => items.iter().map(|item| lines(item)).collect(),
        };
        text.push_str(&damaged::describe(&found.damaged));
        if let Some(next) = found.next {
            let more = context.invocation.command(["memory", "list", "--before", &next.to_string()]);
            text.push_str(&paint(&format!("more: {more}"), DIM));
            text.push('\n');
        }
        text
    };
    context.screen.answer(view, describe)
}

async fn search(context: &Context, session: &SessionIdentity, query: &str, limit: usize, explain: bool) -> ExitResult {
    let search = context.engine.memories().search(&ScopeChain::of_session(session), query, limit).await?;
    let view = || {
        let make = if explain { MemoryView::explained } else { MemoryView::found };
        let views: Vec<_> = search.found.iter().map(make).collect();
        json!({ "items": views, "damaged": damaged::view(&search.damaged), "note": search.note })
    };
    let text = || {
        let mut text = String::new();
        if search.found.is_empty() {
            text.push_str(&format!("No memory here matches {}.\n", shown_line(query)));
        }
        for found in &search.found {
            text.push_str(&lines(&found.item));
            if explain {
                let counting = found.shares.iter().filter(|(_, share)| *share > 0.0);
                let shares: Vec<_> =
                    counting.map(|(factor, share)| format!("{} {share:.3}", factor.as_str())).collect();
                text.push_str(&paint(&format!("  {:.3} = {}", found.score, shares.join(" + ")), DIM));
                text.push('\n');
            }
        }
        text.push_str(&damaged::describe(&search.damaged));
        if let Some(note) = &search.note {
            text.push_str(&paint(&shown_line(note), DIM));
            text.push('\n');
        }
        text
    };
    context.screen.answer(view, text)
}

async fn save(context: &Context, session: &SessionIdentity, text: &str) -> ExitResult {
    let item = context.engine.memories().save(session, &context.person, NewMemory::by_person(text)).await?;
    show_saved(context, &item)
}

/// The answer to what made a memory.
fn show_saved(context: &Context, item: &MemoryItem) -> ExitResult {
    context.screen.answer(
        || json!(MemoryView::from(item)),
        || format!("Saved as {} in {}.\n", paint(item.id.short(), BOLD), item.scope),
    )
}

async fn forget(context: &Context, session: &SessionIdentity, reference: &str) -> ExitResult {
    let item = find(context, session, reference).await?;
    context.engine.memories().forget(session, &context.person, item.id.clone()).await?;
    let undo = context.invocation.command(["memory", "undo"]);
    context.screen.answer(
        || json!({ "forgotten": item.id }),
        || format!("Forgot {}. To bring it back: {undo}\n", shown_line(&item.content)),
    )
}

async fn promote(
    context: &Context,
    session: &SessionIdentity,
    reference: &str,
    yes: bool,
    approver: Option<&str>,
) -> ExitResult {
    let item = find(context, session, reference).await?;
    if !yes {
        if !context.screen.interactive || context.screen.json {
            let failure = Failure::usage("there is no terminal to ask on, so nothing was promoted".to_owned());
            return Err(failure.hint(context.invocation.command(["memory", "promote", item.id.as_str(), "--yes"])));
        }
        context.screen.print(&lines(&item))?;
        if !context.screen.confirm("Let every session read this?")? {
            return Err(Failure::declined("Nothing was promoted.".to_owned()));
        }
    }
    let command = SlashCommand::Memory(MemorySubcommand::Promote { memory: item.id.to_string() });
    let person = crate::approver::verified_for_act(context, session, &command, approver).await?;
    let copy = context.engine.memories().promote(session, &person, item.id).await?;
    context.screen.answer(
        || json!(MemoryView::from(&copy)),
        || format!("Every session reads {} now, as {}.\n", shown_line(&copy.content), paint(copy.id.short(), BOLD)),
    )
}

async fn undo(context: &Context, session: &SessionIdentity) -> ExitResult {
    let outcome = context.engine.memories().undo(session, &context.person).await?;
    let memory = outcome.event.memory().clone();
    let restored = matches!(outcome.event, MemoryEvent::Restored { .. });
    context.screen.answer(
        || json!({ "memory": memory, "restored": restored }),
        || match restored {
            true => format!("Memory {} is back.\n", paint(memory.short(), BOLD)),
            false => format!("Memory {} is removed again.\n", paint(memory.short(), BOLD)),
        },
    )
}

async fn offers(context: &Context, session: &SessionIdentity) -> ExitResult {
    let offers = context.engine.memories().offers(session).await?;
    let view = || json!({ "items": offers.iter().map(MemoryOfferView::from).collect::<Vec<_>>() });
    let describe = || match offers.as_slice() {
        [] => "Nothing is offered to be remembered.\n".to_owned(),
        offers => offers.iter().map(offer_lines).collect(),
    };
    context.screen.answer(view, describe)
}

async fn accept(context: &Context, session: &SessionIdentity, reference: &str) -> ExitResult {
    let offer = find_offer(context, session, reference).await?;
    let item = context.engine.memories().accept(session, &context.person, offer).await?;
    show_saved(context, &item)
}

async fn decline(context: &Context, session: &SessionIdentity, reference: &str) -> ExitResult {
    let offer = find_offer(context, session, reference).await?;
    context.engine.memories().decline(session, &context.person, offer.id.clone()).await?;
    context.screen.answer(
        || json!({ "declined": offer.id }),
        || format!("{} is not offered any more.\n", shown_line(&offer.content)),
    )
}

async fn find_offer(context: &Context, session: &SessionIdentity, reference: &str) -> Result<MemoryOffer, Failure> {
    let list = context.invocation.command(["memory", "offers"]);
    let hinted = |error: LedgerError| Failure::from(error).hint_on(RefusalCode::NotFound, || list);
    context.engine.memories().find_offer(session, reference).await.map_err(hinted)
}

fn offer_lines(offer: &MemoryOffer) -> String {
    let from = MemoryOfferView::from(offer).source.from;
    let head = format!("[{}] {} from the {from}, for {}", offer.id.short(), offer.kind, offer.scope);
    format!("{}\n  {}\n", paint(&shown_line(&head), DIM), shown_line(&offer.content))
}

async fn find(context: &Context, session: &SessionIdentity, reference: &str) -> Result<MemoryItem, Failure> {
    let list = context.invocation.command(["memory", "list"]);
    let hinted = |error: LedgerError| Failure::from(error).hint_on(RefusalCode::NotFound, || list);
    context.engine.memories().find(&ScopeChain::of_session(session), reference).await.map_err(hinted)
}

fn lines(item: &MemoryItem) -> String {
    format!("{}\n  {}\n", paint(&shown_line(&memory_provenance(item)), DIM), shown_line(&item.content))
}
