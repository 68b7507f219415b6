//! The conversation with the agent, in a terminal or in a pipe.
//!
//! - [`conversation`]: one exchange at a time: what is said goes out, progress is shown, the answer comes back
//! - [`confirmation`]: approvals that need a digest or a passphrase
//! - [`talk`]: a person at a terminal, prompt after prompt
//! - [`pipe`]: messages that are given at the start, or come line by line
//! - [`local`]: commands of the terminal chat itself
//! - [`session_models`]: the models that a person chose for sessions
//! - [`chosen_theme`]: how colours are drawn
//! - [`alert`]: the bell
//! - [`known_arguments`]: the sessions and plans that complete a line
//! - [`editor`]: the line that is being typed, in the line prompt
//! - [`inline`]: the box in which a person types, in the inline interface
//! - [`waiting`]: what waits for the person, shown before the prompt
//! - [`elsewhere`]: what other processes decide while the person is at the prompt
//! - [`view`]: how it is shown: live in a terminal, plainly, or as JSON
//! - [`short_answers`]: one letter instead of a command
//! - [`stream`]: Markdown that comes in pieces
//! - [`lines`]: what happens meanwhile, each in a line
//! - [`output`]: what a command writes
//! - [`shell`]: a command of the shell that a person runs
//! - [`step_ticks`]: the steps that a person ticks
//! - [`switching`]: `/switch` with a piece of a key or a title
//! - [`typeahead`]: which of what a person typed may be sent, given what they had on the screen
//! - [`keyboard`]: the keys that are pressed while the agent works
//! - [`typing`]: what of them waits

mod alert;
pub(crate) mod chosen_theme;
pub(crate) mod confirmation;
pub(crate) mod conversation;
mod editor;
mod elsewhere;
pub(crate) mod inline;
mod keyboard;
mod known_arguments;
pub(crate) mod lines;
mod local;
pub(crate) mod output;
pub(crate) mod pipe;
pub(crate) mod session_models;
mod shell;
mod short_answers;
mod step_ticks;
mod stream;
mod switching;
pub(crate) mod talk;
mod typeahead;
mod typing;
mod view;
mod waiting;

/// People type these everywhere to leave, so they do here; they are no commands to the agent.
const LEAVING: [&str; 2] = ["/quit", "/exit"];

fn wants_to_leave(text: &str) -> bool {
    LEAVING.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}
