//! The methods of the Bot API, as HTTP handlers.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Call, DraftSupport, FakeBotApi, HoldPoint, SentMessage, Shared, TOKEN, checks, webhook};

pub(super) async fn call(
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
    api.held(&method, &params, HoldPoint::BeforeAcceptance).await;
    let response = match &failure {
        Some(failure) if !failure.after => answer(failure.status, failure.body.clone()),
        Some(_) | None => {
            let response = carry_out(&api, &method, &params).await;
            failure.map_or(response, |failure| answer(failure.status, failure.body))
        }
    };
    api.changed();
    api.held(&method, &params, HoldPoint::BeforeAnswer).await;
    response
}

pub(super) async fn file(State(shared): State<Arc<Shared>>, Path((bot, path)): Path<(String, String)>) -> Response {
    let state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    match state.files.get(&path).filter(|_| bot == format!("bot{TOKEN}")) {
        Some(content) => content.clone().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
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

pub(super) fn error(status: u16, description: &str) -> Response {
    let body = json!({ "ok": false, "error_code": status, "description": description });
    answer(status, body.to_string())
}

pub(super) fn answer(status: u16, body: String) -> Response {
    (StatusCode::from_u16(status).unwrap(), [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

pub(super) fn ok(result: Value) -> Response {
    answer(200, json!({ "ok": true, "result": result }).to_string())
}
