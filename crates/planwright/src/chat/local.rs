//! Commands of the terminal chat itself, which never reach the agent.

use planwright_core::plan::reference::PlanReference;

pub(super) const PREVIEW: &str = "/preview";
pub(super) const PICK: &str = "/pick";
pub(super) const COMMENT: &str = "/comment";
pub(super) const EDIT: &str = "/edit";
pub(super) const PAGE: &str = "/page";
/// What sends the comments.
const SEND: &str = "send";
/// The mark before a command of the shell.
const SHELL: char = '!';

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
    /// The text of a document is.
    EditPlan(PlanReference),
    /// What the recorded calls of a plan would do to files.
    Preview(Option<PlanReference>),
    /// The person ticks the steps that they approve.
    Pick(Option<PlanReference>),
    /// The plan in a pager.
    Page(Option<PlanReference>),
    /// Words about a step of the active plan, from 1, or about all of it. They are kept until they are sent.
    Comment {
        step: Option<usize>,
        text: String,
    },
    SendComments,
    /// How colours are drawn; without a name, which ways there are.
    Theme(Option<String>),
    /// A command of the shell.
    Run(String),
}

/// How a command is written, and what it does.
const USAGE: [(&str, &str); 11] = [
    ("/model [NAME]", "which model answers and which there are, or another one in this session from now on"),
    ("/cost", "the tokens of this session, and what they cost where `[[prices]]` says so"),
    ("/context", "how full the model's context is, with the rest of `/status`"),
    ("/clear", "an empty screen; the conversation stays"),
    ("/edit [plan]", "write a message in your editor (VISUAL, else EDITOR), or change the text of a document there"),
    ("/preview [plan]", "what recorded calls would do to files as they are now"),
    ("/pick [plan]", "approve the steps that you tick"),
    (
        "/comment [step] WORDS",
        "keep a comment on a step of the plan, or on all of it; `/comment send` sends what you kept",
    ),
    ("/page [plan]", "read the plan in your pager (PAGER, else less)"),
    ("/theme [NAME]", "how colours are drawn: standard, light, contrast, mono"),
    ("!COMMAND", "run a command of the shell in the session's folder, in the sandbox; the agent does not read it"),
];

/// The command, or what is wrong with it. `None` for every other line.
pub(super) fn parse(line: &str) -> Option<Result<LocalCommand, String>> {
    if let Some(command) = line.trim().strip_prefix(SHELL) {
        return Some(match command.trim() {
            "" => Err("Write the command behind the mark: `!cargo test`.".to_owned()),
            command => Ok(LocalCommand::Run(command.to_owned())),
        });
    }
    let mut words = line.split_whitespace();
    let name = words.next()?.to_lowercase();
    let rest = line.trim().get(name.len()..).unwrap_or_default().trim();
    if name == COMMENT {
        return Some(comment(rest));
    }
    let (argument, more) = (words.next(), words.next());
    if !names().any(|known| known == name) {
        return None;
    }
    if more.is_some() {
        return Some(Err(format!("Only one word can follow `{name}`.")));
    }
    Some(match (name.as_str(), argument) {
        ("/model", argument) => Ok(LocalCommand::Model(argument.map(str::to_owned))),
        ("/theme", argument) => Ok(LocalCommand::Theme(argument.map(str::to_owned))),
        (PREVIEW, plan) => optional(plan).map(LocalCommand::Preview),
        (PICK, plan) => optional(plan).map(LocalCommand::Pick),
        (PAGE, plan) => optional(plan).map(LocalCommand::Page),
        (EDIT, Some(plan)) => reference(plan).map(LocalCommand::EditPlan),
        (EDIT, None) => Ok(LocalCommand::Edit),
        ("/cost", None) => Ok(LocalCommand::Cost),
        ("/context", None) => Ok(LocalCommand::Context),
        ("/clear", None) => Ok(LocalCommand::Clear),
        (name, _) => Err(format!("Nothing can follow `{name}`.")),
    })
}

fn optional(plan: Option<&str>) -> Result<Option<PlanReference>, String> {
    plan.map(reference).transpose()
}

fn reference(plan: &str) -> Result<PlanReference, String> {
    plan.parse().map_err(|_| "Give the number of a plan; `/plans` lists them.".to_owned())
}

/// A number in front names a step.
fn comment(rest: &str) -> Result<LocalCommand, String> {
    if rest.eq_ignore_ascii_case(SEND) {
        return Ok(LocalCommand::SendComments);
    }
    let (first, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (step, text) = match first.trim_end_matches([':', '.']).parse::<usize>() {
        Ok(step) => (Some(step), words.trim()),
        Err(_) => (None, rest),
    };
    if text.is_empty() {
        return Err("Write the step and your words: `/comment 2 use a view`.".to_owned());
    }
    Ok(LocalCommand::Comment { step, text: text.to_owned() })
}

fn names() -> impl Iterator<Item = &'static str> {
    USAGE.iter().filter_map(|(usage, _)| usage.split(' ').next()).filter(|name| name.starts_with('/'))
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
        let comment = |step, text: &str| Some(Ok(LocalCommand::Comment { step, text: text.to_owned() }));
        for (line, expected) in [
            ("/model", Some(Ok(LocalCommand::Model(None)))),
            ("/MODEL ollama:qwen3", Some(Ok(LocalCommand::Model(Some("ollama:qwen3".to_owned()))))),
            ("/cost", Some(Ok(LocalCommand::Cost))),
            (" /clear ", Some(Ok(LocalCommand::Clear))),
            ("/preview 2", Some(Ok(LocalCommand::Preview("2".parse().ok())))),
            ("/pick", Some(Ok(LocalCommand::Pick(None)))),
            ("/page 1", Some(Ok(LocalCommand::Page("1".parse().ok())))),
            ("/edit", Some(Ok(LocalCommand::Edit))),
            ("/edit 1", Some(Ok(LocalCommand::EditPlan("1".parse().unwrap())))),
            ("/theme mono", Some(Ok(LocalCommand::Theme(Some("mono".to_owned()))))),
            ("/comment 2 use a view", comment(Some(2), "use a view")),
            ("/comment 2: use a view", comment(Some(2), "use a view")),
            ("/comment too long", comment(None, "too long")),
            ("/comment send", Some(Ok(LocalCommand::SendComments))),
            ("/comment 2", Some(Err("Write the step and your words: `/comment 2 use a view`.".to_owned()))),
            ("!cargo test -- one", Some(Ok(LocalCommand::Run("cargo test -- one".to_owned())))),
            ("! ls", Some(Ok(LocalCommand::Run("ls".to_owned())))),
            ("!", Some(Err("Write the command behind the mark: `!cargo test`.".to_owned()))),
            ("/clear now", Some(Err("Nothing can follow `/clear`.".to_owned()))),
            ("/model a b", Some(Err("Only one word can follow `/model`.".to_owned()))),
            ("/plan", None),
            ("model", None),
            ("wait!", None),
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
