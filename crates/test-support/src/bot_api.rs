//! A local server that speaks the Bot API of Telegram, by its public documentation: long polling with offsets, webhooks, messages
//! with entities and buttons, drafts, edits, files, and the errors 400, 401, 403, 404, 409, 429 and 502.
//!
//! - `checks`: what Telegram refuses in a message
//! - `methods`: the methods of the API, as HTTP handlers
//! - `webhook`: sends updates to the address that the bot named

mod checks;
mod methods;
mod webhook;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
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
    holds: Vec<Hold>,
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

/// Calls of a method wait; those with this text only, if there is one.
#[derive(Debug)]
struct Hold {
    method: String,
    point: HoldPoint,
    text: Option<String>,
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
            .route("/{bot}/{method}", post(methods::call))
            .route("/file/{bot}/{*path}", get(methods::file))
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
        self.state().holds.push(Hold { method: method.to_owned(), point, text: None });
    }

    /// Holds calls with exactly this text.
    pub fn hold_text(&self, method: &str, point: HoldPoint, text: &str) {
        self.state().holds.push(Hold { method: method.to_owned(), point, text: Some(text.to_owned()) });
    }

    pub fn release(&self) {
        self.state().holds.clear();
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

    /// Waits while such a call is held there. A client that is gone does not end the wait.
    async fn held(&self, method: &str, params: &Value, point: HoldPoint) {
        let text = params["text"].as_str().unwrap_or_default().trim();
        let is_held = |hold: &Hold| {
            hold.method == method && hold.point == point && hold.text.as_deref().is_none_or(|held| held == text)
        };
        let mut changed = self.shared.changed.subscribe();
        while self.state().holds.iter().any(is_held) {
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

    /// A person replies to a message in a group.
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
    pub async fn wait_for_text(&self, chat: i64, text: &str) -> SentMessage {
        self.wait_for(chat, text, |message| message.text.contains(text)).await
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
