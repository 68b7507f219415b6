//! Commands of the terminal chat itself, which never reach the agent.

use planwright_core::plan::reference::PlanReference;

pub(super) const PREVIEW: &str = "/preview";

/// What the chat does by itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LocalCommand {
    /// Another model answers in this session from now on; without a name, which one answers.
    Model(Option<String>),
    /// What the session has read, written and cost.
    Cost,
    /// How full the model's context is.
    Context,
    /// An empty screen.
    Clear,
    /// A message is written in the person's editor.
    Edit,
    /// What the recorded calls of a plan would do to files.
    Preview(Option<PlanReference>),
}

/// How a command is written, and what it does.
const USAGE: [(&str, &str); 6] = [
    ("/model [NAME]", "which model answers, or another one in this session from now on"),
    ("/cost", "the tokens of this session, and what they cost where `[[prices]]` says so"),
    ("/context", "how full the model's context is, with the rest of `/status`"),
    ("/clear", "an empty screen; the conversation stays"),
    ("/edit", "write a message in your editor (VISUAL, else EDITOR)"),
    ("/preview [plan]", "what recorded calls would do to files as they are now"),
];

/// The command, or what is wrong with it. `None` for every other line.
pub(super) fn parse(line: &str) -> Option<Result<LocalCommand, String>> {
    let mut words = line.split_whitespace();
    let name = words.next()?.to_lowercase();
    let (argument, more) = (words.next(), words.next());
    if !names().any(|known| known == name) {
        return None;
    }
    if more.is_some() {
        return Some(Err(format!("Only one word can follow `{name}`.")));
    }
    Some(match (name.as_str(), argument) {
        ("/model", argument) => Ok(LocalCommand::Model(argument.map(str::to_owned))),
        (PREVIEW, None) => Ok(LocalCommand::Preview(None)),
        (PREVIEW, Some(plan)) => match plan.parse() {
            Ok(plan) => Ok(LocalCommand::Preview(Some(plan))),
            Err(_) => Err("Give the number of a plan; `/plans` lists them.".to_owned()),
        },
        ("/cost", None) => Ok(LocalCommand::Cost),
        ("/context", None) => Ok(LocalCommand::Context),
        ("/clear", None) => Ok(LocalCommand::Clear),
        ("/edit", None) => Ok(LocalCommand::Edit),
        (name, _) => Err(format!("Nothing can follow `{name}`.")),
    })
}

fn names() -> impl Iterator<Item = &'static str> {
    USAGE.iter().filter_map(|(usage, _)| usage.split(' ').next())
}

/// The names that begin like this.
pub(super) fn completions(typed: &str) -> Vec<String> {
    let fits = |name: &&str| !typed.is_empty() && name.starts_with(typed) && *name != typed;
    names().filter(fits).map(str::to_owned).collect()
}

/// What a command does.
pub(super) fn about(name: &str) -> Option<&'static str> {
    let found = USAGE.iter().find(|(usage, _)| usage.split(' ').next() == Some(name));
    found.map(|(_, about)| *about)
}

/// What `/help` says about these commands, in Markdown.
pub(super) fn help() -> String {
    let lines: Vec<_> = USAGE.iter().map(|(usage, about)| format!("- `{usage}`: {about}")).collect();
    format!("**In this terminal**\n\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use planwright_core::slash::{self, ParsedInput};

    use super::*;

    #[test]
    fn a_line_is_a_command_of_the_terminal_or_of_the_agent() {
        for (line, expected) in [
            ("/model", Some(Ok(LocalCommand::Model(None)))),
            ("/MODEL ollama:qwen3", Some(Ok(LocalCommand::Model(Some("ollama:qwen3".to_owned()))))),
            ("/cost", Some(Ok(LocalCommand::Cost))),
            (" /clear ", Some(Ok(LocalCommand::Clear))),
            ("/preview 2", Some(Ok(LocalCommand::Preview("2".parse().ok())))),
            ("/clear now", Some(Err("Nothing can follow `/clear`.".to_owned()))),
            ("/model a b", Some(Err("Only one word can follow `/model`.".to_owned()))),
            ("/plan", None),
            ("model", None),
            ("", None),
        ] {
            assert_eq!(parse(line), expected, "{line:?}");
        }
    }

    /// A name that the agent knows would never reach it.
    #[test]
    fn no_command_of_the_agent_has_the_name_of_one() {
        for name in names() {
            assert!(matches!(slash::parse(name), ParsedInput::Refused(_)), "{name}");
        }
    }
}
