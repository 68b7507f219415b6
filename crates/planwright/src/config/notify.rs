//! The section `notify`: what people are told, where and when.

use jiff::tz::TimeZone;
use planwright_core::visible::quoted;
use planwright_notify::notice::NoticeKind;
use planwright_notify::options::{EmailOptions, NtfyOptions, PushOptions, WEBHOOK_ANSWER_TIME, WebhookOptions};
use planwright_notify::schedule::QuietHours;
use planwright_notify::{NotifyOptions, NotifyTarget};
use secrecy::SecretString;

use super::setting::{Check, Checked, List, Seconds, Switch, section};
use crate::failure::Failure;

fn defaults() -> NotifyOptions {
    NotifyOptions::default()
}

section! {
    pub(super) struct NotifySection, "notify" {
        "Which events people are notified about ([notifications.md](notifications.md))."
        events: List<EventName> = defaults().events,
        "Where notifications are sent."
        to: List<TargetName> => "`telegram` if there is a bot, else nowhere",
        "How long something waits before a notification is sent. None is sent about what is decided by then."
        after_seconds: Seconds = defaults().after,
        "A part of the day in which no notification is sent. Those that are due are sent at the end of it."
        quiet: Checked<Hours> => "no quiet hours",
        "The time zone of the quiet hours."
        time_zone: Checked<Zone> => "the one of the machine",
        "After how long without a decision the targets in `escalate_to` are notified, too."
        escalate_after_seconds: Seconds => "never",
        "Where notifications are sent after `escalate_after_seconds`."
        escalate_to: List<TargetName> = Vec::new(),
        "The address that notifications are posted to."
        webhook_url: Checked<Address> => "no webhook",
        "The key of the signature of a call."
        webhook_secret: Checked<Secret> => "calls are not signed",
        "Whether the webhook may be on this machine or in a private network."
        webhook_private: Switch = false,
        "The address of an ntfy topic, such as `https://ntfy.sh/TOPIC`."
        ntfy_url: Checked<Address> => "no ntfy topic",
        "The access token of the ntfy server."
        ntfy_token: Checked<Secret> => "without a token",
        "Whether the ntfy server may be on this machine or in a private network."
        ntfy_private: Switch = false,
        "The mail server."
        email_server: Checked<Secret> => "no e-mail",
        "The address that e-mails come from."
        email_from: Checked<Address> => "needed for e-mail",
        "The addresses that e-mails go to."
        email_to: List<Address> = Vec::new(),
        "Whether a push to a browser says more than what waits and its title: the steps of a plan, and what a call is made with."
        push_details: Switch = defaults().push.details,
        "Whether the push service of a browser may be on this machine or in a private network."
        push_private: Switch = defaults().push.allow_private,
    }
}

impl NotifySection {
    pub(super) fn options(mut self, has_bot: bool) -> Result<NotifyOptions, Failure> {
        let zone = self.time_zone().unwrap_or_else(TimeZone::system);
        let quiet = self.quiet().map(|quiet| QuietHours { zone, ..quiet });
        let webhook = self.webhook_url().map(|url| WebhookOptions {
            url,
            secret: self.webhook_secret(),
            allow_private: self.webhook_private(),
            answer_time: WEBHOOK_ANSWER_TIME,
        });
        let ntfy = self.ntfy_url().map(|url| NtfyOptions {
            url,
            token: self.ntfy_token(),
            allow_private: self.ntfy_private(),
            answer_time: WEBHOOK_ANSWER_TIME,
        });
        let email = match self.email_server() {
            None => None,
            Some(server) => {
                let from = self.email_from().ok_or_else(|| missing("email_from"))?;
                let to = Some(self.email_to()).filter(|to| !to.is_empty()).ok_or_else(|| missing("email_to"))?;
                Some(EmailOptions { server, from, to })
            }
        };
        let push = PushOptions {
            allow_private: self.push_private(),
            details: self.push_details(),
            answer_time: WEBHOOK_ANSWER_TIME,
        };
        let to = self.to().unwrap_or_else(|| if has_bot { vec![NotifyTarget::Telegram] } else { Vec::new() });
        Ok(NotifyOptions {
            events: self.events(),
            to,
            after: self.after_seconds(),
            quiet,
            escalate_after: self.escalate_after_seconds(),
            escalate_to: self.escalate_to(),
            webhook,
            ntfy,
            email,
            push,
            ..defaults()
        })
    }
}

fn missing(key: &str) -> Failure {
    Failure::usage(format!("`notify.email_server` is set and `notify.{key}` is not"))
}

#[derive(Debug)]
pub(super) enum EventName {}

impl Check for EventName {
    type Value = NoticeKind;
    const KIND: &'static str = "`waits`, `finished`, `failed`, `budget`, `damage`";

    fn check(text: &str) -> Result<NoticeKind, String> {
        let found = NoticeKind::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| format!("{} is none of {}", quoted(text), Self::KIND))
    }

    fn show(value: &NoticeKind) -> String {
        format!("`{}`", value.as_str())
    }
}

#[derive(Debug)]
pub(super) enum TargetName {}

impl Check for TargetName {
    type Value = NotifyTarget;
    const KIND: &'static str = "`telegram`, `desktop`, `webhook`, `ntfy`, `email`, `push`";

    fn check(text: &str) -> Result<NotifyTarget, String> {
        let found = NotifyTarget::ALL.into_iter().find(|target| target.as_str() == text);
        found.ok_or_else(|| format!("{} is none of {}", quoted(text), Self::KIND))
    }

    fn show(value: &NotifyTarget) -> String {
        format!("`{}`", value.as_str())
    }
}

#[derive(Debug)]
pub(super) enum Hours {}

impl Check for Hours {
    type Value = QuietHours;
    const KIND: &'static str = "a part of a day, such as `22:00-07:00`";

    fn check(text: &str) -> Result<QuietHours, String> {
        QuietHours::parse(text, TimeZone::UTC)
    }

    fn show(value: &QuietHours) -> String {
        format!("`{}-{}`", value.from, value.to)
    }
}

#[derive(Debug)]
pub(super) enum Zone {}

impl Check for Zone {
    type Value = TimeZone;
    const KIND: &'static str = "a time zone, such as `Europe/Warsaw`";

    fn check(text: &str) -> Result<TimeZone, String> {
        TimeZone::get(text).map_err(|_| format!("{} is not a time zone", quoted(text)))
    }

    fn show(value: &TimeZone) -> String {
        value.iana_name().map(|name| format!("`{name}`")).unwrap_or_default()
    }
}

/// Text that is checked where it is used.
#[derive(Debug)]
pub(super) enum Address {}

impl Check for Address {
    type Value = String;
    const KIND: &'static str = "an address";

    fn check(text: &str) -> Result<String, String> {
        if text.trim().is_empty() { Err("it is empty".to_owned()) } else { Ok(text.trim().to_owned()) }
    }

    fn show(value: &String) -> String {
        format!("`{value}`")
    }
}

/// Text that is never shown.
#[derive(Debug)]
pub(super) enum Secret {}

impl Check for Secret {
    type Value = SecretString;
    const KIND: &'static str = "a secret text; the mail server is `smtps://user:password@mail.example.org`";

    fn check(text: &str) -> Result<SecretString, String> {
        Ok(SecretString::from(text))
    }

    fn show(_: &SecretString) -> String {
        String::new()
    }
}
