//! How the bot is set up.

use std::time::Duration;

use secrecy::SecretString;

/// The address of Telegram's own Bot API.
pub const BOT_API: &str = "https://api.telegram.org";

#[derive(Debug, Clone)]
pub struct TelegramOptions {
    pub token: SecretString,
    /// Without a slash at the end.
    pub api_url: String,
    /// The ids of the people who may use the bot.
    pub allowed_users: Vec<i64>,
    /// The ids of groups in which they may use it.
    pub allowed_chats: Vec<i64>,
    /// The address that links begin with.
    pub public_url: Option<String>,
    /// Unique to this process.
    pub owner: String,
    /// When another process receives the updates of a process that died.
    pub lease: Duration,
    /// The largest file that is taken.
    pub file_bytes: u64,
    /// The shortest time between two edits of a message.
    pub edit_pause: Duration,
    /// How long Telegram waits for an update before it answers.
    pub poll_seconds: u32,
}

impl TelegramOptions {
    pub fn new(token: SecretString) -> Self {
        Self {
            token,
            api_url: BOT_API.to_owned(),
            allowed_users: Vec::new(),
            allowed_chats: Vec::new(),
            public_url: None,
            owner: String::new(),
            lease: Duration::from_secs(15),
            file_bytes: 10 * 1024 * 1024,
            edit_pause: Duration::from_millis(1_500),
            poll_seconds: 25,
        }
    }
}
