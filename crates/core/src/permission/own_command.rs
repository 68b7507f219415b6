//! Whether a shell line of an agent may run a command of Planwright that a person has to run.
//!
//! A foreign agent's line is looked at before it runs. The program refuses such a command as well, whatever the line looks
//! like; this is the answer that tells the agent why. It is wide rather than exact: quotes and backslashes are taken out, and a
//! line that names the program and such a command anywhere counts, through aliases, variables, `env`, `xargs` and `npx`.

const PROGRAM: &str = "planwright";

/// Commands that ask for a person, whatever stands behind them.
const COMMANDS: [&str; 17] = [
    "approver",
    "auto",
    "chat",
    "dashboard",
    "diary",
    "goal",
    "import",
    "init",
    "install",
    "mcp",
    "restore",
    "schedule",
    "serve",
    "task",
    "telegram",
    "token",
    "uninstall",
];
/// Commands that ask for a person with one of these words behind them.
const SUBCOMMANDS: [(&str, &[&str]); 7] = [
    ("plan", &["approve", "cancel", "done", "off", "on", "reject", "resume", "revise", "undo", "files"]),
    ("memory", &["accept", "decline", "forget", "promote", "save", "undo"]),
    ("config", &["set", "unset"]),
    ("inbox", &["answer"]),
    ("mcp-server", &["accept", "add", "remove"]),
    ("permissions", &["add", "remove"]),
    ("sessions", &["delete"]),
];
/// Of these the words are looked for in the whole line: nothing else is called so.
const ANYWHERE: [&str; 2] = ["approver", "uninstall"];
/// Options of the program that have a value behind them.
const WITH_VALUE: [&str; 4] = ["--data", "--database", "--config", "--color"];

/// Whether the line may run a command of Planwright that asks for a person.
pub fn may_decide(line: &str) -> bool {
    let words = words(line);
    let mut is_named = false;
    for (at, word) in words.iter().enumerate() {
        if is_program(word) {
            is_named = true;
            if asks_for_person(&words[at + 1..]) {
                return true;
            }
        }
    }
    let is_pair = |pair: &[String]| is_subcommand(&pair[0], &pair[1]) && matches!(pair[0].as_str(), "plan" | "memory");
    is_named && (words.windows(2).any(is_pair) || words.iter().any(|word| ANYWHERE.contains(&word.as_str())))
}

/// Whether these words behind the program are such a command.
fn asks_for_person(words: &[String]) -> bool {
    let mut rest = words.iter();
    let mut next = || loop {
        let word = rest.next()?;
        if WITH_VALUE.contains(&word.as_str()) {
            rest.next();
        } else if !word.starts_with('-') {
            return Some(word.as_str()).filter(|word| *word != END);
        }
    };
    let Some(command) = next() else { return false };
    COMMANDS.contains(&command) || next().is_some_and(|second| is_subcommand(command, second))
}

fn is_subcommand(command: &str, second: &str) -> bool {
    SUBCOMMANDS.iter().any(|(name, words)| *name == command && words.contains(&second))
}

/// A path to the program, with or without a version: `./planwright`, `planwright@1.2`.
fn is_program(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    let name = name.split('@').next().unwrap_or_default();
    name.eq_ignore_ascii_case(PROGRAM) || name.eq_ignore_ascii_case("planwright.exe")
}

/// Stands for an operator between commands.
const END: &str = ";";

/// The words without quotes and backslashes.
fn words(line: &str) -> Vec<String> {
    let plain: String = line.chars().filter(|letter| !matches!(letter, '\'' | '"' | '\\')).collect();
    let mut words = Vec::new();
    for part in plain.split_inclusive([';', '&', '|', '(', ')', '`', '\n', '{', '}']) {
        let (text, ended) = match part.strip_suffix([';', '&', '|', '(', ')', '`', '\n', '{', '}']) {
            Some(text) => (text, true),
            None => (part, false),
        };
        let split = text.split(|letter: char| letter.is_whitespace() || matches!(letter, '=' | '<' | '>' | ',' | '$'));
        words.extend(split.filter(|word| !word.is_empty()).map(str::to_owned));
        if ended {
            words.push(END.to_owned());
        }
    }
    words
}
