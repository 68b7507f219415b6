//! Telegram: a chat with the agent, and decisions by buttons.
//!
//! - [`TelegramBot`]: the component; it receives updates, answers them and sends messages until it is told to stop
//! - [`api`]: calls to the Bot API, and its errors
//! - `update`: what Telegram delivers, read field by field
//! - `poller`: one process at a time asks for updates and works on them; they are stored before they are handled
//! - [`WebhookHandler`]: stores updates that Telegram sends to any of the servers
//! - `connection`: the connection to Telegram, by which proxy and with which certificates
//! - `context`: what all parts of the bot share
//! - `access`: the allow-list, and what strangers are told
//! - `dispatcher`: the updates of each chat, one after another
//! - `conversation`: one update, from the session it belongs to, through the agent, to the messages that answer it
//! - `live_message`: a draft or an edited message while the agent works
//! - `buttons`, `press`: what a button does, for whom, and once
//! - `card`, `card_watch`: plans and questions put before a person, and kept up to date when they are decided elsewhere
//! - [`InboxCards`]: cards about what waits in any session
//! - `incoming_files`: documents and photos become files of the session
//! - [`markdown`]: Markdown as text with entities
//! - [`message`], `sender`: what is sent, from the outbox in the ledger
//! - `run_chats`, `run_watch`: what became of the runs that were started in a chat
//! - `records`: small records in the ledger
//! - [`setup`]: checks a token and waits for a first message
//! - `bot`: the bot as a component of the server
//! - `inbox_cards`: cards about what waits anywhere, sent to people who are allowed
//! - `menu`: the menu of commands that Telegram shows
//! - `options`: how the bot is set up
//! - `webhook`: webhook mode
//!
//! Never in it: policy. A button or a message is a request like that of any other surface, and `core` decides whether
//! it is allowed.

mod access;
pub mod api;
mod bot;
mod buttons;
mod card;
mod card_watch;
mod connection;
mod context;
mod conversation;
mod dispatcher;
mod inbox_cards;
mod incoming_files;
mod live_message;
pub mod markdown;
mod menu;
pub mod message;
mod options;
mod poller;
mod press;
mod records;
mod run_chats;
mod run_watch;
mod sender;
pub mod setup;
mod update;
mod webhook;

pub use bot::TelegramBot;
pub use context::transport_of;
pub use inbox_cards::InboxCards;
pub use options::{BOT_API, CertificateFile, TelegramOptions, UpdateMode, WEBHOOK_PATH};
pub use webhook::{WebhookError, WebhookHandler};

/// The name of the channel in the outbox.
pub const CHANNEL: &str = "telegram";
