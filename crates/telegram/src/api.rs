//! Calls to the Bot API. Errors never have the token in them, and never what people wrote.

use std::time::Duration;

use reqwest::multipart::{Form, Part};
use reqwest::{Client, RequestBuilder, header};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::connection;
use crate::markdown::{Entity, FormattedText, Look};
use crate::message::{Button, Keyboard, Markup};
use crate::options::TelegramOptions;

/// Longer than Telegram waits for an update.
const ANSWER: Duration = Duration::from_secs(65);
/// For all other calls. A message that is being sent is not sent by another process before that.
const SHORT_ANSWER: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ApiError {
    #[error("Telegram does not accept the token; it is wrong or was revoked")]
    Unauthorized,
    #[error("another program receives the updates of this bot: {0}")]
    Conflict(String),
    #[error("Telegram asks to wait for {} seconds", .0.as_secs())]
    TooMany(Duration),
    /// The bot was blocked, or removed from the chat.
    #[error("Telegram does not let the bot write there: {0}")]
    Forbidden(String),
    #[error("Telegram refused the call: {0}")]
    Rejected(String),
    #[error("Telegram cannot be reached: {0}")]
    Unavailable(String),
    /// The settings `telegram.proxy` or `telegram.certificates` cannot be used.
    #[error("{0}")]
    Settings(String),
}

impl ApiError {
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::TooMany(_) | Self::Unavailable(_) | Self::Conflict(_) | Self::Unauthorized => true,
            Self::Forbidden(_) | Self::Rejected(_) | Self::Settings(_) => false,
        }
    }
}

/// The bot itself.
#[derive(Debug, Clone, Deserialize)]
pub struct BotUser {
    pub id: i64,
    pub username: Option<String>,
}

/// Where Telegram sends updates, and the last error it met there.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct WebhookState {
    /// Empty without a webhook.
    #[serde(default)]
    pub url: String,
    #[serde(default)]
    pub pending_update_count: u64,
    pub last_error_message: Option<String>,
}

/// What is read of a message that was sent. The rest may have any shape.
#[derive(Debug, Deserialize)]
struct SentMessage {
    message_id: i64,
}

/// A file that can be downloaded.
#[derive(Debug, Deserialize)]
struct RemoteFile {
    file_path: Option<String>,
    file_size: Option<u64>,
}

/// What Telegram answers to every call.
#[derive(Debug, Deserialize)]
struct ApiAnswer {
    result: Option<Value>,
    error_code: Option<u16>,
    #[serde(default)]
    description: String,
    parameters: Option<ErrorParameters>,
}

#[derive(Debug, Deserialize)]
struct ErrorParameters {
    /// In seconds. An answer with a longer wait counts as unreadable, and the usual pauses apply.
    retry_after: Option<u16>,
}

/// A cheap handle; clones share the connections.
#[derive(Debug, Clone)]
pub struct BotApi {
    client: Client,
    methods: SecretString,
    files: SecretString,
}

impl BotApi {
    pub fn new(options: &TelegramOptions) -> Result<Self, ApiError> {
        let client = connection::client(options, ANSWER)?;
        let TelegramOptions { api_url, token, .. } = options;
        let address = |part: &str| SecretString::from(format!("{api_url}{part}/bot{}", token.expose_secret()));
        Ok(Self { client, methods: address(""), files: address("/file") })
    }

    pub async fn get_me(&self) -> Result<BotUser, ApiError> {
        self.call("getMe", json!({})).await
    }

    /// The updates from `offset` on, each as it came.
    pub async fn get_updates(&self, offset: Option<i64>, wait_seconds: u32) -> Result<Vec<Value>, ApiError> {
        let mut params = json!({ "limit": 100, "timeout": wait_seconds, "allowed_updates": ALLOWED_UPDATES });
        set(&mut params, "offset", offset);
        self.call("getUpdates", params).await
    }

    /// Telegram sends updates to `url` from now on, one after another, with `secret` in a header.
    pub async fn set_webhook(&self, url: &str, secret: &SecretString) -> Result<(), ApiError> {
        let params = json!({
            "url": url,
            "secret_token": secret.expose_secret(),
            // With several connections the updates of a chat could overtake each other.
            "max_connections": 1,
            "drop_pending_updates": false,
            "allowed_updates": ALLOWED_UPDATES,
        });
        self.done("setWebhook", params).await
    }

    /// The webhook as Telegram knows it.
    pub async fn webhook_info(&self) -> Result<WebhookState, ApiError> {
        self.call("getWebhookInfo", json!({})).await
    }

    pub async fn delete_webhook(&self) -> Result<(), ApiError> {
        self.done("deleteWebhook", json!({ "drop_pending_updates": false })).await
    }

    pub async fn set_commands(&self, commands: Vec<(String, String)>) -> Result<(), ApiError> {
        let command = |(command, description)| json!({ "command": command, "description": description });
        let commands: Vec<_> = commands.into_iter().map(command).collect();
        self.done("setMyCommands", json!({ "commands": commands })).await
    }

    pub async fn send_message(
        &self,
        chat: i64,
        text: &FormattedText,
        markup: Option<&Markup>,
    ) -> Result<i64, ApiError> {
        let mut params = message(chat, text);
        set(&mut params, "reply_markup", markup.map(reply_markup));
        let sent: SentMessage = self.call("sendMessage", params).await?;
        Ok(sent.message_id)
    }

    /// Shows a person what is being written. Telegram shows it for 30 seconds, and until the message is sent.
    pub async fn send_draft(&self, chat: i64, draft: i32, text: &FormattedText) -> Result<(), ApiError> {
        let params = json!({ "chat_id": chat, "draft_id": draft, "text": text.text, "entities": entities(text) });
        self.done("sendMessageDraft", params).await
    }

    /// Replaces the text and the buttons of a message. A message that looks like this already is not an error.
    pub async fn edit_message(
        &self,
        chat: i64,
        id: i64,
        text: &FormattedText,
        keyboard: Option<&Keyboard>,
    ) -> Result<(), ApiError> {
        let mut params = message(chat, text);
        params["message_id"] = json!(id);
        set(&mut params, "reply_markup", keyboard.map(inline_keyboard));
        match self.done("editMessageText", params).await {
            Err(ApiError::Rejected(why)) if why.contains("message is not modified") => Ok(()),
            outcome => outcome,
        }
    }

    pub async fn send_document(&self, chat: i64, name: &str, content: &str, caption: &str) -> Result<i64, ApiError> {
        let file = Part::bytes(content.as_bytes().to_vec()).file_name(name.to_owned());
        let form = Form::new().text("chat_id", chat.to_string()).text("caption", caption.to_owned());
        let sent: SentMessage = read(self.post("sendDocument").multipart(form.part("document", file))).await?;
        Ok(sent.message_id)
    }

    pub async fn show_typing(&self, chat: i64) -> Result<(), ApiError> {
        self.done("sendChatAction", json!({ "chat_id": chat, "action": "typing" })).await
    }

    /// Ends the wait that the person sees on a button.
    pub async fn answer_press(&self, press: &str, text: &str) -> Result<(), ApiError> {
        self.done("answerCallbackQuery", json!({ "callback_query_id": press, "text": text })).await
    }

    /// Inline queries have no results.
    pub async fn answer_inline(&self, query: &str) -> Result<(), ApiError> {
        self.done("answerInlineQuery", json!({ "inline_query_id": query, "results": [] })).await
    }

    /// The content of a file, if it is not larger than `most` bytes.
    pub async fn download(&self, file: &str, most: u64) -> Result<Option<Vec<u8>>, ApiError> {
        let remote: RemoteFile = self.call("getFile", json!({ "file_id": file })).await?;
        if remote.file_size.is_some_and(|size| size > most) {
            return Ok(None);
        }
        let path = remote.file_path.filter(|path| is_plain_path(path));
        let path = path.ok_or_else(|| ApiError::Rejected("the file has no path".to_owned()))?;
        let unavailable = |error: reqwest::Error| ApiError::Unavailable(error.without_url().to_string());
        let url = format!("{}/{path}", self.files.expose_secret());
        let mut response = self.client.get(url).send().await.map_err(unavailable)?;
        if !response.status().is_success() {
            return Err(ApiError::Unavailable(format!("the file was answered with {}", response.status().as_u16())));
        }
        let mut content = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(unavailable)? {
            if content.len() as u64 + piece.len() as u64 > most {
                return Ok(None);
            }
            content.extend_from_slice(&piece);
        }
        Ok(Some(content))
    }

    fn post(&self, method: &str) -> RequestBuilder {
        self.client.post(format!("{}/{method}", self.methods.expose_secret()))
    }

    async fn call<T: DeserializeOwned>(&self, method: &str, params: Value) -> Result<T, ApiError> {
        let time = if method == "getUpdates" { ANSWER } else { SHORT_ANSWER };
        let request = self.post(method).header(header::CONTENT_TYPE, "application/json").timeout(time);
        read(request.body(params.to_string())).await
    }

    /// Makes a call whose result says nothing.
    async fn done(&self, method: &str, params: Value) -> Result<(), ApiError> {
        self.call::<Value>(method, params).await.map(drop)
    }
}

/// Sends a request and reads its result. The body of an error is not shown: it may be a page of a proxy, or what people wrote.
async fn read<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ApiError> {
    let broken = |error: reqwest::Error| {
        let kind = match () {
            () if error.is_timeout() => "it does not answer",
            () if error.is_connect() => "no connection",
            () => "the connection broke",
        };
        ApiError::Unavailable(kind.to_owned())
    };
    let response = request.send().await.map_err(broken)?;
    let is_success = response.status().is_success();
    let body = response.bytes().await.map_err(broken)?;
    let unreadable = || ApiError::Unavailable("the answer cannot be read".to_owned());
    let answer: ApiAnswer = serde_json::from_slice(&body).map_err(|_| unreadable())?;
    match (answer.result, answer.error_code) {
        (Some(result), _) if is_success => T::deserialize(result).map_err(|_| unreadable()),
        (_, Some(code)) if !is_success => Err(refused(code, &answer.description, answer.parameters)),
        (_, _) => Err(unreadable()),
    }
}

/// The kinds of updates that are read.
const ALLOWED_UPDATES: [&str; 5] = ["message", "edited_message", "callback_query", "inline_query", "my_chat_member"];

/// The path comes from the service and becomes a part of an address.
fn is_plain_path(path: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._/".contains(&b);
    !path.is_empty() && !path.contains("..") && path.bytes().all(plain)
}

fn refused(code: u16, description: &str, parameters: Option<ErrorParameters>) -> ApiError {
    let why = description.chars().take(200).collect();
    let wait = parameters.and_then(|parameters| parameters.retry_after);
    match code {
        429 => ApiError::TooMany(Duration::from_secs(wait.unwrap_or(1).max(1).into())),
        401 | 404 => ApiError::Unauthorized,
        409 => ApiError::Conflict(why),
        403 => ApiError::Forbidden(why),
        500.. => ApiError::Unavailable(why),
        _ => ApiError::Rejected(why),
    }
}

/// Sets a parameter that a call may do without.
fn set<T: Into<Value>>(params: &mut Value, name: &str, value: Option<T>) {
    if let Some(value) = value {
        params[name] = value.into();
    }
}

fn message(chat: i64, text: &FormattedText) -> Value {
    let preview = json!({ "is_disabled": true });
    json!({ "chat_id": chat, "text": text.text, "entities": entities(text), "link_preview_options": preview })
}

fn entities(text: &FormattedText) -> Vec<Value> {
    let entity = |Entity { offset, length, look }: &Entity| {
        let (kind, url, language) = match look {
            Look::Bold => ("bold", None, None),
            Look::Italic => ("italic", None, None),
            Look::Strikethrough => ("strikethrough", None, None),
            Look::Quote => ("blockquote", None, None),
            Look::Code => ("code", None, None),
            Look::Pre { language } => ("pre", None, language.as_deref()),
            Look::Link { url } => ("text_link", Some(url.as_str()), None),
        };
        let mut entity = json!({ "type": kind, "offset": offset, "length": length });
        set(&mut entity, "url", url);
        set(&mut entity, "language", language);
        entity
    };
    text.entities.iter().map(entity).collect()
}

fn reply_markup(markup: &Markup) -> Value {
    match markup {
        Markup::Buttons(keyboard) => inline_keyboard(keyboard),
        Markup::ForceReply { placeholder } => {
            json!({ "force_reply": true, "input_field_placeholder": placeholder, "selective": true })
        }
    }
}

fn inline_keyboard(keyboard: &Keyboard) -> Value {
    let button = |Button { text, code, url }: &Button| {
        let mut button = json!({ "text": text });
        set(&mut button, "callback_data", code.as_deref());
        set(&mut button, "url", url.as_deref());
        button
    };
    let rows: Vec<Vec<_>> = keyboard.rows.iter().map(|row| row.iter().map(button).collect()).collect();
    json!({ "inline_keyboard": rows })
}
