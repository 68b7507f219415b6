//! What the parts of an archive are called. A name that is not one of these is refused, so that no archive can write
//! anywhere else.

use std::fmt;

use planwright_core::session::{Channel, ConversationKey, SessionIdentity};

/// Files that are not whole yet are kept here, and nobody needs them.
pub(super) const UNFINISHED: &str = "unfinished";
/// Which versions of a workbook were last written to its files. It is found out again from the files themselves.
pub(super) const WORKBOOK_NOTE: &str = "plan.json";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PartName {
    Manifest,
    Pointers,
    Journal(SessionIdentity),
    File(FileName),
}

/// A file of a session, by the folders that lead to it from the session's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileName {
    pub(super) session: SessionIdentity,
    folders: Vec<String>,
    name: String,
}

impl FileName {
    /// `None` unless every step leads down, by a name that is the same everywhere.
    pub(super) fn new(session: SessionIdentity, mut steps: Vec<String>) -> Option<Self> {
        if steps.len() < 2 || steps[0] == UNFINISHED || !steps.iter().all(|step| leads_down(step)) {
            return None;
        }
        let name = steps.pop()?;
        Some(Self { session, folders: steps, name })
    }

    pub(super) fn folders(&self) -> &[String] {
        &self.folders
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

pub(super) fn leads_down(step: &str) -> bool {
    !step.is_empty() && step != "." && step != ".." && !step.contains(['/', '\\', '\0'])
}

impl PartName {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let steps: Vec<_> = text.split('/').collect();
        let name = match steps.as_slice() {
            ["manifest.json"] => Self::Manifest,
            ["pointers.json"] => Self::Pointers,
            ["journals", channel, file] => {
                let channel: Channel = channel.parse().ok()?;
                let key = ConversationKey::existing(file.strip_suffix(".jsonl")?).ok()?;
                Self::Journal(SessionIdentity::new(channel, key))
            }
            ["users", folder, steps @ ..] => {
                let session = SessionIdentity::from_folder_name(folder)?;
                Self::File(FileName::new(session, steps.iter().map(|&step| step.to_owned()).collect())?)
            }
            _ => return None,
        };
        // There is one way to write each name.
        (name.to_string() == text).then_some(name)
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest => f.write_str("manifest.json"),
            Self::Pointers => f.write_str("pointers.json"),
            Self::Journal(session) => write!(f, "journals/{}/{}.jsonl", session.channel, session.conversation),
            Self::File(file) => fmt::Display::fmt(file, f),
        }
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, folders, name } = self;
        write!(f, "users/{}/{}/{name}", session.folder_name(), folders.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for text in [
            "manifest.json",
            "pointers.json",
            "journals/web/k3yk3y8x.jsonl",
            "journals/legacy/1.jsonl",
            "users/web-+ab_9/files/notes.md",
            "users/cli-k3yk3y8x/files/a b/c…/.hidden",
        ] {
            assert_eq!(PartName::parse(text).unwrap_or_else(|| panic!("{text}")).to_string(), text);
        }
    }

    #[test]
    fn nothing_else_is_a_name() {
        for text in [
            "",
            "/manifest.json",
            "./manifest.json",
            "manifest.json/",
            "token",
            "planwright.toml",
            "journals/web/../k.jsonl",
            "journals/web/a/b.jsonl",
            "journals/fax/k3yk3y8x.jsonl",
            "journals/web/.jsonl",
            "journals/web/k3yk3y8x.json",
            "users/web-k3yk3y8x",
            "users/web-k3yk3y8x/files",
            "users/web-k3yk3y8x/files/",
            "users/web-k3yk3y8x/files/../../../token",
            "users/web-k3yk3y8x/files/./a",
            "users/web-k3yk3y8x/files//a",
            "users/web-k3yk3y8x/files/a\\..\\b",
            "users/web-k3yk3y8x/unfinished/a",
            "users/web-AB/files/a",
            "users/../files/a",
            "users/nobody/files/a",
            "../users/web-k3yk3y8x/files/a",
        ] {
            assert_eq!(PartName::parse(text), None, "{text}");
        }
    }
}
