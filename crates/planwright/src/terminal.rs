//! How things look in a terminal. Everything here turns values into text; only [`screen`] and [`live`] write, and only
//! [`screen`] asks.
//!
//! What a plan says was written by somebody else, so it passes [`text::shown`] on its way in and no control character
//! leaves [`text::Span`] on its way out.

pub(crate) mod card;
pub(crate) mod chat_card;
pub(crate) mod diff;
pub(crate) mod history;
pub(crate) mod json;
pub(crate) mod live;
pub(crate) mod markdown;
pub(crate) mod palette;
pub(crate) mod screen;
pub(crate) mod sessions;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod watch;
