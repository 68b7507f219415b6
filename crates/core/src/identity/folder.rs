//! The name of a session's folder on disk.

use super::{Channel, ConversationKey, SessionIdentity};

/// Stands before a letter that is a capital in the key. Keys do not have it, and every file system allows it.
const CAPITAL: char = '+';

impl SessionIdentity {
    /// Where this session's files are: `web:Ab_9` is in `web-+ab_9`.
    ///
    /// File systems that do not tell capitals from small letters would give two sessions one folder, so the name has
    /// no capitals. It begins with the channel, so it is never hidden and never a name that a system keeps for itself.
    pub fn folder_name(&self) -> String {
        let mut name = format!("{}-", self.channel);
        for letter in self.conversation.as_str().chars() {
            if letter.is_ascii_uppercase() {
                name.push(CAPITAL);
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }

    /// The session whose folder has this name, or `None` if the name belongs to no session.
    pub fn from_folder_name(name: &str) -> Option<Self> {
        let (channel, written) = name.split_once('-')?;
        let channel: Channel = channel.parse().ok()?;
        let mut key = String::with_capacity(written.len());
        let mut letters = written.chars();
        while let Some(letter) = letters.next() {
            key.push(match letter {
                CAPITAL => letters.next().filter(char::is_ascii_lowercase)?.to_ascii_uppercase(),
                'A'..='Z' => return None,
                other => other,
            });
        }
        Some(Self::new(channel, ConversationKey::existing(key).ok()?))
    }
}
