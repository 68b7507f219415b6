//! The result of an upstream call as the model reads it. What is long or no text is kept in files that `read_file` takes.

use serde_json::{Value, json};

use super::servers::{UpstreamContent, UpstreamResult};
use super::upstream_tools::Shared;
use crate::toolbox::{ToolAnswer, ToolContext};

/// The kinds of content with an extension of their own.
const EXTENSIONS: [(&str, &str); 17] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
    ("audio/mpeg", "mp3"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/ogg", "ogg"),
    ("video/mp4", "mp4"),
    ("application/pdf", "pdf"),
    ("application/json", "json"),
    ("application/zip", "zip"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/markdown", "md"),
    ("text/plain", "txt"),
];

pub(super) async fn of(shared: &Shared, context: ToolContext<'_>, result: UpstreamResult) -> ToolAnswer {
    let mut writer = AnswerWriter { shared, context, value: json!({}) };
    let (mut texts, mut parts) = (Vec::new(), Vec::new());
    for content in result.content {
        match content {
            UpstreamContent::Text(text) => texts.push(text),
            UpstreamContent::Bytes { mime_type, uri, bytes } => {
                parts.push(writer.file(mime_type.as_deref(), uri, bytes).await);
            }
            UpstreamContent::Resource { mime_type, uri, text } => {
                let text = writer.shorten("text", text, mime_type.as_deref()).await;
                parts.push(with(json!({ "resource": uri, "mime_type": mime_type }), text));
            }
            UpstreamContent::Link { uri, name, description, mime_type } => {
                parts.push(json!({ "link": uri, "name": name, "description": description, "mime_type": mime_type }));
            }
            UpstreamContent::Unknown(value) => {
                let text = writer.shorten("unknown", value.to_string(), Some("application/json")).await;
                parts.push(text);
            }
        }
    }
    writer.add_text(texts.join("\n"), result.structured.as_ref()).await;
    if let Some(structured) = result.structured {
        writer.add_structured(structured).await;
    }
    let mut value = writer.value;
    if !parts.is_empty() {
        value["content"] = Value::Array(parts);
    }
    let failure = result.is_error.then(|| {
        let said = value.get("text").and_then(Value::as_str).unwrap_or("It gave no reason.").trim();
        format!("The tool failed: {said}")
    });
    ToolAnswer { failure, ..ToolAnswer::from(value) }
}

struct AnswerWriter<'a> {
    shared: &'a Shared,
    context: ToolContext<'a>,
    value: Value,
}

impl AnswerWriter<'_> {
    /// Most servers repeat a structured result as text, which the model need not read twice.
    async fn add_text(&mut self, text: String, structured: Option<&Value>) {
        let repeats = |structured: &Value| serde_json::from_str::<Value>(&text).is_ok_and(|read| read == *structured);
        if structured.is_some_and(repeats) || (text.is_empty() && structured.is_some()) {
            return;
        }
        let shortened = self.shorten("text", text, None).await;
        self.value = with(std::mem::take(&mut self.value), shortened);
    }

    async fn add_structured(&mut self, structured: Value) {
        let text = structured.to_string();
        if text.len() <= self.shared.output_bytes {
            self.value["structured"] = structured;
            return;
        }
        let shortened = self.shorten("structured", text, Some("application/json")).await;
        self.value["structured"] = shortened;
    }

    /// The text under this key, or its beginning and end with the file that has all of it.
    async fn shorten(&self, key: &str, text: String, mime_type: Option<&str>) -> Value {
        let limit = self.shared.output_bytes;
        if text.len() <= limit {
            return json!({ key: text });
        }
        let head = &text[..text.floor_char_boundary(limit / 2)];
        let tail = &text[text.ceil_char_boundary(text.len() - limit / 2)..];
        let left_out = text.len() - head.len() - tail.len();
        let shown = format!("{head}\n[{left_out} bytes are left out]\n{tail}");
        let mut value = json!({ key: shown, "truncated": true, "output_bytes": text.len() });
        let extension = mime_type.map_or("txt", extension_of);
        match self.shared.files.keep_result(self.context, extension, text.into_bytes()).await {
            Ok(path) => value["output_file"] = path.into(),
            Err(refusal) => value["output_file_problem"] = refusal.message.into(),
        }
        value
    }

    async fn file(&self, mime_type: Option<&str>, uri: Option<String>, bytes: Vec<u8>) -> Value {
        let mut value = json!({ "mime_type": mime_type, "bytes": bytes.len() });
        if let Some(uri) = uri {
            value["resource"] = uri.into();
        }
        match self.shared.files.keep_result(self.context, mime_type.map_or("bin", extension_of), bytes).await {
            Ok(path) => value["file"] = path.into(),
            Err(refusal) => value["file_problem"] = refusal.message.into(),
        }
        value
    }
}

fn with(mut value: Value, more: Value) -> Value {
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    value
}

fn extension_of(mime_type: &str) -> &'static str {
    let plain = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    EXTENSIONS.iter().find(|(known, _)| *known == plain).map_or("bin", |(_, extension)| extension)
}
