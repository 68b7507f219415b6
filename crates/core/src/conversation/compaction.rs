//! What compaction drops, and what takes its place.

use std::collections::BTreeMap;

use crate::conversation::items::{Conversation, ConversationItem, ItemContent};
use crate::session::{Compaction, Summarizer};
use crate::visible::visible;

/// Where a conversation is cut: everything before it is told in a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutPoint {
    /// The first item that is kept.
    index: usize,
    /// The person's newest words, if they stand before it.
    pinned: Option<usize>,
}

/// Cuts so that what is kept takes about `keep` tokens, and at least the newest group. There is nothing to cut if
/// everything would be kept.
pub fn cut(conversation: &Conversation, keep: u32) -> Option<CutPoint> {
    let newest = conversation.newest_message();
    let groups = conversation.groups();
    let mut kept = 0_u32;
    let mut index = conversation.items.len();
    for group in groups.iter().rev() {
        kept = kept.saturating_add(conversation.group_tokens(group));
        if kept > keep && index < conversation.items.len() {
            break;
        }
        index = group.start;
    }
    let pinned = newest.filter(|message| *message < index);
    let dropped = index - usize::from(pinned.is_some());
    (dropped > 0).then_some(CutPoint { index, pinned })
}

impl CutPoint {
    /// The record of this cut, with this summary.
    pub fn compaction(&self, conversation: &Conversation, summary: String, tokens: u32, by: Summarizer) -> Compaction {
        let seq = |index: usize| conversation.items.get(index).map(|item| item.seq);
        let kept_from = seq(self.index).unwrap_or_default();
        let before = conversation.summary.as_ref().map_or(0, |summary| summary.messages);
        let dropped = u32::try_from(self.dropped(conversation).count()).unwrap_or(u32::MAX);
        let messages = before.saturating_add(dropped);
        let run = conversation.run().cloned();
        Compaction { kept_from, pinned: self.pinned.and_then(seq), summary, tokens, by, messages, run }
    }

    fn dropped<'a>(&self, conversation: &'a Conversation) -> impl Iterator<Item = &'a ConversationItem> {
        let pinned = self.pinned;
        let before = conversation.items.iter().enumerate().take(self.index);
        before.filter(move |(index, _)| Some(*index) != pinned).map(|(_, item)| item)
    }

    /// The dropped items as text for the summarizer: at most `bytes` bytes, the newest first.
    pub fn transcript(&self, conversation: &Conversation, bytes: usize) -> String {
        const LINE: usize = 4_000;
        let mut lines = Vec::new();
        let mut room = bytes;
        let is_result = |item: &&ConversationItem| matches!(item.content, ItemContent::RunResult { .. });
        let items: Vec<_> = self.dropped(conversation).filter(|item| !is_result(item)).collect();
        for item in items.into_iter().rev() {
            let line = beginning(&told(item, LINE), LINE.min(room.saturating_sub(1 + ELLIPSIS.len())));
            if line == ELLIPSIS {
                break;
            }
            room -= line.len() + 1;
            lines.push(line);
        }
        let before = conversation
            .summary
            .iter()
            .map(|summary| format!("Summary so far:\n  {}\n", short(&summary.summary, usize::MAX)));
        before.chain(lines.into_iter().rev()).collect::<Vec<_>>().join("\n")
    }

    /// A summary made without a model: what the person said, what was used, and the last answer.
    pub fn rules_summary(&self, conversation: &Conversation) -> String {
        const MAX_MESSAGE: usize = 300;
        const MAX_ENTRIES: usize = 20;
        let mut messages = Vec::new();
        let mut tools: BTreeMap<&str, usize> = BTreeMap::new();
        let mut answer = None;
        for item in self.dropped(conversation) {
            match &item.content {
                ItemContent::Person { text } => messages.push(short(text, MAX_MESSAGE)),
                ItemContent::Model { text, calls } => {
                    calls.iter().for_each(|call| *tools.entry(&call.name).or_default() += 1);
                    answer = Some(text.as_str()).filter(|text| !text.trim().is_empty()).or(answer);
                }
                ItemContent::Result { .. }
                | ItemContent::Note { .. }
                | ItemContent::Reminder { .. }
                | ItemContent::RunResult { .. } => {}
            }
        }
        let mut parts = Vec::new();
        if let Some(before) = &conversation.summary {
            parts.push(beginning(&before.summary, 4 * MAX_MESSAGE));
        }
        let skipped = messages.len().saturating_sub(MAX_ENTRIES);
        if skipped > 0 {
            parts.push(format!("({skipped} older requests of the person are left out.)"));
        }
        parts.extend(messages.iter().skip(skipped).map(|message| format!("- The person said: {message}")));
        if !tools.is_empty() {
            let used = tools.iter().take(MAX_ENTRIES).map(|(name, count)| format!("{} ({count}×)", short(name, NAME)));
            let more = Some(tools.len().saturating_sub(MAX_ENTRIES))
                .filter(|more| *more > 0)
                .map(|more| format!("{more} more"));
            parts.push(format!("Tools used: {}", used.chain(more).collect::<Vec<_>>().join(", ")));
        }
        if let Some(answer) = answer {
            parts.push(format!("The last answer began: {}", short(answer, 2 * MAX_MESSAGE)));
        }
        if parts.is_empty() { "Nothing of note was said.".to_owned() } else { parts.join("\n") }
    }
}

/// A conversation in short, made without a model. `None` if nothing was said in it.
pub fn brief(conversation: &Conversation) -> Option<String> {
    if conversation.items.is_empty() && conversation.summary.is_none() {
        return None;
    }
    Some(CutPoint { index: conversation.items.len(), pinned: None }.rules_summary(conversation))
}

fn told(item: &ConversationItem, most: usize) -> String {
    match &item.content {
        ItemContent::Person { text } => format!("Person: {}", short(text, most)),
        ItemContent::Note { text } | ItemContent::Reminder { text } | ItemContent::RunResult { text } => {
            format!("Note: {}", short(text, most))
        }
        ItemContent::Result { outcome } => {
            let how = if outcome.status.is_failure() { "failed" } else { "returned" };
            format!("It {how}: {}", short(&outcome.text, most / 4))
        }
        ItemContent::Model { text, calls } => {
            let calls = calls
                .iter()
                .map(|call| format!("Agent calls {} {}", short(&call.name, NAME), short(&call.arguments, most / 8)));
            let text = Some(text.trim()).filter(|text| !text.is_empty());
            let text = text.map(|text| format!("Agent: {}", short(text, most)));
            text.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
        }
    }
}

const ELLIPSIS: &str = "…";

/// As much of a tool's name as is told.
const NAME: usize = 60;

/// The beginning of a text. All lines but the first are indented, so that they cannot pass for another speaker's.
fn short(text: &str, most: usize) -> String {
    beginning(&visible(text.trim()).replace('\n', "\n  "), most)
}

fn beginning(text: &str, most: usize) -> String {
    if text.len() <= most { text.to_owned() } else { format!("{}{ELLIPSIS}", &text[..text.floor_char_boundary(most)]) }
}
