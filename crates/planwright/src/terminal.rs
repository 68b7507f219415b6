//! Turns values into text for a terminal. Only [`screen`] and [`live`] write, and only [`screen`] asks questions.
//!
//! The text of a plan is not trusted: it passes [`text::shown`] on its way in, and [`text::Span`] lets no control character
//! out.

pub(crate) mod call_line;
pub(crate) mod card;
pub(crate) mod chat_card;
pub(crate) mod checklist;
mod code;
pub(crate) mod diff;
pub(crate) mod file_diff;
pub(crate) mod history;
pub(crate) mod inbox;
pub(crate) mod json;
pub(crate) mod live;
pub(crate) mod markdown;
pub(crate) mod palette;
pub(crate) mod screen;
pub(crate) mod sessions;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod theme;
pub(crate) mod time;
pub(crate) mod watch;
