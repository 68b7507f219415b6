//! What the model is shown of the memory: quoted, with who wrote each item and from where. The text says nothing that
//! changes by itself, and the items stand in the order of their scopes and times, so that it is the same byte for byte
//! while the same items are found.

use jiff::tz::TimeZone;

use crate::conversation::CountTokens;
use crate::memory::ranking::RankedMemory;
use crate::memory::{MemoryItem, MemoryOrigin, MemorySource};
use crate::visible::{quoted, visible};

const INTRODUCTION: &str = include_str!("memory.md");

/// The most items that are shown.
const MAX_ITEMS: usize = 12;
/// An item that is relevant by less than this part of the most relevant one is left out.
const MIN_RELEVANCE_SHARE: f64 = 0.3;

/// The block with the best of these items that fit into so many tokens. `None` if there is none to show.
pub fn memory_block(ranked: &[RankedMemory], most_tokens: u32, counter: &dyn CountTokens) -> Option<String> {
    // The scope decides about the order. Whether an item fits does not depend on it.
    let best = ranked.iter().map(RankedMemory::relevance).max_by(f64::total_cmp)?;
    let mut left = most_tokens.checked_sub(counter.count(INTRODUCTION))?;
    let mut shown: Vec<(&MemoryItem, String)> = Vec::new();
    for found in ranked.iter().filter(|found| found.relevance() >= MIN_RELEVANCE_SHARE * best).take(MAX_ITEMS) {
        let text = quoted_item(&found.item);
        let tokens = counter.count(&text);
        // A long item makes room for the shorter ones behind it.
        if tokens <= left {
            left -= tokens;
            shown.push((&found.item, text));
        }
    }
    if shown.is_empty() {
        return None;
    }
    shown.sort_by(|(a, _), (b, _)| (&a.scope, a.at, &a.id).cmp(&(&b.scope, b.at, &b.id)));
    let mut block = INTRODUCTION.trim_end().to_owned() + "\n";
    for (_, text) in shown {
        block.push('\n');
        block.push_str(&text);
    }
    Some(block)
}

/// One item: a line of ours that says who wrote it and from where, and its words, quoted.
fn quoted_item(item: &MemoryItem) -> String {
    let mut text = format!("{}\n", memory_provenance(item));
    for line in visible(item.content.trim()).lines() {
        text.push_str(if line.is_empty() { ">" } else { "> " });
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// ``, said by caroline on 2023-05-07 in `the support group` ``
fn said_elsewhere(origin: &MemoryOrigin) -> String {
    let mut said = ", said".to_owned();
    if let Some(author) = &origin.author {
        said.push_str(&format!(" by {}", visible(author).replace('\n', " ")));
    }
    if let Some(at) = origin.at {
        said.push_str(&format!(" on {}", at.to_zoned(TimeZone::UTC).date()));
    }
    if let Some(context) = &origin.context {
        said.push_str(&format!(" in {}", quoted(context)));
    }
    said
}

/// `[a1b2c3d4] fact by ada (person) through cli, 2026-05-07, session web:k3yk3y8x:`
pub fn memory_provenance(item: &MemoryItem) -> String {
    let date = item.at.to_zoned(TimeZone::UTC).date();
    let (kind, trust, through) = (item.kind, item.trust.as_str(), visible(&item.author.through).replace('\n', " "));
    let name = visible(&item.author.name).replace('\n', " ");
    let source = match &item.source {
        MemorySource::Person | MemorySource::Turn { .. } | MemorySource::Tool => String::new(),
        MemorySource::Plan { plan } => format!(", from plan {}", plan.short()),
        MemorySource::Workbook => ", from the workbook".to_owned(),
        MemorySource::Diary => ", from the diary".to_owned(),
        MemorySource::Promotion { session, promoted_by, .. } => {
            format!(", promoted from {session} by {}", visible(&promoted_by.name).replace('\n', " "))
        }
    };
    let said = item.origin.as_ref().map(said_elsewhere).unwrap_or_default();
    format!("[{}] {kind} by {name} ({trust}) through {through}, {date}, {}{source}{said}:", item.id.short(), item.scope)
}
