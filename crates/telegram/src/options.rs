//! How the bot is set up.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// The address of Telegram's own Bot API.
pub const BOT_API: &str = "https://api.telegram.org";

/// The path of the server to which Telegram sends updates in webhook mode.
pub const WEBHOOK_PATH: &str = "/telegram/webhook";

/// How updates reach the server.
#[derive(Debug, Clone)]
pub enum UpdateMode {
    /// The server asks Telegram for them.
    Polling,
    /// Telegram sends them to [`WEBHOOK_PATH`] below the public address, with this secret in a header.
    Webhook { secret: SecretString },
}

/// A file with certificates in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFile {
    pub path: PathBuf,
    /// The hash of the content that a person chose, in hexadecimal digits. Another content is refused.
    pub sha256: Option<String>,
}

#[derive(Debug, Clone)]
pub struct TelegramOptions {
    pub token: SecretString,
    /// Without a slash at the end.
    pub api_url: String,
    /// The proxy through which Telegram is reached. Variables such as `HTTPS_PROXY` name none.
    pub proxy: Option<String>,
    /// Certificates of authorities that are believed besides those that are part of the program.
    pub certificates: Option<CertificateFile>,
    pub mode: UpdateMode,
    /// The ids of the people who may use the bot.
    pub allowed_users: Vec<i64>,
    /// The ids of groups in which they may use it.
    pub allowed_chats: Vec<i64>,
    /// The address that links begin with, and that Telegram sends updates to in webhook mode.
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
    /// How often a token is tried that Telegram does not accept.
    pub revoked_pause: Duration,
    /// The shortest wait while another program receives the updates.
    pub conflict_pause: Duration,
}

impl TelegramOptions {
    pub fn new(token: SecretString) -> Self {
        Self {
            token,
            api_url: BOT_API.to_owned(),
            proxy: None,
            certificates: None,
            mode: UpdateMode::Polling,
            allowed_users: Vec::new(),
            allowed_chats: Vec::new(),
            public_url: None,
            owner: String::new(),
            lease: Duration::from_secs(15),
            file_bytes: 10 * 1024 * 1024,
            edit_pause: Duration::from_millis(1_500),
            poll_seconds: 25,
            revoked_pause: Duration::from_secs(300),
            conflict_pause: Duration::from_secs(5),
        }
    }
}
