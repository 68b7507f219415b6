//! Tells people what waits for them, and what ended.
//!
//! - [`Notifier`]: the component; it follows the store and sends until it is told to stop
//! - [`notice`]: what can be told, and how it is found in a session
//! - [`schedule`]: quiet hours
//! - [`options`]: which notifications are sent, where and when
//! - [`channels`]: desktop, webhook, ntfy, e-mail and pushes to browsers; Telegram's cards are made by `planwright-telegram`
//! - `deliver`: messages from the outbox, several in one
//! - `notifier`: follows the store, and stores what is to be told
//!
//! Every server looks at every change. A message has an id that is made from what it tells, so that it is stored once. One server takes
//! it from the outbox and sends it.
//!
//! Never in it: policy. It reads what waits for people and changes no session.

pub mod channels;
mod deliver;
pub mod notice;
mod notifier;
pub mod options;
pub mod schedule;

pub use notifier::Notifier;
pub use options::{NotifyOptions, NotifyTarget};
