//! Which of what a person typed may be sent, given what was on the screen when they began to type it.
//!
//! This is the rule alone; [`super::keyboard`] reads the keys and [`super::talk`] follows the rule. A decision counts only
//! if the person began it with its card on the screen. A message is never the answer to something that was drawn after
//! the person began to write it. What may not be sent comes back to the line that is being typed, and Enter sends it.

mod queue;

use planwright_core::ids::{AskId, PlanId};
use planwright_core::plan::Digest;
use planwright_core::plan::waiting::WaitingFor;
use planwright_core::slash::{
    self, AutoSubcommand, MemorySubcommand, ParsedInput, PlanCommand, SlashCommand, ToolsCommand,
};

pub(super) use queue::{Key, Next, Queue};

use super::short_answers::{self, Meaning, ShortAnswer};

/// What waits for the person in their session and is on the screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cards {
    pub(super) plan: Option<WaitingPlan>,
    pub(super) ask: Option<WaitingAsk>,
}

/// The version of a plan that was drawn, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WaitingPlan {
    pub(super) plan: PlanId,
    pub(super) digest: Digest,
    pub(super) wants: WaitingFor,
    /// What a letter stands for while it is on the screen.
    pub(super) answers: Vec<ShortAnswer>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WaitingAsk {
    pub(super) ask: AskId,
    pub(super) kind: AskKind,
    /// What a letter stands for while it is on the screen.
    pub(super) answers: Vec<ShortAnswer>,
}

impl Cards {
    /// The letters that stand for something now. What the agent asks comes first.
    pub(super) fn short_answers(&self) -> &[ShortAnswer] {
        match (&self.ask, &self.plan) {
            (Some(ask), _) => &ask.answers,
            (None, Some(plan)) => &plan.answers,
            (None, None) => &[],
        }
    }

    /// Why a line comes back that was begun before these cards.
    fn newest(&self) -> ReturnReason {
        match (&self.ask, &self.plan) {
            (Some(ask), _) => ask.kind.why(),
            (None, Some(_)) => ReturnReason::Plan,
            (None, None) => ReturnReason::NoCard,
        }
    }

    /// What the line means as a short answer, if it is one.
    pub(super) fn meaning(&self, text: &str) -> Option<Meaning> {
        short_answers::meaning(text, self.short_answers())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskKind {
    Permission,
    Question,
}

/// When the person began to type a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TypingStart {
    /// At the prompt that was drawn below these cards.
    AtPrompt(Cards),
    /// Before it, when these cards were on the screen.
    Earlier(Cards),
}

impl TypingStart {
    /// At a prompt that is gone.
    pub(super) fn earlier(self) -> Self {
        Self::Earlier(self.cards())
    }

    pub(super) fn cards(self) -> Cards {
        match self {
            Self::AtPrompt(cards) | Self::Earlier(cards) => cards,
        }
    }
}

/// What becomes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendDecision {
    Send,
    Return(ReturnReason),
}

/// Why a text comes back to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReturnReason {
    /// The plan that it may be about was drawn later.
    Plan,
    Question,
    Permission,
    /// It decides something, and nothing that it could be about is on the screen.
    NoCard,
    /// What it is about has changed since the prompt was drawn.
    Changed,
    /// The person stopped the agent after they had typed it.
    Stopped,
}

impl ReturnReason {
    /// What the person reads above the line.
    pub(super) const fn explanation(self) -> &'static str {
        match self {
            Self::Plan => "You typed this before the plan was on the screen; press Enter to send it.",
            Self::Question => {
                "You typed this before the question was on the screen; press Enter to send it as your answer."
            }
            Self::Permission => "You typed this before the agent asked for permission; it was not sent.",
            Self::NoCard => "You typed this before the agent was done; press Enter to send it.",
            Self::Changed => "This has changed since you saw it; read it again, then press Enter to send your line.",
            Self::Stopped => "You stopped the agent; press Enter to send what you had typed.",
        }
    }
}

/// Whether a text may be sent while `now` is on the screen. A letter counts as the command that it stands for, if it stood for the
/// same one when it was typed.
pub(super) fn rule(text: &str, begun: &TypingStart, now: &Cards) -> SendDecision {
    let (TypingStart::AtPrompt(then) | TypingStart::Earlier(then)) = begun;
    match (then.meaning(text), now.meaning(text)) {
        (None, None) => rule_of(text, begun, now),
        (Some(Meaning::Command(meant)), Some(Meaning::Command(means))) if meant == means => rule_of(&means, begun, now),
        (Some(Meaning::Begin(meant)), Some(Meaning::Begin(means))) if meant == means => SendDecision::Send,
        (Some(_) | None, Some(_) | None) => SendDecision::Return(match begun {
            TypingStart::AtPrompt(_) => ReturnReason::Changed,
            TypingStart::Earlier(_) => now.newest(),
        }),
    }
}

fn rule_of(text: &str, begun: &TypingStart, now: &Cards) -> SendDecision {
    match (effect(text), begun) {
        (Effect::Looks, _) => SendDecision::Send,
        (Effect::Acts, TypingStart::AtPrompt(then) | TypingStart::Earlier(then)) => match &now.ask {
            Some(ask) if then.ask.as_ref() != Some(ask) => SendDecision::Return(ask.kind.why()),
            Some(_) | None => SendDecision::Send,
        },
        (Effect::Decides(subject), TypingStart::AtPrompt(then)) => match subject.is_same(then, now) {
            true => SendDecision::Send,
            false => SendDecision::Return(ReturnReason::Changed),
        },
        (Effect::Decides(subject), TypingStart::Earlier(then)) => {
            match subject.is_on(now) && subject.is_same(then, now) {
                true => SendDecision::Send,
                false => SendDecision::Return(subject.why(now)),
            }
        }
    }
}

/// What a text does when it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It changes nothing.
    Looks,
    /// A message, or a command that gives the agent something to do or arranges the conversation.
    Acts,
    Decides(Subject),
}

/// What a decision is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    Plan,
    Ask,
    /// Something that the command names, or the state of the session; it has no card.
    NoCard,
}

impl Subject {
    fn is_on(self, screen: &Cards) -> bool {
        match self {
            Self::Plan => screen.plan.is_some(),
            Self::Ask => screen.ask.is_some(),
            Self::NoCard => false,
        }
    }

    fn is_same(self, then: &Cards, now: &Cards) -> bool {
        match self {
            Self::Plan => then.plan == now.plan,
            Self::Ask => then.ask == now.ask,
            Self::NoCard => true,
        }
    }

    fn why(self, now: &Cards) -> ReturnReason {
        match (self, now) {
            (Self::Plan, Cards { plan: Some(_), .. }) => ReturnReason::Plan,
            (Self::Plan | Self::Ask, Cards { ask: Some(ask), .. }) => ask.kind.why(),
            (Self::Plan | Self::Ask | Self::NoCard, _) => ReturnReason::NoCard,
        }
    }
}

impl AskKind {
    const fn why(self) -> ReturnReason {
        match self {
            Self::Permission => ReturnReason::Permission,
            Self::Question => ReturnReason::Question,
        }
    }
}

fn effect(text: &str) -> Effect {
    match slash::parse(text) {
        ParsedInput::Message(_) => Effect::Acts,
        ParsedInput::Refused(_) => Effect::Looks,
        ParsedInput::Command(command) => command_effect(&command),
    }
}

fn command_effect(command: &SlashCommand) -> Effect {
    match command {
        SlashCommand::Plan(
            PlanCommand::Approve { .. }
            | PlanCommand::Reject { .. }
            | PlanCommand::Revise { .. }
            | PlanCommand::Cancel { .. }
            | PlanCommand::Resume { .. }
            | PlanCommand::Done,
        ) => Effect::Decides(Subject::Plan),
        SlashCommand::Allow { code: Some(_), .. } | SlashCommand::Deny { .. } | SlashCommand::Answer { .. } => {
            Effect::Decides(Subject::Ask)
        }
        SlashCommand::Tools(ToolsCommand::Accept { code: Some(_), .. })
        | SlashCommand::Memory(
            MemorySubcommand::Promote { .. }
            | MemorySubcommand::Forget { .. }
            | MemorySubcommand::Undo
            | MemorySubcommand::Accept { .. }
            | MemorySubcommand::Decline { .. },
        )
        | SlashCommand::Auto(AutoSubcommand::Resume { .. })
        | SlashCommand::Undo(_)
        | SlashCommand::Reset => Effect::Decides(Subject::NoCard),
        command if command.is_look() => Effect::Looks,
        _ => Effect::Acts,
    }
}

#[cfg(test)]
mod tests;
