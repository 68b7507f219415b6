//! The session of a project folder: the same key from every program that works in the folder.

use std::path::{Path, PathBuf};

use planwright_core::session::{Channel, ConversationKey, SessionIdentity};
use sha2::{Digest as _, Sha256};

/// Characters of the folder's name in the key.
const MAX_NAME: usize = 40;

/// The session of the project that the folder is in: the git work tree around it, else the folder itself.
pub fn folder_session(folder: &Path) -> SessionIdentity {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let root = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&folder);
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(plain).take(MAX_NAME).collect();
    let name = name.trim_matches('-');
    let name = if name.is_empty() { "folder" } else { name };
    let hash = hex::encode(Sha256::digest(root.as_os_str().as_encoded_bytes()));
    named_session(&format!("{name}-{}", &hash[..8]))
}

/// The session that a person names. A new key has eight characters at least, so a shorter name gets a beginning.
pub fn named_session(name: &str) -> SessionIdentity {
    let key = ConversationKey::new(name).or_else(|_| ConversationKey::new(format!("session-{name}")));
    // Both forms fail only for characters that no key has; the caller checked those.
    let key = key.unwrap_or_else(|_| unnamed());
    SessionIdentity::new(Channel::Mcp, key)
}

fn unnamed() -> ConversationKey {
    match ConversationKey::new("session-unnamed") {
        Ok(key) => key,
        Err(_) => unreachable!("the key is well formed"),
    }
}

/// The folder of a `file:` address, as clients name their roots.
pub(super) fn folder_of_uri(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    // A host may stand before the path; only this machine's files have a folder here.
    let path = path.strip_prefix("localhost").unwrap_or(path);
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_readable_key() {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("My Blog!");
        std::fs::create_dir_all(project.join("posts/2026")).unwrap();
        std::fs::create_dir(project.join(".git")).unwrap();
        let key = folder_session(&project);
        assert!(key.to_string().starts_with("mcp:my-blog-"), "{key}");
        assert_eq!(folder_session(&project.join("posts/2026")), key, "a folder below is the same project");
        assert_ne!(folder_session(root.path()), key);
    }

    #[test]
    fn a_short_name_is_a_session() {
        assert_eq!(named_session("blog").to_string(), "mcp:session-blog");
        assert_eq!(named_session("my-project").to_string(), "mcp:my-project");
    }

    #[test]
    fn roots_are_folders() {
        for (uri, folder) in [
            ("file:///home/ada/blog", Some("/home/ada/blog")),
            ("file:///home/ada/my%20blog", Some("/home/ada/my blog")),
            ("file://localhost/srv", Some("/srv")),
            ("file://other/srv", None),
            ("https://example.org", None),
        ] {
            assert_eq!(folder_of_uri(uri).as_deref(), folder.map(Path::new), "{uri}");
        }
    }
}
