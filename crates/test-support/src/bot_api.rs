//! A local server that speaks the Bot API of Telegram, by its public documentation: long polling with offsets, webhooks, messages
//! with entities and buttons, drafts, edits, files, and the errors 400, 401, 403, 404, 409, 429 and 502.
//!
//! - `checks`: what Telegram refuses in a message
//! - `webhook`: sends updates to the address that the bot named

mod checks;
mod webhook;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

/// Longer than anything takes, unless it never happens.
const LONG: Duration = Duration::from_secs(60);

pub const TOKEN: &str = "123456:test-token-of-a-bot";

/// Clones share the server. It ends with the runtime that it was started in.
#[derive(Debug, Clone)]
pub struct FakeBotApi {
    pub url: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<Telegram>,
    /// Counts everything that happens.
    changed: watch::Sender<u64>,
}

/// What Telegram knows.
#[derive(Debug, Default)]
struct Telegram {
    updates: VecDeque<Value>,
    last_update: i64,
    last_message: i64,
    messages: BTreeMap<(i64, i64), SentMessage>,
    calls: Vec<Call>,
    /// Answers that replace the usual ones, in the order in which they are used up.
    failures: Vec<Failure>,
    files: BTreeMap<String, Vec<u8>>,
    /// Counts the calls of `getUpdates`: a new one ends the one before.
    polls: u64,
    token_revoked: bool,
    blocked: Vec<i64>,
    refuses_entities: bool,
    /// Calls with a token that is not accepted.
    refused_calls: usize,
    /// Calls that another call of `getUpdates` ended.
    conflicts: usize,
    /// What people see of messages that are being written, as (chat, draft, text).
    drafts: Vec<(i64, i64, String)>,
    draft_support: DraftSupport,
    /// Methods whose calls wait.
    held: Vec<(String, HoldPoint)>,
    webhook: webhook::Webhook,
}

/// Whether the server has `sendMessageDraft`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum DraftSupport {
    #[default]
    Has,
    /// An older Bot API server does not know the method.
    Unknown,
    /// The bot may not use it.
    Refused,
}

/// Where a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldPoint {
    /// The call came and is not carried out.
    BeforeAcceptance,
    /// The call is carried out and not answered.
    BeforeAnswer,
}

impl Telegram {
    /// The messages as they look, and the last calls.
    fn describe(&self) -> String {
        let messages = self
            .messages
            .values()
            .map(|message| format!("{} #{}: {:?} {:?}", message.chat, message.id, message.text, message.labels()));
        let calls = self.calls.iter().rev().take(20).map(|call| format!("{} {}", call.method, call.params));
        messages.chain(calls).collect::<Vec<_>>().join("\n")
    }
}

/// A call as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub method: String,
    pub params: Value,
}

/// A message that the bot sent, as it looks now.
#[derive(Debug, Clone, PartialEq)]
pub struct SentMessage {
    pub chat: i64,
    pub id: i64,
    pub text: String,
    pub entities: Vec<Value>,
    /// The label and the data or the address of each button.
    pub buttons: Vec<(String, String)>,
    pub force_reply: bool,
    /// The name and the content of a file.
    pub document: Option<(String, String)>,
    pub edits: usize,
}

impl SentMessage {
    pub fn labels(&self) -> Vec<&str> {
        self.buttons.iter().map(|(label, _)| label.as_str()).collect()
    }
}

#[derive(Debug, Clone)]
struct Failure {
    method: String,
    status: u16,
    body: String,
    /// Whether the call is carried out before it is answered with the failure.
    after: bool,
}

impl FakeBotApi {
    pub async fn start() -> Self {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: watch::Sender::new(0) });
        let routes = Router::new()
            .route("/{bot}/{method}", post(call))
            .route("/file/{bot}/{*path}", get(file))
            .with_state(Arc::clone(&shared));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let api = Self { url, shared };
        tokio::spawn(webhook::push(api.clone()));
        api
    }

    /// Updates are sent to these servers in turn, instead of the address that the bot named.
    pub fn webhook_servers(&self, addresses: &[String]) {
        self.state().webhook.servers = addresses.to_vec();
        self.changed();
    }

    /// The address and the secret of the webhook, if there is one.
    pub fn webhook(&self) -> Option<(String, String)> {
        self.state().webhook.named.clone()
    }

    /// The statuses with which updates were answered that were sent to the webhook.
    pub fn webhook_statuses(&self) -> Vec<u16> {
        self.state().webhook.statuses.clone()
    }

    /// `sendMessageDraft` is a method that this server does not know.
    pub fn without_drafts(&self) {
        self.state().draft_support = DraftSupport::Unknown;
    }

    /// `sendMessageDraft` is refused.
    pub fn refuse_drafts(&self) {
        self.state().draft_support = DraftSupport::Refused;
    }

    /// The texts that a person saw while a message was written, in their order.
    pub fn drafts(&self, chat: i64) -> Vec<(i64, String)> {
        let state = self.state();
        state.drafts.iter().filter(|draft| draft.0 == chat).map(|draft| (draft.1, draft.2.clone())).collect()
    }

    /// Calls of a method wait there until they are released.
    pub fn hold(&self, method: &str, point: HoldPoint) {
        self.state().held.push((method.to_owned(), point));
    }

    pub fn release(&self) {
        self.state().held.clear();
        self.changed();
    }

    /// How many calls of `getUpdates` were ended by another one.
    pub fn conflicts(&self) -> usize {
        self.state().conflicts
    }

    /// How many calls were refused because of their token.
    pub fn refused_calls(&self) -> usize {
        self.state().refused_calls
    }

    /// Waits while calls of the method are held there. A client that is gone does not end the wait.
    async fn held(&self, method: &str, point: HoldPoint) {
        let mut changed = self.shared.changed.subscribe();
        while self.state().held.iter().any(|(held, at)| held == method && *at == point) {
            let _ = timeout(LONG, changed.changed()).await;
        }
    }

    /// A person writes to the bot in a private chat. Returns the number of the update.
    pub fn say(&self, user: i64, text: &str) -> i64 {
        self.deliver(json!({ "message": message(user, user, "private", json!({ "text": text })) }))
    }

    /// A person writes in a group.
    pub fn say_in_group(&self, group: i64, user: i64, text: &str) -> i64 {
        self.deliver(json!({ "message": message(group, user, "supergroup", json!({ "text": text })) }))
    }

    /// A person replies to a message of the bot.
    pub fn reply(&self, user: i64, to: i64, text: &str) -> i64 {
        let rest = json!({ "text": text, "reply_to_message": { "message_id": to } });
        self.deliver(json!({ "message": message(user, user, "private", rest) }))
    }

    /// The same in a group.
    pub fn reply_in_group(&self, group: i64, user: i64, to: i64, text: &str) -> i64 {
        let rest = json!({ "text": text, "reply_to_message": { "message_id": to } });
        self.deliver(json!({ "message": message(group, user, "supergroup", rest) }))
    }

    pub fn edit(&self, user: i64, text: &str) -> i64 {
        self.deliver(json!({ "edited_message": message(user, user, "private", json!({ "text": text })) }))
    }

    /// A person sends a document.
    pub fn send_file(&self, user: i64, name: &str, content: &[u8], caption: &str) -> i64 {
        let id = {
            let mut state = self.state();
            let id = format!("file_{}", state.files.len());
            state.files.insert(format!("documents/{id}"), content.to_vec());
            id
        };
        let document = json!({ "file_id": id, "file_name": name, "file_size": content.len() });
        let rest = json!({ "document": document, "caption": caption });
        self.deliver(json!({ "message": message(user, user, "private", rest) }))
    }

    /// A person presses a button by its label.
    pub fn press(&self, user: i64, message: &SentMessage, label: &str) -> i64 {
        let found = message.buttons.iter().find(|(text, _)| text.contains(label));
        let (_, data) = found.unwrap_or_else(|| panic!("there is no button {label}: {message:?}"));
        self.press_data(user, message, data)
    }

    /// A person sends what a button would send.
    pub fn press_data(&self, user: i64, message: &SentMessage, data: &str) -> i64 {
        self.deliver(json!({ "callback_query": {
            "id": format!("press-{}", self.state().last_update + 1),
            "from": person(user),
            "chat_instance": "1",
            "data": data,
            "message": { "message_id": message.id, "date": 1, "chat": { "id": message.chat, "type": if message.chat < 0 { "supergroup" } else { "private" } } },
        } }))
    }

    /// Any update. Returns its number.
    pub fn deliver(&self, content: Value) -> i64 {
        let id = {
            let mut state = self.state();
            state.last_update = state.last_update.max(1_000) + 1;
            state.last_update
        };
        self.deliver_as(id, content);
        id
    }

    /// An update under a number of its own, also one that was delivered before.
    pub fn deliver_as(&self, id: i64, mut content: Value) {
        content["update_id"] = json!(id);
        self.state().updates.push_back(content);
        self.changed();
    }

    /// The next call of a method is answered with this and not carried out.
    pub fn fail_next(&self, method: &str, status: u16, body: &str) {
        let (method, body) = (method.to_owned(), body.to_owned());
        self.state().failures.push(Failure { method, status, body, after: false });
    }

    /// The next call of a method is carried out, and its answer is lost.
    pub fn lose_next_answer(&self, method: &str) {
        let (method, body) = (method.to_owned(), "<html>Bad Gateway</html>".to_owned());
        self.state().failures.push(Failure { method, status: 502, body, after: true });
    }

    pub fn revoke_token(&self) {
        self.state().token_revoked = true;
    }

    /// The token is accepted again.
    pub fn accept_token(&self) {
        self.state().token_revoked = false;
    }

    /// Text is only taken without entities from now on.
    pub fn refuse_entities(&self) {
        self.state().refuses_entities = true;
    }

    /// The person blocks the bot.
    pub fn block(&self, chat: i64) {
        self.state().blocked.push(chat);
    }

    pub fn calls(&self, method: &str) -> Vec<Value> {
        let state = self.state();
        state.calls.iter().filter(|call| call.method == method).map(|call| call.params.clone()).collect()
    }

    /// The messages in a chat, as they look now.
    pub fn messages(&self, chat: i64) -> Vec<SentMessage> {
        self.state().messages.values().filter(|message| message.chat == chat).cloned().collect()
    }

    /// Waits until a message in the chat is as wanted.
    pub async fn wait_for(&self, chat: i64, what: &str, wanted: impl Fn(&SentMessage) -> bool) -> SentMessage {
        let found = self.wait(what, |api| api.messages(chat).into_iter().find(|message| wanted(message)));
        found.await
    }

    /// Waits for a message whose text has these words.
    pub async fn wait_for_text(&self, chat: i64, words: &str) -> SentMessage {
        self.wait_for(chat, words, |message| message.text.contains(words)).await
    }

    /// Waits until something is found.
    pub async fn wait<T>(&self, what: &str, find: impl Fn(&Self) -> Option<T>) -> T {
        let mut changed = self.shared.changed.subscribe();
        let waiting = async {
            loop {
                if let Some(found) = find(self) {
                    return found;
                }
                changed.changed().await.unwrap();
            }
        };
        match timeout(LONG, waiting).await {
            Ok(found) => found,
            Err(_) => panic!("it did not happen: {what}\n{}", self.state().describe()),
        }
    }

    /// Waits until the bot has received everything, which is when it asks for what follows the last update.
    pub async fn all_received(&self) {
        self.wait("all updates are received", |api| api.state().updates.is_empty().then_some(())).await;
    }

    fn state(&self) -> MutexGuard<'_, Telegram> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.shared.changed.send_modify(|count| *count += 1);
    }
}

fn person(id: i64) -> Value {
    json!({ "id": id, "is_bot": false, "first_name": format!("Person {id}"), "username": format!("person{id}") })
}

fn message(chat: i64, user: i64, kind: &str, rest: Value) -> Value {
    let mut message = json!({ "message_id": 1, "date": 1, "from": person(user), "chat": { "id": chat, "type": kind } });
    for (name, value) in rest.as_object().unwrap() {
        message[name] = value.clone();
    }
    message
}

fn error(status: u16, description: &str) -> Response {
    let body = json!({ "ok": false, "error_code": status, "description": description });
    answer(status, body.to_string())
}

fn answer(status: u16, body: String) -> Response {
    (StatusCode::from_u16(status).unwrap(), [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn ok(result: Value) -> Response {
    answer(200, json!({ "ok": true, "result": result }).to_string())
}

async fn file(State(shared): State<Arc<Shared>>, Path((bot, path)): Path<(String, String)>) -> Response {
    let state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    match state.files.get(&path).filter(|_| bot == format!("bot{TOKEN}")) {
        Some(content) => content.clone().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn call(
    State(shared): State<Arc<Shared>>,
    Path((bot, method)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let api = FakeBotApi { url: String::new(), shared };
    if bot != format!("bot{TOKEN}") || api.state().token_revoked {
        api.state().refused_calls += 1;
        api.changed();
        return error(401, "Unauthorized");
    }
    let is_form = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"multipart"));
    let params = if is_form { form(&body) } else { serde_json::from_slice(&body).unwrap_or_default() };
    let failure = {
        let mut state = api.state();
        state.calls.push(Call { method: method.clone(), params: params.clone() });
        let place = state.failures.iter().position(|failure| failure.method == method);
        place.map(|place| state.failures.remove(place))
    };
    api.changed();
    api.held(&method, HoldPoint::BeforeAcceptance).await;
    let response = match &failure {
        Some(failure) if !failure.after => answer(failure.status, failure.body.clone()),
        Some(_) | None => {
            let response = carry_out(&api, &method, &params).await;
            failure.map_or(response, |failure| answer(failure.status, failure.body))
        }
    };
    api.changed();
    api.held(&method, HoldPoint::BeforeAnswer).await;
    response
}

async fn carry_out(api: &FakeBotApi, method: &str, params: &Value) -> Response {
    let chat = params["chat_id"].as_i64().or_else(|| params["chat_id"].as_str()?.parse().ok()).unwrap_or_default();
    if api.state().blocked.contains(&chat) {
        return error(403, "Forbidden: bot was blocked by the user");
    }
    match method {
        "getMe" => ok(json!({ "id": 123_456, "is_bot": true, "first_name": "Test", "username": "test_bot" })),
        "getUpdates" => get_updates(api, params).await,
        "sendMessage" => send_message(api, chat, params),
        "editMessageText" => edit_message(api, chat, params),
        "sendDocument" => {
            let (name, content) = (params["document_name"].as_str(), params["document"].as_str());
            let document = name.zip(content).map(|(name, content)| (name.to_owned(), content.to_owned()));
            add(api, chat, params["caption"].as_str().unwrap_or_default(), params, document)
        }
        "getFile" => {
            let name = params["file_id"].as_str().unwrap_or_default();
            ok(json!({ "file_id": name, "file_path": format!("documents/{name}") }))
        }
        "sendMessageDraft" => send_draft(api, chat, params),
        "setWebhook" => webhook::set(api, params),
        "deleteWebhook" => webhook::delete(api),
        "getWebhookInfo" => webhook::info(api),
        "sendChatAction" | "answerCallbackQuery" | "answerInlineQuery" | "setMyCommands" => ok(json!(true)),
        _ => error(404, "Not Found"),
    }
}

async fn get_updates(api: &FakeBotApi, params: &Value) -> Response {
    let offset = params["offset"].as_i64();
    let wait = Duration::from_secs(params["timeout"].as_u64().unwrap_or(0));
    let poll = {
        let mut state = api.state();
        if state.webhook.named.is_some() {
            return error(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
            );
        }
        state.polls += 1;
        if let Some(offset) = offset.filter(|offset| *offset > 0) {
            state.updates.retain(|update| update["update_id"].as_i64().is_none_or(|id| id >= offset));
        }
        state.polls
    };
    api.changed();
    let mut changed = api.shared.changed.subscribe();
    let found = async {
        loop {
            {
                let state = api.state();
                if state.polls != poll {
                    return Err(());
                }
                if !state.updates.is_empty() {
                    return Ok(state.updates.iter().take(100).cloned().collect::<Vec<_>>());
                }
            }
            changed.changed().await.unwrap();
        }
    };
    match timeout(wait, found).await {
        Ok(Ok(updates)) => ok(json!(updates)),
        Ok(Err(())) => conflict(
            api,
            "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        ),
        Err(_) => ok(json!([])),
    }
}

fn conflict(api: &FakeBotApi, description: &str) -> Response {
    api.state().conflicts += 1;
    api.changed();
    error(409, description)
}

fn send_message(api: &FakeBotApi, chat: i64, params: &Value) -> Response {
    let has_entities = params["entities"].as_array().is_some_and(|entities| !entities.is_empty());
    if has_entities && api.state().refuses_entities {
        return error(400, "Bad Request: can't parse entities: odd");
    }
    match checks::message(params) {
        Err(why) => error(400, &format!("Bad Request: {why}")),
        Ok(()) => add(api, chat, params["text"].as_str().unwrap_or_default(), params, None),
    }
}

/// A draft is shown in private chats only, and is no message.
fn send_draft(api: &FakeBotApi, chat: i64, params: &Value) -> Response {
    let mut state = api.state();
    match state.draft_support {
        DraftSupport::Unknown => return error(404, "Not Found"),
        DraftSupport::Refused => return error(400, "Bad Request: TEXTDRAFT_PEER_INVALID"),
        DraftSupport::Has => {}
    }
    let draft = params["draft_id"].as_i64().unwrap_or_default();
    if chat < 0 || draft == 0 {
        return error(400, "Bad Request: TEXTDRAFT_PEER_INVALID");
    }
    if let Err(why) = checks::message(params) {
        return error(400, &format!("Bad Request: {why}"));
    }
    state.drafts.push((chat, draft, params["text"].as_str().unwrap_or_default().to_owned()));
    ok(json!(true))
}

fn add(api: &FakeBotApi, chat: i64, text: &str, params: &Value, document: Option<(String, String)>) -> Response {
    let mut state = api.state();
    state.last_message += 1;
    let id = state.last_message;
    let message = SentMessage {
        chat,
        id,
        text: text.trim().to_owned(),
        entities: params["entities"].as_array().cloned().unwrap_or_default(),
        buttons: buttons(params),
        force_reply: params["reply_markup"]["force_reply"] == true,
        document,
        edits: 0,
    };
    state.messages.insert((chat, id), message);
    ok(json!({ "message_id": id, "date": 1, "chat": { "id": chat, "type": "private" }, "text": text }))
}

fn edit_message(api: &FakeBotApi, chat: i64, params: &Value) -> Response {
    if let Err(why) = checks::message(params) {
        return error(400, &format!("Bad Request: {why}"));
    }
    let mut state = api.state();
    let id = params["message_id"].as_i64().unwrap_or_default();
    let Some(message) = state.messages.get_mut(&(chat, id)) else {
        return error(400, "Bad Request: message to edit not found");
    };
    let (text, buttons) = (params["text"].as_str().unwrap_or_default().trim().to_owned(), buttons(params));
    if message.text == text && message.buttons == buttons {
        return error(400, "Bad Request: message is not modified: specified new message content is the same");
    }
    (message.text, message.buttons, message.edits) = (text, buttons, message.edits + 1);
    ok(json!({ "message_id": id, "date": 1, "chat": { "id": chat, "type": "private" } }))
}

fn buttons(params: &Value) -> Vec<(String, String)> {
    let rows = params["reply_markup"]["inline_keyboard"].as_array().cloned().unwrap_or_default();
    let buttons = rows.iter().flat_map(|row| row.as_array().cloned().unwrap_or_default());
    let text = |value: &Value| value.as_str().map(str::to_owned);
    buttons
        .filter_map(|button| Some((text(&button["text"])?, text(&button["callback_data"]).or(text(&button["url"]))?)))
        .collect()
}

/// The parts of a form. A file has its name beside its content.
fn form(body: &[u8]) -> Value {
    let text = String::from_utf8_lossy(body);
    let Some(boundary) = text.lines().next() else { return json!({}) };
    let mut params = json!({});
    for part in text.split(boundary) {
        let Some((head, content)) = part.split_once("\r\n\r\n") else { continue };
        let value = |name: &str| head.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
        // `filename="…"` has `name="…"` in it.
        let Some(name) = head.split("form-data; name=\"").nth(1).and_then(|rest| rest.split('"').next()) else {
            continue;
        };
        params[name] = json!(content.strip_suffix("\r\n").unwrap_or(content));
        if let Some(file) = value("filename") {
            params[format!("{name}_name")] = json!(file);
        }
    }
    params
}
