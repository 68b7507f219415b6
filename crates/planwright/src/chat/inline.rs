//! The inline interface of the chat: a box at the bottom in which the person types, below it a line about where they are. What is
//! written stays in the terminal's own scroll-back. It is drawn with movements relative to the cursor, so that the terminal is never
//! asked where the cursor is.
//!
//! - [`input_box`]: what each key does to the box
//! - `composer`, `layout`: the text in it, the cursor, and both in rows
//! - `candidates`: what the word that is being typed can become
//! - `history`: what was sent before
//! - [`status_line`]: the line below
//! - `drawing`: all of it as rows
//! - `files`: the files of a project that can be named

mod candidates;
mod composer;
mod drawing;
mod files;
mod history;
pub(super) mod input_box;
mod layout;
pub(super) mod status_line;

/// The columns of the text in a window with so many.
pub(super) const fn text_width(columns: usize) -> usize {
    columns.saturating_sub(drawing::MARK_WIDTH)
}

/// Whether the terminal can show it. One that only writes lines cannot, and where keys cannot be read one by one it makes no sense.
pub(crate) fn fits_terminal() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term == "cons25" || term == "emacs");
    cfg!(unix) && !is_dumb
}
