//! A shell line as words, if it is nothing but one program with plain words.
//!
//! The promise is that a line read as words runs exactly that program with exactly those words, in every POSIX shell, in
//! bash and in fish. Every construct that could run something else, or add, drop or change a word, makes the line `Complex`: it is
//! never compared with a rule that allows. The reader knows no grammar, so it cannot be wrong about one.

use crate::plan::PlanNeeds;

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellLine {
    /// One program, first, and its arguments.
    Words(Vec<String>),
    /// Anything else.
    Complex,
}

impl ShellLine {
    pub fn parse(line: &str) -> Self {
        split_words(line).map_or(Self::Complex, Self::Words)
    }
}

/// Words that are part of the shell's grammar where a program's name is expected.
const RESERVED: [&str; 24] = [
    "!",
    "{",
    "}",
    "[[",
    "]]",
    "case",
    "coproc",
    "do",
    "done",
    "elif",
    "else",
    "esac",
    "fi",
    "for",
    "function",
    "if",
    "in",
    "select",
    "then",
    "time",
    "until",
    "while",
    "namespace",
    "foreach",
];

/// Commands of the shell itself that run other words, or change what later words mean.
const BUILTINS_THAT_RUN: &[&str] = &[
    ".", "alias", "bind", "builtin", "command", "compgen", "complete", "declare", "enable", "eval", "exec", "export",
    "fc", "hash", "jobs", "let", "local", "readonly", "source", "trap", "typeset",
];

/// Commands of the shell itself that take the name of a variable. Bash evaluates a subscript in it, with substitutions,
/// even from quotes: `test -v 'a[$(rm b)]'` runs `rm`.
const BUILTINS_THAT_EVALUATE: &[&str] =
    &["getopts", "mapfile", "printf", "read", "readarray", "test", "unset", "wait", "["];

fn split_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut letters = line.trim_matches([' ', '\t']).chars().peekable();
    let mut quoted_first = false;
    while letters.peek().is_some() {
        let (word, quoted) = word(&mut letters)?;
        if words.is_empty() {
            quoted_first = quoted;
        }
        words.push(word);
        while letters.next_if(|letter| matches!(letter, ' ' | '\t')).is_some() {}
    }
    let first = words.first()?;
    // Quotes keep a word from being grammar, but a line that needs them there is not worth the doubt.
    let evaluates =
        BUILTINS_THAT_EVALUATE.contains(&first.as_str()) && words.iter().any(|word| word.contains(['$', '`', '[']));
    let special = RESERVED.contains(&first.as_str()) || BUILTINS_THAT_RUN.contains(&first.as_str()) || evaluates;
    let assigns = first.contains('=') || first.starts_with('%');
    (!special && !assigns && !quoted_first && !first.is_empty()).then_some(words)
}

/// One word and whether any of it is quoted. `None` if it has a character that is not plain.
fn word(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<(String, bool)> {
    let mut word = String::new();
    let mut is_quoted = false;
    while let Some(letter) = letters.next_if(|letter| !matches!(letter, ' ' | '\t')) {
        match letter {
            '\'' | '"' => {
                is_quoted = true;
                word.push_str(&quoted(letter, &mut || letters.next())?);
            }
            plain if is_plain(plain) => word.push(plain),
            _ => return None,
        }
    }
    Some((word, is_quoted))
}

/// The text up to the closing quote. `None` if a shell could end it elsewhere, or put something else in its place.
pub(super) fn quoted(quote: char, next: &mut dyn FnMut() -> Option<char>) -> Option<String> {
    let mut text = String::new();
    loop {
        match next()? {
            // fish goes on behind `\'`.
            end if end == quote => return (!text.ends_with('\\')).then_some(text),
            // Inside of double quotes these still have a meaning; `!` has one in interactive shells.
            '$' | '`' | '\\' | '!' if quote == '"' => return None,
            control if control.is_control() => return None,
            plain => text.push(plain),
        }
    }
}

/// Characters that stand for themselves outside of quotes, in every locale.
pub(super) fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ':' | ',' | '+' | '@' | '%' | '=')
}

/// Programs that run the words after them. A rule that allows one allows exactly its own words and no more.
const WRAPPERS: [&str; 54] = [
    "bunx",
    "busybox",
    "chroot",
    "chrt",
    "coproc",
    "dbus-run-session",
    "doas",
    "docker",
    "env",
    "entr",
    "fakeroot",
    "find",
    "firejail",
    "flatpak-spawn",
    "flock",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "npx",
    "nsenter",
    "nix-shell",
    "numactl",
    "parallel",
    "perf",
    "pipx",
    "pkexec",
    "pnpx",
    "podman",
    "prlimit",
    "proot",
    "rlwrap",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "unbuffer",
    "unshare",
    "uvx",
    "valgrind",
    "watch",
    "xargs",
    "gdb",
];

/// Programs whose options can hold a program. A rule that allows one allows more words only after a word that is no
/// option, such as a script.
const INTERPRETERS: [&str; 28] = [
    "ash",
    "awk",
    "bash",
    "bun",
    "dash",
    "deno",
    "fish",
    "gawk",
    "ksh",
    "lua",
    "mawk",
    "mksh",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "pypy",
    "python",
    "python2",
    "python3",
    "Rscript",
    "ruby",
    "sh",
    "tclsh",
    "tsx",
    "zsh",
];

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_wrapper(word: &str) -> bool {
    is_named_in(&WRAPPERS, word)
}

fn is_interpreter(word: &str) -> bool {
    is_named_in(&INTERPRETERS, word)
}

/// Whether the word is a path to one of the programs, also with a version behind its name: `python3.12`, `node-22`.
fn is_named_in(programs: &[&str], word: &str) -> bool {
    let name = base_name(word);
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'));
    programs.contains(&name) || programs.contains(&bare)
}

impl PlanNeeds {
    pub fn covers_command(&self, line: &str) -> bool {
        self.commands.iter().any(|named| covers_line(named, line))
    }
}

/// Whether a plan that names one line covers another: the same line, or the same words with more behind them, as far as a
/// permission rule with these words would.
pub fn covers_line(named: &str, line: &str) -> bool {
    let continues = || match ShellLine::parse(named) {
        ShellLine::Words(words) => CommandWords(words).covers(&ShellLine::parse(line)),
        ShellLine::Complex => false,
    };
    named.trim() == line.trim() || continues()
}

/// The words of a rule about commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandWords(pub(super) Vec<String>);

impl CommandWords {
    /// Whether a rule that allows these words covers the line.
    pub(super) fn covers(&self, line: &ShellLine) -> bool {
        let ShellLine::Words(words) = line else { return false };
        words.starts_with(&self.0) && (words.len() == self.0.len() || self.permits_more())
    }

    /// Whether the line has these words and no more.
    pub(super) fn are(&self, line: &ShellLine) -> bool {
        let ShellLine::Words(words) = line else { return false };
        *words == self.0
    }

    fn permits_more(&self) -> bool {
        let Some((program, rest)) = self.0.split_first() else { return false };
        let names_more = || rest.iter().any(|word| !word.starts_with('-'));
        !is_wrapper(program) && (!is_interpreter(program) || names_more())
    }

    /// Whether a rule that stops these words may be about the line. It errs on the side of stopping: options between the
    /// words, another way to name the program and other programs before it do not help.
    pub(super) fn concerns(&self, text: &str, line: &ShellLine) -> bool {
        match line {
            ShellLine::Words(words) if !is_opaque(line) => self.begins_at(words),
            ShellLine::Words(_) | ShellLine::Complex => {
                // A line that is continued may be continued inside of a word. In quotes and after a backslash it is not.
                [pieces(text), pieces(&text.replace("\\\n", ""))]
                    .iter()
                    .any(|pieces| (0..pieces.len()).any(|from| self.begins_at(&pieces[from..])))
            }
        }
    }

    /// The first word is the program, the others follow in this order.
    fn begins_at(&self, words: &[String]) -> bool {
        let (Some((program, rest)), Some((first, others))) = (self.0.split_first(), words.split_first()) else {
            return false;
        };
        let mut others = others.iter();
        let same = base_name(program).eq_ignore_ascii_case(base_name(first));
        same && rest.iter().all(|word| others.any(|other| other == word))
    }
}

/// Whether the line may run something that its words do not tell.
pub(super) fn is_opaque(line: &ShellLine) -> bool {
    match line {
        ShellLine::Complex => true,
        ShellLine::Words(words) => words.first().is_some_and(|first| is_wrapper(first) || is_interpreter(first)),
    }
}

/// Everything in a line that could be a word, with quotes and escapes taken away.
fn pieces(text: &str) -> Vec<String> {
    let bare: String = text.chars().filter(|letter| !matches!(letter, '\'' | '"' | '\\')).collect();
    let divides = |letter: char| letter.is_whitespace() || "|&;()<>{}`$=!#".contains(letter);
    bare.split(divides).filter(|piece| !piece.is_empty()).map(str::to_owned).collect()
}
