//! Calls to the Bot API. Errors never have the token in them, and never what people wrote.

use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

use frankenstein::client_reqwest::Bot;
use frankenstein::methods::{
    AnswerCallbackQueryParams, AnswerInlineQueryParams, DeleteWebhookParams, EditMessageTextParams, GetFileParams,
    GetUpdatesParams, SendChatActionParams, SendMessageDraftParams, SendMessageParams, SetMyCommandsParams,
    SetWebhookParams,
};
use frankenstein::response::{ErrorResponse, MethodResponse};
use frankenstein::types::{
    AllowedUpdate, BotCommand, ChatAction, ForceReply, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions,
    MessageEntity, MessageEntityType, ReplyMarkup,
};
use frankenstein::{AsyncTelegramApi as _, Error};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::markdown::{FormattedText, Look};
use crate::message::{Keyboard, Markup};

const CONNECT: Duration = Duration::from_secs(10);
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
}

impl ApiError {
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::TooMany(_) | Self::Unavailable(_) | Self::Conflict(_) | Self::Unauthorized => true,
            Self::Forbidden(_) | Self::Rejected(_) => false,
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

/// A cheap handle; clones share the connections.
#[derive(Debug, Clone)]
pub struct BotApi {
    bot: Bot,
    files: SecretString,
}

impl BotApi {
    pub fn new(api_url: &str, token: &SecretString) -> Result<Self, ApiError> {
        let client = reqwest::Client::builder().connect_timeout(CONNECT).timeout(ANSWER).build();
        let client = client.map_err(|error| ApiError::Unavailable(error.without_url().to_string()))?;
        let token = token.expose_secret();
        let bot = Bot::builder().api_url(format!("{api_url}/bot{token}")).client(client).build();
        Ok(Self { bot, files: SecretString::from(format!("{api_url}/file/bot{token}")) })
    }

    pub async fn get_me(&self) -> Result<BotUser, ApiError> {
        self.call("getMe", json!({})).await
    }

    /// The updates from `offset` on, each as it came.
    pub async fn get_updates(&self, offset: Option<i64>, wait_seconds: u32) -> Result<Vec<Value>, ApiError> {
        let params = GetUpdatesParams::builder()
            .maybe_offset(offset)
            .limit(100_u32)
            .timeout(wait_seconds)
            .allowed_updates(allowed_updates())
            .build();
        self.call("getUpdates", params).await
    }

    /// Telegram sends updates to `url` from now on, one after another, with `secret` in a header.
    pub async fn set_webhook(&self, url: &str, secret: &SecretString) -> Result<(), ApiError> {
        let params = SetWebhookParams::builder()
            .url(url)
            .secret_token(secret.expose_secret())
            // With several connections the updates of a chat could overtake each other.
            .max_connections(1_u32)
            .drop_pending_updates(false)
            .allowed_updates(allowed_updates())
            .build();
        self.call::<_, Value>("setWebhook", params).await.map(drop)
    }

    /// The webhook as Telegram knows it.
    pub async fn webhook_info(&self) -> Result<WebhookState, ApiError> {
        self.call("getWebhookInfo", json!({})).await
    }

    pub async fn delete_webhook(&self) -> Result<(), ApiError> {
        let params = DeleteWebhookParams::builder().drop_pending_updates(false).build();
        self.call::<_, Value>("deleteWebhook", params).await.map(drop)
    }

    pub async fn set_commands(&self, commands: Vec<(String, String)>) -> Result<(), ApiError> {
        let commands = commands
            .into_iter()
            .map(|(command, description)| BotCommand::builder().command(command).description(description).build())
            .collect();
        let params = SetMyCommandsParams::builder().commands(commands).build();
        self.call::<_, Value>("setMyCommands", params).await.map(drop)
    }

    pub async fn send_message(
        &self,
        chat: i64,
        text: &FormattedText,
        markup: Option<&Markup>,
    ) -> Result<i64, ApiError> {
        let params = SendMessageParams::builder()
            .chat_id(chat)
            .text(text.text.clone())
            .entities(entities(text))
            .link_preview_options(LinkPreviewOptions::builder().is_disabled(true).build())
            .maybe_reply_markup(markup.map(reply_markup))
            .build();
        let sent: SentMessage = self.call("sendMessage", params).await?;
        Ok(sent.message_id)
    }

    /// Shows a person what is being written. Telegram shows it for 30 seconds, and until the message is sent.
    pub async fn send_draft(&self, chat: i64, draft: i32, text: &FormattedText) -> Result<(), ApiError> {
        let params = SendMessageDraftParams::builder()
            .chat_id(chat)
            .draft_id(draft)
            .text(text.text.clone())
            .entities(entities(text))
            .build();
        self.call::<_, Value>("sendMessageDraft", params).await.map(drop)
    }

    /// Replaces the text and the buttons of a message. A message that looks like this already is not an error.
    pub async fn edit_message(
        &self,
        chat: i64,
        message: i64,
        text: &FormattedText,
        keyboard: Option<&Keyboard>,
    ) -> Result<(), ApiError> {
        let id = i32::try_from(message).map_err(|_| ApiError::Rejected("the message id is too large".to_owned()))?;
        let params = EditMessageTextParams::builder()
            .chat_id(chat)
            .message_id(id)
            .text(text.text.clone())
            .entities(entities(text))
            .link_preview_options(LinkPreviewOptions::builder().is_disabled(true).build())
            .maybe_reply_markup(keyboard.map(inline_keyboard))
            .build();
        match self.call::<_, Value>("editMessageText", params).await {
            Err(ApiError::Rejected(why)) if why.contains("message is not modified") => Ok(()),
            outcome => outcome.map(drop),
        }
    }

    /// Sends a file. Its name is the last part of the path.
    pub async fn send_document(&self, chat: i64, path: &Path, caption: &str) -> Result<i64, ApiError> {
        let params = json!({ "chat_id": chat, "caption": caption });
        let files = vec![("document", path.to_owned())];
        let sent: Result<MethodResponse<SentMessage>, Error> =
            self.bot.request_with_form_data("sendDocument", params, files).await;
        sent.map(|sent| sent.result.message_id).map_err(|error| translate(&error))
    }

    pub async fn show_typing(&self, chat: i64) -> Result<(), ApiError> {
        let params = SendChatActionParams::builder().chat_id(chat).action(ChatAction::Typing).build();
        self.call::<_, Value>("sendChatAction", params).await.map(drop)
    }

    /// Ends the wait that the person sees on a button.
    pub async fn answer_press(&self, press: &str, text: &str) -> Result<(), ApiError> {
        let params = AnswerCallbackQueryParams::builder().callback_query_id(press).text(text).build();
        self.call::<_, Value>("answerCallbackQuery", params).await.map(drop)
    }

    /// Inline queries have no results.
    pub async fn answer_inline(&self, query: &str) -> Result<(), ApiError> {
        let params = AnswerInlineQueryParams::builder().inline_query_id(query).results(Vec::new()).build();
        self.call::<_, Value>("answerInlineQuery", params).await.map(drop)
    }

    /// The content of a file, if it is not larger than `most` bytes.
    pub async fn download(&self, file: &str, most: u64) -> Result<Option<Vec<u8>>, ApiError> {
        let params = GetFileParams::builder().file_id(file).build();
        let remote: RemoteFile = self.call("getFile", params).await?;
        if remote.file_size.is_some_and(|size| size > most) {
            return Ok(None);
        }
        let path = remote.file_path.filter(|path| is_plain_path(path));
        let path = path.ok_or_else(|| ApiError::Rejected("the file has no path".to_owned()))?;
        let unavailable = |error: reqwest::Error| ApiError::Unavailable(error.without_url().to_string());
        let url = format!("{}/{path}", self.files.expose_secret());
        let mut response = self.bot.client.get(url).send().await.map_err(unavailable)?;
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

    async fn call<P, T>(&self, method: &str, params: P) -> Result<T, ApiError>
    where
        P: Serialize + Debug + Send,
        T: DeserializeOwned,
    {
        let patience = if method == "getUpdates" { ANSWER } else { SHORT_ANSWER };
        let request = self.bot.request::<P, MethodResponse<T>>(method, Some(params));
        match timeout(patience, request).await {
            Ok(answer) => answer.map(|answer| answer.result).map_err(|error| translate(&error)),
            Err(_) => Err(ApiError::Unavailable("it does not answer".to_owned())),
        }
    }
}

/// The kinds of updates that are read.
fn allowed_updates() -> Vec<AllowedUpdate> {
    vec![
        AllowedUpdate::Message,
        AllowedUpdate::EditedMessage,
        AllowedUpdate::CallbackQuery,
        AllowedUpdate::InlineQuery,
        AllowedUpdate::MyChatMember,
    ]
}

/// The path comes from the service and becomes a part of an address.
fn is_plain_path(path: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._/".contains(&b);
    !path.is_empty() && !path.contains("..") && path.bytes().all(plain)
}

fn translate(error: &Error) -> ApiError {
    match error {
        Error::Api(response) => of_response(response),
        // The body is not shown: a page of a proxy, or what people wrote.
        Error::JsonDecode { .. } => ApiError::Unavailable("the answer cannot be read".to_owned()),
        Error::HttpReqwest(error) => {
            let kind = if error.is_timeout() {
                "it does not answer"
            } else if error.is_connect() {
                "no connection"
            } else {
                "the connection broke"
            };
            ApiError::Unavailable(kind.to_owned())
        }
        Error::ReadFile(error) => ApiError::Rejected(format!("the file cannot be read: {error}")),
        _ => ApiError::Unavailable("the call failed".to_owned()),
    }
}

fn of_response(response: &ErrorResponse) -> ApiError {
    let text = || response.description.chars().take(200).collect::<String>();
    let wait = response.parameters.as_ref().and_then(|parameters| parameters.retry_after);
    match (response.error_code, wait) {
        (429, wait) => ApiError::TooMany(Duration::from_secs(wait.unwrap_or(1).max(1).into())),
        (401 | 404, _) => ApiError::Unauthorized,
        (409, _) => ApiError::Conflict(text()),
        (403, _) => ApiError::Forbidden(text()),
        (500.., _) => ApiError::Unavailable(text()),
        (_, _) => ApiError::Rejected(text()),
    }
}

fn entities(text: &FormattedText) -> Vec<MessageEntity> {
    let entity = |entity: &crate::markdown::Entity| {
        let (offset, length) = (u16::try_from(entity.offset).ok()?, u16::try_from(entity.length).ok()?);
        let (kind, url, language) = match &entity.look {
            Look::Bold => (MessageEntityType::Bold, None, None),
            Look::Italic => (MessageEntityType::Italic, None, None),
            Look::Strikethrough => (MessageEntityType::Strikethrough, None, None),
            Look::Quote => (MessageEntityType::Blockquote, None, None),
            Look::Code => (MessageEntityType::Code, None, None),
            Look::Pre { language } => (MessageEntityType::Pre, None, language.clone()),
            Look::Link { url } => (MessageEntityType::TextLink, Some(url.clone()), None),
        };
        let entity = MessageEntity::builder().type_field(kind).offset(offset).length(length);
        Some(entity.maybe_url(url).maybe_language(language).build())
    };
    text.entities.iter().filter_map(entity).collect()
}

fn reply_markup(markup: &Markup) -> ReplyMarkup {
    match markup {
        Markup::Buttons(keyboard) => ReplyMarkup::InlineKeyboardMarkup(inline_keyboard(keyboard)),
        Markup::ForceReply { placeholder } => ReplyMarkup::ForceReply(
            ForceReply::builder()
                .force_reply(true)
                .input_field_placeholder(placeholder.clone())
                .selective(true)
                .build(),
        ),
    }
}

fn inline_keyboard(keyboard: &Keyboard) -> InlineKeyboardMarkup {
    let rows = keyboard.rows.iter().map(|row| {
        row.iter()
            .map(|button| {
                InlineKeyboardButton::builder()
                    .text(button.text.clone())
                    .maybe_callback_data(button.code.clone())
                    .maybe_url(button.url.clone())
                    .build()
            })
            .collect()
    });
    InlineKeyboardMarkup::builder().inline_keyboard(rows.collect()).build()
}
