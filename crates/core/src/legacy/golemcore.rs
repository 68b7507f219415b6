//! What a GolemCore bot (0.9) keeps in its workspace besides plans: conversations, goals with their tasks, memories, and which conversation
//! a Telegram chat is in.
//!
//! - `record`: the file of a conversation as it is written, as JSON

mod record;

use jiff::Timestamp;
use serde_json::Value;

use super::fields::{Fields, Reason, kind};
use crate::auto::{GoalStatus, TaskStatus};
use crate::command::ImportedTurn;
use crate::memory::MemoryKind;
use crate::refusal::Refusal;
use crate::session::{Channel, ConversationKey, SessionIdentity};

pub use record::read_record;

/// The most bytes of a message or an answer.
const MAX_MESSAGE: usize = 256 * 1024;
/// How much of a call's arguments and result stands in the answer, as GolemCore itself writes them for another model.
const MAX_ARGUMENTS: usize = 200;
const MAX_RESULT: usize = 2000;

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GolemSession {
    pub session: SessionIdentity,
    pub turns: Vec<GolemTurn>,
    /// What was left out or changed, in words.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GolemTurn {
    /// Stays as it is whenever the conversation is read again.
    pub id: String,
    pub at: Timestamp,
    pub turn: ImportedTurn,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GolemGoal {
    pub id: String,
    /// With its description.
    pub title: String,
    pub status: GoalStatus,
    pub tasks: Vec<GolemTask>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GolemTask {
    pub id: String,
    pub title: String,
    pub status: TaskStatus,
    pub result: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GolemMemory {
    pub id: String,
    pub kind: MemoryKind,
    pub content: String,
    pub tags: Vec<String>,
    /// The conversation that it belongs to; `None` if it is for all.
    pub session: Option<SessionIdentity>,
    pub created_at: Option<Timestamp>,
    /// How many days it is kept.
    pub days: Option<i64>,
}

/// Reads a conversation, as its file has it in JSON.
pub fn read_session(value: &Value) -> Result<GolemSession, Reason> {
    let fields = Fields::of(value, String::new())?;
    let metadata = fields.value("metadata").map(|metadata| Fields::of(metadata, "/metadata".to_owned())).transpose()?;
    let in_metadata = |name: &str| metadata.as_ref().map_or(Ok(None), |metadata| metadata.filled(name));
    let (of_channel, of_id) = fields.filled("id")?.and_then(|id| id.split_once(':')).unzip();
    let channel = fields.filled("channelType")?.or(of_channel).ok_or("it names no channel")?;
    let key = in_metadata("session.conversation.key")?.or(of_id).or(fields.filled("chatId")?);
    let session = identity(channel, key.ok_or("it names no conversation")?)?;
    let mut reader = TurnReader::new(time_of(&fields, "createdAt")?.unwrap_or(Timestamp::UNIX_EPOCH));
    for (index, message) in fields.list("messages")?.iter().enumerate() {
        reader.read(index, &Fields::of(message, format!("/messages/{index}"))?)?;
    }
    let (turns, notes) = reader.finish();
    Ok(GolemSession { session, turns, notes })
}

fn identity(channel: &str, key: &str) -> Result<SessionIdentity, Reason> {
    let channel: Channel = channel.to_ascii_lowercase().parse().map_err(|refusal: Refusal| refusal.message)?;
    let key = ConversationKey::existing(key).map_err(|refusal| refusal.message)?;
    Ok(SessionIdentity::new(channel, key))
}

/// Text as in ISO 8601, or seconds.
fn time_of(fields: &Fields<'_>, name: &str) -> Result<Option<Timestamp>, Reason> {
    match fields.value(name).and_then(Value::as_f64) {
        Some(seconds) => Ok(Timestamp::from_nanosecond((seconds * 1e9) as i128).ok()),
        None => fields.time(name),
    }
}

/// Puts messages together into turns: what a person said, and everything that was answered until they spoke again.
struct TurnReader {
    turns: Vec<GolemTurn>,
    latest: Timestamp,
    system: usize,
    cut: usize,
}

impl TurnReader {
    fn new(begun: Timestamp) -> Self {
        Self { turns: Vec::new(), latest: begun, system: 0, cut: 0 }
    }

    fn read(&mut self, index: usize, message: &Fields<'_>) -> Result<(), Reason> {
        self.latest = time_of(message, "timestamp")?.unwrap_or(self.latest);
        let spoken = message.filled("voiceTranscription")?;
        let text = message.filled("content")?.or(spoken).unwrap_or_default();
        match message.filled("role")?.unwrap_or_default() {
            "user" => {
                let id = message.filled("id")?.map_or_else(|| format!("n{index}"), str::to_owned);
                self.begin(id, if text.is_empty() { "[a message without text]" } else { text });
            }
            "assistant" => {
                self.answer(text);
                for call in message.list("toolCalls")? {
                    let call = Fields::of(call, message.at("toolCalls"))?;
                    let arguments = call.value("arguments").map(Value::to_string).unwrap_or_default();
                    let name = call.filled("name")?.unwrap_or("a tool");
                    self.answer(&format!("[Tool: {name} | Args: {}]", start_of(&arguments, MAX_ARGUMENTS)));
                }
            }
            "tool" => {
                let name = message.filled("toolName")?.unwrap_or("a tool");
                self.answer(&format!("[Result of {name}: {}]", start_of(text, MAX_RESULT)));
            }
            _ => self.system += 1,
        }
        Ok(())
    }

    fn begin(&mut self, id: String, said: &str) {
        let said = self.shortened(said);
        self.turns.push(GolemTurn { id, at: self.latest, turn: ImportedTurn { said, replied: String::new() } });
    }

    fn answer(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.turns.is_empty() {
            self.begin("begin".to_owned(), "[The agent wrote first.]");
        }
        let Some(last) = self.turns.last_mut() else { return };
        if !last.turn.replied.is_empty() {
            last.turn.replied.push_str("\n\n");
        }
        last.turn.replied.push_str(text);
    }

    fn shortened(&mut self, text: &str) -> String {
        if text.len() > MAX_MESSAGE {
            self.cut += 1;
        }
        start_of(text, MAX_MESSAGE).to_owned()
    }

    fn finish(mut self) -> (Vec<GolemTurn>, Vec<String>) {
        for turn in &mut self.turns {
            if turn.turn.replied.len() > MAX_MESSAGE {
                self.cut += 1;
                turn.turn.replied = start_of(&turn.turn.replied, MAX_MESSAGE).to_owned();
            }
        }
        let mut notes = Vec::new();
        if self.system > 0 {
            notes.push(format!("messages of the system that are left out: {}", self.system));
        }
        if self.cut > 0 {
            notes.push(format!("messages that are cut after {MAX_MESSAGE} bytes: {}", self.cut));
        }
        (self.turns, notes)
    }
}

fn start_of(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Reads `auto/goals.json`. A goal that cannot be read is a reason.
pub fn read_goals(json: &str) -> Result<Vec<Result<GolemGoal, Reason>>, Refusal> {
    let goals: Vec<Value> = serde_json::from_str(json)
        .map_err(|error| Refusal::invalid(format!("The goals are not a JSON array: {error}.")))?;
    Ok(goals.iter().map(read_goal).collect())
}

fn read_goal(value: &Value) -> Result<GolemGoal, Reason> {
    let fields = Fields::of(value, String::new())?;
    let status = match fields.filled("status")?.unwrap_or("ACTIVE") {
        "ACTIVE" => GoalStatus::Active,
        "PAUSED" => GoalStatus::Paused,
        "COMPLETED" => GoalStatus::Done,
        "CANCELLED" => GoalStatus::Cancelled,
        other => return Err(format!("its status {} is not known", crate::visible::quoted(other))),
    };
    let tasks = fields.list("tasks")?.iter().map(read_task).collect::<Result<_, _>>()?;
    Ok(GolemGoal { id: id_of(&fields)?, title: titled(&fields)?, status, tasks })
}

fn read_task(value: &Value) -> Result<GolemTask, Reason> {
    let fields = Fields::of(value, "/tasks".to_owned())?;
    let status = match fields.filled("status")?.unwrap_or("PENDING") {
        "PENDING" | "IN_PROGRESS" => TaskStatus::Open,
        "COMPLETED" => TaskStatus::Done,
        "FAILED" => TaskStatus::Failed,
        "SKIPPED" => TaskStatus::Skipped,
        other => return Err(format!("the status {} of a task is not known", crate::visible::quoted(other))),
    };
    let result = fields.filled("result")?.map(str::to_owned);
    Ok(GolemTask { id: id_of(&fields)?, title: titled(&fields)?, status, result })
}

fn id_of(fields: &Fields<'_>) -> Result<String, Reason> {
    Ok(fields.filled("id")?.ok_or_else(|| format!("{} is missing", fields.at("id")))?.to_owned())
}

fn titled(fields: &Fields<'_>) -> Result<String, Reason> {
    let title = fields.filled("title")?.ok_or_else(|| format!("{} is missing", fields.at("title")))?;
    Ok(match fields.filled("description")?.filter(|description| *description != title) {
        Some(description) => format!("{title}: {description}"),
        None => title.to_owned(),
    })
}

/// Reads the lines of a file of memories. A line that cannot be read is a reason.
pub fn read_memories(lines: &str) -> Vec<Result<GolemMemory, Reason>> {
    lines.lines().filter(|line| !line.trim().is_empty()).map(read_memory).collect()
}

fn read_memory(line: &str) -> Result<GolemMemory, Reason> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("a line is not JSON: {error}"))?;
    let fields = Fields::of(&value, String::new())?;
    let kind = match fields.filled("type")?.unwrap_or_default() {
        "DECISION" => MemoryKind::Decision,
        "CONSTRAINT" => MemoryKind::Constraint,
        "PREFERENCE" => MemoryKind::Preference,
        "TASK_STATE" | "COMMAND_RESULT" => MemoryKind::Result,
        _ => MemoryKind::Fact,
    };
    let title = fields.filled("title")?;
    let content = fields.filled("content")?.or(title).ok_or("it says nothing")?;
    let content = match title {
        Some(title) if !content.contains(title) => format!("{title}: {content}"),
        _ => content.to_owned(),
    };
    let tags = fields.list("tags")?.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    Ok(GolemMemory {
        id: id_of(&fields)?,
        kind,
        content,
        tags,
        session: fields.filled("scope")?.and_then(session_of_scope),
        created_at: time_of(&fields, "createdAt")?,
        days: fields.whole_number("ttlDays")?.filter(|days| *days > 0),
    })
}

/// `session:telegram:KEY` and `goal:telegram:KEY:GOAL`.
fn session_of_scope(scope: &str) -> Option<SessionIdentity> {
    let mut parts = scope.split(':');
    match parts.next()? {
        "session" | "goal" => identity(parts.next()?, parts.next()?).ok(),
        _ => None,
    }
}

/// Reads `preferences/session-pointers.json`: Telegram chats, each with the key of the conversation it is in.
pub fn read_telegram_chats(json: &str) -> Result<Vec<(String, String)>, Refusal> {
    let value: Value =
        serde_json::from_str(json).map_err(|error| Refusal::invalid(format!("The chats are not JSON: {error}.")))?;
    let pointers = match value.get("pointers") {
        Some(Value::Object(pointers)) => pointers,
        other => {
            let found = other.map_or("nothing", kind);
            return Err(Refusal::invalid(format!("The chats have {found} where their conversations should be.")));
        }
    };
    let chats = pointers.iter().filter_map(|(name, key)| {
        let chat = name.strip_prefix("telegram|")?;
        Some((chat.to_owned(), key.as_str()?.to_owned()))
    });
    Ok(chats.collect())
}
