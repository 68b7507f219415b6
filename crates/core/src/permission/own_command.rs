//! Whether a shell line of an agent may run a command of Planwright that a person has to run.
//!
//! A foreign agent's line is looked at before it runs. The program refuses such a command as well, whatever the line looks
//! like; this is the answer that tells the agent why. It is wide rather than exact: quotes and backslashes are taken out, and a
//! line that names the program and such a command anywhere counts, through aliases, variables, `env`, `xargs` and `npx`.

const PROGRAM: &str = "planwright";

/// Commands that ask for a person, whatever stands behind them.
const COMMANDS: [&str; 18] = [
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
    "setup",
    "task",
    "telegram",
    "token",
    "uninstall",
];
/// Commands that ask for a person with one of these words behind them.
const SUBCOMMANDS: [(&str, &[&str]); 8] = [
    ("plan", &["approve", "cancel", "done", "off", "on", "reject", "resume", "revise", "undo", "files"]),
    ("memory", &["accept", "decline", "forget", "import", "promote", "save", "undo"]),
    ("config", &["set", "unset"]),
    ("inbox", &["answer"]),
    ("mcp-server", &["accept", "add", "remove"]),
    ("permissions", &["add", "remove"]),
    ("sessions", &["delete"]),
    ("workbook", &["adopt"]),
];
/// Of these the words are looked for in the whole line: nothing else is called so.
const ANYWHERE: [&str; 2] = ["approver", "uninstall"];
/// Options of the program that have a value behind them.
const WITH_VALUE: [&str; 5] = ["--data", "--database", "--config", "--color", "--session"];
/// What may make other words of those that are seen.
const REWRITING: [&str; 5] = ["$", "`", "{", "alias", "xargs"];
/// Commands that only look, and that may stand at the beginning of a line in which words are rewritten further on.
const LOOKING: [(&str, &[&str]); 9] = [
    ("doctor", &[]),
    ("health", &[]),
    ("verify", &[]),
    ("config", &["show"]),
    ("inbox", &["list", "show"]),
    ("mcp-server", &["list", "show"]),
    ("memory", &["list", "offers", "search"]),
    ("permissions", &["list"]),
    ("plan", &["changes", "diff", "export", "history", "list", "show", "status", "watch"]),
];

/// Whether the line may run a command of Planwright that asks for a person.
pub fn may_decide(line: &str) -> bool {
    // A line that is continued may be continued inside of a word. In quotes and after a backslash it is not.
    names_decision(line) || names_decision(&line.replace("\\\r\n", "").replace("\\\n", ""))
}

fn names_decision(line: &str) -> bool {
    let words = tokens(line);
    let mut is_named = false;
    for (at, word) in words.iter().enumerate() {
        let is_here = is_program(word);
        is_named |= is_here;
        if (is_here || may_become_program(word)) && asks_for_person(&words[at + 1..]) {
            return true;
        }
    }
    let is_pair = |pair: &[String]| is_subcommand(&pair[0], &pair[1]) && matches!(pair[0].as_str(), "plan" | "memory");
    if is_named && REWRITING.iter().any(|text| line.contains(text)) && !begins_with_looking(line) {
        return true;
    }
    is_named && (words.windows(2).any(is_pair) || words.iter().any(|word| ANYWHERE.contains(&word.as_str())))
}

/// Whether the line begins with a command that only looks, in plain words, and names the program nowhere else.
fn begins_with_looking(line: &str) -> bool {
    let (first, rest) = line.split_at(line.find([';', '&', '|', '\n']).unwrap_or(line.len()));
    let begins = tokens(first);
    let Some((program, arguments)) = begins.split_first() else { return false };
    let looks = match command_of(arguments) {
        (Some(command), second) => LOOKING.iter().any(|(name, words)| {
            *name == command && (words.is_empty() || second.is_some_and(|second| words.contains(&second)))
        }),
        (None, _) => false,
    };
    let is_plain = REWRITING.iter().all(|text| !first.contains(text));
    looks && is_plain && is_program(program) && !arguments.iter().chain(&tokens(rest)).any(|word| is_program(word))
}

/// Whether these words behind the program are such a command.
fn asks_for_person(words: &[String]) -> bool {
    match command_of(words) {
        (Some(command), second) => {
            COMMANDS.contains(&command) || second.is_some_and(|second| is_subcommand(command, second))
        }
        (None, _) => false,
    }
}

/// The command and the word behind it, without options.
fn command_of(words: &[String]) -> (Option<&str>, Option<&str>) {
    let mut rest = words.iter();
    let mut next = || loop {
        let word = rest.next()?;
        if WITH_VALUE.contains(&word.as_str()) {
            rest.next();
        } else if !word.starts_with('-') {
            return Some(word.as_str()).filter(|word| *word != END);
        }
    };
    let command = next();
    (command, command.and_then(|_| next()))
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

/// Whether the shell may put a path to the program in the place of the word: `/usr/bin/planwr*`, `plan?right`. Enough letters of
/// the name have to be there, since `*` alone stands in many lines.
fn may_become_program(word: &str) -> bool {
    const MIN_LETTERS: usize = 4;
    let name = word.rsplit('/').next().unwrap_or_default();
    let letters = name.chars().filter(char::is_ascii_alphabetic).count();
    if !name.contains(['*', '?', '[']) || letters < MIN_LETTERS {
        return false;
    }
    let mut pattern: Vec<char> = name.chars().collect();
    // So the search is as short as the name.
    pattern.dedup_by(|one, other| (*one, *other) == ('*', '*'));
    fits(&pattern, PROGRAM)
}

/// Whether a pattern of a shell fits the name. What stands in brackets fits any letter.
fn fits(pattern: &[char], name: &str) -> bool {
    let mut letters = name.chars();
    match pattern.split_first() {
        None => name.is_empty(),
        Some(('*', rest)) => (0..=name.len()).any(|at| fits(rest, &name[at..])),
        Some(('[', rest)) => {
            let end = rest.iter().skip(1).position(|letter| *letter == ']');
            end.is_some_and(|end| letters.next().is_some() && fits(&rest[end + 2..], letters.as_str()))
        }
        Some((expected, rest)) => letters.next().is_some_and(|letter| {
            (*expected == '?' || expected.eq_ignore_ascii_case(&letter)) && fits(rest, letters.as_str())
        }),
    }
}

/// Stands for an operator between commands.
const END: &str = ";";

/// The words without quotes and backslashes.
fn tokens(line: &str) -> Vec<String> {
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
