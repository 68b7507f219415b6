//! `planwright` without a command, where no person can be asked. In a terminal it is the chat.

use crate::cli::Global;
use crate::failure::{Exit, ExitResult, Failure};
use crate::terminal::screen::Screen;

const OVERVIEW: &str = include_str!("../help/overview.txt");

pub(super) fn run(global: &Global) -> ExitResult {
    let screen = Screen::new(global.json);
    if screen.json {
        return Err(Failure::usage("no command was given").hint("planwright --help"));
    }
    screen.print(OVERVIEW)?;
    Ok(Exit::Done)
}
