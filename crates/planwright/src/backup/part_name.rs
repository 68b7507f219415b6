//! The names of the parts of an archive. Any other name is refused, so that no archive can make a restore write outside of
//! the sessions' folders.

use std::fmt;

use planwright_core::session::{Channel, ConversationKey, SessionIdentity};

/// The folder for files that are being written. It is not backed up.
pub(super) const UNFINISHED: &str = "unfinished";
/// The file that notes which versions of a workbook were last written to its files. It is not backed up: it is made again
/// from the files.
const WORKBOOK_NOTE: &str = "plan.json";
/// The file that names the lease under which the session's files are written. It is not backed up: a lease ends with the
/// process that holds it.
const LEASE: &str = "lease";
/// The folder with the output of commands. It is not backed up: it is what the commands of a while ago wrote.
const OUTPUTS: &str = "outputs";

/// What a server notes about a folder that several servers share, and what it put aside there. It is not backed up: what is shared
/// is in the archive as the session's files.
const SHARED: [&str; 3] = ["shared.json", "shared.lock", "aside"];

/// Whether Planwright keeps this name in a session's folder for itself.
pub(super) fn is_reserved(first: &str) -> bool {
    [UNFINISHED, WORKBOOK_NOTE, LEASE, OUTPUTS].contains(&first) || SHARED.contains(&first)
}

/// The longest name of a file or folder that common file systems can store.
const NAME_BYTES: usize = 255;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PartName {
    Manifest,
    Pointers,
    Journal(SessionIdentity),
    File(FileName),
}

/// A file of a session, by its path from the session's folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileName {
    pub(super) session: SessionIdentity,
    folders: Vec<String>,
    name: String,
}

impl FileName {
    /// `None` unless every step is a valid name in a folder. Files lie in a folder of the session's folder, such as
    /// `files`, and never in the folders and files that Planwright keeps there for itself.
    pub(super) fn new(session: SessionIdentity, mut steps: Vec<String>) -> Option<Self> {
        let reserved = |first: &String| is_reserved(first);
        if steps.len() < 2 || steps.first().is_some_and(reserved) || !steps.iter().all(|step| is_file_name(step)) {
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

    /// The folders that this file is in, as if they were files: none of them can be one.
    pub(super) fn parents(&self) -> impl Iterator<Item = Self> {
        (0..self.folders.len()).map(|depth| Self {
            session: self.session.clone(),
            folders: self.folders[..depth].to_vec(),
            name: self.folders[depth].clone(),
        })
    }
}

/// Whether a file or folder can have this name on any system.
pub(super) fn is_file_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
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
        // Each name has exactly one spelling.
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
    fn names_are_parsed_and_written_the_same() {
        for text in [
            "manifest.json",
            "pointers.json",
            "journals/web/k3yk3y8x.jsonl",
            "journals/legacy/1.jsonl",
            "users/web-+ab_9/files/notes.md",
            "users/cli-k3yk3y8x/files/a b/c…/.hidden",
            &format!("users/web-k3yk3y8x/files/{}", "x".repeat(255)),
        ] {
            assert_eq!(PartName::parse(text).unwrap_or_else(|| panic!("{text}")).to_string(), text);
        }
    }

    #[test]
    fn other_names_are_refused() {
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
            "users/web-k3yk3y8x/plan.json/a",
            "users/web-k3yk3y8x/lease",
            "users/web-k3yk3y8x/lease/a",
            &format!("users/web-k3yk3y8x/files/{}", "x".repeat(256)),
            &format!("users/web-k3yk3y8x/files/{}/a", "é".repeat(128)),
            "users/web-AB/files/a",
            "users/../files/a",
            "users/nobody/files/a",
            "../users/web-k3yk3y8x/files/a",
        ] {
            assert_eq!(PartName::parse(text), None, "{text}");
        }
    }
}
