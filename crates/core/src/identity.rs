//! The names of a session. A session is identified by its channel and its conversation key. The address that answers
//! are delivered to is another type and does not convert into it.

mod folder;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::refusal::Refusal;
use crate::visible::quoted;
use crate::wire::text_enum;

text_enum! {
    pub enum Channel or "is not a channel; channels are" {
        Web = "web",
        Telegram = "telegram",
        Cli = "cli",
        Mcp = "mcp",
        Acp = "acp",
        /// Conversations taken over from the older format, which did not know channels.
        Legacy = "legacy",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(pattern = "^[a-zA-Z0-9_-]{1,64}$", min_length = 1, max_length = 64)
)]
#[serde(try_from = "String")]
pub struct ConversationKey(String);

impl ConversationKey {
    const MAX_LENGTH: usize = 64;
    const MIN_NEW_LENGTH: usize = 8;

    /// What a key looks like, in the same words wherever one is refused.
    pub(crate) const RULE: &str = "a new key has 8 to 64 letters, digits, '_' or '-'";

    /// A key for a conversation that begins now.
    pub fn new(text: impl Into<String>) -> Result<Self, Refusal> {
        Self::with_at_least(Self::MIN_NEW_LENGTH, text.into())
    }

    /// A key of a conversation that exists already; older ones may be shorter than new ones.
    pub fn existing(text: impl Into<String>) -> Result<Self, Refusal> {
        Self::with_at_least(1, text.into())
    }

    fn with_at_least(shortest: usize, text: String) -> Result<Self, Refusal> {
        let fits = (shortest..=Self::MAX_LENGTH).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if fits {
            Ok(Self(text))
        } else {
            Err(Refusal::invalid(format!("{} is not a conversation key: {}", quoted(&text), Self::RULE)))
        }
    }

    /// Whether a conversation with this key may begin now.
    pub fn may_be_new(&self) -> bool {
        self.0.len() >= Self::MIN_NEW_LENGTH
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConversationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ConversationKey {
    type Error = Refusal;
    fn try_from(text: String) -> Result<Self, Refusal> {
        Self::existing(text)
    }
}

/// The key of every state in Planwright, written `web:k3yk3y8x`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct SessionIdentity {
    pub channel: Channel,
    pub conversation: ConversationKey,
}

impl SessionIdentity {
    pub fn new(channel: Channel, conversation: ConversationKey) -> Self {
        Self { channel, conversation }
    }
}

impl fmt::Display for SessionIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.channel, self.conversation)
    }
}

impl FromStr for SessionIdentity {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let (channel, key) = text
            .split_once(':')
            .ok_or_else(|| Refusal::invalid(format!("{} is not a session: write channel:key", quoted(text))))?;
        Ok(Self::new(channel.parse()?, ConversationKey::existing(key)?))
    }
}

impl TryFrom<String> for SessionIdentity {
    type Error = Refusal;
    fn try_from(text: String) -> Result<Self, Refusal> {
        text.parse()
    }
}

impl Serialize for SessionIdentity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Where answers are delivered. It says nothing about which conversation is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TransportChat(pub String);

impl TransportChat {
    const CONNECTION: &str = "connection:";

    /// A connection that names the session in everything it sends.
    pub fn of_connection(id: &str) -> Self {
        Self(format!("{}{id}", Self::CONNECTION))
    }

    /// Whether nothing needs to be kept of the session it is in, because it names it each time.
    pub fn names_its_session(&self) -> bool {
        self.0.starts_with(Self::CONNECTION)
    }

    /// What logs call it: the same for the same transport, and nothing tells from it who that is.
    pub fn short_hash(&self) -> String {
        let mut hash = hex::encode(Sha256::digest(self.0.as_bytes()));
        hash.truncate(12);
        hash
    }
}
