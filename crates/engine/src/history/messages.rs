//! The conversation as people read it, from its end: messages of the person, replies and calls of the agent, and notes.

use std::collections::HashMap;
use std::ops::Range;

use jiff::{SignedDuration, Timestamp};
use planwright_core::actor::{Actor, ActorKind};
use planwright_core::event::{AutoEvent, Event, SessionEvent, TurnEvent};
use planwright_core::ids::{PlanId, RunId, TurnId};
use planwright_core::journal::Entry;
use planwright_core::model::ToolCall;
use planwright_core::session::SessionIdentity;
use planwright_core::turn::{Purpose, ToolStatus, TurnEnd, TurnEnding};
use planwright_core::visible::{quoted, visible};

use crate::ledger::{DamagedRow, Ledger, LedgerError, LedgerResult, Page};
use crate::lookup;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number in the journal.
    pub seq: u64,
    pub at: Timestamp,
    pub by: Actor,
    pub role: MessageRole,
    /// In Markdown.
    pub text: String,
    pub calls: Vec<MessageCall>,
    /// The plan that it shows or is about.
    pub plan: Option<PlanId>,
    /// The run whose turn it was said in, or whose result it is.
    pub run: Option<RunId>,
    /// How long the call took whose result this is: since the reply that made it, or the result before it.
    pub took: Option<SignedDuration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageRole {
    Person,
    Agent,
    /// The result of a call.
    Tool {
        name: String,
        status: ToolStatus,
    },
    /// A note of Planwright; for the end of a turn with its outcome.
    Note {
        outcome: Option<&'static str>,
    },
}

/// A call of the agent. `status` is `None` until it has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageCall {
    pub name: String,
    /// As the model wrote them.
    pub arguments: String,
    pub status: Option<ToolStatus>,
}

/// The number of entries of the first read.
const WINDOW: u64 = 256;
/// The number of entries of one read that looks for the last entry.
const PAGE: u32 = 1_000;
/// The number of entries after a page that are read as well, for the results of its last calls.
const LOOKAHEAD: u64 = 32;
/// A page is not longer than this, unless a single message is.
const PAGE_BYTES: usize = 1024 * 1024;

/// The newest messages before the entry `before`, in order: of the conversation with the person, or of one run. `next` is
/// the `before` of the page of older ones.
pub(super) async fn page(
    ledger: &dyn Ledger,
    session: &SessionIdentity,
    run: Option<&RunId>,
    before: Option<u64>,
    limit: u32,
) -> LedgerResult<Page<Message>> {
    let head = head(ledger, session).await?;
    let end = before.map_or(head + 1, |before| before.min(head + 1));
    let mut window = WINDOW;
    loop {
        let from = end.saturating_sub(window).max(1);
        let entries = u32::try_from(end.saturating_sub(from) + LOOKAHEAD).unwrap_or(u32::MAX);
        let extent = if from == 1 { Extent::FromTheBeginning } else { Extent::Window };
        let read = match ledger.conversation(session, from, entries).await {
            Ok(entries) => Reading::of(run, entries.into_iter().map(|entry| (entry.seq, Ok(entry))), extent),
            Err(LedgerError::Damaged { .. }) => {
                Reading::of(run, around_damage(ledger, session, from, entries).await?, extent)
            }
            Err(error) => return Err(error),
        };
        // Entries of a turn that began before `from` cannot be classified yet.
        let known = if from == 1 { 0 } else { read.known_from };
        if let Some(page) = read.page(known..end, limit as usize) {
            return Ok(page);
        }
        window = window.saturating_mul(4);
    }
}

/// The number of the last entry.
async fn head(ledger: &dyn Ledger, session: &SessionIdentity) -> LedgerResult<u64> {
    match lookup::stored_session(ledger, session).await {
        Ok(stored) => Ok(stored.head.seq),
        // The last entry cannot be read; it still has a number.
        Err(LedgerError::Damaged { .. }) => {
            let mut head = 0;
            loop {
                let entries = ledger.journal(session, head, PAGE).await?;
                let Some(last) = entries.last() else { return Ok(head) };
                head = last.seq;
            }
        }
        Err(error) => Err(error),
    }
}

/// The entries of the conversation as far as they can be read, and the others by name.
async fn around_damage(
    ledger: &dyn Ledger,
    session: &SessionIdentity,
    from: u64,
    limit: u32,
) -> LedgerResult<Vec<(u64, Result<Entry, DamagedRow>)>> {
    let sealed = ledger.journal(session, from.saturating_sub(1), limit).await?;
    let read = sealed.into_iter().map(|sealed| {
        let entry = serde_json::from_str::<Entry>(&sealed.body).map_err(|error| DamagedRow {
            what: format!("entry {} of the journal of {session}", sealed.seq),
            reason: error.to_string(),
        });
        (sealed.seq, entry)
    });
    let is_message = |entry: &Entry| entry.event.plan().is_none();
    Ok(read.filter(|(_, entry)| entry.as_ref().map_or(true, is_message)).collect())
}

/// Which entries were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    FromTheBeginning,
    /// Turns may have begun before the first of them.
    Window,
}

/// The number of the last messages that fit on a page.
fn kept(messages: &[Message], limit: usize) -> usize {
    let mut bytes = 0;
    let fitting = messages.iter().rev().take(limit).take_while(|message| {
        bytes += message.text.len();
        bytes <= PAGE_BYTES
    });
    fitting.count().max(messages.len().min(1))
}

/// Messages made from entries in order.
#[derive(Debug, Default)]
struct Reading {
    /// The run whose messages are read; those of the conversation with the person if there is none.
    of: Option<RunId>,
    messages: Vec<Message>,
    damaged: Vec<(u64, DamagedRow)>,
    /// Every entry from here on belongs to a turn that is known, or to none.
    known_from: u64,
    turns: HashMap<TurnId, TurnSoFar>,
}

/// A turn that was read.
#[derive(Debug, Default)]
struct TurnSoFar {
    /// Whether it is apart from what is read.
    apart: bool,
    run: Option<RunId>,
    /// For each of its calls, the message it was made in and its place there.
    calls: Vec<(usize, usize)>,
    /// When the last reply or result came.
    last: Option<Timestamp>,
}

impl Reading {
    fn of(
        run: Option<&RunId>,
        entries: impl IntoIterator<Item = (u64, Result<Entry, DamagedRow>)>,
        extent: Extent,
    ) -> Self {
        let mut reading = Self { of: run.cloned(), ..Self::default() };
        for (seq, entry) in entries {
            match entry {
                Ok(entry) => reading.apply(&entry, extent),
                Err(damaged) => reading.damaged.push((seq, damaged)),
            }
        }
        reading
    }

    /// The newest messages in the range; none if there may be more of them further back.
    fn page(self, range: Range<u64>, limit: usize) -> Option<Page<Message>> {
        let whole = range.start == 0;
        let mut messages = self.messages;
        messages.retain(|message| range.contains(&message.seq));
        if !whole && messages.len() <= limit {
            return None;
        }
        let kept = kept(&messages, limit);
        let older = messages.len() > kept;
        let items = messages.split_off(messages.len() - kept);
        let next = items.first().filter(|_| older).map(|first| first.seq);
        // Each damaged entry is named on the page that it would be on.
        let on_page = next.unwrap_or(0)..range.end;
        let damaged = self.damaged.into_iter().filter(|(seq, _)| on_page.contains(seq)).map(|(_, row)| row).collect();
        Some(Page { items, damaged, next })
    }

    fn apply(&mut self, entry: &Entry, extent: Extent) {
        if let Event::Turn { id: turn, event: TurnEvent::Begun { text, purpose, .. } } = &entry.event {
            let run = purpose.run().map(|context| context.run_id.clone());
            let apart = match &self.of {
                None => !purpose.is_conversation(),
                Some(own) => run.as_ref() != Some(own),
            };
            self.turns.insert(turn.clone(), TurnSoFar { apart, run, ..TurnSoFar::default() });
            if !apart {
                self.begin(entry, text, purpose);
            }
            return;
        }
        match entry.event.turn().map(|turn| self.turns.get(turn)) {
            // It began before the first entry that was read.
            Some(None) if extent == Extent::Window => self.known_from = entry.seq + 1,
            // The entry that began it is damaged. What was said in it is whole.
            Some(None) => {
                let apart = self.of.is_some();
                if let Some(turn) = entry.event.turn() {
                    self.turns.insert(turn.clone(), TurnSoFar { apart, ..TurnSoFar::default() });
                }
                if !apart {
                    self.add(entry);
                }
            }
            Some(Some(known)) if known.apart => {}
            Some(Some(_)) | None => self.add(entry),
        }
    }

    fn begin(&mut self, entry: &Entry, text: &str, purpose: &Purpose) {
        let role = match entry.by.kind {
            ActorKind::Person => MessageRole::Person,
            // Such as the text that gives an approved document to the agent.
            ActorKind::Agent | ActorKind::Policy | ActorKind::System => MessageRole::Note { outcome: None },
        };
        let (plan, run) = (purpose.plan().cloned(), purpose.run().map(|context| context.run_id.clone()));
        self.messages.push(Message { plan, run, ..message(entry, role, text) });
    }

    fn add(&mut self, entry: &Entry) {
        match &entry.event {
            Event::Turn { id, event } => {
                let first = self.messages.len();
                self.add_turn(entry, id, event);
                let run = self.turns.get(id).and_then(|turn| turn.run.clone());
                self.messages.iter_mut().skip(first).for_each(|message| message.run.clone_from(&run));
            }
            Event::Session(SessionEvent::Compacted { compaction }) if compaction.run != self.of => {}
            Event::Session(SessionEvent::ConversationReset { .. }) if self.of.is_some() => {}
            Event::Session(event) => self.messages.extend(noted(event).map(|text| note(entry, &text))),
            Event::Auto(AutoEvent::RunEnded { run, result: Some(result), .. })
                if self.of.as_ref().is_none_or(|own| own == run) =>
            {
                self.messages.push(Message { run: Some(run.clone()), ..note(entry, result) });
            }
            Event::Workbook(_) | Event::Memory(_) | Event::Auto(_) | Event::Plan { .. } => {}
        }
    }

    fn add_turn(&mut self, entry: &Entry, turn: &TurnId, event: &TurnEvent) {
        match event {
            TurnEvent::ModelReplied { reply, .. } if reply.text.trim().is_empty() && reply.calls.is_empty() => {}
            TurnEvent::ModelReplied { reply, .. } => {
                let at = self.messages.len();
                if let Some(known) = self.turns.get_mut(turn) {
                    known.calls.extend((0..reply.calls.len()).map(|call| (at, call)));
                    known.last = Some(entry.at);
                }
                let call = |call: &ToolCall| MessageCall {
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                    status: None,
                };
                let calls = reply.calls.iter().map(call).collect();
                self.messages.push(Message { calls, ..message(entry, MessageRole::Agent, &reply.text) });
            }
            TurnEvent::ToolEnded { call, outcome, .. } => {
                let Some(known) = self.turns.get_mut(turn) else { return };
                let made = call.checked_sub(1).and_then(|call| known.calls.get(call as usize));
                let Some(&(at, place)) = made else { return };
                let took = known.last.replace(entry.at).map(|last| entry.at.duration_since(last));
                let Some(made) = self.messages.get_mut(at).and_then(|message| message.calls.get_mut(place)) else {
                    return;
                };
                made.status = Some(outcome.status);
                let role = MessageRole::Tool { name: made.name.clone(), status: outcome.status };
                self.messages.push(Message { took, ..message(entry, role, &outcome.text) });
            }
            TurnEvent::Ended { ending } => self.messages.extend(ended(entry, ending)),
            TurnEvent::PermissionAsked { asked, .. } => {
                self.messages.push(note(entry, &format!("The agent asks to call {}.", quoted(&asked.tool))));
            }
            TurnEvent::PermissionAnswered { grant, note: added, arguments, .. } => {
                let answer = match (grant.permits(), arguments) {
                    (true, Some(changed)) => {
                        format!("permitted with other arguments: {}", visible(&changed.to_string()))
                    }
                    (true, None) => "permitted".to_owned(),
                    (false, _) => "not permitted".to_owned(),
                };
                let added = added.as_deref().map_or_else(String::new, |note| format!(": {note}"));
                self.messages.push(note(entry, &format!("The call was {answer} ({}){added}.", grant.as_str())));
            }
            TurnEvent::QuestionsAsked { questions, .. } => {
                let lines: Vec<_> = questions.iter().map(|question| question.text.as_str()).collect();
                self.messages.push(note(entry, &lines.join("\n")));
            }
            TurnEvent::QuestionsAnswered { answers, .. } => {
                self.messages.push(note(entry, &answers.join("\n")));
            }
            _ => {}
        }
    }
}

/// The note about an event of the session, if it has one.
fn noted(event: &SessionEvent) -> Option<String> {
    match event {
        SessionEvent::Compacted { compaction } => {
            Some(format!("{} messages are summarised for the model.", compaction.messages))
        }
        SessionEvent::ConversationReset { .. } => Some("The conversation was reset.".to_owned()),
        _ => None,
    }
}

fn note(entry: &Entry, text: &str) -> Message {
    message(entry, MessageRole::Note { outcome: None }, text)
}

/// The note about the end of a turn, if it has one.
fn ended(entry: &Entry, ending: &TurnEnding) -> Option<Message> {
    let own = if ending.end == TurnEnd::Stopped { "*Stopped.*" } else { "" };
    let parts = [ending.text.trim(), own].into_iter().filter(|part| !part.is_empty());
    let text = parts.collect::<Vec<_>>().join("\n\n");
    let plan = ending.shown.as_ref().map(|shown| &shown.plan).or(ending.end.plan()).cloned();
    let has_content = !text.is_empty() || plan.is_some();
    let role = MessageRole::Note { outcome: Some(ending.end.name()) };
    has_content.then(|| Message { plan, ..message(entry, role, &text) })
}

fn message(entry: &Entry, role: MessageRole, text: &str) -> Message {
    let (seq, at, by) = (entry.seq, entry.at, entry.by.clone());
    Message { seq, at, by, role, text: text.to_owned(), calls: Vec::new(), plan: None, run: None, took: None }
}

#[cfg(test)]
mod tests {
    use planwright_core::conversation::{Compaction, Summarizer};
    use planwright_core::ids::RequestId;
    use planwright_core::model::ModelReply;

    use super::*;

    fn entry(seq: u64, event: Event) -> Entry {
        Entry {
            session: "web:k3yk3y8x".parse().unwrap(),
            seq,
            at: Timestamp::UNIX_EPOCH,
            by: Actor::person("ada", "web"),
            request: RequestId::new(format!("request-{seq}")).unwrap(),
            event,
        }
    }

    /// A turn that began before what was read was compacted in its middle.
    #[test]
    fn what_stands_among_unknown_words_is_not_known_for_the_newest() {
        let turn = |name: &str| TurnId::new(name).unwrap();
        let replied = |name: &str| {
            let reply = ModelReply { text: "words".to_owned(), ..ModelReply::default() };
            Event::Turn { id: turn(name), event: TurnEvent::ModelReplied { reply, tokens: 1 } }
        };
        let begun = Event::Turn {
            id: turn("two"),
            event: TurnEvent::Begun { text: "hi".to_owned(), tokens: 1, purpose: Purpose::Answer },
        };
        let compacted = Compaction {
            summary: "short".to_owned(),
            tokens: 1,
            by: Summarizer::Rules,
            messages: 3,
            kept_from: 5,
            pinned: None,
            run: None,
        };
        let events = [
            replied("one"),
            Event::Session(SessionEvent::Compacted { compaction: compacted }),
            replied("one"),
            begun,
            replied("two"),
        ];
        let entries: Vec<_> = (10..).zip(events).map(|(seq, event)| entry(seq, event)).collect();
        let read = || {
            let entries = entries.iter().cloned().map(|entry| (entry.seq, Ok(entry)));
            Reading::of(None, entries, Extent::Window)
        };
        assert_eq!(read().known_from, 13);
        assert!(read().page(13..15, 2).is_none(), "there is more further back");
        let page = read().page(13..15, 1).unwrap();
        assert_eq!((page.items.len(), page.next), (1, Some(14)));
    }
}
