//! The section `telegram`: the bot, and who may use it.

use std::path::{Path, PathBuf};

use planwright_core::visible::quoted;
use planwright_telegram::{BOT_API, CertificateFile, TelegramOptions, UpdateMode};
use secrecy::SecretString;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::setting::{Check, Checked, Choice, Choices, Positive, SettingValue, section};
use crate::failure::Failure;

fn defaults() -> TelegramOptions {
    TelegramOptions::new(SecretString::from(String::new()))
}

section! {
    pub(super) struct TelegramSection, "telegram" {
        "The token of the bot, as @BotFather gives it ([telegram.md](telegram.md)). `planwright telegram` helps to set it up."
        token: Checked<BotToken> => "no bot",
        "The ids of the people who may use the bot. The bot tells other people one line: that it is private."
        allowed_users: ChatIds = Vec::new(),
        "The ids of groups in which they may use it."
        allowed_chats: ChatIds = Vec::new(),
        "How updates reach the server: it asks Telegram for them, or Telegram sends them to `server.public_url`."
        mode: Choice<UpdateChoice> = UpdateChoice::Polling,
        "The secret that Telegram sends along in webhook mode: 16 to 256 letters, digits, `-` and `_`."
        webhook_secret: Checked<WebhookSecret> => "needed in webhook mode",
        "The address of a Bot API server."
        api_url: Checked<ApiUrl> = BOT_API.to_owned(),
        "The address of a proxy through which the bot reaches Telegram. Variables such as `HTTPS_PROXY` do not count for the bot."
        proxy: Checked<ApiUrl> => "a direct connection",
        "The path of a PEM file with authorities that are believed for the Bot API besides those that are part of the program. The store keeps its hash. `SSL_CERT_FILE` does not count for the bot."
        certificates: Checked<Certificates> => "no others",
        "The largest document or photo that is taken, in bytes."
        file_bytes: Positive<u64> = defaults().file_bytes,
    }
}

impl TelegramSection {
    pub(super) fn bot_token(&self) -> Option<&SecretString> {
        self.token.as_ref().map(Checked::value)
    }

    pub(super) fn secret(&self) -> Option<&SecretString> {
        self.webhook_secret.as_ref().map(Checked::value)
    }

    /// No bot in this process.
    pub(super) fn drop_bot(&mut self) {
        self.token = None;
    }

    /// `None` without a token.
    pub(super) fn options(mut self) -> Result<Option<TelegramOptions>, Failure> {
        let Some(token) = self.token() else { return Ok(None) };
        let mode = match (self.mode(), self.webhook_secret()) {
            (UpdateChoice::Polling, _) => UpdateMode::Polling,
            (UpdateChoice::Webhook, Some(secret)) => UpdateMode::Webhook { secret },
            (UpdateChoice::Webhook, None) => {
                return Err(Failure::usage("`telegram.mode` is `webhook` and `telegram.webhook_secret` is not set"));
            }
        };
        Ok(Some(TelegramOptions {
            mode,
            allowed_users: self.allowed_users(),
            allowed_chats: self.allowed_chats(),
            api_url: self.api_url(),
            proxy: self.proxy(),
            certificates: self.certificates(),
            file_bytes: self.file_bytes(),
            ..TelegramOptions::new(token)
        }))
    }
}

/// The name of an [`UpdateMode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum UpdateChoice {
    Polling,
    Webhook,
}

impl Choices for UpdateChoice {
    const NAMES: &'static [(&'static str, Self)] = &[("polling", Self::Polling), ("webhook", Self::Webhook)];
}

#[derive(Debug)]
pub(super) enum WebhookSecret {}

impl Check for WebhookSecret {
    type Value = SecretString;
    const KIND: &'static str = "a secret text, such as the output of `openssl rand -hex 32`";

    /// The errors never show the secret.
    fn check(text: &str) -> Result<SecretString, String> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if (16..=256).contains(&text.len()) && text.bytes().all(plain) {
            Ok(SecretString::from(text))
        } else {
            Err("it is not 16 to 256 letters, digits, `-` and `_`".to_owned())
        }
    }

    fn show(_: &SecretString) -> String {
        String::new()
    }
}

#[derive(Debug)]
pub(super) enum BotToken {}

impl Check for BotToken {
    type Value = SecretString;
    const KIND: &'static str = "a token such as `123456:…`";

    /// The errors never show the token.
    fn check(text: &str) -> Result<SecretString, String> {
        let wrong = "it is not the token of a bot: a number, a colon and at least 10 letters and digits";
        let (number, secret) = text.split_once(':').ok_or(wrong)?;
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let is_secret =
            secret.len() >= 10 && secret.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if is_number && is_secret { Ok(SecretString::from(text)) } else { Err(wrong.to_owned()) }
    }

    fn show(_: &SecretString) -> String {
        String::new()
    }
}

#[derive(Debug)]
pub(super) enum ApiUrl {}

impl Check for ApiUrl {
    type Value = String;
    const KIND: &'static str = "an address, such as `http://127.0.0.1:8081`";

    fn check(text: &str) -> Result<String, String> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/:[]".contains(&b);
        match rest {
            Some(rest) if !rest.is_empty() && rest.bytes().all(plain) => Ok(text.trim_end_matches('/').to_owned()),
            Some(_) | None => Err(format!("{} is not the address of a server", quoted(text))),
        }
    }

    fn show(value: &String) -> String {
        format!("`{value}`")
    }
}

/// A path and, in the store, the hash of what the file had when a person chose it.
#[derive(Debug)]
pub(super) enum Certificates {}

const HASH: &str = " sha256:";

impl Check for Certificates {
    type Value = CertificateFile;
    const KIND: &'static str = "the path of a file, from the root";

    fn check(text: &str) -> Result<CertificateFile, String> {
        let (path, sha256) = text.rsplit_once(HASH).map_or((text, None), |(path, hash)| (path, Some(hash.to_owned())));
        let path = PathBuf::from(path);
        if path.is_absolute() {
            Ok(CertificateFile { path, sha256 })
        } else {
            Err(format!("{} is not a path from the root", quoted(text)))
        }
    }

    fn show(value: &CertificateFile) -> String {
        format!("`{}`", value.path.display())
    }
}

/// The setting with the hash of the file, as the store keeps it. `None` if it cannot be read.
pub(super) fn certificates_with_hash(text: &str) -> Option<String> {
    let path = text.rsplit_once(HASH).map_or(text, |(path, _)| path);
    let content = std::fs::read(Path::new(path)).ok()?;
    Some(format!("{path}{HASH}{}", hex::encode(Sha256::digest(content))))
}

/// No file has this hash, so the setting has to be set anew.
pub(super) fn certificates_without_file(text: &str) -> String {
    format!("{text}{HASH}unknown")
}

/// Numbers in the file; separated by commas in the variable.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct ChatIds(Vec<i64>);

impl SettingValue for ChatIds {
    type Value = Vec<i64>;

    fn parse(text: &str) -> Result<Self, String> {
        let id =
            |item: &str| item.trim().parse().map_err(|_| format!("{} is not the id of a person or chat", quoted(item)));
        text.split(',').map(id).collect::<Result<_, _>>().map(Self)
    }

    fn kind() -> String {
        "a list of numbers".to_owned()
    }

    fn get(self) -> Vec<i64> {
        self.0
    }

    fn show(value: &Vec<i64>) -> String {
        if value.is_empty() { "empty".to_owned() } else { format!("{value:?}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_in_the_file_and_separated_by_commas_in_the_variable() {
        let text = "token = \"123456:abcdefghijk\"\nallowed_users = [7, 8]\nallowed_chats = [-100123]\n";
        let options = toml::from_str::<TelegramSection>(text).unwrap().options().unwrap().unwrap();
        assert_eq!((options.allowed_users, options.allowed_chats), (vec![7, 8], vec![-100_123]));
        assert_eq!(ChatIds::parse("7, -8").unwrap().get(), [7, -8]);
        assert!(ChatIds::parse("7,ada").unwrap_err().contains("ada"));
        assert!(TelegramSection::default().options().unwrap().is_none());
    }

    #[test]
    fn certificates_are_a_path_and_in_the_store_a_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own authority.pem");
        let text = path.to_str().unwrap();
        assert_eq!(certificates_with_hash(text), None);
        assert_eq!(Certificates::check(&certificates_without_file(text)).unwrap().sha256.as_deref(), Some("unknown"));
        std::fs::write(&path, "one").unwrap();
        let kept = certificates_with_hash(text).unwrap();
        let chosen = Certificates::check(&kept).unwrap();
        assert_eq!((chosen.path, chosen.sha256.map(|hash| hash.len())), (path.clone(), Some(64)));
        assert_eq!(certificates_with_hash(&kept).as_ref(), Some(&kept));
        std::fs::write(&path, "two").unwrap();
        assert_ne!(certificates_with_hash(&kept), Some(kept));
        assert!(Certificates::check("own.pem").unwrap_err().contains("own.pem"));
    }

    #[test]
    fn webhook_mode_needs_its_secret() {
        let read = |rest: &str| {
            let text = format!("token = \"123456:abcdefghijk\"\nmode = \"webhook\"\n{rest}");
            toml::from_str::<TelegramSection>(&text).map_err(|error| error.to_string())
        };
        assert!(read("").unwrap().options().is_err());
        let options = read("webhook_secret = \"0123456789-abcdef\"").unwrap().options().unwrap().unwrap();
        assert!(matches!(options.mode, UpdateMode::Webhook { .. }));
        for secret in ["too-short", "0123456789 abcdef", "0123456789ä012345"] {
            let error = read(&format!("webhook_secret = \"{secret}\"")).unwrap_err();
            assert!(error.contains("16 to 256 letters"), "{error}");
        }
    }

    #[test]
    fn an_error_never_shows_the_token() {
        for token in ["secret-thing", "abc:secret-thing", "123:sec ret-thing-long"] {
            assert!(!BotToken::check(token).unwrap_err().contains("sec"), "{token}");
        }
    }
}
