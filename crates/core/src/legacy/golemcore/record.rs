//! `sessions/*.pb`: the record `AgentSessionRecord` of `session.proto`, as the JSON that earlier versions wrote.

use jiff::Timestamp;
use serde_json::{Map, Number, Value};

use crate::legacy::fields::Reason;
use crate::legacy::protobuf::{WireValue, fields};

/// How deeply values may be nested.
const MAX_DEPTH: usize = 64;

/// Reads the file of a conversation.
pub fn read_record(bytes: &[u8]) -> Result<Value, Reason> {
    let mut session = Map::new();
    let mut messages = Vec::new();
    let mut metadata = Map::new();
    for (number, value) in fields(bytes)? {
        match number {
            1 => put_text(&mut session, "id", value)?,
            2 => put_text(&mut session, "channelType", value)?,
            3 => put_text(&mut session, "chatId", value)?,
            4 => messages.push(message(value.bytes()?)?),
            5 => put_entry(&mut metadata, value.bytes()?)?,
            7 => put_time(&mut session, "createdAt", value.bytes()?)?,
            8 => put_time(&mut session, "updatedAt", value.bytes()?)?,
            _ => {}
        }
    }
    session.insert("messages".to_owned(), Value::Array(messages));
    session.insert("metadata".to_owned(), Value::Object(metadata));
    Ok(Value::Object(session))
}

fn message(bytes: &[u8]) -> Result<Value, Reason> {
    let mut message = Map::new();
    let mut calls = Vec::new();
    for (number, value) in fields(bytes)? {
        match number {
            1 => put_text(&mut message, "id", value)?,
            2 => put_text(&mut message, "role", value)?,
            3 => put_text(&mut message, "content", value)?,
            7 => calls.push(call(value.bytes()?)?),
            8 => put_text(&mut message, "toolCallId", value)?,
            9 => put_text(&mut message, "toolName", value)?,
            11 => put_time(&mut message, "timestamp", value.bytes()?)?,
            13 => put_text(&mut message, "voiceTranscription", value)?,
            _ => {}
        }
    }
    message.insert("toolCalls".to_owned(), Value::Array(calls));
    Ok(Value::Object(message))
}

fn call(bytes: &[u8]) -> Result<Value, Reason> {
    let mut call = Map::new();
    let mut arguments = Map::new();
    for (number, value) in fields(bytes)? {
        match number {
            1 => put_text(&mut call, "id", value)?,
            2 => put_text(&mut call, "name", value)?,
            3 => put_entry(&mut arguments, value.bytes()?)?,
            _ => {}
        }
    }
    call.insert("arguments".to_owned(), Value::Object(arguments));
    Ok(Value::Object(call))
}

fn put_text(object: &mut Map<String, Value>, name: &str, value: WireValue<'_>) -> Result<(), Reason> {
    object.insert(name.to_owned(), Value::String(value.text()?.to_owned()));
    Ok(())
}

/// Seconds and nanoseconds.
fn put_time(object: &mut Map<String, Value>, name: &str, bytes: &[u8]) -> Result<(), Reason> {
    let (mut seconds, mut nanoseconds) = (0, 0);
    for (number, value) in fields(bytes)? {
        match number {
            1 => seconds = value.number()?.cast_signed(),
            2 => nanoseconds = i32::try_from(value.number()?).unwrap_or(0),
            _ => {}
        }
    }
    let time = Timestamp::new(seconds, nanoseconds).map_err(|error| format!("a time in it is no time: {error}"))?;
    object.insert(name.to_owned(), Value::String(time.to_string()));
    Ok(())
}

/// An entry of a map from names to values.
fn put_entry(object: &mut Map<String, Value>, bytes: &[u8]) -> Result<(), Reason> {
    put_entry_at(object, bytes, 0)
}

fn put_entry_at(object: &mut Map<String, Value>, bytes: &[u8], depth: usize) -> Result<(), Reason> {
    let (mut name, mut value) = (String::new(), Value::Null);
    for (number, field) in fields(bytes)? {
        match number {
            1 => name = field.text()?.to_owned(),
            2 => value = json(field.bytes()?, depth)?,
            _ => {}
        }
    }
    object.insert(name, value);
    Ok(())
}

/// The message `JsonValue`.
fn json(bytes: &[u8], depth: usize) -> Result<Value, Reason> {
    if depth > MAX_DEPTH {
        return Err("a value in it is nested too deeply".to_owned());
    }
    let mut found = Value::Null;
    for (number, value) in fields(bytes)? {
        found = match number {
            1 => Value::Bool(value.number()? != 0),
            2 => Value::Number(value.number()?.cast_signed().into()),
            3 => Number::from_f64(f64::from_bits(value.number()?)).map_or(Value::Null, Value::Number),
            4 => Value::String(value.text()?.to_owned()),
            5 => {
                let mut object = Map::new();
                for (_, entry) in fields(value.bytes()?)? {
                    put_entry_at(&mut object, entry.bytes()?, depth + 1)?;
                }
                Value::Object(object)
            }
            6 => {
                let items = fields(value.bytes()?)?;
                Value::Array(items.iter().map(|(_, item)| json(item.bytes()?, depth + 1)).collect::<Result<_, _>>()?)
            }
            _ => Value::Null,
        };
    }
    Ok(found)
}
