//! Which notifications are sent, where and when.

use std::time::Duration;

use secrecy::SecretString;

use crate::notice::NoticeKind;
use crate::schedule::QuietHours;

#[derive(Debug, Clone)]
pub struct NotifyOptions {
    pub events: Vec<NoticeKind>,
    pub to: Vec<NotifyTarget>,
    /// How long something waits before a notification is sent. None is sent about what is decided by then.
    pub after: Duration,
    pub quiet: Option<QuietHours>,
    /// After how long without a decision the targets in `escalate_to` are notified, too.
    pub escalate_after: Option<Duration>,
    pub escalate_to: Vec<NotifyTarget>,
    pub webhook: Option<WebhookOptions>,
    pub ntfy: Option<NtfyOptions>,
    pub email: Option<EmailOptions>,
    pub push: PushOptions,
    /// The address that links begin with.
    pub public_url: Option<String>,
    /// Unique to this process.
    pub owner: String,
}

impl Default for NotifyOptions {
    fn default() -> Self {
        Self {
            events: NoticeKind::ALL.to_vec(),
            to: Vec::new(),
            after: Duration::from_secs(60),
            quiet: None,
            escalate_after: None,
            escalate_to: Vec::new(),
            webhook: None,
            ntfy: None,
            email: None,
            push: PushOptions::default(),
            public_url: None,
            owner: String::new(),
        }
    }
}

/// A way to reach a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotifyTarget {
    Telegram,
    Desktop,
    Webhook,
    Ntfy,
    Email,
    /// Browsers in which a person switched pushes on. It needs no setting.
    Push,
}

impl NotifyTarget {
    pub const ALL: [Self; 6] = [Self::Telegram, Self::Desktop, Self::Webhook, Self::Ntfy, Self::Email, Self::Push];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Telegram => "telegram",
            Self::Desktop => "desktop",
            Self::Webhook => "webhook",
            Self::Ntfy => "ntfy",
            Self::Email => "email",
            Self::Push => "push",
        }
    }

    /// The name of the channel in the outbox.
    pub(crate) fn channel(self) -> String {
        format!("notify-{}", self.as_str())
    }
}

#[derive(Debug, Clone)]
pub struct WebhookOptions {
    pub url: String,
    /// The key of the signature.
    pub secret: Option<SecretString>,
    /// Whether addresses of this machine and of private networks may be called.
    pub allow_private: bool,
    /// How long the host name may take to be resolved, and the call to be answered.
    pub answer_time: Duration,
}

#[derive(Debug, Clone)]
pub struct NtfyOptions {
    /// The address of the topic.
    pub url: String,
    /// The access token of the server.
    pub token: Option<SecretString>,
    /// Whether addresses of this machine and of private networks may be called.
    pub allow_private: bool,
    /// How long the host name may take to be resolved, and the call to be answered.
    pub answer_time: Duration,
}

/// The usual answer time of a webhook, an ntfy server and a push service.
pub const WEBHOOK_ANSWER_TIME: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct PushOptions {
    /// Whether push services of this machine and of private networks may be called.
    pub allow_private: bool,
    /// Whether a push says more than what waits and its title.
    pub details: bool,
    /// How long the host name may take to be resolved, and the call to be answered.
    pub answer_time: Duration,
}

impl Default for PushOptions {
    fn default() -> Self {
        Self { allow_private: false, details: false, answer_time: WEBHOOK_ANSWER_TIME }
    }
}

#[derive(Debug, Clone)]
pub struct EmailOptions {
    /// `smtps://user:password@mail.example.org`
    pub server: SecretString,
    pub from: String,
    pub to: Vec<String>,
}
