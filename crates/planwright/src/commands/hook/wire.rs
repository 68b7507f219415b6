//! The JSON of each client's hooks: read into one request, and answered in the client's own form.
//!
//! The forms are those of the versions in `docs/clients`. Cursor's and VS Code's are from their documentation.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::cli::ClientName;

/// What a client sends on standard input.
#[derive(Debug, PartialEq)]
pub(super) struct HookInput {
    pub(super) place: HookPlace,
    pub(super) request: ToolRequest,
    /// Everything that the client sent.
    pub(super) details: Map<String, Value>,
}

/// Where the client and its agent work.
#[derive(Debug, PartialEq)]
pub(super) struct HookPlace {
    /// The folder that the client was started in. It stays when the agent changes its own.
    pub(super) project: PathBuf,
    /// The agent's folder.
    pub(super) folder: PathBuf,
    /// The entries of servers, if the client's plugin tells them.
    pub(super) servers: Option<Map<String, Value>>,
}

/// A call of a tool. At the start of a conversation it is empty.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ToolRequest {
    pub(super) tool: String,
    pub(super) input: Value,
}

/// What the hook says about a call, with the reason. The later, the stricter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HookDecision {
    /// Nothing: the client decides as it would without the hook.
    Pass,
    /// The client makes the call without a question to its person.
    Allow(String),
    /// The client asks its person. One that cannot denies.
    Ask(String),
    Deny(String),
}

/// Added to the refusal where a client has no way to ask its person.
const CANNOT_ASK: &str = "This client cannot ask about a single call, so it is denied. Store the plan again with what is missing in its block \
                          `planwright-needs`; a person approves that.";

impl HookInput {
    /// The error says what is wrong with the text.
    pub(super) fn read(client: ClientName, text: &str) -> Result<Self, String> {
        let details: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| format!("the client's text is not a JSON object: {error}"))?;
        let text_of = |field: &str| details.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let folder_field = if client == ClientName::Goose { "working_dir" } else { "cwd" };
        let root = details.get("workspace_roots").and_then(|roots| roots.get(0)?.as_str());
        let folder = text_of(folder_field).or(root).map(PathBuf::from);
        let folder = folder.or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        let named = text_of("project").or(root).map(PathBuf::from);
        let variable = project_variable(client).and_then(std::env::var_os).map(PathBuf::from);
        let project = named.or(variable).filter(|folder| folder.is_absolute()).unwrap_or_else(|| folder.clone());
        let servers = details.get("servers").and_then(Value::as_object).cloned();
        let request = ToolRequest {
            tool: text_of("tool_name").unwrap_or_default().to_owned(),
            input: details.get("tool_input").cloned().unwrap_or_default(),
        };
        Ok(Self { place: HookPlace { project, folder, servers }, request, details })
    }

    /// A text that the client sent, if it is not empty.
    pub(super) fn text(&self, field: &str) -> Option<&str> {
        self.details.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// The client's own name of the event.
    pub(super) fn event(&self) -> &str {
        event_name(&self.details).unwrap_or_default()
    }
}

/// The variable in which the client tells its folder. An agent that was started by another client has that one's as well.
const fn project_variable(client: ClientName) -> Option<&'static str> {
    match client {
        ClientName::ClaudeCode => Some("CLAUDE_PROJECT_DIR"),
        ClientName::Gemini => Some("GEMINI_PROJECT_DIR"),
        ClientName::Cursor => Some("CURSOR_PROJECT_DIR"),
        ClientName::Codex | ClientName::Opencode | ClientName::Goose | ClientName::Vscode | ClientName::Zed => None,
    }
}

impl HookDecision {
    /// What is printed, if anything.
    pub(super) fn answer(&self, client: ClientName) -> Option<Value> {
        let nested = |decision: &str, reason: &str| {
            json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision,
                "permissionDecisionReason": reason,
            } })
        };
        let cursor = |reason: &str| json!({ "permission": "deny", "user_message": reason, "agent_message": reason });
        let block = |reason: &str| json!({ "decision": "block", "reason": reason });
        match (client, self) {
            // Cursor takes no answer for a hook that failed.
            (ClientName::Cursor, Self::Pass | Self::Allow(_)) => Some(json!({ "permission": "allow" })),
            (_, Self::Pass) => None,
            (ClientName::ClaudeCode | ClientName::Vscode, Self::Allow(reason)) => Some(nested("allow", reason)),
            // The others have no such answer: they go on as they would without the hook.
            (_, Self::Allow(_)) => None,
            (ClientName::ClaudeCode | ClientName::Vscode, Self::Ask(reason)) => Some(nested("ask", reason)),
            (ClientName::Codex, Self::Ask(reason)) => Some(nested("deny", &format!("{reason} {CANNOT_ASK}"))),
            (ClientName::Cursor, Self::Ask(reason)) => Some(cursor(&format!("{reason} {CANNOT_ASK}"))),
            (_, Self::Ask(reason)) => Some(block(&format!("{reason} {CANNOT_ASK}"))),
            (ClientName::Cursor, Self::Deny(reason)) => Some(cursor(reason)),
            (ClientName::ClaudeCode | ClientName::Codex | ClientName::Vscode, Self::Deny(reason)) => {
                Some(nested("deny", reason))
            }
            (ClientName::Gemini | ClientName::Goose | ClientName::Opencode | ClientName::Zed, Self::Deny(reason)) => {
                Some(block(reason))
            }
        }
    }
}

/// What the hook says about a plan of the client's own plan mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlanAnswer {
    /// Nothing: it is not about a plan, or plan work is off.
    Pass,
    /// A person approved exactly this text.
    Approved(String),
    /// The person's words, or why the text is refused.
    Back(String),
    /// No person decided in time, or it is not known.
    Undecided(String),
}

impl PlanAnswer {
    /// What is printed, if anything. `event` is the client's name of what happens, and `input` are the arguments of the call.
    pub(super) fn answer(&self, client: ClientName, event: &str, input: &Value) -> Option<Value> {
        match (client, self) {
            (_, Self::Pass) => None,
            // Its plan is a message. A text goes back as the next message of a person; Codex asks its own question after the turn.
            (ClientName::Codex, Self::Approved(note) | Self::Undecided(note)) => Some(json!({ "systemMessage": note })),
            (ClientName::Codex, Self::Back(reason)) => Some(json!({ "decision": "block", "reason": reason })),
            (ClientName::ClaudeCode, Self::Approved(_)) if event == PERMISSION_REQUEST => {
                // Without the mode, some versions stay in plan mode.
                let mode = json!({ "type": "setMode", "mode": "default", "destination": "session" });
                let decision = json!({ "behavior": "allow", "updatedInput": input, "updatedPermissions": [mode] });
                Some(permission_request(&decision))
            }
            (ClientName::ClaudeCode, Self::Back(reason) | Self::Undecided(reason)) if event == PERMISSION_REQUEST => {
                Some(permission_request(&json!({ "behavior": "deny", "message": reason })))
            }
            (ClientName::ClaudeCode, Self::Approved(note)) => {
                let mut answer = HookDecision::Allow(note.clone()).answer(client)?;
                answer["hookSpecificOutput"]["additionalContext"] = json!(note);
                // Without the arguments Claude Code asks its person all the same.
                answer["hookSpecificOutput"]["updatedInput"] = input.clone();
                Some(answer)
            }
            // The others ask their own question once the hook says nothing.
            (_, Self::Approved(_)) => None,
            (ClientName::Vscode, Self::Back(reason) | Self::Undecided(reason)) => {
                // Copilot CLI reads the decision without the object around it.
                let mut answer = HookDecision::Deny(reason.clone()).answer(client)?;
                answer["permissionDecision"] = json!("deny");
                answer["permissionDecisionReason"] = json!(reason);
                Some(answer)
            }
            (_, Self::Back(reason) | Self::Undecided(reason)) => HookDecision::Deny(reason.clone()).answer(client),
        }
    }
}

/// Claude Code's event before it shows its own question about a call.
const PERMISSION_REQUEST: &str = "PermissionRequest";

fn permission_request(decision: &Value) -> Value {
    json!({ "hookSpecificOutput": { "hookEventName": PERMISSION_REQUEST, "decision": decision } })
}

/// Whether the client asks its person about a single call when the hook says so.
pub(super) const fn can_ask(client: ClientName) -> bool {
    match client {
        ClientName::ClaudeCode | ClientName::Vscode => true,
        ClientName::Codex
        | ClientName::Gemini
        | ClientName::Goose
        | ClientName::Opencode
        | ClientName::Cursor
        | ClientName::Zed => false,
    }
}

/// The client's own name of the event.
pub(super) fn event_name(details: &Map<String, Value>) -> Option<&str> {
    ["hook_event_name", "hookEventName", "event"].iter().find_map(|field| details.get(*field)?.as_str())
}

/// Whether the agent goes on only because a hook kept it from ending its turn.
pub(super) fn was_reminded(details: &Map<String, Value>) -> bool {
    let is_active = details.get("stop_hook_active").and_then(Value::as_bool).unwrap_or_default();
    // Cursor counts how often it went on, and also runs the hook after an error or a stop of the person's.
    let loops = details.get("loop_count").and_then(Value::as_u64).unwrap_or_default();
    let was_stopped = details.get("status").and_then(Value::as_str).is_some_and(|status| status != "completed");
    is_active || loops > 0 || was_stopped
}

/// A text for the agent's context, with the client's own name of the event. goose has no place for one.
pub(super) fn context(client: ClientName, event: &str, text: &str) -> Option<Value> {
    match client {
        ClientName::ClaudeCode | ClientName::Codex | ClientName::Gemini | ClientName::Vscode => Some(json!({
            "hookSpecificOutput": { "hookEventName": event, "additionalContext": text },
        })),
        ClientName::Cursor => Some(json!({ "additional_context": text })),
        ClientName::Opencode => Some(json!({ "context": text })),
        ClientName::Goose | ClientName::Zed => None,
    }
}

/// A text with which the agent goes on instead of ending its turn.
pub(super) fn reminder(client: ClientName, text: &str) -> Option<Value> {
    match client {
        ClientName::ClaudeCode | ClientName::Codex | ClientName::Gemini | ClientName::Goose => {
            Some(json!({ "decision": "block", "reason": text }))
        }
        ClientName::Vscode => Some(json!({ "hookSpecificOutput": {
            "hookEventName": "Stop",
            "decision": "block",
            "reason": text,
        } })),
        ClientName::Cursor => Some(json!({ "followup_message": text })),
        // opencode's plugins are told only after the turn has ended.
        ClientName::Opencode | ClientName::Zed => None,
    }
}
