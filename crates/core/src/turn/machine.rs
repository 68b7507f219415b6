//! Where a turn stands, and what comes next.

use std::time::Duration;

use crate::ids::TurnId;
use crate::model::{ModelReply, ToolCall, Usage};
use crate::turn::{Purpose, ToolStatus, TurnEnd, TurnInput, TurnLimit, TurnLimits};

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    CallModel,
    RunTool(PendingCall),
    /// The turn is over.
    End(EndReason),
}

/// Why a turn is over. The engine looks up the plan that ended it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    Because(TurnEnd),
    /// A plan tool ended the planning.
    Planned,
}

/// A call without an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCall {
    /// 1-based index within the turn.
    pub number: u32,
    pub call: ToolCall,
}

/// An open turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub id: TurnId,
    pub purpose: Purpose,
    replies: Vec<Exchange>,
    usage: Usage,
    /// What questions to specialists took; they are asked within the limits of the turn.
    asked: Asked,
}

/// How much was done elsewhere for a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Asked {
    replies: usize,
    calls: u32,
}

/// One reply of the model and the results of its calls so far.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Exchange {
    reply: ModelReply,
    statuses: Vec<ToolStatus>,
}

impl Exchange {
    fn pending(&self) -> Option<&ToolCall> {
        self.reply.calls.get(self.statuses.len())
    }

    fn is_empty(&self) -> bool {
        self.reply.calls.is_empty() && self.reply.text.trim().is_empty()
    }
}

/// An empty reply may be a hiccup; a second one is an answer.
const EMPTY_REPLIES: usize = 2;
/// A specialist that answers in words is told once that a step ends with a report.
const UNREPORTED_REPLIES: usize = 2;

impl Turn {
    pub fn new(id: TurnId, purpose: Purpose) -> Self {
        Self { id, purpose, replies: Vec::new(), usage: Usage::default(), asked: Asked::default() }
    }

    /// Something happened in a question that this turn waits for.
    pub fn note_asked(&mut self, input: &TurnInput) {
        match input {
            TurnInput::Replied { reply, .. } => {
                self.usage = self.usage + reply.usage;
                self.asked.replies += 1;
            }
            TurnInput::ToolEnded { .. } => self.asked.calls += 1,
        }
    }

    /// A question that was begun before a crash is resumed: what it used so far counts once, when it is absorbed.
    pub fn resume_question(&mut self, question: &Self) {
        let less = |all: u64, part: u64| all.saturating_sub(part);
        self.usage.input_tokens = less(self.usage.input_tokens, question.usage.input_tokens);
        self.usage.output_tokens = less(self.usage.output_tokens, question.usage.output_tokens);
        self.asked.replies = self.asked.replies.saturating_sub(question.model_calls());
        self.asked.calls = self.asked.calls.saturating_sub(question.calls_ended());
    }

    /// A question that this turn waited for has been answered.
    pub fn absorb(&mut self, question: &Self) {
        self.usage = self.usage + question.usage;
        self.asked.replies += question.model_calls();
        self.asked.calls += question.calls_ended();
    }

    /// What is left of these limits for a question that is asked now, after `elapsed`.
    pub fn left_of(&self, limits: &TurnLimits, elapsed: Duration) -> TurnLimits {
        let calls = u32::try_from(self.model_calls()).unwrap_or(u32::MAX);
        TurnLimits {
            model_calls: limits.model_calls.saturating_sub(calls),
            tool_calls: limits.tool_calls.saturating_sub(self.calls_ended() + self.asked.calls),
            tokens: limits.tokens.saturating_sub(self.usage.total()),
            time: limits.time.saturating_sub(elapsed),
            ..limits.clone()
        }
    }

    pub fn apply(&mut self, input: &TurnInput) {
        match input {
            TurnInput::Replied { reply, .. } => {
                self.usage = self.usage + reply.usage;
                self.replies.push(Exchange { reply: reply.clone(), statuses: Vec::new() });
            }
            TurnInput::ToolEnded { outcome, .. } => {
                if let Some(last) = self.replies.last_mut() {
                    last.statuses.push(outcome.status);
                }
            }
        }
    }

    /// What comes next, when `elapsed` has passed since the turn began.
    pub fn next(&self, limits: &TurnLimits, elapsed: Duration) -> Effect {
        let over = |end| Effect::End(EndReason::Because(end));
        let limit = |limit| over(TurnEnd::LimitReached { limit });
        let Some(last) = self.replies.last() else { return Effect::CallModel };
        if last.statuses.contains(&ToolStatus::Settled) {
            return Effect::End(EndReason::Planned);
        }
        let reports = matches!(self.purpose, Purpose::Step { .. });
        // A person decides about a call whose result is unknown, not the agent that carries out the plan.
        if reports && last.statuses.contains(&ToolStatus::Uncertain) {
            return over(TurnEnd::Interrupted);
        }
        let is_text = |exchange: &Exchange| exchange.reply.calls.is_empty() && !exchange.is_empty();
        if is_text(last) && (!reports || self.ends_with(UNREPORTED_REPLIES, is_text)) {
            return over(TurnEnd::Answered);
        }
        if elapsed > limits.time {
            return limit(TurnLimit::Time);
        }
        // Calls that were repeated too often are not run again.
        if self.repetitions() > limits.repetitions as usize {
            return over(TurnEnd::Looping);
        }
        if let Some(call) = last.pending() {
            let number = self.calls_ended() + 1;
            if number + self.asked.calls > limits.tool_calls {
                return limit(TurnLimit::ToolCalls);
            }
            return Effect::RunTool(PendingCall { number, call: call.clone() });
        }
        if self.ends_with(EMPTY_REPLIES, Exchange::is_empty) {
            return over(TurnEnd::NoAnswer);
        }
        if self.model_calls() >= limits.model_calls as usize {
            return limit(TurnLimit::ModelCalls);
        }
        if self.usage.total() > limits.tokens {
            return limit(TurnLimit::Tokens);
        }
        Effect::CallModel
    }

    pub fn last_reply(&self) -> Option<&ModelReply> {
        self.replies.last().map(|exchange| &exchange.reply)
    }

    /// The call of the last reply whose result is unknown: one that is said to be uncertain, else the one that was
    /// to be carried out.
    pub fn last_doubtful(&self) -> Option<&ToolCall> {
        let last = self.replies.last()?;
        let uncertain = last.statuses.iter().position(|status| *status == ToolStatus::Uncertain);
        last.reply.calls.get(uncertain.unwrap_or(last.statuses.len()))
    }

    /// How the last call of one of these tools ended.
    pub fn last_status(&self, is_one: impl Fn(&str) -> bool) -> Option<ToolStatus> {
        let ended = |exchange: &Exchange| {
            let mut calls = exchange.reply.calls.iter().zip(&exchange.statuses).rev();
            calls.find(|(call, _)| is_one(&call.name)).map(|(_, status)| *status)
        };
        self.replies.iter().rev().find_map(ended)
    }

    /// What the provider counted so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub fn model_calls(&self) -> usize {
        self.replies.len() + self.asked.replies
    }

    pub fn calls_ended(&self) -> u32 {
        let ended: usize = self.replies.iter().map(|exchange| exchange.statuses.len()).sum();
        u32::try_from(ended).unwrap_or(u32::MAX)
    }

    fn ends_with(&self, count: usize, is: impl Fn(&Exchange) -> bool) -> bool {
        self.replies.len() >= count && self.replies.iter().rev().take(count).all(is)
    }

    /// How often the calls of the last reply came before, without anything else in between.
    fn repetitions(&self) -> usize {
        let Some(last) = self.replies.last().filter(|last| !last.reply.calls.is_empty()) else { return 0 };
        let same = |other: &&Exchange| same_calls(&other.reply.calls, &last.reply.calls);
        self.replies.iter().rev().take_while(same).count() - 1
    }
}

fn same_calls(one: &[ToolCall], other: &[ToolCall]) -> bool {
    let plain = |call: &ToolCall| (call.name.clone(), call.arguments.clone());
    one.iter().map(plain).eq(other.iter().map(plain))
}
