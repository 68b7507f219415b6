//! The messages that are sent, within a number of tokens. Compaction changes what is remembered; this only chooses what
//! fits into one request, so that no request is ever too long.

use crate::conversation::items::{Conversation, MESSAGE_TOKENS, READS_PLAN, summary_tokens};
use crate::conversation::{CountTokens, clip, message_tokens, model_notes};
use crate::model::ModelMessage;
use crate::refusal::Refusal;

/// Results and arguments shorter than this are not worth leaving out.
const MIN_TOKENS: u32 = 40;

/// The conversation in at most `room` tokens. The person's newest words are always whole, and every result has its call.
pub fn fit(conversation: &Conversation, room: u32, counter: &dyn CountTokens) -> Result<Vec<ModelMessage>, Refusal> {
    if conversation.tokens() <= room {
        return Ok(conversation.messages());
    }
    let mut parts = Parts::of(conversation, counter);
    // The plan is the last thing that is left out.
    parts.shorten_older(room, counter, Group::has_no_plan);
    parts.drop_oldest(room, Group::has_no_plan);
    parts.clip_summary(room, counter);
    parts.clip_newest(room, counter);
    parts = parts.with_plan_for_summary(room, counter);
    parts.shorten_older(room, counter, |_| true);
    parts.drop_oldest(room, |_| true);
    parts.clip_newest(room, counter);
    parts.leave_out_newest(room);
    parts.leave_out_summary(room);
    parts.say_nothing_of_it(room);
    if parts.tokens() > room {
        return Err(Refusal::limit(format!(
            "The message needs about {} tokens with what belongs to it, and the model has room for {room}. \
             Say it in fewer words, or raise `context_tokens` if the model takes more.",
            parts.tokens()
        )));
    }
    Ok(parts.messages())
}

#[derive(Clone)]
struct Parts {
    /// The summary and what it takes as a message.
    summary: Option<(String, u32)>,
    groups: Vec<Group>,
    /// Whether something was left out, which the model is told.
    dropped: bool,
    /// What that takes as a message.
    notice_tokens: u32,
}

#[derive(Clone)]
struct Group {
    messages: Vec<ModelMessage>,
    tokens: u32,
    /// It is the person's newest words.
    is_newest: bool,
}

impl Group {
    fn recount(&mut self, counter: &dyn CountTokens) {
        self.tokens = all_tokens(&self.messages, counter);
    }

    fn has_no_plan(&self) -> bool {
        !self.messages.iter().any(is_plan)
    }
}

/// Whether it is the text of a plan.
fn is_plan(message: &ModelMessage) -> bool {
    matches!(message, ModelMessage::ToolResult { name, failed: false, .. } if name == READS_PLAN)
}

impl Parts {
    fn of(conversation: &Conversation, counter: &dyn CountTokens) -> Self {
        let newest = conversation.newest_message();
        let groups = conversation.groups().into_iter().map(|range| {
            let tokens = conversation.group_tokens(&range);
            Group { messages: conversation.group_messages(&range), tokens, is_newest: Some(range.start) == newest }
        });
        let summary = conversation.summary.as_ref().map(|summary| (summary.summary.clone(), summary_tokens(summary)));
        let notice_tokens = message_tokens(&notice(), counter);
        let mut parts = Self { summary, groups: groups.collect(), dropped: false, notice_tokens };
        // What was counted when it was said may have been counted by another model's measure.
        if let Some(group) = parts.groups.iter_mut().find(|group| group.is_newest) {
            group.recount(counter);
        }
        parts
    }

    fn tokens(&self) -> u32 {
        let summary = self.summary.as_ref().map_or(0, |(_, tokens)| *tokens);
        let dropped = if self.dropped { self.notice_tokens } else { 0 };
        self.groups.iter().fold(summary.saturating_add(dropped), |sum, group| sum.saturating_add(group.tokens))
    }

    /// Leaves out what older calls took and gave, the oldest first.
    fn shorten_older(&mut self, room: u32, counter: &dyn CountTokens, may: impl Fn(&Group) -> bool) {
        let newest = self.groups.len().saturating_sub(1);
        for index in 0..newest {
            if self.tokens() <= room {
                return;
            }
            let group = &mut self.groups[index];
            if group.messages.len() > 1 && may(group) {
                group.messages.iter_mut().for_each(|message| leave_out(message, counter));
                group.recount(counter);
            }
        }
    }

    /// Drops whole groups, the oldest first, but never the newest one nor the person's newest words.
    fn drop_oldest(&mut self, room: u32, may: impl Fn(&Group) -> bool) {
        let mut index = 0;
        while self.tokens() > room && index + 1 < self.groups.len() {
            if self.groups[index].is_newest || !may(&self.groups[index]) {
                index += 1;
            } else {
                self.groups.remove(index);
                self.dropped = true;
            }
        }
    }

    /// A summary takes at most an eighth.
    fn clip_summary(&mut self, room: u32, counter: &dyn CountTokens) {
        if self.tokens() <= room {
            return;
        }
        if let Some((text, tokens)) = &mut self.summary {
            *text = clip(text, room / 8, counter);
            *tokens = message_tokens(&model_notes::summary(text), counter);
        }
    }

    /// Without the summary, if the text of a plan fits then. A plan that does not fit anyway is no reason to leave the summary out.
    fn with_plan_for_summary(self, room: u32, counter: &dyn CountTokens) -> Self {
        if self.tokens() <= room {
            return self;
        }
        let mut without = self.clone();
        without.leave_out_summary(room);
        without.clip_newest(room, counter);
        if without.tokens() <= room { without } else { self }
    }

    fn leave_out_summary(&mut self, room: u32) {
        let blank = self.summary.as_ref().is_some_and(|(text, _)| text.trim().is_empty());
        if blank || (self.summary.is_some() && self.tokens() > room) {
            self.summary = None;
            self.dropped = true;
        }
    }

    /// The newest calls and results share what room there is, besides the text of a plan, which is whole or not there.
    fn clip_newest(&mut self, room: u32, counter: &dyn CountTokens) {
        if self.tokens() <= room {
            return;
        }
        let others = self.tokens() - self.groups.last().map_or(0, |group| group.tokens);
        let Some(group) = self.groups.last_mut().filter(|group| !group.is_newest) else { return };
        let (plans, shared): (Vec<_>, Vec<_>) = group.messages.iter().partition(|message| is_plan(message));
        let whole = plans.iter().fold(0_u32, |sum, plan| sum.saturating_add(message_tokens(plan, counter)));
        let count = u32::try_from(shared.len()).unwrap_or(u32::MAX).max(1);
        let mut share = room.saturating_sub(others).saturating_sub(whole) / count;
        while share > 0 {
            let texts = share.saturating_sub(MESSAGE_TOKENS);
            let short = |message: &ModelMessage| match is_plan(message) {
                true => message.clone(),
                false => clipped(message, texts, counter),
            };
            let messages: Vec<_> = group.messages.iter().map(short).collect();
            let tokens = all_tokens(&messages, counter);
            if others.saturating_add(tokens) <= room && messages.iter().all(says_something) {
                (group.messages, group.tokens) = (messages, tokens);
                return;
            }
            share /= 2;
        }
    }

    /// Not even its shortest form fits.
    fn leave_out_newest(&mut self, room: u32) {
        if self.tokens() > room && self.groups.last().is_some_and(|group| !group.is_newest) {
            self.groups.pop();
            self.dropped = true;
        }
    }

    /// The person's words matter more than that something is left out.
    fn say_nothing_of_it(&mut self, room: u32) {
        self.dropped &= self.tokens() <= room;
    }

    fn messages(self) -> Vec<ModelMessage> {
        let summary = self.summary.map(|(text, _)| model_notes::summary(&text));
        let dropped = self.dropped.then(notice);
        summary.into_iter().chain(dropped).chain(self.groups.into_iter().flat_map(|group| group.messages)).collect()
    }
}

fn notice() -> ModelMessage {
    ModelMessage::User { text: model_notes::DROPPED.to_owned() }
}

fn all_tokens(messages: &[ModelMessage], counter: &dyn CountTokens) -> u32 {
    messages.iter().fold(0, |sum, message| sum.saturating_add(message_tokens(message, counter)))
}

/// Providers do not take an answer with nothing in it.
fn says_something(message: &ModelMessage) -> bool {
    match message {
        ModelMessage::User { text } => !text.trim().is_empty(),
        ModelMessage::Assistant { text, calls } => !text.trim().is_empty() || !calls.is_empty(),
        ModelMessage::ToolResult { .. } => true,
    }
}

fn leave_out(message: &mut ModelMessage, counter: &dyn CountTokens) {
    match message {
        ModelMessage::User { .. } => {}
        ModelMessage::ToolResult { text, .. } => {
            if counter.count(text) > MIN_TOKENS {
                replace_if_shorter(text, model_notes::left_out(text));
            }
        }
        ModelMessage::Assistant { calls, .. } => {
            for sent in calls {
                leave_out_arguments(&mut sent.call.arguments, MIN_TOKENS, counter);
            }
        }
    }
}

/// Arguments have to stay an object; providers do not take anything else back.
fn leave_out_arguments(arguments: &mut String, most: u32, counter: &dyn CountTokens) {
    if counter.count(arguments) > most {
        replace_if_shorter(arguments, format!("{{\"left_out\":\"{} characters\"}}", arguments.chars().count()));
    }
}

fn replace_if_shorter(text: &mut String, other: String) {
    if other.len() < text.len() {
        *text = other;
    }
}

fn clipped(message: &ModelMessage, tokens: u32, counter: &dyn CountTokens) -> ModelMessage {
    let mut message = message.clone();
    match &mut message {
        ModelMessage::User { text } | ModelMessage::ToolResult { text, .. } => *text = clip(text, tokens, counter),
        ModelMessage::Assistant { text, calls } => {
            *text = clip(text, tokens / 2, counter);
            let share = tokens / 2 / u32::try_from(calls.len()).unwrap_or(u32::MAX).max(1);
            for sent in calls {
                leave_out_arguments(&mut sent.call.arguments, share, counter);
            }
        }
    }
    message
}
