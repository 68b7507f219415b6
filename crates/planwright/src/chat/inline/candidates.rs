//! What the word that is being typed can become: a command, what follows it, or a file.

use planwright_core::slash;

use crate::chat::known_arguments::KnownArguments;
use crate::chat::{LEAVING, local};

/// How many are shown at once.
pub(super) const MAX_ROWS: usize = 6;
/// How many there are at most.
const MAX_CANDIDATES: usize = 50;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// What takes the place of the end of the text.
    pub(super) text: String,
    /// What it is, in a few words.
    pub(super) about: String,
}

/// The candidates for the text before the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CandidateList {
    pub(super) candidates: Vec<Candidate>,
    /// How many bytes before the cursor one of them takes the place of.
    pub(super) replaces: usize,
    pub(super) selected: usize,
    /// The person went to this one.
    pub(super) is_chosen: bool,
}

impl CandidateList {
    /// `None` if there is nothing to choose from.
    pub(super) fn of(before: &str, arguments: &KnownArguments, files: &[String]) -> Option<Self> {
        let (candidates, replaces) = match mention(before) {
            Some(piece) => (of_files(piece, files), piece.len()),
            None => (of_command(before, arguments), before.trim_start().len()),
        };
        let found = !candidates.is_empty();
        found.then_some(Self { candidates, replaces, selected: 0, is_chosen: false })
    }

    pub(super) fn current(&self) -> Option<&Candidate> {
        self.candidates.get(self.selected)
    }

    pub(super) fn go(&mut self, down: bool) {
        let last = self.candidates.len().saturating_sub(1);
        self.selected = match (down, self.selected) {
            (true, at) if at < last => at + 1,
            (true, _) => 0,
            (false, 0) => last,
            (false, at) => at - 1,
        };
        self.is_chosen = true;
    }

    /// The part of them that is shown: around the selected one.
    pub(super) fn shown(&self) -> (usize, &[Candidate]) {
        let first = self.selected.saturating_sub(MAX_ROWS - 1);
        (first, &self.candidates[first..(first + MAX_ROWS).min(self.candidates.len())])
    }
}

/// The piece of a path after an `@` that begins a word.
fn mention(before: &str) -> Option<&str> {
    let word = before.rsplit(char::is_whitespace).next()?;
    word.strip_prefix('@')
}

/// The files with the piece in their path: first those whose name begins with it.
fn of_files(piece: &str, files: &[String]) -> Vec<Candidate> {
    let wanted = piece.to_lowercase();
    let mut found: Vec<(usize, &String)> = Vec::new();
    for path in files {
        let small = path.to_lowercase();
        let name = small.rsplit('/').next().unwrap_or_default();
        let rank = if small.starts_with(&wanted) {
            0
        } else if name.starts_with(&wanted) {
            1
        } else if small.contains(&wanted) {
            2
        } else {
            continue;
        };
        if path != piece {
            found.push((rank, path));
        }
    }
    found.sort_by_key(|(rank, path)| (*rank, path.len()));
    let candidate = |(_, path): (usize, &String)| Candidate { text: path.clone(), about: String::new() };
    found.into_iter().take(MAX_CANDIDATES).map(candidate).collect()
}

fn of_command(before: &str, arguments: &KnownArguments) -> Vec<Candidate> {
    let typed = before.trim_start();
    if !typed.starts_with('/') || typed.contains('\n') {
        return Vec::new();
    }
    let mut found = slash::completions(typed);
    found.extend(
        LEAVING.iter().filter(|word| word.starts_with(typed) && **word != typed).map(|word| (*word).to_owned()),
    );
    found.extend(local::completions(typed));
    let commands = found.into_iter().map(|text| Candidate { about: about(text.trim_end()), text });
    let known = arguments.completions(typed).into_iter();
    let known = known.map(|known| Candidate { text: known.line, about: known.about });
    commands.chain(known).take(MAX_CANDIDATES).collect()
}

/// What a command does.
fn about(line: &str) -> String {
    let name = line.trim_start_matches('/');
    let of_agent = slash::offered().find(|command| command.name == name).map(|command| command.help);
    let of_chat = || local::about(line);
    let leaves = || LEAVING.contains(&line).then_some("leave the chat");
    of_agent.or_else(of_chat).or_else(leaves).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(before: &str) -> Vec<String> {
        let files = ["src/main.rs", "src/chat/mail.rs", "README.md", "docs/main.md"].map(str::to_owned);
        let list = CandidateList::of(before, &KnownArguments::default(), &files);
        list.map(|list| list.candidates.into_iter().map(|candidate| candidate.text).collect()).unwrap_or_default()
    }

    #[test]
    fn a_word_becomes_a_command_or_a_file() {
        assert!(texts("/pla").contains(&"/plan ".to_owned()), "{:?}", texts("/pla"));
        assert!(texts("/mod").contains(&"/model".to_owned()));
        assert_eq!(texts("/qu"), ["/quit"]);
        assert_eq!(texts("look at @ma"), ["src/main.rs", "docs/main.md", "src/chat/mail.rs"]);
        assert_eq!(texts("look at @src/m"), ["src/main.rs"]);
        assert_eq!(texts("@README.md"), [""; 0]);
        for nothing in ["", "plan", "see /plan", "me@example.org", "@nothing like it"] {
            assert_eq!(texts(nothing), [""; 0], "{nothing}");
        }
    }

    #[test]
    fn a_command_says_what_it_does() {
        let list = CandidateList::of("/plan appr", &KnownArguments::default(), &[]).unwrap();
        assert_eq!(list.candidates[0].text.trim_end(), "/plan approve");
        assert!(!list.candidates[0].about.is_empty());
        assert_eq!(list.replaces, "/plan appr".len());
    }

    #[test]
    fn the_selection_goes_round() {
        let files: Vec<String> = (0..9).map(|number| format!("file-{number}")).collect();
        let mut list = CandidateList::of("@file", &KnownArguments::default(), &files).unwrap();
        list.go(false);
        assert_eq!(list.current().unwrap().text, "file-8");
        assert_eq!(list.shown().0, 3);
        list.go(true);
        assert_eq!((list.selected, list.shown().0), (0, 0));
    }
}
