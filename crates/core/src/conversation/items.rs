//! What was said and done, item by item.

use std::ops::Range;

use crate::auto::AutoEvent;
use crate::conversation::model_notes;
use crate::event::{Event, SessionEvent, TurnEvent};
use crate::ids::{RunId, TurnId};
use crate::model::{ModelMessage, SentCall, ToolCall};
use crate::session::Compaction;
use crate::turn::{Purpose, ToolOutcome, TurnEnd, TurnEnding};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// What was said before the items, told shortly.
    pub summary: Option<Compaction>,
    pub items: Vec<ConversationItem>,
    /// Where it begins in the journal: after the last reset, or where the last compaction cut.
    from: u64,
    part: Part,
}

/// Which turns belong to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Part {
    /// Those in which a person is answered.
    #[default]
    WithPerson,
    /// The conversation with the person, while these turns are open apart from it, the last one within the one before.
    Beside(Vec<TurnId>),
    /// The ticks of one run, while this one is open.
    Run(RunId, Option<TurnId>),
    /// Only this one.
    Only(TurnId),
    /// Only this one, and it has to say how its step ended.
    Step(TurnId),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationItem {
    /// Its number in the journal.
    pub seq: u64,
    /// The tokens of what was said, without what a message takes besides.
    pub tokens: u32,
    pub content: ItemContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemContent {
    Person {
        text: String,
    },
    Model {
        text: String,
        calls: Vec<ToolCall>,
    },
    /// Stands behind the reply that made the call; results come in the order of the calls.
    Result {
        outcome: ToolOutcome,
    },
    /// What the model has to know about how a turn ended.
    Note {
        text: String,
    },
    /// What the specialist is told when a reply in a step has no report.
    Reminder {
        text: String,
    },
    /// What came of a run, whose own conversation is not read here. No summary has it, so that no other run reads it.
    RunResult {
        text: String,
    },
}

/// The tool that reads a plan. What it answers is shortened last, and never in its middle.
pub const READS_PLAN: &str = "plan_get";

/// Tokens that a message takes besides its text, in every provider's format.
pub const MESSAGE_TOKENS: u32 = 8;

impl Conversation {
    pub fn replay<'a>(entries: impl IntoIterator<Item = (u64, &'a Event)>) -> Self {
        let mut conversation = Self::default();
        for (seq, event) in entries {
            conversation.apply(seq, event);
        }
        conversation
    }

    /// What is said in one turn, apart from everything else.
    pub fn of_turn(turn: TurnId) -> Self {
        Self { part: Part::Only(turn), ..Self::default() }
    }

    /// What is said in the turns of one run.
    pub fn of_run(run: RunId) -> Self {
        Self { part: Part::Run(run, None), ..Self::default() }
    }

    /// Moves on by one entry of the journal. Entries that are not about the conversation change nothing.
    pub fn apply(&mut self, seq: u64, event: &Event) {
        match event {
            Event::Turn { id, event } => {
                if self.includes(id, event) {
                    self.apply_turn(seq, event);
                }
            }
            Event::Session(event) => match self.part {
                Part::WithPerson | Part::Beside(_) | Part::Run(..) => self.apply_session(seq, event),
                Part::Only(_) | Part::Step(_) => {}
            },
            Event::Auto(AutoEvent::RunEnded { result: Some(text), .. }) => match self.part {
                Part::WithPerson | Part::Beside(_) => {
                    let (text, tokens) = (model_notes::run_result(text), model_notes::run_result_tokens(text));
                    self.items.push(ConversationItem { seq, tokens, content: ItemContent::RunResult { text } });
                }
                Part::Run(..) | Part::Only(_) | Part::Step(_) => {}
            },
            Event::Workbook(_) | Event::Memory(_) | Event::Auto(_) | Event::Plan { .. } => {}
        }
    }

    /// Whether a turn's entry belongs to it.
    fn includes(&mut self, turn: &TurnId, event: &TurnEvent) -> bool {
        let begins_apart = matches!(event, TurnEvent::Begun { purpose, .. } if !purpose.is_conversation());
        match &mut self.part {
            Part::WithPerson if begins_apart => {
                self.part = Part::Beside(vec![turn.clone()]);
                false
            }
            Part::Beside(apart) if begins_apart => {
                apart.push(turn.clone());
                false
            }
            Part::WithPerson => true,
            Part::Beside(apart) => {
                let Some(place) = apart.iter().position(|open| open == turn) else { return true };
                if matches!(event, TurnEvent::Ended { .. }) {
                    apart.truncate(place);
                }
                if apart.is_empty() {
                    self.part = Part::WithPerson;
                }
                false
            }
            Part::Run(run, open) => {
                if let TurnEvent::Begun { purpose, .. } = event
                    && purpose.run().is_some_and(|context| context.run_id == *run)
                {
                    *open = Some(turn.clone());
                }
                open.as_ref() == Some(turn)
            }
            Part::Only(own) | Part::Step(own) => {
                let mine = own == turn;
                if mine && matches!(event, TurnEvent::Begun { purpose: Purpose::Step { .. }, .. }) {
                    self.part = Part::Step(turn.clone());
                }
                mine
            }
        }
    }

    fn apply_turn(&mut self, seq: u64, event: &TurnEvent) {
        let reports = matches!(self.part, Part::Step(_));
        let mut push = |tokens, content| self.items.push(ConversationItem { seq, tokens, content });
        match event {
            TurnEvent::Begun { text, tokens, .. } => push(*tokens, ItemContent::Person { text: text.clone() }),
            // Providers do not take a message with nothing in it.
            TurnEvent::ModelReplied { reply, .. } if reply.text.trim().is_empty() && reply.calls.is_empty() => {}
            TurnEvent::ModelReplied { reply, tokens } => {
                push(*tokens, ItemContent::Model { text: reply.text.clone(), calls: reply.calls.clone() });
                if reports && reply.calls.is_empty() {
                    push(model_notes::REPORT_TOKENS, ItemContent::Reminder { text: model_notes::REPORT.to_owned() });
                }
            }
            TurnEvent::ToolEnded { outcome, tokens, .. } => {
                push(*tokens, ItemContent::Result { outcome: outcome.clone() })
            }
            TurnEvent::Ended { ending } => {
                if let Some((tokens, text)) = note(ending) {
                    push(tokens, ItemContent::Note { text });
                }
            }
            _ => {}
        }
    }

    fn apply_session(&mut self, seq: u64, event: &SessionEvent) {
        match event {
            SessionEvent::Compacted { compaction } if compaction.run.as_ref() == self.run() => self.compact(compaction),
            // A reset ends the runs, whose conversations are over with them.
            SessionEvent::ConversationReset { .. } if !matches!(self.part, Part::Run(..)) => {
                *self = Self { from: seq, ..Self::default() };
            }
            _ => {}
        }
    }

    /// A summary that was overtaken by a reset or by a later summary changes nothing.
    fn compact(&mut self, compaction: &Compaction) {
        if compaction.kept_from < self.from {
            return;
        }
        self.from = compaction.kept_from;
        self.items.retain(|item| item.seq >= compaction.kept_from || Some(item.seq) == compaction.pinned);
        self.summary = Some(compaction.clone());
    }

    /// The run whose conversation it is.
    pub(crate) const fn run(&self) -> Option<&RunId> {
        match &self.part {
            Part::Run(run, _) => Some(run),
            Part::WithPerson | Part::Beside(_) | Part::Only(_) | Part::Step(_) => None,
        }
    }

    /// What all of it takes when it is sent.
    pub fn tokens(&self) -> u32 {
        let summary = self.summary.as_ref().map_or(0, summary_tokens);
        self.groups().iter().fold(summary, |sum, group| sum.saturating_add(self.group_tokens(group)))
    }

    /// What has to fit whole besides the rest: the newest words of the person, and the plan if it was read since. 0 if it
    /// was not.
    pub fn whole_tokens(&self) -> u32 {
        let Some((newest, read)) = self.newest_message().zip(self.newest_plan_read()) else { return 0 };
        let words = self.groups().into_iter().find(|group| group.start == newest);
        words.map_or(0, |words| self.group_tokens(&read).saturating_add(self.group_tokens(&words)))
    }

    /// The tokens of the plan that was read since the person's newest words, and of what follows it.
    pub fn tokens_since_plan(&self) -> Option<u32> {
        let read = self.newest_plan_read()?;
        let since = self.groups().into_iter().filter(|group| group.start >= read.start);
        Some(since.fold(0, |sum, group| sum.saturating_add(self.group_tokens(&group))))
    }

    /// The newest group that has the text of a plan, if it came after the person's newest words.
    fn newest_plan_read(&self) -> Option<Range<usize>> {
        let newest = self.newest_message()?;
        self.groups().into_iter().rev().find(|group| group.start > newest && self.reads_plan(group))
    }

    /// Whether the results of a group have the text of a plan.
    fn reads_plan(&self, group: &Range<usize>) -> bool {
        let first = self.items.get(group.start).map(|item| &item.content);
        matches!(first, Some(ItemContent::Model { calls, .. }) if calls.iter().any(|call| call.name == READS_PLAN))
    }

    /// The newest words of the person. In a step that is what is to be done, whatever we say about reports behind it.
    pub fn newest_message(&self) -> Option<usize> {
        let is_person = |item: &ConversationItem| matches!(item.content, ItemContent::Person { .. });
        match self.part {
            Part::Step(_) => self.items.iter().position(is_person),
            Part::WithPerson | Part::Beside(_) | Part::Run(..) | Part::Only(_) => {
                self.items.iter().rposition(is_person)
            }
        }
    }

    /// The items in groups that are only kept or dropped together: a reply with the results of its calls.
    pub(crate) fn groups(&self) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            match (&item.content, groups.last_mut()) {
                (ItemContent::Result { .. }, Some(group)) => group.end = index + 1,
                (
                    ItemContent::Person { .. }
                    | ItemContent::Model { .. }
                    | ItemContent::Note { .. }
                    | ItemContent::Reminder { .. }
                    | ItemContent::RunResult { .. }
                    | ItemContent::Result { .. },
                    _,
                ) => {
                    groups.push(index..index + 1);
                }
            }
        }
        groups
    }

    /// All of it, as it is sent.
    pub fn messages(&self) -> Vec<ModelMessage> {
        let mut messages: Vec<_> = self.summary.iter().map(|summary| model_notes::summary(&summary.summary)).collect();
        for group in self.groups() {
            messages.extend(self.group_messages(&group));
        }
        messages
    }

    /// What the messages of one group take.
    pub(crate) fn group_tokens(&self, group: &Range<usize>) -> u32 {
        let items = &self.items[group.clone()];
        let unanswered = match items.first().map(|item| &item.content) {
            Some(ItemContent::Model { calls, .. }) => calls.len().saturating_sub(items.len() - 1),
            Some(
                ItemContent::Person { .. }
                | ItemContent::Note { .. }
                | ItemContent::Reminder { .. }
                | ItemContent::RunResult { .. },
            ) => 0,
            Some(ItemContent::Result { .. }) | None => return 0,
        };
        let unanswered = u32::try_from(unanswered).unwrap_or(u32::MAX).saturating_mul(model_notes::NO_OUTCOME_TOKENS);
        items.iter().fold(unanswered, |sum, item| sum.saturating_add(item.tokens).saturating_add(MESSAGE_TOKENS))
    }

    /// The messages of one group. Every call has a result: one without an outcome says so.
    pub(crate) fn group_messages(&self, group: &Range<usize>) -> Vec<ModelMessage> {
        let items = &self.items[group.clone()];
        let Some((first, rest)) = items.split_first() else { return Vec::new() };
        let (text, calls) = match &first.content {
            ItemContent::Person { text } | ItemContent::Reminder { text } | ItemContent::RunResult { text } => {
                return vec![ModelMessage::User { text: text.clone() }];
            }
            ItemContent::Note { text } => {
                return vec![ModelMessage::Assistant { text: text.clone(), calls: Vec::new() }];
            }
            // A result without its call cannot be sent.
            ItemContent::Result { .. } => return Vec::new(),
            ItemContent::Model { text, calls } => (text, calls),
        };
        let ids: Vec<_> = (1..=calls.len()).map(|number| format!("call_{}_{number}", first.seq)).collect();
        let sent = ids.iter().zip(calls).map(|(id, call)| SentCall { id: id.clone(), call: call.clone() }).collect();
        let mut messages = vec![ModelMessage::Assistant { text: text.clone(), calls: sent }];
        for (index, (id, call)) in ids.into_iter().zip(calls).enumerate() {
            let (text, failed) = match rest.get(index).map(|item| &item.content) {
                Some(ItemContent::Result { outcome }) => (outcome.text.clone(), outcome.status.is_failure()),
                _ => (model_notes::NO_OUTCOME.to_owned(), true),
            };
            messages.push(ModelMessage::ToolResult { id, name: call.name.clone(), text, failed });
        }
        messages
    }
}

pub(crate) fn summary_tokens(summary: &Compaction) -> u32 {
    let frame = model_notes::summary_frame_tokens(&summary.summary);
    summary.tokens.saturating_add(frame).saturating_add(MESSAGE_TOKENS)
}

/// What the model reads about the end of a turn, and what it takes.
fn note(ending: &TurnEnding) -> Option<(u32, String)> {
    let note = match &ending.end {
        TurnEnd::Answered | TurnEnd::PlanReady { .. } | TurnEnd::NothingPlanned { .. } => return None,
        TurnEnd::Stopped => "[The person stopped this turn here.]",
        TurnEnd::LimitReached { .. } => "[This turn ended at one of its limits.]",
        TurnEnd::Looping => "[This turn was ended because the same calls came again and again.]",
        TurnEnd::NoAnswer => "[This turn ended without an answer.]",
        TurnEnd::ModelFailed { .. } => "[This turn ended because the model could not answer.]",
        TurnEnd::Interrupted => "[This turn was interrupted.]",
    };
    // Text that arrived before the stop belongs to the history; explanations for the person do not.
    let heard = matches!(ending.end, TurnEnd::Stopped).then_some(ending.text.trim()).filter(|text| !text.is_empty());
    Some(match heard {
        Some(heard) => (ending.tokens.saturating_add(model_notes::NOTE_TOKENS), format!("{heard}\n\n{note}")),
        None => (model_notes::NOTE_TOKENS, note.to_owned()),
    })
}
