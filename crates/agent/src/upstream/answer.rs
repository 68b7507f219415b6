//! The result of an upstream call as the model reads it. What is long or no text is kept in files that `read_file` takes.

use planwright_engine::upstream::{UpstreamContent, UpstreamResult};
use serde_json::{Value, json};

use super::upstream_tools::Shared;
use crate::toolbox::{ToolAnswer, ToolContext};

/// The tool with which a client of the gateway reads on in a result that is too long for one answer.
pub(crate) const READ_RESULT: &str = "result_read";

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

/// The bytes of an image, a sound or a resource that a client of the gateway gets at most. Of more it is told the size.
const MAX_PASSED_ON: usize = 4 * 1024 * 1024;

/// The result of a call as a client of the gateway gets it: what the server sent, except for what is too large.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PassthroughResult {
    /// Content blocks of the protocol.
    pub content: Vec<Value>,
    pub structured: Option<Value>,
}

pub(super) async fn of(shared: &Shared, context: ToolContext<'_>, result: UpstreamResult) -> ToolAnswer {
    let mut writer = AnswerWriter { shared, context, value: json!({}) };
    // A client of the gateway gets more at once than the model of this program.
    let limit = context.result_bytes().unwrap_or(shared.output_bytes);
    let text_bytes = |content: &UpstreamContent| match content {
        UpstreamContent::Text(text) => text.len() + 1,
        UpstreamContent::Bytes { .. }
        | UpstreamContent::Resource { .. }
        | UpstreamContent::Link { .. }
        | UpstreamContent::Unknown(_) => 0,
    };
    let has_short_text = result.content.iter().map(text_bytes).sum::<usize>() <= limit + 1;
    let (mut texts, mut parts, mut passthrough) = (Vec::new(), Vec::new(), PassthroughResult::default());
    for (content, block) in result.content.into_iter().zip(result.blocks) {
        let (part, fits) = match content {
            UpstreamContent::Text(text) => {
                texts.push(text);
                passthrough.content.extend(Some(block).filter(|_| has_short_text));
                continue;
            }
            UpstreamContent::Bytes { mime_type, uri, bytes } => {
                let fits = bytes.len() <= MAX_PASSED_ON;
                (writer.file(mime_type.as_deref(), uri, bytes).await, fits)
            }
            UpstreamContent::Resource { mime_type, uri, text } => {
                let fits = text.len() <= limit;
                let text = writer.shorten("text", text, mime_type.as_deref()).await;
                (with(json!({ "resource": uri, "mime_type": mime_type }), text), fits)
            }
            UpstreamContent::Link { uri, name, description, mime_type } => {
                (json!({ "link": uri, "name": name, "description": description, "mime_type": mime_type }), true)
            }
            UpstreamContent::Unknown(value) => {
                let text = value.to_string();
                let fits = text.len() <= limit;
                (writer.shorten("unknown", text, Some("application/json")).await, fits)
            }
        };
        passthrough.content.push(if fits { block } else { text_block(part.to_string()) });
        parts.push(part);
    }
    let text = texts.join("\n");
    let is_repeated = result.structured.as_ref().is_some_and(|structured| repeats(&text, structured));
    let long_text = (!has_short_text && context.result_bytes().is_some()).then(|| text.clone());
    writer.add_text(text, result.structured.as_ref()).await;
    if let Some(text) = long_text {
        passthrough.content.insert(0, text_block(writer.first_part(&text, limit).await));
    }
    if let Some(structured) = result.structured {
        let is_short = structured.to_string().len() <= limit;
        // What the text says already is not said twice.
        passthrough.structured = Some(structured.clone()).filter(|_| is_short && !is_repeated);
        writer.add_structured(structured).await;
        if !is_short && !is_repeated {
            passthrough.content.push(text_block(writer.value["structured"].to_string()));
        }
    }
    let mut value = writer.value;
    if !parts.is_empty() {
        value["content"] = Value::Array(parts);
    }
    let failure = result.is_error.then(|| {
        let reason = value.get("text").and_then(Value::as_str).unwrap_or("It gave no reason.").trim();
        format!("The tool failed: {reason}")
    });
    let passthrough = context.call_events().map(|_| passthrough);
    ToolAnswer { failure, passthrough, ..ToolAnswer::from(value) }
}

/// Whether the text is the structured result, written out.
fn repeats(text: &str, structured: &Value) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|read| read == *structured)
}

fn text_block(text: String) -> Value {
    json!({ "type": "text", "text": text })
}

struct AnswerWriter<'a> {
    shared: &'a Shared,
    context: ToolContext<'a>,
    value: Value,
}

impl AnswerWriter<'_> {
    /// Most servers repeat a structured result as text, which the model need not read twice.
    async fn add_text(&mut self, text: String, structured: Option<&Value>) {
        if structured.is_some_and(|structured| repeats(&text, structured)) || (text.is_empty() && structured.is_some())
        {
            return;
        }
        let shortened = self.shorten("text", text, None).await;
        self.value = with(std::mem::take(&mut self.value), shortened);
    }

    /// The beginning of a text that is too long for one answer, and how the rest is read.
    async fn first_part(&self, text: &str, limit: usize) -> String {
        let head = &text[..text.floor_char_boundary(limit)];
        let kept = match self.value["output_file"].as_str() {
            Some(name) => Ok(name.to_owned()),
            None => self.shared.files.keep_result(self.context, "txt", text.as_bytes().to_vec()).await,
        };
        let (end, total) = (head.len(), text.len());
        let rest = match kept {
            Ok(name) => format!("The rest: {READ_RESULT} with result {name} and from {end}."),
            Err(refusal) => format!("The rest could not be kept: {}", refusal.message),
        };
        format!("{head}\n\n[This is a part: {end} of {total} bytes. {rest}]")
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
