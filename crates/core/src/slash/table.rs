//! Every command there is, in one table.

use super::arguments::{
    ArgumentProblem, Read, at_most_one_word, first_word, needed_text, nothing, some_text, split_at_mark,
};
use super::command::PlanCommand::{Done, Off, Status};
use super::command::{MemorySubcommand, SlashCommand, ToolsCommand};
use super::mistake::Mistake;
use super::{auto, plan, workspace};
use crate::ask::Grant;
use crate::refusal::Refusal;
use crate::session::ConversationKey;
use crate::visible::quoted;

/// One command as people see it.
#[derive(Debug)]
pub struct CommandSpec {
    /// Without its slash.
    pub name: &'static str,
    /// What follows the name, as usage shows it; empty if nothing does.
    pub arguments: &'static str,
    /// One line.
    pub help: &'static str,
    /// A line that is this command.
    pub example: &'static str,
    pub group: HelpGroup,
    reader: fn(&str) -> Read,
}

/// The hex digits of a digest that a person has to type.
const MIN_CODE: usize = 4;

/// The hex digits of a code as it is shown. Where words may follow, only so many are a code and not a word.
const WHOLE_CODE: usize = 8;

/// Under what help lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelpGroup {
    PlanWork,
    Deciding,
    Talking,
    OnItsOwn,
    LookingAround,
}

impl HelpGroup {
    pub const ALL: [Self; 5] = [Self::PlanWork, Self::Deciding, Self::Talking, Self::OnItsOwn, Self::LookingAround];

    pub const fn title(self) -> &'static str {
        match self {
            Self::PlanWork => "Plan work",
            Self::Deciding => "Plans",
            Self::Talking => "Conversation",
            Self::OnItsOwn => "On its own",
            Self::LookingAround => "Looking around",
        }
    }
}

/// Every command, in the order of the help.
pub fn offered() -> impl Iterator<Item = &'static CommandSpec> {
    TABLE.iter()
}

pub(super) fn named(name: &str) -> Option<&'static CommandSpec> {
    TABLE.iter().find(|entry| entry.name == name)
}

impl CommandSpec {
    /// With its slash and what follows it.
    pub fn usage(&self) -> String {
        self.line(self.arguments)
    }

    pub fn line(&self, rest: &str) -> String {
        if rest.is_empty() { format!("/{}", self.name) } else { format!("/{} {rest}", self.name) }
    }

    pub(super) fn last_word(&self) -> &'static str {
        self.name.rsplit(' ').next().unwrap_or(self.name)
    }

    /// What the first argument is one of, where usage says so: `[document|collect|build]`.
    pub(super) fn choices(&self) -> impl Iterator<Item = &'static str> {
        let first = self.arguments.split(' ').next().unwrap_or_default();
        let choices = first.trim_matches(['[', ']']);
        choices.split('|').filter(move |_| choices.contains('|'))
    }

    pub(super) fn read(&self, rest: &str) -> Result<SlashCommand, Mistake> {
        (self.reader)(rest).map_err(|problem| match problem {
            ArgumentProblem::Wrong(problem) => Mistake::wrong_arguments(problem, self.usage()),
            ArgumentProblem::NumberBeforeText { number, text } => Mistake::PlanOrText {
                suggestions: [self.line(&format!("#{number} {text}")), self.line(&format!("-- {number} {text}"))],
                number,
            },
        })
    }
}

const fn row(group: HelpGroup, name: &'static str, arguments: &'static str, reader: fn(&str) -> Read) -> CommandSpec {
    CommandSpec { name, arguments, help: "", example: "", group, reader }
}

impl CommandSpec {
    const fn says(self, help: &'static str, example: &'static str) -> Self {
        Self { help, example, ..self }
    }
}

static TABLE: &[CommandSpec] = {
    use HelpGroup::{Deciding, LookingAround, OnItsOwn, PlanWork, Talking};
    &[
        row(PlanWork, "plan", "<what to plan>", plan::about).says(
            "plan work on, a workbook begun, and the agent begins with your text",
            "/plan move the shop to the new database",
        ),
        row(PlanWork, "plan on", "[document|collect|build]", plan::on)
            .says("plan work on; the plan is a document unless you say otherwise", "/plan on collect"),
        row(PlanWork, "plan off", "", |rest| plan::bare(rest, Off))
            .says("plan work off; the plan stays as it is", "/plan off"),
        row(PlanWork, "plan done", "", |rest| plan::bare(rest, Done))
            .says("plan work is finished; a plan under way is closed with what was done", "/plan done"),
        row(PlanWork, "plan status", "", |rest| plan::bare(rest, Status))
            .says("whether plan work is on, and how far the plan is; `/plan` alone does the same", "/plan status"),
        row(PlanWork, "plan files", "on|off", plan::files)
            .says("keep plan, findings and progress as files beside the conversation", "/plan files on"),
        row(Deciding, "plans", "", |rest| nothing(rest, SlashCommand::Plans))
            .says("every plan of this session", "/plans"),
        row(Deciding, "plan show", "[plan]", plan::show).says("a plan as it would be approved", "/plan show 3"),
        row(Deciding, "plan approve", "[plan] [only 1,3|skip 2] [step by step] [-- note]", plan::approve).says(
            "approve a plan, all steps or some; `step by step` pauses after each for a look",
            "/plan approve 3 skip 2 step by step -- looks fine",
        ),
        row(Deciding, "plan reject", "[#plan] [reason]", plan::reject)
            .says("reject a plan; it ends", "/plan reject #3 too risky"),
        row(Deciding, "plan revise", "[#plan] <what to change>", plan::revise)
            .says("ask for changes", "/plan revise #3 use a view"),
        row(Deciding, "plan cancel", "[plan] [-- reason]", plan::cancel)
            .says("end a plan, and its execution with it", "/plan cancel 3 -- no longer needed"),
        row(Deciding, "plan resume", "[plan] [retry|skip|stop]", plan::resume).says(
            "carry on: with an approved plan, after a look at a step, or past one it stopped at",
            "/plan resume 3 skip",
        ),
        row(Deciding, "plan diff", "[plan] [other plan]", plan::diff)
            .says("what changed in a plan, or from one plan to another", "/plan diff 2 3"),
        row(Deciding, "plan export", "[plan]", plan::export).says("a plan as Markdown", "/plan export 3"),
        row(Deciding, "changes", "[plan] [step 2] or chat", workspace::changes)
            .says("what a plan changed in files, or the chat outside of any plan, as a diff", "/changes 3 step 2"),
        row(Deciding, "undo", "[plan] [step 2] or chat", workspace::undo)
            .says("put files back as before a plan, a step, or the chat's last turn that changed some", "/undo 3"),
        row(Talking, "project", "[folder]", workspace::project).says(
            "work in this folder from now on; `off` goes back to the session's own folder",
            "/project /home/me/shop",
        ),
        row(Talking, "new", "", |rest| nothing(rest, SlashCommand::New)).says("begin a new session", "/new"),
        row(Talking, "sessions", "", |rest| nothing(rest, SlashCommand::Sessions))
            .says("list the sessions", "/sessions"),
        row(Talking, "switch", "<key>", switch).says("continue in another session", "/switch k3yk3y8x"),
        row(Talking, "reset", "", |rest| nothing(rest, SlashCommand::Reset))
            .says("forget the conversation, cancel the active plan, plan work off", "/reset"),
        row(Talking, "compact", "", |rest| nothing(rest, SlashCommand::Compact))
            .says("shorten the history; plans stay whole", "/compact"),
        row(Talking, "stop", "", |rest| nothing(rest, SlashCommand::Stop))
            .says("end what the agent is doing now", "/stop"),
        row(Talking, "allow", "[code] [once|plan|always] [-- words]", allow).says(
            "permit the call that the agent asks about; without its code you see the call",
            "/allow 3f2a91c0 plan",
        ),
        row(Talking, "deny", "[code] [words]", deny)
            .says("do not permit the call that the agent asks about, and tell it why", "/deny run only the unit tests"),
        row(Talking, "answer", "<code> <words>", answer).says(
            "answer the question with this code; a line of a pipe has to name it",
            "/answer 3f2a91c0 the blue one",
        ),
        row(OnItsOwn, "auto", "[on [goal]|off [run]|resume [run]|status]", auto::auto)
            .says("let the agent work on its own, towards a goal or on a task", "/auto on tidy the backlog"),
        row(OnItsOwn, "goal", "[add|list|show|pause|resume|done|cancel] [goal]", auto::goal)
            .says("set a goal, or change one", "/goal add no open warnings"),
        row(OnItsOwn, "goals", "", |rest| nothing(rest, SlashCommand::Goals)).says("the goals", "/goals"),
        row(OnItsOwn, "task", "[add|list|done|fail|skip|open] [#goal] [task]", auto::task)
            .says("add a task, on its own or to a goal, or say how one ended", "/task add #1 renew the certificate"),
        row(OnItsOwn, "tasks", "", |rest| nothing(rest, SlashCommand::Tasks)).says("the tasks", "/tasks"),
        row(OnItsOwn, "schedule", "[add|list|pause|resume|delete] [when and what]", auto::schedule).says(
            "do something at set times: five cron fields, `tz=`, `max=`, `goal=`, then what",
            "/schedule add 0 9 * * 1 tz=Europe/Berlin max=10 read the news",
        ),
        row(OnItsOwn, "diary", "[add <text>]", auto::diary).says("what was done and when", "/diary"),
        row(LookingAround, "status", "", |rest| nothing(rest, SlashCommand::Status))
            .says("this session at a glance", "/status"),
        row(LookingAround, "memory", "[list|search|save|forget|promote|undo|offers|accept|decline] [words]", memory)
            .says("what is remembered here; save, forget, or let every session read it", "/memory search invoices"),
        row(LookingAround, "tools", "[accept <server> [code]]", tools)
            .says("the tools the agent has now; or accept those of an MCP server", "/tools accept github 3f2a91c0"),
        row(LookingAround, "help", "[command]", |rest| Ok(SlashCommand::Help { topic: some_text(rest) }))
            .says("the commands, or one of them with an example", "/help plan"),
    ]
};

fn switch(rest: &str) -> Read {
    let key = needed_text(rest, "which session; `/sessions` lists them")?;
    let key = ConversationKey::existing(key).map_err(|_| format!("{} is not the key of a session.", quoted(rest)))?;
    Ok(SlashCommand::Switch { key })
}

fn allow(rest: &str) -> Read {
    let (arguments, note) = split_at_mark(rest);
    let (first, more) = first_word(arguments);
    let grant_named = |word: &str| Grant::ALL.into_iter().find(|grant| grant.permits() && grant.as_str() == word);
    let note = note.and_then(some_text);
    if first.is_empty() {
        return Ok(SlashCommand::Allow { code: None, grant: None, note });
    }
    let code = first.to_lowercase();
    if !is_code(&code) {
        let message =
            format!("{} is not the code of a call; `/allow` alone shows the call with its code.", quoted(first));
        return Err(message.into());
    }
    let grant = match more.to_lowercase().as_str() {
        "" => None,
        word => match grant_named(word) {
            Some(grant) => Some(grant),
            None => return Err(format!("{} is none of `once`, `plan` and `always`.", quoted(more)).into()),
        },
    };
    Ok(SlashCommand::Allow { code: Some(code), grant, note })
}

fn is_code(word: &str) -> bool {
    word.len() >= MIN_CODE && word.chars().all(|letter| letter.is_ascii_hexdigit())
}

/// `[code] [words]` or `[code] -- [words]`.
fn deny(rest: &str) -> Read {
    let (first, more) = first_word(rest);
    let (code, note) = match first.len() == WHOLE_CODE && is_code(first) {
        true => (Some(first.to_lowercase()), more),
        false => (None, rest),
    };
    Ok(SlashCommand::Deny { code, note: some_text(after_mark(note)) })
}

fn answer(rest: &str) -> Read {
    let (code, text) = first_word(rest);
    if !is_code(code) {
        return Err(format!("{} is not the code of a question, which stands beside it.", quoted(code)).into());
    }
    Ok(SlashCommand::Answer { code: code.to_lowercase(), text: needed_text(after_mark(text), "your answer")? })
}

/// The text without the `--` that may stand before it.
fn after_mark(text: &str) -> &str {
    match split_at_mark(text) {
        ("", Some(text)) => text,
        _ => text.trim(),
    }
}

fn tools(rest: &str) -> Read {
    let (word, more) = first_word(rest);
    match word.to_lowercase().as_str() {
        "" => return Ok(SlashCommand::Tools(ToolsCommand::List)),
        "accept" => {}
        _ => return Err(format!("Only `accept` can follow, and {} did.", quoted(word)).into()),
    }
    let named = needed_text(more, "which MCP server; `/tools` lists them")?;
    let (server, code) = first_word(&named);
    let server = server.parse().map_err(|refusal: Refusal| refusal.message)?;
    let code = at_most_one_word(code)?.map(|code| code.to_lowercase());
    if let Some(code) = code.as_deref().filter(|code| !is_code(code)) {
        let message = format!("{} is not the code of what there is to accept.", quoted(code));
        return Err(message.into());
    }
    Ok(SlashCommand::Tools(ToolsCommand::Accept { server, code }))
}

fn memory(rest: &str) -> Read {
    let (word, more) = first_word(rest);
    let named = |more: &str| -> Result<String, ArgumentProblem> {
        at_most_one_word(more)?
            .ok_or_else(|| ArgumentProblem::from("Say which memory; `/memory list` shows their ids.".to_owned()))
    };
    let offered = |more: &str| -> Result<String, ArgumentProblem> {
        at_most_one_word(more)?
            .ok_or_else(|| ArgumentProblem::from("Say which offer; `/memory offers` shows their ids.".to_owned()))
    };
    let command = match word.to_lowercase().as_str() {
        "" | "list" => return nothing(more, SlashCommand::Memory(MemorySubcommand::List)),
        "undo" => return nothing(more, SlashCommand::Memory(MemorySubcommand::Undo)),
        "search" => MemorySubcommand::Search { query: needed_text(more, "what to look for")? },
        "save" => MemorySubcommand::Save { content: needed_text(more, "what to remember")? },
        "forget" => MemorySubcommand::Forget { memory: named(more)? },
        "promote" => MemorySubcommand::Promote { memory: named(more)? },
        "offers" => return nothing(more, SlashCommand::Memory(MemorySubcommand::Offers)),
        "accept" => MemorySubcommand::Accept { offer: offered(more)? },
        "decline" => MemorySubcommand::Decline { offer: offered(more)? },
        _ => {
            let known = "`list`, `search`, `save`, `forget`, `promote`, `undo`, `offers`, `accept` and `decline`";
            return Err(format!("{} is none of {known}.", quoted(word)).into());
        }
    };
    Ok(SlashCommand::Memory(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_the_command_it_explains() {
        for entry in TABLE {
            let rest = entry.example.strip_prefix('/').and_then(|line| line.strip_prefix(entry.name)).unwrap();
            let command = (entry.reader)(rest.trim()).unwrap();
            assert_eq!(command.name(), entry.name);
            let written = command.to_string();
            let again = (entry.reader)(written[1 + entry.name.len()..].trim()).unwrap();
            assert_eq!(again, command, "{written}");
        }
    }

    #[test]
    fn arguments_of_commands_that_are_to_come() {
        use crate::slash::{AutoSubcommand, OnOff, PlanCommand};
        let auto = |command| Ok(SlashCommand::Auto(command));
        for (name, rest, expected) in [
            ("auto", "", auto(AutoSubcommand::Status)),
            ("auto", "STATUS", auto(AutoSubcommand::Status)),
            ("auto", "on", auto(AutoSubcommand::On { goal: None })),
            ("auto", "on ship  it", auto(AutoSubcommand::On { goal: Some("ship  it".into()) })),
            ("auto", "off", auto(AutoSubcommand::Off { run: None })),
            ("auto", "off run-7", auto(AutoSubcommand::Off { run: Some("run-7".into()) })),
            ("auto", "off run 7", Err("Only one word can follow, and `7` did too.".into())),
            ("auto", "status now", Err("Nothing can follow this command, and `now` did.".into())),
            ("auto", "onn", Err("`onn` is none of `on`, `off`, `resume` and `status`.".into())),
            ("auto", "resume 2", auto(AutoSubcommand::Resume { run: Some("2".into()) })),
            ("plan files", "On", Ok(SlashCommand::Plan(PlanCommand::Files(OnOff::On)))),
            ("plan files", "off", Ok(SlashCommand::Plan(PlanCommand::Files(OnOff::Off)))),
            ("plan files", "", Err("Say `on` or `off`.".into())),
            ("goal", "add", Err("Say what the goal is.".into())),
        ] {
            assert_eq!((named(name).unwrap().reader)(rest), expected, "/{name} {rest}");
        }
    }
}
