//! Where a turn stands, and what comes next.

use std::time::Duration;

use crate::event::Event;
use crate::ids::TurnId;
use crate::model::{ModelReply, ToolCall, Usage};
use crate::turn::{ToolStatus, TurnEnd, TurnInput, TurnLimit, TurnLimits};

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    CallModel,
    RunTool(PendingCall),
    /// The turn is over.
    End(Over),
}

/// Why a turn is over. A plan that ended it is looked up by whoever carries the turn out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    Because(TurnEnd),
    /// A plan tool ended the planning.
    Planned,
}

/// A call without an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCall {
    /// The how-manieth of the turn, from 1.
    pub number: u32,
    pub call: ToolCall,
}

/// A turn that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub id: TurnId,
    replies: Vec<Exchange>,
    usage: Usage,
}

/// One reply of the model and what its calls came to so far.
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

impl Turn {
    pub fn new(id: TurnId) -> Self {
        Self { id, replies: Vec::new(), usage: Usage::default() }
    }

    /// The turn that these events leave open, if they leave one open.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let mut open: Option<Self> = None;
        for event in events {
            match event {
                Event::TurnBegun { turn, .. } => open = Some(Self::new(turn.clone())),
                Event::TurnEnded { .. } | Event::ConversationReset { .. } => open = None,
                _ => {
                    if let (Some(turn), Some(input)) = (&mut open, event.turn_input()) {
                        turn.take_in(&input);
                    }
                }
            }
        }
        open
    }

    pub fn take_in(&mut self, input: &TurnInput) {
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
        let over = |end| Effect::End(Over::Because(end));
        let limit = |limit| over(TurnEnd::LimitReached { limit });
        let Some(last) = self.replies.last() else { return Effect::CallModel };
        if last.statuses.contains(&ToolStatus::Settled) {
            return Effect::End(Over::Planned);
        }
        if last.reply.calls.is_empty() && !last.is_empty() {
            return over(TurnEnd::Answered);
        }
        if elapsed > limits.time {
            return limit(TurnLimit::Time);
        }
        // What came too often is not run once more.
        if self.repetitions() > limits.repetitions as usize {
            return over(TurnEnd::Looping);
        }
        if let Some(call) = last.pending() {
            let number = self.calls_ended() + 1;
            if number > limits.tool_calls {
                return limit(TurnLimit::ToolCalls);
            }
            return Effect::RunTool(PendingCall { number, call: call.clone() });
        }
        if self.ends_with(EMPTY_REPLIES, Exchange::is_empty) {
            return over(TurnEnd::NoAnswer);
        }
        if self.replies.len() >= limits.model_calls as usize {
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

    /// What the provider counted so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    pub fn model_calls(&self) -> usize {
        self.replies.len()
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
