//! The conversation with the agent, in a terminal or in a pipe.
//!
//! - [`conversation`]: one exchange at a time: what is said goes out, progress is shown, the answer comes back
//! - [`confirmation`]: approvals that need a digest or a passphrase
//! - [`talk`]: a person at a terminal, prompt after prompt
//! - [`pipe`]: messages that are given at the start, or come line by line
//! - [`editor`]: the line that is being typed
//! - [`signals`]: Ctrl+C, and the wish of the system that the program ends
//! - [`view`]: how it is shown: live in a terminal, plainly, or as JSON
//! - [`stream`]: Markdown that comes in pieces
//! - [`lines`]: what happens meanwhile, each in a line
//! - [`output`]: what a command writes
//! - [`quiet`]: keys that are pressed meanwhile leave no trace on the screen

pub(crate) mod confirmation;
pub(crate) mod conversation;
mod editor;
pub(crate) mod lines;
pub(crate) mod output;
pub(crate) mod pipe;
mod quiet;
mod signals;
mod stream;
pub(crate) mod talk;
mod view;

/// People type these everywhere to leave, so they do here; they are no commands to the agent.
const LEAVING: [&str; 2] = ["/quit", "/exit"];

fn wants_to_leave(text: &str) -> bool {
    LEAVING.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}
