//! What a person types, told apart: a message for the agent, a command, or a mistake with words for the person.
//!
//! - [`parse`]: the one way in, the same on every channel
//! - `table`: every command with its usage and help; parsing, help, suggestions and completion all read it
//! - `command`: what a command says once it is understood
//! - `plan`, `workspace`, `auto`, `arguments`, `selection`: what may follow a command's name
//! - `suggest`, `mistake`: what was probably meant, and how that is said
//! - [`help`], [`completions`]: the table as people see it
//! - `complete`: how a line that begins like a command may continue, one word at a time

mod arguments;
mod auto;
mod command;
mod complete;
mod help;
mod mistake;
mod plan;
mod selection;
mod suggest;
mod table;
mod workspace;

pub use command::{
    AutoSubcommand, ChangeSelection, Comparison, GoalSubcommand, MemorySubcommand, OnOff, PlanCommand, ProjectCommand,
    ScheduleSubcommand, SlashCommand, TaskSubcommand, ToolsCommand,
};
pub use complete::completions;
pub use help::help;
pub use mistake::Mistake;
pub use table::{CommandSpec, HelpGroup, offered};

use arguments::first_word;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedInput<'a> {
    /// For the agent, as it was typed.
    Message(&'a str),
    Command(SlashCommand),
    /// Meant as a command and not one. Nothing is done and the agent does not read it.
    Refused(Mistake),
}

/// A command is a slash and a word of letters. A path such as `/etc/passwd` has a second slash in its first word and
/// is a message; so is whatever begins with `//`, which stands for one slash.
pub fn parse(text: &str) -> ParsedInput<'_> {
    let Some(typed) = text.trim_start().strip_prefix('/') else { return ParsedInput::Message(text) };
    if typed.starts_with('/') {
        return ParsedInput::Message(typed);
    }
    if typed.trim().is_empty() {
        return ParsedInput::Refused(Mistake::no_such_command("", &[]));
    }
    let (word, rest) = first_word(typed);
    if !typed.starts_with(char::is_alphabetic) || word.contains('/') {
        return ParsedInput::Message(text);
    }
    // Chats with several bots write `/plan@SomeBot`; who a message is for was settled before it came here.
    let name = word.split('@').next().unwrap_or(word).to_lowercase();
    match command(&name, rest) {
        Ok(command) => ParsedInput::Command(command),
        Err(mistake) => ParsedInput::Refused(mistake),
    }
}

fn command(name: &str, rest: &str) -> Result<SlashCommand, Mistake> {
    if name == plan::NAME {
        return plan::command(rest);
    }
    // Names of several words are commands of `/plan`, so a single word finds only the others.
    match table::named(name) {
        Some(entry) => entry.read(rest),
        None => Err(Mistake::no_such_command(name, &suggestions(name, rest))),
    }
}

/// What was probably meant, with the rest of the line where that makes a whole command.
fn suggestions(name: &str, rest: &str) -> Vec<String> {
    suggest::nearest(name, offered())
        .into_iter()
        .map(|entry| Some(entry.line(rest)).filter(|line| is_command(line)).unwrap_or_else(|| entry.line("")))
        .collect()
}

fn is_command(text: &str) -> bool {
    match parse(text) {
        ParsedInput::Command(_) => true,
        ParsedInput::Message(_) | ParsedInput::Refused(_) => false,
    }
}
