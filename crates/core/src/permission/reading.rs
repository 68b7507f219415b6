//! When a shell line certainly only reads: every program in it is on a list, every option is on that program's list, and
//! nothing in it could become another word than it is.
//!
//! The line is a list (`&&`, `||`, `;`, a new line) of pipes of programs with plain words and `*` or `?` where a name cannot
//! begin with them. Output goes to `/dev/null` or to another output. Everything else is not certain: variables,
//! substitutions, braces, escapes, input from files, the background, the shell's own grammar.
//!
//! - `git`: the commands of git that read
//! - `programs`: the other programs and their options

mod git;
mod programs;

use super::shell::{is_plain, quoted};

/// What a line that only reads still depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadingLine {
    /// It runs git, which runs what the configuration of the repository names.
    pub uses_git: bool,
    /// It goes to another folder. A shell that is used again stays there.
    pub changes_folder: bool,
}

/// `None` if it is not certain that the line only reads.
pub fn only_reads(line: &str) -> Option<ReadingLine> {
    if has_other_quotes(line) {
        return None;
    }
    let commands = split_commands(line.trim_matches([' ', '\t', '\n']))?;
    let mut reading = ReadingLine { uses_git: false, changes_folder: false };
    for command in commands {
        let words = split_words(command)?;
        let (program, arguments) = words.split_first()?;
        // A quoted or expanded word is not worth the doubt where a program's name stands.
        if program.quoted || program.glob.is_some() {
            return None;
        }
        if !programs::reads(&program.text, arguments) {
            return None;
        }
        reading.uses_git |= program.text == "git";
        reading.changes_folder |= program.text == "cd";
    }
    // The repository of another folder may name programs of its own.
    (!(reading.uses_git && reading.changes_folder)).then_some(reading)
}

/// Whether the line has quotation marks of typography. In PowerShell, which may be the shell of a terminal, they end a quoted text.
pub fn has_other_quotes(line: &str) -> bool {
    line.contains(|letter| matches!(letter, '\u{2018}'..='\u{201e}'))
}

/// One word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Word {
    text: String,
    quoted: bool,
    glob: Option<Glob>,
}

/// Where the shell would put names of files into a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Glob {
    /// At its beginning: the word may become an option.
    Leading,
    Inside,
}

impl Word {
    /// Whether the program takes it for an option. A word that may become one is not certain.
    fn is_option(&self) -> bool {
        self.text.starts_with('-') && self.text != "-"
    }
}

/// The commands between the operators.
fn split_commands(line: &str) -> Option<Vec<&str>> {
    let mut commands = Vec::new();
    let mut begin = 0;
    let mut quote = None;
    let bytes = line.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let length = match (quote, byte) {
            (Some(open), _) => {
                if byte == open {
                    quote = None;
                }
                0
            }
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                0
            }
            (None, b'&') if bytes.get(at + 1) == Some(&b'&') => 2,
            (None, b'|') if bytes.get(at + 1) == Some(&b'|') => 2,
            (None, b'|' | b';' | b'\n') => 1,
            (None, _) => 0,
        };
        if length == 0 {
            at += 1;
            continue;
        }
        commands.push(&line[begin..at]);
        at += length;
        begin = at;
        // A line may be broken after an operator.
        while length == 2 && bytes.get(begin).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n')) {
            begin += 1;
            at = begin;
        }
    }
    let last = &line[begin..];
    // `;` and new lines may end the line; an operator may not.
    let ended = bytes[..begin].last().is_some_and(|byte| matches!(byte, b';' | b'\n'));
    if !(last.trim().is_empty() && ended) {
        commands.push(last);
    }
    let is_blank = |command: &&str| command.trim_matches([' ', '\t']).is_empty();
    (quote.is_none() && !commands.iter().any(is_blank)).then_some(commands)
}

/// The words of one command, without its redirections.
fn split_words(command: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut rest = command.trim_matches([' ', '\t']);
    while !rest.is_empty() {
        if let Some(after) = redirection(rest) {
            rest = after.trim_start_matches([' ', '\t']);
            continue;
        }
        let (word, after) = word(rest)?;
        words.push(word);
        rest = after.trim_start_matches([' ', '\t']);
    }
    Some(words)
}

/// What follows a redirection that writes nothing.
fn redirection(rest: &str) -> Option<&str> {
    const TO_OUTPUTS: [&str; 4] = ["2>&1", "1>&2", ">&2", ">&1"];
    // `ls &>/dev/null rm x` removes x in a shell that has no `&>`.
    const TO_FILES: [&str; 6] = ["2>>", "1>>", ">>", "2>", "1>", ">"];
    let ends = |after: &&str| after.is_empty() || after.starts_with([' ', '\t']);
    if let Some(after) = TO_OUTPUTS.iter().find_map(|form| rest.strip_prefix(form)) {
        return Some(after).filter(ends);
    }
    let after = TO_FILES.iter().find_map(|form| rest.strip_prefix(form))?;
    after.trim_start_matches([' ', '\t']).strip_prefix("/dev/null").filter(ends)
}

/// The first word and what follows it. `None` if it has a character that may mean something.
fn word(text: &str) -> Option<(Word, &str)> {
    let mut word = Word::default();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            ' ' | '\t' => return Some((word, &text[at..])),
            '\'' | '"' => {
                word.quoted = true;
                word.text.push_str(&quoted(letter, &mut || Some(letters.next()?.1))?);
            }
            '*' | '?' => {
                let place = if word.text.is_empty() { Glob::Leading } else { Glob::Inside };
                word.glob = word.glob.or(Some(place));
                word.text.push(letter);
            }
            // `HEAD~2` and `HEAD^`. At the beginning of a word they have a meaning.
            '~' | '^' if !word.text.is_empty() && word.glob.is_none() => word.text.push(letter),
            // zsh looks for a program of this name.
            '=' if word.text.is_empty() => return None,
            plain if is_plain(plain) => word.text.push(plain),
            _ => return None,
        }
    }
    Some((word, ""))
}
