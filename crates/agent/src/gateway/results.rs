//! Results that are too long for one answer, read by parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planwright_core::refusal::{Refusal, RefusalCode};
use planwright_core::session::SessionIdentity;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Gateway;
use crate::tool_schema::{self, Arguments, ToolDefinition};
use crate::upstream::READ_RESULT;

/// Every part of such a result is text.
const TEXT_EXTENSIONS: [&str; 6] = ["csv", "html", "json", "md", "svg", "txt"];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadResult {
    /// Its name, as the first part says.
    result: String,
    /// The byte that the part before names.
    #[serde(default)]
    from: u64,
}

impl Gateway {
    /// Whether this is the tool that reads results by parts.
    pub fn is_result_tool(name: &str) -> bool {
        name == READ_RESULT
    }

    pub fn result_tool() -> ToolDefinition {
        ToolDefinition {
            name: READ_RESULT,
            description: include_str!("result_read.md").trim_end().to_owned(),
            input_schema: tool_schema::schema_of::<ReadResult>(),
            reads_only: true,
        }
    }

    /// The next part of a result of this session.
    pub async fn read_result(&self, session: &SessionIdentity, arguments: Arguments) -> Result<Value, Refusal> {
        let given: ReadResult = tool_schema::parse(READ_RESULT, arguments)?;
        let files = &self.agent.context.files;
        let (mut part, total) =
            files.read_result(session, &given.result, given.from, self.options.result_bytes).await?;
        if given.from >= total {
            return Err(Refusal::invalid(format!("`from` is less than {total}, the number of bytes.")));
        }
        let text_bytes = match std::str::from_utf8(&part) {
            Ok(text) => text.len(),
            // The end of the part may have split a character.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => 0,
        };
        let mut answer = json!({ "result": given.result, "from": given.from, "of": total });
        if text_bytes > 0 {
            part.truncate(text_bytes);
            answer["text"] = json!(String::from_utf8_lossy(&part));
        } else if is_text(&given.result) {
            let message = format!("The result has {total} bytes, and `from` is inside a character.");
            return Err(Refusal::new(RefusalCode::InvalidArgument, message));
        } else {
            answer["base64"] = json!(STANDARD.encode(&part));
        }
        let end = given.from + part.len() as u64;
        if end < total {
            answer["next_from"] = json!(end);
        }
        Ok(answer)
    }
}

/// Whether a result of this name is text, and no image or other bytes.
fn is_text(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| TEXT_EXTENSIONS.contains(&extension))
}
