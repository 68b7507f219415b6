//! What a request shows of the memory: nothing of another task, of another goal, or of a task at all outside of its runs.

use planwright_core::model::{ModelMessage, ModelRequest};

use crate::world::World;

/// The run that a request belongs to, by the numbers that the person knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tick {
    pub(super) task: u64,
    pub(super) goal: Option<u64>,
}

/// The run of the turn that a request is made in, if it is one of a run.
pub(super) fn tick_in(request: &ModelRequest) -> Option<Tick> {
    tick(reply(request)?.1)
}

/// A word that is in what a run writes for its task alone, or for its goal.
pub(super) fn task_mark(task: u64) -> String {
    format!("taskQ{task}Q")
}

pub(super) fn goal_mark(goal: u64) -> String {
    format!("goalQ{goal}Q")
}

pub(super) fn check(world: &World, request: &ModelRequest) {
    let Some((place, text)) = reply(request) else { return };
    let own = tick(text);
    let may_read = |kind: &str, number: u64| match (own, kind) {
        (Some(tick), "task") => tick.task == number,
        (Some(tick), _) => tick.goal == Some(number),
        (None, _) => false,
    };
    // The block stands before the message that it was found for, and the results of searches behind it.
    let block = place.checked_sub(1).and_then(|before| request.messages.get(before)).and_then(block);
    let results = request.messages[place..].iter().filter_map(|message| match message {
        ModelMessage::ToolResult { name, text, .. } if name == "memory_search" => Some(text.as_str()),
        ModelMessage::ToolResult { .. } | ModelMessage::User { .. } | ModelMessage::Assistant { .. } => None,
    });
    for text in block.into_iter().chain(results) {
        for kind in ["task", "goal"] {
            for number in numbers(text, kind).into_iter().filter(|number| !may_read(kind, *number)) {
                world.wrong(format!("{own:?} reads what {kind} {number} remembers: {text}"));
            }
        }
    }
}

/// The message that the turn answers.
fn reply(request: &ModelRequest) -> Option<(usize, &str)> {
    let mut users = request.messages.iter().enumerate().rev().filter_map(|(place, message)| match message {
        ModelMessage::User { text } if block_text(text).is_none() => Some((place, text.as_str())),
        ModelMessage::User { .. } | ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. } => None,
    });
    // What Planwright reminds the agent of in a turn is not what the turn answers.
    users.find(|(_, text)| tick(text).is_some() || text.contains(" says "))
}

fn block(message: &ModelMessage) -> Option<&str> {
    match message {
        ModelMessage::User { text } => block_text(text),
        ModelMessage::Assistant { .. } | ModelMessage::ToolResult { .. } => None,
    }
}

fn block_text(text: &str) -> Option<&str> {
    text.starts_with("# Memory").then_some(text)
}

fn tick(text: &str) -> Option<Tick> {
    let head = text.lines().next()?;
    let (_, rest) = head.strip_prefix('[')?.split_once("_RUN ")?;
    let number = |text: &str| text.split(':').next()?.parse().ok();
    let task = number(rest.split_once(" with task ")?.1)?;
    let goal = head.rsplit_once(", for goal ").and_then(|(_, goal)| number(goal));
    Some(Tick { task, goal })
}

/// The numbers behind marks of this kind.
fn numbers(text: &str, kind: &str) -> Vec<u64> {
    let pieces = text.split(&format!("{kind}Q")).skip(1).filter_map(|piece| piece.split_once('Q')).collect::<Vec<_>>();
    pieces.into_iter().filter_map(|(number, _)| number.parse().ok()).collect()
}
