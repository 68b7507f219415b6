//! What Telegram delivers. Only the fields that are needed are read, so that a message with parts of a kind that this
//! version does not know is still a message.

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) id: i64,
    pub(crate) content: UpdateContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UpdateContent {
    Message(Box<IncomingMessage>),
    /// A message was edited. Edits are not carried out.
    Edited {
        from: Person,
        chat: Chat,
    },
    Press(Press),
    InlineQuery {
        from: Person,
        id: String,
    },
    /// A kind that is not known, or that has not the fields it should have.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IncomingMessage {
    pub(crate) id: i64,
    pub(crate) from: Person,
    pub(crate) chat: Chat,
    pub(crate) text: Option<String>,
    pub(crate) attachment: Option<Attachment>,
    /// The message that this one replies to.
    pub(crate) reply_to: Option<i64>,
}

/// A button was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Press {
    pub(crate) id: String,
    pub(crate) from: Person,
    pub(crate) chat: Chat,
    /// The message with the button.
    pub(crate) message: i64,
    pub(crate) code: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Person {
    pub(crate) id: i64,
    #[serde(default)]
    pub(crate) first_name: String,
    pub(crate) username: Option<String>,
}

impl Person {
    /// What the journal calls the person.
    pub(crate) fn name(&self) -> String {
        let name = self.username.as_deref().filter(|name| !name.is_empty()).unwrap_or(&self.first_name);
        let plain: String =
            name.chars().filter(|letter| letter.is_alphanumeric() || "-_. ".contains(*letter)).collect();
        match plain.trim() {
            "" => self.id.to_string(),
            plain => plain.chars().take(64).collect(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Chat {
    pub(crate) id: i64,
    #[serde(rename = "type", default)]
    pub(crate) kind: String,
}

impl Chat {
    pub(crate) fn is_private(&self) -> bool {
        self.kind == "private"
    }
}

/// A file that came with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attachment {
    pub(crate) file: String,
    pub(crate) name: Option<String>,
    pub(crate) size: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct RawMessage {
    message_id: i64,
    from: Person,
    chat: Chat,
    text: Option<String>,
    caption: Option<String>,
    document: Option<Value>,
    photo: Option<Value>,
    reply_to_message: Option<RawReference>,
}

#[derive(Debug, Deserialize)]
struct RawReference {
    message_id: i64,
}

#[derive(Debug, Deserialize)]
struct RawFile {
    file_id: String,
    file_name: Option<String>,
    file_size: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct RawPress {
    id: String,
    from: Person,
    data: Option<String>,
    message: Option<RawPressed>,
}

#[derive(Debug, Deserialize)]
struct RawPressed {
    message_id: i64,
    chat: Chat,
}

#[derive(Debug, Deserialize)]
struct RawQuery {
    id: String,
    from: Person,
}

impl Update {
    /// `None` if it has no number, so that it cannot be told apart from others.
    pub(crate) fn read(raw: &Value) -> Option<Self> {
        let id = raw.get("update_id")?.as_i64()?;
        let content = message(raw, "message")
            .map(|message| UpdateContent::Message(Box::new(message)))
            .or_else(|| {
                let IncomingMessage { from, chat, .. } = message(raw, "edited_message")?;
                Some(UpdateContent::Edited { from, chat })
            })
            .or_else(|| press(raw).map(UpdateContent::Press))
            .or_else(|| {
                let RawQuery { id, from } = part(raw, "inline_query")?;
                Some(UpdateContent::InlineQuery { from, id })
            });
        Some(Self { id, content: content.unwrap_or(UpdateContent::Other) })
    }

    /// Who sent it, and where.
    pub(crate) fn sender(&self) -> Option<(&Person, Option<&Chat>)> {
        match &self.content {
            UpdateContent::Message(message) => Some((&message.from, Some(&message.chat))),
            UpdateContent::Edited { from, chat } => Some((from, Some(chat))),
            UpdateContent::Press(press) => Some((&press.from, Some(&press.chat))),
            UpdateContent::InlineQuery { from, .. } => Some((from, None)),
            UpdateContent::Other => None,
        }
    }
}

fn part<T: for<'de> Deserialize<'de>>(raw: &Value, name: &str) -> Option<T> {
    T::deserialize(raw.get(name)?).ok()
}

fn message(raw: &Value, name: &str) -> Option<IncomingMessage> {
    let raw: RawMessage = part(raw, name)?;
    let RawMessage { message_id, from, chat, text, caption, document, photo, reply_to_message } = raw;
    let document = document.and_then(|document| RawFile::deserialize(&document).ok());
    // Of a photo there are several sizes; the last one is the largest.
    let photo = photo.as_ref().and_then(Value::as_array).and_then(|sizes| RawFile::deserialize(sizes.last()?).ok());
    let attachment = document
        .map(|file| Attachment { file: file.file_id, name: file.file_name, size: file.file_size })
        .or_else(|| photo.map(|file| Attachment { file: file.file_id, name: None, size: file.file_size }));
    Some(IncomingMessage {
        id: message_id,
        from,
        chat,
        text: text.or(caption),
        attachment,
        reply_to: reply_to_message.map(|message| message.message_id),
    })
}

fn press(raw: &Value) -> Option<Press> {
    let RawPress { id, from, data, message } = part(raw, "callback_query")?;
    let RawPressed { message_id, chat } = message?;
    Some(Press { id, from, chat, message: message_id, code: data.unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn odd_updates_are_read_as_far_as_they_make_sense() {
        for (raw, is_other) in [
            (json!({ "update_id": 1 }), true),
            (json!({ "update_id": 1, "poll": { "id": "x" } }), true),
            (json!({ "update_id": 1, "message": null }), true),
            (json!({ "update_id": 1, "message": { "message_id": "x" } }), true),
            (json!({ "update_id": 1, "message": { "message_id": 1, "chat": { "id": 1, "type": "channel" } } }), true),
            (
                json!({ "update_id": 1, "message": { "message_id": 99999999999999i64, "from": { "id": 7 }, "chat": { "id": -100123456789i64 }, "new_kind": [1] } }),
                false,
            ),
            (json!({ "update_id": 1, "callback_query": { "id": "a", "from": { "id": 7 } } }), true),
        ] {
            let update = Update::read(&raw).unwrap();
            assert_eq!(update.content == UpdateContent::Other, is_other, "{raw}");
        }
        for raw in [json!({}), json!(3), json!({ "update_id": "1" }), json!({ "update_id": 1e300 })] {
            assert_eq!(Update::read(&raw), None, "{raw}");
        }
    }
}
