//! Short ways to say what happens in a turn.

use planwright_core::ask::AskSubject;
use planwright_core::command::{Command, TurnCommand};
use planwright_core::conversation::{Compaction, Summarizer};
use planwright_core::ids::TurnId;
use planwright_core::model::{ModelReply, ToolCall, Usage};
use planwright_core::turn::{Purpose, ToolOutcome, ToolStatus, TurnEnd, TurnEnding, TurnInput};

pub(crate) fn begin(text: &str) -> Command {
    Command::Turn(TurnCommand::Begin { text: text.to_owned(), tokens: 3, purpose: Purpose::Answer })
}

/// A turn is named after the request that began it.
pub(crate) fn turn(request: &str) -> TurnId {
    TurnId::new(request).unwrap()
}

pub(crate) fn resume_turn(request: &str) -> Command {
    Command::Turn(TurnCommand::Resume { turn: turn(request) })
}

pub(crate) fn note(request: &str, inputs: Vec<TurnInput>) -> Command {
    Command::Turn(TurnCommand::Record { turn: turn(request), inputs, ending: None })
}

pub(crate) fn ask(request: &str, call: u32, subject: AskSubject) -> Command {
    Command::Turn(TurnCommand::Ask { turn: turn(request), call, subject })
}

pub(crate) fn end(request: &str) -> Command {
    finish(request, Vec::new(), ending(TurnEnd::Answered, ""))
}

pub(crate) fn ending(end: TurnEnd, text: &str) -> TurnEnding {
    TurnEnding { end, text: text.to_owned(), tokens: 4, shown: None }
}

pub(crate) fn finish(request: &str, inputs: Vec<TurnInput>, ending: TurnEnding) -> Command {
    Command::Turn(TurnCommand::Record { turn: turn(request), inputs, ending: Some(ending) })
}

pub(crate) fn stop() -> Command {
    Command::Turn(TurnCommand::Stop)
}

pub(crate) fn compact(kept_from: u64, summary: &str) -> Command {
    Command::Turn(TurnCommand::Compact(Compaction {
        kept_from,
        pinned: None,
        summary: summary.to_owned(),
        tokens: 5,
        by: Summarizer::Rules,
        messages: 2,
        run: None,
    }))
}

/// A reply with these words that calls a tool this often.
pub(crate) fn replied(text: &str, calls: usize) -> TurnInput {
    let call =
        |n| ToolCall { name: "read_file".to_owned(), arguments: format!("{{\"n\":{n}}}"), signatures: Vec::new() };
    let usage = Usage { input_tokens: 10, output_tokens: 20 };
    let reply = ModelReply { text: text.to_owned(), calls: (0..calls).map(call).collect(), usage, cut_off: false };
    TurnInput::Replied { reply, tokens: 7 }
}

pub(crate) fn tool_ended(call: u32, text: &str) -> TurnInput {
    let outcome = ToolOutcome { status: ToolStatus::Done, text: text.to_owned() };
    TurnInput::ToolEnded {
        call,
        outcome,
        tokens: 9,
        changes: planwright_core::workspace::CallChanges::default(),
        permissions: planwright_core::plan::execution::PermissionCounts::default(),
    }
}
