//! What a person sees on a terminal: everything that is written to it goes through a model of a screen.
#![cfg(target_os = "linux")]

use std::num::NonZeroU16;

use crate::terminal::Terminal;
use crate::world::World;

const PROGRAM: &str = env!("CARGO_BIN_EXE_planwright");

/// A chat in the inline interface, and its screen.
pub(crate) struct InlineChat {
    terminal: Terminal,
    model: vt100::Parser,
}

impl InlineChat {
    pub(crate) fn start(world: &World, columns: u16, arguments: &str, variables: &[(&str, &str)]) -> Self {
        let line = format!("stty cols {columns} rows 30; exec {PROGRAM} chat {arguments}");
        Self::start_line(world, columns, &line, variables)
    }

    /// Any line of the shell in a window of so many columns and 30 rows.
    pub(crate) fn start_line(world: &World, columns: u16, line: &str, variables: &[(&str, &str)]) -> Self {
        let variables = [[("PLANWRIGHT_CHAT_INTERFACE", "inline")].as_slice(), variables].concat();
        let size = |number| NonZeroU16::new(number).unwrap();
        let model = vt100::Parser::new(size(30), size(columns), 1_000);
        Self { terminal: Terminal::start_with(world, line, &variables), model }
    }

    /// The rows of the screen, without the empty ones at the end.
    pub(crate) fn screen(&self) -> String {
        let columns = self.model.screen().size().1.get();
        let rows: Vec<_> = self.model.screen().rows(0, columns).map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// The row and the column of the cursor.
    pub(crate) fn cursor(&self) -> (u16, u16) {
        self.model.screen().cursor_position()
    }

    /// Waits until the text is on the screen.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) {
        self.waits(text, |screen| screen.contains(text));
    }

    /// Waits until the text is on the screen no more.
    #[track_caller]
    pub(crate) fn loses(&mut self, text: &str) {
        self.waits(text, |screen| !screen.contains(text));
    }

    #[track_caller]
    pub(crate) fn waits(&mut self, what: &str, is_there: impl Fn(&str) -> bool) {
        while !is_there(&self.screen()) {
            let bytes = self.terminal.read_some();
            assert!(!bytes.is_empty(), "{what:?} never came:\n{}", self.screen());
            self.model.process(&bytes);
        }
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.terminal.type_in(text);
    }

    /// Waits until the box waits for a message, with the cursor in it.
    #[track_caller]
    pub(crate) fn prompt(&mut self) {
        self.waits("the box", |screen| screen.contains("› write a message") || screen.contains("› press a letter"));
    }

    /// The screen as it is drawn whole.
    pub(crate) fn drawn_screen(&mut self) -> String {
        // Each drawing ends like this.
        while !self.terminal.seen().ends_with("\u{1b}[?2026l") {
            let bytes = self.terminal.read_some();
            assert!(!bytes.is_empty(), "the chat has ended:\n{}", self.screen());
            self.model.process(&bytes);
        }
        self.screen()
    }

    #[track_caller]
    pub(crate) fn quit(mut self) {
        self.type_in("/quit\r");
        let (seen, code) = self.terminal.end();
        assert_eq!(code, 0, "{seen}");
    }

    pub(crate) fn end(self) -> (String, i32) {
        self.terminal.end()
    }
}
